//! Pruning one text: store the original, run the engine, check and render its cuts, record the call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Instant, SystemTime};

use tamis_prune::{Cut, EngineError, EngineRequest, EngineVerdict};
use tamis_text::{estimate_tokens, line_count, split_lines};

use crate::Sieve;
use crate::cut_list::{LedgerCut, write_cuts};
use crate::ids::PruneId;
use crate::ledger::{PruneRow, milliseconds};
use crate::marker::{MarkerForm, has_short_marker, least_block_bytes};
use crate::originals::OriginalError;
use crate::render::{CutAnnotation, InvalidCuts, RenderOptions, Rendered, check, render};
use crate::request::{Caller, PruneRequest, PruneStats, PruneWarning, Pruned};

/// The function that decides the cuts.
pub type Engine = fn(&EngineRequest<'_>, &dyn Fn() -> bool) -> Result<EngineVerdict, EngineError>;

impl Sieve {
    /// Cuts what the goal does not need. Blocks, and cannot fail: on any problem the text is returned whole with a warning.
    /// The original is stored before a cut text is returned.
    pub fn prune(&self, request: &PruneRequest<'_>, caller: &Caller, cancelled: &dyn Fn() -> bool) -> Pruned {
        let started = Instant::now();
        let id = PruneId::of(request);
        let stored = self.keep_original(&id, request, caller);
        let mut pruned = self.run(request, &id, stored, started, cancelled);
        self.record_prune(request, caller, started, &mut pruned);
        pruned
    }

    /// As [`Sieve::prune`], for callers that have the text anyway, and may not be able to show the pruned one. If nothing is cut,
    /// nothing is stored; then the error is the cause, or none if there is nothing to cut. The call is recorded only by
    /// [`Sieve::record_shown`].
    pub fn prune_if_worthwhile(
        &self,
        request: &PruneRequest<'_>,
        caller: &Caller,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(Pruned, UnrecordedPrune), Option<PruneWarning>> {
        let started = Instant::now();
        let id = PruneId::of(request);
        let pruned = self.run(request, &id, true, started, cancelled);
        if pruned.annotations.is_empty() {
            return Err(pruned.warnings.first().copied());
        }
        if !self.keep_original(&id, request, caller) {
            return Err(Some(PruneWarning::RecoveryUnavailable));
        }
        let row = row_of(request, caller, started, &pruned);
        Ok((pruned, UnrecordedPrune(row)))
    }

    /// Records a prune whose text was shown.
    pub fn record_shown(&self, prune: UnrecordedPrune) {
        if let Some(store) = &self.store {
            store.ledger.record_prune(prune.0);
        }
    }

    fn record_prune(
        &self,
        request: &PruneRequest<'_>,
        caller: &Caller,
        started: Instant,
        pruned: &mut Pruned,
    ) {
        let Some(store) = &self.store else { return };
        let row = row_of(request, caller, started, pruned);
        // Known from earlier calls. Checked after this call's row, the result would depend on the speed of the writer.
        if store.ledger.has_problem() {
            pruned.warnings.push(PruneWarning::LedgerUnavailable);
        }
        store.ledger.record_prune(row);
    }

    /// What [`Sieve::prune`] would return, without storing or recording anything. For measurements only: its cuts cannot be
    /// recovered, so an agent must not read them.
    pub fn dry_run(&self, request: &PruneRequest<'_>, cancelled: &dyn Fn() -> bool) -> Pruned {
        self.run(request, &PruneId::of(request), true, Instant::now(), cancelled)
    }

    /// Prunes without recording the call. On a fallback, the first warning is the cause.
    fn run(
        &self,
        request: &PruneRequest<'_>,
        id: &PruneId,
        stored: bool,
        started: Instant,
        cancelled: &dyn Fn() -> bool,
    ) -> Pruned {
        // A time limit that overflows the clock is no limit.
        let deadline = started.checked_add(request.options.timeout);
        let interrupted = || cancelled() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let lines = line_count(request.text);
        let outcome = self.check_request(request, lines).and_then(|()| {
            if !stored {
                return Err(PruneWarning::RecoveryUnavailable);
            }
            let work = || self.cut(request, id, lines, &interrupted);
            catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
                tracing::error!(prune_id = %id, "the engine panicked");
                Err(PruneWarning::InternalError)
            })
        });
        let mut warnings = Vec::new();
        let fallback = outcome.as_ref().err().copied();
        warnings.extend(fallback);
        if !stored && fallback != Some(PruneWarning::RecoveryUnavailable) {
            warnings.push(PruneWarning::RecoveryUnavailable);
        }
        let (rendered, scores) = outcome.unwrap_or_else(|_| {
            (Rendered { text: request.text.to_owned(), annotations: Vec::new(), pruned_lines: 0 }, Vec::new())
        });
        let stats = PruneStats {
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

    /// Stores the original before anything is cut. Returns whether it could.
    fn keep_original(&self, id: &PruneId, request: &PruneRequest<'_>, caller: &Caller) -> bool {
        let Some(store) = &self.store else { return false };
        let store = || store.recovery.store(id, request.text, request.goal, caller.is_anonymous);
        let stored = match store() {
            Err(OriginalError::Full) if !caller.is_anonymous && self.make_room() => store(),
            stored => stored,
        };
        if let Err(error) = &stored {
            tracing::warn!(prune_id = %id, %error, "cannot store the original, so nothing is cut");
        }
        stored.is_ok()
    }

    /// Refuses requests that cannot be met, before any work.
    fn check_request(&self, request: &PruneRequest<'_>, lines: usize) -> Result<(), PruneWarning> {
        let limit = self.max_input_chars;
        // Characters never exceed bytes, so most texts need no counting.
        if request.text.len() > limit && request.text.chars().count() > limit {
            return Err(PruneWarning::InputTooLarge);
        }
        if request.options.min_keep_lines > lines {
            return Err(PruneWarning::ConstraintsUnmet);
        }
        Ok(())
    }

    /// Runs the engine, checks its cuts and renders them.
    fn cut(
        &self,
        request: &PruneRequest<'_>,
        id: &PruneId,
        lines: usize,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<(Rendered, Vec<f32>), PruneWarning> {
        if interrupted() {
            return Err(PruneWarning::Timeout);
        }
        let limits = request.options.limits();
        let engine_request = EngineRequest {
            text: request.text,
            goal: request.goal,
            kind: request.kind,
            limits,
            shown: request.shown,
            marker_bytes: &|cut| least_block_bytes(id, request.options.markers, cut),
        };
        let verdict = (self.engine)(&engine_request, interrupted).map_err(|error| match error {
            EngineError::Interrupted => PruneWarning::Timeout,
            EngineError::ConstraintsUnmet => PruneWarning::ConstraintsUnmet,
            EngineError::TooManyLines => PruneWarning::InputTooLarge,
        })?;
        check(&verdict.cuts, lines, &limits).map_err(|invalid| {
            tracing::error!(prune_id = %id, error = %invalid, "the engine's cuts were refused");
            match invalid {
                InvalidCuts::Shape => PruneWarning::InternalError,
                InvalidCuts::Limits => PruneWarning::ConstraintsUnmet,
            }
        })?;
        let rendered = render_worthwhile(request, id, &split_lines(request.text), &verdict.cuts);
        if interrupted() {
            return Err(PruneWarning::Timeout);
        }
        Ok((rendered, verdict.scores))
    }
}

/// Renders the text without the cuts; whole if they save less than their markers add.
pub(crate) fn render_worthwhile(
    request: &PruneRequest<'_>,
    id: &PruneId,
    lines: &[&str],
    cuts: &[Cut],
) -> Rendered {
    let options = RenderOptions {
        annotate_lines: request.options.annotate_lines,
        include_markers: request.options.include_markers,
        markers: request.options.markers,
        in_place: request.options.in_place,
        has_earlier_markers: has_short_marker(request.text),
    };
    let rendered = render(lines, cuts, id, options);
    if options.markers == MarkerForm::Short && !is_worth_marking(lines, &rendered.annotations) {
        return render(lines, &[], id, options);
    }
    rendered
}

/// A prune that is stored, but not recorded in the ledger.
#[derive(Debug, PartialEq)]
pub struct UnrecordedPrune(PruneRow);

fn row_of(request: &PruneRequest<'_>, caller: &Caller, started: Instant, pruned: &Pruned) -> PruneRow {
    PruneRow {
        prune_id: pruned.prune_id.clone(),
        at_ms: milliseconds(SystemTime::now()),
        caller: caller.clone(),
        kind: request.kind,
        lines_before: pruned.stats.original_lines,
        lines_after: pruned.stats.kept_lines,
        tokens_before: pruned.stats.tokens_est_before,
        tokens_after: pruned.stats.tokens_est_after,
        marker_tokens: Some(marker_tokens(&pruned.annotations)),
        elapsed: started.elapsed(),
        fallback: pruned.warnings.first().copied().filter(|_| pruned.stats.used_fallback),
        cuts: write_cuts(pruned.annotations.iter().map(LedgerCut::of)),
    }
}

fn marker_tokens(cuts: &[CutAnnotation]) -> usize {
    // With the newline after each.
    cuts.iter().map(|cut| cut.marker.len() + 1).sum::<usize>() / 4
}

/// Whether the cuts save more than their markers add. The first marker is the longest, so a single small cut may not.
fn is_worth_marking(lines: &[&str], cuts: &[CutAnnotation]) -> bool {
    let markers: usize = cuts.iter().map(|cut| cut.marker.len() + 1).sum();
    let cut_lines = cuts.iter().flat_map(|cut| &lines[cut.original_start_line - 1..cut.original_end_line]);
    let saved: usize = cut_lines.map(|line| line.len() + 1).sum();
    saved > 2 * markers
}

/// The share that was cut, truncated to four decimals.
pub(crate) fn ratio(pruned: usize, lines: usize) -> f64 {
    let ten_thousandths = (pruned as u128 * 10_000) / (lines.max(1) as u128);
    ten_thousandths as f64 / 10_000.0
}
