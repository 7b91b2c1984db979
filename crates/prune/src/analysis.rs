//! A text read and scored for a goal, from which cuts for any limits follow.

use tamis_syntax::{Budget, Outline};
use tamis_text::{Kind, split_lines};

use crate::features::{self, Features, Sources};
use crate::goal::{GOAL_BYTES, Goal, clip};
use crate::index::Index;
use crate::line_attributes::{Document, Shape};
use crate::logs::repetition;
use crate::partition::levels;
use crate::protect::{Structure, protected_lines};
use crate::reason::Reasons;
use crate::select::{Candidates, select};
use crate::{Cut, DEFAULT_THRESHOLD, Limits, Unpruned, View, propagation, scorer};

/// Larger texts are outlined by lines alone.
///
/// Parsing costs 6 to 8 ms for 2,000 lines, three times all the rest together, and gains under a point of recall over
/// reading lines (dev_docs, recall at 20 %: 0.798 parsed, 0.782 not). Up to here it costs under 2 ms, and signatures
/// are protected exactly.
const PARSED_BYTES: usize = 16_000;

/// What is known of a text before limits are set.
pub struct Analysis<'a> {
    kind: Kind,
    lines: Vec<&'a str>,
    view: &'a View<'a>,
    outline: Outline,
    document: Document,
    shape: Shape,
    features: Features,
    levels: crate::partition::Levels,
    scores: Vec<f32>,
}

impl<'a> Analysis<'a> {
    /// Reads and scores a text. This is nearly all the work of a prune.
    pub fn read(
        view: &'a View<'a>,
        goal: &str,
        kind: Kind,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Analysis<'a>, Unpruned> {
        let mut analysis = Analysis::measure(view, goal, kind, interrupted)?;
        let mut scores = scorer::score(kind, &analysis.features, &analysis.levels, interrupted)?;
        for line in view.named_by(clip(goal, GOAL_BYTES)) {
            scores[line] = scores[line].max(DEFAULT_THRESHOLD);
        }
        propagation::settle(&mut scores, kind, &analysis.lines, &analysis.shape, &analysis.document);
        analysis.scores = scores;
        Ok(analysis)
    }

    /// Reads a text without scoring it: all that a scorer may see, for those who train one.
    pub fn measure(
        view: &'a View<'a>,
        goal: &str,
        kind: Kind,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Analysis<'a>, Unpruned> {
        let go_on = || if interrupted() { Err(Unpruned::Interrupted) } else { Ok(()) };
        go_on()?;
        let text: &str = &view.text;
        let lines = split_lines(text);
        let goal = Goal::read(goal);
        let index = Index::read(text, &lines, &goal, interrupted)?;
        let outline = match kind {
            Kind::Code => tamis_syntax::outline(text, &lines, Budget::for_bytes(PARSED_BYTES), interrupted),
            _ => Outline::default(),
        };
        go_on()?;
        let document = if kind == Kind::Docs { Document::read(&lines) } else { Document::default() };
        let shape = Shape::read(kind, &lines, &outline, &index, interrupted)?;
        go_on()?;
        let repetition = repetition(kind, &lines, interrupted)?;
        go_on()?;
        let levels = levels(kind, &lines, &outline, &document.headings);
        let sources = Sources {
            index: &index,
            goal: &goal,
            levels: &levels,
            shape: &shape,
            repetition: &repetition,
            lines: &lines,
            kind,
        };
        let features = features::measure(&sources, interrupted)?;
        Ok(Analysis { kind, lines, view, outline, document, shape, features, levels, scores: Vec::new() })
    }

    /// What goes under these limits.
    pub fn cuts(
        &self,
        limits: &Limits,
        marker_bytes: &dyn Fn(&Cut) -> usize,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Cut>, Unpruned> {
        let protected = self.protected(limits.keep_first_lines);
        let reasons = Reasons {
            kind: self.kind,
            lines: &self.lines,
            outline: &self.outline,
            document: &self.document,
            features: &self.features,
        };
        let mut closes = vec![false; self.lines.len()];
        for definition in &self.outline.definitions {
            closes[definition.last] = self.shape.closer[definition.last];
        }
        select(
            &Candidates {
                bytes: &self.view.bytes,
                scores: &self.scores,
                protected: &protected,
                closes: &closes,
                whole: &self.document.fences,
                reasons: &reasons,
                marker_bytes,
            },
            limits,
            interrupted,
        )
    }

    /// Which lines stay whatever they score.
    pub fn protected(&self, keep_first_lines: usize) -> Vec<bool> {
        let structure = Structure {
            kind: self.kind,
            lines: &self.lines,
            written: self.view.hidden,
            outline: &self.outline,
            document: &self.document,
            shape: &self.shape,
        };
        protected_lines(&structure, keep_first_lines)
    }

    /// The unit of each line, at each level.
    pub fn units(&self) -> [&[u32]; 3] {
        [&self.levels.paragraph.of_line, &self.levels.near.of_line, &self.levels.top.of_line]
    }

    /// What the scorer saw.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// How likely each line is needed, 0 to 1.
    pub fn scores(&self) -> &[f32] {
        &self.scores
    }

    pub(crate) fn into_scores(self) -> Vec<f32> {
        self.scores
    }
}
