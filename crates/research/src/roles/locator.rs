//! The locator: where things are.
//!
//! [`locate`](crate::locate::locate) ranks all files; this makes a finding of the [`Locations`]. Only the best few files are
//! read for that, to show the lines.

use crate::bounds;
use crate::locate::{Category, Location, Locations};
use crate::question::Question;
use crate::{
    BoundedReader, Confidence, FindingKind, KeyFinding, NotFound, NoteFact, Reference, ReportNote,
    ResearchFinding,
};

/// The coverage from which on the locator is confident.
const COVERED: f64 = 0.6;
/// Locations whose line is shown.
const SHOWN: usize = 5;
const SHOWN_CHARACTERS: usize = 100;
/// Places in the finding of a category.
const TOGETHER: usize = 6;

/// The locator's finding.
pub(crate) fn finding(question: &Question, reader: &BoundedReader, locations: &Locations) -> ResearchFinding {
    let mut notes: Vec<ReportNote> = Vec::new();
    if !locations.absent.is_empty() {
        notes.push(NoteFact::InNoFile(locations.absent.clone()).into());
    }
    if locations.best.is_empty() {
        let about = if question.names.is_empty() && question.terms.is_empty() {
            "the question has no word to search for".to_owned()
        } else {
            format!("nothing in the {} files searched matches", locations.files_scanned)
        };
        return ResearchFinding::not_found(NotFound::Words, format!("Not found: {about}."), notes);
    }
    let mut limited = false;
    let shown = locations.best.iter().take(SHOWN).map(|location| shown_line(reader, location, &mut limited));
    let shown: Vec<Option<String>> = shown.collect();
    let mut key_findings = Vec::new();
    for (location, line) in locations.best.iter().zip(&shown) {
        if let (Some(name), Some(line)) = (&location.name, line) {
            let (category, place) = (location.category, location.reference());
            let short = format!("{}: {place} defines {name}", category.name());
            key_findings.push(KeyFinding {
                kind: FindingKind::Definition { category: Some(category), place },
                text: format!("{short}: {line}"),
                short: Some(short),
            });
        }
    }
    key_findings.extend(by_category(locations, &shown));
    let defined = |location: &&Location| {
        locations.declares(location)
            || question.names.iter().any(|name| !name.doubtful && location.name.as_ref() == Some(&name.text))
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
    if limited {
        notes.push(NoteFact::read_limits(reader.budget.limits()).into());
    }
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
        notes,
        not_found: None,
    }
}

impl Location {
    pub(crate) fn reference(&self) -> Reference {
        Reference::new(&self.place.path, self.line)
    }
}

/// The line of a location, redacted. Without it, the location stays.
fn shown_line(reader: &BoundedReader, location: &Location, limited: &mut bool) -> Option<String> {
    let source = reader.read_if_possible(&location.place, limited)?;
    let line = source.text.split('\n').nth(location.line? - 1)?.trim();
    (!line.is_empty()).then(|| bounds::short(line, SHOWN_CHARACTERS))
}

/// One finding for each category about the places that have none yet.
fn by_category(locations: &Locations, shown: &[Option<String>]) -> Vec<KeyFinding> {
    let has_finding =
        |at: usize| shown.get(at).is_some_and(|line| line.is_some() && locations.best[at].name.is_some());
    let mut findings = Vec::new();
    for category in Category::ALL {
        let places: Vec<String> = locations
            .best
            .iter()
            .enumerate()
            .filter(|(at, location)| location.category == category && !has_finding(*at))
            .take(TOGETHER)
            .map(|(_, location)| match &location.name {
                Some(name) => format!("{} ({name})", location.reference()),
                None => location.reference().to_string(),
            })
            .collect();
        if !places.is_empty() {
            let text = format!("{}: {}", category.name(), places.join(", "));
            findings.push(KeyFinding::new(FindingKind::Places { category: Some(category) }, text));
        }
    }
    findings
}
