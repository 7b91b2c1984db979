//! The structure of source code: where its definitions and imports are, and which symbols a range of lines uses.
//!
//! Entry points: [`outline`], which parses with tree-sitter if it can and otherwise uses heuristics, [`symbol_uses`], and
//! [`each_declaration`] for names without a body: constants, fields, keys.
//! Heuristics read indentation and keywords; they are a hundred times cheaper, and work for any language and for broken
//! code. Parsing is exact.
//!
//! Never touches a file, a clock or the network, and knows nothing of goals. Work is counted, never timed, so the same text
//! gives the same outline on every machine.

mod c_style;
mod declarations;
mod grammars;
mod heuristic_outline;
mod keywords;
mod language;
mod line;
mod nesting;
mod other_languages;
mod parsed_outline;
mod signature;
mod structure;
mod symbol_uses;

pub use declarations::{DeclarationKind, Notation, each_declaration};
pub use heuristic_outline::heuristic_outline;
pub use language::Language;
pub use line::{is_attribute_line, is_closing_line, is_comment_line, line_indent};
pub use parsed_outline::parse_outline;
pub use signature::defined_name;
pub use symbol_uses::{SymbolUse, SymbolUses, symbol_uses};

/// How much parsing is allowed, in bytes and in steps of the parser. Never in time, which differs between machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseBudget {
    /// Larger texts are not parsed at all.
    pub bytes: usize,
    /// The parser reports progress every few hundred operations. Correct code takes about one report per 180 bytes, the
    /// wrong grammar up to a hundred times as many.
    pub steps: usize,
}

impl ParseBudget {
    /// Three times what correct code needs, for texts of up to `bytes`.
    pub fn for_bytes(bytes: usize) -> ParseBudget {
        ParseBudget { bytes, steps: 64 + bytes / 60 }
    }
}

/// The outline of `text`, whose lines are `lines`: parsed if its language is known and the budget suffices, otherwise
/// heuristic.
pub fn outline(text: &str, lines: &[&str], budget: ParseBudget, interrupted: &dyn Fn() -> bool) -> Outline {
    if text.len() <= budget.bytes
        && let Some(language) = Language::detect(text)
        && let Some(outline) = parse_outline(language, text, lines, budget, interrupted)
    {
        return outline;
    }
    heuristic_outline(lines, interrupted)
}

/// Where the definitions and imports of a text are. Lines count from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Sorted by signature line; an outer definition comes before those inside it.
    pub definitions: Vec<Definition>,
    /// In order, disjoint.
    pub imports: Vec<LineSpan>,
    /// Other lines that begin a definition or an import, in order: where the code cannot be parsed, inside macros, and in forms
    /// without a name or a body (`mod name;`, `class << self`).
    pub structural: Vec<usize>,
}

/// Lines from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineSpan {
    pub first: usize,
    pub last: usize,
}

/// A function, type, module or the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Where its doc comment, attributes or decorators begin; the signature's first line when it has none.
    pub lead: usize,
    /// From `fn name(` to the `{`.
    pub signature: LineSpan,
    /// Its last line: a closing brace, or the last line of its body.
    pub last: usize,
    /// The number of definitions around it.
    pub depth: usize,
    /// Byte range of its name in the signature's first line; empty if it has none.
    pub name: std::ops::Range<usize>,
}
