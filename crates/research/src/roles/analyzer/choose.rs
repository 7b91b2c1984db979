//! Which definitions a question is about: those that it names, else those that have most of its words.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tamis_syntax::{DeclarationKind, Notation, each_declaration};

use super::target::Target;
use crate::definitions::Outlined;
use crate::locate::is_test;
use crate::locate::{Category, Location, Locations};
use crate::question::{Identifier, Question};
use crate::roles::name_search::{HitKind, NameHits};
use crate::roles::paths::{is_prose_or_data, is_test_module};
use crate::{BoundedReader, SourceFile};

/// Maximum files to read; fewer once all names are found.
const MAX_SPOTS: usize = 6;
/// Maximum definitions to describe.
const MAX_TARGETS: usize = 3;
const MAX_UNNAMED: usize = 3;
/// By this much a definition elsewhere must fit better than those of the best files.
const MUCH_BETTER: f64 = 15.0;
/// What it is worth that the locator points at a definition of that name in the file.
const POINTED_AT: f64 = 15.0;
/// The score for belonging to the type that the question names. A definition that the locator points at and that seems to have no
/// type is taken to belong to it: `const impl Vec` is not parsed everywhere.
const RIGHT_TYPE: f64 = 40.0;
/// The cost of each rank of the locator.
const FURTHER_DOWN: f64 = 1.0;
/// The score of what the locator found to be what the question names: nothing is better.
const DECLARED: f64 = 1000.0;
/// What each word of a definition's name costs that the question does not have.
const STRANGE_WORD: f64 = 0.3;

/// What was chosen.
#[derive(Default)]
pub(super) struct Chosen {
    /// Best first.
    pub(super) named: Vec<Target>,
    /// For when nothing that the question names is defined anywhere.
    pub(super) unnamed: Vec<Target>,
    /// Whether a file was left unread because of the request's limits.
    pub(super) limited: bool,
}

struct Candidate<'a> {
    source: Arc<SourceFile>,
    number: usize,
    /// How well it fits what the question names.
    fit: f64,
    score: f64,
    words: Words<'a>,
    /// Whether the locator points at it.
    pointed: bool,
}

/// The question's words that a definition has, by where it has them.
#[derive(Clone, Default)]
struct Words<'a> {
    name: BTreeSet<&'a str>,
    doc: BTreeSet<&'a str>,
    body: BTreeSet<&'a str>,
}

/// Reads the best files and picks from their definitions.
pub(super) fn choose(question: &Question, locations: &Locations, reader: &BoundedReader) -> Chosen {
    let (mut named, mut unnamed): (Vec<Candidate<'_>>, Vec<Candidate<'_>>) = (Vec::new(), Vec::new());
    let mut chosen = Chosen::default();
    let is_code = |location: &&Location| {
        !matches!(location.category, Category::Docs | Category::Configuration)
            && !is_prose_or_data(&location.place.path)
    };
    let asks_for_tests = question.stems.contains("test");
    let wants_tests =
        question.wants_tests && locations.best.iter().any(|location| is_test(&location.place.path));
    let is_asked = |location: &Location| {
        let is = |question: &Identifier| {
            location.name() == question.of.as_deref() || location.name() == Some(&question.name)
        };
        location.name().is_some() && question.identifiers.iter().any(is)
    };
    let mut ranked: Vec<(usize, &Location)> = locations.best.iter().filter(is_code).enumerate().collect();
    ranked.sort_by_key(|(rank, location)| {
        let test = is_test(&location.place.path);
        (!is_asked(location), if wants_tests { !test } else { test && !asks_for_tests }, *rank)
    });
    // Without a name, a question for tests is answered by tests only.
    if wants_tests && question.identifiers.is_empty() {
        ranked.retain(|(_, location)| is_test(&location.place.path));
    }
    if let Some(target) = declared(question, locations, reader, &mut chosen.limited) {
        chosen.named.push(target);
        return chosen;
    }
    for (rank, location) in ranked.into_iter().take(MAX_SPOTS) {
        let found = |question: &Identifier| {
            let least = if question.of.is_some() { OF_THE_RIGHT_ONE } else { 60.0 };
            named.iter().any(|known| known.fit > least && known.name() == question.name)
        };
        let all_found = question.certain_names().count() > 0 && question.certain_names().all(found);
        if reader.stop.is_due() || all_found {
            break;
        }
        // Half is left for what the search brings, and for the other roles.
        let limits = reader.budget.limits();
        let used = reader.budget.used();
        if used.bytes_read > limits.max_bytes_read / 2 || used.files_read > limits.max_files_read / 2 {
            chosen.limited = named.is_empty();
            break;
        }
        let Some(source) = reader.read_if_possible(&location.place, &mut chosen.limited) else { continue };
        let lines = source.lines();
        let outlined = Outlined { lines: &lines, outline: source.outline() };
        let pointed = location.line().and_then(|line| outlined.around(line.saturating_sub(1)));
        for number in 0..source.outline().definitions.len() {
            let source = Arc::clone(&source);
            if let Some(score) = by_name(question, outlined, number, &source.place.path) {
                // Among namesakes, the one with the most words of the question.
                let definition = outlined.definition(number);
                let own = lines.get(definition.lead..=definition.last).unwrap_or_default().join("\n");
                let pointed = location.name() == Some(outlined.name(number));
                let fit = score + if pointed && outlined.parent(number).is_none() { RIGHT_TYPE } else { 0.0 };
                let pointed = if pointed { POINTED_AT } else { 0.0 };
                let score = fit + pointed + 20.0 * question.coverage(&own) - rank as f64;
                named.push(Candidate { source, number, fit, score, words: Words::default(), pointed: false });
            } else if !outlined.name(number).is_empty() {
                let in_tests =
                    is_test(&source.place.path) || outlined.parent(number).is_some_and(is_test_module);
                let test = in_tests && !asks_for_tests;
                // Of several of one name in a file, any may be the one that was meant.
                let name = outlined.name(number);
                let pointed = pointed.is_some_and(|at| at == number || outlined.name(at) == name);
                let tests = if wants_tests && name.to_lowercase().starts_with("test") { 2.0 } else { 0.0 };
                let at = if pointed { 4.0 } else { 0.0 };
                let strange = STRANGE_WORD * question.unmatched_words(&outlined.qualified(number)) as f64;
                let score = at + tests - FURTHER_DOWN * rank as f64 - strange - if test { 4.0 } else { 0.0 };
                let words = Words::of(question, outlined, number);
                unnamed.push(Candidate { source, number, fit: 0.0, score, words, pointed });
            }
        }
    }
    weigh(&mut unnamed);
    chosen.named = best(named, question, true, MAX_TARGETS);
    chosen.unnamed = best(unnamed, question, false, MAX_UNNAMED);
    if let Some(target) = acting(question, locations, reader, &mut chosen.limited) {
        chosen.unnamed.retain(|known| known.name != target.name);
        chosen.unnamed.insert(0, target);
        chosen.unnamed.truncate(MAX_UNNAMED);
        if question.certain_names().next().is_none() {
            chosen.named.clear();
        }
    }
    chosen
}

/// The declaration of the symbol that the question names.
fn declared(
    question: &Question,
    locations: &Locations,
    reader: &BoundedReader,
    limited: &mut bool,
) -> Option<Target> {
    let first = locations.declared.first()?;
    // A model may have put another place first.
    let is_listed = locations.best.iter().any(|location| locations.declares(location));
    let source = reader.read_if_possible(&first.place, limited).filter(|_| is_listed)?;
    let lines = source.lines();
    let outlined = Outlined { lines: &lines, outline: source.outline() };
    let (line, name) = (first.passage.first - 1, first.passage.name.as_deref().unwrap_or_default());
    let target = match outlined.at_line(line, name) {
        Some(number) => Target::of(&source, number, question, Some(DECLARED)),
        None => Target::declared(&source, line, name, question, DECLARED),
    };
    Some(Target { fit: DECLARED, ..target })
}

/// The definition at the locator's first place, where the question is for code that does something: the locator looks at what lines
/// do, and not only at their words.
fn acting(
    question: &Question,
    locations: &Locations,
    reader: &BoundedReader,
    limited: &mut bool,
) -> Option<Target> {
    question.act?;
    let first = locations.best.first().filter(|first| !is_prose_or_data(&first.place.path))?;
    let passage = first.passages.first()?;
    let name = passage.name.as_deref()?;
    let source = reader.read_if_possible(&first.place, limited)?;
    let lines = source.lines();
    let outlined = Outlined { lines: &lines, outline: source.outline() };
    let around = outlined.around(passage.first - 1).filter(|at| outlined.name(*at) == name);
    if let Some(number) = around {
        return Some(Target::of(&source, number, question, None));
    }
    // A function that is assigned is in no outline.
    let notation = Notation::of_path(&first.place.path);
    let declares = |line: &str| {
        let mut is_declared = false;
        each_declaration(line, &[], notation, &mut |range, kind| {
            let is_value = matches!(kind, DeclarationKind::Definition | DeclarationKind::Value);
            is_declared |= is_value && line.get(range) == Some(name);
        });
        is_declared
    };
    let line = lines.get(..passage.first)?.iter().rposition(|line| declares(line))?;
    let target = Target::declared(&source, line, name, question, 0.0);
    Some(Target { named: false, ..target })
}

/// Adds what their words are worth: the rarer among all of them, the more. Those that have hardly any go.
fn weigh(candidates: &mut Vec<Candidate<'_>>) {
    let mut having: BTreeMap<&str, f64> = BTreeMap::new();
    for candidate in candidates.iter() {
        for word in candidate.words.name.union(&candidate.words.doc) {
            *having.entry(word).or_default() += 1.0;
        }
    }
    let all = candidates.len() as f64;
    let worth = |words: &BTreeSet<&str>| -> f64 {
        words.iter().map(|word| (all / having.get(word).copied().unwrap_or(1.0)).ln_1p()).sum()
    };
    candidates.retain_mut(|candidate| {
        let words = &candidate.words;
        candidate.score += 2.0 * worth(&words.name) + worth(&words.doc) + 0.25 * worth(&words.body);
        let matched = words.name.union(&words.doc).count();
        let good = candidate.score > 4.0 && !words.body.is_empty();
        matched >= 2 || good || (candidate.pointed && matched > 0)
    });
}

/// Puts in what the survey found that fits much better than what was chosen so far, having read it.
pub(super) fn choose_from_search(
    chosen: &mut Chosen,
    question: &Question,
    hits: &NameHits,
    reader: &BoundedReader,
) {
    // Its words may be names of something else.
    if question.act.is_some() && question.certain_names().next().is_none() {
        return;
    }
    let mut places: Vec<(f64, usize)> = Vec::new();
    for (at, file) in hits.files.iter().enumerate() {
        for hit in file.hits.iter().filter(|hit| hit.kind == HitKind::Definition) {
            let fit = fit(question, &hits.queries[hit.name].name, hit.within.as_deref(), &file.place.path);
            places.extend(fit.map(|score| (score, at)));
        }
    }
    places.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut seen = BTreeSet::new();
    places.retain(|(_, at)| seen.insert(*at));
    let enough = chosen.named.iter().map(|target| target.fit).fold(0.0, f64::max) + MUCH_BETTER;
    let (mut candidates, mut assigned) = (Vec::new(), Vec::new());
    for (_, at) in places.into_iter().take_while(|(score, _)| *score > enough).take(MAX_UNNAMED) {
        let place = &hits.files[at].place;
        let Some(source) = reader.read_if_possible(place, &mut chosen.limited) else { continue };
        let lines = source.lines();
        let outlined = Outlined { lines: &lines, outline: source.outline() };
        for number in 0..source.outline().definitions.len() {
            if let Some(score) = by_name(question, outlined, number, &source.place.path) {
                let (source, words) = (Arc::clone(&source), Words::default());
                candidates.push(Candidate { source, number, fit: score, score, words, pointed: false });
            }
        }
        // A function that is assigned is in no outline.
        for hit in hits.files[at].hits.iter().filter(|hit| hit.kind == HitKind::Definition) {
            let name = &hits.queries[hit.name].name;
            let fit = fit(question, name, hit.within.as_deref(), &place.path);
            if let Some(fit) = fit.filter(|fit| *fit > enough && outlined.at_line(hit.line, name).is_none()) {
                let target = Target::declared(&source, hit.line, name, question, fit);
                assigned.push(Target { fit, ..target });
            }
        }
    }
    let mut better = best(candidates, question, true, MAX_UNNAMED);
    better.extend(assigned);
    better.sort_by(|a, b| a.score.total_cmp(&b.score));
    for target in better {
        chosen.named.retain(|known| known.name != target.name);
        chosen.named.push(target);
    }
    chosen.named.sort_by(|a, b| b.score.total_cmp(&a.score));
    let top = chosen.named.first().map_or(0.0, |first| first.score);
    chosen.named.retain(|target| target.score >= top - FAR_BEHIND);
    chosen.named.truncate(MAX_TARGETS);
}

/// Only a definition of the type that the question names reaches this fit.
const OF_THE_RIGHT_ONE: f64 = 120.0;
/// Definitions this far behind the best are unrelated namesakes.
const FAR_BEHIND: f64 = 55.0;

fn best(mut candidates: Vec<Candidate<'_>>, question: &Question, named: bool, most: usize) -> Vec<Target> {
    candidates.sort_by(|a, b| {
        let place = |candidate: &Candidate<'_>| (candidate.source.place.clone(), candidate.number);
        b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b)))
    });
    let Some(top) = candidates.first().map(|first| first.score) else { return Vec::new() };
    let mut targets: Vec<Target> = Vec::new();
    for candidate in candidates {
        let behind = if named { candidate.score < top - FAR_BEHIND } else { candidate.score < 0.7 * top };
        if targets.len() == most || behind {
            break;
        }
        let score = named.then_some(candidate.score);
        let mut target = Target::of(&candidate.source, candidate.number, question, score);
        target.fit = candidate.fit;
        // One of several that are called the same is enough: `impl` blocks, overloads, copies.
        if !targets.iter().any(|known| known.name == target.name) {
            targets.push(target);
        }
    }
    targets
}

fn by_name(question: &Question, outlined: Outlined<'_>, number: usize, path: &str) -> Option<f64> {
    let adds = outlined.lines[outlined.definition(number).signature.first].trim_start().starts_with("impl");
    let score = fit(question, outlined.name(number), outlined.parent(number), path)?;
    Some(score - if adds { 20.0 } else { 0.0 })
}

/// How well a definition fits a name of the question; none when it has another name.
fn fit(question: &Question, name: &str, parent: Option<&str>, path: &str) -> Option<f64> {
    let order = question.identifiers.iter().position(|question| question.name == name)?;
    let identifier = &question.identifiers[order];
    let parent_is = |name: &str| parent.is_some_and(|parent| parent.eq_ignore_ascii_case(name));
    let mut score = if identifier.certain { 100.0 } else { 40.0 };
    if identifier.of.as_deref().is_some_and(parent_is) {
        score += RIGHT_TYPE;
    } else if let Some(place) = question.identifiers.iter().position(|other| parent_is(&other.name)) {
        score += 30.0 - 4.0 * place as f64;
    } else if identifier.of.as_deref().is_some_and(|of| path.split(['/', '.']).any(|part| part == of)) {
        score += 15.0;
    }
    let asks_for_test = name.to_lowercase().contains("test");
    if is_test(path) && !asks_for_test {
        score -= 50.0;
    } else if asks_for_test {
        // What a test exercises matters more than the test.
        score -= 15.0;
    }
    let around =
        question.matched_stems(path).len() + parent.map_or(0, |parent| question.matched_stems(parent).len());
    Some(score + 3.0 * around as f64 - 5.0 * order as f64)
}

impl Candidate<'_> {
    fn name(&self) -> &str {
        let definition = &self.source.outline().definitions[self.number];
        let line = self.source.text.split('\n').nth(definition.signature.first).unwrap_or("");
        line.get(definition.name.clone()).unwrap_or("")
    }
}

impl<'a> Words<'a> {
    fn of(question: &'a Question, outlined: Outlined<'_>, number: usize) -> Words<'a> {
        let definition = outlined.definition(number);
        let doc = format!("{} {}", outlined.signature(number), outlined.first_sentence(number));
        let body = outlined.lines.get(definition.signature.first..=definition.last).unwrap_or_default();
        let whole = if outlined.is_type(number) { String::new() } else { body.join("\n") };
        Words {
            name: question.matched_stems(&outlined.qualified(number)),
            doc: question.matched_stems(&doc),
            body: question.matched_stems(&whole),
        }
    }
}
