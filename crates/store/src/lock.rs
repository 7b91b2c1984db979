//! An exclusive advisory lock on a file, for work that one process at a time should do.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use crate::data_dir::private_file;

/// Held until dropped, or until its process ends in whatever way: the system lets go of it, so there is no stale lock.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock, or gives `None` at once when another holds it: whoever loses goes on without.
    ///
    /// The file stays behind on purpose. Deleting it would let two processes lock two files of one name.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Lock>> {
        let file = private_file().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether somebody holds it. Asking holds it too for an instant, so that whoever tries to take it then must try again.
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

    /// Notes on the file that the work was done now; [`Lock::last_done`] tells it to everyone.
    pub fn mark_done(&self) -> io::Result<()> {
        self.file.set_modified(SystemTime::now())
    }

    /// When the work under this lock was last done. `None` when it never was, as far as is known.
    pub fn last_done(path: &Path) -> Option<SystemTime> {
        fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
    }
}
