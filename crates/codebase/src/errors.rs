//! Why a root, or a file below one, cannot be read.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

/// Why a folder cannot be a root.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("cannot read folder `{}`: {cause}", .path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("`{}` cannot be a root: it is a system folder or too broad", .path.display())]
    System { path: PathBuf },
    /// Nothing is disclosed about what is outside, not even whether it exists.
    #[error("`{}` is not a folder within the roots", .path.display())]
    Outside { path: PathBuf },
    #[error("`{}` may not be read: it may contain secrets", .path.display())]
    Denied { path: PathBuf },
}

/// Why a file or folder below a root was not read.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error("{path:?} is outside the roots, or behind a link")]
    Outside { path: String },
    #[error("{path:?} may not be read: it may contain secrets")]
    Denied { path: String },
    #[error("{path:?} is not a file")]
    NotAFile { path: String },
    #[error("{path:?} is not a folder")]
    NotAFolder { path: String },
    #[error("{path:?} has {bytes} bytes, over the limit of {limit}")]
    TooLarge { path: String, bytes: u64, limit: u64 },
    #[error("{path:?} is not text")]
    Binary { path: String },
    #[error("cannot read {path:?}: {cause}")]
    System { path: String, cause: io::Error },
}

/// The error for a file that did not open.
pub(crate) fn open_error(path: &str, cause: Errno) -> AccessError {
    let path = path.to_owned();
    match cause {
        Errno::LOOP | Errno::XDEV | Errno::NOTDIR => AccessError::Outside { path },
        // A socket, or a FIFO that no process writes to.
        Errno::NXIO | Errno::NODEV => AccessError::NotAFile { path },
        _ => AccessError::System { path, cause: cause.into() },
    }
}

/// The error for a folder that did not open.
pub(crate) fn open_folder_error(path: &str, cause: Errno) -> AccessError {
    match cause {
        // So is a link.
        Errno::NOTDIR => AccessError::NotAFolder { path: path.to_owned() },
        _ => open_error(path, cause),
    }
}
