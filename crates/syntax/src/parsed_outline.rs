//! An outline from a syntax tree, if the language has a grammar and parsing stays within the budget.

use std::ops::{ControlFlow, Range};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use crate::grammars::Grammar;
use crate::heuristic_outline::lead;
use crate::line::{is_import, line_indent};
use crate::structure::structural_lines;
use crate::{Definition, Language, LineSpan, Outline, ParseBudget};

const LONGEST_SIGNATURE: usize = 40;
/// Nodes that may hold a definition or an import even if they are on one line.
const WRAPPERS: [&str; 4] = ["export_statement", "ambient_declaration", "block", "statement_block"];
/// Nodes that are imports only if their line looks like one: `require 'set'`, `const a = require('a')`,
/// `export … from`.
const MAYBE_IMPORTS: [&str; 4] = ["call", "export_statement", "lexical_declaration", "variable_declaration"];
/// If more than one line in this many has a syntax error, the text is in another language.
const MOST_ERRORS: usize = 10;

/// The outline of `text` in `language`. `None` if the budget runs out or the text is in another language.
pub fn parse_outline(
    language: Language,
    text: &str,
    lines: &[&str],
    budget: ParseBudget,
    interrupted: &dyn Fn() -> bool,
) -> Option<Outline> {
    let tree = parse(language, text, budget, interrupted)?;
    let (_, grammar) = language.grammar();
    let root = tree.root_node();
    let walk = Walk {
        grammar,
        text,
        lines,
        outline: Outline::default(),
        open: Vec::new(),
        opaque: Vec::new(),
        errors: 0,
    };
    let (mut outline, opaque) = walk.walk(root)?;
    let everywhere = 0..lines.len();
    let scanned = if root.has_error() { std::slice::from_ref(&everywhere) } else { &opaque[..] };
    for range in scanned {
        structural_lines(lines, range.clone(), &mut outline.structural);
    }
    outline.structural.sort_unstable();
    outline.structural.dedup();
    Some(outline)
}

/// The syntax tree of `text`. `None` if the budget runs out.
pub(crate) fn parse(
    language: Language,
    text: &str,
    budget: ParseBudget,
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
    text: &'a str,
    lines: &'a [&'a str],
    outline: Outline,
    /// Last lines of the open definitions.
    open: Vec<usize>,
    /// Lines that are not parsed: those inside macros, and of strings and comments that may not be any.
    opaque: Vec<Range<usize>>,
    errors: usize,
}

impl Walk<'_> {
    /// Walks the tree without recursion, since deeply nested input could overflow the stack.
    fn walk(mut self, root: Node<'_>) -> Option<(Outline, Vec<Range<usize>>)> {
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            // Nodes on one line rarely hold a definition, so they are skipped.
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

    fn finish(mut self) -> (Outline, Vec<Range<usize>>) {
        self.outline.definitions.sort_by_key(|definition| (definition.signature.first, definition.depth));
        self.outline.imports.dedup_by(|later, earlier| later.first <= earlier.last);
        (self.outline, self.opaque)
    }

    /// Records the node if it is a definition or an import. True: visit its children even if it is on one line.
    fn visit(&mut self, node: Node<'_>) -> bool {
        if node.is_error() || node.is_missing() {
            self.errors += 1;
        }
        if !node.is_named() {
            return false;
        }
        let kind = node.kind();
        self.note_structure(node, kind);
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

    /// Records forms of definitions and imports that have no name or no body, and lines that are not parsed.
    fn note_structure(&mut self, node: Node<'_>, kind: &str) {
        let is_structural = match kind {
            "macro_invocation" | "macro_definition" => {
                self.opaque.push(node.start_position().row + 1..last_row(node) + 1);
                false
            }
            _ if self.is_unclosed(node, kind) => {
                self.opaque.push(node.start_position().row..last_row(node) + 1);
                false
            }
            "mod_item" => body(node).is_none(),
            "singleton_class" => true,
            "export_statement" => node.child_by_field_name("value").is_some_and(|value| {
                matches!(value.kind(), "class" | "function_expression" | "generator_function")
            }),
            "command" => node
                .child_by_field_name("name")
                .and_then(|name| self.text.get(name.byte_range()))
                .is_some_and(|name| matches!(name, "source" | ".")),
            _ => false,
        };
        if is_structural {
            self.outline.structural.push(node.start_position().row);
        }
    }

    /// Whether the node is a string or comment of several lines that goes on to the end of the text: it may lack its end.
    fn is_unclosed(&self, node: Node<'_>, kind: &str) -> bool {
        node.end_position().row > node.start_position().row
            && node.end_byte() >= self.text.trim_end().len()
            && ["string", "heredoc", "comment", "template"].iter().any(|text| kind.contains(text))
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
            // An alias counts as a definition only if it has a body.
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
        // Of `#name() {`, the sign is not part of the name.
        let name = match line.get(name.clone()) {
            Some(text) => name.start + usize::from(text.starts_with('#'))..name.end,
            None => 0..0,
        };
        let lead = lead(self.lines, node.start_position().row.min(first), line_indent(line)).min(first);
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
        // Go: `type Name struct {`; the brace is three nodes down.
        let spec = node.named_child(0)?;
        let body = spec.child_by_field_name("type")?;
        return body
            .named_child(0)
            .filter(|list| list.kind() == "field_declaration_list")
            .or(Some(body).filter(|body| body.kind() == "interface_type"));
    }
    node.child_by_field_name("body")
}

/// The first row of the signature, after annotations that a grammar may include.
fn signature_first(node: Node<'_>) -> usize {
    if node.kind() == "function_definition" {
        // C: the return type may be on a line of its own, so the line of the name counts.
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
        // C: the name is at the end of a chain of declarators.
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
