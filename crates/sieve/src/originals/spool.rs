//! A text on its way into the store: compressed as it comes, and readable again before and after it is stored.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::SystemTime;

use crate::ids::{PruneId, TextId};
use crate::originals::stored_size::space;
use crate::originals::{ATTEMPTS, LEVEL, OriginalError, OriginalStore};
use crate::shared_files::{
    FileVersion, Placement, link_into_place, open_plain, remove, temporary_beside, try_hold,
};

/// Number of pieces that are held in memory until they are certainly in the file, since no other copy may exist.
const UNFLUSHED_PIECES: usize = 16;

pub(crate) struct Spool {
    /// Removed with the spool, unless it was stored under that very name.
    temporary: Option<PathBuf>,
    writer: File,
    file: File,
    max_bytes: u64,
    /// Bytes of the text that are in the file.
    flushed: u64,
    /// What follows them, if the file could not be written.
    unflushed: Vec<Arc<Vec<u8>>>,
}

impl Spool {
    /// Compresses the pieces until there are no more. Returns the hash of the text. After a failure, `has_failed` asks for no more
    /// pieces, and those that still come are kept in memory.
    pub(crate) fn pack(
        &mut self,
        pieces: Receiver<Arc<Vec<u8>>>,
        has_failed: &AtomicBool,
    ) -> io::Result<blake3::Hash> {
        let mut hasher = blake3::Hasher::new();
        let mut encoder = zstd::Encoder::new(&self.writer, LEVEL)?;
        let mut failed = None;
        for piece in pieces {
            self.unflushed.push(Arc::clone(&piece));
            if failed.is_some() {
                continue;
            }
            hasher.update(&piece);
            let mut write = || {
                encoder.write_all(&piece)?;
                if self.unflushed.len() >= UNFLUSHED_PIECES {
                    encoder.flush()?;
                    self.flushed += self.unflushed.drain(..).map(|piece| piece.len() as u64).sum::<u64>();
                    if self.file.metadata()?.len() > self.max_bytes {
                        return Err(io::ErrorKind::QuotaExceeded.into());
                    }
                }
                Ok(())
            };
            failed = write().err();
            has_failed.store(failed.is_some(), Ordering::Relaxed);
        }
        if let Some(error) = failed {
            return Err(error);
        }
        encoder.finish()?;
        self.flushed += self.unflushed.drain(..).map(|piece| piece.len() as u64).sum::<u64>();
        Ok(hasher.finalize())
    }

    /// The text as far as it was spooled.
    pub(crate) fn text(&self) -> io::Result<impl Read + Send> {
        let flushed = zstd::Decoder::new(FileReader { file: &self.file, at: 0 })?.take(self.flushed);
        let unflushed: Vec<u8> = self.unflushed.iter().flat_map(|piece| piece.iter().copied()).collect();
        Ok(flushed.chain(io::Cursor::new(unflushed)))
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Reads a file from its beginning, wherever other readers of it are.
pub(crate) struct FileReader<'a> {
    pub(crate) file: &'a File,
    pub(crate) at: u64,
}

impl Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl OriginalStore {
    /// A file for a text that is not known yet.
    pub(crate) fn spool(&self) -> io::Result<Spool> {
        let (temporary, writer) = temporary_beside(&self.folder.join("large"))?;
        let file = File::open(&temporary)?;
        let (flushed, unflushed, max_bytes) = (0, Vec::new(), self.max_bytes);
        Ok(Spool { temporary: Some(temporary), writer, file, max_bytes, flushed, unflushed })
    }

    /// Makes a spooled text an original, or extends the expiry of the one that is stored already.
    pub(crate) fn store_spool(
        &self,
        id: &PruneId,
        spool: &mut Spool,
        goal: &str,
    ) -> Result<(), OriginalError> {
        let path = self.path(&id.text);
        let bytes = space(usize::try_from(spool.file.metadata()?.len()).unwrap_or(usize::MAX));
        for _ in 0..ATTEMPTS {
            if self.refresh_streamed(&path, &id.text)? {
                break;
            }
            let Some(temporary) = &spool.temporary else { break };
            if self.size()?.saturating_add(bytes + space(goal.len())) > self.max_bytes {
                return Err(OriginalError::Full);
            }
            spool.writer.set_modified(self.expiry(SystemTime::now()))?;
            match link_into_place(temporary, &path)? {
                Placement::Taken => continue,
                Placement::Moved => spool.temporary = None,
                Placement::Linked => {}
            }
            self.size.add(bytes)?;
            break;
        }
        if !self.is_kept(&id.text, SystemTime::now()) {
            return Err(OriginalError::Busy);
        }
        if let Err(error) = self.store_goal(id, goal) {
            tracing::debug!(%error, "the goal of a prune was not kept");
        }
        Ok(())
    }

    /// Extends the expiry of an original whose content is right. A damaged one is removed.
    fn refresh_streamed(&self, path: &Path, id: &TextId) -> Result<bool, OriginalError> {
        let file = match open_plain(path, File::options().read(true).write(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if !try_hold(&file) {
            return Err(OriginalError::Busy);
        }
        let version = FileVersion::of(&file.metadata()?)?;
        if hash_of(&file).is_ok_and(|hash| TextId::of_hash(&hash) == *id) {
            file.set_modified(self.expiry(SystemTime::now()).max(version.modified))?;
            return Ok(true);
        }
        drop(file);
        remove(path, &version)?;
        Ok(false)
    }

    /// Opens an original of any size, after checking its content.
    pub(crate) fn open(&self, id: &TextId, now: SystemTime) -> Result<File, OriginalError> {
        let file = self.open_kept(id, now)?;
        match hash_of(&file) {
            Ok(hash) if TextId::of_hash(&hash) == *id => Ok(file),
            _ => Err(OriginalError::Damaged),
        }
    }
}

/// The text of an original.
pub(crate) fn text_of(file: &File) -> io::Result<impl Read> {
    zstd::Decoder::new(FileReader { file, at: 0 })
}

fn hash_of(file: &File) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut text_of(file)?, &mut hasher)?;
    Ok(hasher.finalize())
}
