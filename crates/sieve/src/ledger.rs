//! What was pruned and recovered, by whom and with what gain. Written behind the caller's back, and never in its way.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use tamis_store::{Database, StoreError, Writer};
use tamis_text::Kind;

use crate::db;
use crate::request::{Caller, Warning};

/// A caller's name for itself is worth this much of a row, and no more.
const NAME_BYTES: usize = 512;

/// Totals over the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Savings {
    pub calls: u64,
    /// Calls that gave the text back whole.
    pub fallbacks: u64,
    pub lines_before: u64,
    pub lines_after: u64,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub recoveries: u64,
    pub recovered_lines: u64,
    pub recovered_tokens: u64,
}

pub(crate) struct PruneRow {
    pub(crate) prune_id: String,
    pub(crate) at_ms: i64,
    pub(crate) caller: Caller,
    pub(crate) kind: Kind,
    pub(crate) lines_before: usize,
    pub(crate) lines_after: usize,
    pub(crate) tokens_before: usize,
    pub(crate) tokens_after: usize,
    pub(crate) elapsed: Duration,
    pub(crate) fallback: Option<Warning>,
}

pub(crate) struct RecoveryRow {
    pub(crate) prune_id: String,
    pub(crate) at_ms: i64,
    pub(crate) caller: Caller,
    pub(crate) lines: usize,
    pub(crate) tokens: usize,
}

pub(crate) struct Ledger {
    path: PathBuf,
    writer: Writer,
}

impl Ledger {
    /// Opens nothing.
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

    pub(crate) fn flush(&self, timeout: Duration) -> tamis_store::Progress {
        self.writer.flush(timeout)
    }

    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// The database, or `None` when nothing was ever written: looking should not create it.
    pub(crate) fn open(&self) -> Result<Option<Database>, StoreError> {
        if !self.path.exists() {
            return Ok(None);
        }
        Database::open(&self.path, db::COMPONENTS).map(Some)
    }

    pub(crate) fn savings(&self) -> Result<Savings, StoreError> {
        self.open()?.map_or(Ok(Savings::default()), |database| database.read(db::savings))
    }

    pub(crate) fn count(&self) -> Result<u64, StoreError> {
        self.open()?.map_or(Ok(0), |database| database.read(db::count))
    }

    /// Deletes the rows older than `age`.
    pub(crate) fn forget(&self, age: Duration, now: SystemTime) -> Result<u64, StoreError> {
        let before = milliseconds(now).saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
        self.open()?
            .map_or(Ok(0), |database| database.write(|transaction| db::delete_before(transaction, before)))
    }

    /// Deletes all rows, and what the file still holds of them.
    pub(crate) fn erase(&self) -> Result<u64, StoreError> {
        let Some(database) = self.open()? else { return Ok(0) };
        let rows = database.write(|transaction| db::delete_before(transaction, i64::MAX))?;
        database.compact()?;
        Ok(rows)
    }
}

/// Milliseconds since 1970.
pub(crate) fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn shorten(caller: &mut Caller) {
    let Caller { tool, door, client, session, project, model } = caller;
    let optional = [client, session, project, model].into_iter().flatten();
    for name in [tool, door].into_iter().chain(optional) {
        name.truncate(name.floor_char_boundary(NAME_BYTES));
    }
}
