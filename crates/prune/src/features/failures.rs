//! Failures in a log: test results, the distance to the next error, and the names of what failed.

use tamis_text::TextKind;

use super::{Builder, Feature, FeatureInputs, flags};
use crate::EngineError;

/// Errors further away than this many lines do not count.
const REACH: usize = 64;

/// A word may be the name of something that failed if it is in at most six lines, or one in fifty.
const FEW_LINES: usize = 6;
const ONE_LINE_IN: usize = 50;

/// Names beyond this number in one line do not count.
const MOST_NAMES: usize = 16;

pub(super) fn failures(inputs: &FeatureInputs<'_>, out: &mut Builder<'_>) -> Result<(), EngineError> {
    let attributes = inputs.attributes;
    out.set(Feature::Passed, flags(&attributes.passed))?;
    out.set(Feature::Failed, flags(&attributes.failed))?;
    out.set(Feature::IsSeparator, flags(&attributes.separator))?;
    let reports: Vec<bool> =
        attributes.severe.iter().zip(&attributes.failed).map(|(severe, failed)| severe | failed).collect();
    out.set(Feature::AfterFailure, closeness(reports.iter()))?;
    let mut before = closeness(reports.iter().rev());
    before.reverse();
    out.set(Feature::BeforeFailure, before)?;
    let failed_names = match inputs.kind {
        TextKind::Logs => failed_names(inputs),
        TextKind::Code | TextKind::Docs => vec![0.0; out.lines],
    };
    out.set(Feature::FailedNames, failed_names)
}

/// How close the last error is, along the iterator: 8 in the line itself, 0 if the last `REACH` lines have no error.
fn closeness<'a>(reports: impl Iterator<Item = &'a bool>) -> Vec<f32> {
    let mut distance = REACH;
    let close = |&report: &bool| {
        distance = if report { 0 } else { (distance + 1).min(REACH) };
        ((REACH as f32).sqrt() - (distance as f32).sqrt()).max(0.0)
    };
    reports.map(close).collect()
}

/// How many words of a line are names of what failed: words that are in the line of a failed test and in few others.
fn failed_names(inputs: &FeatureInputs<'_>) -> Vec<f32> {
    let index = inputs.index;
    let few = (index.lines / ONE_LINE_IN).max(FEW_LINES) as u32;
    let mut named = vec![false; index.line_frequency.len()];
    for line in (0..index.lines).filter(|&line| inputs.attributes.failed[line]) {
        for &word in index.line_words(line) {
            named[word as usize] |= index.line_frequency[word as usize] <= few;
        }
    }
    let count = |line| index.line_words(line).iter().filter(|&&word| named[word as usize]).count();
    (0..index.lines).map(|line| (count(line).min(MOST_NAMES) as f32).sqrt()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlainText, TextAnalysis};

    #[test]
    fn names_of_failed_tests_are_found_in_other_lines() {
        let passed: String =
            (0..60).map(|number| format!("tests/test_a.py::test_case{number} PASSED\n")).collect();
        let text = format!(
            "{passed}tests/test_a.py::test_quota FAILED\n______ test_quota ______\n>   assert 1 == 2\n"
        );
        let view = PlainText::of(&text);
        let analysis = TextAnalysis::measure(&view, "run the tests", TextKind::Logs, &|| false)
            .expect("nothing interrupts");
        let column = |feature| analysis.features().column(feature);
        let lines = |feature| {
            (0..column(feature).len()).filter(|&line| column(feature)[line] > 0.0).collect::<Vec<_>>()
        };
        assert_eq!(lines(Feature::Passed), (0..60).collect::<Vec<_>>());
        assert_eq!(lines(Feature::Failed), [60, 62]);
        assert_eq!(lines(Feature::IsSeparator), [61]);
        assert_eq!(lines(Feature::FailedNames), [60, 61, 62]);
        assert_eq!(column(Feature::AfterFailure)[59..], [0.0, 8.0, 7.0, 8.0, 7.0]);
        assert_eq!(column(Feature::BeforeFailure)[59..], [7.0, 8.0, 7.0, 8.0, 0.0]);
    }
}
