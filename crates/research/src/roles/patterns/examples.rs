//! Chooses examples: one of each shape, from different files where possible.

use std::collections::BTreeMap;

use tamis_codebase::{RootedPath, StopSignal};

use super::shape::shape;
use super::snippet::snippet;
use super::{MAX_EXAMPLES, Occurrence, Subject};
use crate::RoleError;
use crate::locate::is_test;
use crate::roles::Job;
use crate::roles::format::shorten;
use crate::roles::name_search::HitKind;
use crate::roles::paths::folder;

/// Examples shown when all occurrences are alike.
const MAX_ALIKE: usize = 2;
/// Maximum files to read for the shapes of their occurrences.
const MAX_FILES: usize = 14;

/// An example, and how many look like it.
#[derive(Clone)]
pub(super) struct Example {
    pub(super) occurrence: Occurrence,
    code: String,
    /// From 1.
    pub(super) line: usize,
    alike: usize,
    folders: BTreeMap<String, usize>,
    /// One of those, from another file where possible: it is shown when there is no other example.
    second: Option<Box<Example>>,
}

/// The best places of those that differ.
pub(super) fn examples(
    subject: &Subject,
    mut occurrences: Vec<Occurrence>,
    job: &Job,
    stop: &StopSignal,
) -> Result<(Vec<Example>, bool), RoleError> {
    occurrences.sort_by(|a, b| {
        b.worth.total_cmp(&a.worth).then_with(|| a.place.cmp(&b.place)).then(a.line.cmp(&b.line))
    });
    let mut limited = false;
    let mut read: Vec<RootedPath> = Vec::new();
    let mut groups: Vec<(HitKind, String, Example)> = Vec::new();
    let mut unread: BTreeMap<HitKind, usize> = BTreeMap::new();
    for occurrence in occurrences {
        stop.check()?;
        if !read.contains(&occurrence.place) {
            if read.len() == MAX_FILES || limited {
                *unread.entry(occurrence.kind).or_default() += 1;
                continue;
            }
            read.push(occurrence.place.clone());
        }
        let Some(source) = job.reader.read_if_possible(&occurrence.place, &mut limited) else { continue };
        let lines = source.lines();
        let Some((first, code)) = snippet(&lines, occurrence.line, occurrence.kind) else { continue };
        let names: &[String] = match subject {
            Subject::Names(names) => names,
            Subject::Words(_) => &[],
        };
        // Definitions are compared by their first line.
        let whole = matches!(occurrence.kind, HitKind::Call | HitKind::Assignment | HitKind::Mention);
        let compared = if whole { code.as_str() } else { code.lines().next().unwrap_or("") };
        let shape = shape(compared, names);
        let own = folder(&occurrence.place.path).to_owned();
        match groups.iter_mut().find(|(kind, known, _)| *kind == occurrence.kind && *known == shape) {
            Some((_, _, example)) => {
                // Where the first line is alike, one that shows a little of its body shows more.
                let bare = !whole && !example.code.contains('\n') && code.contains('\n');
                if bare && is_test(&example.occurrence.place.path) == is_test(&occurrence.place.path) {
                    *example.folders.entry(folder(&example.occurrence.place.path).to_owned()).or_default() +=
                        1;
                    let kept = occurrence.worth.max(example.occurrence.worth);
                    let better = Example::new(Occurrence { worth: kept, ..occurrence }, code, first + 1);
                    let bare = std::mem::replace(example, better);
                    (example.alike, example.folders) = (bare.alike + 1, bare.folders.clone());
                    example.second = bare.second.clone().or(Some(Box::new(bare)));
                } else if example.occurrence.place != occurrence.place || example.line != first + 1 {
                    example.alike += 1;
                    *example.folders.entry(own).or_default() += 1;
                    let same_file = |second: &Example| second.occurrence.place == example.occurrence.place;
                    let is_elsewhere = example.occurrence.place != occurrence.place;
                    if example.second.as_deref().is_none_or(|second| is_elsewhere && same_file(second)) {
                        example.second = Some(Box::new(Example::new(occurrence, code, first + 1)));
                    }
                }
            }
            None => groups.push((occurrence.kind, shape, Example::new(occurrence, code, first + 1))),
        }
    }
    Ok((representative(groups, job.question.is_for_tests()), limited))
}

/// The most representative examples, from different files where possible; tests only in addition or when there is nothing else,
/// unless the question wants tests.
fn representative(groups: Vec<(HitKind, String, Example)>, wants_tests: bool) -> Vec<Example> {
    let mut examples: Vec<Example> = groups.into_iter().map(|(_, _, example)| example).collect();
    let standing = |example: &Example| example.occurrence.worth + (1.0 + example.alike as f64).ln();
    examples.sort_by(|a, b| {
        let place = |example: &Example| (example.occurrence.place.clone(), example.line);
        standing(b).total_cmp(&standing(a)).then_with(|| place(a).cmp(&place(b)))
    });
    let (code, tests): (Vec<Example>, Vec<Example>) =
        examples.into_iter().partition(|example| wants_tests || !is_test(&example.occurrence.place.path));
    let room = if code.len() >= MAX_ALIKE { 1 } else { MAX_EXAMPLES };
    let tests = tests.into_iter().take(room);
    let mut chosen: Vec<Example> = Vec::new();
    let mut later: Vec<Example> = Vec::new();
    for example in code {
        let same_file =
            chosen.iter().filter(|known| known.occurrence.place == example.occurrence.place).count();
        if same_file == 0 { chosen.push(example) } else { later.push(example) }
    }
    chosen.extend(later);
    chosen.truncate(
        MAX_EXAMPLES - usize::from(!chosen.is_empty() && tests.len() > 0 && chosen.len() >= MAX_EXAMPLES),
    );
    chosen.extend(tests);
    chosen.truncate(MAX_EXAMPLES);
    if let [only] = chosen.as_mut_slice()
        && let Some(second) = only.second.take()
    {
        only.leave_out(folder(&second.occurrence.place.path));
        chosen.push(*second);
    }
    chosen
}

impl Example {
    fn new(occurrence: Occurrence, code: String, line: usize) -> Example {
        Example { occurrence, code, line, alike: 0, folders: BTreeMap::new(), second: None }
    }

    /// One of those in this folder that look like it is shown itself.
    fn leave_out(&mut self, folder: &str) {
        self.alike -= 1;
        if let Some(count) = self.folders.get_mut(folder) {
            *count -= 1;
        }
        self.folders.retain(|_, count| *count > 0);
    }

    /// `path:line: code`, and how many are like it.
    pub(super) fn render(&self, path: &str) -> String {
        let mut text = format!("{path}:{}: {}", self.line, self.code);
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
            text.push_str(&format!("\n(and {} more like it{place})", self.alike));
        }
        shorten(&text, 900)
    }
}
