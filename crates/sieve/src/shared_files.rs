//! Files that several processes share: written whole, judged by what they are, and removed only while they are that.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use tamis_store::{create_private_dir, private_file};

pub(crate) const TEMPORARY: &str = "tmp";

/// Which file it is, and in which state. A file that was replaced, or renewed, is another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    #[cfg(unix)]
    inode: (u64, u64),
    pub(crate) modified: SystemTime,
    bytes: u64,
}

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> io::Result<Identity> {
        Ok(Identity {
            #[cfg(unix)]
            inode: inode(metadata),
            modified: metadata.modified()?,
            bytes: metadata.len(),
        })
    }
}

/// Opens a plain file. A pipe of that name would block forever.
pub(crate) fn open_plain(path: &Path, options: &OpenOptions) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a plain file"));
    }
    options.open(path)
}

/// Takes part in the lock that [`remove`] needs for itself. False: someone is removing the file.
///
/// Not waited for in the kernel: whoever holds it may be stopped, and a prune must come to an end.
pub(crate) fn hold(file: &File) -> bool {
    !matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock))
}

/// What became of a file that was to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    Removed,
    /// By someone else, before.
    Gone,
    /// Being looked at, replaced or renewed: not a file to remove now.
    InUse,
}

/// Removes the file if it is still the one that was judged, while its lock keeps others from renewing it.
pub(crate) fn remove(path: &Path, judged: &Identity) -> io::Result<Removal> {
    while_still(path, judged, File::options().read(true), |_| fs::remove_file(path))
}

/// Gives the file another time if it is still the one that was judged.
pub(crate) fn set_time(path: &Path, judged: &Identity, time: SystemTime) -> io::Result<()> {
    while_still(path, judged, File::options().write(true), |file| file.set_modified(time)).map(drop)
}

fn while_still(
    path: &Path,
    judged: &Identity,
    access: &OpenOptions,
    act: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<Removal> {
    let attempt = || {
        let file = open_plain(path, access)?;
        if let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
            return Ok(Removal::InUse);
        }
        if !same_file(&file, path) || Identity::of(&file.metadata()?)? != *judged {
            return Ok(Removal::InUse);
        }
        act(&file).map(|()| Removal::Removed)
    };
    match attempt() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Removal::Gone),
        outcome => outcome,
    }
}

/// Puts `content` at `path` as a whole, with that time, unless something is there already.
pub(crate) fn publish(path: &Path, content: &[u8], time: SystemTime) -> io::Result<bool> {
    let (temporary, mut file) = temporary_beside(path)?;
    let published = file.write_all(content).and_then(|()| file.set_modified(time)).and_then(|()| {
        drop(file);
        name_for_good(&temporary, path)
    });
    if !matches!(published, Ok(Named::Moved)) {
        let _ = fs::remove_file(&temporary);
    }
    Ok(!matches!(published?, Named::Taken))
}

fn temporary_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let process = std::process::id();
    let folder = path.parent().unwrap_or(Path::new(""));
    loop {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        // Process numbers repeat across containers that share a folder, hence the time.
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
enum Named {
    /// The temporary name is gone.
    Moved,
    /// Both names are there.
    Linked,
    /// The name was taken.
    Taken,
}

/// A link, since a rename would replace a file that someone else has just written and counts on. A file system
/// without links gets the rename: the content would be the same.
fn name_for_good(temporary: &Path, path: &Path) -> io::Result<Named> {
    match fs::hard_link(temporary, path) {
        Ok(()) => Ok(Named::Linked),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Named::Taken),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
        Err(_) => fs::rename(temporary, path).map(|()| Named::Moved),
    }
}

/// What the file takes of the disk, in bytes.
pub(crate) fn occupied(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    let blocks = std::os::unix::fs::MetadataExt::blocks(metadata).saturating_mul(512);
    #[cfg(not(unix))]
    let blocks = 0;
    // Some file systems keep small files in no block at all.
    blocks.max(metadata.len())
}

/// When somebody last wrote or renewed the file, whatever its own time says. `None` where systems do not tell.
#[cfg(unix)]
pub(crate) fn changed(metadata: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    use std::time::Duration;
    let seconds = Duration::from_secs(u64::try_from(metadata.ctime()).ok()?);
    let nanoseconds = Duration::from_nanos(u64::try_from(metadata.ctime_nsec()).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(seconds + nanoseconds)
}

#[cfg(not(unix))]
pub(crate) fn changed(_metadata: &Metadata) -> Option<SystemTime> {
    None
}

/// Whether `path` still names the open file.
#[cfg(unix)]
pub(crate) fn same_file(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => inode(&open) == inode(&named),
        _ => false,
    }
}

#[cfg(not(unix))]
pub(crate) fn same_file(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_links_a_file_is_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        // No file system links folders, and all rename them.
        fs::create_dir(&from).unwrap();
        assert_eq!(name_for_good(&from, &to).unwrap(), Named::Moved);
        assert!(to.is_dir() && !from.exists());
        fs::write(&from, "file").unwrap();
        assert_eq!(name_for_good(&from, &to).unwrap(), Named::Taken);
        assert_eq!(name_for_good(&from, &folder.path().join("other")).unwrap(), Named::Linked);
        let nowhere = folder.path().join("gone/to");
        assert_eq!(name_for_good(&from, &nowhere).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn only_the_file_that_was_judged_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let judge = || Identity::of(&fs::metadata(&path).unwrap()).unwrap();
        fs::write(&path, "damaged").unwrap();
        let damaged = judge();
        // Replaced by another process, after it was judged.
        fs::remove_file(&path).unwrap();
        assert!(publish(&path, b"good", SystemTime::now()).unwrap());
        assert_eq!(remove(&path, &damaged).unwrap(), Removal::InUse);
        assert_eq!(fs::read(&path).unwrap(), b"good");
        let held = File::open(&path).unwrap();
        assert!(hold(&held));
        assert_eq!(remove(&path, &judge()).unwrap(), Removal::InUse);
        drop(held);
        assert_eq!(remove(&path, &judge()).unwrap(), Removal::Removed);
        assert_eq!(remove(&path, &damaged).unwrap(), Removal::Gone);
    }
}
