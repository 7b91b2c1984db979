//! Describes the chosen definitions: short sentences, each with its place.

use super::data::DatumKind;
use super::target::Target;
use crate::locate::is_test;
use crate::question::Question;
use crate::roles::format::{Item, MAX_FINDING_LENGTH, References, brief, list_items, spelled_places};
use crate::roles::name_search::{HitKind, NameHits};
use crate::{Confidence, FindingKind, KeyFinding, NoteFact, Reference, ReportNote, ResearchFinding};

const MAX_FINDINGS: usize = 8;
const MAX_REFERENCES: usize = 12;
/// Of a definition that the question does not name.
const MAX_OF_UNNAMED: usize = 4;
/// Characters of a list in the summary.
const IN_SUMMARY: usize = 160;

/// The findings so far.
#[derive(Default)]
pub(super) struct Description {
    pub(super) findings: Vec<KeyFinding>,
    references: References,
    /// How many use the first target, outside of tests and in them.
    used: Option<(usize, usize)>,
    /// Names whose users are described already.
    described: Vec<String>,
    /// Others that the question may mean as well as the first target.
    pub(super) namesakes: Vec<Item>,
    /// Tests that use the first target, when the question is for tests.
    tests: Vec<Item>,
    /// Names whose users were searched for in a part of the files only.
    searched_nearby: Vec<String>,
}

impl Description {
    pub(super) fn describe(&mut self, question: &Question, targets: &[Target], hits: &NameHits) {
        for target in targets {
            self.references.add(&target.shown, Some(target.line));
        }
        // The first is described completely, the others in the room that is left.
        for (number, target) in targets.iter().enumerate() {
            let mut sentences = self.of_target(question, target, hits, number == 0);
            let others = targets.len() - number - 1;
            let room = MAX_FINDINGS.saturating_sub(self.findings.len()).saturating_sub(others);
            // A definition matched only by words gets one line.
            let enough = if target.named {
                room
            } else if number == 0 {
                room.min(MAX_OF_UNNAMED)
            } else {
                1
            };
            sentences.truncate(enough.min(room));
            for (sentence, items) in sentences {
                items.iter().for_each(|item| self.references.add(&item.path, Some(item.line)));
                self.findings.push(sentence);
            }
        }
    }

    fn of_target(
        &mut self,
        question: &Question,
        target: &Target,
        hits: &NameHits,
        first: bool,
    ) -> Vec<(KeyFinding, Vec<Item>)> {
        let head = format!("{} ({}:{})", target.qualified(), target.shown, target.line);
        let doc = if target.sentence.is_empty() {
            String::new()
        } else {
            format!(" — {}", brief(&target.sentence, 140))
        };
        let signature = brief(&target.signature, 110);
        let text = brief(&format!("{head}: {signature}{doc}"), 2 * MAX_FINDING_LENGTH);
        let place = Reference::new(&target.shown, Some(target.line));
        let mut sentences = vec![(explanation(text, vec![place]), Vec::new())];
        let mut list = |verb: &str, items: &[Item], more: usize| {
            if !items.is_empty() {
                let (sentence, taken) = list_items(verb, items, more, MAX_FINDING_LENGTH);
                sentences.push((explanation(sentence, spelled_places(taken)), taken.to_vec()));
            }
        };
        let item = |what: String, line: usize| Item { what, path: target.shown.clone(), line };
        let callers = hits.callers(target);
        if first {
            let total = |items: &[Item], more: usize| items.len() + more;
            self.used = Some((total(&callers.code, callers.more), total(&callers.tests, callers.more_tests)));
            if target.named {
                self.namesakes = rivals(question, target, &callers.namesakes);
            }
            if question.wants_tests {
                self.tests = callers.tests.clone();
            }
        }
        if (first || target.named) && hits.partial.iter().any(|name| name == target.used_as()) {
            self.searched_nearby.push(target.used_as().to_owned());
        }
        // A constructor is used by its type's name, and the type may have been described before.
        if !self.described.iter().any(|name| name == target.used_as()) {
            self.described.push(target.used_as().to_owned());
            if question.wants_tests {
                list("→ is used in tests by", &callers.tests, callers.more_tests);
            }
            list("→ is used by", &callers.code, callers.more);
            if callers.code.is_empty() && !question.wants_tests {
                list("→ is used only in tests:", &callers.tests, callers.more_tests);
            }
            list("→ is extended by", &callers.extensions, 0);
        }
        if target.is_type {
            let members: Vec<Item> =
                target.members.iter().map(|(name, line)| item(name.clone(), *line)).collect();
            list("→ has", &members, 0);
        }
        list("→ calls", &hits.callees(target), 0);
        let mut touched: Vec<Item> = Vec::new();
        for write in &target.uses.writes {
            let what = format!("sets {}.{}", write.of.as_deref().unwrap_or("…"), write.name);
            if !touched.iter().any(|known| known.what == what) {
                touched.push(item(what, write.line + 1));
            }
        }
        let (other, constants): (Vec<_>, Vec<_>) =
            target.data.iter().partition(|datum| datum.kind != DatumKind::Constant);
        for datum in other.into_iter().chain(constants) {
            touched.push(item(format!("{}{}", datum.kind.word(), datum.name), datum.line));
        }
        list("→ data:", &touched, 0);
        list("→ raises", &hits.raises(target), 0);
        // Constructors share their names, and a definition matched only by words needs no namesakes.
        // Those that the question may mean as well are in the summary.
        let in_summary = first && !self.namesakes.is_empty();
        if target.named && !target.name.starts_with("__") && !in_summary {
            list("→ not to be confused with", &callers.namesakes, 0);
        }
        sentences
    }

    /// Where the names are set and used that nothing is defined by: fields, settings, parameters.
    pub(super) fn places_of_names(&mut self, question: &Question, hits: &NameHits) {
        for name in question.certain_names().take(2) {
            let Some(number) = hits.number(&name.name) else { continue };
            let (mut set, mut used): (Vec<Item>, Vec<Item>) = (Vec::new(), Vec::new());
            let mut files: Vec<_> = hits.files.iter().collect();
            files.sort_by_key(|file| is_test(&file.shown));
            for file in files {
                for hit in file.hits.iter().filter(|hit| hit.name == number && hit.kind != HitKind::Import) {
                    let what = hit.within.clone().unwrap_or_else(|| "top level".to_owned());
                    let item = Item { what, path: file.shown.clone(), line: hit.line + 1 };
                    let list = if hit.kind == HitKind::Assignment { &mut set } else { &mut used };
                    if !list.iter().any(|known| known.what == item.what && known.path == item.path) {
                        list.push(item);
                    }
                }
            }
            for (verb, items) in [("is set in", set), ("is used in", used)] {
                if !items.is_empty() {
                    let (sentence, taken) =
                        list_items(&format!("{} {verb}", name.name), &items, 0, MAX_FINDING_LENGTH);
                    taken.iter().for_each(|item| self.references.add(&item.path, Some(item.line)));
                    self.findings.push(explanation(sentence, spelled_places(taken)));
                }
            }
        }
    }

    pub(super) fn finding(
        self,
        targets: &[Target],
        mut notes: Vec<ReportNote>,
        confidence: Confidence,
    ) -> ResearchFinding {
        let summary = match targets.first() {
            None => self.findings.first().map(|finding| finding.text.clone()).unwrap_or_default(),
            Some(target) => {
                let sentence = target.sentence.trim_end_matches(['.', ':']);
                let doc = if sentence.is_empty() { ".".to_owned() } else { format!(": {sentence}.") };
                let head = format!("{} ({}:{})", target.qualified(), target.shown, target.line);
                let closest = if target.named { "" } else { "Closest definition by words: " };
                let head = brief(&format!("{closest}{head}{doc}"), 320);
                [head, self.usage(), self.also()]
                    .into_iter()
                    .filter(|text| !text.is_empty())
                    .collect::<Vec<_>>()
                    .join(" ")
            }
        };
        if !self.searched_nearby.is_empty() {
            notes.push(NoteFact::UsersNearby(self.searched_nearby).into());
        }
        ResearchFinding {
            summary,
            references: self.references.into_list(MAX_REFERENCES),
            key_findings: self.findings,
            confidence,
            notes,
            not_found: None,
        }
    }

    /// How much the first target is used; which tests use it, when the question is for tests.
    fn usage(&self) -> String {
        if !self.tests.is_empty() {
            return format!("{}.", list_items("Tests that use it:", &self.tests, 0, IN_SUMMARY).0);
        }
        let places = |count: usize| if count == 1 { "place" } else { "places" };
        match self.used {
            Some((0, 0)) | None => String::new(),
            Some((0, tests)) => format!("Used in {tests} {} in tests only.", places(tests)),
            Some((code, 0)) => format!("Used in {code} {}.", places(code)),
            Some((code, tests)) => format!("Used in {code} {}, and {tests} in tests.", places(code)),
        }
    }

    /// What else may be meant.
    fn also(&self) -> String {
        match self.namesakes.as_slice() {
            [] => String::new(),
            some => format!("{}.", list_items("The question may also mean", some, 0, IN_SUMMARY).0),
        }
    }
}

fn explanation(text: String, places: Vec<Reference>) -> KeyFinding {
    KeyFinding::new(FindingKind::Explanation { places }, text)
}

/// The namesakes that a question may mean as well: when it names the type, those of types of that name.
fn rivals(question: &Question, target: &Target, namesakes: &[Item]) -> Vec<Item> {
    let named = |parent: &str| {
        question.identifiers.iter().any(|name| {
            name.name.eq_ignore_ascii_case(parent)
                || name.of.as_deref().is_some_and(|of| of.eq_ignore_ascii_case(parent))
        })
    };
    let own = target.qualified();
    let is_type_named = target.parent.as_deref().is_some_and(named);
    namesakes.iter().filter(|item| !is_type_named || item.what == own).cloned().collect()
}
