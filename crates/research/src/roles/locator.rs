//! The locator: where things are.
//!
//! [`locate`](crate::locate::locate) ranks all files and their passages; this makes a finding of the [`Locations`].

use tamis_codebase::StopSignal;

use super::Job;
use crate::bounds;
use crate::locate::{Category, Location, Locations, Passage};
use crate::question::Question;
use crate::{
    Confidence, FindingKind, KeyFinding, NotFound, NoteFact, Reference, ReportNote, ResearchFinding,
    RoleError,
};

/// The coverage from which on the locator is confident.
const COVERED: f64 = 0.6;
/// Files of which a line is shown.
const SHOWN: usize = 5;
const SHOWN_CHARACTERS: usize = 90;
/// Places in the finding of a category.
const TOGETHER: usize = 6;

/// The locator's finding.
pub(super) fn run(job: &Job, stop: &StopSignal) -> Result<ResearchFinding, RoleError> {
    let locations = &job.locations;
    let mut notes: Vec<ReportNote> = Vec::new();
    if !locations.absent.is_empty() {
        notes.push(NoteFact::InNoFile(locations.absent.clone()).into());
    }
    if !locations.absent.is_empty() || locations.best.is_empty() {
        notes.extend(locations.not_searched(&job.reader, stop)?.map(ReportNote::from));
    }
    Ok(finding(&job.question, locations, notes, job.alone))
}

/// Where it is the whole report, it has all passages; else the synthesis adds them.
fn finding(
    question: &Question,
    locations: &Locations,
    notes: Vec<ReportNote>,
    alone: bool,
) -> ResearchFinding {
    let Some(best) = locations.best.first() else {
        let about = if question.names.is_empty() && question.terms.is_empty() {
            "the question has no word to search for".to_owned()
        } else {
            format!("nothing in the {} files searched matches", locations.files_scanned)
        };
        return ResearchFinding::not_found(NotFound::Words, format!("Not found: {about}."), notes);
    };
    let (shown, rest) = locations.best.split_at(locations.best.len().min(SHOWN));
    let most = shown.iter().map(|location| location.passages.len()).max().unwrap_or(0);
    let mut key_findings = Vec::new();
    for number in 0..if alone { most } else { most.min(1) } {
        let passages = shown.iter().filter_map(|location| Some((location, location.passages.get(number)?)));
        key_findings.extend(passages.map(|(location, passage)| location.describe(passage)));
        if number == 0 {
            key_findings.extend(by_category(rest));
        }
    }
    let mut references: Vec<Reference> = locations.best.iter().map(Location::reference).collect();
    if alone {
        references.extend(further_passages(locations));
    }
    let defined = |location: &&Location| {
        locations.declares(location)
            || question.names.iter().any(|name| !name.doubtful && location.name() == Some(&name.text))
    };
    let named = locations.best.iter().find(defined);
    let answer = match (named, best.passages.first().and_then(|passage| passage.name.as_deref())) {
        (Some(location), _) => {
            format!("{} is defined at {}.", location.name().unwrap_or_default(), location.start())
        }
        (None, Some(name)) if best.name().is_some() => {
            format!("The best match is {name} at {}.", best.start())
        }
        (None, Some(name)) => format!("The best match is in {name} at {}.", best.reference()),
        (None, None) => format!("The best match is {}.", best.reference()),
    };
    ResearchFinding {
        summary: format!(
            "{answer} {} of {} files searched look relevant.",
            locations.best.len(),
            locations.files_scanned
        ),
        references,
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

/// The passages of each file after its first, in the order of the files.
pub(crate) fn further_passages(locations: &Locations) -> impl Iterator<Item = Reference> {
    locations
        .best
        .iter()
        .flat_map(|location| location.passages.iter().skip(1).map(|passage| location.lines_of(passage)))
}

impl Location {
    /// The best passage; the file when it was not read.
    pub(crate) fn reference(&self) -> Reference {
        match self.passages.first() {
            Some(passage) => self.lines_of(passage),
            None => Reference::new(&self.shown, None),
        }
    }

    fn lines_of(&self, passage: &Passage) -> Reference {
        Reference::of_lines(&self.shown, passage.first, passage.last)
    }

    /// The line where the best passage begins.
    fn start(&self) -> Reference {
        Reference::new(&self.shown, self.line())
    }

    /// What a passage is, with one line of it.
    fn describe(&self, passage: &Passage) -> KeyFinding {
        let (category, place) = (self.category, self.lines_of(passage));
        let name = match &passage.name {
            Some(name) if passage.defines => format!(" defines {name}"),
            Some(name) => format!(" in {name}"),
            None => String::new(),
        };
        let line = bounds::short(&passage.line, SHOWN_CHARACTERS);
        let line = if line.is_empty() { String::new() } else { format!(": {line}") };
        let short = format!("{}: {place}{name}", category.name());
        KeyFinding {
            text: format!("{short}{line}"),
            short: Some(short),
            kind: FindingKind::Passage { category: Some(category), place },
        }
    }
}

/// One finding for each category about these files.
fn by_category(locations: &[Location]) -> Vec<KeyFinding> {
    let mut findings = Vec::new();
    for category in Category::ALL {
        let places: Vec<String> = locations
            .iter()
            .filter(|location| location.category == category)
            .take(TOGETHER)
            .map(|location| match location.passages.first().and_then(|passage| passage.name.as_ref()) {
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
