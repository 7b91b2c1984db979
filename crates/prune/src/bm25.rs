//! BM25 and coverage of the goal, for lines, for windows of lines and for the parts of a partition.
//!
//! Only `+ - * /`, square roots and the portable `libm` are used, in a fixed order, so results are the same on every
//! machine.

use crate::goal::Goal;
use crate::index::{Hit, Index};
use crate::partition::Partition;

/// BM25's parameters: `k1`, the saturation of repeated words, and `b`, the penalty for length, of lines and of parts.
const SATURATION: f32 = 1.2;
const LENGTH_OF_LINES: f32 = 0.4;
const LENGTH_OF_PARTS: f32 = 0.6;

/// How well each line or part matches the goal.
pub(crate) struct Relevance {
    pub(crate) score: Vec<f32>,
    /// The weight of the terms found here, as a share of the weight of all terms found anywhere in the text.
    pub(crate) coverage: Vec<f32>,
}

/// Inverse document frequency of a word found in `found` of `all` places.
pub(crate) fn idf(found: f32, all: f32) -> f32 {
    libm::logf(1.0 + (all - found + 0.5) / (found + 0.5))
}

/// Scores every line.
pub(crate) fn by_line(index: &Index, goal: &Goal) -> Relevance {
    let mean = mean_length(index.words.len(), index.lines);
    let weights = term_weights(goal, &index.hits, index.lines, |hit| hit.line);
    let mut relevance = Relevance { score: vec![0.0; index.lines], coverage: vec![0.0; index.lines] };
    let mut counts = TermCounts::new(goal.terms.len());
    for run in index.hits.chunk_by(|a, b| a.line == b.line) {
        let line = run[0].line as usize;
        let length = index.line_words(line).len() as f32;
        counts.read(run);
        (relevance.score[line], relevance.coverage[line]) =
            counts.score_and_reset(&weights, 1.0 - LENGTH_OF_LINES + LENGTH_OF_LINES * length / mean);
    }
    relevance
}

/// Scores every part of a partition.
pub(crate) fn by_part(index: &Index, goal: &Goal, partition: &Partition) -> Relevance {
    let count = partition.count();
    let mut lengths = vec![0.0f32; count];
    for line in 0..index.lines {
        lengths[partition.of_line[line] as usize] += index.line_words(line).len() as f32;
    }
    let mean = mean_length(index.words.len(), count);
    // The lines of a part need not be neighbours, so hits are sorted by part first.
    let mut order: Vec<Hit> = index.hits.clone();
    order.sort_by_key(|hit| partition.of_line[hit.line as usize]);
    let weights = term_weights(goal, &order, count, |hit| partition.of_line[hit.line as usize]);
    let mut relevance = Relevance { score: vec![0.0; count], coverage: vec![0.0; count] };
    let mut counts = TermCounts::new(goal.terms.len());
    for run in order.chunk_by(|a, b| partition.of_line[a.line as usize] == partition.of_line[b.line as usize])
    {
        let part = partition.of_line[run[0].line as usize] as usize;
        counts.read(run);
        (relevance.score[part], relevance.coverage[part]) =
            counts.score_and_reset(&weights, 1.0 - LENGTH_OF_PARTS + LENGTH_OF_PARTS * lengths[part] / mean);
    }
    relevance
}

/// Scores, for each line, the window of `2 * reach + 1` lines around it, ignoring length.
///
/// The window slides: counts go up as a line enters and down as it leaves. Sums are integers, so nothing drifts.
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

/// The weight of each term, and the total weight of the terms that occur in the text.
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
        let weight = term.weight * idf(found[number] as f32, places as f32);
        total += if found[number] > 0 { weight } else { 0.0 };
        of_term.push(weight);
    }
    Weights { of_term, total }
}

fn mean_length(words: usize, places: usize) -> f32 {
    (words.max(1) as f32) / places.max(1) as f32
}

/// Term counts of one part. Reused for the next one.
struct TermCounts {
    counts: Vec<f32>,
    touched: Vec<u16>,
}

impl TermCounts {
    fn new(terms: usize) -> TermCounts {
        TermCounts { counts: vec![0.0; terms], touched: Vec::new() }
    }

    fn read(&mut self, hits: &[Hit]) {
        for hit in hits {
            if self.counts[hit.term as usize] == 0.0 {
                self.touched.push(hit.term);
            }
            self.counts[hit.term as usize] += hit.weight;
        }
    }

    fn score_and_reset(&mut self, weights: &Weights, length: f32) -> (f32, f32) {
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

/// A triangular blur over `reach` neighbours on each side, computed as two box blurs over prefix sums.
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
