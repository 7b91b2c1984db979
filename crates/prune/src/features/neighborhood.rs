//! BM25 of the line itself and of windows around it.

use super::{Builder, Feature, FeatureInputs, roots, shares};
use crate::EngineError;
use crate::bm25::{blur, by_line, by_window};

pub(super) fn neighborhood(inputs: &FeatureInputs<'_>, out: &mut Builder<'_>) -> Result<(), EngineError> {
    let (index, goal) = (inputs.index, inputs.goal);
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
    out.set(Feature::Terms, terms(inputs))
}

/// The number of different terms of the goal in a line.
fn terms(inputs: &FeatureInputs<'_>) -> Vec<f32> {
    let mut terms = vec![0.0f32; inputs.index.lines];
    let mut seen: Vec<u16> = Vec::new();
    for run in inputs.index.hits.chunk_by(|a, b| a.line == b.line) {
        seen.clear();
        seen.extend(run.iter().map(|hit| hit.term));
        seen.sort_unstable();
        seen.dedup();
        terms[run[0].line as usize] = (seen.len() as f32).sqrt();
    }
    terms
}
