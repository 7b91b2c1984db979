//! Why a git operation failed: a kind for programs, a message and hints for people.

use std::path::Path;

/// What went wrong, as far as a caller decides by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitErrorKind {
    Failed,
    /// Another git holds a lock, or left one behind.
    Locked,
    TimedOut,
    /// It wrote more than is kept.
    TooMuchOutput,
    /// A file could not be read or written: a full disk, for example.
    File,
    /// A name or path that git cannot be given.
    Invalid,
    /// The worktree is in the middle of a merge, a rebase or the like, or on another branch.
    Busy,
    UncommittedChanges,
    /// A branch or worktree that must not be removed.
    Kept,
}

/// A failure. Its texts may quote what git wrote, and never a credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GitError {
    pub kind: GitErrorKind,
    pub message: String,
    /// What can be done about it, each a sentence or a command.
    pub hints: Vec<String>,
}

pub(crate) type Result<T, E = GitError> = std::result::Result<T, E>;

impl GitError {
    pub(crate) fn new(kind: GitErrorKind, message: impl Into<String>) -> GitError {
        GitError { kind, message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> GitError {
        self.hints.push(hint.into());
        self
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(doing: &str, path: &Path, error: &std::io::Error) -> GitError {
        let failed = GitError::new(GitErrorKind::File, format!("cannot {doing} {}: {error}", path.display()));
        if error.kind() == std::io::ErrorKind::StorageFull {
            return failed.hint("free up disk space and try again; nothing was changed");
        }
        failed
    }
}
