//! From a text and its cuts to what the reader sees. Pure.
//!
//! A kept line is the original's bytes. Only whole lines go, only markers and line numbers are added.

use std::fmt::Write;

use serde::Serialize;
use tamis_prune::{Cut, Limits};

use crate::ids::PruneId;
use crate::marker::{line_count, marker, reason};

/// One block that was cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Annotation {
    /// Always [`Annotation::KIND`].
    pub kind: &'static str,
    /// 1-based, inclusive.
    pub original_start_line: usize,
    pub original_end_line: usize,
    pub pruned_line_count: usize,
    pub reason: String,
    /// The line in the text where the block was, or would be if markers had been asked for.
    pub marker: String,
}

impl Annotation {
    pub const KIND: &'static str = "pruned_block";
}

/// How a pruned text looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) annotate_lines: bool,
    pub(crate) include_markers: bool,
}

/// A text without its cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) pruned_lines: usize,
}

/// Cuts that do not fit the text or the limits: a mistake of the engine, which must never reach the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadCuts {
    #[error("the cuts are out of order, out of the text or touch each other")]
    Shape,
    #[error("more was cut than the limits allow")]
    Limits,
}

/// Checks the cuts of a text of `lines` lines.
pub(crate) fn check(cuts: &[Cut], lines: usize, limits: &Limits) -> Result<(), BadCuts> {
    let mut next = 1;
    let mut pruned = 0;
    for cut in cuts {
        if cut.first_line < next || cut.last_line < cut.first_line || cut.last_line > lines {
            return Err(BadCuts::Shape);
        }
        pruned += line_count(cut);
        next = cut.last_line + 2;
    }
    let first = cuts.first().map_or(usize::MAX, |cut| cut.first_line);
    // The tolerance is for another order of rounding in the engine, far below one line in any text that fits in memory.
    // A ratio that is no number allows nothing.
    let allowed = pruned as f64 <= limits.max_prune_ratio * lines as f64 + 1e-6;
    if pruned > 0 && (!allowed || lines - pruned < limits.min_keep_lines || first <= limits.keep_first_lines)
    {
        return Err(BadCuts::Limits);
    }
    Ok(())
}

/// What is left of `lines` without `cuts`, which [`check`] has passed.
pub(crate) fn render(lines: &[&str], cuts: &[Cut], id: &PruneId, look: Look) -> Rendered {
    let prefixes = if look.annotate_lines { lines.len() * 10 } else { 0 };
    let bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
    let mut page = Page { text: String::with_capacity(bytes + prefixes), empty: true };
    let mut annotations = Vec::with_capacity(cuts.len());
    let mut pruned_lines = 0;
    let mut next = 1;
    let keep = |page: &mut Page, first: usize, last: usize| {
        for number in first..=last {
            page.start_line();
            if look.annotate_lines {
                number_line(&mut page.text, number);
            }
            page.text.push_str(lines[number - 1]);
        }
    };
    for cut in cuts {
        keep(&mut page, next, cut.first_line - 1);
        next = cut.last_line + 1;
        pruned_lines += line_count(cut);
        let marker = marker(id, cut);
        if look.include_markers {
            page.start_line();
            page.text.push_str(&marker);
        }
        annotations.push(Annotation {
            kind: Annotation::KIND,
            original_start_line: cut.first_line,
            original_end_line: cut.last_line,
            pruned_line_count: line_count(cut),
            reason: reason(cut),
            marker,
        });
    }
    keep(&mut page, next, lines.len());
    Rendered { text: page.text, annotations, pruned_lines }
}

/// Puts the original's line number before a line.
pub(crate) fn number_line(text: &mut String, number: usize) {
    // Writing to a String cannot fail.
    let _ = write!(text, "{number}│ ");
}

/// Lines joined by `\n`.
struct Page {
    text: String,
    empty: bool,
}

impl Page {
    fn start_line(&mut self) {
        if !std::mem::take(&mut self.empty) {
            self.text.push('\n');
        }
    }
}
