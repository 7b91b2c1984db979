//! The state of the index: what it holds, which records no reader recognised, which logs could not be read.

use std::collections::BTreeMap;

use serde::Serialize;
use tamis_clients::Client;
use tamis_redact::Redacted;

use crate::error::TraceError;
use crate::indexed_log::IndexedLog;
use crate::session::SessionFilter;
use crate::trace::Trace;

/// What the index holds of one client's logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClientTotals {
    pub logs: u64,
    pub bytes: u64,
    pub sessions: u64,
    pub events: u64,
}

/// Records of one type that a reader did not recognise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnrecognisedRecords {
    pub provider: Client,
    /// As `record: name`, `part: name` or `unreadable: why`.
    pub what: String,
    pub count: u64,
    /// The logs that have it.
    pub logs: Vec<Redacted>,
}

/// The state of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexStatus {
    /// `None` is for logs of no known format.
    pub clients: BTreeMap<Option<Client>, ClientTotals>,
    /// What occurs most often first.
    pub unrecognised: Vec<UnrecognisedRecords>,
    /// Logs of no known format.
    pub unknown: Vec<IndexedLog>,
    /// Logs that could not be read, or not to their end.
    pub problems: Vec<IndexedLog>,
    /// Logs whose last line is not whole: it is being written, or the writer was killed.
    pub torn: Vec<IndexedLog>,
}

impl Trace {
    /// What the index holds, as it is now.
    pub fn report(&self) -> Result<IndexStatus, TraceError> {
        let mut report = IndexStatus::default();
        let mut paths = BTreeMap::new();
        for log in self.logs()? {
            let provider = log.format.provider();
            let holding = report.clients.entry(provider).or_default();
            holding.logs += 1;
            holding.bytes += log.source.stamp.size;
            paths.insert(log.id, log.name());
            if provider.is_none() && log.problem.is_none() {
                report.unknown.push(log.clone());
            }
            if log.pending > 0 {
                report.torn.push(log.clone());
            }
            if log.problem.is_some() {
                report.problems.push(log);
            }
        }
        let mut unrecognised: BTreeMap<(Client, String), UnrecognisedRecords> = BTreeMap::new();
        let all = SessionFilter { with_subagents: true, ..SessionFilter::default() };
        for session in self.sessions(&all, None, usize::MAX >> 1)? {
            let holding = report.clients.entry(Some(session.provider)).or_default();
            holding.sessions += 1;
            holding.events += session.summary.events;
            for (what, count) in &session.summary.unrecognised {
                let provider = session.provider;
                let entry = unrecognised.entry((provider, what.clone())).or_insert_with(|| {
                    UnrecognisedRecords { provider, what: what.clone(), count: 0, logs: Vec::new() }
                });
                entry.count += count;
                entry.logs.extend(paths.get(&session.log).cloned());
            }
        }
        report.unrecognised = unrecognised.into_values().collect();
        report.unrecognised.iter_mut().for_each(|entry| entry.logs.sort());
        report.unrecognised.sort_by_key(|entry| std::cmp::Reverse(entry.count));
        Ok(report)
    }
}
