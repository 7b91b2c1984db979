//! Definitions and imports of source code: found with tree-sitter under a work budget, or by reading lines.
//!
//! Both ways give the same [`Outline`]. Reading lines is a hundred times cheaper and works for any language and
//! for broken code; parsing is exact. Work is counted, never timed: the same text gives the same outline anywhere.

mod c_style;
mod heuristic_outline;
mod keywords;
mod language;
mod line;
mod nesting;
mod parsed_outline;
mod signature;
mod symbol_uses;

pub use heuristic_outline::outline_by_lines;
pub use language::Language;
pub use line::{
    indent as line_indent, is_attribute as is_attribute_line, is_closer as is_closing_line,
    is_comment as is_comment_line,
};
pub use parsed_outline::outline_by_tree;
pub use signature::defined_name;
pub use symbol_uses::{Use, Uses, uses};

/// How much parsing is allowed, counted in bytes and in the parser's own steps: never in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Larger texts are not parsed at all.
    pub bytes: usize,
    /// The parser reports once in some hundred operations; sound code takes about one report per 180 bytes, and
    /// the wrong grammar may take a hundred times that.
    pub steps: usize,
}

impl Budget {
    /// Three times what sound code needs, for texts up to `bytes`.
    pub fn for_bytes(bytes: usize) -> Budget {
        Budget { bytes, steps: 64 + bytes / 60 }
    }
}

/// The outline of `text`, whose lines are `lines`: parsed when its language is known and the budget allows, else
/// read by lines.
pub fn outline(text: &str, lines: &[&str], budget: Budget, interrupted: &dyn Fn() -> bool) -> Outline {
    if text.len() <= budget.bytes
        && let Some(language) = Language::detect(text)
        && let Some(outline) = outline_by_tree(language, text, lines, budget, interrupted)
    {
        return outline;
    }
    outline_by_lines(lines, interrupted)
}

/// Where the definitions and imports of a text are. Lines count from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Ordered by signature line; an outer definition comes before those in it.
    pub definitions: Vec<Definition>,
    /// In order, disjoint.
    pub imports: Vec<LineSpan>,
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
    /// The lines that say what it is: `fn name(` to the `{`.
    pub signature: LineSpan,
    /// Its last line: a closing brace, or the last line of its body.
    pub last: usize,
    /// How many definitions it lies in.
    pub depth: usize,
    /// Byte range of its signature's interesting word in the signature's first line.
    pub name: std::ops::Range<usize>,
}
