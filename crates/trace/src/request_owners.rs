//! Which log counts a request that several logs report.
//!
//! Forks and copies repeat the requests of the log that they were made from. Every request counts once: in the session that
//! comes first in the order of [`db::each_log_with_keys`]. Usage by day or model, the sums in lists and the explanation of a
//! session's usage all ask here.

use std::collections::{BTreeSet, HashMap};

use tamis_logs::usage::Tokens;
use tamis_store::rusqlite::{self, Connection};

use crate::accounting::CountedRequest;
use crate::db;

/// The log that counts each request, by the request's key.
pub(crate) struct RequestOwners {
    by_key: HashMap<u64, i64>,
    /// Logs with a request that an earlier log counts.
    repeating: BTreeSet<i64>,
}

impl RequestOwners {
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<RequestOwners> {
        let mut owners = RequestOwners { by_key: HashMap::new(), repeating: BTreeSet::new() };
        db::each_log_with_keys(connection, |log, keys| {
            for key in keys.as_chunks::<8>().0 {
                if *owners.by_key.entry(u64::from_le_bytes(*key)).or_insert(log) != log {
                    owners.repeating.insert(log);
                }
            }
        })?;
        Ok(owners)
    }

    /// Whether this log counts the request with this key. A request without a key is reported by one log alone.
    pub(crate) fn counts(&self, log: i64, key: Option<u64>) -> bool {
        key.and_then(|key| self.by_key.get(&key)).is_none_or(|owner| *owner == log)
    }
}

/// Takes from every log's sum what an earlier log counts.
pub(crate) fn subtract_inherited(connection: &Connection) -> rusqlite::Result<()> {
    let owners = RequestOwners::read(connection)?;
    let mut logs = owners.repeating.clone();
    logs.extend(db::with_inherited(connection)?);
    for log in logs {
        let account = db::account_of(connection, log)?;
        let inherited = account
            .requests()
            .iter()
            .filter(|request: &&CountedRequest| !owners.counts(log, request.key))
            .fold(Tokens::default(), |sum, request| sum.plus(request.tokens));
        db::put_inherited(connection, log, account.total().minus(inherited).total(), inherited)?;
    }
    Ok(())
}
