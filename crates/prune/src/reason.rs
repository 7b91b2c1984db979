//! Why a block is cut: what the scorer saw in it, and where it is.
//!
//! Facts only. The words, and which language they are in, are chosen where the marker is written.

use tamis_syntax::Outline;
use tamis_text::TextKind;

use crate::document::DocumentStructure;
use crate::features::{Feature, FeatureTable};
use crate::logs::names_step;
use crate::shown::ShownPlace;

/// A name or title is kept up to here: enough for any marker, and a huge heading is not copied into every cut below it.
const PLACE_CHARS: usize = 256;

/// A cut counts as repetitions if at most one in this many of its lines is unlike every line outside of it.
pub(crate) const MOST_UNLIKE: usize = 50;

/// Why a block is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutReason {
    pub cause: CutCause,
    pub place: CutPlace,
}

/// What most lines of a cut have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutCause {
    /// Log lines of which nearly all differ from lines outside of the cut only in their numbers.
    Repetitions,
    Tests,
    /// Lines of the licence, the description or the docstring that a file begins with.
    Header,
    Comments,
    /// No term of the goal, neither in the lines nor in what they belong to.
    Unrelated,
    /// Some terms of the goal, but fewer than the lines that stay.
    LessRelevant,
    /// The reader was shown the lines before, word for word, at [`CutPlace::Shown`].
    AlreadyShown,
}

/// Where a cut is. Names and titles are quoted from the text, so they may hold anything but a newline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutPlace {
    /// In the definition of this name.
    Definition(String),
    /// In the section under this heading.
    Section(String),
    /// In a log, which has no named parts: this many lines.
    Lines(usize),
    /// In no definition and under no heading.
    TopLevel,
    /// In the result of an earlier call.
    Shown(ShownPlace),
    /// Known, but naming it would make the marker larger than the block.
    Omitted,
}

/// What the reasons are found from.
pub(crate) struct ReasonInputs<'a> {
    pub(crate) kind: TextKind,
    pub(crate) lines: &'a [&'a str],
    pub(crate) outline: &'a Outline,
    pub(crate) document: &'a DocumentStructure,
    pub(crate) features: &'a FeatureTable,
    /// The number of each line's template.
    pub(crate) templates: &'a [u32],
    /// How many lines have each line's template.
    pub(crate) repeats: &'a [u32],
    /// The last line of the file's header.
    pub(crate) header_end: Option<usize>,
}

impl ReasonInputs<'_> {
    /// Why the lines from `first` to `last`, counted from 0, are cut.
    pub(crate) fn reason(&self, first: usize, last: usize) -> CutReason {
        let place = match self.kind {
            TextKind::Code => self.definition(first).map(|name| CutPlace::Definition(clip(name))),
            TextKind::Docs => self.section(first).map(|title| CutPlace::Section(clip(title))),
            TextKind::Logs => Some(CutPlace::Lines(last - first + 1)),
        };
        CutReason { cause: self.cause(first, last), place: place.unwrap_or(CutPlace::TopLevel) }
    }

    fn cause(&self, first: usize, last: usize) -> CutCause {
        let column = |feature| &self.features.column(feature)[first..=last];
        let mostly =
            |feature| column(feature).iter().filter(|&&value| value > 0.0).count() * 2 > last - first + 1;
        let of_header = self.header_end.map_or(0, |end| (end + 1).min(last + 1).saturating_sub(first));
        if of_header * 2 > last - first + 1 {
            return CutCause::Header;
        }
        let goal_of_tests = column(Feature::GoalOfTests).first().is_some_and(|&tests| tests > 0.0);
        if self.kind == TextKind::Logs
            && mostly(Feature::EarlierRepeats)
            && self.resembles_others(first, last)
        {
            CutCause::Repetitions
        } else if mostly(Feature::InTests) && !goal_of_tests || self.are_passed_tests(first, last) {
            CutCause::Tests
        } else if mostly(Feature::IsComment) {
            CutCause::Comments
        } else if !mostly(Feature::NearCover) && column(Feature::Terms).iter().all(|&terms| terms == 0.0) {
            CutCause::Unrelated
        } else {
            CutCause::LessRelevant
        }
    }

    /// Whether nearly every line differs only in its numbers from a line outside of the cut.
    fn resembles_others(&self, first: usize, last: usize) -> bool {
        let mut inside: Vec<(u32, u32)> =
            (first..=last).map(|line| (self.templates[line], self.repeats[line])).collect();
        inside.sort_unstable();
        let of_template = inside.chunk_by(|one, other| one.0 == other.0);
        let unlike: usize =
            of_template.map(|lines| if lines.len() as u32 == lines[0].1 { lines.len() } else { 0 }).sum();
        unlike * MOST_UNLIKE <= inside.len()
    }

    /// Whether most lines of a log are about tests that passed. Steps of a build begin with what was done: `Compiling`, `Downloaded`.
    fn are_passed_tests(&self, first: usize, last: usize) -> bool {
        if self.kind != TextKind::Logs {
            return false;
        }
        let is_step = |line: &str| line.split_whitespace().next().is_some_and(names_step);
        let passed = &self.features.column(Feature::Passed)[first..=last];
        let lines = self.lines[first..=last].iter().zip(passed);
        let tests = lines.filter(|(line, passed)| **passed > 0.0 && !is_step(line)).count();
        tests * 2 > last - first + 1
    }

    /// The name of the innermost definition around the first line.
    fn definition(&self, first: usize) -> Option<&str> {
        let definitions = &self.outline.definitions;
        let before = definitions.partition_point(|definition| definition.lead <= first);
        let around =
            definitions[..before].iter().rev().take(64).find(|definition| definition.last >= first)?;
        Some(&self.lines[around.signature.first][around.name.clone()])
    }

    /// The title of the section that the first line is in.
    fn section(&self, first: usize) -> Option<&str> {
        let headings = &self.document.headings;
        let before = headings.partition_point(|heading| heading.line <= first);
        let heading = headings[..before].last()?;
        Some(self.lines[heading.line].trim_start_matches(['#', ' ', '\t']))
    }
}

fn clip(text: &str) -> String {
    text.trim().chars().take(PLACE_CHARS).collect()
}
