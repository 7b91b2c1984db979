//! Where things are: what the locator finds, and what the other roles go by.

mod territory;

use std::sync::Arc;

use tamis_codebase::{Place, Roots};

pub(crate) use territory::Territory;

use crate::Reference;

/// The best places for a question, best first; no file twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Map {
    pub(crate) spots: Vec<Spot>,
    pub(crate) files_scanned: u64,
    /// What was searched for: names first, then words.
    pub(crate) keywords: Vec<String>,
    /// Of these, what is in no file.
    pub(crate) absent: Vec<String>,
    /// How much of what the question asks for the best place has, from 0 to 1.
    pub(crate) coverage: f64,
    /// Which files have what, for whoever looks further.
    pub(crate) territory: Arc<Territory>,
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

impl Map {
    /// The same with these places first, each where it lies in the roots.
    pub(crate) fn led_by(&self, references: &[Reference], roots: &Roots) -> Map {
        let mut spots: Vec<Spot> = Vec::new();
        let score = self.spots.first().map_or(1.0, |spot| spot.score);
        for reference in references {
            let (path, line) = reference.split();
            if spots.iter().any(|spot| spot.place.path == path) {
                continue;
            }
            let known = self.spots.iter().find(|spot| spot.place.path == path);
            let place = || roots.places_of(path).into_iter().find(|place| roots.open_file(place).is_ok());
            if let Some(place) = known.map(|spot| spot.place.clone()).or_else(place) {
                let named = known.filter(|spot| line.is_none() || spot.line == line);
                spots.push(Spot {
                    line: line.or(known.and_then(|spot| spot.line)),
                    name: named.and_then(|spot| spot.name.clone()),
                    category: Category::of(path),
                    score,
                    place,
                });
            }
        }
        let others = self.spots.iter().filter(|spot| !spots.iter().any(|first| first.place == spot.place));
        let others: Vec<Spot> = others.cloned().collect();
        spots.extend(others);
        Map { spots, ..self.clone() }
    }
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
