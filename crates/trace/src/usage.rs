//! What sessions used, and why each report of it counted or not.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tamis_logs::event::{EventBody, EventStream, Millis};
use tamis_logs::usage::{Claim, Tokens};
use tamis_redact::Redacted;

use crate::accounting::{CountedRequest, ReportVerdict, UsageAccount};
use crate::error::TraceError;
use crate::request_owners::RequestOwners;
use crate::session::{Session, SessionFilter};
use crate::trace::Trace;

/// One report of tokens, and whether it counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedReport {
    pub event: u64,
    pub at: Option<Millis>,
    pub stream: EventStream,
    pub model: Option<Redacted>,
    /// As the log reports them.
    pub reported: Tokens,
    /// What they added to the session's sum.
    pub counted: Tokens,
    pub verdict: ReportVerdict,
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
        let owners = match session.inherited.is_zero() {
            true => None,
            false => Some(self.database()?.read(RequestOwners::read)?),
        };
        let counts_elsewhere = |claim: Claim| match (claim, &owners) {
            (Claim::Request(key), Some(owners)) => !owners.counts(session.log, Some(key)),
            _ => false,
        };
        let mut account = UsageAccount::default();
        let mut all = Vec::new();
        self.events(session, 0, &mut |number, event| {
            if let EventBody::TokenUsage(report) = &event.body {
                let entry = account.take(report, event.at);
                let (counted, verdict) = match counts_elsewhere(report.claim) {
                    true => (Tokens::default(), ReportVerdict::CountedElsewhere),
                    false => (entry.added, entry.verdict),
                };
                all.push(ExplainedReport {
                    event: number,
                    at: event.at,
                    stream: event.stream,
                    model: report.model.as_deref().map(Redacted::from),
                    reported: report.tokens,
                    counted,
                    verdict,
                });
            }
            ControlFlow::Continue(())
        })?;
        Ok(all)
    }

    /// The requests that a session's own log counts, with their models, whose names are empty when the log does not say. What an
    /// earlier log counts is not among them.
    pub fn visit_requests(
        &self,
        session: &Session,
        mut visit: impl FnMut(&CountedRequest, &str),
    ) -> Result<(), TraceError> {
        let owners = if session.inherited.is_zero() { None } else { Some(self.owners()?) };
        let account = self.account(session)?;
        let counts = |request: &&CountedRequest| {
            owners.as_ref().is_none_or(|owners| owners.counts(session.log, request.key))
        };
        for request in account.requests().iter().filter(counts) {
            visit(request, account.model_of(request));
        }
        Ok(())
    }

    /// What the sessions used, subagents' included, each request once. Limits of time hold for each request.
    pub fn usage(
        &self,
        filter: &SessionFilter,
        by: UsageGrouping,
    ) -> Result<BTreeMap<String, UsageRow>, TraceError> {
        let mut rows: BTreeMap<String, UsageRow> = BTreeMap::new();
        self.visit_usage(filter, by, |name, request, _| {
            let row = rows.entry(name).or_default();
            row.requests += 1;
            row.tokens = row.tokens.plus(request.tokens);
        })?;
        Ok(rows)
    }

    /// The same, request by request: the group, the request and its model, whose name is empty when the log does not say.
    pub fn visit_usage(
        &self,
        filter: &SessionFilter,
        by: UsageGrouping,
        mut visit: impl FnMut(String, &CountedRequest, &str),
    ) -> Result<(), TraceError> {
        let filter = SessionFilter { with_subagents: true, ..filter.clone() };
        // The owners are those of all logs: a fork must not use more when it is queried alone.
        let owners = self.database()?.read(RequestOwners::read)?;
        let within = |at: Option<Millis>| {
            at.is_none_or(|at| {
                filter.since.is_none_or(|since| at >= since) && filter.until.is_none_or(|until| at <= until)
            })
        };
        for session in &self.sessions(&filter, None, usize::MAX >> 1)? {
            let account = self.account(session)?;
            for request in account.requests() {
                if !owners.counts(session.log, request.key) || !within(request.at) {
                    continue;
                }
                let model = Redacted::from(account.model_of(request)).into_inner();
                let name = match by {
                    UsageGrouping::Day => request.at.map(day).unwrap_or_default(),
                    UsageGrouping::Model => model.clone(),
                    UsageGrouping::Provider => session.provider.id().to_owned(),
                    UsageGrouping::Project => {
                        let hash =
                            || if session.has_project() { session.project.clone() } else { String::new() };
                        session.root().map_or_else(hash, Redacted::into_inner)
                    }
                    UsageGrouping::Session => session.id.clone(),
                };
                visit(name, request, &model);
            }
        }
        Ok(())
    }
}

/// The day of a time, in UTC.
fn day(at: Millis) -> String {
    jiff::Timestamp::from_millisecond(at)
        .map(|time| time.strftime("%Y-%m-%d").to_string())
        .unwrap_or_default()
}
