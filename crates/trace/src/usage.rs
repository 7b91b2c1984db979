//! What sessions used, and why each report of it counted or not.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use crate::accounting::{ReportVerdict, UsageAccount};
use crate::error::TraceError;
use crate::trace::{Session, SessionFilter, Trace};
use tamis_logs::event::{EventBody, EventStream, Millis};
use tamis_logs::usage::{Claim, Tokens};

/// One report of tokens, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedReport {
    pub event: u64,
    pub at: Option<Millis>,
    pub stream: EventStream,
    pub model: Option<String>,
    /// As the log reports them.
    pub reported: Tokens,
    /// What they added to the session's sum.
    pub counted: Tokens,
    /// What they took back of it: an earlier report of the request had more of something.
    pub taken: Tokens,
    pub reason: &'static str,
}

/// What was used, by what it is grouped by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageRow {
    pub requests: u64,
    pub tokens: Tokens,
}

/// By what usage is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageGrouping {
    Day,
    Model,
    Provider,
    Project,
    Session,
}

impl Trace {
    /// Every report of tokens in a session's own log, in order.
    pub fn explain_usage(&self, session: &Session) -> Result<Vec<ExplainedReport>, TraceError> {
        let inherited = self.inherited_requests(session)?;
        let mut account = UsageAccount::default();
        let mut all = Vec::new();
        self.events(session, 0, &mut |number, event| {
            if let EventBody::TokenUsage(report) = &event.body {
                let entry = account.take(report, event.at);
                let elsewhere = matches!(report.claim, Claim::Request(key) if inherited.contains(&key));
                let (counted, reason) = match entry.verdict {
                    _ if elsewhere => (Tokens::default(), "an earlier session's log has the same request"),
                    ReportVerdict::First => (entry.added, "the first report of its request"),
                    ReportVerdict::Replaced => {
                        (entry.added, "the same request again, further on; only what it adds counts")
                    }
                    ReportVerdict::Same => (Tokens::default(), "repeats a request that is counted"),
                    ReportVerdict::Not(discount) => (Tokens::default(), discount.reason()),
                };
                all.push(ExplainedReport {
                    event: number,
                    at: event.at,
                    stream: event.stream,
                    model: report.model.as_ref().map(|model| model.clone().into_owned()),
                    reported: report.tokens,
                    counted,
                    taken: if elsewhere { Tokens::default() } else { entry.taken },
                    reason,
                });
            }
            ControlFlow::Continue(())
        })?;
        Ok(all)
    }

    /// The requests of a session that an earlier one counts.
    fn inherited_requests(&self, session: &Session) -> Result<HashSet<u64>, TraceError> {
        if session.inherited.is_zero() {
            return Ok(HashSet::new());
        }
        let mut seen = HashSet::new();
        let mut own = HashSet::new();
        let mut reached = false;
        self.database()?.read(|connection| {
            crate::db::each_keys(connection, |log, keys| {
                reached |= log == session.log;
                for key in keys.as_chunks::<8>().0 {
                    let key = u64::from_le_bytes(*key);
                    if log == session.log {
                        own.insert(key);
                    } else if !reached {
                        seen.insert(key);
                    }
                }
            })
        })?;
        Ok(own.intersection(&seen).copied().collect())
    }

    /// What the sessions used, subagents' included, each request once though several logs tell of it. Limits of time hold
    /// for each request.
    pub fn usage(
        &self,
        filter: &SessionFilter,
        by: UsageGrouping,
    ) -> Result<BTreeMap<String, UsageRow>, TraceError> {
        let filter = SessionFilter { with_subagents: true, ..filter.clone() };
        let wanted: HashSet<i64> =
            self.sessions(&filter, None, usize::MAX >> 1)?.iter().map(|session| session.log).collect();
        let all = SessionFilter { with_subagents: true, ..SessionFilter::default() };
        let mut sessions = self.sessions(&all, None, usize::MAX >> 1)?;
        // Whoever began first counts a request, as in the index, though it be none of the wanted: else a fork would use more
        // when it is asked for alone.
        sessions.sort_by(|one, other| one.by_beginning().cmp(&other.by_beginning()));
        let within = |at: Option<Millis>| {
            at.is_none_or(|at| {
                filter.since.is_none_or(|since| at >= since) && filter.until.is_none_or(|until| at <= until)
            })
        };
        let mut seen = HashSet::new();
        let mut rows: BTreeMap<String, UsageRow> = BTreeMap::new();
        for session in &sessions {
            let counts = wanted.contains(&session.log);
            let account = self.account(session)?;
            for request in account.requests() {
                let first = request.key.is_none_or(|key| seen.insert(key));
                if !first || !counts || !within(request.at) {
                    continue;
                }
                let name = match by {
                    UsageGrouping::Day => request.at.map(day).unwrap_or_default(),
                    UsageGrouping::Model => account.model_of(request).to_owned(),
                    UsageGrouping::Provider => session.provider.name().to_owned(),
                    UsageGrouping::Project => session.root.clone().unwrap_or_else(|| session.project.clone()),
                    UsageGrouping::Session => session.id.clone(),
                };
                let row = rows.entry(name).or_default();
                row.requests += 1;
                row.tokens = row.tokens.plus(request.tokens);
            }
        }
        Ok(rows)
    }
}

/// The day of a time, in UTC.
fn day(at: Millis) -> String {
    jiff::Timestamp::from_millisecond(at)
        .map(|time| time.strftime("%Y-%m-%d").to_string())
        .unwrap_or_default()
}
