//! The pattern finder: how it is done elsewhere, by two to six examples that differ.
//!
//! What the question names is looked for as a whole word in code; without a name, the places where most of the question's
//! rare words come together. Places that look alike are one example, and it is said how many there are.

mod places_of_words;
mod shape;
mod snippet;

use std::collections::BTreeMap;

use tamis_workspace::{Halt, Place};

use self::places_of_words::places_of_words;
use self::shape::shape;
use self::snippet::snippet;
use super::Job;
use super::asked::Asked;
use super::places::{folder, is_test};
use super::survey::{HitKind, Sought, survey};
use super::wording::{LONGEST_FINDING, References, brief, shorten};
use crate::{Confidence, Fault, Finding, NotRead};

const MOST_EXAMPLES: usize = 6;
/// When all places look alike, so many of them are shown.
const MOST_ALIKE: usize = 2;
/// So many files are looked into for what their places look like.
const MOST_FILES: usize = 14;

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

/// An example, and how many look like it.
struct Example {
    sighting: Sighting,
    code: String,
    /// From 1.
    line: usize,
    alike: usize,
    folders: BTreeMap<String, usize>,
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
    let sought: Vec<Sought> = names.iter().map(|name| Sought { name: name.clone(), uses: true }).collect();
    let survey = survey(&job.view.roots, &sought, halt)?;
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

/// The best places of those that differ.
fn examples(
    subject: &Subject,
    mut sightings: Vec<Sighting>,
    job: &Job,
    halt: &Halt,
) -> Result<(Vec<Example>, bool), Fault> {
    sightings.sort_by(|a, b| {
        b.worth.total_cmp(&a.worth).then_with(|| a.place.cmp(&b.place)).then(a.line.cmp(&b.line))
    });
    let mut limited = false;
    let mut read: Vec<Place> = Vec::new();
    let mut groups: Vec<(HitKind, String, Example)> = Vec::new();
    let mut unread: BTreeMap<HitKind, usize> = BTreeMap::new();
    for sighting in sightings {
        halt.check()?;
        if !read.contains(&sighting.place) {
            if read.len() == MOST_FILES || limited {
                *unread.entry(sighting.kind).or_default() += 1;
                continue;
            }
            read.push(sighting.place.clone());
        }
        let source = match job.view.read(&sighting.place) {
            Ok(source) => source,
            Err(NotRead::Limited) => {
                limited = true;
                continue;
            }
            Err(NotRead::Access(_)) => continue,
        };
        let lines = source.lines();
        let Some((first, code)) = snippet(&lines, sighting.line, sighting.kind) else { continue };
        let names: &[String] = match subject {
            Subject::Names(names) => names,
            Subject::Words(_) => &[],
        };
        // Of what is defined, the first line says what it is like; the rest is its own business.
        let whole = matches!(sighting.kind, HitKind::Call | HitKind::Assignment | HitKind::Mention);
        let telling = if whole { code.as_str() } else { code.lines().next().unwrap_or("") };
        let shape = shape(telling, names);
        let own = folder(&sighting.place.path).to_owned();
        match groups.iter_mut().find(|(kind, known, _)| *kind == sighting.kind && *known == shape) {
            Some((_, _, example)) => {
                // Where the first line is alike, one that shows a little of its body shows more.
                let bare = !whole && !example.code.contains('\n') && code.contains('\n');
                if bare && is_test(&example.sighting.place.path) == is_test(&sighting.place.path) {
                    *example.folders.entry(folder(&example.sighting.place.path).to_owned()).or_default() += 1;
                    let kept = sighting.worth.max(example.sighting.worth);
                    example.sighting = Sighting { worth: kept, ..sighting };
                    (example.code, example.line) = (code, first + 1);
                    example.alike += 1;
                } else if example.sighting.place != sighting.place || example.line != first + 1 {
                    example.alike += 1;
                    *example.folders.entry(own).or_default() += 1;
                }
            }
            None => {
                let example = Example {
                    sighting: sighting.clone(),
                    code,
                    line: first + 1,
                    alike: 0,
                    folders: BTreeMap::new(),
                };
                groups.push((sighting.kind, shape, example));
            }
        }
    }
    Ok((representative(groups), limited))
}

/// What stands for the most, but from different files as long as there are such; tests only beside or for want of others.
fn representative(groups: Vec<(HitKind, String, Example)>) -> Vec<Example> {
    let mut examples: Vec<Example> = groups.into_iter().map(|(_, _, example)| example).collect();
    let standing = |example: &Example| example.sighting.worth + (1.0 + example.alike as f64).ln();
    examples.sort_by(|a, b| {
        let place = |example: &Example| (example.sighting.place.clone(), example.line);
        standing(b).total_cmp(&standing(a)).then_with(|| place(a).cmp(&place(b)))
    });
    let (code, tests): (Vec<Example>, Vec<Example>) =
        examples.into_iter().partition(|example| !is_test(&example.sighting.place.path));
    let room = if code.len() >= MOST_ALIKE { 1 } else { MOST_EXAMPLES };
    let tests = tests.into_iter().take(room);
    let mut chosen: Vec<Example> = Vec::new();
    let mut later: Vec<Example> = Vec::new();
    for example in code {
        let same_file = chosen.iter().filter(|known| known.sighting.place == example.sighting.place).count();
        if same_file == 0 { chosen.push(example) } else { later.push(example) }
    }
    chosen.extend(later);
    chosen.truncate(
        MOST_EXAMPLES - usize::from(!chosen.is_empty() && tests.len() > 0 && chosen.len() >= MOST_EXAMPLES),
    );
    chosen.extend(tests);
    chosen.truncate(MOST_EXAMPLES);
    chosen
}

impl Example {
    /// `path:line: code`, and how many are like it.
    fn told(&self) -> String {
        let mut told = format!("{}:{}: {}", self.sighting.place.path, self.line, self.code);
        if self.alike > 0 {
            let most = self
                .folders
                .iter()
                .max_by_key(|(folder, count)| (**count, std::cmp::Reverse((*folder).clone())));
            let place = match most {
                Some((folder, _)) if self.folders.len() == 1 && !folder.is_empty() => format!(" in {folder}"),
                Some((folder, _)) if !folder.is_empty() => format!(", most of them in {folder}"),
                _ => String::new(),
            };
            told.push_str(&format!("\n(and {} more like it{place})", self.alike));
        }
        shorten(&told, 900)
    }
}
