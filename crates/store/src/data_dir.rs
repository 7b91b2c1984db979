//! The paths in the data folder, and how its private files are created.

use std::fs::{self, DirBuilder, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::{Distrust, StoreError};

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

    /// The folder of what was written to clients' configuration files, with copies of them.
    pub fn setup(&self) -> PathBuf {
        self.root.join("setup")
    }

    /// The file of the HTTP doors' token.
    pub fn token(&self) -> PathBuf {
        self.root.join("token")
    }

    /// The lock that a clean-up holds.
    pub fn clean_up_lock(&self) -> PathBuf {
        self.root.join("clean-up.lock")
    }

    /// Checks, if the folder exists, that no other user can have written what is in it, and makes it readable for its owner
    /// only. To be called at every start: the folder may be in a place where others could create it first, with a token that
    /// they know.
    pub fn secure(&self) -> Result<(), StoreError> {
        // The folder itself may be a link that its owner made, to another disk for example. What is missing or cannot be read
        // is reported where it is used.
        let Ok(link) = fs::symlink_metadata(&self.root) else { return Ok(()) };
        check_owner(&self.root, &link)?;
        let (Ok(folder), Ok(entries)) = (fs::metadata(&self.root), fs::read_dir(&self.root)) else {
            return Ok(());
        };
        check_owner(&self.root, &folder)?;
        check_mode(&self.root, &folder)?;
        for entry in entries.flatten() {
            let path = entry.path();
            // Other processes remove files meanwhile.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            if metadata.is_symlink() {
                return Err(StoreError::Untrusted { path, why: Distrust::Link });
            }
            check_owner(&path, &metadata)?;
            check_mode(&path, &metadata)?;
        }
        if folder.mode() & 0o077 != 0 {
            let private = fs::Permissions::from_mode(folder.mode() & 0o7700);
            fs::set_permissions(&self.root, private)
                .map_err(|source| StoreError::Io { path: self.root.clone(), source })?;
        }
        Ok(())
    }

    /// Creates the folder if it is missing. An existing one keeps its permissions.
    pub fn create(&self) -> io::Result<()> {
        create_private_dir(&self.root)
    }
}

fn check_owner(path: &Path, found: &Metadata) -> Result<(), StoreError> {
    let (user, owner) = (rustix::process::geteuid().as_raw(), found.uid());
    // A link of the system's administrator leads where they want it to.
    if owner == user || (found.is_symlink() && owner == 0) {
        return Ok(());
    }
    Err(StoreError::Untrusted { path: path.to_owned(), why: Distrust::Owner { owner, user } })
}

fn check_mode(path: &Path, found: &Metadata) -> Result<(), StoreError> {
    let mode = found.mode() & 0o7777;
    if mode & 0o022 == 0 {
        return Ok(());
    }
    Err(StoreError::Untrusted { path: path.to_owned(), why: Distrust::Writable { mode } })
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn fixture() -> (tempfile::TempDir, DataDir) {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = DataDir::at(folder.path().join("data"));
        data_dir.create().unwrap();
        fs::write(data_dir.token(), "the token of an earlier start").unwrap();
        chmod(&data_dir.token(), 0o600);
        create_private_dir(&data_dir.recovery()).unwrap();
        (folder, data_dir)
    }

    fn distrust(data_dir: &DataDir) -> Option<(PathBuf, Distrust)> {
        match data_dir.secure() {
            Ok(()) => None,
            Err(StoreError::Untrusted { path, why }) => Some((path, why)),
            Err(error) => panic!("{error:?}"),
        }
    }

    #[test]
    fn a_missing_folder_and_a_private_one_are_trusted() {
        let (folder, data_dir) = fixture();
        assert_eq!(distrust(&data_dir), None);
        assert_eq!(distrust(&DataDir::at(folder.path().join("missing"))), None);
        let linked = folder.path().join("linked");
        symlink(data_dir.root(), &linked).unwrap();
        assert_eq!(distrust(&DataDir::at(linked)), None);
    }

    #[test]
    fn a_folder_that_others_can_read_is_made_private() {
        for mode in [0o755, 0o750, 0o701, 0o711, 0o740] {
            let (_folder, data_dir) = fixture();
            chmod(data_dir.root(), mode);
            assert_eq!(distrust(&data_dir), None, "{mode:o}");
            assert_eq!(fs::metadata(data_dir.root()).unwrap().mode() & 0o7777, 0o700, "{mode:o}");
        }
    }

    #[test]
    fn what_others_can_write_is_refused_and_left_as_it_is() {
        for mode in [0o777, 0o775, 0o722, 0o1777, 0o702, 0o720] {
            let (_folder, data_dir) = fixture();
            for (path, is_folder) in
                [(data_dir.root().to_owned(), true), (data_dir.recovery(), true), (data_dir.token(), false)]
            {
                chmod(&path, mode);
                assert_eq!(distrust(&data_dir), Some((path.clone(), Distrust::Writable { mode })));
                assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode);
                chmod(&path, if is_folder { 0o700 } else { 0o600 });
            }
        }
    }

    #[test]
    fn links_in_the_folder_are_refused_wherever_they_lead() {
        for name in ["recovery", "token", "state.db", "agents", "artifacts", "anything"] {
            for target in ["elsewhere", "/nowhere", "."] {
                let (folder, data_dir) = fixture();
                fs::create_dir(folder.path().join("elsewhere")).unwrap();
                let at = data_dir.root().join(name);
                let _ = fs::remove_dir(&at).or_else(|_| fs::remove_file(&at));
                symlink(folder.path().join(target), &at).unwrap();
                assert_eq!(distrust(&data_dir), Some((at, Distrust::Link)), "{name} to {target}");
            }
        }
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        use std::os::unix::fs::{chown, lchown};
        if !rustix::process::geteuid().is_root() {
            // Only root can give files away.
            return;
        }
        let owner = 12_345;
        let why = Distrust::Owner { owner, user: 0 };
        for name in ["", "recovery", "token"] {
            let (_folder, data_dir) = fixture();
            let path = if name.is_empty() { data_dir.root().to_owned() } else { data_dir.root().join(name) };
            chown(&path, Some(owner), None).unwrap();
            assert_eq!(distrust(&data_dir), Some((path, why)));
        }
        // A link that another user made could lead to another folder tomorrow.
        let (folder, data_dir) = fixture();
        let linked = folder.path().join("linked");
        symlink(data_dir.root(), &linked).unwrap();
        lchown(&linked, Some(owner), None).unwrap();
        assert_eq!(distrust(&DataDir::at(&linked)), Some((linked, why)));
    }
}
