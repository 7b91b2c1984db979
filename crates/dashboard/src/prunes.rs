//! Prunes: the ledger's calls, and one prune with its text, cuts and recoveries.

use serde::{Deserialize, Serialize};
use tamis_logs::event::Millis;
use tamis_prune::{CutCause, CutPlace, CutReason};
use tamis_redact::Redacted;
use tamis_sieve::{CallFilter, CallOutcome, LedgerCall, LedgerCut, PruneRecovery, RecoverError, RepeatedCut};

use crate::{Dashboard, PageError, PageErrorKind};

/// Rows of one answer.
const MAX_ROWS: usize = 500;
/// Lines of one answer.
const MAX_LINES: usize = 5_000;
/// Bytes of the lines of one answer; at least one line is sent.
const MAX_BYTES: usize = 4 << 20;
/// Bytes of one line.
const MAX_LINE_BYTES: usize = 4_000;
/// A secret of several lines is recognised if it begins this many lines before those that are sent.
const LINES_AROUND: usize = 200;
/// Texts of this size are redacted as a whole.
const MAX_WHOLE_LINES: usize = 200_000;
/// Points of the chart.
const SPANS: usize = 48;

/// Which prunes are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PagePruneQuery {
    pub from: usize,
    pub limit: Option<usize>,
    pub client: Option<String>,
    pub tool: Option<String>,
    pub session: Option<String>,
    pub outcome: PagePruneOutcome,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum PagePruneOutcome {
    #[default]
    Any,
    Cut,
    Whole,
    Recovered,
}

impl PagePruneQuery {
    fn filter(&self) -> CallFilter {
        let given = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        CallFilter {
            client: given(&self.client),
            tool: given(&self.tool),
            session: given(&self.session),
            outcome: match self.outcome {
                PagePruneOutcome::Any => CallOutcome::Any,
                PagePruneOutcome::Cut => CallOutcome::Cut,
                PagePruneOutcome::Whole => CallOutcome::Whole,
                PagePruneOutcome::Recovered => CallOutcome::Recovered,
            },
        }
    }
}

/// A part of the list of prunes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PagePruneList {
    pub total: u64,
    pub rows: Vec<PagePrune>,
}

/// One call that pruned a text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PagePrune {
    pub id: String,
    pub at: Millis,
    #[cfg_attr(test, ts(as = "String"))]
    pub tool: Redacted,
    #[cfg_attr(test, ts(as = "String"))]
    pub door: Redacted,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub client: Option<Redacted>,
    pub session: Option<String>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub project: Option<Redacted>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub model: Option<Redacted>,
    pub kind: String,
    /// Counted with the empty line after a last newline.
    pub lines_before: u64,
    pub lines_after: u64,
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// Of those after, the markers, where they were counted.
    pub marker_tokens: Option<u64>,
    pub elapsed_us: u64,
    /// Why nothing was cut, where that is a problem.
    pub fallback: Option<String>,
    pub recoveries: u64,
    pub recovered_tokens: u64,
    /// Whether the original can still be recovered.
    pub is_kept: bool,
    /// While the original is kept.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub goal: Option<Redacted>,
}

/// Totals of the prunes that are listed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PagePruneSummary {
    pub calls: u64,
    pub cut_calls: u64,
    pub fallbacks: u64,
    pub lines_before: u64,
    pub lines_after: u64,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub recoveries: u64,
    pub recovered_tokens: u64,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub clients: Vec<Redacted>,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub tools: Vec<Redacted>,
    /// The course over time.
    pub spans: Vec<PagePruneSpan>,
    /// Why rows of the ledger are missing, if that is known.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub problem: Option<Redacted>,
}

/// A part of the course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PagePruneSpan {
    pub at: Millis,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

/// One prune.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PagePruneDetails {
    pub id: String,
    /// The calls that got this id, the latest first. None if the ledger no longer has them.
    pub calls: Vec<PagePrune>,
    pub is_kept: bool,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub goal: Option<Redacted>,
    /// None: not known.
    pub cuts: Option<Vec<PageCut>>,
    /// Whether the cuts were worked out again, because they were not recorded.
    pub is_repeated: bool,
    pub recoveries: Vec<PageRecovery>,
}

/// A block that was cut.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageCut {
    /// 1-based, inclusive.
    pub from: usize,
    pub to: usize,
    pub cause: PageCutCause,
    /// The definition, section or earlier result that it belongs to, where that is known.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub place: Option<Redacted>,
}

/// What most lines of a cut have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum PageCutCause {
    Repetitions,
    Tests,
    Header,
    Comments,
    Unrelated,
    LessRelevant,
    AlreadyShown,
}

/// Lines that were recovered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageRecovery {
    pub at: Millis,
    #[cfg_attr(test, ts(as = "String"))]
    pub tool: Redacted,
    #[cfg_attr(test, ts(as = "String"))]
    pub door: Redacted,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub client: Option<Redacted>,
    pub session: Option<String>,
    /// 1-based, inclusive. None: not recorded.
    pub ranges: Option<Vec<(u64, u64)>>,
    pub lines: u64,
    pub tokens: u64,
}

/// Lines of an original.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageOriginalLines {
    /// The number of the first line.
    pub from: usize,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub lines: Vec<Redacted>,
    /// The lines of the whole text; none if it is too large to be counted.
    pub total: Option<usize>,
}

impl Dashboard {
    /// The prunes, the latest first.
    pub fn prunes(&self, query: &PagePruneQuery) -> Result<PagePruneList, PageError> {
        let limit = query.limit.unwrap_or(100).min(MAX_ROWS);
        let page = self.services.sieve.calls(&query.filter(), query.from, limit).map_err(ledger_error)?;
        let rows = page.calls.into_iter().map(|call| self.prune_row(call)).collect();
        Ok(PagePruneList { total: page.total, rows })
    }

    /// Totals of the prunes that the query lists.
    pub fn prune_summary(&self, query: &PagePruneQuery) -> Result<PagePruneSummary, PageError> {
        let sieve = &self.services.sieve;
        let summary = sieve.call_summary(&query.filter(), SPANS).map_err(ledger_error)?;
        let totals = summary.totals;
        let names = |names: Vec<String>| names.into_iter().map(Redacted::from).collect();
        let span = |span: tamis_sieve::CallSpan| PagePruneSpan {
            at: span.at_ms,
            tokens_before: span.tokens_before,
            tokens_after: span.tokens_after,
        };
        Ok(PagePruneSummary {
            calls: totals.calls,
            cut_calls: summary.cut_calls,
            fallbacks: totals.fallbacks,
            lines_before: totals.lines_before,
            lines_after: totals.lines_after,
            tokens_before: totals.tokens_before,
            tokens_after: totals.tokens_after,
            recoveries: totals.recoveries,
            recovered_tokens: totals.recovered_tokens,
            clients: names(summary.clients),
            tools: names(summary.tools),
            spans: summary.spans.into_iter().map(span).collect(),
            problem: sieve.ledger_problem().map(Redacted::from),
        })
    }

    /// One prune, without its text.
    pub fn prune(&self, id: &str) -> Result<PagePruneDetails, PageError> {
        let sieve = &self.services.sieve;
        let record = sieve.prune_record(id).map_err(ledger_error)?;
        let is_kept = sieve.is_recoverable(id);
        if record.calls.is_empty() && !is_kept {
            let unknown = PageError::new(PageErrorKind::NotFound, format!("no prune `{id}`"));
            return Err(unknown.hint("its row in the ledger and its original may have expired"));
        }
        let recorded = record.cuts.map(|cuts| cuts.into_iter().map(PageCut::from).collect::<Vec<_>>());
        let is_repeated = recorded.is_none();
        let cuts = recorded.or_else(|| {
            let cuts = sieve.repeat_cuts(id, &|| false)?;
            Some(cuts.into_iter().map(PageCut::from).collect())
        });
        Ok(PagePruneDetails {
            id: id.to_owned(),
            calls: record.calls.into_iter().map(|call| self.prune_row(call)).collect(),
            is_kept,
            goal: sieve.goal(id).map(Redacted::from),
            is_repeated: is_repeated && cuts.is_some(),
            cuts,
            recoveries: record.recoveries.into_iter().map(PageRecovery::from).collect(),
        })
    }

    /// Lines of the original of a prune; fewer than requested if they are long.
    pub fn prune_lines(&self, id: &str, from: usize, limit: usize) -> Result<PageOriginalLines, PageError> {
        let from = from.max(1);
        let read = |first, end| self.services.sieve.original_lines(id, first, end);
        let (mut limit, mut around) = (limit.clamp(1, MAX_LINES), LINES_AROUND);
        let mut original = loop {
            let end = from.saturating_add(limit).saturating_add(around);
            match read(from.saturating_sub(around), end) {
                // Long lines: fewer are read at once.
                Err(RecoverError::TooLarge { .. }) if limit > 1 => (limit, around) = (limit / 2, around / 2),
                read => break read.map_err(recover_error)?,
            }
        };
        // As much as can be is redacted together: a secret may span lines.
        if original.total.is_some_and(|total| total <= MAX_WHOLE_LINES) {
            original = read(1, MAX_WHOLE_LINES + 1).map_err(recover_error)?;
        }
        let end = from.saturating_add(limit);
        let text = Redacted::from(original.lines.join("\n"));
        let mut bytes = 0;
        let lines = text.split('\n').zip(original.first_line..);
        let lines = lines.filter(|(_, number)| (from..end).contains(number)).map(|(line, _)| shortened(line));
        let fits = |line: &Redacted| {
            let is_first = bytes == 0;
            bytes += line.len() + 1;
            is_first || bytes <= MAX_BYTES
        };
        Ok(PageOriginalLines { from, lines: lines.take_while(fits).collect(), total: original.total })
    }

    fn prune_row(&self, call: LedgerCall) -> PagePrune {
        let sieve = &self.services.sieve;
        PagePrune {
            is_kept: sieve.is_recoverable(&call.prune_id),
            goal: sieve.goal(&call.prune_id).map(Redacted::from),
            id: call.prune_id,
            at: call.at_ms,
            tool: call.tool.into(),
            door: call.door.into(),
            client: call.client.map(Redacted::from),
            session: call.session,
            project: call.project.map(Redacted::from),
            model: call.model.map(Redacted::from),
            kind: call.kind,
            lines_before: call.lines_before,
            lines_after: call.lines_after,
            tokens_before: call.tokens_before,
            tokens_after: call.tokens_after,
            marker_tokens: call.marker_tokens,
            elapsed_us: call.elapsed_us,
            fallback: call.fallback,
            recoveries: call.recoveries,
            recovered_tokens: call.recovered_tokens,
        }
    }
}

fn shortened(line: &str) -> Redacted {
    let end = line.floor_char_boundary(MAX_LINE_BYTES);
    if end == line.len() {
        line.into()
    } else {
        format!("{}… {} more bytes", &line[..end], line.len() - end).into()
    }
}

fn ledger_error(error: impl std::fmt::Display) -> PageError {
    PageError::new(PageErrorKind::Failed, format!("cannot read the ledger: {error}"))
        .hint("`tamis doctor` checks the data folder")
}

fn recover_error(error: RecoverError) -> PageError {
    let kind = match &error {
        RecoverError::NotFound { .. } => PageErrorKind::NotFound,
        RecoverError::InvalidRange { .. } | RecoverError::TooLarge { .. } => PageErrorKind::Invalid,
        RecoverError::Ambiguous { .. } | RecoverError::Unavailable { .. } => PageErrorKind::Failed,
    };
    let failed = PageError::new(kind, error.to_string());
    match error.hint() {
        Some(hint) => failed.hint(hint),
        None => failed,
    }
}

impl From<LedgerCut> for PageCut {
    fn from(cut: LedgerCut) -> PageCut {
        PageCut { from: cut.first_line, to: cut.last_line, cause: cut.cause.into(), place: None }
    }
}

impl From<RepeatedCut> for PageCut {
    fn from(cut: RepeatedCut) -> PageCut {
        let place = place(&cut.reason);
        PageCut { from: cut.first_line, to: cut.last_line, cause: cut.reason.cause.into(), place }
    }
}

/// What a cut belongs to, where it has a name.
pub(crate) fn place(reason: &CutReason) -> Option<Redacted> {
    match &reason.place {
        CutPlace::Definition(name) | CutPlace::Section(name) => Some(name.as_str().into()),
        CutPlace::Shown(place) => Some(place.label.as_str().into()),
        CutPlace::Lines(_) | CutPlace::TopLevel | CutPlace::Omitted => None,
    }
}

impl From<CutCause> for PageCutCause {
    fn from(cause: CutCause) -> PageCutCause {
        match cause {
            CutCause::Repetitions => PageCutCause::Repetitions,
            CutCause::Tests => PageCutCause::Tests,
            CutCause::Header => PageCutCause::Header,
            CutCause::Comments => PageCutCause::Comments,
            CutCause::Unrelated => PageCutCause::Unrelated,
            CutCause::LessRelevant => PageCutCause::LessRelevant,
            CutCause::AlreadyShown => PageCutCause::AlreadyShown,
        }
    }
}

impl From<PruneRecovery> for PageRecovery {
    fn from(recovery: PruneRecovery) -> PageRecovery {
        PageRecovery {
            at: recovery.at_ms,
            tool: recovery.tool.into(),
            door: recovery.door.into(),
            client: recovery.client.map(Redacted::from),
            session: recovery.session,
            ranges: recovery.ranges,
            lines: recovery.lines,
            tokens: recovery.tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tamis_sieve::{Caller, MarkerForm, PruneOptions, PruneRequest};
    use tamis_text::TextKind;

    use super::*;
    use crate::testing::{dashboard, services};

    const SECRET: &str = "AKIAIOSFODNN7EXAMPLE";

    #[test]
    fn a_prune_is_listed_and_shown_with_its_cuts_and_without_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let services = services(folder.path());
        let sieve = services.sieve.clone();
        let dashboard = dashboard(services);
        let log: String =
            (0..200).map(|number| format!("INFO request {number} done in {number} ms\n")).collect();
        let text = format!("key {SECRET}\n{log}ERROR disk full\n");
        let request = PruneRequest {
            text: &text,
            goal: &format!("why did it fail with {SECRET}"),
            kind: TextKind::Logs,
            options: PruneOptions { markers: MarkerForm::Short, ..PruneOptions::default() },
            shown: &[],
        };
        let caller = Caller {
            tool: "Bash".into(),
            door: "hook".into(),
            client: Some("claude".into()),
            session: Some("s1".into()),
            ..Caller::default()
        };
        let pruned = sieve.prune(&request, &caller, &|| false);
        let cut = &pruned.annotations[0];
        let (from, to) = (cut.original_start_line, cut.original_end_line);
        sieve.recover(&pruned.prune_id, &[(from as i64, from as i64 + 1)], false, &caller).unwrap();
        assert_eq!(sieve.flush(Duration::from_secs(60)), 0);

        let list = dashboard.prunes(&PagePruneQuery::default()).unwrap();
        assert_eq!((list.total, list.rows.len()), (1, 1));
        let row = &list.rows[0];
        assert_eq!((row.client.as_deref().map(String::as_str), row.recoveries), (Some("claude"), 1));
        assert_eq!(row.goal.as_ref().unwrap(), &"why did it fail with [redacted:aws-access-key]");
        let other = PagePruneQuery { client: Some("codex".into()), ..PagePruneQuery::default() };
        assert_eq!(dashboard.prunes(&other).unwrap(), PagePruneList { total: 0, rows: vec![] });
        let summary = dashboard.prune_summary(&PagePruneQuery::default()).unwrap();
        assert_eq!((summary.calls, summary.cut_calls, summary.recoveries, summary.fallbacks), (1, 1, 1, 0));

        let details = dashboard.prune(&pruned.prune_id).unwrap();
        assert_eq!(
            (details.is_kept, details.is_repeated, details.calls.as_slice()),
            (true, false, list.rows.as_slice())
        );
        let first = PageCut { from, to, cause: PageCutCause::Repetitions, place: None };
        assert_eq!(details.cuts.as_deref().unwrap()[0], first);
        assert_eq!(details.recoveries[0].ranges, Some(vec![(from as u64, from as u64 + 1)]));

        let lines = dashboard.prune_lines(&pruned.prune_id, 1, 2).unwrap();
        let expected = ["key [redacted:aws-access-key]", "INFO request 0 done in 0 ms"].map(Redacted::from);
        assert_eq!(lines, PageOriginalLines { from: 1, lines: expected.to_vec(), total: Some(203) });
        assert_eq!(dashboard.prune_lines(&pruned.prune_id, 203, 10).unwrap().lines, [Redacted::from("")]);
        assert!(dashboard.prune_lines(&pruned.prune_id, 900, 10).unwrap().lines.is_empty());

        for unknown in ["prn_aaaaaaaaaaaaaaaabbbbbb", "../state.db", ""] {
            assert_eq!(dashboard.prune(unknown).unwrap_err().kind, PageErrorKind::NotFound, "{unknown}");
            assert_eq!(dashboard.prune_lines(unknown, 1, 1).unwrap_err().kind, PageErrorKind::NotFound);
        }
    }

    #[test]
    fn long_lines_and_many_of_them_are_bounded() {
        assert!(shortened(&"é".repeat(4_000)).ends_with("… 4000 more bytes"));
        assert_eq!(shortened("short"), "short");
    }
}
