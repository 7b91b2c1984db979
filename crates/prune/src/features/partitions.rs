//! BM25 and size of the paragraph and of the inner and outer part that a line is in.

use super::{Builder, Feature, FeatureInputs, bounded_root, sizes, sums};
use crate::EngineError;
use crate::bm25::{by_part, highest, idf, term_weights};
use crate::partition::Partition;

pub(super) fn partitions(inputs: &FeatureInputs<'_>, out: &mut Builder<'_>) -> Result<(), EngineError> {
    let (index, goal, partitions) = (inputs.index, inputs.goal, inputs.partitions);
    let paragraph = by_part(index, goal, &partitions.paragraph);
    let best = highest(&paragraph.score).max(1e-6);
    out.spread(Feature::Paragraph, &partitions.paragraph, |part| paragraph.score[part].sqrt())?;
    out.spread(Feature::ParagraphShare, &partitions.paragraph, |part| paragraph.score[part] / best)?;
    near(inputs, out)?;
    let top = by_part(index, goal, &partitions.outer);
    let top_sizes = sizes(&partitions.outer);
    out.spread(Feature::TopCover, &partitions.outer, |part| top.coverage[part])?;
    out.spread(Feature::TopLength, &partitions.outer, |part| bounded_root(top_sizes[part] as f32))
}

fn near(inputs: &FeatureInputs<'_>, out: &mut Builder<'_>) -> Result<(), EngineError> {
    let partition = &inputs.partitions.inner;
    let near = by_part(inputs.index, inputs.goal, partition);
    let sizes = sizes(partition);
    let sums = sums(partition, &out.line);
    let titles = title_match(inputs, partition);
    let mut last = vec![0; partition.count()];
    for (line, &part) in partition.of_line.iter().enumerate() {
        last[part as usize] = line;
    }
    out.spread(Feature::Near, partition, |part| near.score[part].sqrt())?;
    out.spread(Feature::NearCover, partition, |part| near.coverage[part])?;
    out.spread(Feature::NearTitleCover, partition, |part| titles[part].0)?;
    out.spread(Feature::NearTitlePrecision, partition, |part| titles[part].1)?;
    out.spread(Feature::NearLength, partition, |part| bounded_root(sizes[part] as f32))?;
    out.spread(Feature::NearDensity, partition, |part| (sums[part] / sizes[part].max(1) as f32).sqrt())?;
    let from_title = |(line, &part): (usize, &u32)| {
        bounded_root((line as f32 - partition.title[part as usize] as f32).abs())
    };
    out.set(Feature::NearDistance, partition.of_line.iter().enumerate().map(from_title).collect())?;
    let to_end = |(line, &part): (usize, &u32)| bounded_root((last[part as usize] - line) as f32);
    out.set(Feature::NearEnd, partition.of_line.iter().enumerate().map(to_end).collect())
}

/// For the title of each part: the share of the goal that it covers, and the share of its words that are in the goal.
fn title_match(inputs: &FeatureInputs<'_>, partition: &Partition) -> Vec<(f32, f32)> {
    let index = inputs.index;
    let weights = term_weights(inputs.goal, &index.hits, index.lines, |hit| hit.line);
    let mut seen = vec![u32::MAX; inputs.goal.terms.len()];
    let mut matches = Vec::with_capacity(partition.count());
    for (part, &title) in partition.title.iter().enumerate() {
        let words = inputs.attributes.title_words(index, title as usize);
        let (mut covered, mut known, mut all) = (0.0, 0.0, 0.0);
        for &word in words {
            let own = idf(index.line_frequency[word as usize] as f32, index.lines as f32);
            all += own;
            if let Some((term, weight)) = index.term(word) {
                known += own * weight;
                if seen[term as usize] != part as u32 {
                    seen[term as usize] = part as u32;
                    covered += weights.of_term[term as usize] * weight;
                }
            }
        }
        let cover = if weights.total > 0.0 { covered / weights.total } else { 0.0 };
        matches.push((cover, if all > 0.0 { known / all } else { 0.0 }));
    }
    matches
}
