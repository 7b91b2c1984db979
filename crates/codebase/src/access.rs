//! Why something below the roots, or a root itself, is not to be had.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

/// Why a folder cannot be a root.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("{} is no folder that can be read: {cause}", .path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("{} belongs to the system or is too wide, and cannot be a root", .path.display())]
    System { path: PathBuf },
    /// Of what lies outside nothing is told, not even whether it exists.
    #[error("{} is no folder in the roots", .path.display())]
    Outside { path: PathBuf },
    #[error("{} may not be read: it is where secrets are kept", .path.display())]
    Denied { path: PathBuf },
}

/// Why a file or folder below a root was not read.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error("{path:?} lies outside of the roots, or behind a link")]
    Outside { path: String },
    #[error("{path:?} may not be read: secrets are kept there")]
    Denied { path: String },
    #[error("{path:?} is no file")]
    NotAFile { path: String },
    #[error("{path:?} is no folder")]
    NotAFolder { path: String },
    #[error("{path:?} has {bytes} bytes, which is more than the {limit} that may be read")]
    TooLarge { path: String, bytes: u64, limit: u64 },
    #[error("{path:?} is not text")]
    Binary { path: String },
    #[error("{path:?} cannot be read: {cause}")]
    System { path: String, cause: io::Error },
}

/// Why a file did not open.
pub(crate) fn refused(path: &str, cause: Errno) -> AccessError {
    let path = path.to_owned();
    match cause {
        Errno::LOOP | Errno::XDEV | Errno::NOTDIR => AccessError::Outside { path },
        // A socket, or a FIFO without its other end.
        Errno::NXIO | Errno::NODEV => AccessError::NotAFile { path },
        _ => AccessError::System { path, cause: cause.into() },
    }
}

/// Why a folder did not open.
pub(crate) fn refused_folder(path: &str, cause: Errno) -> AccessError {
    match cause {
        // A link is none either.
        Errno::NOTDIR => AccessError::NotAFolder { path: path.to_owned() },
        _ => refused(path, cause),
    }
}
