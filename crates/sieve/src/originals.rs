//! The store of originals: one compressed file each, named by its content's hash.
//!
//! A file's modification time is its expiry. Processes with other settings respect it, and pruning the text again only
//! ever moves it forward.
//!
//! Files are written under a temporary name and then linked into place, so a killed process leaves no broken file. There
//! is no fsync: it would cost more than the rest of a prune. A power cut may leave an empty or torn file, which the content
//! check finds, both on reading and before an existing file is relied on for a new cut. An error that the file system
//! reports only on close (NFS, over quota) is not seen before the cut.

pub(crate) mod eviction;
pub(crate) mod spool;
mod stored_size;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tamis_store::private_file;

use crate::ids::{PruneId, TextId};
use crate::originals::stored_size::{StoredSize, space};
use crate::shared_files::{FileVersion, open_plain, publish, remove, same_file, try_hold};

/// Larger texts are not stored and larger files are not unpacked, so a crafted file cannot exhaust memory.
pub(crate) const MAX_ORIGINAL_BYTES: usize = 256 << 20;
/// Level 1 compresses several hundred MB/s; higher levels gain little on source code and logs.
const LEVEL: i32 = 1;
/// Stored goals are truncated to this. Prune ids hash the whole goal.
const MAX_GOAL_BYTES: usize = 64 << 10;
/// The maximum number of attempts to store an original while clean-up or another writer interferes.
const ATTEMPTS: usize = 20;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// File systems cannot represent times much further away.
const LONGEST_TTL: Duration = DAY.saturating_mul(36_500);
/// An expiry that exceeds ours by more than this was set by a wrong clock, not by other settings.
const FAR: Duration = DAY.saturating_mul(400);

pub(crate) const ORIGINAL: &str = "zst";
pub(crate) const GOAL: &str = "goal";

/// The folder of originals.
pub(crate) struct OriginalStore {
    pub(crate) folder: PathBuf,
    pub(crate) ttl: Duration,
    pub(crate) max_bytes: u64,
    size: StoredSize,
}

/// Why an original could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OriginalError {
    #[error("not found or expired")]
    NotFound,
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the file is damaged")]
    Damaged,
    #[error("too large: {0} bytes")]
    TooLarge(usize),
    #[error("the store is full, and keeps what it has promised")]
    Full,
    #[error("the file is busy")]
    Busy,
    #[error("another text has the same id")]
    Collision,
}

impl OriginalStore {
    pub(crate) fn new(folder: PathBuf, ttl: Duration, max_bytes: u64) -> OriginalStore {
        OriginalStore { size: StoredSize::of(&folder), folder, ttl: ttl.min(LONGEST_TTL), max_bytes }
    }

    pub(crate) fn path(&self, id: &TextId) -> PathBuf {
        self.folder.join(format!("{}.{ORIGINAL}", id.as_str()))
    }

    fn goal_path(&self, id: &PruneId) -> PathBuf {
        self.folder.join(format!("{}.{GOAL}", id.stem()))
    }

    /// The expiry of what is stored now.
    pub(crate) fn expiry(&self, now: SystemTime) -> SystemTime {
        now + self.ttl
    }

    /// Whether an expiry is so far away that a wrong clock must have set it.
    pub(crate) fn is_implausible(&self, expiry: SystemTime, now: SystemTime) -> bool {
        expiry > self.expiry(now) + FAR
    }

    /// Stores the original, or extends its expiry if it is stored already. Anonymous callers may fill half of the store, so
    /// they cannot leave no room for others.
    pub(crate) fn store(
        &self,
        id: &PruneId,
        text: &str,
        goal: &str,
        is_anonymous: bool,
    ) -> Result<(), OriginalError> {
        if text.len() > MAX_ORIGINAL_BYTES {
            return Err(OriginalError::TooLarge(text.len()));
        }
        let max_bytes = if is_anonymous { self.max_bytes / 2 } else { self.max_bytes };
        self.store_original(&id.text, text, space(goal.len()), max_bytes)?;
        // After the original, so that clean-up does not remove it as a goal without an original. Losing it is harmless.
        if let Err(error) = self.store_goal(id, goal) {
            tracing::debug!(%error, "the goal of a prune was not kept");
        }
        Ok(())
    }

    /// Stores the original if `more` bytes then still fit.
    fn store_original(
        &self,
        id: &TextId,
        text: &str,
        more: u64,
        max_bytes: u64,
    ) -> Result<(), OriginalError> {
        let path = self.path(id);
        let mut packed = None;
        let mut missing = None;
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
                return Err(OriginalError::TooLarge(packed.len()));
            }
            let bytes = space(packed.len());
            if self.size()?.saturating_add(bytes + more) > max_bytes {
                return Err(OriginalError::Full);
            }
            // A file that another process wrote meanwhile is checked in the next attempt, like an older one.
            match publish(&path, packed, self.expiry(SystemTime::now())) {
                Ok(true) => {
                    self.size.add(bytes)?;
                    return Ok(());
                }
                Ok(false) => {}
                // The folder was removed just now, or can never be made.
                Err(error) if error.kind() == io::ErrorKind::NotFound => missing = Some(error),
                Err(error) => return Err(error.into()),
            }
        }
        Err(missing.map_or(OriginalError::Busy, OriginalError::Io))
    }

    /// Extends the expiry of an existing file, after checking its content.
    ///
    /// Clean-up locks a file while it checks the expiry and removes it. This shares the lock while it changes the expiry, so
    /// a refreshed file is never removed for its old expiry.
    fn refresh(&self, path: &Path, id: &TextId, text: &str) -> Result<Refreshed, OriginalError> {
        // For writing, since some systems set no time on a file opened for reading.
        let file = match open_plain(path, File::options().read(true).write(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Refreshed::Missing),
            Err(error) => return Err(error.into()),
        };
        if !try_hold(&file) {
            return Ok(Refreshed::Again);
        }
        let version = FileVersion::of(&file.metadata()?)?;
        if holds(&file, text.as_bytes())? {
            let now = SystemTime::now();
            let expiry = self.expiry(now);
            if version.modified < expiry || self.is_implausible(version.modified, now) {
                file.set_modified(expiry)?;
            }
            return Ok(if same_file(&file, path) { Refreshed::Done } else { Refreshed::Again });
        }
        (&file).rewind()?;
        match unpack(&file) {
            Ok(stored) if TextId::of(&stored) == *id => return Err(OriginalError::Collision),
            Err(OriginalError::Io(error)) => return Err(error.into()),
            _ => {}
        }
        // The file is damaged and is replaced. Only this very file is removed: another process may have replaced it
        // meanwhile.
        tracing::warn!(file = %path.display(), "replacing a damaged original");
        drop(file);
        remove(path, &version)?;
        Ok(Refreshed::Again)
    }

    /// Writes the goal without a temporary file: the next prune rewrites what a killed process leaves. It gets the expiry of
    /// its original, under the lock, so that clean-up does not remove it meanwhile.
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
                Err(error) => return Err(error),
                Ok(created) => {
                    self.size.add(space(goal.len()))?;
                    created
                }
            };
            if try_hold(&file) {
                if file.metadata()?.len() != goal.len() as u64 {
                    file.set_len(0)?;
                    file.write_all(goal)?;
                }
                file.set_modified(self.expiry(SystemTime::now()))?;
                if same_file(&file, &path) {
                    return Ok(());
                }
            }
            std::thread::yield_now();
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    fn open_kept(&self, id: &TextId, now: SystemTime) -> Result<File, OriginalError> {
        let file = match open_plain(&self.path(id), File::options().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(OriginalError::NotFound),
            Err(error) => return Err(error.into()),
        };
        if file.metadata()?.modified()? < now {
            return Err(OriginalError::NotFound);
        }
        Ok(file)
    }

    /// Reads an original and checks it against its id. Those of large texts are too large.
    pub(crate) fn read(&self, id: &TextId, now: SystemTime) -> Result<String, OriginalError> {
        let file = self.open_kept(id, now)?;
        if is_streamed(&file)? {
            return Err(OriginalError::TooLarge(MAX_ORIGINAL_BYTES));
        }
        let bytes = unpack(&file)?;
        if TextId::of(&bytes) != *id {
            return Err(OriginalError::Damaged);
        }
        String::from_utf8(bytes).map_err(|_| OriginalError::Damaged)
    }

    /// The prune ids that begin with `beginning`, one for each original that is kept. Where a text was pruned for several
    /// goals, the id is that of any.
    pub(crate) fn find(&self, beginning: &str, now: SystemTime) -> io::Result<Vec<PruneId>> {
        let Some(stem) = PruneId::stem_of_beginning(beginning) else { return Ok(Vec::new()) };
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found: BTreeMap<TextId, Option<PruneId>> = BTreeMap::new();
        for entry in entries {
            let name = entry?.file_name();
            let Some((name, kind)) = name.to_str().and_then(|name| name.rsplit_once('.')) else { continue };
            if !name.starts_with(stem) && !stem.starts_with(name) {
                continue;
            }
            match kind {
                ORIGINAL => drop(TextId::parse(name).map(|text| found.entry(text).or_default())),
                GOAL => {
                    let id = PruneId::from_stem(name);
                    drop(id.map(|id| found.insert(id.text.clone(), Some(id))));
                }
                _ => {}
            }
        }
        let kept = found.into_iter().filter(|(text, _)| self.is_kept(text, now));
        Ok(kept.map(|(text, id)| id.unwrap_or_else(|| PruneId::of_text(text))).collect())
    }

    /// Whether an original is stored and has not expired.
    pub(crate) fn is_kept(&self, id: &TextId, now: SystemTime) -> bool {
        let expiry = fs::metadata(self.path(id)).and_then(|about| about.modified());
        expiry.is_ok_and(|expiry| expiry >= now)
    }

    /// The goal of a prune, while its original is kept.
    pub(crate) fn goal(&self, id: &PruneId, now: SystemTime) -> Option<String> {
        if !self.is_kept(&id.text, now) {
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
    /// The file is being removed or replaced; try again.
    Again,
}

/// The compressed bytes, at most one more than a text of `unpacked` bytes can need. Read before decompression, so that
/// errors of the disk and of the content can be distinguished.
fn read_packed(file: &File, unpacked: usize) -> io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    file.take(zstd::zstd_safe::compress_bound(unpacked) as u64 + 1).read_to_end(&mut packed)?;
    Ok(packed)
}

/// Whether the file holds `text`. Compares in chunks, without a second copy in memory.
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

/// Whether the file was written by a [`spool::Spool`], which does not know the size of its text at first.
fn is_streamed(file: &File) -> io::Result<bool> {
    let mut header = [0; 18];
    let count = file.read_at(&mut header, 0)?;
    Ok(matches!(zstd::zstd_safe::get_frame_content_size(&header[..count]), Ok(None)))
}

fn unpack(file: &File) -> Result<Vec<u8>, OriginalError> {
    let packed = read_packed(file, MAX_ORIGINAL_BYTES)?;
    let mut bytes = Vec::new();
    let decoder = zstd::Decoder::with_buffer(&packed[..])?;
    let limit = MAX_ORIGINAL_BYTES as u64 + 1;
    decoder.take(limit).read_to_end(&mut bytes).map_err(|_| OriginalError::Damaged)?;
    if bytes.len() > MAX_ORIGINAL_BYTES {
        return Err(OriginalError::TooLarge(bytes.len()));
    }
    Ok(bytes)
}
