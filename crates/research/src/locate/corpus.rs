//! The files that a question is ranked over: the counts of each, and what kind of file it is.

use std::collections::BTreeSet;

use tamis_code_index::{Declared, FileCounts};
use tamis_codebase::{RootedPath, Roots, StopSignal, Stopped, UnreadReason, unread_files};

use super::file_class::{FileClass, FolderClass};

/// Every text file of the roots, in no order.
pub(super) struct Corpus {
    pub(super) files: Vec<FileCounts>,
    /// By number of the file.
    pub(super) classes: Vec<FileClass>,
}

impl Corpus {
    pub(super) fn new(files: Vec<FileCounts>) -> Corpus {
        // Files of one folder mostly follow each other, so the folder is judged once.
        let mut known: Option<(&str, FolderClass)> = None;
        let mut classes = Vec::with_capacity(files.len());
        for file in &files {
            let (folder, name) = file.place.path.rsplit_once('/').unwrap_or(("", &file.place.path));
            let class = match known {
                Some((path, class)) if path == folder => class,
                _ => FolderClass::of(folder),
            };
            known = Some((folder, class));
            classes.push(FileClass::in_folder(class, name));
        }
        Corpus { files, classes }
    }

    /// Adds the files that a survey does not read, such as binary ones, with their names and nothing else. What is denied stays
    /// out.
    pub(super) fn add_unread(&mut self, roots: &Roots, stop: &StopSignal) -> Result<(), Stopped> {
        let read: BTreeSet<&RootedPath> = self.files.iter().map(|file| &file.place).collect();
        let unread = unread_files(roots, |place| read.contains(place), stop)?;
        for file in unread.into_iter().filter(|file| file.reason != UnreadReason::Denied) {
            self.classes.push(FileClass::of(&file.place.path));
            let (counts, declares) = (None, Declared::default());
            self.files.push(FileCounts { place: file.place, bytes: 0, counts, defines: 0, declares });
        }
        Ok(())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&FileCounts, FileClass)> {
        self.files.iter().zip(self.classes.iter().copied())
    }
}
