//! A database file, opened by any number of processes at once.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::data_dir::{create_private_dir, private_file};
use crate::error::StoreError;
use crate::migrate::{Component, migrate};

/// How long opening, reading and writing wait for a lock that another process holds.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// An open database whose components are at the versions this program knows.
///
/// Holds one connection for writing, and one for reading that is opened when first needed.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    patience: Duration,
    #[cfg(unix)]
    file: (u64, u64),
    writing: Mutex<Connection>,
    reading: Mutex<Option<Connection>>,
}

impl Database {
    /// Opens `path`, creating it when it is missing, and brings the components' tables up to date.
    ///
    /// A damaged file, or one with a newer schema, is left as it is and reported.
    pub fn open(path: &Path, components: &[Component]) -> Result<Database, StoreError> {
        Database::open_within(path, components, LOCK_PATIENCE)
    }

    /// [`Database::open`] with another patience for locks, here and in every later transaction.
    pub fn open_within(
        path: &Path,
        components: &[Component],
        patience: Duration,
    ) -> Result<Database, StoreError> {
        let io = |source| StoreError::Io { path: path.to_owned(), source };
        let sql = |error| StoreError::of(path, error);
        if let Some(folder) = path.parent() {
            create_private_dir(folder).map_err(io)?;
        }
        // SQLite would create it by the umask. Its -wal and -shm files take the mode of this one.
        private_file().write(true).create(true).truncate(false).open(path).map_err(io)?;
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, patience).map_err(sql)?;
        use_wal(&connection, patience).map_err(sql)?;
        // With WAL, NORMAL cannot corrupt; a power cut may lose the last transactions, which the ledger can bear.
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(sql)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(sql)?;
        migrate(&mut connection, path, components)?;
        Ok(Database {
            path: path.to_owned(),
            patience,
            #[cfg(unix)]
            file: identity(path).map_err(io)?,
            writing: Mutex::new(connection),
            reading: Mutex::new(None),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `query` on the connection for reading, where writing is an error.
    pub fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let mut slot = lock(&self.reading);
        let connection = match slot.take() {
            Some(connection) => connection,
            None => connect(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY, self.patience)
                .map_err(|error| StoreError::of(&self.path, error))?,
        };
        let answer = query(&connection);
        *slot = Some(connection);
        answer.map_err(|error| StoreError::of(&self.path, error))
    }

    /// Runs `work` in one `BEGIN IMMEDIATE` transaction, committed when it succeeds. Keep it short: no file, git or
    /// network work inside.
    pub fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let attempt = || {
            let mut connection = lock(&self.writing);
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let answer = work(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        };
        attempt().map_err(|error| StoreError::of(&self.path, error))
    }

    /// Rewrites the file without what was deleted from it, for erasing that is meant.
    pub fn compact(&self) -> Result<(), StoreError> {
        let attempt = || {
            let connection = lock(&self.writing);
            connection.execute_batch("VACUUM")?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        };
        attempt().map_err(|error| StoreError::of(&self.path, error))
    }

    /// Whether the path still names the file that was opened.
    #[cfg(unix)]
    pub(crate) fn is_same_file(&self) -> bool {
        identity(&self.path).is_ok_and(|found| found == self.file)
    }

    pub(crate) fn connection(&self) -> MutexGuard<'_, Connection> {
        lock(&self.writing)
    }
}

/// Device and inode.
#[cfg(unix)]
fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

fn connect(path: &Path, access: OpenFlags, patience: Duration) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(patience)?;
    Ok(connection)
}

/// Switches to WAL. SQLite does not wait for locks while it changes the mode, so several processes opening a new
/// file at once would see each other's lock as an error; the one that loses asks again.
fn use_wal(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    let deadline = Instant::now() + patience;
    loop {
        let mode = connection
            .pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0))
            .and_then(|mode| {
                if mode == "wal" {
                    return Ok(mode);
                }
                connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
            });
        match mode {
            // A file system without shared memory stays with the rollback journal: slower, and just as safe.
            Ok(_) => return Ok(()),
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error),
        }
    }
}

pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

/// A panic while holding the connection leaves no half transaction: dropping it rolls back.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
