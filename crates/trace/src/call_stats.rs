//! How often the tools for past sessions were used, and how large their answers were: counts, never a text.

use std::path::PathBuf;
use std::time::Duration;

use tamis_store::{Database, Writer};

use crate::db;
use crate::error::TraceError;
use crate::trace::Trace;

/// How a tool was used so far, by all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCallCounts {
    pub tool: String,
    pub calls: u64,
    pub failures: u64,
    /// Of all its answers.
    pub bytes: u64,
    /// The largest answer's.
    pub largest: u64,
}

/// Counts uses without making anybody wait for the disk; a count that cannot be written is lost.
pub(crate) struct CallCounter {
    path: PathBuf,
    writer: Writer,
}

impl CallCounter {
    pub(crate) fn new(path: PathBuf) -> CallCounter {
        CallCounter { writer: Writer::new(path.clone(), db::USES), path }
    }
}

impl Trace {
    /// Counts a call of a tool and the bytes of its answer.
    pub fn count_use(&self, tool: &'static str, failed: bool, bytes: u64) {
        self.uses.writer.submit(Box::new(move |transaction| db::add_use(transaction, tool, failed, bytes)));
    }

    /// How the tools were used, by their names. What was counted just now is waited for, but not for long.
    pub fn uses(&self) -> Result<Vec<ToolCallCounts>, TraceError> {
        self.uses.writer.flush(Duration::from_secs(2));
        Ok(Database::read_existing(&self.uses.path, db::USES, db::uses)?.unwrap_or_default())
    }
    /// Throws the counts away.
    pub fn forget_uses(&self) -> Result<(), TraceError> {
        self.uses.writer.flush(Duration::from_secs(2));
        if !self.uses.path.exists() {
            return Ok(());
        }
        let database = Database::open(&self.uses.path, db::USES)?;
        Ok(database.write(|transaction| db::forget_uses(transaction))?)
    }
}
