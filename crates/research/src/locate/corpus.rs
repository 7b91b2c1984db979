//! The files that a question is ranked over: the counts of each, and what kind of file it is.

use tamis_code_index::FileCounts;

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

    pub(super) fn iter(&self) -> impl Iterator<Item = (&FileCounts, FileClass)> {
        self.files.iter().zip(self.classes.iter().copied())
    }
}
