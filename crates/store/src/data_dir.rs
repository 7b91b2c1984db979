//! Where things lie in the data folder, and how its private files are made.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The data folder. Naming it touches nothing: whoever writes first creates it, readable by its owner alone.
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

    /// The database of all that should last: ledger, instances, events, settings.
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

    /// The file of the token that the HTTP doors ask for.
    pub fn token(&self) -> PathBuf {
        self.root.join("token")
    }

    /// The lock that whoever cleans up holds.
    pub fn clean_up_lock(&self) -> PathBuf {
        self.root.join("clean-up.lock")
    }

    /// Makes the folder when it is missing. One that exists keeps the permissions its owner gave it.
    pub fn create(&self) -> io::Result<()> {
        create_private_dir(&self.root)
    }
}

/// Makes `path` and its missing parents, 0700 where modes exist.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Options that give a file, when they create one, the mode 0600.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
