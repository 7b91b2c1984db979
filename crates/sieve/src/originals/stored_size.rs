//! The disk space of all originals, known to every process without a look at each file.
//!
//! It is the length of a file that has one byte for each block in use. Appending to a file is atomic, so processes need no
//! lock to count what they write. Removing is not counted; each clean-up counts anew.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tamis_store::private_file;

/// The unit in which most file systems give space to files.
const BLOCK: u64 = 4096;

pub(crate) struct StoredSize {
    path: PathBuf,
}

impl StoredSize {
    /// The size of what is in this folder. The file is beside it.
    pub(crate) fn of(folder: &Path) -> StoredSize {
        StoredSize { path: folder.with_extension("size") }
    }

    /// In bytes; none if it was never counted.
    pub(crate) fn known(&self) -> io::Result<Option<u64>> {
        match fs::symlink_metadata(&self.path) {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len().saturating_mul(BLOCK))),
            Ok(_) => Err(io::Error::other("not a regular file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Counts a file that was written.
    pub(crate) fn add(&self, bytes: u64) -> io::Result<()> {
        let blocks = vec![0; usize::try_from(blocks(bytes)).unwrap_or(usize::MAX)];
        self.open()?.write_all(&blocks)
    }

    /// Replaces the count by that of a listing. What was added since the listing began may be in it or not, and is counted:
    /// rather too much than too little.
    pub(crate) fn set(&self, listed: u64, known_before: Option<u64>) -> io::Result<()> {
        let file = self.open()?;
        let since =
            blocks(file.metadata()?.len().saturating_mul(BLOCK).saturating_sub(known_before.unwrap_or(0)));
        file.set_len(blocks(listed) + since)
    }

    fn open(&self) -> io::Result<File> {
        private_file().append(true).create(true).open(&self.path)
    }
}

fn blocks(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK)
}

/// The space that a file of this length takes.
pub(crate) fn space(length: usize) -> u64 {
    blocks(length as u64).max(1) * BLOCK
}
