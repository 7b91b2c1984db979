//! A text read and scored for a goal, from which cuts for any limits follow.

use tamis_syntax::{Outline, ParseBudget};
use tamis_text::{TextKind, split_lines};

use crate::answers::AnswerInputs;
use crate::document::DocumentStructure;
use crate::features::{self, FeatureInputs, FeatureTable};
use crate::goal::{GOAL_BYTES, Goal, clip};
use crate::header::header_end;
use crate::index::Index;
use crate::line_attributes::LineAttributes;
use crate::logs::{Repetition, repetition};
use crate::partition::partitions;
use crate::protect::{Structure, kept_if_shown, protected_lines};
use crate::reason::ReasonInputs;
use crate::records::Records;
use crate::select::{Candidates, most_cut, select};
use crate::shown_cuts::{ShownCandidates, add_shown};
use crate::want::Want;
use crate::{
    Cut, DEFAULT_THRESHOLD, EngineError, PlainText, PruneLimits, ShownRun, answers, propagation, scorer,
};

/// Larger texts get a heuristic outline instead of a parsed one.
///
/// Parsing costs 6 to 8 ms for 2,000 lines, three times all other steps together, and gains less than a point of recall
/// (dev_docs, recall at 20 %: 0.798 parsed, 0.782 heuristic). Up to this size it costs under 2 ms, and the protected
/// signatures are exact.
const PARSED_BYTES: usize = 16_000;

/// Longer closing lines open something else too, such as `} else {`.
const CLOSING_BYTES: usize = 3;

/// Half of what a recovery takes, which is 150 tokens.
const LEAST_OVERHEARD_BYTES: usize = 300;

/// A log is read as a listing if at least this share of its lines is in records, any other text from the second share on.
const LISTING_SHARE: f32 = 0.5;
const LISTING_SHARE_OF_OTHERS: f32 = 0.7;

/// What the lines of a text are of its source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Whole,
    /// Those that the goal may be about, so which messages it is about is already decided.
    Picked,
}

/// A text with its structure, features and scores. Limits are applied to it afterwards.
pub struct TextAnalysis<'a> {
    goal: Goal,
    index: Index,
    kind: TextKind,
    lines: Vec<&'a str>,
    view: &'a PlainText<'a>,
    outline: Outline,
    document: DocumentStructure,
    attributes: LineAttributes,
    features: FeatureTable,
    repetition: Repetition,
    partitions: crate::partition::Partitions,
    scores: Vec<f32>,
}

impl<'a> TextAnalysis<'a> {
    /// Measures and scores a text. This is nearly all the work of a prune.
    pub fn read(
        view: &'a PlainText<'a>,
        goal: &str,
        kind: TextKind,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<TextAnalysis<'a>, EngineError> {
        TextAnalysis::read_scope(view, goal, kind, Scope::Whole, interrupted)
    }

    /// The same for lines that were picked from a log because of the goal.
    pub(crate) fn read_picked(
        view: &'a PlainText<'a>,
        goal: &str,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<TextAnalysis<'a>, EngineError> {
        TextAnalysis::read_scope(view, goal, TextKind::Logs, Scope::Picked, interrupted)
    }

    fn read_scope(
        view: &'a PlainText<'a>,
        goal: &str,
        kind: TextKind,
        scope: Scope,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<TextAnalysis<'a>, EngineError> {
        let mut analysis = TextAnalysis::measure(view, goal, kind, interrupted)?;
        let mut scores = scorer::score(
            kind,
            &analysis.goal,
            &analysis.lines,
            &analysis.features,
            &analysis.partitions,
            interrupted,
        )?;
        let named = view.named_by(clip(goal, GOAL_BYTES));
        for &line in &named {
            scores[line] = scores[line].max(DEFAULT_THRESHOLD);
        }
        propagation::propagate(&mut scores, kind, &analysis.lines, &analysis.attributes, &analysis.document);
        analysis.settle_records(goal, &named, scope, &mut scores, interrupted)?;
        analysis.scores = scores;
        Ok(analysis)
    }

    /// Lets the records of a listing decide about their lines, if the text is a listing, and the messages of a log if it is one.
    fn settle_records(
        &self,
        goal: &str,
        named: &[usize],
        scope: Scope,
        scores: &mut [f32],
        interrupted: &dyn Fn() -> bool,
    ) -> Result<(), EngineError> {
        let want = Want::read(goal);
        // What an agent says about a task mentions tests without asking for their results.
        let is_question = !want.is_long && !self.goal.is_of_agent;
        if self.kind == TextKind::Logs && is_question {
            answers::reports::raise(&self.lines, &want, scores);
        }
        answers::json::raise(&self.lines, &self.view.text, &want, scores);
        let question = answers::Question {
            kind: self.kind,
            lines: &self.lines,
            goal: &self.goal,
            index: &self.index,
            want: &want,
        };
        answers::rows::raise(&question, scores, interrupted)?;
        let records = Records::read(&self.lines);
        let is_filled = |line: usize| !self.attributes.blank[line];
        let filled = (0..self.lines.len()).filter(|&line| is_filled(line)).count();
        let share = if self.kind == TextKind::Logs { LISTING_SHARE } else { LISTING_SHARE_OF_OTHERS };
        let is_listing =
            !records.list.is_empty() && (records.lines(is_filled) as f32) >= share * filled as f32;
        if !is_listing {
            if scope == Scope::Picked {
                return Ok(());
            }
            return answers::messages::raise(&question, named, scores, interrupted);
        }
        let inputs = AnswerInputs {
            lines: &self.lines,
            text: &self.view.text,
            index: &self.index,
            goal: &self.goal,
            want: &want,
            records: &records,
        };
        answers::settle(&inputs, scores);
        Ok(())
    }

    /// Measures a text without scoring it: the input of the network, for training.
    pub fn measure(
        view: &'a PlainText<'a>,
        goal: &str,
        kind: TextKind,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<TextAnalysis<'a>, EngineError> {
        let check_interrupted = || if interrupted() { Err(EngineError::Interrupted) } else { Ok(()) };
        check_interrupted()?;
        let text: &str = &view.text;
        let lines = split_lines(text);
        let goal = Goal::read(goal);
        let index = Index::read(text, &lines, &goal, interrupted)?;
        let outline = match kind {
            TextKind::Code => {
                tamis_syntax::outline(text, &lines, ParseBudget::for_bytes(PARSED_BYTES), interrupted)
            }
            _ => Outline::default(),
        };
        check_interrupted()?;
        let document = if kind == TextKind::Docs {
            DocumentStructure::read(&lines)
        } else {
            DocumentStructure::default()
        };
        let attributes = LineAttributes::read(kind, &lines, &outline, &index, interrupted)?;
        check_interrupted()?;
        let repetition = repetition(kind, &lines, interrupted)?;
        check_interrupted()?;
        let partitions = partitions(kind, &lines, &outline, &document.headings);
        let inputs = FeatureInputs {
            index: &index,
            goal: &goal,
            partitions: &partitions,
            attributes: &attributes,
            repetition: &repetition,
            lines: &lines,
            kind,
        };
        let features = features::measure(&inputs, interrupted)?;
        Ok(TextAnalysis {
            goal,
            index,
            kind,
            lines,
            view,
            outline,
            document,
            attributes,
            features,
            repetition,
            partitions,
            scores: Vec::new(),
        })
    }

    /// The cuts that these limits allow.
    pub fn cuts(
        &self,
        limits: &PruneLimits,
        marker_bytes: &dyn Fn(&Cut) -> usize,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Cut>, EngineError> {
        let protected = self.protected(limits.keep_first_lines);
        let reasons = ReasonInputs {
            kind: self.kind,
            lines: &self.lines,
            outline: &self.outline,
            document: &self.document,
            features: &self.features,
            templates: &self.repetition.template,
            repeats: &self.repetition.count,
            header_end: match self.kind {
                TextKind::Code => header_end(&self.lines, &self.attributes),
                _ => None,
            },
        };
        let mut closes = vec![false; self.lines.len()];
        for definition in &self.outline.definitions {
            closes[definition.last] = self.attributes.closer[definition.last];
        }
        let fillers: Vec<bool> = (0..self.lines.len())
            .map(|line| {
                self.attributes.blank[line]
                    || self.attributes.closer[line] && self.lines[line].trim().len() <= CLOSING_BYTES
            })
            .collect();
        let is_careful = self.is_careful();
        let units = if is_careful { self.functions() } else { Vec::new() };
        select(
            &Candidates {
                bytes: &self.view.bytes,
                scores: &self.scores,
                protected: &protected,
                closes: &closes,
                fillers: &fillers,
                whole: &self.document.fences,
                units: &units,
                least_bytes: if is_careful { LEAST_OVERHEARD_BYTES } else { 0 },
                reasons: &reasons,
                marker_bytes,
            },
            limits,
            interrupted,
        )
    }

    /// Whether cuts must leave no holes. For an overheard goal, it is not known which function the reader is after, and a
    /// recovery costs more than a small block saves. This matters only above the default threshold: at the default, code and
    /// documents stay whole.
    fn is_careful(&self) -> bool {
        self.goal.is_overheard && self.kind != TextKind::Logs
    }

    /// The functions and small types, without those inside others.
    fn functions(&self) -> Vec<(usize, usize)> {
        let definitions = &self.outline.definitions;
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (number, outer) in definitions.iter().enumerate() {
            let first = outer.signature.first;
            let lines = outer.last - first + 1;
            if found.last().is_some_and(|&(_, last)| first <= last) {
                continue;
            }
            let inner =
                definitions[number + 1..].iter().take_while(|inner| inner.signature.first <= outer.last);
            let members = inner.filter(|inner| inner.depth == outer.depth + 1);
            let in_members: usize = members.map(|inner| inner.last - inner.lead + 1).sum();
            if 2 * in_members < lines {
                found.push((first, outer.last));
            }
        }
        found
    }

    /// Adds cuts of what was already shown to the cuts of the same limits.
    pub(crate) fn add_shown(
        &self,
        cuts: Vec<Cut>,
        runs: &[ShownRun],
        limits: &PruneLimits,
        marker_bytes: &dyn Fn(&Cut) -> usize,
    ) -> Vec<Cut> {
        let mut stays = kept_if_shown(&self.lines, self.view.hidden, limits.keep_first_lines);
        // A failure that is reported once more is news: it says that nothing has changed.
        let LineAttributes { severe, failed, .. } = &self.attributes;
        stays
            .iter_mut()
            .zip(severe.iter().zip(failed))
            .for_each(|(stays, (severe, failed))| *stays |= severe | failed);
        let candidates = ShownCandidates {
            runs,
            stays: &stays,
            bytes: &self.view.bytes,
            most: most_cut(self.lines.len(), limits),
            marker_bytes,
        };
        add_shown(cuts, &candidates)
    }

    /// Which lines stay, whatever they score.
    pub fn protected(&self, keep_first_lines: usize) -> Vec<bool> {
        let structure = Structure {
            kind: self.kind,
            lines: &self.lines,
            written: self.view.hidden,
            outline: &self.outline,
            document: &self.document,
            attributes: &self.attributes,
        };
        protected_lines(&structure, keep_first_lines)
    }

    /// The part that each line is in: by paragraph, inner and outer partition.
    pub fn parts(&self) -> [&[u32]; 3] {
        [&self.partitions.paragraph.of_line, &self.partitions.inner.of_line, &self.partitions.outer.of_line]
    }

    /// The input of the network.
    pub fn features(&self) -> &FeatureTable {
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
