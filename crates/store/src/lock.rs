//! An exclusive advisory lock on a file, for work that only one process at a time may do.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use crate::data_dir::private_file;

/// Held until dropped or until the process ends: the system releases it, so there are no stale locks.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock, or returns `None` at once when another process holds it.
    ///
    /// The file is never deleted, because then two processes could lock two files of the same name.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Lock>> {
        let file = private_file().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether a process holds it. Checking holds it for an instant too, so a process that tries to take it then must try again.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Records on the file that the work was done now; [`Lock::last_done`] returns it.
    pub fn mark_done(&self) -> io::Result<()> {
        self.file.set_modified(SystemTime::now())
    }

    /// When the work under this lock was last done, if ever.
    pub fn last_done(path: &Path) -> Option<SystemTime> {
        fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
    }
}
