//! The sieve's requests and results.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tamis_prune::{DEFAULT_THRESHOLD, PruneLimits, ShownRun};
use tamis_text::TextKind;

use crate::marker::MarkerForm;
use crate::render::CutAnnotation;

/// Who made a call, for the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Over HTTP, with neither the token nor an identity. Such callers share what is left over by others.
    pub is_anonymous: bool,
    pub tool: String,
    pub door: String,
    pub client: Option<String>,
    pub session: Option<String>,
    pub project: Option<String>,
    pub model: Option<String>,
    /// The client's id of its tool call.
    pub call_id: Option<String>,
}

/// A text that may be cut.
#[derive(Clone, Copy, Debug)]
pub struct PruneRequest<'a> {
    pub text: &'a str,
    pub goal: &'a str,
    pub kind: TextKind,
    pub options: PruneOptions,
    /// Runs that the session was already shown, which are cut too. Empty unless the caller knows its session.
    pub shown: &'a [ShownRun],
}

/// How a text is pruned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PruneOptions {
    pub threshold: f32,
    pub max_prune_ratio: f64,
    pub min_keep_lines: usize,
    pub keep_first_lines: usize,
    /// When this passes, the text is returned whole.
    pub timeout: Duration,
    /// Puts `N│ `, the line's number in the original, before each kept line.
    pub annotate_lines: bool,
    /// Puts a marker line where lines were cut.
    pub include_markers: bool,
    pub markers: MarkerForm,
    /// Leaves an empty line for each further line of a cut, so that kept lines stay where they are: for readers that number the
    /// lines themselves.
    pub in_place: bool,
}

impl Default for PruneOptions {
    fn default() -> PruneOptions {
        PruneOptions {
            threshold: DEFAULT_THRESHOLD,
            max_prune_ratio: 1.0,
            min_keep_lines: 0,
            keep_first_lines: 0,
            // Pruning takes milliseconds; this is for an overloaded machine.
            timeout: Duration::from_secs(20),
            annotate_lines: false,
            include_markers: true,
            markers: MarkerForm::Contract,
            in_place: false,
        }
    }
}

impl PruneOptions {
    pub(crate) fn limits(&self) -> PruneLimits {
        PruneLimits {
            threshold: self.threshold,
            max_prune_ratio: self.max_prune_ratio,
            min_keep_lines: self.min_keep_lines,
            keep_first_lines: self.keep_first_lines,
        }
    }
}

/// The result of a prune; on the wire, the output of `prune_text`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pruned {
    pub prune_id: String,
    pub pruned_text: String,
    pub annotations: Vec<CutAnnotation>,
    pub stats: PruneStats,
    pub warnings: Vec<PruneWarning>,
    /// How likely each line is needed; empty on fallback.
    #[serde(skip)]
    pub scores: Vec<f32>,
}

/// What a prune did, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PruneStats {
    pub original_lines: usize,
    pub kept_lines: usize,
    pub pruned_lines: usize,
    /// Truncated to four decimals, so that it never claims more than was cut.
    pub pruned_ratio: f64,
    pub tokens_est_before: usize,
    pub tokens_est_after: usize,
    pub elapsed_ms: u64,
    pub used_fallback: bool,
}

/// What the caller should know about a result; on the wire, its [`PruneWarning::code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PruneWarning {
    InputTooLarge,
    /// The time limit passed, or the call was cancelled.
    Timeout,
    ConstraintsUnmet,
    /// The original could not be stored, so nothing was cut.
    RecoveryUnavailable,
    InternalError,
    /// Recent calls could not be recorded, and this one may not be either. The cuts are valid.
    LedgerUnavailable,
}

impl PruneWarning {
    pub fn code(self) -> &'static str {
        match self {
            PruneWarning::InputTooLarge => "input_too_large",
            PruneWarning::Timeout => "timeout",
            PruneWarning::ConstraintsUnmet => "constraints_unmet",
            PruneWarning::RecoveryUnavailable => "recovery_unavailable",
            PruneWarning::InternalError => "internal_error",
            PruneWarning::LedgerUnavailable => "ledger_unavailable",
        }
    }
}
