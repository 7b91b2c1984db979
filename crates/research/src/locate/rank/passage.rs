//! The second pass: the best passage of each of the best files, and what is defined there.

use std::ops::Range;

use tamis_codebase::{Roots, StopSignal, Stopped, cores, in_parallel, is_binary};
use tamis_redact::searchable_bytes;
use tamis_syntax::heuristic_outline;
use tamis_text::split_lines;

use super::Weights;
use crate::question::Question;
use tamis_code_index::{FileCounts, WordCounter};

/// Lines of a passage.
const WINDOW: usize = 20;
/// What the first, second and third line with the same word are worth.
const AGAIN: [f64; 3] = [1.0, 0.3, 0.15];

/// Lines from which on a definition counts as long.
const LONG: f64 = 60.0;
/// What a definition's name is worth beside what its lines have.
const OF_NAME: f64 = 0.5;
/// Of what a definition's lines have, so much is looked at.
const MAX_HITS: usize = 200;

/// Bytes of text that are kept, over all files: those of the best, which is where names are used that matter.
const MAX_KEPT: u64 = 48 << 20;
/// Definitions of a file that are kept.
const MAX_DEFINITIONS: usize = 20_000;
/// Each holds a file with its lines.
const MAX_THREADS: usize = 8;

/// What was seen inside of a file.
pub(crate) struct InspectedFile {
    /// Empty when it is not kept.
    pub(crate) text: String,
    /// Of the best passage.
    pub(crate) score: f64,
    /// The weight of the definition whose name matches best.
    pub(crate) named: f64,
    /// The line to begin reading with, from 1, and what is defined there.
    pub(crate) begin: (usize, Option<String>),
    pub(crate) definitions: Vec<Defined>,
}

impl Default for InspectedFile {
    fn default() -> InspectedFile {
        InspectedFile {
            text: String::new(),
            score: 0.0,
            named: 0.0,
            begin: (1, None),
            definitions: Vec::new(),
        }
    }
}

/// The input of a lookup.
#[derive(Clone, Copy)]
pub(crate) struct RankInput<'a> {
    pub(crate) question: &'a Question,
    pub(crate) counter: &'a WordCounter,
    pub(crate) weights: &'a Weights,
}

/// A definition; lines count from 1.
pub(crate) struct Defined {
    pub(crate) name: String,
    /// What its name is worth.
    pub(crate) named: f64,
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
                    InspectedFile::into(&searchable_bytes(&bytes), kept[at], input, stop)
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
    fn into(bytes: &[u8], kept: bool, input: RankInput<'_>, stop: &StopSignal) -> InspectedFile {
        let RankInput { counter, weights, .. } = input;
        let text = String::from_utf8_lossy(bytes).into_owned();
        let lines = split_lines(&text);
        let outline = heuristic_outline(&lines, &|| stop.is_due());
        let mut definitions = Vec::new();
        let mut named = 0.0;
        for (number, definition) in outline.definitions.iter().enumerate() {
            // A generated file may have a hundred thousand.
            if number % 1024 == 1023 && stop.is_due() {
                break;
            }
            let name = lines[definition.signature.first].get(definition.name.clone());
            let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
            let worth = weights.of_name(counter, name);
            named = f64::max(named, worth);
            definitions.push(Defined {
                name: name.to_owned(),
                named: worth,
                first: definition.signature.first + 1,
                last: definition.last + 1,
                depth: definition.depth,
            });
        }
        let hits = hits(text.as_bytes(), counter, &weights.columns);
        let (score, passage) = best_passage(&hits, &weights.columns);
        let begin = begin_with(&definitions, &hits, passage, input);
        definitions.truncate(MAX_DEFINITIONS);
        InspectedFile { score, named, begin, definitions, text: if kept { text } else { String::new() } }
    }
}

/// The line to begin reading with, and what is defined there: a definition that the question names; else the one whose name and
/// lines have the most of the question's weight, a long one less; else the best line of the best passage.
fn begin_with(
    definitions: &[Defined],
    hits: &[(usize, usize)],
    passage: Range<usize>,
    input: RankInput<'_>,
) -> (usize, Option<String>) {
    let RankInput { question, counter, weights } = input;
    for (owner, member) in &question.members {
        let [owner, member] = [owner, member].map(|number| question.names[*number].text.as_str());
        let inside = |inner: &&Defined| {
            let around = |outer: &Defined| {
                outer.name == owner && outer.first <= inner.first && inner.last <= outer.last
            };
            inner.name == member && definitions.iter().any(around)
        };
        if let Some(definition) = definitions.iter().find(inside) {
            return (definition.first, Some(definition.name.clone()));
        }
    }
    let named = question.names.iter().enumerate().filter_map(|(number, name)| {
        let worth = weights.columns[counter.name_column(number)];
        let definition = definitions.iter().find(|definition| definition.name == name.text)?;
        (worth > 0.0).then_some((worth, definition))
    });
    if let Some((_, definition)) = named.fold(None, |best: Option<(f64, &Defined)>, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    }) {
        return (definition.first, Some(definition.name.clone()));
    }
    let mut times = vec![0usize; weights.columns.len()];
    let mut best: Option<(f64, &Defined)> = None;
    for definition in definitions {
        let from = hits.partition_point(|(line, _)| *line < definition.first);
        let inside = hits[from..].iter().take(MAX_HITS).take_while(|(line, _)| *line <= definition.last);
        times.fill(0);
        let mut body = 0.0;
        for (_, column) in inside {
            body += worth(weights.columns[*column], times[*column]);
            times[*column] += 1;
        }
        let lines = (definition.last - definition.first) as f64;
        let score = body / (1.0 + lines / LONG).sqrt() + OF_NAME * definition.named;
        if score > best.map_or(0.0, |(best, _)| best) {
            best = Some((score, definition));
        }
    }
    if let Some((_, definition)) = best {
        return (definition.first, Some(definition.name.clone()));
    }
    let passage = &hits[passage];
    let Some(&(first, _)) = passage.first() else { return (1, None) };
    let heaviest = passage
        .iter()
        .fold((first, 0.0), |best, &(line, column)| {
            let weight = weights.columns[column];
            if weight > best.1 { (line, weight) } else { best }
        })
        .0;
    (heaviest, None)
}

/// What a column is worth after this many occurrences.
fn worth(weight: f64, times: usize) -> f64 {
    weight * AGAIN.get(times).copied().unwrap_or(0.0)
}

/// Lines, from 1, with their columns of the question.
fn hits(bytes: &[u8], counter: &WordCounter, weights: &[f64]) -> Vec<(usize, usize)> {
    let mut hits: Vec<(usize, usize)> = Vec::new();
    let (mut line, mut from) = (1, 0);
    counter.each_hit(bytes, |hit| {
        // Hits of a run are at its start, so positions only grow.
        line += memchr::memchr_iter(b'\n', &bytes[from..hit.at]).count();
        from = hit.at;
        if weights[hit.column] > 0.0 {
            hits.push((line, hit.column));
        }
    });
    hits.sort_unstable();
    hits.dedup();
    hits
}

/// The best window, as a range of hits.
fn best_passage(hits: &[(usize, usize)], weights: &[f64]) -> (f64, Range<usize>) {
    let worth = |column: usize, times: usize| worth(weights[column], times);
    let mut times = vec![0usize; weights.len()];
    let (mut score, mut first, mut best) = (0.0, 0, (0.0, 0..0));
    for (last, &(line, column)) in hits.iter().enumerate() {
        score += worth(column, times[column]);
        times[column] += 1;
        while hits[first].0 + WINDOW <= line {
            let column = hits[first].1;
            times[column] -= 1;
            score -= worth(column, times[column]);
            first += 1;
        }
        if score > best.0 {
            best = (score, first..last + 1);
        }
    }
    best
}
