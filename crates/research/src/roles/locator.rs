//! The locator: where the things lie that a question is about.
//!
//! [`locate`] looks at everything and makes a [`Map`]; [`finding`] says in words what is on it. Only the best few files are
//! opened for that, to show what stands at the lines that are pointed at.

use std::sync::Arc;

use tamis_codebase::Halt;

use crate::bounds;
use crate::index::{Shelf, survey};
use crate::map::{Category, Map, Spot, Territory};
use crate::question::Question;
use crate::rank::{Weights, rank};
use crate::tally::Counter;
use crate::{Confidence, Fault, Finding, NotRead, Reference, View};

const MOST_SPOTS: usize = 12;
/// Beyond this share of what is asked for being nowhere, what is left is another question.
const MOST_ABSENT: f64 = 0.6;
/// What the best place must have of a question for its answer to be trusted.
const COVERED: f64 = 0.6;
/// Of so many places the line itself is shown.
const SHOWN: usize = 5;
const SHOWN_CHARACTERS: usize = 100;
/// Places in one line about a category.
const TOGETHER: usize = 6;
const MOST_ABSENT_TOLD: usize = 6;

/// Finds the best places: scans every file of the view's roots, or asks their index.
pub(crate) fn locate(
    question: &Question,
    view: &View,
    shelf: Option<&Arc<Shelf>>,
    halt: &Halt,
) -> Result<Map, Fault> {
    let counter = Counter::new(question);
    let survey = survey(shelf, &view.roots, question, &counter, halt)?;
    let weights = Weights::of(question, &counter, &survey);
    let ranked = if weights.share_absent() > MOST_ABSENT && !names_something(question, &counter, &weights) {
        Vec::new()
    } else {
        rank(question, &counter, &weights, &survey, &view.roots, halt)?
    };
    let coverage = ranked.iter().take(3).map(|ranked| ranked.coverage).fold(0.0, f64::max);
    let spots = ranked
        .into_iter()
        .take(MOST_SPOTS)
        .map(|ranked| {
            let place = survey.files[ranked.file].place.clone();
            Spot {
                category: Category::of(&place.path),
                place,
                line: Some(ranked.line),
                name: ranked.name,
                score: ranked.score,
            }
        })
        .collect();
    let names = question.names.iter().filter(|name| !name.doubtful).map(|name| name.text.clone());
    let spoken = question.terms.iter().filter(|term| term.spoken).map(|term| term.word.clone());
    let columns = question.terms.iter().map(|term| (term.spoken, &term.word));
    let columns = columns.chain(question.names.iter().map(|name| (!name.doubtful, &name.text)));
    let absent = columns.zip(&weights.absent).filter(|((told, _), absent)| *told && **absent > 0.0);
    Ok(Map {
        spots,
        files_scanned: survey.files.len() as u64,
        keywords: names.chain(spoken).collect(),
        absent: absent.map(|((_, word), _)| word.clone()).collect(),
        coverage,
        territory: Arc::new(Territory::of(question, survey)),
    })
}

/// Whether the question spells a name that is there: whatever else it says, that can be found.
fn names_something(question: &Question, counter: &Counter, weights: &Weights) -> bool {
    let names = question.names.iter().enumerate();
    names
        .filter(|(_, name)| !name.doubtful)
        .any(|(number, _)| weights.columns[counter.name_column(number)] > 0.0)
}

/// What the locator says of a map.
pub(crate) fn finding(question: &Question, view: &View, map: &Map) -> Finding {
    let nowhere = (!map.absent.is_empty()).then(|| {
        let quoted: Vec<String> =
            map.absent.iter().take(MOST_ABSENT_TOLD).map(|word| format!("`{word}`")).collect();
        format!("In no file: {}.", quoted.join(", "))
    });
    if map.spots.is_empty() {
        let about = if question.names.is_empty() && question.terms.is_empty() {
            "the question has no word that could be searched for".to_owned()
        } else {
            format!("nothing in the {} files searched matches", map.files_scanned)
        };
        return Finding {
            summary: format!("Not found: {about}."),
            references: Vec::new(),
            key_findings: Vec::new(),
            confidence: Confidence::Low,
            notes: nowhere,
        };
    }
    let mut limited = false;
    let mut shown = Vec::new();
    for spot in map.spots.iter().take(SHOWN) {
        match shown_line(view, spot) {
            Ok(line) => shown.push(line),
            Err(()) => {
                limited = true;
                shown.push(None);
            }
        }
    }
    let mut key_findings = Vec::new();
    for (spot, line) in map.spots.iter().zip(&shown) {
        if let (Some(name), Some(line)) = (&spot.name, line) {
            key_findings.push(format!(
                "{}: {} defines {name}: {line}",
                spot.category.name(),
                spot.reference()
            ));
        }
    }
    key_findings.extend(by_category(map, &shown));
    let defined = |spot: &&Spot| {
        question.names.iter().any(|name| !name.doubtful && spot.name.as_ref() == Some(&name.text))
    };
    let named = map.spots.iter().find(defined);
    let best = &map.spots[0];
    let answer = match (named, &best.name) {
        (Some(spot), _) => {
            format!("{} is defined at {}.", spot.name.as_deref().unwrap_or_default(), spot.reference())
        }
        (None, Some(name)) => format!("The best match is {name} at {}.", best.reference()),
        (None, None) => format!("The best match is {}.", best.reference()),
    };
    let limits = view.allowance.limits();
    let limit = limited.then(|| {
        format!(
            "The limits of {} files and {} bytes were reached, so results may be truncated.",
            limits.max_files_read, limits.max_bytes_read
        )
    });
    Finding {
        summary: format!(
            "{answer} {} of {} files searched look relevant.",
            map.spots.len(),
            map.files_scanned
        ),
        references: map.spots.iter().map(Spot::reference).collect(),
        key_findings,
        confidence: match (named.is_some(), map.coverage >= COVERED) {
            (true, true) => Confidence::High,
            (true, false) | (false, true) => Confidence::Med,
            (false, false) => Confidence::Low,
        },
        notes: match (nowhere, limit) {
            (Some(nowhere), Some(limit)) => Some(format!("{nowhere} {limit}")),
            (nowhere, limit) => nowhere.or(limit),
        },
    }
}

impl Spot {
    pub(crate) fn reference(&self) -> Reference {
        Reference::new(&self.place.path, self.line)
    }
}

/// What stands at a spot's line, without secrets; an error when the limits forbid looking.
fn shown_line(view: &View, spot: &Spot) -> Result<Option<String>, ()> {
    let source = match view.read(&spot.place) {
        Ok(source) => source,
        Err(NotRead::Limited) => return Err(()),
        // It has gone, or is too large to be read: the place stays.
        Err(NotRead::Access(_)) => return Ok(None),
    };
    let line = spot.line.and_then(|line| source.text.split('\n').nth(line - 1)).map(str::trim);
    Ok(line.filter(|line| !line.is_empty()).map(|line| bounds::short(line, SHOWN_CHARACTERS)))
}

/// One line for each category about the places that are not told yet.
fn by_category(map: &Map, shown: &[Option<String>]) -> Vec<String> {
    let told = |at: usize| shown.get(at).is_some_and(|line| line.is_some() && map.spots[at].name.is_some());
    let categories = [
        Category::EntryPoint,
        Category::Implementation,
        Category::Configuration,
        Category::Tests,
        Category::Docs,
    ];
    let mut lines = Vec::new();
    for category in categories {
        let places: Vec<String> = map
            .spots
            .iter()
            .enumerate()
            .filter(|(at, spot)| spot.category == category && !told(*at))
            .take(TOGETHER)
            .map(|(_, spot)| match &spot.name {
                Some(name) => format!("{} ({name})", spot.reference()),
                None => spot.reference().to_string(),
            })
            .collect();
        if !places.is_empty() {
            lines.push(format!("{}: {}", category.name(), places.join(", ")));
        }
    }
    lines
}
