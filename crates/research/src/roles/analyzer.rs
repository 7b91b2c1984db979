//! The analyzer: how things work that a question is about.
//!
//! For each of the definitions that matter: what it is, who uses it, what it uses, what it touches and raises, each with its
//! place. The map's best files are read; the rest is one search of all files for the names in play.

mod callers;
mod choose;
mod data;
mod describe;
mod file;
mod similar_names;
mod target;
mod value;

use tamis_codebase::{RootedPath, StopSignal};

use self::callers::is_ubiquitous;
use self::choose::{choose, choose_from_search};
use self::describe::Description;
use self::file::describe_file;
use self::similar_names::{SimilarName, find_similar_names};
use self::target::Target;
use self::value::describe_values;
use super::Job;
use super::format::{MAX_FINDING_LENGTH, brief};
use super::name_search::{NameHits, NameQuery, search_names};
use crate::locate::Locations;
use crate::question::Question;
use crate::{Confidence, NotFound, NoteFact, Reference, ReportNote, ResearchFinding, RoleError};

/// Names that one search looks for.
const MAX_SOUGHT: usize = 120;

pub(crate) fn run(job: &Job, stop: &StopSignal) -> Result<ResearchFinding, RoleError> {
    let question = job.question.as_ref();
    if let Some(place) = job.locations.named_file() {
        return Ok(describe_file(place, &job.reader));
    }
    if !job.locations.values.is_empty() {
        return Ok(describe_values(&job.locations, &job.reader));
    }
    let mut chosen = choose(question, &job.locations, &job.reader);
    stop.check()?;
    let targets = chosen.named.iter().chain(&chosen.unnamed);
    let homes: Vec<RootedPath> = targets.clone().map(|target| target.place.clone()).collect();
    let queries = name_queries(question, targets);
    let hits = &search_names(&job.reader.roots, &job.locations, queries, &homes, stop)?;
    choose_from_search(&mut chosen, question, hits, &job.reader);
    let missing = names_in_no_file(question, hits);
    let mut notes: Vec<ReportNote> = Vec::new();
    if chosen.limited {
        notes.push(NoteFact::read_limits(job.reader.budget.limits()).into());
    }
    if !missing.is_empty() {
        notes.extend(job.locations.not_searched(&job.reader, stop)?.map(ReportNote::from));
    }
    for target in chosen.named.iter_mut().chain(&mut chosen.unnamed) {
        target.shown = job.locations.files_by_word.shown(&job.reader.roots, &target.place);
    }
    let mut description = Description::default();
    let mut targets = chosen.named;
    if targets.is_empty() {
        // Nothing can be described of names that are in no file.
        let certain = question.certain_names().count();
        if certain > 0 && missing.len() == certain {
            let near = find_similar_names(&job.reader.roots, &missing, stop)?;
            return Ok(not_found(&missing, &[], near, notes));
        }
        description.places_of_names(question, hits);
        targets = chosen.unnamed;
    }
    if targets.is_empty() && description.findings.is_empty() {
        if missing.is_empty() {
            notes.extend(job.locations.not_searched(&job.reader, stop)?.map(ReportNote::from));
        }
        return Ok(not_found(&missing, &job.locations.keywords, Vec::new(), notes));
    }
    description.describe(question, &targets, hits);
    let confidence = confidence(&targets, &job.locations, &description, question.wants_tests);
    if !missing.is_empty() {
        notes.push(NoteFact::NamesNotFound(missing).into());
    }
    Ok(description.finding(&targets, notes, confidence))
}

/// All names in play, the important ones first.
fn name_queries<'a>(
    question: &Question,
    targets: impl Iterator<Item = &'a Target> + Clone,
) -> Vec<NameQuery> {
    let mut list: Vec<NameQuery> = Vec::new();
    let mut add = |name: &str, uses: bool| {
        if let Some(known) = list.iter_mut().find(|known| known.name == name) {
            known.uses |= uses;
        } else if list.len() < MAX_SOUGHT && !name.is_empty() {
            list.push(NameQuery { name: name.to_owned(), uses, in_question: question.is_named(name) });
        }
    };
    for target in targets.clone() {
        add(target.used_as(), true);
    }
    for name in question.certain_names() {
        add(&name.name, true);
    }
    for target in targets {
        target.parent.iter().for_each(|parent| add(parent, false));
        let elsewhere =
            |name: &str| !is_ubiquitous(name) && target.neighbours.iter().all(|known| known.name != name);
        target
            .callees()
            .into_iter()
            .filter(|call| elsewhere(&call.name))
            .for_each(|call| add(&call.name, false));
    }
    list
}

/// Names of the question that no file has.
fn names_in_no_file(question: &Question, hits: &NameHits) -> Vec<String> {
    let occurs = |name: &str| hits.number(name).is_none_or(|number| hits.occurs(number));
    question.certain_names().filter(|name| !occurs(&name.name)).map(|name| name.name.clone()).collect()
}

/// High only where the question names the one definition that is described; for one matched by words, med at best, and only
/// where the locator ranks the same file high.
fn confidence(
    targets: &[Target],
    locations: &Locations,
    description: &Description,
    tests_wanted: bool,
) -> Confidence {
    let Some(target) = targets.first() else {
        return if description.findings.is_empty() { Confidence::Low } else { Confidence::Med };
    };
    if target.named {
        let plain = description.namesakes.is_empty() && target.coverage >= COVERED_BY_NAMED;
        return if plain { Confidence::High } else { Confidence::Med };
    }
    // Tests are never the locator's first.
    let agreed = locations.best.iter().take(if tests_wanted { locations.best.len() } else { AGREED });
    let agreed = agreed.map(|location| &location.place).any(|place| *place == target.place);
    let covered = locations.coverage >= COVERED_BY_MAP && target.coverage >= COVERED_BY_UNNAMED;
    if agreed && covered { Confidence::Med } else { Confidence::Low }
}

/// What shares of the question's words a definition, or the locator's best places, must have.
const COVERED_BY_NAMED: f64 = 0.3;
const COVERED_BY_UNNAMED: f64 = 0.25;
const COVERED_BY_MAP: f64 = 0.6;
/// The definition's file must be among this many of the locator's best.
const AGREED: usize = 3;

fn not_found(
    missing: &[String],
    words: &[String],
    similar: Vec<SimilarName>,
    mut notes: Vec<ReportNote>,
) -> ResearchFinding {
    let listed =
        |words: &[String]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let names = listed(missing);
    let (summary, not_found) = match missing {
        [] => {
            let words = match words {
                [] => "the words of the question".to_owned(),
                words => listed(words),
            };
            (format!("not found: no definition contains {words}"), NotFound::Words)
        }
        _ => (format!("not found: {names} is not in any file"), NotFound::Names),
    };
    // A note and no reference: a similar name is not what the question is about.
    if !similar.is_empty() {
        let place = |one: &SimilarName| Reference::new(&one.place.path, Some(one.line));
        let similar = similar.iter().map(|one| (one.name.clone(), place(one))).collect();
        notes.push(NoteFact::SimilarNames(similar).into());
    }
    ResearchFinding::not_found(not_found, brief(&summary, MAX_FINDING_LENGTH), notes)
}
