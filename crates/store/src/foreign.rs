//! Somebody else's database, which is only ever read.
//!
//! Its program may be running, and must not notice: nothing is written, no lock keeps it from writing, and where it can be
//! helped no file appears beside its own. The file is not trusted either: its views and triggers are off, functions in its
//! schema cannot do harm, and a query that does not end is ended.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::database::{connect, connect_to_unchanging};
use crate::migrate::beside;

/// How long to wait for a lock. Only a database without a write-ahead log makes readers wait.
const PATIENCE: Duration = Duration::from_secs(2);

/// No row or value may be longer.
const MOST_BYTES: i32 = 256 << 20;

/// How many steps of SQLite's machine a reading may take, in thousands: seconds of work, and enough to count ten million
/// rows. Counting ends it at the same place on every machine.
const MOST_STEPS: u32 = 100_000;

/// A database of another program that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    #[error("{} is damaged, or not a database", path.display())]
    Corrupt { path: PathBuf, source: rusqlite::Error },
    #[error("{} is locked by its program", path.display())]
    Locked { path: PathBuf, source: rusqlite::Error },
    #[error("reading {} took too much work or memory", path.display())]
    TooMuch { path: PathBuf, source: rusqlite::Error },
    #[error("cannot read {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("reading {} failed", path.display())]
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
                Some(format!("look at it with `sqlite3 -readonly '{}' 'PRAGMA quick_check'`", path.display()))
            }
            ForeignError::Locked { .. } => Some("try again when its program is done".into()),
            ForeignError::Io { .. } => Some("check that the file is there and may be read".into()),
            ForeignError::Sql { .. } => None,
        }
    }
}

/// Runs `query` on one state of the database at `path`. It may be run more than once, when the file changes meanwhile.
pub fn read_foreign<T>(
    path: &Path,
    mut query: impl FnMut(&Connection) -> rusqlite::Result<T>,
) -> Result<T, ForeignError> {
    let io = |source| ForeignError::Io { path: path.to_owned(), source };
    let sql = |error| ForeignError::of(path, error);
    let before = State::of(path).map_err(io)?;
    // A connection that may only read would make the two files of a write-ahead log and leave them there. Without a log
    // there is nothing in them, so the file is read as one that nobody changes, if nobody did.
    if before.is_quiet()
        && let Some(connection) = connect_to_unchanging(path)
    {
        let answer = connection.and_then(|connection| run(connection, &mut query));
        if State::of(path).map_err(io)? == before {
            return answer.map_err(sql);
        }
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, PATIENCE).map_err(sql)?;
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
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_BYTES)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    let mut steps = 0;
    connection.progress_handler(
        1000,
        Some(move || {
            steps += 1;
            steps > MOST_STEPS
        }),
    )?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // Several queries see one state. Readers do not keep a write-ahead log's writer waiting.
    let state = connection.unchecked_transaction()?;
    query(&state)
}

/// By which a change of the file is seen.
#[derive(PartialEq, Eq)]
struct State {
    file: (u64, Option<SystemTime>),
    log: u64,
    journal: u64,
}

impl State {
    fn of(path: &Path) -> io::Result<State> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a file"));
        }
        let size = |suffix| fs::metadata(beside(path, suffix)).map_or(0, |metadata| metadata.len());
        Ok(State {
            file: (metadata.len(), metadata.modified().ok()),
            log: size("-wal"),
            journal: size("-journal"),
        })
    }

    fn is_quiet(&self) -> bool {
        self.log == 0 && self.journal == 0
    }
}
