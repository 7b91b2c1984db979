//! How much lines and units speak of the goal: BM25 and coverage, over whatever the text is divided into.
//!
//! Only `+ - * /`, square roots and the portable `libm` are used, in a fixed order: the same figures everywhere.

use crate::goal::Goal;
use crate::index::{Hit, Index};
use crate::partition::Units;

/// Saturation of repeated words, and how much a long unit is held against it.
const SATURATION: f32 = 1.2;
const LENGTH_OF_LINES: f32 = 0.4;
const LENGTH_OF_UNITS: f32 = 0.6;

/// What each unit has to do with the goal.
pub(crate) struct Relevance {
    pub(crate) score: Vec<f32>,
    /// Share of the goal's weight, of what is anywhere in the text, that is in the unit.
    pub(crate) coverage: Vec<f32>,
}

/// The rarity of something found in `found` of `all` places.
pub(crate) fn rarity(found: f32, all: f32) -> f32 {
    libm::logf(1.0 + (all - found + 0.5) / (found + 0.5))
}

/// Each line as a unit of its own.
pub(crate) fn by_line(index: &Index, goal: &Goal) -> Relevance {
    let mean = mean_length(index.words.len(), index.lines);
    let weights = term_weights(goal, &index.hits, index.lines, |hit| hit.line);
    let mut relevance = Relevance { score: vec![0.0; index.lines], coverage: vec![0.0; index.lines] };
    let mut tally = Tally::new(goal.terms.len());
    for run in index.hits.chunk_by(|a, b| a.line == b.line) {
        let line = run[0].line as usize;
        let length = index.line_words(line).len() as f32;
        tally.read(run);
        (relevance.score[line], relevance.coverage[line]) =
            tally.settle(&weights, 1.0 - LENGTH_OF_LINES + LENGTH_OF_LINES * length / mean);
    }
    relevance
}

/// The units of a partition.
pub(crate) fn by_unit(index: &Index, goal: &Goal, units: &Units) -> Relevance {
    let count = units.count();
    let mut lengths = vec![0.0f32; count];
    for line in 0..index.lines {
        lengths[units.of_line[line] as usize] += index.line_words(line).len() as f32;
    }
    let mean = mean_length(index.words.len(), count);
    // Gather each unit's hits: a unit's lines need not be neighbours.
    let mut order: Vec<Hit> = index.hits.clone();
    order.sort_by_key(|hit| units.of_line[hit.line as usize]);
    let weights = term_weights(goal, &order, count, |hit| units.of_line[hit.line as usize]);
    let mut relevance = Relevance { score: vec![0.0; count], coverage: vec![0.0; count] };
    let mut tally = Tally::new(goal.terms.len());
    for run in order.chunk_by(|a, b| units.of_line[a.line as usize] == units.of_line[b.line as usize]) {
        let unit = units.of_line[run[0].line as usize] as usize;
        tally.read(run);
        (relevance.score[unit], relevance.coverage[unit]) =
            tally.settle(&weights, 1.0 - LENGTH_OF_UNITS + LENGTH_OF_UNITS * lengths[unit] / mean);
    }
    relevance
}

/// For each line the relevance of the `2 * reach + 1` lines around it, without regard to their length.
///
/// Counts go up as a line enters and down as it leaves; sums are whole numbers, so nothing drifts.
pub(crate) fn by_window(index: &Index, goal: &Goal, reach: usize) -> Relevance {
    const UNIT: f32 = 65536.0;
    const STEPS: usize = 8;
    let weights = term_weights(goal, &index.hits, index.lines, |hit| hit.line);
    let gain: Vec<[i64; STEPS + 1]> = weights
        .of_term
        .iter()
        .map(|weight| {
            std::array::from_fn(|count| {
                let count = count as f32;
                (UNIT * weight * count * (SATURATION + 1.0) / (count + SATURATION)) as i64
            })
        })
        .collect();
    let mut counts = vec![0usize; goal.terms.len()];
    let (mut score, mut covered) = (0i64, 0i64);
    let mut relevance = Relevance { score: vec![0.0; index.lines], coverage: vec![0.0; index.lines] };
    let (mut entering, mut leaving) = (0, 0);
    for line in 0..index.lines {
        while entering < index.hits.len() && index.hits[entering].line as usize <= line + reach {
            let term = index.hits[entering].term as usize;
            let (before, after) = (counts[term].min(STEPS), (counts[term] + 1).min(STEPS));
            score += gain[term][after] - gain[term][before];
            covered += if counts[term] == 0 { gain[term][1] } else { 0 };
            counts[term] += 1;
            entering += 1;
        }
        while leaving < entering && (index.hits[leaving].line as usize) + reach < line {
            let term = index.hits[leaving].term as usize;
            let (before, after) = (counts[term].min(STEPS), (counts[term] - 1).min(STEPS));
            score += gain[term][after] - gain[term][before];
            counts[term] -= 1;
            covered -= if counts[term] == 0 { gain[term][1] } else { 0 };
            leaving += 1;
        }
        relevance.score[line] = score as f32 / UNIT;
        relevance.coverage[line] =
            if weights.total > 0.0 { covered as f32 / UNIT / weights.total } else { 0.0 };
    }
    relevance
}

/// What each term is worth, and all the terms that are found together.
pub(crate) struct Weights {
    pub(crate) of_term: Vec<f32>,
    pub(crate) total: f32,
}

/// `hits` must be ordered by `place`.
pub(crate) fn term_weights(goal: &Goal, hits: &[Hit], places: usize, place: impl Fn(&Hit) -> u32) -> Weights {
    let mut found = vec![0u32; goal.terms.len()];
    let mut last = vec![u32::MAX; goal.terms.len()];
    for hit in hits {
        let here = place(hit);
        if last[hit.term as usize] != here {
            last[hit.term as usize] = here;
            found[hit.term as usize] += 1;
        }
    }
    let mut total = 0.0;
    let mut of_term = Vec::with_capacity(goal.terms.len());
    for (number, term) in goal.terms.iter().enumerate() {
        let weight = term.weight * rarity(found[number] as f32, places as f32);
        total += if found[number] > 0 { weight } else { 0.0 };
        of_term.push(weight);
    }
    Weights { of_term, total }
}

fn mean_length(words: usize, places: usize) -> f32 {
    (words.max(1) as f32) / places.max(1) as f32
}

/// Counts of terms in one unit, emptied after each.
struct Tally {
    counts: Vec<f32>,
    touched: Vec<u16>,
}

impl Tally {
    fn new(terms: usize) -> Tally {
        Tally { counts: vec![0.0; terms], touched: Vec::new() }
    }

    fn read(&mut self, hits: &[Hit]) {
        for hit in hits {
            if self.counts[hit.term as usize] == 0.0 {
                self.touched.push(hit.term);
            }
            self.counts[hit.term as usize] += hit.weight;
        }
    }

    fn settle(&mut self, weights: &Weights, length: f32) -> (f32, f32) {
        let (mut score, mut covered) = (0.0, 0.0);
        for &term in &self.touched {
            let count = self.counts[term as usize];
            self.counts[term as usize] = 0.0;
            let weight = weights.of_term[term as usize];
            score += weight * count * (SATURATION + 1.0) / (count + SATURATION * length);
            covered += weight * count.min(1.0);
        }
        self.touched.clear();
        (score, if weights.total > 0.0 { covered / weights.total } else { 0.0 })
    }
}

/// A triangular blur over lines: `reach` neighbours on each side, as two box blurs over running sums.
pub(crate) fn blur(values: &[f32], reach: usize) -> Vec<f32> {
    let half = reach / 2;
    box_blur(&box_blur(values, half.max(1)), reach - half)
}

fn box_blur(values: &[f32], reach: usize) -> Vec<f32> {
    let mut sums = Vec::with_capacity(values.len() + 1);
    let mut sum = 0.0f64;
    sums.push(sum);
    for value in values {
        sum += f64::from(*value);
        sums.push(sum);
    }
    (0..values.len())
        .map(|at| {
            let (from, to) = (at.saturating_sub(reach), (at + reach + 1).min(values.len()));
            ((sums[to] - sums[from]) / (to - from) as f64) as f32
        })
        .collect()
}

pub(crate) fn highest(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |best, &value| if value > best { value } else { best })
}
