//! The text and the goal as a whole: how far the rest is to be trusted, and what kind of thing is sought.

use tamis_text::Kind;

use super::{Builder, Feature, Sources, bounded_root};
use crate::Unpruned;
use crate::bm25::{highest, term_weights};
use crate::goal::Intent;

pub(super) fn whole(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let (index, goal) = (sources.index, sources.goal);
    let weights = term_weights(goal, &index.hits, index.lines, |hit| hit.line);
    let all: f32 = weights.of_term.iter().sum();
    out.set_all(Feature::TextLines, bounded_root(out.lines as f32))?;
    out.set_all(Feature::GoalFound, if all > 0.0 { weights.total / all } else { 0.0 })?;
    out.set_all(Feature::GoalWeight, bounded_root(weights.total))?;
    let blurred = out.get(Feature::Blur6);
    let mean = blurred.iter().sum::<f32>() / out.lines.max(1) as f32;
    let contrast = if mean > 0.0 { highest(blurred) / mean } else { 0.0 };
    out.set_all(Feature::Contrast, bounded_root(contrast))?;
    out.set_all(Feature::GoalTerms, bounded_root(goal.terms.len() as f32))?;
    out.set_all(Feature::KindLogs, f32::from(u8::from(sources.kind == Kind::Logs)))?;
    out.set_all(Feature::KindDocs, f32::from(u8::from(sources.kind == Kind::Docs)))?;
    for (feature, intent) in [
        (Feature::GoalOfTests, Intent::Tests),
        (Feature::GoalOfTrouble, Intent::Trouble),
        (Feature::GoalOfWords, Intent::Words),
        (Feature::GoalOfTask, Intent::Task),
    ] {
        out.set_all(feature, f32::from(u8::from(goal.intents.contains(&intent))))?;
    }
    Ok(())
}
