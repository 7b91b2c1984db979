//! The analyzer: how things work that a question is about.
//!
//! For each of the definitions that matter: what it is, who uses it, what it uses, what it touches and raises, each with its
//! place. The map's best files are read; the rest is one search of all files for the names in play.

mod choose;
mod data;
mod flow;
mod near;
mod target;
mod telling;

use tamis_codebase::{Halt, Place};

use self::choose::{choose, choose_surveyed};
use self::flow::{Surveyed, is_ubiquitous};
use self::near::{Near, near_names};
use self::target::Target;
use self::telling::Telling;
use super::Job;
use super::asked::Asked;
use super::survey::{Sought, survey};
use super::wording::{LONGEST_FINDING, brief};
use crate::map::Map;
use crate::{Confidence, Fault, Finding};

/// Names that one search looks for.
const MOST_SOUGHT: usize = 120;

pub(crate) fn run(job: &Job, halt: &Halt) -> Result<Finding, Fault> {
    let asked = Asked::of(&job.question.text);
    let mut chosen = choose(&asked, &job.map, &job.view);
    halt.check()?;
    let sought = sought(&asked, chosen.named.iter().chain(&chosen.unnamed));
    let targets = || chosen.named.iter().chain(&chosen.unnamed);
    let homes: Vec<Place> = targets().map(|target| target.place.clone()).collect();
    let survey = survey(&job.view.roots, &job.map, &sought, &homes, halt)?;
    let surveyed = Surveyed { sought: &sought, survey: &survey };
    choose_surveyed(&mut chosen, &asked, &sought, &survey, &job.view);
    let limited = chosen.limited;
    let missing = unheard_of(&asked, surveyed);
    let mut telling = Telling::default();
    let mut targets = chosen.named;
    if targets.is_empty() {
        // Of something that is nowhere, there is nothing to tell.
        let sure = asked.names_surely().count();
        if sure > 0 && missing.len() == sure {
            let near = near_names(&job.view.roots, &missing, halt)?;
            return Ok(not_found(&missing, &near, limited));
        }
        telling.places_of_names(&asked, surveyed);
        targets = chosen.unnamed;
    }
    if targets.is_empty() && telling.findings.is_empty() {
        return Ok(not_found(&missing, &[], limited));
    }
    telling.tell(&asked, &targets, surveyed);
    let confidence = confidence(&targets, &job.map, &telling, asked.wants_tests);
    Ok(telling.finding(&targets, &missing, limited, confidence))
}

/// All names in play, the important ones first.
fn sought<'a>(asked: &Asked, targets: impl Iterator<Item = &'a Target> + Clone) -> Vec<Sought> {
    let mut list: Vec<Sought> = Vec::new();
    let mut add = |name: &str, uses: bool| {
        if let Some(known) = list.iter_mut().find(|known| known.name == name) {
            known.uses |= uses;
        } else if list.len() < MOST_SOUGHT && !name.is_empty() {
            list.push(Sought { name: name.to_owned(), uses, asked: asked.is_named(name) });
        }
    };
    for target in targets.clone() {
        add(target.used_as(), true);
    }
    for name in asked.names_surely() {
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
fn unheard_of(asked: &Asked, surveyed: Surveyed<'_>) -> Vec<String> {
    let heard = |name: &str| {
        let number = surveyed.sought.iter().position(|sought| sought.name == name);
        number.is_none_or(|number| {
            surveyed.survey.files.iter().any(|file| file.names.binary_search(&number).is_ok())
        })
    };
    asked.names_surely().filter(|name| !heard(&name.name)).map(|name| name.name.clone()).collect()
}

/// High only where the question names the one thing that is told of; of what has no more than words in common with it,
/// med at best, and only where the locator's own reckoning leads to the same file.
fn confidence(targets: &[Target], map: &Map, telling: &Telling, tests_wanted: bool) -> Confidence {
    let Some(target) = targets.first() else {
        return if telling.findings.is_empty() { Confidence::Low } else { Confidence::Med };
    };
    if target.named {
        let plain = telling.namesakes.is_empty() && target.coverage >= COVERED_BY_NAMED;
        return if plain { Confidence::High } else { Confidence::Med };
    }
    // Tests are never the locator's first.
    let agreed = map.spots.iter().take(if tests_wanted { map.spots.len() } else { AGREED });
    let agreed = agreed.map(|spot| &spot.place).any(|place| *place == target.place);
    let covered = map.coverage >= COVERED_BY_MAP && target.coverage >= COVERED_BY_UNNAMED;
    if agreed && covered { Confidence::Med } else { Confidence::Low }
}

/// What shares of the question's words a definition, or the locator's best places, must have.
const COVERED_BY_NAMED: f64 = 0.3;
const COVERED_BY_UNNAMED: f64 = 0.25;
const COVERED_BY_MAP: f64 = 0.6;
/// Among so many of the locator's places must the definition's file be.
const AGREED: usize = 3;

fn not_found(missing: &[String], near: &[Near], limited: bool) -> Finding {
    let names = missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let summary = match missing {
        [] => "not found: no definition here has the words of the question".to_owned(),
        _ => format!("not found: {names} is in none of the files"),
    };
    // What is spelled like it is told, and no reference: it is not what was asked for.
    let near: Vec<String> =
        near.iter().map(|near| format!("`{}` ({}:{})", near.name, near.place.path, near.line)).collect();
    let mut notes: Vec<String> = limited.then(|| LIMITED.to_owned()).into_iter().collect();
    if !near.is_empty() {
        notes.push(format!("defined under a similar name: {}", near.join(", ")));
    }
    Finding {
        summary: brief(&summary, LONGEST_FINDING),
        references: Vec::new(),
        key_findings: Vec::new(),
        confidence: Confidence::Low,
        notes: (!notes.is_empty()).then(|| brief(&notes.join("; "), 2 * LONGEST_FINDING)),
    }
}

const LIMITED: &str = "the limits of this request left files unread: there may be more to tell";
