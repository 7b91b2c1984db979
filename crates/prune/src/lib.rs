//! The engine: given a text, a goal and limits, which lines go, and why.
//!
//! Pure: no file, no clock, no network. The same request gives the same verdict on every machine.
//!
//! The way of a text: leave out what hides its lines (`view`), read its structure (`units`, `shape`) and its words
//! (`index`), measure each line (`features`), score it (`scorer`), let closing lines follow what they close (`reading`),
//! set aside what must stay (`protect`), choose what goes within the limits (`select`), and say why (`reason`).

mod analysis;
mod bm25;
mod features;
mod goal;
mod index;
mod line_attributes;
mod logs;
mod network;
mod outliers;
mod partition;
mod plain_text;
mod propagation;
mod protect;
mod reason;
mod scorer;
mod select;

use tamis_text::Kind;

pub use analysis::Analysis;
pub use features::{Feature, Features};
pub use plain_text::View;

/// Changes whenever the same request may get another verdict; part of every prune id.
pub const ENGINE_VERSION: &str = "skimmer-2";

/// The threshold of callers that do not choose one: where about 95 % of needed lines stay.
pub const DEFAULT_THRESHOLD: f32 = 0.5;

/// A text of more lines stays whole. A judged line takes about 600 bytes, so two million line ends, which are a small
/// text, would take a gigabyte.
pub const MOST_LINES: usize = 250_000;

/// What is to be pruned.
pub struct Request<'a> {
    pub text: &'a str,
    /// What the reader is after. Data, never an instruction.
    pub goal: &'a str,
    pub kind: Kind,
    pub limits: Limits,
    /// Bytes of the marker line, its newline included, that would stand for a cut. A block that is not larger stays.
    pub marker_bytes: &'a dyn Fn(&Cut) -> usize,
}

/// Promises about the result, never mere preferences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Lines that score below this may go. 0 cuts nothing; 1 cuts whatever is not protected.
    pub threshold: f32,
    /// At most this share of the lines goes.
    pub max_prune_ratio: f64,
    /// At least this many lines stay.
    pub min_keep_lines: usize,
    /// This many lines at the top stay, whatever they score.
    pub keep_first_lines: usize,
}

/// What the engine decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// How likely each line is needed, 0 to 1.
    pub scores: Vec<f32>,
    /// In order, never touching: at least one kept line lies between two cuts.
    pub cuts: Vec<Cut>,
}

/// Neighbouring lines that go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// 1-based, inclusive.
    pub first_line: usize,
    pub last_line: usize,
    /// Short, in French, on one line.
    pub reason: String,
}

/// Why there is no verdict; the text then stays whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unpruned {
    #[error("the work was interrupted")]
    Interrupted,
    #[error("the text has fewer lines than must be kept")]
    ConstraintsUnmet,
    #[error("the text has more than {MOST_LINES} lines")]
    TooManyLines,
}

/// Decides which lines go. `interrupted` is asked now and then, and ends the work when it says so.
pub fn prune(request: &Request<'_>, interrupted: &dyn Fn() -> bool) -> Result<Verdict, Unpruned> {
    let lines = tamis_text::line_count(request.text);
    if lines > MOST_LINES {
        return Err(Unpruned::TooManyLines);
    }
    if request.limits.min_keep_lines > lines {
        return Err(Unpruned::ConstraintsUnmet);
    }
    let view = View::of(request.text);
    let analysis = Analysis::read(&view, request.goal, request.kind, interrupted)?;
    let cuts = analysis.cuts(&request.limits, request.marker_bytes, interrupted)?;
    Ok(Verdict { scores: analysis.into_scores(), cuts })
}
