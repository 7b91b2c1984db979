//! The analyzer: how things work that a question is about.
//!
//! For each of the definitions that matter: what it is, who uses it, what it uses, what it touches and raises, each with its
//! place. The map's best files are read; the rest is one search of all files for the names in play.

mod choose;
mod data;
mod flow;
mod target;
mod telling;

use tamis_workspace::Halt;

use self::choose::{choose, choose_surveyed};
use self::flow::{Surveyed, is_ubiquitous};
use self::target::Target;
use self::telling::Telling;
use super::Job;
use super::asked::Asked;
use super::survey::{Sought, survey};
use super::wording::{LONGEST_FINDING, brief};
use crate::{Confidence, Fault, Finding};

/// Names that one search looks for.
const MOST_SOUGHT: usize = 120;

pub(crate) fn run(job: &Job, halt: &Halt) -> Result<Finding, Fault> {
    let asked = Asked::of(&job.question.text);
    let mut chosen = choose(&asked, &job.map, &job.view);
    halt.check()?;
    let sought = sought(&asked, chosen.named.iter().chain(&chosen.unnamed));
    let survey = survey(&job.view.roots, &sought, halt)?;
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
            return Ok(not_found(&missing, limited));
        }
        telling.places_of_names(&asked, surveyed);
        targets = chosen.unnamed;
    }
    if targets.is_empty() && telling.findings.is_empty() {
        return Ok(not_found(&missing, limited));
    }
    let confidence = confidence(&targets, telling.findings.len());
    telling.tell(&targets, surveyed);
    Ok(telling.finding(&targets, &missing, limited, confidence))
}

/// All names in play, the important ones first.
fn sought<'a>(asked: &Asked, targets: impl Iterator<Item = &'a Target> + Clone) -> Vec<Sought> {
    let mut list: Vec<Sought> = Vec::new();
    let mut add = |name: &str, uses: bool| {
        if let Some(known) = list.iter_mut().find(|known| known.name == name) {
            known.uses |= uses;
        } else if list.len() < MOST_SOUGHT && !name.is_empty() {
            list.push(Sought { name: name.to_owned(), uses });
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

fn confidence(targets: &[Target], places: usize) -> Confidence {
    let best = targets.first().map_or(0.0, |target| target.coverage);
    match targets.first() {
        Some(target) if target.named && best >= 0.4 => Confidence::High,
        Some(target) if target.named || best >= 0.5 => Confidence::Med,
        _ if places > 0 => Confidence::Med,
        _ => Confidence::Low,
    }
}

fn not_found(missing: &[String], limited: bool) -> Finding {
    let names = missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let summary = match missing {
        [] => "not found: no definition here has the words of the question".to_owned(),
        _ => format!("not found: {names} is in none of the files"),
    };
    Finding {
        summary: brief(&summary, LONGEST_FINDING),
        references: Vec::new(),
        key_findings: Vec::new(),
        confidence: Confidence::Low,
        notes: limited.then(|| LIMITED.to_owned()),
    }
}

const LIMITED: &str = "the limits of this request left files unread: there may be more to tell";
