//! What is known of each line, as numbers: the one place where a scorer's input is made.
//!
//! A column for each feature. A learned scorer takes the same columns, so their order is part of the engine's
//! version, and `examples/features.rs` writes them out for training.

use tamis_text::Kind;

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
        #[allow(missing_docs)]
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
    Line, LineShare, LineRank, Headline, HeadlineBlur8, Blur2, Blur6, Blur15, Blur40, Blur6Share, Blur15Share, Blur6Rank, Blur15Rank,
    Window5, Window12, Window5Share, Window12Share, Window5Cover, Window12Cover, Window30Cover,
    // What it belongs to.
    Paragraph, ParagraphCover, ParagraphShare,
    Near, NearShare, NearRank, NearCover, NearTitle, NearTitleCover, NearTitlePrecision, NearLength, NearDistance, NearDensity,
    Top, TopShare, TopCover, TopTitle, TopTitlePrecision, TopLength,
    // What the goal names, phrases it shares, and words that keep company with its words.
    Named, NamedBlur, NamedNear, Phrase, PhraseBlur, PhraseNear, Company, CompanyBlur8, CompanyNear, CompanyRank,
    // What the line looks like.
    Position, Indent, Width, IsDefinition, IsComment, IsImport, IsBlank, IsCloser, InTests, IsSevere, IsWarning, Repeats, EarlierRepeats,
    // The text and the goal as a whole: how far the rest is to be trusted.
    TextLines, GoalTerms, GoalFound, BestCover, BestNear, Contrast, NearUnits,
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

    pub(crate) fn lines(&self) -> usize {
        self.columns[0].len()
    }
}

/// All that the features are made from.
pub(crate) struct Sources<'a> {
    pub(crate) kind: Kind,
    pub(crate) index: &'a Index,
    pub(crate) goal: &'a Goal,
    pub(crate) levels: &'a Levels,
    pub(crate) shape: &'a Shape,
    pub(crate) repetition: &'a Repetition,
}

pub(crate) fn measure(sources: &Sources<'_>, interrupted: &dyn Fn() -> bool) -> Result<Features, Unpruned> {
    let mut builder = Builder { columns: vec![Vec::new(); COUNT], lines: sources.index.lines };
    let passes: [fn(&Sources<'_>, &mut Builder); 6] = [around, belonging, named, company, looks, whole];
    for pass in passes {
        if interrupted() {
            return Err(Unpruned::Interrupted);
        }
        pass(sources, &mut builder);
    }
    Ok(Features { columns: builder.columns })
}

struct Builder {
    columns: Vec<Vec<f32>>,
    lines: usize,
}

impl Builder {
    fn set(&mut self, feature: Feature, column: Vec<f32>) {
        debug_assert_eq!(column.len(), self.lines);
        self.columns[feature as usize] = column;
    }

    fn set_all(&mut self, feature: Feature, value: f32) {
        self.columns[feature as usize] = vec![value; self.lines];
    }

    fn get(&self, feature: Feature) -> &[f32] {
        &self.columns[feature as usize]
    }

    /// Spreads what is known of units over their lines.
    fn spread(&mut self, feature: Feature, units: &Units, of_unit: impl Fn(usize) -> f32) {
        let column = units.of_line.iter().map(|&unit| of_unit(unit as usize)).collect();
        self.set(feature, column);
    }
}

fn roots(values: &[f32]) -> Vec<f32> {
    values.iter().map(|value| value.sqrt()).collect()
}

fn shares(values: &[f32]) -> Vec<f32> {
    let best = highest(values);
    if best <= 0.0 { vec![0.0; values.len()] } else { values.iter().map(|value| value / best).collect() }
}

fn around(sources: &Sources<'_>, out: &mut Builder) {
    let line = by_line(sources.index, sources.goal, |_| true).score;
    let headline = by_line(sources.index, sources.goal, |term| sources.goal.terms[term].in_headline).score;
    out.set(Feature::HeadlineBlur8, roots(&blur(&headline, 8)));
    out.set(Feature::Headline, roots(&headline));
    for (reach, feature) in
        [(2, Feature::Blur2), (6, Feature::Blur6), (15, Feature::Blur15), (40, Feature::Blur40)]
    {
        let blurred = blur(&line, reach);
        match feature {
            Feature::Blur6 => {
                out.set(Feature::Blur6Share, shares(&blurred));
                out.set(Feature::Blur6Rank, rank(&blurred));
            }
            Feature::Blur15 => {
                out.set(Feature::Blur15Share, shares(&blurred));
                out.set(Feature::Blur15Rank, rank(&blurred));
            }
            _ => {}
        }
        out.set(feature, roots(&blurred));
    }
    out.set(Feature::LineShare, shares(&line));
    out.set(Feature::LineRank, rank(&line));
    out.set(Feature::Line, roots(&line));
    for (reach, score, share, cover) in [
        (5, Some(Feature::Window5), Some(Feature::Window5Share), Feature::Window5Cover),
        (12, Some(Feature::Window12), Some(Feature::Window12Share), Feature::Window12Cover),
        (30, None, None, Feature::Window30Cover),
    ] {
        let window = by_window(sources.index, sources.goal, reach);
        if let Some(share) = share {
            out.set(share, shares(&window.score));
        }
        if let Some(score) = score {
            out.set(score, roots(&window.score));
        }
        out.set(cover, window.coverage);
    }
}

fn belonging(sources: &Sources<'_>, out: &mut Builder) {
    let (index, goal, levels) = (sources.index, sources.goal, sources.levels);
    let paragraph = by_unit(index, goal, &levels.paragraph);
    let best = highest(&paragraph.score).max(1e-6);
    out.spread(Feature::Paragraph, &levels.paragraph, |unit| paragraph.score[unit].sqrt());
    out.spread(Feature::ParagraphShare, &levels.paragraph, |unit| paragraph.score[unit] / best);
    out.spread(Feature::ParagraphCover, &levels.paragraph, |unit| paragraph.coverage[unit]);

    let near = by_unit(index, goal, &levels.near);
    let best = highest(&near.score).max(1e-6);
    let line = by_line(index, goal, |_| true);
    let sizes = sizes(&levels.near);
    let mut density = vec![0.0f32; levels.near.count()];
    for (number, &unit) in levels.near.of_line.iter().enumerate() {
        density[unit as usize] += line.score[number];
    }
    let titles = title_match(sources, &levels.near);
    out.spread(Feature::Near, &levels.near, |unit| near.score[unit].sqrt());
    out.spread(Feature::NearShare, &levels.near, |unit| near.score[unit] / best);
    let of_line: Vec<f32> = levels.near.of_line.iter().map(|&unit| near.score[unit as usize]).collect();
    out.set(Feature::NearRank, rank(&of_line));
    out.spread(Feature::NearCover, &levels.near, |unit| near.coverage[unit]);
    out.spread(Feature::NearTitle, &levels.near, |unit| line.score[levels.near.title[unit] as usize].sqrt());
    out.spread(Feature::NearTitleCover, &levels.near, |unit| titles[unit].0);
    out.spread(Feature::NearTitlePrecision, &levels.near, |unit| titles[unit].1);
    out.spread(Feature::NearLength, &levels.near, |unit| (sizes[unit] as f32).sqrt());
    out.spread(Feature::NearDensity, &levels.near, |unit| (density[unit] / sizes[unit].max(1) as f32).sqrt());
    let distance = (0..out.lines)
        .map(|number| {
            (number as f32 - levels.near.title[levels.near.of_line[number] as usize] as f32).abs().sqrt()
        })
        .collect();
    out.set(Feature::NearDistance, distance);
    out.set_all(Feature::BestNear, best.sqrt());
    out.set_all(Feature::NearUnits, (levels.near.count() as f32).sqrt());

    let top = by_unit(index, goal, &levels.top);
    let best = highest(&top.score).max(1e-6);
    let sizes = self::sizes(&levels.top);
    let titles = title_match(sources, &levels.top);
    out.spread(Feature::Top, &levels.top, |unit| top.score[unit].sqrt());
    out.spread(Feature::TopShare, &levels.top, |unit| top.score[unit] / best);
    out.spread(Feature::TopCover, &levels.top, |unit| top.coverage[unit]);
    out.spread(Feature::TopTitle, &levels.top, |unit| line.score[levels.top.title[unit] as usize].sqrt());
    out.spread(Feature::TopTitlePrecision, &levels.top, |unit| titles[unit].1);
    out.spread(Feature::TopLength, &levels.top, |unit| (sizes[unit] as f32).sqrt());
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

fn named(sources: &Sources<'_>, out: &mut Builder) {
    let count = |list: &[u32]| {
        let mut column = vec![0.0f32; sources.index.lines];
        for &line in list {
            column[line as usize] += 1.0;
        }
        column
    };
    let in_units = |column: &[f32]| {
        let mut sums = vec![0.0f32; sources.levels.near.count()];
        for (number, &unit) in sources.levels.near.of_line.iter().enumerate() {
            sums[unit as usize] += column[number];
        }
        sums
    };
    let named = count(&sources.index.named);
    let near = in_units(&named);
    out.spread(Feature::NamedNear, &sources.levels.near, |unit| near[unit].sqrt());
    out.set(Feature::NamedBlur, roots(&blur(&named, 10)));
    out.set(Feature::Named, roots(&named));
    let phrases = count(&sources.index.phrases);
    let near = in_units(&phrases);
    out.spread(Feature::PhraseNear, &sources.levels.near, |unit| near[unit].sqrt());
    out.set(Feature::PhraseBlur, roots(&blur(&phrases, 10)));
    out.set(Feature::Phrase, roots(&phrases));
}

/// Words that the best lines have besides the goal's own: where they gather, the goal may be meant too.
fn company(sources: &Sources<'_>, out: &mut Builder) {
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
    let mut sums = vec![0.0f32; sources.levels.near.count()];
    for (number, &unit) in sources.levels.near.of_line.iter().enumerate() {
        sums[unit as usize] += company[number];
    }
    let sizes = sizes(&sources.levels.near);
    out.spread(Feature::CompanyNear, &sources.levels.near, |unit| {
        (sums[unit] / sizes[unit].max(1) as f32).sqrt()
    });
    let blurred = blur(&company, 8);
    out.set(Feature::CompanyRank, rank(&blurred));
    out.set(Feature::CompanyBlur8, roots(&blurred));
    out.set(Feature::Company, roots(&company));
}

fn looks(sources: &Sources<'_>, out: &mut Builder) {
    let (shape, count) = (sources.shape, out.lines);
    let flag = |values: &[bool]| values.iter().map(|&value| f32::from(u8::from(value))).collect::<Vec<f32>>();
    out.set(Feature::Position, (0..count).map(|line| line as f32 / count as f32).collect());
    out.set(Feature::Indent, shape.indent.iter().map(|&width| (width as f32).sqrt()).collect());
    out.set(Feature::Width, shape.width.iter().map(|&width| (width.min(400) as f32).sqrt()).collect());
    out.set(Feature::IsDefinition, flag(&shape.definition));
    out.set(Feature::IsComment, flag(&shape.comment));
    out.set(Feature::IsImport, flag(&shape.import));
    out.set(Feature::IsBlank, flag(&shape.blank));
    out.set(Feature::IsCloser, flag(&shape.closer));
    out.set(Feature::InTests, flag(&shape.tests));
    out.set(Feature::IsSevere, flag(&shape.severe));
    out.set(Feature::IsWarning, flag(&shape.warning));
    out.set(Feature::Repeats, sources.repetition.count.iter().map(|&count| (count as f32).sqrt()).collect());
    out.set(
        Feature::EarlierRepeats,
        sources.repetition.earlier.iter().map(|&count| (count as f32).sqrt()).collect(),
    );
}

fn whole(sources: &Sources<'_>, out: &mut Builder) {
    let index = sources.index;
    let weights =
        crate::relevance::term_weights(sources.goal, &index.hits, index.lines, |hit| hit.line, |_| true);
    let all: f32 = weights.of_term.iter().sum();
    out.set_all(Feature::TextLines, (out.lines as f32).sqrt());
    out.set_all(Feature::GoalTerms, (sources.goal.terms.len() as f32).sqrt());
    out.set_all(Feature::GoalFound, if all > 0.0 { weights.total / all } else { 0.0 });
    let best = highest(out.get(Feature::Window12Cover));
    out.set_all(Feature::BestCover, best);
    let blurred = out.get(Feature::Blur6);
    let mean = blurred.iter().sum::<f32>() / out.lines.max(1) as f32;
    let contrast = if mean > 0.0 { highest(blurred) / mean } else { 0.0 };
    out.set_all(Feature::Contrast, contrast.sqrt());
    let _ = sources.kind;
}
