//! One answer of what the roles found, and the whole report in no more tokens than were asked for.
//!
//! Both are pure: the same outcomes give the same answer, in whatever order the roles ended.

mod fit;

pub(crate) use fit::fit;

use crate::bounds::{cut, finding as bounded};
use crate::{Confidence, Reference, ResearchFinding, Role, RoleError, RoleOutcome};

/// Key findings of the answer, over all roles.
const MAX_FINDINGS: usize = 12;
/// The findings have the lines: beyond the files, a few are enough.
const MAX_REFERENCES: usize = 14;
/// Of them to notes of former work.
const MAX_NOTES: usize = 4;
/// Characters of a pattern in the answer: its head, without the snippet, which is in the role's own findings.
const PATTERN: usize = 160;

/// What a finding contributes to: the order of the answer, with how many of each kind it has.
const PRIORITIES: [(Kind, usize); 8] = [
    (Kind::Answer, 6),
    (Kind::Implementation, 3),
    (Kind::EntryPoint, 2),
    (Kind::Configuration, 2),
    (Kind::Other, 2),
    (Kind::Pattern, 3),
    (Kind::TestsAndDocs, 2),
    (Kind::History, 2),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Answer,
    Implementation,
    EntryPoint,
    Configuration,
    /// Of the locator, in no category.
    Other,
    Pattern,
    TestsAndDocs,
    History,
}

impl Kind {
    fn of(role: Role, finding: &str) -> Kind {
        // The locator says of each place what it is.
        let category = |name: &str| finding.starts_with(name);
        match role {
            Role::Analyzer => Kind::Answer,
            Role::Patterns => Kind::Pattern,
            Role::Thoughts => Kind::History,
            Role::Locator if category("implementation") => Kind::Implementation,
            Role::Locator if category("entry point") => Kind::EntryPoint,
            Role::Locator if category("configuration") => Kind::Configuration,
            Role::Locator if category("tests") || category("docs") => Kind::TestsAndDocs,
            Role::Locator => Kind::Other,
        }
    }
}

/// The answer that the outcomes add up to. `remarks` are what else must be said, such as that a limit was reached.
pub(crate) fn synthesise(outcomes: &[(Role, &RoleOutcome)], remarks: &[String]) -> ResearchFinding {
    let found: Vec<(Role, &ResearchFinding)> =
        outcomes.iter().filter_map(|(role, outcome)| Some((*role, outcome.result.as_ref().ok()?))).collect();
    let missing: Vec<(Role, &RoleError)> =
        outcomes.iter().filter_map(|(role, outcome)| Some((*role, outcome.result.as_ref().err()?))).collect();
    let references = references(&found);
    bounded(ResearchFinding {
        summary: summary(&found, &missing, references.is_empty()),
        key_findings: key_findings(&found),
        confidence: confidence(&found, &missing, references.is_empty()),
        notes: notes(&found, &missing, remarks),
        references,
    })
}

/// The roles' own words: how it works, else where it is; then what examples and notes there are. Where the locator has
/// another file first than the one that is told of, that is said too.
fn summary(found: &[(Role, &ResearchFinding)], missing: &[(Role, &RoleError)], nothing: bool) -> String {
    let of = |wanted: Role| found.iter().find(|(role, _)| *role == wanted).map(|(_, finding)| *finding);
    let telling = |finding: &&ResearchFinding| !finding.references.is_empty();
    let mut sentences: Vec<&str> = Vec::new();
    let answers = [Role::Analyzer, Role::Locator].map(|role| of(role).filter(telling));
    // Who is sure need not be told of others, and who is not comes second.
    let best = match answers {
        [Some(analyzer), Some(locator)]
            if analyzer.confidence < Confidence::High
                && analyzer.references[0].path() != locator.references[0].path() =>
        {
            Some((analyzer.confidence, format!("Best-matching file: {}.", locator.references[0])))
        }
        _ => None,
    };
    let doubtful = best.as_ref().is_some_and(|(confidence, _)| *confidence == Confidence::Low);
    sentences.extend(answers.iter().flatten().next().map(|finding| &*finding.summary));
    if let Some((_, best)) = &best {
        sentences.insert(if doubtful { 0 } else { sentences.len() }, best);
    }
    for role in [Role::Patterns, Role::Thoughts] {
        sentences.extend(of(role).filter(telling).map(|finding| &*finding.summary));
    }
    if nothing {
        // The analyzer says which name it is that is nowhere.
        let said = [Role::Locator, Role::Analyzer].map(|role| of(role).map(|finding| &*finding.summary));
        let by_name = said[1].filter(|said| said.contains('`'));
        sentences.extend(by_name.or(said[0]));
    }
    let mut text = String::new();
    for sentence in sentences.into_iter().map(str::trim).filter(|sentence| !sentence.is_empty()) {
        if text.contains(sentence) {
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(sentence);
        if !sentence.ends_with(['.', '!', '?', '…', ':']) {
            text.push('.');
        }
    }
    // A search that was broken off found nothing either, but that is not the same.
    let looked = !missing.iter().any(|(role, _)| *role == Role::Locator);
    if nothing && !text.to_lowercase().contains("not found") {
        let said = if looked { "Not found." } else { "Not found, since the search did not come to its end." };
        text = if text.is_empty() { said.to_owned() } else { format!("{said} {text}") };
    }
    text
}

/// The first ten are different files, in the order of the locator, then of the others; further lines of the same files
/// follow. Of two that differ only in how exactly they point, the more exact one takes the place of the first.
fn references(found: &[(Role, &ResearchFinding)]) -> Vec<Reference> {
    // Notes lie in a root of their own, where the same path is another file: they follow, and are merged with nothing.
    let of_notes = |(role, _): &&(Role, &ResearchFinding)| *role == Role::Thoughts;
    let notes = found.iter().filter(of_notes).flat_map(|(_, finding)| &finding.references);
    let all = || found.iter().filter(|one| !of_notes(one)).flat_map(|(_, finding)| &finding.references);
    let mut files: Vec<Reference> = Vec::new();
    for reference in all() {
        let path = reference.path();
        match files.iter_mut().find(|known| known.path() == path) {
            None => files.push(reference.clone()),
            Some(known) if more_exact(reference, known) => *known = reference.clone(),
            Some(_) => {}
        }
    }
    let mut others: Vec<Reference> = Vec::new();
    for reference in all() {
        let (path, line) = reference.split();
        let said = |known: &&Reference| known.split() == (path, line);
        if line.is_none() || files.iter().any(|known| said(&known)) {
            continue;
        }
        match others.iter_mut().find(|known| known.split() == (path, line)) {
            None => others.push(reference.clone()),
            Some(known) if more_exact(reference, known) => *known = reference.clone(),
            Some(_) => {}
        }
    }
    let mut references = files;
    references.extend(others);
    let notes: Vec<&Reference> =
        notes.filter(|note| !references.iter().any(|known| known.path() == note.path())).collect();
    references.truncate(MAX_REFERENCES - notes.len().min(MAX_NOTES));
    references.extend(notes.into_iter().take(MAX_NOTES).cloned());
    references
}

/// Whether one says the same place as another, and more of it.
fn more_exact(one: &Reference, other: &Reference) -> bool {
    match (one.split().1, other.split().1) {
        (Some(_), None) => true,
        (Some(line), Some(known)) => line == known && one.as_str().len() > other.as_str().len(),
        _ => false,
    }
}

fn key_findings(found: &[(Role, &ResearchFinding)]) -> Vec<String> {
    let mut chosen: Vec<String> = Vec::new();
    for (kind, most) in PRIORITIES {
        let of_kind = found
            .iter()
            .flat_map(|(role, finding)| finding.key_findings.iter().map(move |text| (*role, text)))
            .filter(|(role, text)| Kind::of(*role, text) == kind)
            .take(most);
        for (role, text) in of_kind {
            let text = match kind {
                Kind::Pattern => cut(text.lines().next().unwrap_or_default(), PATTERN).into_owned(),
                _ if role == Role::Locator => place_alone(text).to_owned(),
                _ => text.clone(),
            };
            if role == Role::Locator && chosen.iter().any(|told| tells_of(told, &text)) {
                continue;
            }
            if chosen.len() < MAX_FINDINGS && !chosen.contains(&text) {
                chosen.push(text);
            }
        }
    }
    chosen
}

/// `implementation: a.rs:1 defines parse: fn parse(…)` without what stands there, which the locator's own findings have.
fn place_alone(text: &str) -> &str {
    let name = text.find(DEFINES).map(|at| at + DEFINES.len());
    let end = name.and_then(|from| Some(from + text[from..].find(": ")?));
    &text[..end.unwrap_or(text.len())]
}

/// Whether a finding says already where the definition is that the locator's finding points at.
fn tells_of(told: &str, text: &str) -> bool {
    let place = text.split_once(DEFINES).and_then(|(place, _)| place.split_whitespace().last());
    place.is_some_and(|place| told.contains(&format!("({place})")))
}

const DEFINES: &str = " defines ";

/// That of the role that answers; never high when something is missing.
fn confidence(
    found: &[(Role, &ResearchFinding)],
    missing: &[(Role, &RoleError)],
    nothing: bool,
) -> Confidence {
    if nothing {
        return Confidence::Low;
    }
    let telling = found.iter().filter(|(_, finding)| !finding.references.is_empty());
    let answering = [Role::Analyzer, Role::Locator, Role::Patterns, Role::Thoughts]
        .into_iter()
        .find_map(|wanted| telling.clone().find(|(role, _)| *role == wanted));
    let confidence = answering.map_or(Confidence::Low, |(_, finding)| finding.confidence);
    if missing.is_empty() { confidence } else { confidence.min(Confidence::Med) }
}

fn notes(
    found: &[(Role, &ResearchFinding)],
    missing: &[(Role, &RoleError)],
    remarks: &[String],
) -> Option<String> {
    let mut notes: Vec<String> = remarks.to_vec();
    notes.extend(missing.iter().map(|(role, error)| missing_role(*role, error)));
    for (role, finding) in found {
        // What one role says of itself, and all the same, is said once.
        if let Some(note) = finding.notes.as_deref().map(str::trim).filter(|note| !note.is_empty())
            && !notes.iter().any(|known| known.contains(note))
        {
            notes.push(format!("{}: {note}", role.key()));
        }
    }
    (!notes.is_empty()).then(|| notes.join(" "))
}

/// That a role is missing, and why, in one sentence.
pub(crate) fn missing_role(role: Role, error: &RoleError) -> String {
    let ended = match error.kind.status() {
        "timeout" => "ran out of time",
        "canceled" => "was cancelled",
        _ => "failed",
    };
    let message = cut(&error.message, 160);
    format!("{} {ended} ({}: {}).", role.key(), error.kind.name(), message.trim_end_matches('.'))
}

#[cfg(test)]
mod tests;
