//! The originals: one compressed file each, named by its content, so that whatever was cut can be had back.
//!
//! A file's time is the promise it carries: until then it can be recovered, whatever another process with another
//! configuration would promise; pruning its text again only ever extends it.
//!
//! Files are written under a temporary name and then given their own, which either happens or does not: a process
//! killed at any moment leaves no broken file. There is no fsync: it would cost more than all the rest of a prune,
//! and what a power cut may leave (an empty or torn file) is found by the content check, both on reading and before
//! an existing file is trusted to hold a text that is about to be cut. For the same reason an error that a file
//! system tells only when a file is closed (NFS, over quota) is not seen before the cut.

pub(crate) mod eviction;

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tamis_store::private_file;

use crate::ids::{PruneId, TextId};
use crate::shared_files::{Identity, hold, open_plain, publish, remove, same_file};

/// Nothing larger is stored, and nothing larger is unpacked: a crafted file cannot eat the memory.
pub(crate) const MAX_ORIGINAL_BYTES: usize = 256 << 20;
/// Level 1 packs at several hundred MB/s; higher levels gain little on source code and logs.
const LEVEL: i32 = 1;
/// A goal is a sentence or two. What is longer is cut off here; the ids know the whole of it.
const MAX_GOAL_BYTES: usize = 64 << 10;
/// How often storing starts over when clean-up, or another writer, gets in between.
const ATTEMPTS: usize = 20;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Promises further away than file systems can tell are not made.
const LONGEST_TTL: Duration = DAY.saturating_mul(36_500);
/// No other configuration is taken to promise so much longer than ours: then a clock was wrong.
const FAR: Duration = DAY.saturating_mul(400);

pub(crate) const ORIGINAL: &str = "zst";
pub(crate) const GOAL: &str = "goal";

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
    pub(crate) fn new(folder: PathBuf, ttl: Duration, max_bytes: u64) -> Recovery {
        Recovery { folder, ttl: ttl.min(LONGEST_TTL), max_bytes }
    }

    pub(crate) fn path(&self, id: &TextId) -> PathBuf {
        self.folder.join(format!("{}.{ORIGINAL}", id.as_str()))
    }

    fn goal_path(&self, id: &PruneId) -> PathBuf {
        self.folder.join(format!("{}.{GOAL}", id.stem()))
    }

    /// Until when what is stored now can be recovered.
    pub(crate) fn promise(&self, now: SystemTime) -> SystemTime {
        now + self.ttl
    }

    /// Whether an expiry is further away than anyone can have promised.
    pub(crate) fn is_absurd(&self, expiry: SystemTime, now: SystemTime) -> bool {
        expiry > self.promise(now) + FAR
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
            match self.refresh(&path, id, text)? {
                Refreshed::Done => return Ok(()),
                Refreshed::Again => continue,
                Refreshed::Missing => {}
            }
            let packed = match &packed {
                Some(packed) => packed,
                None => packed.insert(zstd::bulk::compress(text.as_bytes(), LEVEL)?),
            };
            if packed.len() as u64 > self.max_bytes {
                return Err(RecoveryError::TooLarge(packed.len()));
            }
            // Someone else's file of that name is looked at in the next round, like one that was there before.
            match publish(&path, packed, self.promise(SystemTime::now())) {
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
    /// Clean-up holds a file's lock while it checks the time and removes it, and this holds it while the time
    /// changes, so a file that was refreshed cannot be removed for its old time.
    fn refresh(&self, path: &Path, id: &TextId, text: &str) -> Result<Refreshed, RecoveryError> {
        // For writing, since some systems set no time on a file that was opened for reading.
        let file = match open_plain(path, File::options().read(true).write(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Refreshed::Missing),
            Err(error) => return Err(error.into()),
        };
        if !hold(&file) {
            return Ok(Refreshed::Again);
        }
        let judged = Identity::of(&file.metadata()?)?;
        if holds(&file, text.as_bytes())? {
            let now = SystemTime::now();
            let promise = self.promise(now);
            if judged.modified < promise || self.is_absurd(judged.modified, now) {
                file.set_modified(promise)?;
            }
            return Ok(if same_file(&file, path) { Refreshed::Done } else { Refreshed::Again });
        }
        (&file).rewind()?;
        match unpack(&file) {
            Ok(stored) if TextId::of(&stored) == *id => return Err(RecoveryError::Collision),
            Err(RecoveryError::Io(error)) => return Err(error.into()),
            _ => {}
        }
        // Of no use to anyone under this name; the true text takes its place. Only this very file: while it was
        // judged, someone else may have put a good one there.
        tracing::warn!(file = %path.display(), "replacing a damaged original");
        drop(file);
        remove(path, &judged)?;
        Ok(Refreshed::Again)
    }

    /// Written plainly: what a killed process leaves of it is written again with the next prune. It gets the time of
    /// its original, and under its lock, so that clean-up does not take away what was just counted on.
    fn store_goal(&self, id: &PruneId, goal: &str) -> io::Result<()> {
        let path = self.goal_path(id);
        let goal = &goal.as_bytes()[..goal.floor_char_boundary(MAX_GOAL_BYTES)];
        for _ in 0..ATTEMPTS {
            let mut file = match private_file().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    match open_plain(&path, File::options().write(true)) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                        opened => opened?,
                    }
                }
                created => created?,
            };
            if hold(&file) {
                if file.metadata()?.len() != goal.len() as u64 {
                    file.set_len(0)?;
                    file.write_all(goal)?;
                }
                file.set_modified(self.promise(SystemTime::now()))?;
                if same_file(&file, &path) {
                    return Ok(());
                }
            }
            std::thread::yield_now();
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// The original, checked against its name.
    pub(crate) fn read(&self, id: &TextId, now: SystemTime) -> Result<String, RecoveryError> {
        let file = match open_plain(&self.path(id), File::options().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(RecoveryError::NotFound),
            Err(error) => return Err(error.into()),
        };
        if file.metadata()?.modified()? < now {
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
        if fs::metadata(self.path(&id.text)).ok()?.modified().ok()? < now {
            return None;
        }
        let mut goal = String::new();
        open_plain(&self.goal_path(id), File::options().read(true))
            .ok()?
            .take(MAX_GOAL_BYTES as u64)
            .read_to_string(&mut goal)
            .ok()?;
        Some(goal)
    }
}

enum Refreshed {
    Done,
    Missing,
    /// The file is being removed or replaced; look again.
    Again,
}

/// The packed bytes, no more than any text of `unpacked` bytes packs to and one; so that errors of the disk are told
/// apart from those of the content.
fn read_packed(file: &File, unpacked: usize) -> io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    file.take(zstd::zstd_safe::compress_bound(unpacked) as u64 + 1).read_to_end(&mut packed)?;
    Ok(packed)
}

/// Whether the file is `text`, packed. Needs no memory for a second copy of it.
fn holds(file: &File, text: &[u8]) -> io::Result<bool> {
    let packed = read_packed(file, text.len())?;
    let mut decoder = zstd::Decoder::with_buffer(&packed[..])?;
    let (mut rest, mut chunk) = (text, [0; 32 << 10]);
    loop {
        match decoder.read(&mut chunk) {
            Ok(0) => return Ok(rest.is_empty()),
            Ok(count) => match rest.strip_prefix(&chunk[..count]) {
                Some(left) => rest = left,
                None => return Ok(false),
            },
            Err(_) => return Ok(false),
        }
    }
}

fn unpack(file: &File) -> Result<Vec<u8>, RecoveryError> {
    let packed = read_packed(file, MAX_ORIGINAL_BYTES)?;
    let mut bytes = Vec::new();
    let decoder = zstd::Decoder::with_buffer(&packed[..])?;
    let limit = MAX_ORIGINAL_BYTES as u64 + 1;
    decoder.take(limit).read_to_end(&mut bytes).map_err(|_| RecoveryError::Damaged)?;
    if bytes.len() > MAX_ORIGINAL_BYTES {
        return Err(RecoveryError::TooLarge(bytes.len()));
    }
    Ok(bytes)
}
