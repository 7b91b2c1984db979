//! From what is known of a line to how likely it is needed.
//!
//! The network judges; this module puts its judgement on the scale that callers see, where 0.5 keeps at least 95 % of
//! needed lines on every kind of text, and holds back where there is little to go by.

use tamis_text::Kind;

use crate::bm25::highest;
use crate::features::{Feature, Features};
use crate::network::Skimmer;
use crate::partition::Levels;
use crate::{DEFAULT_THRESHOLD, Unpruned};

/// Where a kind of text has its middle, and how steeply scores change around it.
struct Scale {
    /// The judgement that becomes 0.5.
    middle: f32,
    slope: f32,
}

/// Set on the dev cases, so that the default keeps at least 95 % of needed lines in each of their files, and the worst
/// tenth of their cases is no worse off than it was with hand-set weights.
const CODE: Scale = Scale { middle: -0.85, slope: 0.9 };
/// A coding agent's goal names a task, and much of a text has to do with it: judgements run higher.
const CODE_FOR_A_TASK: Scale = Scale { middle: 0.3, slope: 1.0 };
const DOCS: Scale = Scale { middle: -0.2, slope: 0.9 };
const LOGS: Scale = Scale { middle: 0.75, slope: 1.4 };

/// The network keeps most of a short text, since little is won by cutting it; at the default threshold more can go from
/// code of up to so many lines, less and less of longer code.
const SHORT: f32 = 300.0;
const LONG: f32 = 800.0;
/// How much further up the default lies in short code, and from where on it makes no difference: what were the scores 0.7
/// and 0.8. In dev cases of under 400 lines recall stays above 0.99 while half as much again goes.
const FURTHER: f32 = 0.94;
const KNEE: f32 = 1.54;

/// Lines that are alike are many from here on, as the root that the feature is: four.
const MANY: f32 = 2.0;

/// What a report of trouble lists under it is followed this far.
const LISTED: usize = 12;

/// Below this weight of words found, the goal is trusted in proportion: a word or two may be anywhere.
const TRUSTED_WEIGHT: f32 = 6.0;

/// The goal's words are all in one title.
const WHOLE_TITLE: f32 = 0.99;

/// The score of every line.
pub(crate) fn score(
    kind: Kind,
    features: &Features,
    levels: &Levels,
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<f32>, Unpruned> {
    let of_task = features.column(Feature::GoalOfTask).first().is_some_and(|&task| task > 0.0);
    let scale = match kind {
        Kind::Code if of_task => CODE_FOR_A_TASK,
        Kind::Code => CODE,
        Kind::Docs => DOCS,
        Kind::Logs => LOGS,
    };
    let trust = trust(kind, features);
    let mut scores = Skimmer::embedded().judge(features, levels, interrupted)?;
    let further = if kind == Kind::Code && !of_task { FURTHER * shortness(scores.len()) } else { 0.0 };
    for score in &mut scores {
        let above = past_default(*score - scale.middle, further);
        *score = 1.0 - trust * (1.0 - squeeze(scale.slope * above));
    }
    if kind == Kind::Logs {
        lift_witnesses(&mut scores, features);
    }
    Ok(scores)
}

/// 1 for a short text, 0 for a long one.
fn shortness(lines: usize) -> f32 {
    (libm::logf(LONG / lines.max(1) as f32) / libm::logf(LONG / SHORT)).clamp(0.0, 1.0)
}

/// A judgement above the middle as it counts where the default lies `further` up. The order of lines stays, and so does what
/// is above the knee.
fn past_default(above: f32, further: f32) -> f32 {
    if above >= KNEE {
        above
    } else if above > further {
        (above - further) * KNEE / (KNEE - further)
    } else {
        above - further
    }
}

/// What a reader of a log must not miss, whatever the network makes of it: a line that tells of trouble, the places that
/// are listed under it, a line with a word of the goal that hardly another has, one that differs from all others of its
/// log, and the first of many that are alike, so that what was said so often is seen once. They stay at the default
/// threshold, and go before others above it.
fn lift_witnesses(scores: &mut [f32], features: &Features) {
    let column = |feature| features.column(feature);
    let (severe, points) = (column(Feature::IsSevere), column(Feature::Points));
    let (rare, stands_out) = (column(Feature::Rare), column(Feature::StandsOut));
    let (indent, blank) = (column(Feature::Indent), column(Feature::IsBlank));
    let (repeats, earlier) = (column(Feature::Repeats), column(Feature::EarlierRepeats));
    let (passed, failed, drawn) = (column(Feature::Passed), column(Feature::Failed), column(Feature::Drawn));
    // The indentation of the last report, and how many lines under it were lifted.
    let mut report: Option<(f32, usize)> = None;
    for (line, score) in scores.iter_mut().enumerate() {
        // That a test passed or a step began is what most lines say, and no two say it of the same.
        let plain = passed[line] == 0.0 && drawn[line] == 0.0 && blank[line] == 0.0;
        let example = plain && repeats[line] >= MANY && earlier[line] == 0.0;
        let unusual = plain && stands_out[line] > 0.0;
        let told = severe[line] > 0.0 || failed[line] > 0.0;
        let mut witness = example || unusual || told || rare[line] > 0.0;
        if severe[line] > 0.0 {
            report = Some((indent[line], 0));
        } else if blank[line] == 0.0 {
            report = report.filter(|&(above, _)| indent[line] > above);
            if let Some((_, listed)) = &mut report
                && points[line] > 0.0
                && *listed < LISTED
            {
                *listed += 1;
                witness = true;
            }
        }
        if witness {
            *score = score.max(DEFAULT_THRESHOLD);
        }
    }
}

/// How far the goal is to be believed, 0 to 1. Without a word that is in the text there is nothing to go by.
fn trust(kind: Kind, features: &Features) -> f32 {
    let root = features.column(Feature::GoalWeight).first().copied().unwrap_or(0.0);
    match kind {
        // Repetition speaks for itself.
        Kind::Logs => 1.0,
        // The name of a definition or the title of a section says all, be it one word.
        Kind::Code | Kind::Docs if highest(features.column(Feature::NearTitleCover)) > WHOLE_TITLE => 1.0,
        Kind::Code | Kind::Docs => (root * root / TRUSTED_WEIGHT).min(1.0),
    }
}

fn squeeze(value: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_lies_further_up_in_short_code_and_the_order_stays() {
        assert_eq!([100, 300, 800, 9000].map(shortness), [1.0, 1.0, 0.0, 0.0]);
        assert_eq!([0.0, 0.94, 1.54, 3.0].map(|above| past_default(above, 0.94)), [-0.94, 0.0, 1.54, 3.0]);
        for further in [0.0, 0.3, 0.94] {
            let counted: Vec<f32> =
                (-50..50).map(|tenth| past_default(tenth as f32 / 10.0, further)).collect();
            assert!(counted.is_sorted(), "{further}");
        }
    }
}
