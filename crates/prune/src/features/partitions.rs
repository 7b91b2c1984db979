//! What a line belongs to: its paragraph, its definition or section, its top-level piece.

use super::{Builder, Feature, Sources, bounded_root, sizes, sums};
use crate::Unpruned;
use crate::bm25::{by_unit, highest, rarity, term_weights};
use crate::partition::Units;

pub(super) fn units(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let (index, goal, levels) = (sources.index, sources.goal, sources.levels);
    let paragraph = by_unit(index, goal, &levels.paragraph);
    let best = highest(&paragraph.score).max(1e-6);
    out.spread(Feature::Paragraph, &levels.paragraph, |unit| paragraph.score[unit].sqrt())?;
    out.spread(Feature::ParagraphShare, &levels.paragraph, |unit| paragraph.score[unit] / best)?;
    near(sources, out)?;
    let top = by_unit(index, goal, &levels.top);
    let top_sizes = sizes(&levels.top);
    out.spread(Feature::TopCover, &levels.top, |unit| top.coverage[unit])?;
    out.spread(Feature::TopLength, &levels.top, |unit| bounded_root(top_sizes[unit] as f32))
}

fn near(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let units = &sources.levels.near;
    let near = by_unit(sources.index, sources.goal, units);
    let sizes = sizes(units);
    let sums = sums(units, &out.line);
    let titles = title_match(sources, units);
    let mut last = vec![0; units.count()];
    for (line, &unit) in units.of_line.iter().enumerate() {
        last[unit as usize] = line;
    }
    out.spread(Feature::Near, units, |unit| near.score[unit].sqrt())?;
    out.spread(Feature::NearCover, units, |unit| near.coverage[unit])?;
    out.spread(Feature::NearTitleCover, units, |unit| titles[unit].0)?;
    out.spread(Feature::NearTitlePrecision, units, |unit| titles[unit].1)?;
    out.spread(Feature::NearLength, units, |unit| bounded_root(sizes[unit] as f32))?;
    out.spread(Feature::NearDensity, units, |unit| (sums[unit] / sizes[unit].max(1) as f32).sqrt())?;
    let from_title =
        |(line, &unit): (usize, &u32)| bounded_root((line as f32 - units.title[unit as usize] as f32).abs());
    out.set(Feature::NearDistance, units.of_line.iter().enumerate().map(from_title).collect())?;
    let to_end = |(line, &unit): (usize, &u32)| bounded_root((last[unit as usize] - line) as f32);
    out.set(Feature::NearEnd, units.of_line.iter().enumerate().map(to_end).collect())
}

/// For each unit's title: the share of the goal it names, and the share of its own words that the goal names.
fn title_match(sources: &Sources<'_>, units: &Units) -> Vec<(f32, f32)> {
    let index = sources.index;
    let weights = term_weights(sources.goal, &index.hits, index.lines, |hit| hit.line);
    let mut seen = vec![u32::MAX; sources.goal.terms.len()];
    let mut matches = Vec::with_capacity(units.count());
    for (unit, &title) in units.title.iter().enumerate() {
        let words = sources.shape.title_words(index, title as usize);
        let (mut covered, mut known, mut all) = (0.0, 0.0, 0.0);
        for &word in words {
            let own = rarity(index.line_frequency[word as usize] as f32, index.lines as f32);
            all += own;
            if let Some((term, weight)) = index.term(word) {
                known += own * weight;
                if seen[term as usize] != unit as u32 {
                    seen[term as usize] = unit as u32;
                    covered += weights.of_term[term as usize] * weight;
                }
            }
        }
        let cover = if weights.total > 0.0 { covered / weights.total } else { 0.0 };
        matches.push((cover, if all > 0.0 { known / all } else { 0.0 }));
    }
    matches
}
