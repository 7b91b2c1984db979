//! The pattern finder: how it is done elsewhere, by two to six examples that differ.
//!
//! What the question names is looked for as a whole word in code; for tests, where tests begin; without a name, the places where
//! most of the question's rare words come together. Occurrences that look alike are one example, with their number.

mod co_occurrence;
mod examples;
mod shape;
mod snippet;
mod test_starts;

use tamis_codebase::{RootedPath, StopSignal};

use self::co_occurrence::{find_co_occurrences, find_phrases};
use self::examples::examples;
use self::test_starts::find_tests;
use super::Job;
use super::format::{MAX_FINDING_LENGTH, References, brief};
use super::name_search::{FileHits, Hit, HitKind, NameQuery, search_names};
use crate::locate::is_test;
use crate::question::Identifier;
use crate::{Confidence, KeyFinding, NotFound, NoteFact, Reference, ReportNote, ResearchFinding, RoleError};

const MAX_EXAMPLES: usize = 6;

/// A place that may be an example.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Occurrence {
    pub(super) place: RootedPath,
    /// From 0.
    pub(super) line: usize,
    /// What the place does with the name: places that do the same may be alike.
    pub(super) kind: HitKind,
    /// The more, the better an example.
    pub(super) worth: f64,
}

pub(crate) fn run(job: &Job, stop: &StopSignal) -> Result<ResearchFinding, RoleError> {
    let (subject, occurrences, missing) = occurrences(job, stop)?;
    let total = occurrences.len();
    let (examples, limited) = examples(&subject, occurrences, job, stop)?;
    let mut notes: Vec<ReportNote> = Vec::new();
    if limited {
        notes.push(NoteFact::read_limits(job.reader.budget.limits()).into());
    }
    let claims_absence = examples.is_empty() || !missing.is_empty();
    if !missing.is_empty() {
        notes.push(NoteFact::NamesNotFound(missing).into());
    }
    if claims_absence {
        notes.extend(job.locations.not_searched(&job.reader, stop)?.map(ReportNote::from));
    }
    if examples.is_empty() {
        let summary = format!("not found: no example of {} in these files", subject.render());
        let summary = brief(&summary, MAX_FINDING_LENGTH);
        return Ok(ResearchFinding::not_found(NotFound::Words, summary, notes));
    }
    let mut references = References::default();
    let mut findings = Vec::new();
    for example in &examples {
        let path = job.locations.files_by_word.shown(&job.reader.roots, &example.occurrence.place);
        references.add(&path, Some(example.line));
        let place = Reference::new(&path, Some(example.line));
        findings.push(KeyFinding::example(Some(place), example.render(&path)));
    }
    let confidence = match (&subject, examples.len()) {
        (Subject::Names(_), 2..) => Confidence::High,
        (Subject::Names(_), _) | (Subject::Words(_), 2..) => Confidence::Med,
        _ => Confidence::Low,
    };
    let shown = examples.len();
    if shown == 1 {
        notes.push(NoteFact::OneExample.into());
    }
    let examples = if shown == 1 { "example" } else { "examples" };
    let summary = brief(
        &format!("{shown} {examples} of {}, out of {total} places", subject.render()),
        MAX_FINDING_LENGTH,
    );
    Ok(ResearchFinding {
        summary,
        references: references.into_list(MAX_EXAMPLES),
        key_findings: findings,
        confidence,
        notes,
        not_found: None,
    })
}

/// What the examples are of.
enum Subject {
    Names(Vec<String>),
    Words(Vec<String>),
}

impl Subject {
    fn render(&self) -> String {
        match self {
            Subject::Names(names) => {
                names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            }
            Subject::Words(words) => format!("\u{201c}{}\u{201d}", words.join(" ")),
        }
    }
}

/// A phrase of several words where it is as it is; else the places in code where the words come together; else any place that has
/// the one word.
fn words_or_phrase(job: &Job, stop: &StopSignal) -> Result<(Vec<String>, Vec<Occurrence>), RoleError> {
    if job.question.is_for_tests() {
        let (words, tests) = find_tests(job, stop)?;
        if !tests.is_empty() {
            return Ok((words, tests));
        }
    }
    let phrases = job.question.phrases();
    let has_spaces = phrases.iter().any(|phrase| phrase.contains(' '));
    let exact = if has_spaces { find_phrases(job, &phrases, stop)? } else { Vec::new() };
    if !exact.is_empty() {
        return Ok((phrases, exact));
    }
    let (words, occurrences) = find_co_occurrences(job, stop)?;
    if occurrences.is_empty() && !has_spaces {
        let anywhere = find_phrases(job, &phrases, stop)?;
        return Ok((if words.is_empty() { phrases } else { words }, anywhere));
    }
    // None of the words is in a file: then they are named.
    Ok((if words.is_empty() { phrases } else { words }, occurrences))
}

/// Every place, and the names that no file has.
fn occurrences(job: &Job, stop: &StopSignal) -> Result<(Subject, Vec<Occurrence>, Vec<String>), RoleError> {
    let identifiers = &job.question.identifiers;
    let names: Vec<String> = identifiers.iter().map(|name| name.name.clone()).collect();
    if names.is_empty() {
        let (words, occurrences) = words_or_phrase(job, stop)?;
        return Ok((Subject::Words(words), occurrences, Vec::new()));
    }
    let query = |name: &String| NameQuery { name: name.clone(), uses: true, in_question: true };
    let owners = identifiers.iter().filter_map(|name| name.of.clone()).filter(|of| !names.contains(of));
    let queries = names.iter().cloned().chain(owners).map(|name| query(&name)).collect();
    let hits = search_names(&job.reader.roots, &job.locations, queries, &[], stop)?;
    let named = |file: &&FileHits| file.hits.iter().any(|hit| hit.name < names.len());
    let files: Vec<&FileHits> = hits.files.iter().filter(named).collect();
    let is_use =
        |hit: &&Hit| hit.name < names.len() && !matches!(hit.kind, HitKind::Definition | HitKind::Import);
    let distance = |file: &FileHits, hit: &Hit| {
        let has = |owner: &str| hits.number(owner).is_some_and(|at| file.names.binary_search(&at).is_ok());
        owner_distance(&identifiers[hit.name], hit, has)
    };
    let mut nearest = vec![usize::MAX; names.len()];
    for file in &files {
        for hit in file.hits.iter().filter(is_use) {
            nearest[hit.name] = nearest[hit.name].min(distance(file, hit));
        }
    }
    let mut found = Vec::new();
    for file in &files {
        for hit in file.hits.iter().filter(is_use) {
            if distance(file, hit) > nearest[hit.name] {
                continue;
            }
            // The first name is the subject; the others narrow it down.
            let about = 3.0 / (1.0 + hit.name as f64);
            let company = file.names.iter().filter(|name| **name < names.len()).count() as f64;
            let test = if is_test(&file.place.path) != job.question.is_for_tests() { 2.0 } else { 0.0 };
            let kind = match hit.kind {
                HitKind::Extension | HitKind::Decorator | HitKind::Call => 2.0,
                HitKind::Assignment => 1.0,
                HitKind::Mention | HitKind::Definition | HitKind::Import => 0.0,
            };
            let worth = about + company + kind - test;
            found.push(Occurrence { place: file.place.clone(), line: hit.line, kind: hit.kind, worth });
        }
    }
    let missing: Vec<String> = identifiers
        .iter()
        .enumerate()
        .filter(|(at, name)| name.certain && !hits.occurs(*at))
        .map(|(_, name)| name.name.clone())
        .collect();
    let names = names
        .into_iter()
        .enumerate()
        .filter(|(at, _)| hits.occurs(*at))
        .map(|(_, name)| name)
        .collect::<Vec<_>>();
    if found.is_empty() {
        let phrases = job.question.phrases();
        let occurrences = find_phrases(job, &phrases, stop)?;
        if !occurrences.is_empty() {
            return Ok((Subject::Words(phrases), occurrences, missing));
        }
    }
    let names = if names.is_empty() { missing.clone() } else { names };
    Ok((Subject::Names(names), found, missing))
}

/// How far a use is from the owner that the question names; 0 when it is that owner's, or when none is named.
fn owner_distance(wanted: &Identifier, hit: &Hit, file_has: impl Fn(&str) -> bool) -> usize {
    let Some(owner) = &wanted.of else { return 0 };
    let letters = |name: &str| name.replace('_', "").to_lowercase();
    match &hit.owner {
        // `registry.call` for `Registry.call`.
        Some(known) if letters(known).ends_with(&letters(owner)) => 0,
        // Imported without its owner.
        None if file_has(owner) => 1,
        Some(_) if file_has(owner) => 2,
        _ => 3,
    }
}
