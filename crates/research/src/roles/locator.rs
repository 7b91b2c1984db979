//! The locator: where the things lie that a question is about.
//!
//! [`locate`](crate::locate::locate) looks at everything and makes a [`Locations`]; this says in words what is on it. Only the best
//! few files are opened for that, to show what stands at the lines that are pointed at.

use crate::bounds;
use crate::locate::{Category, Location, Locations};
use crate::question::Question;
use crate::{BoundedReader, Confidence, ReadError, Reference, ResearchFinding};

/// What the best place must have of a question for its answer to be trusted.
const COVERED: f64 = 0.6;
/// Of so many places the line itself is shown.
const SHOWN: usize = 5;
const SHOWN_CHARACTERS: usize = 100;
/// Places in one line about a category.
const TOGETHER: usize = 6;
const MAX_ABSENT_TOLD: usize = 6;

/// What the locator says of a map.
pub(crate) fn finding(question: &Question, reader: &BoundedReader, locations: &Locations) -> ResearchFinding {
    let nowhere = (!locations.absent.is_empty()).then(|| {
        let quoted: Vec<String> =
            locations.absent.iter().take(MAX_ABSENT_TOLD).map(|word| format!("`{word}`")).collect();
        format!("In no file: {}.", quoted.join(", "))
    });
    if locations.best.is_empty() {
        let about = if question.names.is_empty() && question.terms.is_empty() {
            "the question has no word that could be searched for".to_owned()
        } else {
            format!("nothing in the {} files searched matches", locations.files_scanned)
        };
        return ResearchFinding {
            summary: format!("Not found: {about}."),
            references: Vec::new(),
            key_findings: Vec::new(),
            confidence: Confidence::Low,
            notes: nowhere,
        };
    }
    let mut limited = false;
    let mut shown = Vec::new();
    for location in locations.best.iter().take(SHOWN) {
        match shown_line(reader, location) {
            Ok(line) => shown.push(line),
            Err(()) => {
                limited = true;
                shown.push(None);
            }
        }
    }
    let mut key_findings = Vec::new();
    for (location, line) in locations.best.iter().zip(&shown) {
        if let (Some(name), Some(line)) = (&location.name, line) {
            key_findings.push(format!(
                "{}: {} defines {name}: {line}",
                location.category.name(),
                location.reference()
            ));
        }
    }
    key_findings.extend(by_category(locations, &shown));
    let defined = |location: &&Location| {
        question.names.iter().any(|name| !name.doubtful && location.name.as_ref() == Some(&name.text))
    };
    let named = locations.best.iter().find(defined);
    let best = &locations.best[0];
    let answer = match (named, &best.name) {
        (Some(location), _) => {
            format!(
                "{} is defined at {}.",
                location.name.as_deref().unwrap_or_default(),
                location.reference()
            )
        }
        (None, Some(name)) => format!("The best match is {name} at {}.", best.reference()),
        (None, None) => format!("The best match is {}.", best.reference()),
    };
    let limits = reader.budget.limits();
    let limit = limited.then(|| {
        format!(
            "The limits of {} files and {} bytes were reached, so results may be truncated.",
            limits.max_files_read, limits.max_bytes_read
        )
    });
    ResearchFinding {
        summary: format!(
            "{answer} {} of {} files searched look relevant.",
            locations.best.len(),
            locations.files_scanned
        ),
        references: locations.best.iter().map(Location::reference).collect(),
        key_findings,
        confidence: match (named.is_some(), locations.coverage >= COVERED) {
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

impl Location {
    pub(crate) fn reference(&self) -> Reference {
        Reference::new(&self.place.path, self.line)
    }
}

/// What stands at a spot's line, without secrets; an error when the limits forbid looking.
fn shown_line(reader: &BoundedReader, location: &Location) -> Result<Option<String>, ()> {
    let source = match reader.read(&location.place) {
        Ok(source) => source,
        Err(ReadError::LimitReached) => return Err(()),
        // It has gone, or is too large to be read: the place stays.
        Err(ReadError::Access(_)) => return Ok(None),
    };
    let line = location.line.and_then(|line| source.text.split('\n').nth(line - 1)).map(str::trim);
    Ok(line.filter(|line| !line.is_empty()).map(|line| bounds::short(line, SHOWN_CHARACTERS)))
}

/// One line for each category about the places that are not told yet.
fn by_category(locations: &Locations, shown: &[Option<String>]) -> Vec<String> {
    let told =
        |at: usize| shown.get(at).is_some_and(|line| line.is_some() && locations.best[at].name.is_some());
    let categories = [
        Category::EntryPoint,
        Category::Implementation,
        Category::Configuration,
        Category::Tests,
        Category::Docs,
    ];
    let mut lines = Vec::new();
    for category in categories {
        let places: Vec<String> = locations
            .best
            .iter()
            .enumerate()
            .filter(|(at, location)| location.category == category && !told(*at))
            .take(TOGETHER)
            .map(|(_, location)| match &location.name {
                Some(name) => format!("{} ({name})", location.reference()),
                None => location.reference().to_string(),
            })
            .collect();
        if !places.is_empty() {
            lines.push(format!("{}: {}", category.name(), places.join(", ")));
        }
    }
    lines
}
