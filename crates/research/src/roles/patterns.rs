//! The pattern finder: how it is done elsewhere, by two to six examples that differ.
//!
//! What the question names is looked for as a whole word in code; without a name, the places where most of the question's
//! rare words come together. Places that look alike are one example, and it is said how many there are.

mod examples;
mod places_of_words;
mod shape;
mod snippet;

use tamis_codebase::{Halt, Place};

use self::examples::examples;
use self::places_of_words::places_of_words;
use super::Job;
use super::asked::Asked;
use super::places::is_test;
use super::survey::{HitKind, Sought, survey};
use super::wording::{LONGEST_FINDING, References, brief};
use crate::{Confidence, Fault, Finding};

const MOST_EXAMPLES: usize = 6;

/// A place that may be an example.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sighting {
    pub(super) place: Place,
    /// From 0.
    pub(super) line: usize,
    /// What the place does with the name: places that do the same may be alike.
    pub(super) kind: HitKind,
    /// The more, the better an example.
    pub(super) worth: f64,
}

pub(crate) fn run(job: &Job, halt: &Halt) -> Result<Finding, Fault> {
    let asked = Asked::of(&job.question.text);
    let (subject, sightings, missing) = sightings(&asked, job, halt)?;
    let total = sightings.len();
    let (examples, limited) = examples(&subject, sightings, job, halt)?;
    let limit_note = "the limits of this request left files unread: there may be other examples";
    let mut notes: Vec<String> = Vec::new();
    if limited {
        notes.push(limit_note.to_owned());
    }
    if !missing.is_empty() {
        notes.push(format!("not found in any file: {}", missing.join(", ")));
    }
    let notes = (!notes.is_empty()).then(|| brief(&notes.join("; "), LONGEST_FINDING));
    if examples.is_empty() {
        let summary = format!("not found: no example of {} in these files", subject.told());
        let summary = brief(&summary, LONGEST_FINDING);
        return Ok(Finding {
            summary,
            references: Vec::new(),
            key_findings: Vec::new(),
            confidence: Confidence::Low,
            notes,
        });
    }
    let mut references = References::default();
    let mut findings = Vec::new();
    for example in &examples {
        references.add(&example.sighting.place.path, Some(example.line));
        findings.push(example.told());
    }
    let confidence = match (&subject, examples.len()) {
        (Subject::Names(_), 2..) => Confidence::High,
        (Subject::Names(_), _) | (Subject::Words(_), 2..) => Confidence::Med,
        _ => Confidence::Low,
    };
    let shown = examples.len();
    let examples = if shown == 1 { "example" } else { "examples" };
    let summary =
        brief(&format!("{shown} {examples} of {}, out of {total} places", subject.told()), LONGEST_FINDING);
    Ok(Finding {
        summary,
        references: references.into_list(MOST_EXAMPLES),
        key_findings: findings,
        confidence,
        notes,
    })
}

/// What examples are wanted of.
enum Subject {
    Names(Vec<String>),
    Words(Vec<String>),
}

impl Subject {
    fn told(&self) -> String {
        match self {
            Subject::Names(names) => {
                names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            }
            Subject::Words(words) => format!("\u{201c}{}\u{201d}", words.join(" ")),
        }
    }
}

/// Every place, and the names that no file has.
fn sightings(asked: &Asked, job: &Job, halt: &Halt) -> Result<(Subject, Vec<Sighting>, Vec<String>), Fault> {
    let names: Vec<String> = asked.names.iter().map(|name| name.name.clone()).collect();
    if names.is_empty() {
        let (words, sightings) = places_of_words(asked, job, halt)?;
        return Ok((Subject::Words(words), sightings, Vec::new()));
    }
    let sought: Vec<Sought> =
        names.iter().map(|name| Sought { name: name.clone(), uses: true, asked: true }).collect();
    let survey = survey(&job.view.roots, &job.map, &sought, &[], halt)?;
    let mut found = Vec::new();
    let heard = |number: usize| survey.files.iter().any(|file| file.names.binary_search(&number).is_ok());
    for file in &survey.files {
        for hit in &file.hits {
            // The first name is what it is about; the others say where.
            let about = 3.0 / (1.0 + hit.name as f64);
            let company = file.names.len() as f64;
            let test = if is_test(&file.place.path) { 2.0 } else { 0.0 };
            let kind = match hit.kind {
                HitKind::Definition | HitKind::Import => continue,
                HitKind::Extension | HitKind::Decorator | HitKind::Call => 2.0,
                HitKind::Assignment => 1.0,
                HitKind::Mention => 0.0,
            };
            let worth = about + company + kind - test;
            found.push(Sighting { place: file.place.clone(), line: hit.line, kind: hit.kind, worth });
        }
    }
    let missing: Vec<String> = asked
        .names
        .iter()
        .enumerate()
        .filter(|(at, name)| name.sure && !heard(*at))
        .map(|(_, name)| name.name.clone())
        .collect();
    let names =
        names.into_iter().enumerate().filter(|(at, _)| heard(*at)).map(|(_, name)| name).collect::<Vec<_>>();
    let names = if names.is_empty() { missing.clone() } else { names };
    Ok((Subject::Names(names), found, missing))
}
