//! Try: what the engine would cut from any text, at many thresholds. Nothing is stored or recorded.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tamis_redact::Redacted;
use tamis_sieve::{MarkerForm, PruneOptions, PruneRequest, PruneWarning, RepeatedCut};
use tamis_text::TextKind;
use tokio_util::sync::CancellationToken;

use crate::prunes::place;
use crate::{Dashboard, PageCutCause, PageError, PageErrorKind};

/// Larger texts are refused.
const MAX_TEXT_BYTES: usize = 2 << 20;
const MAX_GOAL_BYTES: usize = 16 << 10;
/// Steps of the slider from 0 to 1.
const STEPS: u8 = 40;
/// What all thresholds together may take.
const TIMEOUT: Duration = Duration::from_secs(8);

/// A text to try the engine on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageTrialRequest {
    pub text: String,
    pub goal: String,
    /// Detected from the text if it is not given.
    pub kind: Option<String>,
}

/// What the engine would do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageTrial {
    pub kind: &'static str,
    pub lines: usize,
    pub tokens_before: usize,
    /// Milliseconds for one threshold, which is what a prune takes.
    pub elapsed_ms: f64,
    /// How likely each line is needed, in percent.
    pub scores: Vec<u8>,
    /// What cuts refer to.
    pub reasons: Vec<PageCutReason>,
    /// By rising threshold.
    pub results: Vec<PageTrialResult>,
    /// Which of them has the threshold of callers that do not choose one.
    pub default_result: usize,
}

/// Why a block is cut.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageCutReason {
    pub cause: PageCutCause,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub place: Option<Redacted>,
}

/// What is cut at one threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageTrialResult {
    pub threshold: f32,
    /// First line, last line, and the index of the reason.
    pub cuts: Vec<(usize, usize, usize)>,
    pub tokens_after: usize,
}

impl Dashboard {
    /// Tries the engine on a text.
    pub fn try_prune(
        &self,
        request: &PageTrialRequest,
        cancellation: &CancellationToken,
    ) -> Result<PageTrial, PageError> {
        let invalid = |message: String| PageError::new(PageErrorKind::Invalid, message);
        for (name, length, limit) in
            [("text", request.text.len(), MAX_TEXT_BYTES), ("goal", request.goal.len(), MAX_GOAL_BYTES)]
        {
            if length > limit {
                let message = format!("the {name} has {length} bytes, over the limit of {limit}");
                return Err(invalid(message).hint("`tamis prune` takes texts of any size"));
            }
        }
        let kind = match request.kind.as_deref().filter(|kind| !kind.is_empty()) {
            None => TextKind::detect(&request.text),
            Some(name) => TextKind::ALL
                .into_iter()
                .find(|kind| kind.name() == name)
                .ok_or_else(|| invalid(format!("no kind `{name}`")).hint("use code, logs or docs"))?,
        };
        let options =
            PruneOptions { markers: MarkerForm::Short, timeout: TIMEOUT, ..PruneOptions::default() };
        let prune = PruneRequest { text: &request.text, goal: &request.goal, kind, options, shown: &[] };
        let trial = self
            .services
            .sieve
            .trial(&prune, &thresholds(), &|| cancellation.is_cancelled())
            .map_err(trial_error)?;
        let mut reasons: Vec<PageCutReason> = Vec::new();
        let mut known = std::collections::HashMap::new();
        let mut cut = |cut: &RepeatedCut| {
            let reason = PageCutReason { cause: cut.reason.cause.into(), place: place(&cut.reason) };
            let index = *known.entry(reason).or_insert_with_key(|reason| {
                reasons.push(reason.clone());
                reasons.len() - 1
            });
            (cut.first_line, cut.last_line, index)
        };
        let is_default = |result: &tamis_sieve::TrialResult| result.threshold == options.threshold;
        let default_result = trial.results.iter().position(is_default).unwrap_or_default();
        let results = trial.results.iter().map(|result| PageTrialResult {
            threshold: result.threshold,
            cuts: result.cuts.iter().map(&mut cut).collect(),
            tokens_after: result.tokens_after,
        });
        let results = results.collect();
        Ok(PageTrial {
            kind: kind.name(),
            lines: trial.scores.len(),
            tokens_before: trial.tokens_before,
            elapsed_ms: trial.elapsed.as_secs_f64() * 1000.0,
            scores: trial.scores.iter().map(|score| (score.clamp(0.0, 1.0) * 100.0).round() as u8).collect(),
            reasons,
            results,
            default_result,
        })
    }
}

/// The steps of the slider, coarse ones first: they are there if time runs out.
fn thresholds() -> Vec<f32> {
    let mut steps: Vec<u8> = (0..=STEPS).collect();
    let coarseness = |step: &u8| [20, 10, 5, 2, 1].into_iter().position(|width| step.is_multiple_of(width));
    steps.sort_by_key(coarseness);
    steps.into_iter().map(|step| f32::from(step) / f32::from(STEPS)).collect()
}

fn trial_error(warning: PruneWarning) -> PageError {
    let (kind, message) = match warning {
        PruneWarning::InputTooLarge => {
            (PageErrorKind::Invalid, "the text is too large, or has too many lines")
        }
        PruneWarning::Timeout => (PageErrorKind::Unavailable, "it took too long"),
        _ => (PageErrorKind::Failed, "the engine failed on this text"),
    };
    PageError::new(kind, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{dashboard, services};

    #[test]
    fn a_trial_has_every_threshold_and_stores_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let dashboard = dashboard(services(folder.path()));
        let text: String =
            (0..200).map(|number| format!("INFO request {number} done in {number} ms\n")).collect();
        let request = PageTrialRequest {
            text: format!("{text}ERROR disk full\n"),
            goal: "why did it fail".into(),
            kind: None,
        };
        let trial = dashboard.try_prune(&request, &CancellationToken::new()).unwrap();
        assert_eq!((trial.kind, trial.lines, trial.scores.len()), ("logs", 202, 202));
        let thresholds: Vec<f32> = trial.results.iter().map(|result| result.threshold).collect();
        assert_eq!(thresholds, (0..=40).map(|step| step as f32 / 40.0).collect::<Vec<_>>());
        let chosen = &trial.results[trial.default_result];
        assert_eq!(chosen.threshold, 0.5);
        assert!(!chosen.cuts.is_empty() && chosen.tokens_after < trial.tokens_before / 2);
        let reason = PageCutReason { cause: PageCutCause::Repetitions, place: None };
        assert_eq!(trial.reasons[chosen.cuts[0].2], reason);
        assert_eq!(trial.results[0].cuts, []);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

        for (refused, kind) in [
            (PageTrialRequest { kind: Some("poem".into()), ..request.clone() }, PageErrorKind::Invalid),
            (
                PageTrialRequest { text: "x".repeat(MAX_TEXT_BYTES + 1), ..request.clone() },
                PageErrorKind::Invalid,
            ),
            (PageTrialRequest { text: "\n".repeat(300_000), ..request.clone() }, PageErrorKind::Invalid),
        ] {
            assert_eq!(dashboard.try_prune(&refused, &CancellationToken::new()).unwrap_err().kind, kind);
        }
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        assert_eq!(dashboard.try_prune(&request, &cancelled).unwrap_err().kind, PageErrorKind::Unavailable);
    }
}
