//! How often the session tools were called, and how large their arguments and answers were.

use std::path::PathBuf;
use std::time::Duration;

use tamis_store::{Database, Writer};

use crate::db;
use crate::error::TraceError;
use crate::trace::Trace;

/// Calls of one tool so far, by all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCallCounts {
    pub tool: String,
    pub calls: u64,
    pub failures: u64,
    /// Of all its answers.
    pub bytes: u64,
    /// The largest answer's.
    pub largest: u64,
    /// Of all its arguments.
    pub request_bytes: u64,
    /// The largest arguments'.
    pub largest_request: u64,
}

/// One call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ToolCallSize {
    pub tool: &'static str,
    pub failed: bool,
    /// Of its arguments as JSON.
    pub request_bytes: u64,
    /// Of its answer's text.
    pub bytes: u64,
}

/// Counts calls on a background writer, so that no call waits for the disk. A count that cannot be written is lost.
pub(crate) struct CallCounter {
    path: PathBuf,
    writer: Writer,
}

impl CallCounter {
    pub(crate) fn new(path: PathBuf) -> CallCounter {
        CallCounter { writer: Writer::new(path.clone(), db::CALL_COUNTS), path }
    }
}

impl Trace {
    /// Counts a call of a tool, and the bytes of its arguments and of its answer.
    pub fn count_call(&self, call: ToolCallSize) {
        self.calls.writer.submit(Box::new(move |transaction| db::count_call(transaction, call)));
    }

    /// The counts, by tool. Waits up to two seconds for counts that are not written yet.
    pub fn call_counts(&self) -> Result<Vec<ToolCallCounts>, TraceError> {
        self.calls.writer.flush(Duration::from_secs(2));
        Ok(Database::read_existing(&self.calls.path, db::CALL_COUNTS, db::call_counts)?.unwrap_or_default())
    }

    /// Deletes the counts.
    pub fn clear_call_counts(&self) -> Result<(), TraceError> {
        self.calls.writer.flush(Duration::from_secs(2));
        if !self.calls.path.exists() {
            return Ok(());
        }
        let database = Database::open(&self.calls.path, db::CALL_COUNTS)?;
        Ok(database.write(|transaction| db::clear_call_counts(transaction))?)
    }
}
