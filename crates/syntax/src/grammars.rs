//! The tree-sitter grammar of each language, and which of its nodes are definitions and imports.

use crate::Language;

/// The node types of a grammar that are definitions and imports.
pub(crate) struct Grammar {
    pub(crate) definitions: &'static [&'static str],
    pub(crate) imports: &'static [&'static str],
}

impl Language {
    /// The grammar of the language, and its node types.
    pub(crate) fn grammar(self) -> (tree_sitter::Language, Grammar) {
        let script = &[
            "function_declaration",
            "generator_function_declaration",
            "class_declaration",
            "abstract_class_declaration",
            "method_definition",
            "abstract_method_signature",
            "function_signature",
            "type_alias_declaration",
            "interface_declaration",
            "enum_declaration",
            "internal_module",
            "module",
            "variable_declarator",
        ];
        let script_imports =
            &["import_statement", "export_statement", "lexical_declaration", "variable_declaration"];
        let (language, definitions, imports): (_, &'static [&'static str], &'static [&'static str]) =
            match self {
                Language::Bash => (tree_sitter_bash::LANGUAGE.into(), &["function_definition"], &[]),
                Language::C => (
                    tree_sitter_c::LANGUAGE.into(),
                    &["function_definition", "struct_specifier", "union_specifier", "enum_specifier"],
                    &["preproc_include"],
                ),
                Language::Go => (
                    tree_sitter_go::LANGUAGE.into(),
                    &["function_declaration", "method_declaration", "type_declaration"],
                    &["import_declaration", "package_clause"],
                ),
                Language::Java => (
                    tree_sitter_java::LANGUAGE.into(),
                    &[
                        "class_declaration",
                        "interface_declaration",
                        "enum_declaration",
                        "record_declaration",
                        "annotation_type_declaration",
                        "method_declaration",
                        "constructor_declaration",
                    ],
                    &["import_declaration", "package_declaration"],
                ),
                Language::JavaScript => (tree_sitter_javascript::LANGUAGE.into(), script, script_imports),
                Language::TypeScript => (tree_sitter_typescript::LANGUAGE_TSX.into(), script, script_imports),
                Language::Python => (
                    tree_sitter_python::LANGUAGE.into(),
                    &["function_definition", "class_definition"],
                    &["import_statement", "import_from_statement", "future_import_statement"],
                ),
                Language::Ruby => (
                    tree_sitter_ruby::LANGUAGE.into(),
                    &["method", "singleton_method", "class", "module"],
                    &["call"],
                ),
                Language::Rust => (
                    tree_sitter_rust::LANGUAGE.into(),
                    &[
                        "function_item",
                        "function_signature_item",
                        "struct_item",
                        "enum_item",
                        "union_item",
                        "trait_item",
                        "impl_item",
                        "mod_item",
                        "macro_definition",
                    ],
                    &["use_declaration", "extern_crate_declaration"],
                ),
            };
        (language, Grammar { definitions, imports })
    }
}
