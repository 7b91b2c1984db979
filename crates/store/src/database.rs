//! A database file, opened by any number of processes at once.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, ffi};

use crate::data_dir::{create_private_dir, private_file};
use crate::error::StoreError;
use crate::migrate::{Component, beside, migrate, outdated};

/// How long opening, reading and writing wait for a lock that another process holds.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// An open database whose components are at the versions this program knows.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    #[cfg(unix)]
    file: (u64, u64),
    /// A panic while it is locked leaves no half transaction, because dropping the transaction rolls it back.
    connection: Mutex<Connection>,
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
        create_private(path).map_err(io)?;
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, patience).map_err(sql)?;
        journal(&connection, patience).map_err(sql)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(sql)?;
        migrate(&mut connection, path, components)?;
        Ok(Database {
            path: path.to_owned(),
            #[cfg(unix)]
            file: identity(path).map_err(io)?,
            connection: Mutex::new(connection),
        })
    }

    /// Runs `query` on the file as it lies there, without creating, locking or changing anything; so it works on a
    /// folder that may not be written. `None` when there is no file, or none of the tables yet.
    ///
    /// Only tables of an older version are brought up to date first, since `query` knows the newest alone.
    pub fn look<T>(
        path: &Path,
        components: &[Component],
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let sql = |error| StoreError::of(path, error);
        if !path.exists() {
            return Ok(None);
        }
        let connection = connect_to_look(path).map_err(sql)?;
        let behind = outdated(&connection, path, components)?;
        if behind.iter().any(|(_, found)| *found == 0) {
            return Ok(None);
        }
        if !behind.is_empty() {
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

    /// [`Database::write`] for work that may refuse: with its error, whatever that is, nothing is changed.
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

    /// Runs a query on a connection of its own, which sees what was committed: for threads that read while another
    /// writes through this one.
    pub fn read_apart<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let attempt = || query(&connect_to_look(&self.path)?);
        attempt().map_err(|error| StoreError::of(&self.path, error))
    }

    /// Rewrites the file without what was deleted from it, for erasing that is meant.
    ///
    /// Someone who reads meanwhile keeps the old pages in the journal; then this fails as locked.
    pub fn compact(&self) -> Result<(), StoreError> {
        let attempt = || {
            let connection = self.connection.lock();
            connection.execute_batch("VACUUM")?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))
        };
        let busy = || rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None);
        attempt()
            .and_then(|held_up| if held_up { Err(busy()) } else { Ok(()) })
            .map_err(|error| StoreError::of(&self.path, error))
    }

    /// Whether the path still names the file that was opened. Somebody may have removed it, or put another in its place;
    /// what is written then is found by nobody. Where files have no identity, they stay what they are while they are open.
    pub fn is_same_file(&self) -> bool {
        #[cfg(unix)]
        return identity(&self.path).is_ok_and(|found| found == self.file);
        #[cfg(not(unix))]
        true
    }
}

/// Makes an empty file for its owner alone, where SQLite would go by the umask; -wal and -shm take the mode of this
/// one. What was there before, and is laxer, is tightened, if it is ours.
///
/// A file that exists is not opened here: POSIX drops every lock that a process has on a file when it closes any
/// handle of it, and with them those of SQLite's connections. For the same reason one thread at a time creates.
fn create_private(path: &Path) -> io::Result<()> {
    static CREATING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = CREATING.lock();
    match private_file().write(true).create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            for suffix in ["", "-wal", "-shm"] {
                tighten(&beside(path, suffix));
            }
            Ok(())
        }
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn tighten(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o077 != 0)
    {
        // Refused where the file is someone else's, who may have meant it.
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
    }
}

#[cfg(not(unix))]
fn tighten(_path: &Path) {}

/// Device and inode.
#[cfg(unix)]
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

pub(crate) fn connect(
    path: impl AsRef<Path>,
    access: OpenFlags,
    patience: Duration,
) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(patience)?;
    Ok(connection)
}

/// A connection that only reads. In WAL mode SQLite needs files beside it even so, and only a connection that may
/// write tidies them away again. Where it may not make them, the file is read as one that nobody changes, provided
/// that no journal holds more.
fn connect_to_look(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, LOCK_PATIENCE)?;
    connection.pragma_update(None, "query_only", true)?;
    let Err(error) = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) else {
        return Ok(connection);
    };
    let journal = fs::metadata(beside(path, "-wal")).map_or(0, |metadata| metadata.len());
    let denied = matches!(
        error.sqlite_error_code(),
        Some(ffi::ErrorCode::CannotOpen | ffi::ErrorCode::ReadOnly | ffi::ErrorCode::PermissionDenied)
    );
    if denied && journal == 0 { connect_to_unchanging(path).unwrap_or(Err(error)) } else { Err(error) }
}

/// A connection to a file that nobody changes: no lock, no file beside it. `None` when its path cannot be put so.
pub(crate) fn connect_to_unchanging(path: &Path) -> Option<rusqlite::Result<Connection>> {
    let encoded = path.to_str()?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let uri = format!("file:{encoded}?immutable=1");
    Some(connect(uri, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI, LOCK_PATIENCE))
}

/// Uses a write-ahead log where the file system has shared memory, and else the rollback journal.
fn journal(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    // With WAL, NORMAL cannot corrupt; a power cut may lose the last transactions, which the ledger can bear. A
    // rollback journal that is not synced before the file it protects can.
    let level = if use_wal(connection, patience)? { "NORMAL" } else { "FULL" };
    connection.pragma_update(None, "synchronous", level)
}

/// Switches to WAL, and tells whether that is the mode now.
///
/// SQLite does not wait for locks while it changes the mode, so several processes opening a new file at once would
/// see each other's lock as an error; the one that loses asks again.
fn use_wal(connection: &Connection, patience: Duration) -> rusqlite::Result<bool> {
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
            journal(&connection, LOCK_PATIENCE).expect("a journal");
            connection.pragma_query_value(None, "synchronous", |row| row.get::<_, i64>(0)).expect("a level")
        };
        assert_eq!(level(Connection::open(folder.path().join("a.db")).expect("a file")), 1, "NORMAL");
        // In memory there is no log, as on a file system without shared memory.
        assert_eq!(level(Connection::open_in_memory().expect("a database")), 2, "FULL");
    }
}
