//! What a log tells of trouble: how its tests went, how far a line is from a report, and what the failed ones are called.

use tamis_text::Kind;

use super::{Builder, Feature, Sources, flags};
use crate::Unpruned;

/// Further away than this from a report is far away.
const REACH: usize = 64;

/// A word in no more lines than these may be the name of something that failed: six, or one in fifty.
const FEW_LINES: usize = 6;
const ONE_LINE_IN: usize = 50;

/// More words of names than these in a line say no more.
const MOST_NAMES: usize = 16;

pub(super) fn trouble(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let shape = sources.shape;
    out.set(Feature::Passed, flags(&shape.passed))?;
    out.set(Feature::Failed, flags(&shape.failed))?;
    out.set(Feature::Drawn, flags(&shape.drawn))?;
    let reports: Vec<bool> =
        shape.severe.iter().zip(&shape.failed).map(|(severe, failed)| severe | failed).collect();
    out.set(Feature::AfterTrouble, closeness(reports.iter()))?;
    let mut before = closeness(reports.iter().rev());
    before.reverse();
    out.set(Feature::BeforeTrouble, before)?;
    let accused = match sources.kind {
        Kind::Logs => accused(sources),
        Kind::Code | Kind::Docs => vec![0.0; out.lines],
    };
    out.set(Feature::Accused, accused)
}

/// How close the last report is, counted along the iterator: 8 in the report itself, 0 where there is none in reach.
fn closeness<'a>(reports: impl Iterator<Item = &'a bool>) -> Vec<f32> {
    let mut distance = REACH;
    let close = |&report: &bool| {
        distance = if report { 0 } else { (distance + 1).min(REACH) };
        ((REACH as f32).sqrt() - (distance as f32).sqrt()).max(0.0)
    };
    reports.map(close).collect()
}

/// How many words of a line are names of what failed: words of lines that tell of a failed test, in few lines otherwise.
fn accused(sources: &Sources<'_>) -> Vec<f32> {
    let index = sources.index;
    let few = (index.lines / ONE_LINE_IN).max(FEW_LINES) as u32;
    let mut named = vec![false; index.line_frequency.len()];
    for line in (0..index.lines).filter(|&line| sources.shape.failed[line]) {
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
    use crate::{Analysis, View};

    #[test]
    fn what_failed_is_known_by_its_name_elsewhere() {
        let passed: String =
            (0..60).map(|number| format!("tests/test_a.py::test_case{number} PASSED\n")).collect();
        let text = format!(
            "{passed}tests/test_a.py::test_quota FAILED\n______ test_quota ______\n>   assert 1 == 2\n"
        );
        let view = View::of(&text);
        let analysis =
            Analysis::measure(&view, "run the tests", Kind::Logs, &|| false).expect("nothing interrupts");
        let column = |feature| analysis.features().column(feature);
        let lines = |feature| {
            (0..column(feature).len()).filter(|&line| column(feature)[line] > 0.0).collect::<Vec<_>>()
        };
        assert_eq!(lines(Feature::Passed), (0..60).collect::<Vec<_>>());
        assert_eq!(lines(Feature::Failed), [60, 62]);
        assert_eq!(lines(Feature::Drawn), [61]);
        assert_eq!(lines(Feature::Accused), [60, 61, 62]);
        assert_eq!(column(Feature::AfterTrouble)[59..], [0.0, 8.0, 7.0, 8.0, 7.0]);
        assert_eq!(column(Feature::BeforeTrouble)[59..], [7.0, 8.0, 7.0, 8.0, 0.0]);
    }
}
