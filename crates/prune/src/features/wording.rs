//! Names and phrases of the goal, and its rarest words.

use super::{Builder, Feature, Sources, bounded_root, roots, sums};
use crate::Unpruned;
use crate::relevance::{blur, term_weights};

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
