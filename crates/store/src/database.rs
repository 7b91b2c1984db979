//! A database file, opened by any number of processes at once.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, ffi};

use crate::data_dir::{create_private_dir, private_file};
use crate::error::StoreError;
use crate::migrate::{Component, beside, migrate, outdated};

/// How long opening, reading and writing wait for a lock of another process.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// An open database whose components are at the versions this program knows.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    file: FileId,
    /// A panic while it is locked leaves no half transaction, because dropping the transaction rolls it back.
    connection: Mutex<Connection>,
}

impl Database {
    /// Opens `path`, creating it when it is missing, and brings the components' tables up to date.
    ///
    /// A damaged file, or one with a newer schema, is reported and not changed.
    pub fn open(path: &Path, components: &[Component]) -> Result<Database, StoreError> {
        Database::open_within(path, components, LOCK_TIMEOUT)
    }

    /// [`Database::open`] with another time limit for locks, here and in every later transaction.
    pub fn open_within(
        path: &Path,
        components: &[Component],
        lock_timeout: Duration,
    ) -> Result<Database, StoreError> {
        let io = |source| StoreError::Io { path: path.to_owned(), source };
        let sql = |error| StoreError::of(path, error);
        if let Some(folder) = path.parent() {
            create_private_dir(folder).map_err(io)?;
        }
        create_private(path).map_err(io)?;
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, lock_timeout).map_err(sql)?;
        set_journal_mode(&connection, lock_timeout).map_err(sql)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(sql)?;
        migrate(&mut connection, path, components)?;
        Ok(Database {
            path: path.to_owned(),
            file: file_id(path).map_err(io)?,
            connection: Mutex::new(connection),
        })
    }

    /// Runs `query` on the file without creating, locking or changing anything, so it works in a read-only folder. `None` when
    /// there is no file, or a table is missing.
    ///
    /// Only tables of an older version are migrated first, because `query` expects the newest.
    pub fn read_existing<T>(
        path: &Path,
        components: &[Component],
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let sql = |error| StoreError::of(path, error);
        if !path.exists() {
            return Ok(None);
        }
        let connection = connect_to_read(path).map_err(sql)?;
        let outdated = outdated(&connection, path, components)?;
        if outdated.iter().any(|(_, found)| *found == 0) {
            return Ok(None);
        }
        if !outdated.is_empty() {
            drop(Database::open(path, components)?);
        }
        query(&connection).map(Some).map_err(sql)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` in one `BEGIN IMMEDIATE` transaction, committed when it succeeds. Keep it short: no file, git or
    /// network work inside.
    pub fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let attempt = || {
            let mut connection = self.connection.lock();
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let answer = work(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        };
        attempt().map_err(|error| StoreError::of(&self.path, error))
    }

    /// [`Database::write`] for work with errors of its own. An error rolls the transaction back.
    pub fn write_or<T, E: From<rusqlite::Error>>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.connection.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let answer = work(&transaction)?;
        transaction.commit()?;
        Ok(answer)
    }

    /// Runs a query on this connection.
    pub fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        query(&self.connection.lock()).map_err(|error| StoreError::of(&self.path, error))
    }

    /// Runs a query on a new connection, which sees what was committed: for threads that read while another writes through
    /// this one.
    pub fn read_on_new_connection<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let attempt = || query(&connect_to_read(&self.path)?);
        attempt().map_err(|error| StoreError::of(&self.path, error))
    }

    /// Rewrites the file so that deleted data is really gone.
    ///
    /// A reader at the same time keeps the old pages in the journal; then this fails with a locked database.
    pub fn compact(&self) -> Result<(), StoreError> {
        let attempt = || {
            let connection = self.connection.lock();
            connection.execute_batch("VACUUM")?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))
        };
        let busy = || rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None);
        attempt()
            .and_then(|is_blocked| if is_blocked { Err(busy()) } else { Ok(()) })
            .map_err(|error| StoreError::of(&self.path, error))
    }

    /// Whether the path still names the file that was opened. It may have been removed or replaced; what is written to it is
    /// then lost.
    pub fn is_same_file(&self) -> bool {
        file_id(&self.path).is_ok_and(|found| found == self.file)
    }
}

/// Creates an empty file that only its owner can read, where SQLite would use the umask; -wal and -shm get the same mode. The
/// mode of an existing file is restricted, if we own it.
///
/// An existing file is not opened here: POSIX drops all locks that a process has on a file when it closes any handle of it,
/// including those of SQLite's connections. For the same reason only one thread at a time creates.
fn create_private(path: &Path) -> io::Result<()> {
    static CREATING: Mutex<()> = Mutex::new(());
    let _creating = CREATING.lock();
    match private_file().write(true).create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            for suffix in ["", "-wal", "-shm"] {
                restrict_mode(&beside(path, suffix));
            }
            Ok(())
        }
        Err(error) => Err(error),
    }
}

fn restrict_mode(path: &Path) {
    if fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o077 != 0)
    {
        // Fails for a file of another user, whose choice it is.
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
    }
}

/// Device and inode.
type FileId = (u64, u64);

fn file_id(path: &Path) -> io::Result<FileId> {
    let metadata = fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

pub(crate) fn connect(
    path: impl AsRef<Path>,
    access: OpenFlags,
    lock_timeout: Duration,
) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(lock_timeout)?;
    Ok(connection)
}

/// A connection that only reads. In WAL mode SQLite creates files beside the database even so, and only a connection that may
/// write removes them again. Where they cannot be created, the file is opened as immutable, if there is no journal with more
/// data.
fn connect_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, LOCK_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    let Err(error) = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) else {
        return Ok(connection);
    };
    let journal = fs::metadata(beside(path, "-wal")).map_or(0, |metadata| metadata.len());
    let denied = matches!(
        error.sqlite_error_code(),
        Some(ffi::ErrorCode::CannotOpen | ffi::ErrorCode::ReadOnly | ffi::ErrorCode::PermissionDenied)
    );
    if denied && journal == 0 { connect_immutable(path).unwrap_or(Err(error)) } else { Err(error) }
}

/// A connection to a file that is not written meanwhile: no lock, no file beside it. `None` when the path is not UTF-8.
pub(crate) fn connect_immutable(path: &Path) -> Option<rusqlite::Result<Connection>> {
    let encoded = path.to_str()?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let uri = format!("file:{encoded}?immutable=1");
    Some(connect(uri, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI, LOCK_TIMEOUT))
}

/// Uses a write-ahead log where the file system has shared memory, otherwise the rollback journal.
fn set_journal_mode(connection: &Connection, lock_timeout: Duration) -> rusqlite::Result<()> {
    // With WAL, NORMAL cannot corrupt the file; a power cut may lose the last transactions, which is acceptable. A rollback
    // journal that is not synced before the file that it protects can.
    let level = if use_wal(connection, lock_timeout)? { "NORMAL" } else { "FULL" };
    connection.pragma_update(None, "synchronous", level)
}

/// Switches to WAL, and returns whether that is the mode now.
///
/// SQLite does not wait for locks while it changes the mode, so processes that open a new file at once would get each
/// other's lock as an error; the one that loses tries again.
fn use_wal(connection: &Connection, lock_timeout: Duration) -> rusqlite::Result<bool> {
    let deadline = Instant::now() + lock_timeout;
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
            Ok(mode) => return Ok(mode == "wal"),
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_write_ahead_log_every_commit_is_synced() {
        let folder = tempfile::tempdir().expect("a folder");
        let level = |connection: Connection| {
            set_journal_mode(&connection, LOCK_TIMEOUT).expect("a journal");
            connection.pragma_query_value(None, "synchronous", |row| row.get::<_, i64>(0)).expect("a level")
        };
        assert_eq!(level(Connection::open(folder.path().join("a.db")).expect("a file")), 1, "NORMAL");
        // In memory there is no log, as on a file system without shared memory.
        assert_eq!(level(Connection::open_in_memory().expect("a database")), 2, "FULL");
    }
}
