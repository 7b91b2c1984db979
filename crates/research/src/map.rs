//! Where things are: what the locator finds, and what the other roles go by.

use tamis_workspace::Place;

/// The best places for a question, best first; no file twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Map {
    pub(crate) spots: Vec<Spot>,
    pub(crate) files_scanned: u64,
    /// What was searched for: names first, then words.
    pub(crate) keywords: Vec<String>,
    /// Of these, what is in no file.
    pub(crate) absent: Vec<String>,
    /// How much of what the question asks for the best place has, from 0 to 1.
    pub(crate) coverage: f64,
}

/// A file, and the line in it to begin with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spot {
    pub(crate) place: Place,
    /// From 1. None when the file was not looked into.
    pub(crate) line: Option<usize>,
    /// What is defined there.
    pub(crate) name: Option<String>,
    pub(crate) category: Category,
    /// Comparable only within one map.
    pub(crate) score: f64,
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Category {
    EntryPoint,
    Implementation,
    Configuration,
    Tests,
    Docs,
}

impl Category {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Category::EntryPoint => "entry point",
            Category::Implementation => "implementation",
            Category::Configuration => "configuration",
            Category::Tests => "tests",
            Category::Docs => "docs",
        }
    }
}
