//! An outline from a syntax tree, when the language has a grammar and the work stays within the budget.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use crate::heuristic_outline::lead;
use crate::line::{indent, is_import};
use crate::{Budget, Definition, Language, LineSpan, Outline};

/// What a grammar calls the things we look for.
struct Grammar {
    definitions: &'static [&'static str],
    imports: &'static [&'static str],
}

const LONGEST_SIGNATURE: usize = 40;
/// What may hold a definition or an import though it stands on one line.
const WRAPPERS: [&str; 4] = ["export_statement", "ambient_declaration", "block", "statement_block"];
/// Nodes that are imports only when their line says so: `require 'set'`, `const a = require('a')`,
/// `export … from`.
const MAYBE_IMPORTS: [&str; 4] = ["call", "export_statement", "lexical_declaration", "variable_declaration"];
/// A tree with more errors than this share of its lines is of another language.
const MOST_ERRORS: usize = 10;

impl Language {
    fn grammar(self) -> (tree_sitter::Language, Grammar) {
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

/// The outline of `text` in `language`, or nothing when the budget runs out or the text is not of that language.
pub fn outline_by_tree(
    language: Language,
    text: &str,
    lines: &[&str],
    budget: Budget,
    interrupted: &dyn Fn() -> bool,
) -> Option<Outline> {
    let tree = parse(language, text, budget, interrupted)?;
    let (_, grammar) = language.grammar();
    Walk { grammar, lines, outline: Outline::default(), open: Vec::new(), errors: 0 }.walk(tree.root_node())
}

/// The tree of `text`, unless it takes more than the budget has.
pub(crate) fn parse(
    language: Language,
    text: &str,
    budget: Budget,
    interrupted: &dyn Fn() -> bool,
) -> Option<Tree> {
    if text.len() > budget.bytes {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&language.grammar().0).ok()?;
    let mut steps = 0;
    let mut progress = |_: &ParseState| {
        steps += 1;
        if steps > budget.steps || interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = text.as_bytes();
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or(&[]), None, Some(options))
}

struct Walk<'a> {
    grammar: Grammar,
    lines: &'a [&'a str],
    outline: Outline,
    /// Last lines of the definitions that the walk is in.
    open: Vec<usize>,
    errors: usize,
}

impl Walk<'_> {
    /// Down the tree without recursion: nesting is the text's to choose, our stack is not.
    fn walk(mut self, root: Node<'_>) -> Option<Outline> {
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            // Little worth descending into stands on one line.
            let descend = self.visit(node)
                || node.start_position().row != node.end_position().row
                || WRAPPERS.contains(&node.kind());
            if self.errors * MOST_ERRORS > self.lines.len() + 10 * MOST_ERRORS {
                return None;
            }
            if descend && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Some(self.finish());
                }
            }
        }
    }

    fn finish(mut self) -> Outline {
        self.outline.definitions.sort_by_key(|definition| (definition.signature.first, definition.depth));
        self.outline.imports.dedup_by(|later, earlier| later.first <= earlier.last);
        self.outline
    }

    /// Notes the node if it is one we look for; says whether to go into it whatever its size.
    fn visit(&mut self, node: Node<'_>) -> bool {
        if node.is_error() || node.is_missing() {
            self.errors += 1;
        }
        if !node.is_named() {
            return false;
        }
        let kind = node.kind();
        if self.grammar.definitions.contains(&kind) {
            self.define(node);
        } else if self.grammar.imports.contains(&kind) {
            let first = node.start_position().row;
            if !MAYBE_IMPORTS.contains(&kind) || is_import(self.lines[first].trim()) {
                self.outline.imports.push(LineSpan { first, last: last_row(node) });
            }
        }
        false
    }

    fn define(&mut self, node: Node<'_>) -> Option<()> {
        let body = body(node);
        if node.kind() == "variable_declarator" {
            let value = node.child_by_field_name("value")?;
            let function =
                matches!(value.kind(), "arrow_function" | "function_expression" | "generator_function");
            if !function || value.start_position().row == value.end_position().row {
                return None;
            }
        }
        if node.kind() == "type_alias_declaration" {
            // An alias needs no protecting; a body makes it a definition.
            let row = node.start_position().row;
            let opens = self.lines.get(row).is_some_and(|line| line.trim_end().ends_with('{'));
            if !opens || last_row(node) == row {
                return None;
            }
        }
        let first = signature_first(node);
        let last = last_row(node);
        if body.is_none()
            && (node.kind().ends_with("_specifier") || node.kind() == "mod_item" || node.kind() == "module")
        {
            return None;
        }
        let signature_last = match body {
            Some(body) if self.opens_with_brace(body) => body.start_position().row,
            Some(body) => std::iter::successors(body.prev_sibling(), Node::prev_sibling)
                .find(|before| before.kind() != "comment")
                .map_or(first, last_row),
            None if node.kind() == "type_alias_declaration" => first,
            None => last,
        };
        let signature_last = signature_last.clamp(first, last.min(first + LONGEST_SIGNATURE));
        while self.open.last().is_some_and(|&end| end < first) {
            self.open.pop();
        }
        let depth = self.open.len();
        let line = self.lines.get(first)?;
        let name = name(node)
            .filter(|name| name.start_position().row == first)
            .map_or(0..0, |name| name.start_position().column..name.end_position().column);
        let name = if line.get(name.clone()).is_some() && name.end <= line.len() { name } else { 0..0 };
        let lead = lead(self.lines, node.start_position().row.min(first), indent(line)).min(first);
        self.outline.definitions.push(Definition {
            lead,
            signature: LineSpan { first, last: signature_last },
            last,
            depth,
            name,
        });
        self.open.push(last);
        Some(())
    }

    fn opens_with_brace(&self, body: Node<'_>) -> bool {
        let start = body.start_position();
        self.lines.get(start.row).is_some_and(|line| line.as_bytes().get(start.column) == Some(&b'{'))
    }
}

fn body(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() == "variable_declarator" {
        return node.child_by_field_name("value").and_then(body);
    }
    if node.kind() == "type_alias_declaration" {
        return node.child_by_field_name("value").filter(|value| value.kind() == "object_type");
    }
    if node.kind() == "type_declaration" {
        // Go: `type Name struct {`; the brace lies three nodes down.
        let spec = node.named_child(0)?;
        let body = spec.child_by_field_name("type")?;
        return body
            .named_child(0)
            .filter(|list| list.kind() == "field_declaration_list")
            .or(Some(body).filter(|body| body.kind() == "interface_type"));
    }
    node.child_by_field_name("body")
}

/// The row that says what is defined: past annotations, which a grammar may count in.
fn signature_first(node: Node<'_>) -> usize {
    if node.kind() == "function_definition" {
        // C: the type may stand on a line of its own, which says little; the name's line says what it is.
        return name(node).unwrap_or(node).start_position().row;
    }
    let Some(modifiers) = node.child(0).filter(|child| child.kind() == "modifiers") else {
        return node.start_position().row;
    };
    let mut cursor = modifiers.walk();
    let plain = modifiers
        .children(&mut cursor)
        .find(|child| !child.kind().contains("annotation") && !child.kind().contains("comment"));
    plain
        .or_else(|| {
            std::iter::successors(modifiers.next_sibling(), |next| next.next_sibling())
                .find(|next| !next.kind().contains("comment"))
        })
        .map_or(node.start_position().row, |node| node.start_position().row)
}

fn name(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node.child_by_field_name("name").or_else(|| node.child_by_field_name("type"));
    if node.kind() == "type_declaration" {
        at = node.named_child(0)?.child_by_field_name("name");
    }
    if node.kind() == "function_definition"
        && at.is_none_or(|found| found.kind() != "identifier" && found.kind() != "word")
    {
        // C: the name lies at the end of a chain of declarators.
        at = node.child_by_field_name("declarator");
        while let Some(inner) = at.and_then(|declarator| declarator.child_by_field_name("declarator")) {
            at = Some(inner);
        }
    }
    at
}

/// A node that ends at the start of a row ended on the row before.
fn last_row(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row - 1 } else { end.row }
}
