//! What is known of each line, as numbers: the one place where a scorer's input is made.
//!
//! A column for each feature. A learned scorer takes the same columns, so their order is part of the engine's
//! version, and `examples/features.rs` writes them out for training.

use crate::goal::{Goal, stop_words};
use crate::index::Index;
use crate::logs::Repetition;
use crate::relevance::{blur, by_line, by_unit, by_window, highest, rank, rarity};
use crate::units::{Levels, Units};
use crate::{Unpruned, shape::Shape};

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
    Line, LineShare, LineRank, HeadlineBlur8, Blur2, Blur6, Blur15, Blur40, Blur15Share,
    Window12, Window12Cover, Window30Cover,
    // What it belongs to.
    Paragraph, ParagraphCover, ParagraphShare,
    Near, NearShare, NearCover, NearTitle, NearTitleCover, NearTitlePrecision, NearLength, NearDistance, NearDensity,
    Top, TopShare, TopCover, TopLength,
    // What the goal names, phrases it shares, and words that keep company with its words.
    Rare, Named, NamedBlur, NamedNear, PhraseBlur, PhraseNear, Company, CompanyBlur8, CompanyNear, CompanyRank,
    // What the line looks like.
    Indent, Width, IsComment, InTests, IsWarning, Repeats, EarlierRepeats, StandsOut,
    // The text and the goal as a whole: how far the rest is to be trusted.
    TextLines, GoalFound, GoalWeight, BestCover, BestNear, Contrast,
}

/// A word that is in no more lines than these is rare: three, or one in a hundred.
const FEW_LINES: usize = 3;
const ONE_LINE_IN: usize = 100;

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
}

pub(crate) fn measure(sources: &Sources<'_>, interrupted: &dyn Fn() -> bool) -> Result<Features, Unpruned> {
    let mut builder = Builder {
        columns: vec![Vec::new(); COUNT],
        lines: sources.index.lines,
        line: Vec::new(),
        interrupted,
    };
    let passes: [Pass; 6] = [around, belonging, named, company, looks, whole];
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

fn around(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let headline = by_line(sources.index, sources.goal, |term| sources.goal.terms[term].in_headline).score;
    out.set(Feature::HeadlineBlur8, roots(&blur(&headline, 8)))?;
    out.line = by_line(sources.index, sources.goal, |_| true).score;
    let blur15 = blur(&out.line, 15);
    out.set(Feature::Blur15Share, shares(&blur15))?;
    out.set(Feature::Blur15, roots(&blur15))?;
    for (reach, feature) in [(2, Feature::Blur2), (6, Feature::Blur6), (40, Feature::Blur40)] {
        out.set(feature, roots(&blur(&out.line, reach)))?;
    }
    out.set(Feature::LineShare, shares(&out.line))?;
    out.set(Feature::LineRank, rank(&out.line))?;
    out.set(Feature::Line, roots(&out.line))?;
    let window = by_window(sources.index, sources.goal, 12);
    out.set(Feature::Window12, roots(&window.score))?;
    out.set(Feature::Window12Cover, window.coverage)?;
    out.set(Feature::Window30Cover, by_window(sources.index, sources.goal, 30).coverage)
}

fn belonging(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let (index, goal, levels) = (sources.index, sources.goal, sources.levels);
    let paragraph = by_unit(index, goal, &levels.paragraph);
    let best = highest(&paragraph.score).max(1e-6);
    out.spread(Feature::Paragraph, &levels.paragraph, |unit| paragraph.score[unit].sqrt())?;
    out.spread(Feature::ParagraphShare, &levels.paragraph, |unit| paragraph.score[unit] / best)?;
    out.spread(Feature::ParagraphCover, &levels.paragraph, |unit| paragraph.coverage[unit])?;

    let near = by_unit(index, goal, &levels.near);
    let best = highest(&near.score).max(1e-6);
    let near_sizes = sizes(&levels.near);
    let density = sums(&levels.near, &out.line);
    let titles = title_match(sources, &levels.near);
    out.spread(Feature::Near, &levels.near, |unit| near.score[unit].sqrt())?;
    out.spread(Feature::NearShare, &levels.near, |unit| near.score[unit] / best)?;
    out.spread(Feature::NearCover, &levels.near, |unit| near.coverage[unit])?;
    let title_scores: Vec<f32> =
        levels.near.title.iter().map(|&line| out.line[line as usize].sqrt()).collect();
    out.spread(Feature::NearTitle, &levels.near, |unit| title_scores[unit])?;
    out.spread(Feature::NearTitleCover, &levels.near, |unit| titles[unit].0)?;
    out.spread(Feature::NearTitlePrecision, &levels.near, |unit| titles[unit].1)?;
    out.spread(Feature::NearLength, &levels.near, |unit| bounded_root(near_sizes[unit] as f32))?;
    out.spread(Feature::NearDensity, &levels.near, |unit| {
        (density[unit] / near_sizes[unit].max(1) as f32).sqrt()
    })?;
    let from_title =
        |line: usize| (line as f32 - levels.near.title[levels.near.of_line[line] as usize] as f32).abs();
    out.set(Feature::NearDistance, (0..out.lines).map(|line| bounded_root(from_title(line))).collect())?;
    out.set_all(Feature::BestNear, best.sqrt())?;

    let top = by_unit(index, goal, &levels.top);
    let best = highest(&top.score).max(1e-6);
    let top_sizes = sizes(&levels.top);
    out.spread(Feature::Top, &levels.top, |unit| top.score[unit].sqrt())?;
    out.spread(Feature::TopShare, &levels.top, |unit| top.score[unit] / best)?;
    out.spread(Feature::TopCover, &levels.top, |unit| top.coverage[unit])?;
    out.spread(Feature::TopLength, &levels.top, |unit| bounded_root(top_sizes[unit] as f32))
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

/// For each unit's title: the share of the goal it names, and the share of its own words that the goal names.
fn title_match(sources: &Sources<'_>, units: &Units) -> Vec<(f32, f32)> {
    let index = sources.index;
    let weights =
        crate::relevance::term_weights(sources.goal, &index.hits, index.lines, |hit| hit.line, |_| true);
    let mut seen = vec![u32::MAX; sources.goal.terms.len()];
    let mut matches = Vec::with_capacity(units.count());
    for (unit, &title) in units.title.iter().enumerate() {
        let words = sources.shape.title_words(index, title as usize);
        let (mut covered, mut known, mut all) = (0.0, 0.0, 0.0);
        for &word in words {
            let own = rarity(index.line_frequency[word as usize] as f32, index.lines as f32);
            all += own;
            if let Some((term, weight)) = index.term(word) {
                known += own * weight;
                if seen[term as usize] != unit as u32 {
                    seen[term as usize] = unit as u32;
                    covered += weights.of_term[term as usize] * weight;
                }
            }
        }
        let cover = if weights.total > 0.0 { covered / weights.total } else { 0.0 };
        matches.push((cover, if all > 0.0 { known / all } else { 0.0 }));
    }
    matches
}

fn named(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let count = |list: &[u32]| {
        let mut column = vec![0.0f32; sources.index.lines];
        for &line in list {
            column[line as usize] += 1.0;
        }
        column
    };
    let named = count(&sources.index.named);
    let near = sums(&sources.levels.near, &named);
    out.spread(Feature::NamedNear, &sources.levels.near, |unit| bounded_root(near[unit]))?;
    out.set(Feature::NamedBlur, roots(&blur(&named, 10)))?;
    out.set(Feature::Named, roots(&named))?;
    let phrases = count(&sources.index.phrases);
    let near = sums(&sources.levels.near, &phrases);
    out.spread(Feature::PhraseNear, &sources.levels.near, |unit| bounded_root(near[unit]))?;
    out.set(Feature::PhraseBlur, roots(&blur(&phrases, 10)))
}

/// Words that the best lines have besides the goal's own: where they gather, the goal may be meant too.
fn company(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    const WORDS: usize = 25;
    let index = sources.index;
    let best_lines = {
        let column = out.get(Feature::Blur2);
        let mut order: Vec<u32> = (0..out.lines as u32).filter(|&line| column[line as usize] > 0.0).collect();
        order.sort_unstable_by(|&a, &b| column[b as usize].total_cmp(&column[a as usize]).then(a.cmp(&b)));
        order.truncate((out.lines / 50).clamp(5, 60));
        order
    };
    let stop = stop_words();
    let mut weight_of = vec![0.0f32; index.vocabulary.len()];
    let mut seen: Vec<u32> = Vec::new();
    for &line in &best_lines {
        for &word in index.line_words(line as usize) {
            if index.term(word).is_none() && stop.find(index.vocabulary.word(word)).is_none() {
                if weight_of[word as usize] == 0.0 {
                    seen.push(word);
                }
                weight_of[word as usize] +=
                    rarity(index.line_frequency[word as usize] as f32, index.lines as f32);
            }
        }
    }
    seen.sort_unstable_by(|&a, &b| weight_of[b as usize].total_cmp(&weight_of[a as usize]).then(a.cmp(&b)));
    for &word in seen.iter().skip(WORDS) {
        weight_of[word as usize] = 0.0;
    }
    for &word in seen.iter().take(WORDS) {
        weight_of[word as usize] = rarity(index.line_frequency[word as usize] as f32, index.lines as f32);
    }
    let company: Vec<f32> = (0..out.lines)
        .map(|line| {
            let words = index.line_words(line);
            let sum: f32 = words.iter().map(|&word| weight_of[word as usize]).sum();
            sum / (3.0 + words.len() as f32).sqrt()
        })
        .collect();
    let sums = sums(&sources.levels.near, &company);
    let sizes = sizes(&sources.levels.near);
    out.spread(Feature::CompanyNear, &sources.levels.near, |unit| {
        (sums[unit] / sizes[unit].max(1) as f32).sqrt()
    })?;
    let blurred = blur(&company, 8);
    out.set(Feature::CompanyRank, rank(&blurred))?;
    out.set(Feature::CompanyBlur8, roots(&blurred))?;
    out.set(Feature::Company, roots(&company))
}

/// 1 where a line has a word of the goal that hardly another line has, as it stands in the goal.
fn rare(index: &Index, terms: usize) -> Vec<f32> {
    let exact = || index.hits.iter().filter(|hit| hit.weight == 1.0);
    let mut lines_with = vec![0usize; terms];
    let mut last = vec![u32::MAX; terms];
    for hit in exact() {
        let term = hit.term as usize;
        if last[term] != hit.line {
            last[term] = hit.line;
            lines_with[term] += 1;
        }
    }
    let few = (index.lines / ONE_LINE_IN).max(FEW_LINES);
    let mut column = vec![0.0; index.lines];
    for hit in exact().filter(|hit| lines_with[hit.term as usize] <= few) {
        column[hit.line as usize] = 1.0;
    }
    column
}

fn looks(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    out.set(Feature::Rare, rare(sources.index, sources.goal.terms.len()))?;
    let shape = sources.shape;
    let flag = |values: &[bool]| values.iter().map(|&value| f32::from(u8::from(value))).collect::<Vec<f32>>();
    let bounded =
        |values: &[u32]| values.iter().map(|&value| bounded_root(value as f32)).collect::<Vec<f32>>();
    out.set(Feature::Indent, shape.indent.iter().map(|&width| f32::from(width.min(80)).sqrt()).collect())?;
    out.set(Feature::Width, shape.width.iter().map(|&width| (width.min(400) as f32).sqrt()).collect())?;
    out.set(Feature::IsComment, flag(&shape.comment))?;
    out.set(Feature::InTests, flag(&shape.tests))?;
    out.set(Feature::IsWarning, flag(&shape.warning))?;
    out.set(Feature::Repeats, bounded(&sources.repetition.count))?;
    out.set(Feature::EarlierRepeats, bounded(&sources.repetition.earlier))?;
    out.set(Feature::StandsOut, flag(&sources.repetition.stands_out))
}

fn whole(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let index = sources.index;
    let weights =
        crate::relevance::term_weights(sources.goal, &index.hits, index.lines, |hit| hit.line, |_| true);
    let all: f32 = weights.of_term.iter().sum();
    out.set_all(Feature::TextLines, bounded_root(out.lines as f32))?;
    out.set_all(Feature::GoalFound, if all > 0.0 { weights.total / all } else { 0.0 })?;
    out.set_all(Feature::GoalWeight, bounded_root(weights.total))?;
    out.set_all(Feature::BestCover, highest(out.get(Feature::Window12Cover)))?;
    let blurred = out.get(Feature::Blur6);
    let mean = blurred.iter().sum::<f32>() / out.lines.max(1) as f32;
    let contrast = if mean > 0.0 { highest(blurred) / mean } else { 0.0 };
    out.set_all(Feature::Contrast, bounded_root(contrast))
}
