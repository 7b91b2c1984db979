//! What the locator finds, and where the other roles begin.

use std::sync::Arc;

use tamis_codebase::{RootedPath, Roots, StopSignal, Stopped, unread_files};

use super::{FilesByWord, Passage, SymbolPlace};
use crate::{BoundedReader, NoteFact, Reference};

/// The best files for a question, best first, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locations {
    pub(crate) best: Vec<Location>,
    pub(crate) files_scanned: u64,
    /// The words searched for: names first.
    pub(crate) keywords: Vec<String>,
    /// Those of them that are in no file.
    pub(crate) absent: Vec<String>,
    /// The share of the question's weight that the best file has, from 0 to 1.
    pub(crate) coverage: f64,
    /// Lines that give the value that the question asks for, best first, each in another file.
    pub(crate) values: Vec<(RootedPath, Passage)>,
    /// Declarations of the symbol that the question names, best first.
    pub(crate) declared: Vec<SymbolPlace>,
    /// The file that the question names, if it is the first of the best.
    pub(crate) file: Option<RootedPath>,
    /// Which files have which words, for later searches.
    pub(crate) files_by_word: Arc<FilesByWord>,
}

/// Files that a note names as not searched.
const MAX_UNREAD: usize = 5;

/// A file, and what to read in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Location {
    pub(crate) place: RootedPath,
    /// Its path as references have it.
    pub(crate) shown: String,
    /// Best first. None when the file was not read.
    pub(crate) passages: Vec<Passage>,
    pub(crate) category: Category,
    /// Comparable only among these locations.
    pub(crate) score: f64,
}

impl Location {
    /// The line to begin with, from 1.
    pub(crate) fn line(&self) -> Option<usize> {
        self.passages.first().map(|passage| passage.first)
    }

    /// What is defined there.
    pub(crate) fn name(&self) -> Option<&str> {
        self.passages.first().filter(|passage| passage.defines)?.name.as_deref()
    }
}

impl Locations {
    /// The file that the question names, unless a model has put another place first.
    pub(crate) fn named_file(&self) -> Option<&RootedPath> {
        self.file.as_ref().filter(|file| self.best.first().is_some_and(|first| first.place == **file))
    }

    /// Whether a location declares what the question names.
    pub(crate) fn declares(&self, location: &Location) -> bool {
        let is = |declared: &SymbolPlace| {
            declared.is_of_owner
                && declared.place == location.place
                && Some(declared.passage.first) == location.line()
        };
        self.declared.iter().any(is)
    }

    /// What a claim that something is in no file must add: the files that were not searched, if any.
    pub(crate) fn not_searched(
        &self,
        reader: &BoundedReader,
        stop: &StopSignal,
    ) -> Result<Option<NoteFact>, Stopped> {
        let is_read = |place: &RootedPath| self.files_by_word.has(place);
        let skipped = unread_files(&reader.roots, is_read, stop)?;
        let over_limits = reader.budget.unread().into_iter().map(|place| (place, "over the limits"));
        let skipped = skipped.into_iter().map(|file| (file.place, file.reason.name()));
        let unread: Vec<(RootedPath, &'static str)> = over_limits.chain(skipped).collect();
        let shown = |place: &RootedPath| {
            let is_same = |other: &RootedPath| other.path == place.path && other.root != place.root;
            match unread.iter().any(|(other, _)| is_same(other)) {
                true => reader.roots.labelled(place),
                false => self.files_by_word.shown(&reader.roots, place),
            }
        };
        let named = unread.iter().take(MAX_UNREAD).map(|(place, reason)| (shown(place), *reason));
        let (files, more) = (named.collect(), unread.len().saturating_sub(MAX_UNREAD));
        Ok((!unread.is_empty()).then_some(NoteFact::NotSearched { files, more }))
    }

    /// The same with these references first.
    pub(crate) fn led_by(&self, references: &[Reference], roots: &Roots) -> Locations {
        let mut best: Vec<Location> = Vec::new();
        let score = self.best.first().map_or(1.0, |location| location.score);
        for reference in references {
            let (path, line) = reference.split();
            if best.iter().any(|location| location.shown == path) {
                continue;
            }
            let known = self.best.iter().find(|location| location.shown == path);
            let place = || roots.places_of(path).into_iter().find(|place| roots.open_file(place).is_ok());
            if let Some(place) = known.map(|location| location.place.clone()).or_else(place) {
                let mut passages = known.map_or_else(Vec::new, |location| location.passages.clone());
                if let Some(line) = line {
                    let is_at = |passage: &Passage| passage.first == line;
                    match passages.iter().position(is_at) {
                        Some(at) => passages[..=at].rotate_right(1),
                        None => passages.insert(0, Passage::at(line)),
                    }
                }
                let shown = self.files_by_word.shown(roots, &place);
                best.push(Location { shown, passages, category: Category::of(path), score, place });
            }
        }
        let others =
            self.best.iter().filter(|location| !best.iter().any(|first| first.place == location.place));
        let others: Vec<Location> = others.cloned().collect();
        best.extend(others);
        Locations { best, ..self.clone() }
    }
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    EntryPoint,
    Implementation,
    Configuration,
    Tests,
    Docs,
}

impl Category {
    pub const ALL: [Category; 5] = [
        Category::EntryPoint,
        Category::Implementation,
        Category::Configuration,
        Category::Tests,
        Category::Docs,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Category::EntryPoint => "entry point",
            Category::Implementation => "implementation",
            Category::Configuration => "configuration",
            Category::Tests => "tests",
            Category::Docs => "docs",
        }
    }
}
