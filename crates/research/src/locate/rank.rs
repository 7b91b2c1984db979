//! Ranks files for a question, best first.
//!
//! A file's score is a sum of evidence: rare words that it has (BM25 over the whole file), words of its path, names of the
//! question that it defines; then, for the best of these, its best passage and definitions whose names are made of the
//! question's words. Last, files vote: a question about `LoginTest` is about what that test exercises, so names used inside
//! a definition that the question names add to the files that define them; names that the best files use add a little.
//!
//! The constants were chosen where moving any of them by half changes little.

mod assigned;
mod evidence;
mod passage;
mod spans;
mod votes;

use tamis_codebase::{Roots, StopSignal, Stopped, cores, in_parallel};

use super::corpus::Corpus;
use crate::locate::FileClass;
use crate::question::{Question, Term};
use passage::{RankInput, inspect};
pub(crate) use spans::Passage;
use tamis_code_index::{FileCounts, WordCounter, parts_of};

/// BM25's saturation and its share of length.
const SATURATION: f64 = 1.2;
const LENGTH_SHARE: f64 = 0.5;
/// The factor for a term that is only part of a name.
const OF_A_NAME: f64 = 0.7;
/// What a name is worth, against a term as rare.
const NAME: f64 = 1.5;
/// A word with a capital may be no name at all.
const DOUBTFUL_NAME: f64 = 0.6;
const WHOLE_FILE: f64 = 0.5;
const PATH: f64 = 0.3;
/// What it is worth to define both sides of `Owner.member`, against defining a name as rare as the member.
const MEMBER: f64 = 4.0;
const DEFINITION_IN_TEST: f64 = 0.6;
const PASSAGE: f64 = 1.0;
const DEFINITION_NAME: f64 = 0.7;
/// The share of a file of declarations where the question is for code that does something.
const DECLARES: f64 = 0.5;
/// How many of the best files are looked into.
const LOOKED_INTO: usize = 100;
/// Maximum tests among each five results.
const TESTS_IN_FIVE: usize = 1;

/// A file and its score.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    /// Its number in the survey.
    pub(crate) file: usize,
    pub(crate) score: f64,
    /// What to read in it, best first.
    pub(crate) passages: Vec<Passage>,
    /// What of the question's weight it has, from 0 to 1.
    pub(crate) coverage: f64,
}

/// The weight of each column: its rarity in this codebase, and its place in the question.
pub(crate) struct Weights {
    /// By column; zero where nothing has it.
    pub(crate) columns: Vec<f64>,
    /// What the columns would be worth that are in no file at all.
    pub(crate) absent: Vec<f64>,
    mean_bytes: f64,
}

impl Weights {
    pub(crate) fn of(question: &Question, counter: &WordCounter, corpus: &Corpus) -> Weights {
        let mut in_files = vec![0usize; counter.columns()];
        let mut defined = 0u32;
        let (mut code_files, mut bytes) = (0usize, 0u64);
        for (file, _) in corpus.iter().filter(|(_, class)| class.is_code()) {
            code_files += 1;
            bytes += file.bytes;
            defined |= file.defines;
            let Some(counts) = &file.counts else { continue };
            in_files.iter_mut().zip(counts).for_each(|(files, &count)| *files += usize::from(count > 0));
        }
        let rarity = |files: usize| {
            let (all, files) = (code_files as f64, files as f64);
            libm::log(1.0 + (all - files + 0.5) / (files + 0.5))
        };
        let anywhere = |column: usize| corpus.files.iter().any(|file| file.count(column) > 0);
        let mut columns = Vec::with_capacity(counter.columns());
        let mut absent = vec![0.0; counter.columns()];
        for (column, (term, &files)) in question.terms.iter().zip(&in_files).enumerate() {
            let stands = match term {
                Term { is_implied: true, .. } => 0.0,
                Term { spoken: true, .. } => 1.0,
                Term { .. } => OF_A_NAME,
            };
            // What is in no code may still be in prose, and is rare there.
            let is_there = files > 0 || anywhere(column);
            columns.push(if is_there { rarity(files) * stands } else { 0.0 });
            absent[column] = if is_there || term.asks { 0.0 } else { rarity(0) * stands };
        }
        for (number, name) in question.names.iter().enumerate() {
            let column = counter.name_column(number);
            let is_there = in_files[column] > 0 || anywhere(column);
            let sure = if name.doubtful { DOUBTFUL_NAME } else { 1.0 };
            let counts = is_there && (!name.doubtful || defined & (1 << number) != 0);
            columns.push(if counts { NAME * rarity(in_files[column]) * sure } else { 0.0 });
            absent[column] = if is_there || name.doubtful { 0.0 } else { NAME * rarity(0) };
        }
        let mean_bytes = (bytes as f64 / code_files.max(1) as f64).max(1.0);
        Weights { columns, absent, mean_bytes }
    }

    /// The share of the question's weight that a file has, from 0 to 1.
    fn coverage(&self, file: &FileCounts) -> f64 {
        let has = |column: usize| if file.count(column) > 0 { self.columns[column] } else { 0.0 };
        let had: f64 = (0..self.columns.len()).map(has).sum();
        let total: f64 = self.columns.iter().chain(&self.absent).sum();
        if total > 0.0 { had / total } else { 0.0 }
    }

    /// The share of the question's weight that is in no file, from 0 to 1.
    pub(crate) fn share_absent(&self) -> f64 {
        let absent: f64 = self.absent.iter().sum();
        let total: f64 = self.columns.iter().sum::<f64>() + absent;
        if total > 0.0 { absent / total } else { 1.0 }
    }

    /// What the stems of a name are worth together.
    fn of_name(&self, counter: &WordCounter, name: &str) -> f64 {
        let (mut sum, mut stems) = (0.0, Vec::new());
        parts_of(name.as_bytes(), |stem| {
            if !stems.iter().any(|known| known == stem) {
                stems.push(stem.to_owned());
                sum += counter.stem_column(stem).map_or(0.0, |column| self.columns[column]);
            }
        });
        sum / (stems.len().max(1) as f64).sqrt()
    }
}

/// The best files, best first: as many as `passages` has numbers, each with at most that many passages.
pub(crate) fn rank(
    question: &Question,
    counter: &WordCounter,
    weights: &Weights,
    corpus: &Corpus,
    roots: &Roots,
    passages: &[usize],
    stop: &StopSignal,
) -> Result<Vec<Ranked>, Stopped> {
    let definers = definers(question, &corpus.files);
    let mut best = scores(corpus, stop, |number| {
        let (file, class) = (&corpus.files[number], corpus.classes[number]);
        at_first_sight(file, class, question, counter, weights, &definers)
    });
    stop.check()?;
    let by_place = |a: usize, b: usize| corpus.files[a].place.cmp(&corpus.files[b].place);
    let order = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then_with(|| by_place(a.0, b.0));
    if best.len() > LOOKED_INTO {
        best.select_nth_unstable_by(LOOKED_INTO, order);
        best.truncate(LOOKED_INTO);
    }
    best.sort_by(order);
    let evidence = evidence::Evidence::of(question, counter, weights);
    let input = RankInput { question, counter, weights, evidence: &evidence };
    let inspected = inspect(&best, input, &corpus.files, roots, stop)?;
    let mut totals: Vec<f64> = best
        .iter()
        .zip(&inspected)
        .map(|((number, first), looked)| {
            let inside = PASSAGE * looked.score + DEFINITION_NAME * looked.named;
            let place = &corpus.files[*number].place;
            let share = if question.act.is_some() && only_declares(&place.path) { DECLARES } else { 1.0 };
            (first + inside * corpus.classes[*number].worth()) * share
        })
        .collect();
    votes::count(&mut totals, &best, &inspected, input, &corpus.classes, stop)?;
    let mut order: Vec<usize> = (0..best.len()).collect();
    order.sort_by(|&a, &b| totals[b].total_cmp(&totals[a]).then_with(|| by_place(best[a].0, best[b].0)));
    let is_test = |at: usize| corpus.classes[best[at].0] == FileClass::Test;
    // A test has the words of what it tests, but does not do it.
    if question.act.is_some()
        && !question.wants_tests
        && let Some(code) = order.iter().position(|at| !is_test(*at))
    {
        order[..=code].rotate_right(1);
    }
    let order = with_few_tests(&order, is_test);
    Ok(order
        .into_iter()
        .zip(passages)
        .map(|(at, &most)| {
            let coverage = weights.coverage(&corpus.files[best[at].0]);
            let passages = inspected[at].passages(input, most);
            Ranked { file: best[at].0, score: totals[at], passages, coverage }
        })
        .collect())
}

/// Whether a file has declarations and no code that could do anything.
fn only_declares(path: &str) -> bool {
    [".d.ts", ".d.cts", ".d.mts", ".pyi"].iter().any(|ending| path.ends_with(ending))
}

/// The files that have any score, with their numbers; worked out on all cores. Not all of them once the stop is due.
fn scores(corpus: &Corpus, stop: &StopSignal, score: impl Fn(usize) -> f64 + Sync) -> Vec<(usize, f64)> {
    const LOT: usize = 1024;
    let lots: Vec<&[FileCounts]> = corpus.files.chunks(LOT).collect();
    let scored = in_parallel(&lots, cores(), |lots| {
        let mut scored = Vec::new();
        for (lot, files) in lots.take_while(|_| !stop.is_due()) {
            let numbers = lot * LOT..lot * LOT + files.len();
            let numbered = numbers.map(|number| (number, score(number)));
            scored.extend(numbered.filter(|(_, score)| *score > 0.0));
        }
        scored
    });
    scored.concat()
}

/// In how many files each name is defined.
fn definers(question: &Question, files: &[FileCounts]) -> Vec<usize> {
    let mut definers = vec![0; question.names.len()];
    for file in files.iter().filter(|file| file.defines != 0) {
        for (number, files) in definers.iter_mut().enumerate() {
            *files += usize::from(file.defines & (1 << number) != 0);
        }
    }
    definers
}

fn at_first_sight(
    file: &FileCounts,
    class: FileClass,
    question: &Question,
    counter: &WordCounter,
    weights: &Weights,
    definers: &[usize],
) -> f64 {
    let length = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * file.bytes as f64 / weights.mean_bytes);
    let mut whole = 0.0;
    if let Some(counts) = &file.counts {
        for (&count, weight) in counts.iter().zip(&weights.columns) {
            let count = f64::from(count);
            whole += weight * count * (SATURATION + 1.0) / (count + length);
        }
    }
    let mut path = 0.0;
    let mut seen = 0u64;
    counter.each_hit(file.place.path.as_bytes(), |hit| {
        if hit.column < counter.name_column(0) && seen & (1 << hit.column) == 0 {
            seen |= 1 << hit.column;
            path += weights.columns[hit.column];
        }
    });
    let mut defined = 0.0;
    for (owner, member) in &question.members {
        if file.defines & (1 << owner) != 0 && file.defines & (1 << member) != 0 {
            defined += MEMBER * weights.columns[counter.name_column(*member)] / NAME;
        }
    }
    for (number, &files) in definers.iter().enumerate() {
        if file.defines & (1 << number) != 0 {
            let worth = weights.columns[counter.name_column(number)] / NAME / (files as f64).sqrt();
            defined += worth * if class == FileClass::Test { DEFINITION_IN_TEST } else { 1.0 };
        }
    }
    (WHOLE_FILE * whole + PATH * path + defined) * class.worth()
}

/// The order, with tests put back where they would crowd out what they test.
fn with_few_tests(order: &[usize], is_test: impl Fn(usize) -> bool) -> Vec<usize> {
    let allowed = |taken: usize| TESTS_IN_FIVE * (1 + taken / 5);
    let (mut taken, mut waiting, mut tests) = (Vec::new(), std::collections::VecDeque::new(), 0);
    for &at in order {
        while tests < allowed(taken.len())
            && let Some(test) = waiting.pop_front()
        {
            taken.push(test);
            tests += 1;
        }
        if !is_test(at) {
            taken.push(at);
        } else if tests < allowed(taken.len()) {
            taken.push(at);
            tests += 1;
        } else {
            waiting.push_back(at);
        }
    }
    taken.extend(waiting);
    taken
}
