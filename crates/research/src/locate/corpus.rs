//! The files that a question is ranked over: the counts of each, and what kind of file it is.

use std::collections::BTreeSet;

use tamis_code_index::{Declared, FileCounts};
use tamis_codebase::{
    RootedPath, Roots, StopSignal, Stopped, UnreadReason, cores, in_parallel, is_binary, unread_files,
};
use tamis_redact::searchable_bytes;

use super::file_class::{FileClass, FolderClass};

/// Each thread holds a file with its lines.
const MAX_THREADS: usize = 8;

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

    /// Calls `look` with the number and the text of each of these files, without secrets, on all cores. What it finds is in no order.
    pub(super) fn look_into<Found: Send, In: IntoIterator<Item = Found>>(
        &self,
        files: &[usize],
        roots: &Roots,
        stop: &StopSignal,
        look: impl Fn(usize, &[u8]) -> In + Sync,
    ) -> Result<Vec<Found>, Stopped> {
        let lists = in_parallel(files, cores().min(MAX_THREADS), |files| {
            let (mut found, mut bytes) = (Vec::new(), Vec::new());
            for (_, &file) in files.take_while(|_| !stop.is_due()) {
                let place = &self.files[file].place;
                // It may have gone since the survey.
                if roots.read_into(place, roots.policy().largest_searched, &mut bytes).is_ok()
                    && !is_binary(&bytes)
                {
                    found.extend(look(file, &searchable_bytes(&bytes)));
                }
            }
            found
        });
        stop.check()?;
        Ok(lists.into_iter().flatten().collect())
    }
}
