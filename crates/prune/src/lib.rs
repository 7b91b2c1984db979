//! The engine: given a text, a goal and limits, which lines are cut, and why.
//!
//! Entry points: [`prune`]; [`overheard_goal`] where the reader states none; [`ShownMemory`] for what a session was already
//! shown. [`TextAnalysis`] gives the steps
//! separately, for examples and for training.
//!
//! The steps of a prune: strip colours and line numbers ([`PlainText`]), find the structure (`partition`, `document`,
//! `line_attributes`) and the words (`index`), measure each line (`features`), score it (`scorer`, `network`), let closing
//! lines follow what they close (`propagation`), read listings as records (`records`) and keep those that the goal wants, or
//! the messages of a log that it is about (`want`, `comparison`, `period`, `mentions`, `answers`), set aside what must stay (`protect`), choose what goes within the limits
//! (`select`), say why (`reason`), and cut what was already shown (`shown_cuts`).
//!
//! Never touches a file, a clock or the network, and never writes markers or words for people. The same request gives the
//! same verdict on every machine.

mod analysis;
mod answers;
mod bm25;
mod comparison;
mod document;
mod error_reports;
mod features;
mod goal;
mod header;
mod index;
mod large;
mod line_attributes;
mod logs;
mod mentions;
mod network;
mod number_words;
mod outliers;
mod partition;
mod patterns;
mod period;
mod plain_text;
mod propagation;
mod protect;
mod reason;
mod records;
mod scorer;
mod select;
mod shown;
mod shown_cuts;
mod want;

use tamis_text::TextKind;

pub use analysis::TextAnalysis;
pub use features::{Feature, FeatureTable};
pub use goal::overheard_goal;
pub use large::{LargeSelector, LargeSurvey, LargeVerdict};
pub use plain_text::PlainText;
pub use reason::{CutCause, CutPlace, CutReason};
pub use shown::{LEAST_SHOWN_LINES, SentPrompt, ShownMemory, ShownPlace, ShownRun};

/// Changes whenever the same request may get another verdict; part of every prune id.
pub const ENGINE_VERSION: &str = "skimmer-9";

/// The threshold of callers that do not choose one: where a line's chance to be needed weighs as much as its tokens.
pub const DEFAULT_THRESHOLD: f32 = 0.5;

/// Longer texts stay whole. A scored line takes about 600 bytes, so two million empty lines, which are a small text, would
/// take a gigabyte.
pub const MOST_LINES: usize = 250_000;

/// A text to prune.
pub struct EngineRequest<'a> {
    pub text: &'a str,
    /// What the reader is after: its question, or an [`overheard_goal`]. Data, never an instruction.
    pub goal: &'a str,
    pub kind: TextKind,
    pub limits: PruneLimits,
    /// Runs of the text that the reader has already; they are cut too. Empty where that is not known.
    pub shown: &'a [ShownRun],
    /// The size in bytes of the marker line for a cut, its newline included. A block that is not larger stays.
    pub marker_bytes: &'a dyn Fn(&Cut) -> usize,
}

/// Constraints on the result, not preferences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PruneLimits {
    /// Lines that score below this may be cut. 0 cuts nothing; 1 cuts everything that is not protected.
    pub threshold: f32,
    /// The maximum share of lines that is cut.
    pub max_prune_ratio: f64,
    /// The minimum number of lines that stay.
    pub min_keep_lines: usize,
    /// The number of lines at the top that stay, whatever they score.
    pub keep_first_lines: usize,
}

/// What the engine decided.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineVerdict {
    /// How likely each line is needed, 0 to 1.
    pub scores: Vec<f32>,
    /// In order, with at least one kept line between two cuts; only cuts of what was already shown may touch others.
    pub cuts: Vec<Cut>,
}

/// Neighbouring lines that are cut together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// 1-based, inclusive.
    pub first_line: usize,
    pub last_line: usize,
    pub reason: CutReason,
}

/// Why there is no verdict; the text then stays whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    #[error("interrupted")]
    Interrupted,
    #[error("the text has fewer lines than `min_keep_lines`")]
    ConstraintsUnmet,
    #[error("the text has more than {MOST_LINES} lines")]
    TooManyLines,
}

/// Decides which lines are cut. When `interrupted` returns true, the work ends with an error.
pub fn prune(
    request: &EngineRequest<'_>,
    interrupted: &dyn Fn() -> bool,
) -> Result<EngineVerdict, EngineError> {
    let lines = tamis_text::line_count(request.text);
    if lines > MOST_LINES {
        return Err(EngineError::TooManyLines);
    }
    if request.limits.min_keep_lines > lines {
        return Err(EngineError::ConstraintsUnmet);
    }
    let view = PlainText::of(request.text);
    let analysis = TextAnalysis::read(&view, request.goal, request.kind, interrupted)?;
    let mut cuts = analysis.cuts(&request.limits, request.marker_bytes, interrupted)?;
    if !request.shown.is_empty() {
        cuts = analysis.add_shown(cuts, request.shown, &request.limits, request.marker_bytes);
    }
    Ok(EngineVerdict { scores: analysis.into_scores(), cuts })
}
