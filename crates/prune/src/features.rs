//! The features of each line: the input of the network.
//!
//! One column per feature. The weights depend on the order of the columns, so the order is part of the engine's version.
//! `examples/features.rs` writes the columns out for training.

mod failures;
mod global;
mod lexical;
mod neighborhood;
mod partitions;
mod surface;

use tamis_text::TextKind;

use crate::EngineError;
use crate::bm25::highest;
use crate::goal::Goal;
use crate::index::Index;
use crate::line_attributes::LineAttributes;
use crate::logs::Repetition;
use crate::partition::{Partition, Partitions};

macro_rules! features {
    ($($name:ident),* $(,)?) => {
        /// The features of a line, in the order of the columns.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Feature { $($name),* }

        impl Feature {
            /// All of them, in order.
            pub const ALL: &'static [Feature] = &[$(Feature::$name),*];

            /// The feature's name, as the training data lists it.
            pub fn name(self) -> &'static str {
                match self { $(Feature::$name => stringify!($name)),* }
            }
        }
    };
}

features! {
    // BM25 of the line and of its neighbourhood.
    Line, LineShare, Blur2, Blur6, Blur15, Blur15Share, Window12, Window30Cover, Window60Cover, Terms,
    // The paragraph, and the inner and outer part, that the line is in.
    Paragraph, ParagraphShare,
    Near, NearCover, NearTitleCover, NearTitlePrecision, NearLength, NearDistance, NearEnd, NearDensity,
    TopCover, TopLength,
    // Identifiers, phrases and rare words of the goal.
    Named, NamedNear, PhraseBlur, PhraseNear, HeaviestNear, Rare,
    // Words that are new or rare in the text.
    NewWords, NewShare, OwnWords, Rarity, MeanRarity,
    // Surface form, whatever the goal.
    Indent, IndentChange, Width, Position, Digits, Symbols, Names, Capitals,
    IsBlank, IsComment, IsDefinition, IsImport, IsSevere, InTests, Repeats, EarlierRepeats, StandsOut,
    FirstPlus, FirstMinus, HasFileLine, Calls, OpensBlock, IsControlFlow,
    // Failures in a log.
    Passed, Failed, IsSeparator, AfterFailure, BeforeFailure, FailedNames,
    // The text and the goal as a whole.
    TextLines, KindLogs, KindDocs, GoalFound, GoalWeight, GoalTerms, Contrast,
    GoalOfTests, GoalOfFailures, GoalOfDocumentation, GoalOfTask,
}

pub(crate) const COUNT: usize = Feature::ALL.len();

/// The columns of a text.
pub struct FeatureTable {
    columns: Vec<Vec<f32>>,
}

impl FeatureTable {
    /// One feature of every line.
    pub fn column(&self, feature: Feature) -> &[f32] {
        &self.columns[feature as usize]
    }

    /// One feature of every line, by its number.
    pub(crate) fn by_number(&self, number: usize) -> &[f32] {
        &self.columns[number]
    }

    pub(crate) fn lines(&self) -> usize {
        self.columns[0].len()
    }
}

/// What the features are computed from.
pub(crate) struct FeatureInputs<'a> {
    pub(crate) index: &'a Index,
    pub(crate) goal: &'a Goal,
    pub(crate) partitions: &'a Partitions,
    pub(crate) attributes: &'a LineAttributes,
    pub(crate) repetition: &'a Repetition,
    pub(crate) lines: &'a [&'a str],
    pub(crate) kind: TextKind,
}

pub(crate) fn measure(
    inputs: &FeatureInputs<'_>,
    interrupted: &dyn Fn() -> bool,
) -> Result<FeatureTable, EngineError> {
    let mut builder = Builder {
        columns: vec![Vec::new(); COUNT],
        lines: inputs.index.lines,
        line: Vec::new(),
        interrupted,
    };
    let passes: [Pass; 11] = [
        neighborhood::neighborhood,
        partitions::partitions,
        lexical::named,
        lexical::rare,
        lexical::heaviest,
        lexical::new,
        surface::place,
        surface::structure,
        surface::characters,
        failures::failures,
        global::global,
    ];
    for pass in passes {
        pass(inputs, &mut builder)?;
    }
    Ok(FeatureTable { columns: builder.columns })
}

type Pass = fn(&FeatureInputs<'_>, &mut Builder<'_>) -> Result<(), EngineError>;

struct Builder<'a> {
    interrupted: &'a dyn Fn() -> bool,
    columns: Vec<Vec<f32>>,
    lines: usize,
    /// BM25 of each line, from which several columns are computed.
    line: Vec<f32>,
}

impl Builder<'_> {
    /// Stores a column. Every column passes here, so this is where an interruption is noticed.
    fn set(&mut self, feature: Feature, column: Vec<f32>) -> Result<(), EngineError> {
        debug_assert_eq!(column.len(), self.lines);
        self.columns[feature as usize] = column;
        if (self.interrupted)() { Err(EngineError::Interrupted) } else { Ok(()) }
    }

    fn set_all(&mut self, feature: Feature, value: f32) -> Result<(), EngineError> {
        self.set(feature, vec![value; self.lines])
    }

    fn get(&self, feature: Feature) -> &[f32] {
        &self.columns[feature as usize]
    }

    /// Gives each line the value of its part.
    fn spread(
        &mut self,
        feature: Feature,
        partition: &Partition,
        of_part: impl Fn(usize) -> f32,
    ) -> Result<(), EngineError> {
        let column = partition.of_line.iter().map(|&part| of_part(part as usize)).collect();
        self.set(feature, column)
    }
}

fn roots(values: &[f32]) -> Vec<f32> {
    values.iter().map(|value| value.sqrt()).collect()
}

/// The square root of a size, bounded by what occurred in training.
fn bounded_root(value: f32) -> f32 {
    value.min(4096.0).sqrt()
}

fn shares(values: &[f32]) -> Vec<f32> {
    let best = highest(values);
    if best <= 0.0 { vec![0.0; values.len()] } else { values.iter().map(|value| value / best).collect() }
}

fn sums(partition: &Partition, column: &[f32]) -> Vec<f32> {
    let mut sums = vec![0.0f32; partition.count()];
    for (value, &part) in column.iter().zip(&partition.of_line) {
        sums[part as usize] += value;
    }
    sums
}

fn sizes(partition: &Partition) -> Vec<u32> {
    let mut sizes = vec![0; partition.count()];
    for &part in &partition.of_line {
        sizes[part as usize] += 1;
    }
    sizes
}

fn flags(values: &[bool]) -> Vec<f32> {
    values.iter().map(|&value| f32::from(u8::from(value))).collect()
}
