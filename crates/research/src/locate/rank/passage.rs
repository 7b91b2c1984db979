//! The second pass: the worth of the best passage of each of the best files, and what is defined there.

use std::collections::BTreeSet;

use tamis_codebase::{Roots, StopSignal, Stopped, cores, in_parallel, is_binary};
use tamis_redact::searchable_bytes;
use tamis_syntax::heuristic_outline;
use tamis_text::split_lines;

use super::Weights;
use super::assigned::assigned_functions;
use super::evidence::{Evidence, WordHit};
use super::spans::segments;
use crate::question::Question;
use tamis_code_index::{FileCounts, WordCounter};

/// Lines of a passage.
const WINDOW: usize = 20;
/// What the first, second and third line with the same word are worth.
const AGAIN: [f64; 3] = [1.0, 0.3, 0.15];

/// The share of a name's worth that is left where its definition does not do what the question asks.
const IDLE: f64 = 0.3;

/// Bytes of text that are kept, over all files: those of the best, which is where names are used that matter.
const MAX_KEPT: u64 = 48 << 20;
/// Definitions of a file that are kept.
const MAX_DEFINITIONS: usize = 20_000;
/// Each holds a file with its lines.
const MAX_THREADS: usize = 8;

/// What was seen inside of a file.
#[derive(Default)]
pub(crate) struct InspectedFile {
    /// Empty when it is not kept.
    pub(crate) text: String,
    /// Of the best passage.
    pub(crate) score: f64,
    /// The weight of the definition whose name matches best.
    pub(crate) named: f64,
    pub(crate) definitions: Vec<Defined>,
    /// Lines, from 1, with their columns of the question, in order.
    pub(super) hits: Vec<(usize, usize)>,
}

/// The input of a lookup.
#[derive(Clone, Copy)]
pub(crate) struct RankInput<'a> {
    pub(crate) question: &'a Question,
    pub(crate) counter: &'a WordCounter,
    pub(crate) weights: &'a Weights,
    pub(crate) evidence: &'a Evidence,
}

/// A definition; lines count from 1.
pub(crate) struct Defined {
    pub(crate) name: String,
    /// What its name is worth.
    pub(crate) named: f64,
    /// Where its doc comment, attributes or decorators begin.
    pub(crate) lead: usize,
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) depth: usize,
}

/// Looks into these files, on all cores. The results are in their order.
pub(crate) fn inspect(
    best: &[(usize, f64)],
    input: RankInput<'_>,
    files: &[FileCounts],
    roots: &Roots,
    stop: &StopSignal,
) -> Result<Vec<InspectedFile>, Stopped> {
    let mut taken = 0;
    let kept: Vec<bool> = best
        .iter()
        .map(|(number, _)| {
            taken += files[*number].bytes;
            taken <= MAX_KEPT
        })
        .collect();
    let lists = in_parallel(best, cores().min(MAX_THREADS), |best| {
        let mut seen = Vec::new();
        let mut bytes = Vec::new();
        for (at, (number, _)) in best.take_while(|_| !stop.is_due()) {
            let place = &files[*number].place;
            let read = roots.read_into(place, roots.policy().largest_searched, &mut bytes);
            // It may have gone since the first look.
            let looked = match read {
                Ok(()) if !is_binary(&bytes) => {
                    InspectedFile::into(&searchable_bytes(&bytes), &place.path, kept[at], input, stop)
                }
                _ => InspectedFile::default(),
            };
            seen.push((at, looked));
        }
        seen
    });
    let mut seen: Vec<(usize, InspectedFile)> = lists.into_iter().flatten().collect();
    stop.check()?;
    seen.sort_by_key(|(at, _)| *at);
    Ok(seen.into_iter().map(|(_, looked)| looked).collect())
}

impl InspectedFile {
    fn into(bytes: &[u8], path: &str, kept: bool, input: RankInput<'_>, stop: &StopSignal) -> InspectedFile {
        let RankInput { counter, weights, evidence, .. } = input;
        let text = String::from_utf8_lossy(bytes).into_owned();
        let lines = split_lines(&text);
        let outline = heuristic_outline(&lines, &|| stop.is_due());
        let mut definitions = Vec::new();
        for (number, definition) in outline.definitions.iter().enumerate() {
            // A generated file may have a hundred thousand.
            if number % 1024 == 1023 && stop.is_due() {
                break;
            }
            let name = lines[definition.signature.first].get(definition.name.clone());
            let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
            let worth = weights.of_name(counter, name);
            definitions.push(Defined {
                name: name.to_owned(),
                named: worth,
                lead: definition.lead + 1,
                first: definition.signature.first + 1,
                last: definition.last + 1,
                depth: definition.depth,
            });
        }
        let known: BTreeSet<usize> = definitions.iter().map(|known: &Defined| known.first).collect();
        let assigned = assigned_functions(path, &lines, &|| stop.is_due());
        for assigned in assigned.into_iter().filter(|assigned| !known.contains(&(assigned.first + 1))) {
            let worth = weights.of_name(counter, &assigned.name);
            definitions.push(Defined {
                name: assigned.name,
                named: worth,
                lead: assigned.lead + 1,
                first: assigned.first + 1,
                last: assigned.last + 1,
                depth: assigned.depth,
            });
        }
        definitions.sort_by_key(|definition| definition.first);
        let hits = evidence.hits(&lines, &word_hits(text.as_bytes(), counter, &weights.columns));
        let score = best_passage(&hits, &evidence.columns);
        definitions.truncate(MAX_DEFINITIONS);
        let named = definitions.iter().map(|definition| definition.named).fold(0.0, f64::max);
        if input.question.act.is_some() {
            let does = |(_, column): &(usize, usize)| evidence.is_done(*column);
            let done: Vec<usize> = hits.iter().filter(|hit| does(hit)).map(|(line, _)| *line).collect();
            discount_idle(&mut definitions, &done, lines.len());
        }
        InspectedFile { score, named, definitions, hits, text: if kept { text } else { String::new() } }
    }
}

/// Takes from what the names of definitions are worth that have none of these lines, from 1, in themselves: a name only says what
/// it is about.
fn discount_idle(definitions: &mut [Defined], done: &[usize], lines: usize) {
    let mut acts = vec![false; definitions.len()];
    for segment in segments(definitions, lines) {
        let from = done.partition_point(|line| *line < segment.first);
        let has_any = done.get(from).is_some_and(|line| *line <= segment.last);
        if let Some(owner) = segment.owner.filter(|_| has_any) {
            acts[owner] = true;
        }
    }
    for (definition, _) in definitions.iter_mut().zip(acts).filter(|(_, acts)| !acts) {
        definition.named *= IDLE;
    }
}

/// What a column is worth after this many occurrences.
fn worth(weight: f64, times: usize) -> f64 {
    weight * AGAIN.get(times).copied().unwrap_or(0.0)
}

/// The words of the question in a text, in order.
fn word_hits(bytes: &[u8], counter: &WordCounter, weights: &[f64]) -> Vec<WordHit> {
    let mut hits: Vec<WordHit> = Vec::new();
    let (mut line, mut start, mut from) = (0, 0, 0);
    counter.each_hit(bytes, |hit| {
        // Hits of a run are at its start, so positions only grow.
        for newline in memchr::memchr_iter(b'\n', &bytes[from..hit.at]) {
            line += 1;
            start = from + newline + 1;
        }
        from = hit.at;
        if weights[hit.column] > 0.0 {
            hits.push(WordHit { line, column: hit.column, at: hit.at - start });
        }
    });
    hits
}

/// The worth of the best window.
fn best_passage(hits: &[(usize, usize)], weights: &[f64]) -> f64 {
    let worth = |column: usize, times: usize| worth(weights[column], times);
    let mut times = vec![0usize; weights.len()];
    let (mut score, mut first, mut best) = (0.0, 0, 0.0);
    for &(line, column) in hits {
        score += worth(column, times[column]);
        times[column] += 1;
        while hits[first].0 + WINDOW <= line {
            let column = hits[first].1;
            times[column] -= 1;
            score -= worth(column, times[column]);
            first += 1;
        }
        best = f64::max(best, score);
    }
    best
}
