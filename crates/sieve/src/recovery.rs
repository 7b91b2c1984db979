//! The originals: one compressed file each, named by its content, so that whatever was cut can be had back.
//!
//! Files are written under a temporary name and then given their own, which either happens or does not: a process
//! killed at any moment leaves no broken file. There is no fsync: it would cost more than all the rest of a prune,
//! and what a power cut may leave (an empty or torn file) is found by the content check, both on reading and before
//! an existing file is trusted to hold a text that is about to be cut.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tamis_store::{create_private_dir, private_file};

use crate::ids::{PruneId, TextId};

/// Nothing larger is stored, and nothing larger is unpacked: a crafted file cannot eat the memory.
pub(crate) const MAX_ORIGINAL_BYTES: usize = 256 << 20;
/// Level 1 packs at several hundred MB/s; higher levels gain little on source code and logs.
const LEVEL: i32 = 1;
/// A goal is a sentence or two. What is longer is cut off here; the ids know the whole of it.
const MAX_GOAL_BYTES: usize = 64 << 10;
/// How often storing starts over when clean-up, or another writer, gets in between.
const ATTEMPTS: usize = 20;

pub(crate) const ORIGINAL: &str = "zst";
pub(crate) const GOAL: &str = "goal";
pub(crate) const TEMPORARY: &str = "tmp";

/// The folder of originals.
pub(crate) struct Recovery {
    pub(crate) folder: PathBuf,
    pub(crate) ttl: Duration,
    pub(crate) max_bytes: u64,
}

/// Why an original could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecoveryError {
    #[error("it is not there, or no longer")]
    NotFound,
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("its file is damaged")]
    Damaged,
    #[error("it is too large: {0} bytes")]
    TooLarge(usize),
    #[error("its file is busy")]
    Busy,
    #[error("another text has the same id")]
    Collision,
}

impl Recovery {
    pub(crate) fn path(&self, id: &TextId) -> PathBuf {
        self.folder.join(format!("{}.{ORIGINAL}", id.as_str()))
    }

    pub(crate) fn goal_path(&self, id: &PruneId) -> PathBuf {
        self.folder.join(format!("{}.{GOAL}", id.stem()))
    }

    /// Makes sure that the original can be recovered from now on until its time is over.
    pub(crate) fn store(&self, id: &PruneId, text: &str, goal: &str) -> Result<(), RecoveryError> {
        if text.len() > MAX_ORIGINAL_BYTES {
            return Err(RecoveryError::TooLarge(text.len()));
        }
        self.store_original(&id.text, text)?;
        // After the original, so that clean-up never takes it for a goal without one. Losing it harms nothing.
        if let Err(error) = self.store_goal(id, goal) {
            tracing::debug!(%error, "the goal of a prune was not kept");
        }
        Ok(())
    }

    fn store_original(&self, id: &TextId, text: &str) -> Result<(), RecoveryError> {
        let path = self.path(id);
        let mut packed = None;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(Duration::from_millis(attempt as u64));
            }
            match self.refresh(&path, id, text) {
                Ok(Refreshed::Done) => return Ok(()),
                Ok(Refreshed::Again) => continue,
                Ok(Refreshed::Missing) => {}
                Err(error) => return Err(error),
            }
            let packed = match &packed {
                Some(packed) => packed,
                None => packed.insert(zstd::bulk::compress(text.as_bytes(), LEVEL)?),
            };
            if packed.len() as u64 > self.max_bytes {
                return Err(RecoveryError::TooLarge(packed.len()));
            }
            // Someone else's file of that name is looked at in the next round, like one that was there before.
            match self.publish(&path, packed) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                // The folder, or all that is in it, was removed just now.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(RecoveryError::Busy)
    }

    /// Gives an existing file of this text a new life, after a look at its content.
    ///
    /// Clean-up holds a file's lock while it checks the age and removes it, and this holds it while the age changes,
    /// so a file that was refreshed cannot be removed for its old age.
    fn refresh(&self, path: &Path, id: &TextId, text: &str) -> Result<Refreshed, RecoveryError> {
        let file = match open_regular(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Refreshed::Missing),
            Err(error) => return Err(error.into()),
        };
        // Not waited for in the kernel: whoever holds it may be stopped, and a prune must come to an end.
        if let Err(fs::TryLockError::WouldBlock) = file.try_lock_shared() {
            return Ok(Refreshed::Again);
        }
        match unpack(&file) {
            Ok(stored) if stored == text.as_bytes() => {
                file.set_modified(SystemTime::now())?;
                Ok(if same_file(&file, path) { Refreshed::Done } else { Refreshed::Again })
            }
            Ok(stored) if TextId::of(&stored) == *id => Err(RecoveryError::Collision),
            Ok(_) | Err(_) => {
                // Of no use to anyone under this name; the true text takes its place.
                tracing::warn!(file = %path.display(), "replacing a damaged original");
                drop(file);
                remove_if(path, |_, _| true)?;
                Ok(Refreshed::Again)
            }
        }
    }

    fn store_goal(&self, id: &PruneId, goal: &str) -> io::Result<()> {
        let path = self.goal_path(id);
        if !path.exists() {
            let end = goal.floor_char_boundary(MAX_GOAL_BYTES);
            self.publish(&path, &goal.as_bytes()[..end])?;
        }
        Ok(())
    }

    /// Puts `content` at `path` as a whole, unless something is there already.
    fn publish(&self, path: &Path, content: &[u8]) -> io::Result<bool> {
        let (temporary, mut file) = self.temporary()?;
        let published = file.write_all(content).and_then(|()| {
            drop(file);
            name_for_good(&temporary, path)
        });
        if !matches!(published, Ok(Named::Moved)) {
            let _ = fs::remove_file(&temporary);
        }
        Ok(!matches!(published?, Named::Taken))
    }

    fn temporary(&self) -> io::Result<(PathBuf, File)> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        loop {
            let count = COUNTER.fetch_add(1, Ordering::Relaxed);
            // Process numbers repeat across containers that share a folder, hence the time.
            let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
            let path = self.folder.join(format!("{process}-{count}-{time}.{TEMPORARY}"));
            match private_file().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((path, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    create_private_dir(&self.folder)?;
                    return Ok((path.clone(), private_file().write(true).create_new(true).open(&path)?));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The original, checked against its name.
    pub(crate) fn read(&self, id: &TextId, now: SystemTime) -> Result<String, RecoveryError> {
        let file = match open_regular(&self.path(id)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(RecoveryError::NotFound),
            Err(error) => return Err(error.into()),
        };
        if is_older(file.metadata()?.modified()?, self.ttl, now) {
            return Err(RecoveryError::NotFound);
        }
        let bytes = unpack(&file)?;
        if TextId::of(&bytes) != *id {
            return Err(RecoveryError::Damaged);
        }
        String::from_utf8(bytes).map_err(|_| RecoveryError::Damaged)
    }

    /// What a prune was for, while its original lives.
    pub(crate) fn goal(&self, id: &PruneId, now: SystemTime) -> Option<String> {
        let original = fs::metadata(self.path(&id.text)).ok()?;
        if is_older(original.modified().ok()?, self.ttl, now) {
            return None;
        }
        let mut goal = String::new();
        open_regular(&self.goal_path(id)).ok()?.take(MAX_GOAL_BYTES as u64).read_to_string(&mut goal).ok()?;
        Some(goal)
    }
}

enum Refreshed {
    Done,
    Missing,
    /// The file is being removed or replaced; look again.
    Again,
}

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

/// Opens a plain file. A pipe of that name would block forever.
fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a plain file"));
    }
    File::open(path)
}

fn unpack(file: &File) -> Result<Vec<u8>, RecoveryError> {
    let limit = MAX_ORIGINAL_BYTES as u64;
    let mut bytes = Vec::new();
    let decoder = zstd::Decoder::new(file.take(limit))?;
    decoder.take(limit + 1).read_to_end(&mut bytes).map_err(|_| RecoveryError::Damaged)?;
    if bytes.len() > MAX_ORIGINAL_BYTES {
        return Err(RecoveryError::TooLarge(bytes.len()));
    }
    Ok(bytes)
}

/// Removes the file if `condition` (of its age and size) still holds while its lock is held. Gives its size.
pub(crate) fn remove_if(
    path: &Path,
    condition: impl FnOnce(SystemTime, u64) -> bool,
) -> io::Result<Option<u64>> {
    let gone = |error: io::Error| if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) };
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) => return gone(error),
    };
    // In use: not a file to remove now.
    if let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
        return Ok(None);
    }
    let metadata = file.metadata()?;
    if !same_file(&file, path) || !condition(metadata.modified()?, metadata.len()) {
        return Ok(None);
    }
    fs::remove_file(path).map_or_else(gone, |()| Ok(Some(metadata.len())))
}

/// Whether `path` still names the open file.
#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn same_file(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// Whether something of that time is older than `age`. A time to come is not old.
pub(crate) fn is_older(time: SystemTime, age: Duration, now: SystemTime) -> bool {
    now.duration_since(time).is_ok_and(|found| found > age)
}
