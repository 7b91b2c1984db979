//! Reading the database of another program.
//!
//! That program may be running and must not be disturbed: nothing is written, no lock keeps it from writing, and if possible
//! no file is created beside the database. The file is not trusted: its views and triggers are off, functions in its schema
//! cannot do harm, and a query that takes too long is ended.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::database::{connect, connect_immutable};
use crate::migrate::beside;

/// Only a database without a write-ahead log makes readers wait for a lock.
const FOREIGN_LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum size of a row or value.
const MAX_BYTES: i32 = 256 << 20;

/// Maximum number of SQLite's virtual machine steps for a query, in thousands: seconds of work, and enough to count ten million
/// rows. Counting steps ends a query at the same point on every machine.
const MAX_STEPS: u32 = 100_000;

/// Why the database of another program cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    #[error("`{}` is damaged or not a database", path.display())]
    Corrupt { path: PathBuf, source: rusqlite::Error },
    #[error("`{}` is locked by its program", path.display())]
    Locked { path: PathBuf, source: rusqlite::Error },
    #[error("reading `{}` took too much work or memory", path.display())]
    TooMuch { path: PathBuf, source: rusqlite::Error },
    #[error("cannot read `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("cannot query `{}`", path.display())]
    Sql { path: PathBuf, source: rusqlite::Error },
}

impl ForeignError {
    fn of(path: &Path, source: rusqlite::Error) -> ForeignError {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                ForeignError::Corrupt { path, source }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                ForeignError::Locked { path, source }
            }
            Some(ErrorCode::OperationInterrupted | ErrorCode::TooBig | ErrorCode::OutOfMemory) => {
                ForeignError::TooMuch { path, source }
            }
            _ => ForeignError::Sql { path, source },
        }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            ForeignError::Corrupt { path, .. } | ForeignError::TooMuch { path, .. } => {
                Some(format!("check it with `sqlite3 -readonly '{}' 'PRAGMA quick_check'`", path.display()))
            }
            ForeignError::Locked { .. } => Some("try again when its program has finished".into()),
            ForeignError::Io { .. } => Some("check that the file exists and can be read".into()),
            ForeignError::Sql { .. } => None,
        }
    }
}

/// Runs `query` on one snapshot of the database at `path`. When the file changes meanwhile, `query` is run again.
pub fn read_foreign<T>(
    path: &Path,
    mut query: impl FnMut(&Connection) -> rusqlite::Result<T>,
) -> Result<T, ForeignError> {
    let io = |source| ForeignError::Io { path: path.to_owned(), source };
    let sql = |error| ForeignError::of(path, error);
    let before = FileState::of(path).map_err(io)?;
    // A read-only connection would create the two files of a write-ahead log and leave them. Without a log there is nothing
    // in them, so the file is opened as immutable, and the result used if the file did not change.
    if before.has_no_journal()
        && let Some(connection) = connect_immutable(path)
    {
        let answer = connection.and_then(|connection| run(connection, &mut query));
        if FileState::of(path).map_err(io)? == before {
            return answer.map_err(sql);
        }
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, FOREIGN_LOCK_TIMEOUT).map_err(sql)?;
    run(connection, &mut query).map_err(sql)
}

fn run<T>(
    mut connection: Connection,
    query: &mut impl FnMut(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    for (option, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    ] {
        connection.set_db_config(option, on)?;
    }
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_BYTES)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    let mut steps = 0;
    connection.progress_handler(
        1000,
        Some(move || {
            steps += 1;
            steps > MAX_STEPS
        }),
    )?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // One transaction, so that all queries see one snapshot. Readers do not block the writer of a write-ahead log.
    let state = connection.unchecked_transaction()?;
    query(&state)
}

/// Sizes and times that change when the file does.
#[derive(PartialEq, Eq)]
struct FileState {
    file: (u64, Option<SystemTime>),
    log: u64,
    journal: u64,
}

impl FileState {
    fn of(path: &Path) -> io::Result<FileState> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a file"));
        }
        let size = |suffix| fs::metadata(beside(path, suffix)).map_or(0, |metadata| metadata.len());
        Ok(FileState {
            file: (metadata.len(), metadata.modified().ok()),
            log: size("-wal"),
            journal: size("-journal"),
        })
    }

    fn has_no_journal(&self) -> bool {
        self.log == 0 && self.journal == 0
    }
}
