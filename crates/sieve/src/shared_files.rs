//! Files that several processes share: written atomically, and removed only if they have not changed since they were read.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tamis_store::{create_private_dir, private_file};

pub(crate) const TEMPORARY: &str = "tmp";

/// Identifies one version of a file. A file that was replaced or whose time was changed is another version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    inode: (u64, u64),
    pub(crate) modified: SystemTime,
    bytes: u64,
}

impl FileVersion {
    pub(crate) fn of(metadata: &Metadata) -> io::Result<FileVersion> {
        Ok(FileVersion { inode: inode(metadata), modified: metadata.modified()?, bytes: metadata.len() })
    }
}

/// Opens a regular file. Opening a pipe of that name would block forever.
pub(crate) fn open_plain(path: &Path, options: &OpenOptions) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    options.open(path)
}

/// Takes the shared lock that excludes [`remove`]. False: another process is removing the file.
///
/// Never waits for the lock: its holder may be stopped, and a prune must end.
pub(crate) fn try_hold(file: &File) -> bool {
    !matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock))
}

/// The result of removing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    Removed,
    /// Another process removed it before.
    Gone,
    /// Locked, replaced or refreshed meanwhile, so it was not removed.
    InUse,
}

/// Removes the file if it is still that version, under a lock that excludes refreshing it.
pub(crate) fn remove(path: &Path, version: &FileVersion) -> io::Result<Removal> {
    if_unchanged(path, version, File::options().read(true), |_| fs::remove_file(path))
}

/// Changes the time of the file if it is still that version.
pub(crate) fn set_time(path: &Path, version: &FileVersion, time: SystemTime) -> io::Result<()> {
    if_unchanged(path, version, File::options().write(true), |file| file.set_modified(time)).map(drop)
}

fn if_unchanged(
    path: &Path,
    version: &FileVersion,
    access: &OpenOptions,
    act: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<Removal> {
    let attempt = || {
        let file = open_plain(path, access)?;
        if let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
            return Ok(Removal::InUse);
        }
        if !same_file(&file, path) || FileVersion::of(&file.metadata()?)? != *version {
            return Ok(Removal::InUse);
        }
        act(&file).map(|()| Removal::Removed)
    };
    match attempt() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Removal::Gone),
        outcome => outcome,
    }
}

/// Writes a file atomically, with that time, unless there is one already. Returns whether it was written.
pub(crate) fn publish(path: &Path, content: &[u8], time: SystemTime) -> io::Result<bool> {
    let (temporary, mut file) = temporary_beside(path)?;
    let published = file.write_all(content).and_then(|()| file.set_modified(time)).and_then(|()| {
        drop(file);
        link_into_place(&temporary, path)
    });
    if !matches!(published, Ok(Placement::Moved)) {
        let _ = fs::remove_file(&temporary);
    }
    Ok(!matches!(published?, Placement::Taken))
}

pub(crate) fn temporary_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let process = std::process::id();
    let folder = path.parent().unwrap_or(Path::new(""));
    loop {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        // Process ids repeat across containers that share a folder, so the time is part of the name.
        let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        let temporary = folder.join(format!("{process}-{count}-{time}.{TEMPORARY}"));
        let create = || private_file().write(true).create_new(true).open(&temporary);
        match create() {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_private_dir(folder)?;
                let file = create()?;
                return Ok((temporary, file));
            }
            Err(error) => return Err(error),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// The temporary file was renamed.
    Moved,
    /// The temporary file still exists beside the link.
    Linked,
    /// Another file has the name.
    Taken,
}

/// Links the temporary file into place: a rename would replace a file that another process has just written and relies on.
/// On a file system without links it renames, since the content would be the same.
pub(crate) fn link_into_place(temporary: &Path, path: &Path) -> io::Result<Placement> {
    match fs::hard_link(temporary, path) {
        Ok(()) => Ok(Placement::Linked),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Placement::Taken),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
        Err(_) => fs::rename(temporary, path).map(|()| Placement::Moved),
    }
}

/// The disk space of the file, in bytes.
pub(crate) fn occupied(metadata: &Metadata) -> u64 {
    // Some file systems store small files without a block.
    metadata.blocks().saturating_mul(512).max(metadata.len())
}

/// When the file was last written or refreshed, whatever its modification time says. `None` if the system does not know.
pub(crate) fn changed(metadata: &Metadata) -> Option<SystemTime> {
    let seconds = Duration::from_secs(u64::try_from(metadata.ctime()).ok()?);
    let nanoseconds = Duration::from_nanos(u64::try_from(metadata.ctime_nsec()).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(seconds + nanoseconds)
}

/// Whether `path` still names the open file.
pub(crate) fn same_file(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => inode(&open) == inode(&named),
        _ => false,
    }
}

fn inode(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_links_a_file_is_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        // Folders cannot be linked, but can be renamed.
        fs::create_dir(&from).unwrap();
        assert_eq!(link_into_place(&from, &to).unwrap(), Placement::Moved);
        assert!(to.is_dir() && !from.exists());
        fs::write(&from, "file").unwrap();
        assert_eq!(link_into_place(&from, &to).unwrap(), Placement::Taken);
        assert_eq!(link_into_place(&from, &folder.path().join("other")).unwrap(), Placement::Linked);
        let nowhere = folder.path().join("gone/to");
        assert_eq!(link_into_place(&from, &nowhere).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn only_the_expected_version_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let judge = || FileVersion::of(&fs::metadata(&path).unwrap()).unwrap();
        fs::write(&path, "damaged").unwrap();
        let damaged = judge();
        // Replaced by another process meanwhile.
        fs::remove_file(&path).unwrap();
        assert!(publish(&path, b"good", SystemTime::now()).unwrap());
        assert_eq!(remove(&path, &damaged).unwrap(), Removal::InUse);
        assert_eq!(fs::read(&path).unwrap(), b"good");
        let held = File::open(&path).unwrap();
        assert!(try_hold(&held));
        assert_eq!(remove(&path, &judge()).unwrap(), Removal::InUse);
        drop(held);
        assert_eq!(remove(&path, &judge()).unwrap(), Removal::Removed);
        assert_eq!(remove(&path, &damaged).unwrap(), Removal::Gone);
    }
}
