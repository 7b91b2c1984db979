//! The passage of one text through the sieve.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Instant, SystemTime};

use tamis_prune::{Request, Unpruned, Verdict};
use tamis_text::{estimate_tokens, line_count, split_lines};

use crate::ids::PruneId;
use crate::ledger::{PruneRow, milliseconds};
use crate::marker::marker;
use crate::render::{BadCuts, Look, Rendered, check, render};
use crate::request::{Caller, PruneRequest, Pruned, Stats, Warning};
use crate::{Sieve, Store};

/// What decides the cuts.
pub type Engine = fn(&Request<'_>, &dyn Fn() -> bool) -> Result<Verdict, Unpruned>;

impl Sieve {
    /// Cuts what the goal does not need. Blocks, and cannot fail: whatever goes wrong, the text comes back whole
    /// with a warning. The original is in the recovery store before a cut text is answered.
    pub fn prune(&self, request: &PruneRequest<'_>, caller: &Caller, cancelled: &dyn Fn() -> bool) -> Pruned {
        let started = Instant::now();
        let id = PruneId::of(request);
        let stored = self.store.as_ref().is_some_and(|store| store.keep_original(&id, request));
        let mut pruned = self.pass(request, &id, stored, started, cancelled);
        if let Some(store) = &self.store {
            let fallback = pruned.warnings.first().copied().filter(|_| pruned.stats.used_fallback);
            // As known from the calls before. Asked afterwards, the answer would depend on how fast the writer is.
            if store.ledger.has_problem() {
                pruned.warnings.push(Warning::LedgerUnavailable);
            }
            store.ledger.record_prune(PruneRow {
                prune_id: pruned.prune_id.clone(),
                at_ms: milliseconds(SystemTime::now()),
                caller: caller.clone(),
                kind: request.kind,
                lines_before: pruned.stats.original_lines,
                lines_after: pruned.stats.kept_lines,
                tokens_before: pruned.stats.tokens_est_before,
                tokens_after: pruned.stats.tokens_est_after,
                elapsed: started.elapsed(),
                fallback,
            });
        }
        pruned
    }

    /// What [`Sieve::prune`] would answer if it could store the original. Stores nothing and counts nothing, so it is for
    /// asking what pruning would do and never for an answer that somebody reads: its cuts cannot be recovered.
    pub fn rehearse(&self, request: &PruneRequest<'_>, cancelled: &dyn Fn() -> bool) -> Pruned {
        self.pass(request, &PruneId::of(request), true, Instant::now(), cancelled)
    }

    /// The passage itself. A text that fell back has the reason as its first warning.
    fn pass(
        &self,
        request: &PruneRequest<'_>,
        id: &PruneId,
        stored: bool,
        started: Instant,
        cancelled: &dyn Fn() -> bool,
    ) -> Pruned {
        // A timeout too far away to be told is none.
        let deadline = started.checked_add(request.timeout);
        let interrupted = || cancelled() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let lines = line_count(request.text);
        let passed = self.acceptable(request, lines).and_then(|()| {
            if !stored {
                return Err(Warning::RecoveryUnavailable);
            }
            let work = || self.cut(request, id, lines, &interrupted);
            catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
                tracing::error!(prune_id = %id, "the engine panicked");
                Err(Warning::InternalError)
            })
        });
        let mut warnings = Vec::new();
        let fallback = passed.as_ref().err().copied();
        warnings.extend(fallback);
        if !stored && fallback != Some(Warning::RecoveryUnavailable) {
            warnings.push(Warning::RecoveryUnavailable);
        }
        let (rendered, scores) = passed.unwrap_or_else(|_| {
            (Rendered { text: request.text.to_owned(), annotations: Vec::new(), pruned_lines: 0 }, Vec::new())
        });
        let stats = Stats {
            original_lines: lines,
            kept_lines: lines - rendered.pruned_lines,
            pruned_lines: rendered.pruned_lines,
            pruned_ratio: ratio(rendered.pruned_lines, lines),
            tokens_est_before: estimate_tokens(request.text),
            tokens_est_after: estimate_tokens(&rendered.text),
            elapsed_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            used_fallback: fallback.is_some(),
        };
        Pruned {
            prune_id: id.to_string(),
            pruned_text: rendered.text,
            annotations: rendered.annotations,
            stats,
            warnings,
            scores,
        }
    }

    /// Whether the request can be met at all.
    fn acceptable(&self, request: &PruneRequest<'_>, lines: usize) -> Result<(), Warning> {
        let limit = self.max_input_chars;
        // There are never more characters than bytes, so most texts need no counting.
        if request.text.len() > limit && request.text.chars().count() > limit {
            return Err(Warning::InputTooLarge);
        }
        if request.min_keep_lines > lines {
            return Err(Warning::ConstraintsUnmet);
        }
        Ok(())
    }

    /// Asks the engine, checks its answer, and renders it.
    fn cut(
        &self,
        request: &PruneRequest<'_>,
        id: &PruneId,
        lines: usize,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<(Rendered, Vec<f32>), Warning> {
        if interrupted() {
            return Err(Warning::Timeout);
        }
        let limits = request.limits();
        let question = Request {
            text: request.text,
            goal: request.goal,
            kind: request.kind,
            limits,
            marker_bytes: &|cut| marker(id, cut).len() + 1,
        };
        let verdict = (self.engine)(&question, interrupted).map_err(|unpruned| match unpruned {
            Unpruned::Interrupted => Warning::Timeout,
            Unpruned::ConstraintsUnmet => Warning::ConstraintsUnmet,
            Unpruned::TooManyLines => Warning::InputTooLarge,
        })?;
        check(&verdict.cuts, lines, &limits).map_err(|bad| {
            tracing::error!(prune_id = %id, error = %bad, "the engine's cuts were refused");
            match bad {
                BadCuts::Shape => Warning::InternalError,
                BadCuts::Limits => Warning::ConstraintsUnmet,
            }
        })?;
        let look = Look { annotate_lines: request.annotate_lines, include_markers: request.include_markers };
        let rendered = render(&split_lines(request.text), &verdict.cuts, id, look);
        if interrupted() {
            return Err(Warning::Timeout);
        }
        Ok((rendered, verdict.scores))
    }
}

impl Store {
    fn keep_original(&self, id: &PruneId, request: &PruneRequest<'_>) -> bool {
        match self.recovery.store(id, request.text, request.goal) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(prune_id = %id, %error, "the original cannot be kept, so nothing is cut");
                false
            }
        }
    }
}

/// The share that was cut, cut off after four decimals.
fn ratio(pruned: usize, lines: usize) -> f64 {
    let ten_thousandths = (pruned as u128 * 10_000) / (lines.max(1) as u128);
    ten_thousandths as f64 / 10_000.0
}
