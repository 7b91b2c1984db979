//! What is known of each line, as numbers: the one place where a scorer's input is made.
//!
//! A column for each feature. A learned scorer takes the same columns, so their order is part of the engine's
//! version, and `examples/features.rs` writes them out for training.

mod failures;
mod global;
mod lexical;
mod neighborhood;
mod partitions;
mod surface;

use tamis_text::Kind;

use crate::Unpruned;
use crate::bm25::highest;
use crate::goal::Goal;
use crate::index::Index;
use crate::line_attributes::Shape;
use crate::logs::Repetition;
use crate::partition::{Levels, Units};

macro_rules! features {
    ($($name:ident),* $(,)?) => {
        /// The features of a line, in the order of the columns.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Feature { $($name),* }

        impl Feature {
            /// All of them, in order.
            pub const ALL: &'static [Feature] = &[$(Feature::$name),*];

            /// The feature's name, for the trainer's eyes.
            pub fn name(self) -> &'static str {
                match self { $(Feature::$name => stringify!($name)),* }
            }
        }
    };
}

features! {
    // The line itself, and its neighbourhood.
    Line, LineShare, Blur2, Blur6, Blur15, Blur15Share, Window12, Window30Cover, Window60Cover, Terms,
    // What it belongs to.
    Paragraph, ParagraphShare,
    Near, NearCover, NearTitleCover, NearTitlePrecision, NearLength, NearDistance, NearEnd, NearDensity,
    TopCover, TopLength,
    // What the goal names, phrases it shares, and its rarest words.
    Named, NamedNear, PhraseBlur, PhraseNear, HeaviestNear, Rare,
    // What only this line has, or has first.
    NewWords, NewShare, OwnWords, Rarity, MeanRarity,
    // What the line looks like.
    Indent, IndentChange, Width, Position, Digits, Symbols, Names, Capitals,
    IsBlank, IsComment, IsDefinition, IsImport, IsSevere, InTests, Repeats, EarlierRepeats, StandsOut,
    FirstPlus, FirstMinus, Points, Calls, Opens, Steers,
    // What a log tells of trouble.
    Passed, Failed, Drawn, AfterTrouble, BeforeTrouble, Accused,
    // The text and the goal as a whole: how far the rest is to be trusted.
    TextLines, KindLogs, KindDocs, GoalFound, GoalWeight, GoalTerms, Contrast,
    GoalOfTests, GoalOfTrouble, GoalOfWords, GoalOfTask,
}

pub(crate) const COUNT: usize = Feature::ALL.len();

/// The columns of a text.
pub struct Features {
    columns: Vec<Vec<f32>>,
}

impl Features {
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

/// All that the features are made from.
pub(crate) struct Sources<'a> {
    pub(crate) index: &'a Index,
    pub(crate) goal: &'a Goal,
    pub(crate) levels: &'a Levels,
    pub(crate) shape: &'a Shape,
    pub(crate) repetition: &'a Repetition,
    pub(crate) lines: &'a [&'a str],
    pub(crate) kind: Kind,
}

pub(crate) fn measure(sources: &Sources<'_>, interrupted: &dyn Fn() -> bool) -> Result<Features, Unpruned> {
    let mut builder = Builder {
        columns: vec![Vec::new(); COUNT],
        lines: sources.index.lines,
        line: Vec::new(),
        interrupted,
    };
    let passes: [Pass; 11] = [
        neighborhood::relevance,
        partitions::units,
        lexical::named,
        lexical::rare,
        lexical::heaviest,
        lexical::new,
        surface::place,
        surface::structure,
        surface::letters,
        failures::trouble,
        global::whole,
    ];
    for pass in passes {
        pass(sources, &mut builder)?;
    }
    Ok(Features { columns: builder.columns })
}

type Pass = fn(&Sources<'_>, &mut Builder<'_>) -> Result<(), Unpruned>;

struct Builder<'a> {
    interrupted: &'a dyn Fn() -> bool,
    columns: Vec<Vec<f32>>,
    lines: usize,
    /// Each line's own relevance, which several columns are made from.
    line: Vec<f32>,
}

impl Builder<'_> {
    /// Every column passes here, so here is where an interruption is noticed.
    fn set(&mut self, feature: Feature, column: Vec<f32>) -> Result<(), Unpruned> {
        debug_assert_eq!(column.len(), self.lines);
        self.columns[feature as usize] = column;
        if (self.interrupted)() { Err(Unpruned::Interrupted) } else { Ok(()) }
    }

    fn set_all(&mut self, feature: Feature, value: f32) -> Result<(), Unpruned> {
        self.set(feature, vec![value; self.lines])
    }

    fn get(&self, feature: Feature) -> &[f32] {
        &self.columns[feature as usize]
    }

    /// Spreads what is known of units over their lines.
    fn spread(
        &mut self,
        feature: Feature,
        units: &Units,
        of_unit: impl Fn(usize) -> f32,
    ) -> Result<(), Unpruned> {
        let column = units.of_line.iter().map(|&unit| of_unit(unit as usize)).collect();
        self.set(feature, column)
    }
}

fn roots(values: &[f32]) -> Vec<f32> {
    values.iter().map(|value| value.sqrt()).collect()
}

/// A size, flattened, and bounded by what the scorer has seen in training.
fn bounded_root(value: f32) -> f32 {
    value.min(4096.0).sqrt()
}

fn shares(values: &[f32]) -> Vec<f32> {
    let best = highest(values);
    if best <= 0.0 { vec![0.0; values.len()] } else { values.iter().map(|value| value / best).collect() }
}

fn sums(units: &Units, column: &[f32]) -> Vec<f32> {
    let mut sums = vec![0.0f32; units.count()];
    for (value, &unit) in column.iter().zip(&units.of_line) {
        sums[unit as usize] += value;
    }
    sums
}

fn sizes(units: &Units) -> Vec<u32> {
    let mut sizes = vec![0; units.count()];
    for &unit in &units.of_line {
        sizes[unit as usize] += 1;
    }
    sizes
}

fn flags(values: &[bool]) -> Vec<f32> {
    values.iter().map(|&value| f32::from(u8::from(value))).collect()
}
