//! The synthesis: one answer from the findings of all roles, in a report within its limit of tokens.
//!
//! Pure: the same outcomes give the same answer, in whatever order the roles ended.

mod fit;

use std::collections::BTreeMap;

pub(crate) use fit::fit;

use crate::bounds::finding as bounded;
use crate::{
    Category, Confidence, FindingKind, KeyFinding, NotFound, NoteFact, Reference, ReportNote,
    ResearchFinding, Role, RoleError, RoleOutcome,
};

/// Key findings of the answer, over all roles.
const MAX_FINDINGS: usize = 12;
/// A few lines beyond the files are enough: the findings have the others.
const MAX_REFERENCES: usize = 14;
/// The same with further passages of the files.
const MAX_PASSAGES: usize = 24;
/// Of them, to notes of former work.
const MAX_NOTES: usize = 4;

/// What a finding contributes to: the order of the answer, with how many of each kind it has.
const PRIORITIES: [(Priority, usize); 8] = [
    (Priority::Answer, 6),
    (Priority::Implementation, 3),
    (Priority::EntryPoint, 2),
    (Priority::Configuration, 2),
    (Priority::Other, 2),
    (Priority::Example, 3),
    (Priority::TestsAndDocs, 2),
    (Priority::History, 2),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Priority {
    Answer,
    Implementation,
    EntryPoint,
    Configuration,
    /// Places in no category.
    Other,
    Example,
    TestsAndDocs,
    History,
}

impl Priority {
    fn of(kind: &FindingKind) -> Priority {
        match kind {
            FindingKind::Explanation { .. } => Priority::Answer,
            FindingKind::Example { .. } => Priority::Example,
            FindingKind::History => Priority::History,
            FindingKind::Passage { category, .. } | FindingKind::Places { category } => match category {
                Some(Category::Implementation) => Priority::Implementation,
                Some(Category::EntryPoint) => Priority::EntryPoint,
                Some(Category::Configuration) => Priority::Configuration,
                Some(Category::Tests | Category::Docs) => Priority::TestsAndDocs,
                None => Priority::Other,
            },
        }
    }
}

/// What the roles found, and why the others have no finding.
type Found<'a> = BTreeMap<Role, &'a ResearchFinding>;
type Missing<'a> = BTreeMap<Role, &'a RoleError>;

/// The answer from all outcomes. `run_notes` are notes of the run and not of a role, such as that a limit was reached.
pub(crate) fn synthesise(
    outcomes: &BTreeMap<Role, RoleOutcome>,
    run_notes: &[ReportNote],
) -> ResearchFinding {
    let results = outcomes.iter().map(|(role, outcome)| (*role, &outcome.result));
    let found: Found<'_> =
        results.clone().filter_map(|(role, result)| Some((role, result.as_ref().ok()?))).collect();
    let missing: Missing<'_> =
        results.filter_map(|(role, result)| Some((role, result.as_ref().err()?))).collect();
    let references = references(&found);
    bounded(ResearchFinding {
        summary: summary(&found, &missing, references.is_empty()),
        key_findings: key_findings(&found),
        confidence: confidence(&found, &missing),
        notes: notes(&found, &missing, run_notes),
        not_found: references.is_empty().then_some(NotFound::Words),
        references,
    })
}

/// The roles' summaries: how it works, else where it is; then examples and notes. Names the locator's first file where the
/// analyzer is about another one.
fn summary(found: &Found<'_>, missing: &Missing<'_>, nothing: bool) -> String {
    let of = |role: Role| found.get(&role).copied();
    let telling = |finding: &&ResearchFinding| !finding.references.is_empty();
    let mut sentences: Vec<&str> = Vec::new();
    let mut says_not_found = false;
    let answers = [Role::Analyzer, Role::Locator].map(|role| of(role).filter(telling));
    // A confident analyzer needs no addition; one of low confidence comes second.
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
        // The analyzer may say which name it is that is in no file.
        let by_name = of(Role::Analyzer).filter(|finding| finding.not_found == Some(NotFound::Names));
        let finding = by_name.or(of(Role::Locator));
        says_not_found = finding.is_some_and(|finding| finding.not_found.is_some());
        sentences.extend(finding.map(|finding| &*finding.summary));
    }
    let mut text = String::new();
    let mut added: Vec<&str> = Vec::new();
    for sentence in sentences.into_iter().map(str::trim).filter(|sentence| !sentence.is_empty()) {
        if added.contains(&sentence) {
            continue;
        }
        added.push(sentence);
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(sentence);
        if !sentence.ends_with(['.', '!', '?', '…', ':']) {
            text.push('.');
        }
    }
    // A search that did not finish is not the same as one that found nothing.
    let looked = !missing.contains_key(&Role::Locator);
    if nothing && !says_not_found {
        let opening = if looked { "Not found." } else { "Not found, because the search did not finish." };
        text = if text.is_empty() { opening.to_owned() } else { format!("{opening} {text}") };
    }
    text
}

/// The first ten are different files, in the order of the locator, then of the others; further lines of the same files
/// follow. Of two that differ only in how exactly they point, the more exact one takes the place of the first.
fn references(found: &Found<'_>) -> Vec<Reference> {
    // Notes have a root of their own, where the same path is another file, so they are not merged.
    let notes = found.get(&Role::Thoughts).into_iter().flat_map(|finding| &finding.references);
    let of_code = found.iter().filter(|(role, _)| **role != Role::Thoughts);
    let all = of_code.flat_map(|(_, finding)| &finding.references);
    let merge =
        |list: &mut Vec<Reference>, reference: &Reference, same: fn(&Reference, &Reference) -> bool| {
            match list.iter_mut().find(|known| same(known, reference)) {
                None => list.push(reference.clone()),
                Some(known) if more_exact(reference, known) => *known = reference.clone(),
                Some(_) => {}
            }
        };
    let mut files: Vec<Reference> = Vec::new();
    for reference in all.clone() {
        merge(&mut files, reference, |known, other| known.path() == other.path());
    }
    let mut others: Vec<Reference> = Vec::new();
    for reference in all {
        let is_known = files.iter().any(|known| known.split() == reference.split());
        if reference.split().1.is_some() && !is_known {
            merge(&mut others, reference, |known, other| known.split() == other.split());
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

/// Adds further passages of the files after the first reference of each. What a passage includes is not listed beside it.
pub(crate) fn add_passages(answer: &mut ResearchFinding, passages: impl Iterator<Item = Reference>) {
    let mut files: Vec<&str> = Vec::new();
    for reference in &answer.references {
        if files.contains(&reference.path()) {
            break;
        }
        files.push(reference.path());
    }
    let others = answer.references.split_off(files.len());
    for reference in passages.chain(others) {
        let is_known = |known: &Reference| known.is_same_place(&reference) || known.includes(&reference);
        if answer.references.len() < MAX_PASSAGES && !answer.references.iter().any(is_known) {
            answer.references.push(reference);
        }
    }
}

/// Whether one reference is for the same place as another, and more exact.
fn more_exact(one: &Reference, other: &Reference) -> bool {
    match (one.split().1, other.split().1) {
        (Some(_), None) => true,
        (Some(line), Some(known)) => line == known && one.as_str().len() > other.as_str().len(),
        _ => false,
    }
}

fn key_findings(found: &Found<'_>) -> Vec<KeyFinding> {
    let mut chosen: Vec<KeyFinding> = Vec::new();
    for (priority, most) in PRIORITIES {
        let all = found.values().flat_map(|finding| &finding.key_findings);
        for finding in all.filter(|finding| Priority::of(&finding.kind) == priority).take(most) {
            let finding = finding.shortened();
            let known = |one: &KeyFinding| one.text == finding.text || explains(one, &finding);
            if chosen.len() < MAX_FINDINGS && !chosen.iter().any(known) {
                chosen.push(finding);
            }
        }
    }
    chosen
}

/// Whether an explanation gives the place of the passage that another finding points at.
fn explains(explanation: &KeyFinding, passage: &KeyFinding) -> bool {
    match (&explanation.kind, &passage.kind) {
        (FindingKind::Explanation { places }, FindingKind::Passage { place, .. }) => {
            places.iter().any(|known| known.is_same_place(place))
        }
        _ => false,
    }
}

/// The confidence of the role that answers; never high when a role is missing.
fn confidence(found: &Found<'_>, missing: &Missing<'_>) -> Confidence {
    let answering = [Role::Analyzer, Role::Locator, Role::Patterns, Role::Thoughts]
        .into_iter()
        .filter_map(|role| found.get(&role))
        .find(|finding| !finding.references.is_empty());
    let confidence = answering.map_or(Confidence::Low, |finding| finding.confidence);
    if missing.is_empty() { confidence } else { confidence.min(Confidence::Med) }
}

fn notes(found: &Found<'_>, missing: &Missing<'_>, run_notes: &[ReportNote]) -> Vec<ReportNote> {
    let mut notes: Vec<ReportNote> = run_notes.to_vec();
    notes.extend(missing.iter().map(|(role, error)| NoteFact::RoleFailed(*role, (*error).clone()).into()));
    let mut known: Vec<NoteFact> = notes.iter().map(|note| note.fact.clone()).collect();
    for (role, finding) in found {
        let facts: Vec<NoteFact> = finding.notes.iter().map(|note| note.fact.clone()).collect();
        // What several roles state is stated once.
        if !facts.iter().all(|fact| known.contains(fact)) {
            known.extend(facts.iter().cloned());
            notes.push(NoteFact::OfRole(*role, facts).into());
        }
    }
    notes
}

#[cfg(test)]
mod tests;
