//! Listing one folder.

use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType};

use crate::open::plain_path;
use crate::{AccessError, Roots};

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: EntryKind,
}

/// What a name refers to. A link is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File {
        bytes: u64,
    },
    Folder,
    Link,
    /// A device, a socket, a FIFO.
    Other,
}

/// The contents of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The first of them by name.
    pub entries: Vec<Entry>,
    /// The number of entries, without those that may not be read.
    pub total: usize,
}

/// Lists the first `most` names of a folder, by its path from a root or its absolute path; an empty path is the root itself.
/// When several roots have such a folder, the first one is listed.
pub fn list(roots: &Roots, folder: &str, most: usize) -> Result<Listing, AccessError> {
    let mut error = AccessError::Outside { path: folder.to_owned() };
    for (root, path) in folders_of(roots, folder) {
        if roots.denies_folder(root, &path) {
            error = AccessError::Denied { path: folder.to_owned() };
            continue;
        }
        match list_one(roots, root, &path, most) {
            Ok(listing) => return Ok(listing),
            Err(cause) => error = cause,
        }
    }
    Err(error)
}

fn folders_of(roots: &Roots, folder: &str) -> Vec<(usize, String)> {
    let given = Path::new(folder);
    let is_root = |path: &Path| path.components().all(|part| part == std::path::Component::CurDir);
    roots
        .paths()
        .enumerate()
        .filter_map(|(number, root)| {
            let relative = if given.is_absolute() { given.strip_prefix(root).ok()? } else { given };
            let path = if is_root(relative) { String::new() } else { plain_path(relative)? };
            Some((number, path))
        })
        .collect()
}

fn list_one(roots: &Roots, root: usize, path: &str, most: usize) -> Result<Listing, AccessError> {
    let failed =
        |cause: rustix::io::Errno| AccessError::System { path: path.to_owned(), cause: cause.into() };
    let mut folder = Dir::new(roots.open_folder(root, path)?).map_err(failed)?;
    let mut names = Vec::new();
    while let Some(entry) = folder.read() {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        let full = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        if name != "." && name != ".." && !roots.denies_entry(root, &full) {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    let total = names.len();
    names.truncate(most);
    let folder = folder.fd().map_err(failed)?;
    let entries = names.into_iter().filter_map(|name| {
        // It may have been removed in the meantime.
        let stat = rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => EntryKind::File { bytes: u64::try_from(stat.st_size).unwrap_or(0) },
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Other,
        };
        Some(Entry { name, kind })
    });
    Ok(Listing { entries: entries.collect(), total })
}
