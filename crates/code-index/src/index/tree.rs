//! The tree as it is stored: folders and files with their stamps, and where each file's counts are.

use std::collections::HashMap;

use tamis_codebase::{Folder, Stamp};

use super::codec::{Reader, put_number, put_text};

/// Where a file's counts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) segment: u32,
    pub(super) number: u32,
}

/// What is known of a root.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    pub(super) folders: Vec<Folder>,
    /// Of each folder's files.
    pub(super) entries: Vec<Vec<Option<Entry>>>,
    /// A fingerprint of ignore rules outside the roots; empty when they had just changed.
    pub(super) outer_rules: String,
}

impl Tree {
    /// A tree without counts.
    pub(super) fn new(folders: Vec<Folder>, outer_rules: String) -> Tree {
        let entries = folders.iter().map(|folder| vec![None; folder.files.len()]).collect();
        Tree { folders, entries, outer_rules }
    }

    /// These folders, with the entries of files whose stamps are still the same.
    pub(super) fn with_folders(self, folders: Vec<Folder>, outer_rules: String) -> Tree {
        let mut known = HashMap::new();
        for (folder, entries) in self.folders.iter().zip(&self.entries) {
            for ((name, stamp), entry) in folder.files.iter().zip(entries) {
                known.insert((folder.root, folder.path.as_str(), name.as_str()), (*stamp, *entry));
            }
        }
        let entries = folders
            .iter()
            .map(|folder| {
                let entry = |(name, stamp): &(String, Stamp)| {
                    let (before, entry) = known.get(&(folder.root, folder.path.as_str(), name.as_str()))?;
                    (before == stamp && *stamp != Stamp::UNSURE).then_some(*entry)?
                };
                folder.files.iter().map(entry).collect()
            })
            .collect();
        Tree { folders, entries, outer_rules }
    }

    /// How many files there are.
    pub(super) fn files(&self) -> usize {
        self.folders.iter().map(|folder| folder.files.len()).sum()
    }

    /// Files that have no counts yet.
    pub(super) fn without_entry(&self) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        for (folder, entries) in self.entries.iter().enumerate() {
            let missing = entries.iter().enumerate().filter(|(_, entry)| entry.is_none());
            all.extend(missing.map(|(file, _)| (folder, file)));
        }
        all
    }

    /// The segments that are needed, in order.
    pub(super) fn segments(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.entries.iter().flatten().flatten().map(|entry| entry.segment).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_text(&mut out, &self.outer_rules);
        put_number(&mut out, self.folders.len() as u64);
        for (folder, entries) in self.folders.iter().zip(&self.entries) {
            put_number(&mut out, folder.root as u64);
            put_text(&mut out, &folder.path);
            put_stamp(&mut out, folder.stamp);
            put_number(&mut out, folder.rules.len() as u64);
            for (name, stamp) in &folder.rules {
                put_text(&mut out, name);
                put_stamp(&mut out, *stamp);
            }
            put_number(&mut out, folder.files.len() as u64);
            for ((name, stamp), entry) in folder.files.iter().zip(entries) {
                put_text(&mut out, name);
                put_stamp(&mut out, *stamp);
                put_number(&mut out, entry.map_or(0, |entry| u64::from(entry.segment) + 1));
                put_number(&mut out, entry.map_or(0, |entry| u64::from(entry.number)));
            }
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Tree> {
        let mut reader = Reader(bytes);
        let outer_rules = reader.text()?.to_owned();
        let count = reader.count()?;
        let (mut folders, mut all) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            let root = usize::try_from(reader.number()?).ok()?;
            let path = reader.text()?.to_owned();
            let stamp = stamp(&mut reader)?;
            let mut rules = Vec::new();
            for _ in 0..reader.count()? {
                rules.push((reader.text()?.to_owned(), self::stamp(&mut reader)?));
            }
            let count = reader.count()?;
            let (mut files, mut entries) = (Vec::with_capacity(count), Vec::with_capacity(count));
            for _ in 0..count {
                files.push((reader.text()?.to_owned(), self::stamp(&mut reader)?));
                let segment = u32::try_from(reader.number()?).ok()?;
                let number = u32::try_from(reader.number()?).ok()?;
                entries.push(segment.checked_sub(1).map(|segment| Entry { segment, number }));
            }
            folders.push(Folder { root, path, stamp, files, rules });
            all.push(entries);
        }
        reader.0.is_empty().then_some(Tree { folders, entries: all, outer_rules })
    }
}

fn put_stamp(out: &mut Vec<u8>, stamp: Stamp) {
    put_number(out, stamp.inode);
    put_number(out, stamp.size);
    out.extend_from_slice(&stamp.changed.to_le_bytes());
}

fn stamp(reader: &mut Reader<'_>) -> Option<Stamp> {
    let (inode, size) = (reader.number()?, reader.number()?);
    let changed = i64::from_le_bytes(reader.bytes(8)?.try_into().ok()?);
    Some(Stamp { inode, size, changed })
}
