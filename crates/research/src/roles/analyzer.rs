//! The analyzer: how things work that a question is about.
//!
//! For each of the definitions that matter: what it is, who uses it, what it uses, what it touches and raises, each with its
//! place. The map's best files are read; the rest is one search of all files for the names in play.

mod choose;
mod data;
mod flow;
mod target;

use tamis_workspace::Halt;

use self::choose::{choose, choose_surveyed};
use self::data::DatumKind;
use self::flow::{Surveyed, is_ubiquitous};
use self::target::Target;
use super::Job;
use super::asked::Asked;
use super::survey::{HitKind, Sought, survey};
use super::wording::{Item, LONGEST_FINDING, References, brief, listed};
use crate::{Confidence, Fault, Finding};

const MOST_FINDINGS: usize = 8;
const MOST_REFERENCES: usize = 12;
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

/// What is being said.
#[derive(Default)]
struct Telling {
    findings: Vec<String>,
    references: References,
    /// How many use the first target, outside of tests and in them.
    used: Option<(usize, usize)>,
    /// By which names users were told already.
    told: Vec<String>,
}

impl Telling {
    fn tell(&mut self, targets: &[Target], surveyed: Surveyed<'_>) {
        for target in targets {
            self.references.add(&target.place.path, Some(target.line));
        }
        // The first is told whole, the others in what room is left.
        for (number, target) in targets.iter().enumerate() {
            let mut sentences = self.of_target(target, surveyed, number == 0);
            let others = targets.len() - number - 1;
            let room = MOST_FINDINGS.saturating_sub(self.findings.len()).saturating_sub(others);
            sentences.truncate(room);
            for (sentence, items) in sentences {
                items.iter().for_each(|item| self.references.add(&item.path, Some(item.line)));
                self.findings.push(sentence);
            }
        }
    }

    fn of_target(
        &mut self,
        target: &Target,
        surveyed: Surveyed<'_>,
        first: bool,
    ) -> Vec<(String, Vec<Item>)> {
        let head = format!("{} ({}:{})", target.qualified(), target.place.path, target.line);
        let doc = if target.sentence.is_empty() {
            String::new()
        } else {
            format!(" — {}", brief(&target.sentence, 140))
        };
        let signature = brief(&target.signature, 110);
        let mut sentences =
            vec![(brief(&format!("{head}: {signature}{doc}"), 2 * LONGEST_FINDING), Vec::new())];
        let mut list = |verb: &str, items: &[Item], more: usize| {
            if !items.is_empty() {
                let (sentence, taken) = listed(verb, items, more, LONGEST_FINDING);
                sentences.push((sentence, taken.to_vec()));
            }
        };
        let item = |what: String, line: usize| Item { what, path: target.place.path.clone(), line };
        let callers = surveyed.callers(target);
        if first {
            let total = |items: &[Item], more: usize| items.len() + more;
            self.used = Some((total(&callers.code, callers.more), total(&callers.tests, callers.more_tests)));
        }
        // A constructor is used by its type's name, and the type may have been told of before.
        if !self.told.iter().any(|name| name == target.used_as()) {
            self.told.push(target.used_as().to_owned());
            list("→ is used by", &callers.code, callers.more);
            if callers.code.is_empty() {
                list("→ is used only in tests:", &callers.tests, callers.more_tests);
            }
            list("→ is extended by", &callers.extensions, 0);
        }
        if target.is_type {
            let members: Vec<Item> =
                target.members.iter().map(|(name, line)| item(name.clone(), *line)).collect();
            list("→ has", &members, 0);
        }
        list("→ calls", &surveyed.callees(target), 0);
        let mut touched: Vec<Item> = Vec::new();
        for write in &target.uses.writes {
            let what = format!("sets {}.{}", write.of.as_deref().unwrap_or("…"), write.name);
            if !touched.iter().any(|known| known.what == what) {
                touched.push(item(what, write.line + 1));
            }
        }
        let (telling, constants): (Vec<_>, Vec<_>) =
            target.data.iter().partition(|datum| datum.kind != DatumKind::Constant);
        for datum in telling.into_iter().chain(constants) {
            touched.push(item(format!("{}{}", datum.kind.word(), datum.name), datum.line));
        }
        list("→ data:", &touched, 0);
        list("→ raises", &surveyed.raises(target), 0);
        sentences
    }

    /// Where the names are set and used that nothing is defined by: fields, settings, parameters.
    fn places_of_names(&mut self, asked: &Asked, surveyed: Surveyed<'_>) {
        for name in asked.names_surely().take(2) {
            let Some(number) = surveyed.sought.iter().position(|sought| sought.name == name.name) else {
                continue;
            };
            let (mut set, mut used): (Vec<Item>, Vec<Item>) = (Vec::new(), Vec::new());
            let mut files: Vec<_> = surveyed.survey.files.iter().collect();
            files.sort_by_key(|file| super::places::is_test(&file.place.path));
            for file in files {
                for hit in file.hits.iter().filter(|hit| hit.name == number && hit.kind != HitKind::Import) {
                    let what = hit.within.clone().unwrap_or_else(|| "top level".to_owned());
                    let item = Item { what, path: file.place.path.clone(), line: hit.line + 1 };
                    let list = if hit.kind == HitKind::Assignment { &mut set } else { &mut used };
                    if !list.iter().any(|known| known.what == item.what && known.path == item.path) {
                        list.push(item);
                    }
                }
            }
            for (verb, items) in [("is set in", set), ("is used in", used)] {
                if !items.is_empty() {
                    let (sentence, taken) =
                        listed(&format!("{} {verb}", name.name), &items, 0, LONGEST_FINDING);
                    taken.iter().for_each(|item| self.references.add(&item.path, Some(item.line)));
                    self.findings.push(sentence);
                }
            }
        }
    }

    fn finding(
        self,
        targets: &[Target],
        missing: &[String],
        limited: bool,
        confidence: Confidence,
    ) -> Finding {
        let summary = match targets.first() {
            None => self.findings.first().cloned().unwrap_or_default(),
            Some(target) => {
                let sentence = target.sentence.trim_end_matches('.');
                let doc = if sentence.is_empty() { ".".to_owned() } else { format!(": {sentence}.") };
                let used = match self.used {
                    Some((0, 0)) | None => String::new(),
                    Some((code, tests)) => {
                        let places = if code == 1 { "place" } else { "places" };
                        format!(" Used in {code} {places}, and {tests} in tests.")
                    }
                };
                let head = format!("{} ({}:{})", target.qualified(), target.place.path, target.line);
                brief(&format!("{head}{doc}{used}"), 320)
            }
        };
        let mut notes = Vec::new();
        if limited {
            notes.push(LIMITED.to_owned());
        }
        if !missing.is_empty() {
            notes.push(format!("not found in any file: {}", missing.join(", ")));
        }
        Finding {
            summary,
            references: self.references.into_list(MOST_REFERENCES),
            key_findings: self.findings,
            confidence,
            notes: (!notes.is_empty()).then(|| brief(&notes.join("; "), LONGEST_FINDING)),
        }
    }
}
