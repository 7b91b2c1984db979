//! Renders a text without its cuts. Pure.
//!
//! Kept lines are the original's bytes. Only markers and line numbers are added.

use std::fmt::Write;

use serde::Serialize;
use tamis_prune::{Cut, CutCause, CutReason, PruneLimits};

use crate::ids::PruneId;
use crate::marker::{MarkerForm, MarkerWriter, line_count, reason};

/// One block that was cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CutAnnotation {
    /// Always [`CutAnnotation::KIND`].
    pub kind: &'static str,
    /// 1-based, inclusive.
    pub original_start_line: usize,
    pub original_end_line: usize,
    pub pruned_line_count: usize,
    pub reason: String,
    /// The marker line that stands for the block, or would if `include_markers` were set.
    pub marker: String,
    /// The facts that the reason is worded from.
    #[serde(skip)]
    pub facts: CutReason,
}

impl CutAnnotation {
    pub const KIND: &'static str = "pruned_block";
}

/// How a pruned text is rendered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenderOptions {
    pub(crate) annotate_lines: bool,
    pub(crate) include_markers: bool,
    pub(crate) markers: MarkerForm,
    pub(crate) in_place: bool,
    /// The text has short markers of an earlier prune.
    pub(crate) has_earlier_markers: bool,
}

/// A text without its cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    pub(crate) annotations: Vec<CutAnnotation>,
    pub(crate) pruned_lines: usize,
}

/// Cuts that do not fit the text or the limits: a bug of the engine, which must not reach the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidCuts {
    #[error("the cuts are out of order, outside the text or adjacent")]
    Shape,
    #[error("more was cut than the limits allow")]
    Limits,
}

/// Checks the cuts of a text of `lines` lines.
pub(crate) fn check(cuts: &[Cut], lines: usize, limits: &PruneLimits) -> Result<(), InvalidCuts> {
    let mut pruned = 0;
    let mut before: Option<&Cut> = None;
    for cut in cuts {
        let next = before.map_or(1, |before| before.last_line + if may_touch(before, cut) { 1 } else { 2 });
        if cut.first_line < next || cut.last_line < cut.first_line || cut.last_line > lines {
            return Err(InvalidCuts::Shape);
        }
        pruned += line_count(cut);
        before = Some(cut);
    }
    let first = cuts.first().map_or(usize::MAX, |cut| cut.first_line);
    // The tolerance allows for the engine's rounding; it is far below one line for any text that fits in memory. NaN
    // allows nothing.
    let allowed = pruned as f64 <= limits.max_prune_ratio * lines as f64 + 1e-6;
    if pruned > 0 && (!allowed || lines - pruned < limits.min_keep_lines || first <= limits.keep_first_lines)
    {
        return Err(InvalidCuts::Limits);
    }
    Ok(())
}

/// Whether there need not be a kept line between two cuts: they have two markers for two reasons.
fn may_touch(one: &Cut, other: &Cut) -> bool {
    let is_shown = |cut: &Cut| cut.reason.cause == CutCause::AlreadyShown;
    (is_shown(one) || is_shown(other)) && one.reason != other.reason
}

/// Renders `lines` without `cuts`, which [`check`] has accepted.
pub(crate) fn render(lines: &[&str], cuts: &[Cut], id: &PruneId, options: RenderOptions) -> Rendered {
    let prefixes = if options.annotate_lines { lines.len() * 10 } else { 0 };
    let bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
    let mut output = Lines { text: String::with_capacity(bytes + prefixes), empty: true };
    let mut annotations = Vec::with_capacity(cuts.len());
    let mut markers = MarkerWriter::new(id, options.markers, options.has_earlier_markers);
    let mut pruned_lines = 0;
    let mut next = 1;
    let keep = |output: &mut Lines, first: usize, last: usize| {
        for number in first..=last {
            output.start_line();
            if options.annotate_lines {
                number_line(&mut output.text, number);
            }
            output.text.push_str(lines[number - 1]);
        }
    };
    for cut in cuts {
        keep(&mut output, next, cut.first_line - 1);
        next = cut.last_line + 1;
        pruned_lines += line_count(cut);
        let marker = markers.marker(cut);
        if options.include_markers {
            output.start_line();
            output.text.push_str(&marker);
        }
        if options.in_place {
            let emptied = line_count(cut) - usize::from(options.include_markers);
            (0..emptied).for_each(|_| output.start_line());
        }
        annotations.push(CutAnnotation {
            kind: CutAnnotation::KIND,
            original_start_line: cut.first_line,
            original_end_line: cut.last_line,
            pruned_line_count: line_count(cut),
            reason: reason(options.markers, &cut.reason),
            marker,
            facts: cut.reason.clone(),
        });
    }
    keep(&mut output, next, lines.len());
    Rendered { text: output.text, annotations, pruned_lines }
}

/// Puts the original's line number before a line.
pub(crate) fn number_line(text: &mut String, number: usize) {
    // Writing to a String cannot fail.
    let _ = write!(text, "{number}│ ");
}

/// Lines joined by `\n`.
struct Lines {
    text: String,
    empty: bool,
}

impl Lines {
    fn start_line(&mut self) {
        if !std::mem::take(&mut self.empty) {
            self.text.push('\n');
        }
    }
}
