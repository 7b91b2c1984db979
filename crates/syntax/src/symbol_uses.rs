//! The symbols that a range of lines uses: what it calls, which fields it sets, which errors it raises.
//!
//! Found in a syntax tree if the language has a grammar. Otherwise only calls are found, by the bracket after a name.

mod heuristic;

use tree_sitter::Node;

use self::heuristic::heuristic_uses;
use crate::parsed_outline::parse;
use crate::{Language, LineSpan, ParseBudget};

/// In order of appearance; a name may occur several times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymbolUses {
    pub calls: Vec<SymbolUse>,
    /// Fields and attributes that are set.
    pub writes: Vec<SymbolUse>,
    /// Errors that are raised, thrown or returned, by their names.
    pub raises: Vec<SymbolUse>,
}

/// One use of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolUse {
    /// From 0.
    pub line: usize,
    pub name: String,
    /// What precedes its dot, if that is one word: `self`, `config`, `Path`.
    pub of: Option<String>,
}

/// Longer names are data.
const LONGEST_NAME: usize = 80;

/// The symbols that the lines of `span` use.
pub fn symbol_uses(
    text: &str,
    lines: &[&str],
    span: LineSpan,
    budget: ParseBudget,
    interrupted: &dyn Fn() -> bool,
) -> SymbolUses {
    let language = Language::detect(text);
    let tree = language.and_then(|language| Some((language, parse(language, text, budget, interrupted)?)));
    match tree {
        Some((language, tree)) => {
            Reader { language, text, span, uses: SymbolUses::default(), locals: Vec::new() }
                .read(tree.root_node())
        }
        None => heuristic_uses(lines, span),
    }
}

struct Reader<'a> {
    language: Language,
    text: &'a str,
    span: LineSpan,
    uses: SymbolUses,
    /// Names known to be variables: a Ruby call without brackets looks like one.
    locals: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    /// Walks the tree without recursion, since deeply nested input could overflow the stack.
    fn read(mut self, root: Node<'a>) -> SymbolUses {
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            let (first, last) = (node.start_position().row, node.end_position().row);
            let inside = first <= self.span.last && last >= self.span.first;
            if inside && first >= self.span.first && node.is_named() {
                self.visit(node);
            }
            if inside && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    let locals = self.locals;
                    self.uses.calls.retain(|call| call.of.is_some() || !locals.contains(&call.name.as_str()));
                    return self.uses;
                }
            }
        }
    }

    fn visit(&mut self, node: Node<'a>) {
        let field = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "call" if self.language == Language::Ruby => {
                let method = field("method");
                if method.is_some_and(|method| self.words(method) == "raise") {
                    let raised = field("arguments").and_then(|arguments| arguments.named_child(0));
                    self.raise(raised);
                } else if let Some(method) = method {
                    let of = field("receiver").and_then(|receiver| self.last_word(receiver));
                    self.call(method, of);
                }
            }
            "call" | "call_expression" => {
                let function = field("function");
                if self.language == Language::Rust
                    && function.is_some_and(|function| self.words(function) == "Err")
                {
                    let raised = field("arguments").and_then(|arguments| arguments.named_child(0));
                    self.raise(raised);
                } else if let Some(function) = function {
                    self.call_of(function);
                }
            }
            "macro_invocation" => self.call_field(node, "macro"),
            "new_expression" => self.call_field(node, "constructor"),
            "object_creation_expression" => self.call_field(node, "type"),
            "command" => self.call_field(node, "name"),
            "method_invocation" => {
                let of = field("object").and_then(|object| self.last_word(object));
                if let Some(name) = field("name") {
                    self.call(name, of);
                }
            }
            "raise_statement" | "throw_statement" => self.raise(node.named_child(0)),
            "return_statement" if self.language == Language::Go => self.return_error(node),
            "assignment"
            | "augmented_assignment"
            | "assignment_expression"
            | "compound_assignment_expr"
            | "augmented_assignment_expression"
            | "operator_assignment"
            | "assignment_statement" => {
                if let Some(left) = field("left") {
                    self.write(left);
                }
            }
            "method_parameters" | "block_parameters" if self.language == Language::Ruby => {
                let mut cursor = node.walk();
                let names = node.named_children(&mut cursor);
                self.locals.extend(names.map(|name| &self.text[name.byte_range()]));
            }
            "identifier" if self.language == Language::Ruby && stands_alone(node) => self.call(node, None),
            _ => {}
        }
    }

    fn call_field(&mut self, node: Node<'a>, name: &str) {
        if let Some(function) = node.child_by_field_name(name) {
            self.call_of(function);
        }
    }

    /// A call of what the expression names: `a`, `a.b`, `a::b::<T>`, `a[T]`.
    fn call_of(&mut self, function: Node<'a>) {
        let Some((name, of)) = self.named_by(function) else { return };
        let of = of.and_then(|of| self.last_word(of));
        self.call(name, of);
    }

    fn call(&mut self, name: Node<'a>, of: Option<String>) {
        self.uses.calls.extend(self.of_name(name, of));
    }

    fn of_name(&self, name: Node<'a>, of: Option<String>) -> Option<SymbolUse> {
        // Of `this.#name`, the sign is not part of the name.
        let words = self.words(name).trim_start_matches('#');
        let plain = !words.is_empty() && words.len() <= LONGEST_NAME && words.bytes().all(is_name_byte);
        plain.then(|| SymbolUse { line: name.start_position().row, name: words.to_owned(), of })
    }

    /// The node of the last name in an expression, and the node before it.
    fn named_by(&self, node: Node<'a>) -> Option<(Node<'a>, Option<Node<'a>>)> {
        let field = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "identifier" | "type_identifier" | "constant" | "word" | "property_identifier" => {
                Some((node, None))
            }
            "attribute" => Some((field("attribute")?, field("object"))),
            "field_expression" => Some((field("field")?, field("value").or_else(|| field("argument")))),
            "member_expression" => Some((field("property")?, field("object"))),
            "selector_expression" => Some((field("field")?, field("operand"))),
            "scoped_identifier" => Some((field("name")?, field("path"))),
            "scope_resolution" => Some((field("name")?, field("scope"))),
            "field_access" => Some((field("field")?, field("object"))),
            "generic_function" => self.named_by(field("function")?),
            "generic_type" | "command_name" => self.named_by(node.named_child(0)?),
            _ => None,
        }
    }

    fn last_word(&self, node: Node<'a>) -> Option<String> {
        let words = match self.named_by(node) {
            Some((name, _)) => self.words(name),
            None => self.words(node),
        };
        let plain = !words.is_empty() && words.len() <= LONGEST_NAME && words.bytes().all(is_name_byte);
        plain.then(|| words.to_owned())
    }

    fn words(&self, node: Node<'a>) -> &'a str {
        &self.text[node.byte_range()]
    }

    /// `raise X(…)`, `throw new X(…)`, `Err(X::Y { … })`, `raise X, "why"`.
    fn raise(&mut self, raised: Option<Node<'a>>) {
        let Some(raised) = raised else { return };
        let field = |name: &str| raised.child_by_field_name(name);
        let what = match raised.kind() {
            "call" if self.language == Language::Ruby => field("receiver"),
            "call" | "call_expression" => field("function"),
            "new_expression" => field("constructor"),
            "object_creation_expression" => field("type"),
            "struct_expression" => field("name"),
            _ => Some(raised),
        };
        let Some(what) = what else { return };
        let path: String = self.words(what).split_whitespace().collect();
        let name_of_type =
            path.rsplit(['.', ':']).next().is_some_and(|last| last.starts_with(char::is_uppercase));
        if name_of_type
            && path.len() <= LONGEST_NAME
            && path.bytes().all(|byte| is_name_byte(byte) || b".:".contains(&byte))
        {
            self.uses.raises.push(SymbolUse { line: what.start_position().row, name: path, of: None });
        }
    }

    /// `return nil, ErrClosed`.
    fn return_error(&mut self, node: Node<'a>) {
        let Some(list) = node.named_child(0) else { return };
        let Some(last) = list.named_child(list.named_child_count().saturating_sub(1) as u32) else { return };
        let Some((name, of)) = self.named_by(last) else { return };
        if self.words(name).strip_prefix("Err").is_some_and(|rest| rest.starts_with(char::is_uppercase)) {
            let of = of.and_then(|of| self.last_word(of));
            self.uses.raises.extend(self.of_name(name, of));
        }
    }

    fn write(&mut self, left: Node<'a>) {
        match left.kind() {
            "expression_list" | "pattern_list" | "left_assignment_list" => {
                let mut cursor = left.walk();
                let all: Vec<Node<'a>> = left.named_children(&mut cursor).collect();
                all.into_iter().filter(|one| !one.kind().ends_with("_list")).for_each(|one| self.write(one));
            }
            "instance_variable" | "class_variable" => {
                let written = SymbolUse {
                    line: left.start_position().row,
                    name: self.words(left).trim_start_matches('@').to_owned(),
                    of: Some("self".to_owned()),
                };
                self.uses.writes.push(written);
            }
            "identifier" if self.language == Language::Ruby => self.locals.push(self.words(left)),
            _ => {
                let Some((name, Some(of))) = self.named_by(left) else { return };
                let of = self.last_word(of);
                self.uses.writes.extend(self.of_name(name, of));
            }
        }
    }
}

/// Whether a Ruby identifier is not part of a call, a definition or the left side of an assignment.
fn stands_alone(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    match parent.kind() {
        "method" | "singleton_method" | "method_parameters" | "block_parameters" | "optional_parameter"
        | "keyword_parameter" | "splat_parameter" | "alias" => false,
        "call" => parent.child_by_field_name("method") != Some(node),
        "assignment" | "operator_assignment" => parent.child_by_field_name("left") != Some(node),
        _ => true,
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'?' | b'!' | b'@' | b'-') || byte >= 0x80
}
