//! The prunes of the past, for readers: the ledger's calls in pages, and what is known of one prune.

use std::io;
use std::time::{Duration, SystemTime};

use tamis_prune::CutReason;
use tamis_store::StoreError;
use tamis_text::{TextKind, split_lines};

use crate::cut_list::LedgerCut;
use crate::ids::PruneId;
use crate::ledger::{LedgerPosition, LedgerTotals};
use crate::marker::MarkerForm;
use crate::originals::OriginalError;
use crate::originals::spool::text_of;
use crate::{PruneOptions, PruneRequest, RecoverError, Sieve, recover};

/// Which calls of the ledger are meant. An empty filter means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallFilter {
    pub client: Option<String>,
    pub tool: Option<String>,
    pub session: Option<String>,
    pub outcome: CallOutcome,
}

/// What became of a call's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallOutcome {
    #[default]
    Any,
    /// Something was cut.
    Cut,
    /// Nothing was cut.
    Whole,
    /// Some of what was cut was recovered.
    Recovered,
}

/// One call, as the ledger has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerCall {
    pub prune_id: String,
    /// Milliseconds since 1970.
    pub at_ms: i64,
    pub tool: String,
    pub door: String,
    pub client: Option<String>,
    pub session: Option<String>,
    pub project: Option<String>,
    pub model: Option<String>,
    pub kind: String,
    pub lines_before: u64,
    pub lines_after: u64,
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// Of those after, the markers, where they were counted.
    pub marker_tokens: Option<u64>,
    pub elapsed_us: u64,
    /// The code of the warning that stopped the cutting.
    pub fallback: Option<String>,
    /// How often lines of this prune were recovered, and their tokens.
    pub recoveries: u64,
    pub recovered_tokens: u64,
}

/// Some of the calls that a filter accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPage {
    /// The number of all of them.
    pub total: u64,
    /// The latest first.
    pub calls: Vec<LedgerCall>,
}

/// Totals of the calls that a filter accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSummary {
    pub totals: LedgerTotals,
    /// Calls that cut something.
    pub cut_calls: u64,
    /// The names in the whole ledger, the most frequent first.
    pub clients: Vec<String>,
    pub tools: Vec<String>,
    /// Equal spans of time from the first call to the last, without those that have no call.
    pub spans: Vec<CallSpan>,
}

/// The calls of a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSpan {
    /// When it begins, in milliseconds since 1970.
    pub at_ms: i64,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

/// A recovery of one prune.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PruneRecovery {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    pub tool: String,
    pub door: String,
    pub client: Option<String>,
    pub session: Option<String>,
    /// 1-based, inclusive; none if they were not kept.
    pub ranges: Option<Vec<(u64, u64)>>,
    pub lines: u64,
    pub tokens: u64,
}

/// What the ledger has about one prune.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PruneRecord {
    /// The calls that got this id, the latest first.
    pub calls: Vec<LedgerCall>,
    /// None if they were not kept.
    pub cuts: Option<Vec<LedgerCut>>,
    /// The earliest first.
    pub recoveries: Vec<PruneRecovery>,
}

/// Lines of an original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginalLines {
    /// The number of the first of them.
    pub first_line: usize,
    pub lines: Vec<String>,
    /// The lines of the original; none for texts that are too large to be counted at once.
    pub total: Option<usize>,
}

/// A block that the engine cuts again, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedCut {
    /// 1-based, inclusive.
    pub first_line: usize,
    pub last_line: usize,
    pub reason: CutReason,
}

/// How long a prune may take to be repeated.
const REPEAT_TIMEOUT: Duration = Duration::from_secs(5);

impl Sieve {
    /// Changes when a prune or a recovery is added, by whichever process.
    pub fn ledger_position(&self) -> Result<LedgerPosition, StoreError> {
        self.store.as_ref().map_or_else(|| Ok(LedgerPosition::default()), |store| store.ledger.position())
    }

    /// Calls that the filter accepts, the latest first, without rows that are still queued.
    pub fn calls(&self, filter: &CallFilter, from: usize, limit: usize) -> Result<CallPage, StoreError> {
        self.store
            .as_ref()
            .map_or_else(|| Ok(CallPage::default()), |store| store.ledger.calls(filter, from, limit))
    }

    /// Totals of the calls that the filter accepts, and their course in at most this many spans.
    pub fn call_summary(&self, filter: &CallFilter, spans: usize) -> Result<CallSummary, StoreError> {
        self.store
            .as_ref()
            .map_or_else(|| Ok(CallSummary::default()), |store| store.ledger.call_summary(filter, spans))
    }

    /// What the ledger has about a prune.
    pub fn prune_record(&self, prune_id: &str) -> Result<PruneRecord, StoreError> {
        self.store
            .as_ref()
            .map_or_else(|| Ok(PruneRecord::default()), |store| store.ledger.prune_record(prune_id))
    }

    /// Lines of an original for a reader that is no agent: nothing is recorded. 1-based; the last line is excluded.
    pub fn original_lines(
        &self,
        prune_id: &str,
        first_line: usize,
        end_line: usize,
    ) -> Result<OriginalLines, RecoverError> {
        let not_found = || RecoverError::NotFound { prune_id: prune_id.to_owned() };
        let (Some(store), Some(id)) = (&self.store, PruneId::parse(prune_id)) else {
            return Err(not_found());
        };
        let now = SystemTime::now();
        let unavailable = |error: OriginalError| match error {
            OriginalError::NotFound => not_found(),
            error => RecoverError::Unavailable { why: error.to_string() },
        };
        let first_line = first_line.max(1);
        match store.recovery.read(&id.text, now) {
            Ok(text) => {
                let lines = split_lines(&text);
                let some = lines.iter().take(end_line.saturating_sub(1)).skip(first_line - 1);
                Ok(OriginalLines {
                    first_line,
                    lines: some.map(|line| (*line).to_owned()).collect(),
                    total: Some(lines.len()),
                })
            }
            Err(OriginalError::TooLarge(_)) => {
                let file = store.recovery.open(&id.text, now).map_err(unavailable)?;
                let range = (first_line as i64, end_line.saturating_sub(1).max(first_line) as i64);
                let text =
                    text_of(&file).map(io::BufReader::new).map_err(|error| unavailable(error.into()))?;
                let extracted = recover::extract_streamed(prune_id, text, &[range], false);
                let recovered = extracted.map_err(|error| unavailable(error.into()))??;
                let lines = split_lines(&recovered.raw_text).into_iter().map(str::to_owned).collect();
                Ok(OriginalLines { first_line, lines, total: None })
            }
            Err(error) => Err(unavailable(error)),
        }
    }

    /// The cuts of a prune whose original and goal are kept, by running the engine again. Its options are not stored, so
    /// those in use are tried: the id shows which of them it was made with. None if that is not found out.
    pub fn repeat_cuts(&self, prune_id: &str, cancelled: &dyn Fn() -> bool) -> Option<Vec<RepeatedCut>> {
        let id = PruneId::parse(prune_id)?;
        let goal = self.goal(prune_id)?;
        let text = self.store.as_ref()?.recovery.read(&id.text, SystemTime::now()).ok()?;
        let (kind, options) = usual_calls()
            .find(|(kind, options)| PruneId::of_call(id.text.clone(), &goal, *kind, options, &[]) == id)?;
        let options = PruneOptions { timeout: REPEAT_TIMEOUT, ..options };
        let request = PruneRequest { text: &text, goal: &goal, kind, options, shown: &[] };
        let pruned = self.dry_run(&request, cancelled);
        let cut = |cut: crate::CutAnnotation| RepeatedCut {
            first_line: cut.original_start_line,
            last_line: cut.original_end_line,
            reason: cut.facts,
        };
        (!pruned.stats.used_fallback).then(|| pruned.annotations.into_iter().map(cut).collect())
    }
}

/// The kinds and options that the callers of this workspace use, and limits that clients often set.
fn usual_calls() -> impl Iterator<Item = (TextKind, PruneOptions)> {
    let flags = [false, true];
    let forms = [MarkerForm::Short, MarkerForm::Contract];
    let limits = [
        (1.0, 0),
        (0.95, 0),
        (0.95, 1),
        (0.9, 0),
        (0.9, 1),
        (0.9, 5),
        (0.9, 10),
        (0.8, 0),
        (0.8, 1),
        (0.8, 10),
    ];
    let mut calls = Vec::new();
    for kind in TextKind::ALL {
        for markers in forms {
            for (max_prune_ratio, min_keep_lines) in limits {
                for keep_first_lines in [0, 1, 3] {
                    for (annotate_lines, in_place) in
                        flags.map(|flag| (flag, false)).into_iter().chain([(false, true)])
                    {
                        for include_markers in flags {
                            let options = PruneOptions {
                                max_prune_ratio,
                                min_keep_lines,
                                keep_first_lines,
                                annotate_lines,
                                include_markers,
                                markers,
                                in_place,
                                ..PruneOptions::default()
                            };
                            calls.push((kind, options));
                        }
                    }
                }
            }
        }
    }
    calls.into_iter()
}
