//! Which places stand for all: one of each shape, from different files where there are such.

use std::collections::BTreeMap;

use tamis_codebase::{Halt, Place};

use super::shape::shape;
use super::snippet::snippet;
use super::{MOST_EXAMPLES, Sighting, Subject};
use crate::roles::Job;
use crate::roles::places::{folder, is_test};
use crate::roles::survey::HitKind;
use crate::roles::wording::shorten;
use crate::{Fault, NotRead};

/// When all places look alike, so many of them are shown.
const MOST_ALIKE: usize = 2;
/// So many files are looked into for what their places look like.
const MOST_FILES: usize = 14;

/// An example, and how many look like it.
pub(super) struct Example {
    pub(super) sighting: Sighting,
    code: String,
    /// From 1.
    pub(super) line: usize,
    alike: usize,
    folders: BTreeMap<String, usize>,
}

/// The best places of those that differ.
pub(super) fn examples(
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
    pub(super) fn told(&self) -> String {
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
