//! The line itself and its neighbourhood: how much they speak of the goal.

use super::{Builder, Feature, Sources, roots, shares};
use crate::Unpruned;
use crate::bm25::{blur, by_line, by_window};

pub(super) fn relevance(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let (index, goal) = (sources.index, sources.goal);
    out.line = by_line(index, goal).score;
    let blur15 = blur(&out.line, 15);
    out.set(Feature::Blur15Share, shares(&blur15))?;
    out.set(Feature::Blur15, roots(&blur15))?;
    out.set(Feature::Blur2, roots(&blur(&out.line, 2)))?;
    out.set(Feature::Blur6, roots(&blur(&out.line, 6)))?;
    out.set(Feature::LineShare, shares(&out.line))?;
    out.set(Feature::Line, roots(&out.line))?;
    out.set(Feature::Window12, roots(&by_window(index, goal, 12).score))?;
    out.set(Feature::Window30Cover, by_window(index, goal, 30).coverage)?;
    out.set(Feature::Window60Cover, by_window(index, goal, 60).coverage)?;
    out.set(Feature::Terms, terms(sources))
}

/// How many of the goal's terms a line has.
fn terms(sources: &Sources<'_>) -> Vec<f32> {
    let mut terms = vec![0.0f32; sources.index.lines];
    let mut seen: Vec<u16> = Vec::new();
    for run in sources.index.hits.chunk_by(|a, b| a.line == b.line) {
        seen.clear();
        seen.extend(run.iter().map(|hit| hit.term));
        seen.sort_unstable();
        seen.dedup();
        terms[run[0].line as usize] = (seen.len() as f32).sqrt();
    }
    terms
}
