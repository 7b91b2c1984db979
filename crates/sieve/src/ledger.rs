//! The ledger: counts of prunes and recoveries, by caller. Rows are queued and written by a thread, so no call waits for
//! the database.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use tamis_store::rusqlite::Connection;
use tamis_store::{Database, StoreError, Writer};
use tamis_text::TextKind;

use crate::db;
use crate::history::{CallFilter, CallPage, CallSummary, PruneRecord};
use crate::request::{Caller, PruneWarning};

/// Names that callers give themselves are truncated to this.
const NAME_BYTES: usize = 512;

/// Totals over the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LedgerTotals {
    pub calls: u64,
    /// Calls that returned the text whole.
    pub fallbacks: u64,
    pub lines_before: u64,
    pub lines_after: u64,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub recoveries: u64,
    pub recovered_lines: u64,
    pub recovered_tokens: u64,
}

/// What a set of prunes saved, as far as the ledger knows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneSavings {
    /// The number of ids that are in the ledger.
    pub known_ids: u64,
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// Tokens that were recovered from these prunes.
    pub recovered_tokens: u64,
}

/// How far the ledger has been written, by any process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerPosition {
    pub(crate) prunes: i64,
    pub(crate) recoveries: i64,
}

/// A prune whose original is still kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentPrune {
    pub prune_id: String,
    /// Milliseconds since 1970.
    pub at_ms: i64,
    pub tool: String,
    pub client: Option<String>,
    pub project: Option<String>,
    pub lines_before: u64,
    pub lines_after: u64,
    pub goal: Option<String>,
}

/// A prune that cut something, as the ledger has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerPrune {
    pub prune_id: String,
    /// Milliseconds since 1970.
    pub at_ms: i64,
    pub tool: String,
    pub door: String,
    pub client: Option<String>,
    pub session: Option<String>,
    pub call_id: Option<String>,
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// Of those after, the markers; 0 where they were not counted.
    pub marker_tokens: u64,
}

/// A recovery, as the ledger has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerRecovery {
    pub prune_id: String,
    /// Milliseconds since 1970.
    pub at_ms: i64,
    pub door: String,
    pub client: Option<String>,
    pub tokens: u64,
}

#[derive(Debug, PartialEq)]
pub(crate) struct PruneRow {
    pub(crate) prune_id: String,
    pub(crate) at_ms: i64,
    pub(crate) caller: Caller,
    pub(crate) kind: TextKind,
    pub(crate) lines_before: usize,
    pub(crate) lines_after: usize,
    pub(crate) tokens_before: usize,
    pub(crate) tokens_after: usize,
    /// Of those after, the markers, where they were counted.
    pub(crate) marker_tokens: Option<usize>,
    pub(crate) elapsed: Duration,
    pub(crate) fallback: Option<PruneWarning>,
    /// None if there are too many to keep.
    pub(crate) cuts: Option<String>,
}

pub(crate) struct RecoveryRow {
    pub(crate) prune_id: String,
    pub(crate) at_ms: i64,
    pub(crate) caller: Caller,
    pub(crate) lines: usize,
    pub(crate) tokens: usize,
    /// None if there are too many to keep.
    pub(crate) ranges: Option<String>,
}

pub(crate) struct Ledger {
    path: PathBuf,
    writer: Writer,
}

impl Ledger {
    /// Does not open the database.
    pub(crate) fn new(path: PathBuf) -> Ledger {
        Ledger { writer: Writer::new(path.clone(), db::COMPONENTS), path }
    }

    pub(crate) fn record_prune(&self, mut row: PruneRow) {
        shorten(&mut row.caller);
        self.writer.submit(Box::new(move |transaction| db::insert_prune(transaction, &row)));
    }

    pub(crate) fn record_recovery(&self, mut row: RecoveryRow) {
        shorten(&mut row.caller);
        self.writer.submit(Box::new(move |transaction| db::insert_recovery(transaction, &row)));
    }

    pub(crate) fn has_problem(&self) -> bool {
        self.writer.has_problem()
    }

    pub(crate) fn problem(&self) -> Option<String> {
        self.writer.problem()
    }

    pub(crate) fn flush(&self, timeout: Duration) -> tamis_store::WriterProgress {
        self.writer.flush(timeout)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn totals(&self) -> Result<LedgerTotals, StoreError> {
        Ok(Database::read_existing(&self.path, db::COMPONENTS, db::totals)?.unwrap_or_default())
    }

    pub(crate) fn savings_of_prunes(
        &self,
        prune_ids: &BTreeSet<String>,
        since: SystemTime,
    ) -> Result<Option<PruneSavings>, StoreError> {
        // The ids were parsed, so they are letters and digits and need no JSON escapes.
        let list =
            format!("[{}]", prune_ids.iter().map(|id| format!("{id:?}")).collect::<Vec<_>>().join(","));
        let since = milliseconds(since);
        Database::read_existing(&self.path, db::COMPONENTS, |connection| {
            db::savings_of_prunes(connection, &list, since)
        })
    }

    /// The latest prunes that cut something, the last first, each id once.
    pub(crate) fn recent_prunes(&self, limit: usize) -> Result<Vec<RecentPrune>, StoreError> {
        let read = |connection: &Connection| db::recent_prunes(connection, limit);
        Ok(Database::read_existing(&self.path, db::COMPONENTS, read)?.unwrap_or_default())
    }

    /// The prunes that cut something and the recoveries since then, the earliest first.
    pub(crate) fn since(
        &self,
        since: SystemTime,
    ) -> Result<(Vec<LedgerPrune>, Vec<LedgerRecovery>), StoreError> {
        let at_ms = milliseconds(since);
        let read = |connection: &Connection| {
            Ok((db::prunes_since(connection, at_ms)?, db::recoveries_since(connection, at_ms)?))
        };
        Ok(Database::read_existing(&self.path, db::COMPONENTS, read)?.unwrap_or_default())
    }

    pub(crate) fn calls(
        &self,
        filter: &CallFilter,
        from: usize,
        limit: usize,
    ) -> Result<CallPage, StoreError> {
        let read = |connection: &Connection| db::calls(connection, filter, from, limit);
        Ok(Database::read_existing(&self.path, db::COMPONENTS, read)?.unwrap_or_default())
    }

    pub(crate) fn call_summary(&self, filter: &CallFilter, spans: usize) -> Result<CallSummary, StoreError> {
        let read = |connection: &Connection| db::call_summary(connection, filter, spans);
        Ok(Database::read_existing(&self.path, db::COMPONENTS, read)?.unwrap_or_default())
    }

    pub(crate) fn prune_record(&self, prune_id: &str) -> Result<PruneRecord, StoreError> {
        let read = |connection: &Connection| db::prune_record(connection, prune_id);
        Ok(Database::read_existing(&self.path, db::COMPONENTS, read)?.unwrap_or_default())
    }

    pub(crate) fn position(&self) -> Result<LedgerPosition, StoreError> {
        Ok(Database::read_existing(&self.path, db::COMPONENTS, db::position)?.unwrap_or_default())
    }

    pub(crate) fn count(&self) -> Result<u64, StoreError> {
        Ok(Database::read_existing(&self.path, db::COMPONENTS, db::count)?.unwrap_or_default())
    }

    /// Deletes the rows older than `age`.
    pub(crate) fn delete_older(&self, age: Duration, now: SystemTime) -> Result<u64, StoreError> {
        let before = milliseconds(now).saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
        // Usually there is nothing to delete, and reading takes no lock.
        let any = |connection: &Connection| db::has_before(connection, before);
        if Database::read_existing(&self.path, db::COMPONENTS, any)? != Some(true) {
            return Ok(0);
        }
        self.open()?.map_or(Ok(0), |database| delete_before(&database, before))
    }

    /// Deletes all rows, then compacts the file, which still holds their bytes. The compaction may fail on its own.
    pub(crate) fn erase(&self) -> Result<(u64, Option<StoreError>), StoreError> {
        let Some(database) = self.open()? else { return Ok((0, None)) };
        let rows = delete_before(&database, i64::MAX)?;
        Ok((rows, database.compact().err()))
    }

    /// The database, or `None` if it does not exist: deleting must not create it.
    fn open(&self) -> Result<Option<Database>, StoreError> {
        if !self.path.exists() {
            return Ok(None);
        }
        Database::open(&self.path, db::COMPONENTS).map(Some)
    }
}

/// Deletes in short transactions, so that other writers do not wait for long.
fn delete_before(database: &Database, at_ms: i64) -> Result<u64, StoreError> {
    let mut rows = 0;
    loop {
        match database.write(|transaction| db::delete_some_before(transaction, at_ms))? {
            0 => return Ok(rows),
            some => rows += some,
        }
    }
}

/// Milliseconds since 1970.
pub(crate) fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn shorten(caller: &mut Caller) {
    let Caller { is_anonymous: _, tool, door, client, session, project, model, call_id } = caller;
    let optional = [client, session, project, model, call_id].into_iter().flatten();
    for name in [tool, door].into_iter().chain(optional) {
        name.truncate(name.floor_char_boundary(NAME_BYTES));
    }
}
