//! Features of the whole text and of the goal, the same for every line.

use tamis_text::TextKind;

use super::{Builder, Feature, FeatureInputs, bounded_root};
use crate::EngineError;
use crate::bm25::{highest, term_weights};
use crate::goal::Intent;

pub(super) fn global(inputs: &FeatureInputs<'_>, out: &mut Builder<'_>) -> Result<(), EngineError> {
    let (index, goal) = (inputs.index, inputs.goal);
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
    out.set_all(Feature::KindLogs, f32::from(u8::from(inputs.kind == TextKind::Logs)))?;
    out.set_all(Feature::KindDocs, f32::from(u8::from(inputs.kind == TextKind::Docs)))?;
    for (feature, intent) in [
        (Feature::GoalOfTests, Intent::Tests),
        (Feature::GoalOfFailures, Intent::Failures),
        (Feature::GoalOfDocumentation, Intent::Documentation),
        (Feature::GoalOfTask, Intent::Task),
    ] {
        out.set_all(feature, f32::from(u8::from(goal.intents.contains(&intent))))?;
    }
    Ok(())
}
