//! Lexical features: identifiers, phrases and rare words of the goal, and words that are new in the text.

use super::{Builder, Feature, FeatureInputs, bounded_root, roots, sums};
use crate::EngineError;
use crate::bm25::{blur, term_weights};

/// A word is rare if it is in at most three lines, or one in a hundred.
const FEW_LINES: usize = 3;
const ONE_LINE_IN: usize = 100;

pub(super) fn named(inputs: &FeatureInputs<'_>, out: &mut Builder<'_>) -> Result<(), EngineError> {
    let count = |list: &[u32]| {
        let mut column = vec![0.0f32; inputs.index.lines];
        for &line in list {
            column[line as usize] += 1.0;
        }
        column
    };
    let named = count(&inputs.index.named);
    let near = sums(&inputs.partitions.inner, &named);
    out.spread(Feature::NamedNear, &inputs.partitions.inner, |part| bounded_root(near[part]))?;
    out.set(Feature::Named, roots(&named))?;
    let phrases = count(&inputs.index.phrases);
    let near = sums(&inputs.partitions.inner, &phrases);
    out.spread(Feature::PhraseNear, &inputs.partitions.inner, |part| bounded_root(near[part]))?;
    out.set(Feature::PhraseBlur, roots(&blur(&phrases, 10)))
}

/// 1 if a line has a rare word of the goal, matched exactly.
pub(super) fn rare(inputs: &FeatureInputs<'_>, out: &mut Builder<'_>) -> Result<(), EngineError> {
    let (index, terms) = (inputs.index, inputs.goal.terms.len());
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

/// The weight of the heaviest term in a line's inner part, as a share of the heaviest in the text.
pub(super) fn heaviest(inputs: &FeatureInputs<'_>, out: &mut Builder<'_>) -> Result<(), EngineError> {
    let (index, near) = (inputs.index, &inputs.partitions.inner);
    let weights = term_weights(inputs.goal, &index.hits, index.lines, |hit| hit.line);
    let mut of_part = vec![0.0f32; near.count()];
    let mut best = 1e-6f32;
    for hit in &index.hits {
        let weight = weights.of_term[hit.term as usize] * hit.weight;
        let part = &mut of_part[near.of_line[hit.line as usize] as usize];
        *part = part.max(weight);
        best = best.max(weight);
    }
    out.spread(Feature::HeaviestNear, near, |part| of_part[part] / best)
}

/// Words that no earlier line has, and words that few other lines have. Words of the goal are not counted here.
pub(super) fn new(inputs: &FeatureInputs<'_>, out: &mut Builder<'_>) -> Result<(), EngineError> {
    const HARDLY: u32 = 2;
    let index = inputs.index;
    // The last line in which each word was seen.
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
