//! Trying the engine on a text at many thresholds. Nothing is stored or recorded.

use std::time::{Duration, Instant};

use tamis_prune::{CutReason, EngineError, MOST_LINES, PlainText, PruneLimits, TextAnalysis};
use tamis_text::{estimate_tokens, line_count, split_lines};

use crate::ids::PruneId;
use crate::marker::least_block_bytes;
use crate::prune::render_worthwhile;
use crate::request::{PruneRequest, PruneWarning};
use crate::{RepeatedCut, Sieve};

/// What the engine would do with a text.
#[derive(Clone, Debug, PartialEq)]
pub struct PruneTrial {
    /// How likely each line is needed, 0 to 1.
    pub scores: Vec<f32>,
    pub tokens_before: usize,
    /// The time of the first result, which has the threshold of the request.
    pub elapsed: Duration,
    /// By rising threshold; fewer than requested when time ran out.
    pub results: Vec<TrialResult>,
}

/// What is cut at one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialResult {
    pub threshold: f32,
    pub cuts: Vec<RepeatedCut>,
    pub tokens_after: usize,
}

impl Sieve {
    /// What [`Sieve::prune`] would cut, at the threshold of the request and then at others, until the time limit of the request
    /// passes. The text is read once for all of them.
    pub fn trial(
        &self,
        request: &PruneRequest<'_>,
        thresholds: &[f32],
        cancelled: &dyn Fn() -> bool,
    ) -> Result<PruneTrial, PruneWarning> {
        let started = Instant::now();
        let deadline = started.checked_add(request.options.timeout);
        let interrupted = || cancelled() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if request.text.len() > self.max_input_chars || line_count(request.text) > MOST_LINES {
            return Err(PruneWarning::InputTooLarge);
        }
        let failed = |error| match error {
            EngineError::Interrupted => PruneWarning::Timeout,
            EngineError::ConstraintsUnmet => PruneWarning::ConstraintsUnmet,
            EngineError::TooManyLines => PruneWarning::InputTooLarge,
        };
        let id = PruneId::of(request);
        let lines = split_lines(request.text);
        let view = PlainText::of(request.text);
        let analysis = TextAnalysis::read(&view, request.goal, request.kind, &interrupted).map_err(failed)?;
        let marker_bytes = |cut: &_| least_block_bytes(&id, request.options.markers, cut);
        let at = |threshold: f32| {
            let limits = PruneLimits { threshold, ..request.options.limits() };
            let cuts = analysis.cuts(&limits, &marker_bytes, &interrupted)?;
            let rendered = render_worthwhile(request, &id, &lines, &cuts);
            let cuts = rendered.annotations.into_iter().map(|cut| RepeatedCut {
                first_line: cut.original_start_line,
                last_line: cut.original_end_line,
                reason: CutReason::clone(&cut.facts),
            });
            let tokens_after = estimate_tokens(&rendered.text);
            Ok(TrialResult { threshold, cuts: cuts.collect(), tokens_after })
        };
        let own = request.options.threshold;
        let mut results = vec![at(own).map_err(failed)?];
        let elapsed = started.elapsed();
        for &threshold in thresholds.iter().filter(|threshold| **threshold != own) {
            match at(threshold) {
                Ok(result) => results.push(result),
                Err(EngineError::Interrupted) => break,
                Err(error) => return Err(failed(error)),
            }
        }
        results.sort_by(|one, other| one.threshold.total_cmp(&other.threshold));
        let tokens_before = estimate_tokens(request.text);
        Ok(PruneTrial { scores: analysis.scores().to_vec(), tokens_before, elapsed, results })
    }
}
