//! The paths in the data folder, and how its private files are created.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The data folder. Nothing is created before the first write; then only its owner can read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    root: PathBuf,
}

impl DataDir {
    pub fn at(path: impl Into<PathBuf>) -> DataDir {
        DataDir { root: path.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The database of what must be kept: ledger, instances, events, settings.
    pub fn state_db(&self) -> PathBuf {
        self.root.join("state.db")
    }

    /// The folder of originals, one file each.
    pub fn recovery(&self) -> PathBuf {
        self.root.join("recovery")
    }

    /// The folder of memos and handoffs, one file each.
    pub fn artifacts(&self) -> PathBuf {
        self.root.join("artifacts")
    }

    /// The folder of indexes of codebases, which may be deleted.
    pub fn research(&self) -> PathBuf {
        self.root.join("research")
    }

    /// The folder of agents' worktrees, identities and logs.
    pub fn agents(&self) -> PathBuf {
        self.root.join("agents")
    }

    /// The file of the HTTP doors' token.
    pub fn token(&self) -> PathBuf {
        self.root.join("token")
    }

    /// The lock that a clean-up holds.
    pub fn clean_up_lock(&self) -> PathBuf {
        self.root.join("clean-up.lock")
    }

    /// Creates the folder if it is missing. An existing one keeps its permissions.
    pub fn create(&self) -> io::Result<()> {
        create_private_dir(&self.root)
    }
}

/// Creates `path` and its missing parents with mode 0700.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    builder.mode(0o700);
    builder.create(path)
}

/// Options that create files with mode 0600.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}
