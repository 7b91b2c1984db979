//! The store's errors, one for each thing that the user can do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why the store cannot be used; [`StoreError::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("`{}` is damaged or not a database", path.display())]
    Corrupt { path: PathBuf, source: rusqlite::Error },
    #[error("`{}` has version {found} of the {component} tables, but this program knows version {known}", path.display())]
    NewerSchema { path: PathBuf, component: &'static str, found: u32, known: u32 },
    #[error("`{}` is locked by another process", path.display())]
    Locked { path: PathBuf, source: rusqlite::Error },
    #[error("cannot write `{}`", path.display())]
    NotWritable { path: PathBuf, source: rusqlite::Error },
    #[error("no space left for `{}`", path.display())]
    Full { path: PathBuf, source: rusqlite::Error },
    #[error("cannot use `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("cannot query `{}`", path.display())]
    Sql { path: PathBuf, source: rusqlite::Error },
    #[error("cannot trust `{}`: {why}", path.display())]
    Untrusted { path: PathBuf, why: Distrust },
    #[error("writing a record to `{}` panicked", path.display())]
    Panicked { path: PathBuf },
}

/// Why something in the data folder may be another user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    #[error("it belongs to user {owner}, and this process runs as user {user}")]
    Owner { owner: u32, user: u32 },
    #[error("other users can write to it (mode {mode:04o})")]
    Writable { mode: u32 },
    #[error("it is a symbolic link")]
    Link,
}

impl StoreError {
    pub(crate) fn of(path: &Path, source: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Corrupt { path, source }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked { path, source },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                StoreError::NotWritable { path, source }
            }
            Some(ErrorCode::DiskFull) => StoreError::Full { path, source },
            _ => StoreError::Sql { path, source },
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            StoreError::Corrupt { path, .. } => Some(format!(
                "move {0}, {0}-wal and {0}-shm aside; a new database is created, or restore the newest \
                 {0}.before-* copy",
                path.display()
            )),
            StoreError::NewerSchema { .. } => {
                Some("update this program, or set TAMIS_DATA_DIR to another folder".into())
            }
            StoreError::Locked { .. } => Some("end the process that holds it, then try again".into()),
            StoreError::NotWritable { .. } | StoreError::Io { .. } => Some(
                "check the owner and permissions of the folder, or set TAMIS_DATA_DIR to another one".into(),
            ),
            StoreError::Full { .. } => {
                Some("free some space, or set TAMIS_DATA_DIR to another folder".into())
            }
            StoreError::Untrusted { path, why } => Some(match why {
                Distrust::Owner { .. } => "set TAMIS_DATA_DIR to a folder that you own".into(),
                Distrust::Writable { .. } => format!(
                    "check that no other user has put files into it, then run `chmod go-w '{}'`, or set TAMIS_DATA_DIR to \
                     another folder",
                    path.display()
                ),
                Distrust::Link => format!(
                    "remove `{}`, or set TAMIS_DATA_DIR to the folder where the data should be",
                    path.display()
                ),
            }),
            StoreError::Sql { .. } | StoreError::Panicked { .. } => None,
        }
    }

    /// The error, its causes and its hint on one line, for places that hold one string.
    pub fn describe(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        if let Some(hint) = self.hint() {
            text.push_str(" (hint: ");
            text.push_str(&hint);
            text.push(')');
        }
        text
    }
}
