//! Calibration: turns the network's output into the scores that callers see.
//!
//! A line scores 0.5 where its chance to be needed weighs as much as its tokens, by kind of text and sort of goal. When few
//! words of the goal are in the text, all scores are raised, so that little is cut on a guess.

use tamis_text::TextKind;

use crate::bm25::highest;
use crate::features::{Feature, FeatureTable};
use crate::goal::Goal;
use crate::logs::is_message;
use crate::network::Skimmer;
use crate::partition::Partitions;
use crate::{DEFAULT_THRESHOLD, EngineError};

/// Maps network outputs to scores for one kind of text.
struct Calibration {
    /// The output that becomes a score of 0.5.
    middle: f32,
    slope: f32,
}

/// By kind of text and sort of goal, the output below which a line's chance to be needed is worth less than its tokens. The
/// README has the figures that these were chosen by. For a question, they come from repositories that were left out of the
/// training.
const CODE: Calibration = Calibration { middle: -0.85, slope: 0.9 };
/// In a question, people use words of their own, and more of what they need shares no word with it.
const CODE_FOR_QUESTION: Calibration = Calibration { middle: -0.95, slope: 0.9 };
const DOCS: Calibration = Calibration { middle: -0.2, slope: 0.9 };
const LOGS: Calibration = Calibration { middle: 1.8, slope: 1.4 };
/// For an overheard goal, they come from sessions of projects that were not trained on. Such a goal names a task that much of
/// the text relates to, so outputs are higher.
const CODE_OVERHEARD: Calibration = Calibration { middle: 0.5, slope: 1.0 };
const DOCS_OVERHEARD: Calibration = Calibration { middle: 0.3, slope: 0.9 };
const LOGS_OVERHEARD: Calibration = Calibration { middle: 1.7, slope: 1.4 };

/// The network keeps most of a short text, so the default threshold is effectively raised for short code: fully up to
/// `SHORT` lines, then less and less up to `LONG` lines.
const SHORT: f32 = 300.0;
const LONG: f32 = 800.0;
/// By how much outputs are lowered in short code, and the output from which on they are not: these were the scores 0.7
/// and 0.8. In dev cases under 400 lines recall stays above 0.99, and half as much again is cut.
const SHORT_CODE_SHIFT: f32 = 0.94;
const KNEE: f32 = 1.54;

/// Four lines of one template are many. The feature is a square root, hence 2. For an overheard goal, one is: the agent looks for
/// what it does not know, so only what passed and what repeats may go.
const MANY: f32 = 2.0;
const MANY_OVERHEARD: f32 = 0.0;

/// What remains of the score of a passed test or a compiled package, for an overheard goal that has no rare word of it.
const ROUTINE_SHARE: f32 = 0.45;
const CHECK_MARKS: [char; 3] = ['✓', '✔', '√'];

/// The maximum number of `file:line` places that are kept below an error.
const LISTED: usize = 12;

/// If the words found weigh less than this in total, the goal is trusted in proportion: one or two words may match by chance.
const TRUSTED_WEIGHT: f32 = 6.0;

/// A title that holds all words of the goal.
const WHOLE_TITLE: f32 = 0.99;

/// The score of every line.
pub(crate) fn score(
    kind: TextKind,
    goal: &Goal,
    lines: &[&str],
    features: &FeatureTable,
    partitions: &Partitions,
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<f32>, EngineError> {
    let calibration = match (kind, goal.is_overheard) {
        (TextKind::Code, false) if goal.is_question => CODE_FOR_QUESTION,
        (TextKind::Code, false) => CODE,
        (TextKind::Code, true) => CODE_OVERHEARD,
        (TextKind::Docs, false) => DOCS,
        (TextKind::Docs, true) => DOCS_OVERHEARD,
        (TextKind::Logs, false) => LOGS,
        (TextKind::Logs, true) => LOGS_OVERHEARD,
    };
    let trust = trust(kind, features);
    let mut scores = Skimmer::embedded().forward(features, partitions, interrupted)?;
    let is_shifted = kind == TextKind::Code && !goal.is_overheard;
    let shift = if is_shifted { SHORT_CODE_SHIFT * shortness(scores.len()) } else { 0.0 };
    for score in &mut scores {
        let above = lower_short_code(*score - calibration.middle, shift);
        *score = 1.0 - trust * (1.0 - sigmoid(calibration.slope * above));
    }
    if kind == TextKind::Logs {
        if goal.is_overheard {
            lower_routine_lines(&mut scores, features, lines);
        }
        raise_key_log_lines(&mut scores, features, if goal.is_overheard { MANY_OVERHEARD } else { MANY });
        if goal.is_overheard {
            keep_lines_of_files_and_lists(&mut scores, features, lines, interrupted)?;
        }
    } else if goal.is_overheard {
        // What an agent reads to follow, to judge or to change is not known from its words: of cuts in code that were read, a quarter
        // had lines that it went on to use. A caller may still choose a higher threshold.
        scores.iter_mut().for_each(|score| *score = DEFAULT_THRESHOLD + (1.0 - DEFAULT_THRESHOLD) * *score);
    }
    Ok(scores)
}

/// 1 for a short text, 0 for a long one, falling in between.
fn shortness(lines: usize) -> f32 {
    (libm::logf(LONG / lines.max(1) as f32) / libm::logf(LONG / SHORT)).clamp(0.0, 1.0)
}

/// Lowers an output by `shift`, less and less towards the knee and not at all above it. The order of lines is kept.
fn lower_short_code(above: f32, shift: f32) -> f32 {
    if above >= KNEE {
        above
    } else if above > shift {
        (above - shift) * KNEE / (KNEE - shift)
    } else {
        above - shift
    }
}

/// Lowers lines about passed tests and finished steps below the default threshold. What an agent is after is in the summary, and
/// in what failed.
fn lower_routine_lines(scores: &mut [f32], features: &FeatureTable, lines: &[&str]) {
    let passed = features.column(Feature::Passed);
    for (line, score) in scores.iter_mut().enumerate() {
        // Steps of a pipeline have a check mark too, and are what an agent waits for.
        if passed[line] > 0.0 && !lines[line].trim_start().starts_with(CHECK_MARKS) {
            *score *= ROUTINE_SHARE;
        }
    }
}

/// Raises lines of a log that a reader must not miss to the default threshold, whatever the network gave them: errors and
/// the places listed below them, lines with a rare word of the goal, outliers, and the first line of a template that
/// repeats. Above the default threshold they are the first to be cut.
fn raise_key_log_lines(scores: &mut [f32], features: &FeatureTable, many: f32) {
    let column = |feature| features.column(feature);
    let (severe, points) = (column(Feature::IsSevere), column(Feature::HasFileLine));
    let (rare, stands_out) = (column(Feature::Rare), column(Feature::StandsOut));
    let (indent, blank) = (column(Feature::Indent), column(Feature::IsBlank));
    let (repeats, earlier) = (column(Feature::Repeats), column(Feature::EarlierRepeats));
    let (passed, failed, separator) =
        (column(Feature::Passed), column(Feature::Failed), column(Feature::IsSeparator));
    // The indentation of the last error, and how many places below it were raised.
    let mut report: Option<(f32, usize)> = None;
    for (line, score) in scores.iter_mut().enumerate() {
        // Lines about a passed test or a started step are the bulk of a log, and each is unique by its name.
        let plain = passed[line] == 0.0 && separator[line] == 0.0 && blank[line] == 0.0;
        let example = plain && repeats[line] >= many && earlier[line] == 0.0;
        let unusual = plain && stands_out[line] > 0.0;
        let reported = severe[line] > 0.0 || failed[line] > 0.0;
        let mut key_line = example || unusual || reported || rare[line] > 0.0;
        if severe[line] > 0.0 {
            report = Some((indent[line], 0));
        } else if blank[line] == 0.0 {
            report = report.filter(|&(above, _)| indent[line] > above);
            if let Some((_, listed)) = &mut report
                && points[line] > 0.0
                && *listed < LISTED
            {
                *listed += 1;
                key_line = true;
            }
        }
        if key_line {
            *score = score.max(DEFAULT_THRESHOLD);
        }
    }
}

/// Raises lines of files, diffs and lists that a command printed, and the results of packages, which sum up what passed: for an
/// overheard goal, only messages go because they repeat.
fn keep_lines_of_files_and_lists(
    scores: &mut [f32],
    features: &FeatureTable,
    lines: &[&str],
    interrupted: &dyn Fn() -> bool,
) -> Result<(), EngineError> {
    let (passed, blank) = (features.column(Feature::Passed), features.column(Feature::IsBlank));
    for (line, score) in scores.iter_mut().enumerate() {
        if line % 512 == 0 && interrupted() {
            return Err(EngineError::Interrupted);
        }
        if *score >= DEFAULT_THRESHOLD {
            continue;
        }
        let stays = match passed[line] > 0.0 {
            true => is_package_result(lines[line]),
            false => blank[line] == 0.0 && !is_message(lines[line]),
        };
        if stays {
            *score = DEFAULT_THRESHOLD;
        }
    }
    Ok(())
}

/// `ok  \texample.com/shop/cart\t0.31s`: Go prints nothing else about the tests that passed.
fn is_package_result(line: &str) -> bool {
    line.strip_prefix("ok").is_some_and(|rest| rest.starts_with([' ', '\t']) && rest.contains('\t'))
}

/// How much the goal can be trusted in this text, 0 to 1. It is 0 when none of its words is there.
fn trust(kind: TextKind, features: &FeatureTable) -> f32 {
    let root = features.column(Feature::GoalWeight).first().copied().unwrap_or(0.0);
    match kind {
        // In logs, repetition shows what can go without any goal.
        TextKind::Logs => 1.0,
        // A definition or a section of that name is enough, even if the goal is one word.
        TextKind::Code | TextKind::Docs
            if highest(features.column(Feature::NearTitleCover)) > WHOLE_TITLE =>
        {
            1.0
        }
        TextKind::Code | TextKind::Docs => (root * root / TRUSTED_WEIGHT).min(1.0),
    }
}

fn sigmoid(value: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_lowered_in_short_code_and_keep_their_order() {
        assert_eq!([100, 300, 800, 9000].map(shortness), [1.0, 1.0, 0.0, 0.0]);
        assert_eq!(
            [0.0, 0.94, 1.54, 3.0].map(|above| lower_short_code(above, 0.94)),
            [-0.94, 0.0, 1.54, 3.0]
        );
        for shift in [0.0, 0.3, 0.94] {
            let counted: Vec<f32> =
                (-50..50).map(|tenth| lower_short_code(tenth as f32 / 10.0, shift)).collect();
            assert!(counted.is_sorted(), "{shift}");
        }
    }
}
