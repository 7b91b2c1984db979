//! What the locator finds, and where the other roles begin.

use std::sync::Arc;

use tamis_codebase::{RootedPath, Roots};

use super::{FilesByWord, SymbolPlace};
use crate::Reference;

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
    /// Declarations of the symbol that the question names, best first.
    pub(crate) declared: Vec<SymbolPlace>,
    /// Which files have which words, for later searches.
    pub(crate) files_by_word: Arc<FilesByWord>,
}

/// A file, and the line in it to begin with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Location {
    pub(crate) place: RootedPath,
    /// From 1. None when the file was not read.
    pub(crate) line: Option<usize>,
    /// What is defined there.
    pub(crate) name: Option<String>,
    pub(crate) category: Category,
    /// Comparable only among these locations.
    pub(crate) score: f64,
}

impl Locations {
    /// Whether a location declares what the question names.
    pub(crate) fn declares(&self, location: &Location) -> bool {
        let is =
            |declared: &SymbolPlace| declared.place == location.place && Some(declared.line) == location.line;
        self.declared.iter().any(is)
    }

    /// The same with these references first.
    pub(crate) fn led_by(&self, references: &[Reference], roots: &Roots) -> Locations {
        let mut best: Vec<Location> = Vec::new();
        let score = self.best.first().map_or(1.0, |location| location.score);
        for reference in references {
            let (path, line) = reference.split();
            if best.iter().any(|location| location.place.path == path) {
                continue;
            }
            let known = self.best.iter().find(|location| location.place.path == path);
            let place = || roots.places_of(path).into_iter().find(|place| roots.open_file(place).is_ok());
            if let Some(place) = known.map(|location| location.place.clone()).or_else(place) {
                let named = known.filter(|location| line.is_none() || location.line == line);
                best.push(Location {
                    line: line.or(known.and_then(|location| location.line)),
                    name: named.and_then(|location| location.name.clone()),
                    category: Category::of(path),
                    score,
                    place,
                });
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
