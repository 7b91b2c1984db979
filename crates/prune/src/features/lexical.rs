//! Names and phrases of the goal, its rarest words, and words that are new.

use super::{Builder, Feature, Sources, bounded_root, roots, sums};
use crate::Unpruned;
use crate::bm25::{blur, term_weights};

/// A word that is in no more lines than these is rare: three, or one in a hundred.
const FEW_LINES: usize = 3;
const ONE_LINE_IN: usize = 100;

pub(super) fn named(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let count = |list: &[u32]| {
        let mut column = vec![0.0f32; sources.index.lines];
        for &line in list {
            column[line as usize] += 1.0;
        }
        column
    };
    let named = count(&sources.index.named);
    let near = sums(&sources.levels.near, &named);
    out.spread(Feature::NamedNear, &sources.levels.near, |unit| bounded_root(near[unit]))?;
    out.set(Feature::Named, roots(&named))?;
    let phrases = count(&sources.index.phrases);
    let near = sums(&sources.levels.near, &phrases);
    out.spread(Feature::PhraseNear, &sources.levels.near, |unit| bounded_root(near[unit]))?;
    out.set(Feature::PhraseBlur, roots(&blur(&phrases, 10)))
}

/// 1 where a line has a word of the goal that hardly another line has, as it stands in the goal.
pub(super) fn rare(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let (index, terms) = (sources.index, sources.goal.terms.len());
    let exact = || index.hits.iter().filter(|hit| hit.weight == 1.0);
    let mut lines_with = vec![0usize; terms];
    let mut last = vec![u32::MAX; terms];
    for hit in exact() {
        let term = hit.term as usize;
        if last[term] != hit.line {
            last[term] = hit.line;
            lines_with[term] += 1;
        }
    }
    let few = (index.lines / ONE_LINE_IN).max(FEW_LINES);
    let mut column = vec![0.0; index.lines];
    for hit in exact().filter(|hit| lines_with[hit.term as usize] <= few) {
        column[hit.line as usize] = 1.0;
    }
    out.set(Feature::Rare, column)
}

/// The weight of the heaviest term in a line's unit, of the heaviest that is anywhere in the text.
pub(super) fn heaviest(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let (index, near) = (sources.index, &sources.levels.near);
    let weights = term_weights(sources.goal, &index.hits, index.lines, |hit| hit.line);
    let mut of_unit = vec![0.0f32; near.count()];
    let mut best = 1e-6f32;
    for hit in &index.hits {
        let weight = weights.of_term[hit.term as usize] * hit.weight;
        let unit = &mut of_unit[near.of_line[hit.line as usize] as usize];
        *unit = unit.max(weight);
        best = best.max(weight);
    }
    out.spread(Feature::HeaviestNear, near, |unit| of_unit[unit] / best)
}

/// Words that no line before has, and words that hardly another has: where a text says something for the first time. Those
/// of the goal are counted elsewhere.
pub(super) fn new(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    const HARDLY: u32 = 2;
    let index = sources.index;
    // The line in which each word was seen last.
    let mut seen = vec![u32::MAX; index.line_frequency.len()];
    let mut columns: [Vec<f32>; 5] = Default::default();
    for line in 0..index.lines {
        let (mut words, mut news, mut owns, mut rarity) = (0u32, 0u32, 0u32, 0.0f32);
        for &word in index.line_words(line) {
            let before = std::mem::replace(&mut seen[word as usize], line as u32);
            if before == line as u32 || index.term(word).is_some() {
                continue;
            }
            words += 1;
            news += u32::from(before == u32::MAX);
            let lines = index.line_frequency[word as usize];
            owns += u32::from(lines <= HARDLY);
            rarity += 1.0 / lines as f32;
        }
        let all = words.max(1) as f32;
        let values = [
            bounded_root(news as f32),
            news as f32 / all,
            bounded_root(owns as f32),
            bounded_root(rarity),
            rarity / all,
        ];
        for (column, value) in columns.iter_mut().zip(values) {
            column.push(value);
        }
    }
    let features =
        [Feature::NewWords, Feature::NewShare, Feature::OwnWords, Feature::Rarity, Feature::MeanRarity];
    for (feature, column) in features.into_iter().zip(columns) {
        out.set(feature, column)?;
    }
    Ok(())
}
