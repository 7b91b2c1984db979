//! Which records of a listing answer the goal, and what that means for the scores of their lines.
//!
//! Records that the goal asks for stay at any usual threshold. If it selects some records clearly, the others may go. If it
//! does not, entries stay at the default threshold, and only what explains them is left to the network. A record keeps its
//! parents.

mod changes;
mod entries;
pub(crate) mod json;
mod matches;
pub(crate) mod messages;
mod named;
pub(crate) mod reports;
pub(crate) mod rows;

use tamis_text::TextKind;

use crate::DEFAULT_THRESHOLD;
use crate::bm25::{Weights, term_weights};
use crate::goal::Goal;
use crate::index::Index;
use crate::records::{Record, RecordForm, RecordRole, Records};
use crate::want::Want;

use named::NamedLines;

/// What is decided about a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Not asked for: goes at the default threshold.
    Rest,
    /// The network's score decides.
    Open,
    /// An entry of a listing that an agent reads for a task: raised, and left to the network.
    Likely,
    /// Stays at the default threshold, because it may be asked for.
    Doubtful,
    /// Asked for.
    Answer,
}

/// The score of what was asked for: it stays at every threshold below 1 that the benchmark sweeps but the last.
const ANSWER: f32 = 0.97;
/// By how much the network's score counts where a record is in doubt, and where it was not asked for.
const DOUBT_SHARE: f32 = 0.4;
const REST_SHARE: f32 = 0.45;
/// By how much of what is missing to 1 an entry is raised that an agent reads for a task. Set on dev_agent_shell, so that recall
/// rises and no less is cut.
const TASK_RAISE: f32 = 0.15;
/// What remains of the score of a diff's context.
const CONTEXT_SHARE: f32 = 0.95;

/// A text and what is asked of it, where it is not read as records.
pub(crate) struct Question<'a> {
    pub(crate) kind: TextKind,
    pub(crate) lines: &'a [&'a str],
    pub(crate) goal: &'a Goal,
    pub(crate) index: &'a Index,
    pub(crate) want: &'a Want,
}

/// What the verdicts are found from.
pub(crate) struct AnswerInputs<'a> {
    pub(crate) lines: &'a [&'a str],
    pub(crate) text: &'a str,
    pub(crate) index: &'a Index,
    pub(crate) goal: &'a Goal,
    pub(crate) want: &'a Want,
    pub(crate) records: &'a Records,
}

/// Changes the scores of lines that are in records.
pub(crate) fn settle(inputs: &AnswerInputs<'_>, scores: &mut [f32]) {
    let listing = Listing::read(inputs);
    let mut verdicts = vec![Verdict::Open; inputs.records.list.len()];
    entries::decide_history(&listing, &mut verdicts);
    matches::decide(&listing, &mut verdicts);
    changes::decide(&listing, &mut verdicts);
    for form in [RecordForm::Files, RecordForm::Findings, RecordForm::Table] {
        entries::decide(&listing, form, &mut verdicts);
    }
    if !listing.is_question() {
        // An agent reads many listings for one task, and its words name what it is about rather than what it needs here. It
        // needs every change of a diff, and the few lines around it that say what it means. Matches of its own search, findings
        // and rows are read one by one.
        for (verdict, record) in verdicts.iter_mut().zip(&inputs.records.list) {
            let is_entry = record.role == RecordRole::Entry;
            *verdict = match (record.form, *verdict) {
                (RecordForm::Diff, Verdict::Open) => Verdict::Doubtful,
                (RecordForm::Diff, other) => other,
                (RecordForm::History | RecordForm::Files, Verdict::Doubtful | Verdict::Answer) => {
                    Verdict::Likely
                }
                (_, Verdict::Open) if !is_entry => Verdict::Open,
                (
                    RecordForm::Search | RecordForm::Findings | RecordForm::Table,
                    Verdict::Open | Verdict::Answer,
                ) => Verdict::Doubtful,
                (_, other) => other,
            };
        }
    }
    inherit(inputs.records, &mut verdicts);
    apply(inputs.records, &verdicts, scores);
}

/// What belongs to a record that was not asked for was not asked for either.
fn inherit(records: &Records, verdicts: &mut [Verdict]) {
    for (number, record) in records.list.iter().enumerate() {
        let Some(parent) = record.parent else { continue };
        let is_entry = records.list[parent].role == RecordRole::Entry;
        if is_entry && verdicts[parent] == Verdict::Rest && verdicts[number] != Verdict::Answer {
            verdicts[number] = Verdict::Rest;
        }
    }
}

fn apply(records: &Records, verdicts: &[Verdict], scores: &mut [f32]) {
    let mut best = vec![0.0f32; records.list.len()];
    for (number, record) in records.list.iter().enumerate() {
        for score in &mut scores[record.first..=record.last] {
            *score = match verdicts[number] {
                Verdict::Rest => *score * REST_SHARE,
                Verdict::Open if record.role == RecordRole::Detail && record.form == RecordForm::Diff => {
                    *score * CONTEXT_SHARE
                }
                Verdict::Open => *score,
                Verdict::Doubtful => score.max(DEFAULT_THRESHOLD + DOUBT_SHARE * *score),
                Verdict::Likely => *score + TASK_RAISE * (1.0 - *score),
                Verdict::Answer => score.max(ANSWER),
            };
            best[number] = best[number].max(*score);
        }
    }
    // Parents come before their children, so one pass from the end reaches all of them.
    for (number, record) in records.list.iter().enumerate().rev() {
        if let Some(parent) = record.parent
            && record.role != RecordRole::Filler
        {
            best[parent] = best[parent].max(best[number]);
        }
        for score in &mut scores[record.first..=record.last] {
            *score = score.max(if record.role == RecordRole::Filler {
                0.0
            } else {
                best[number].min(raise_limit(record))
            });
        }
    }
    // Blank lines and separators stay only between lines that stay.
    for record in records.list.iter().filter(|record| record.role == RecordRole::Filler) {
        let before = record.first.checked_sub(1).map_or(1.0, |line| scores[line]);
        let after = scores.get(record.last + 1).copied().unwrap_or(before);
        scores[record.first..=record.last].fill(before.min(after));
    }
}

/// How far a record's lines are raised to its best line: all lines of a header or a commit belong together.
fn raise_limit(record: &Record) -> f32 {
    let is_run = record.role == RecordRole::Detail
        || record.form == RecordForm::Diff && record.role == RecordRole::Entry;
    if is_run { 0.0 } else { 1.0 }
}

/// A listing with what the goal finds in it.
pub(crate) struct Listing<'a> {
    inputs: &'a AnswerInputs<'a>,
    named: NamedLines,
    /// For each record, which terms of the goal its lines have, as bits.
    terms: Vec<u64>,
    weights: Weights,
}

impl<'a> Listing<'a> {
    fn read(inputs: &'a AnswerInputs<'a>) -> Listing<'a> {
        let mut of_line = vec![0u64; inputs.lines.len()];
        for hit in inputs.index.hits.iter().filter(|hit| hit.term < 64) {
            of_line[hit.line as usize] |= 1 << hit.term;
        }
        let terms = inputs
            .records
            .list
            .iter()
            .map(|record| of_line[record.first..=record.last].iter().fold(0, |all, terms| all | terms))
            .collect();
        Listing {
            inputs,
            named: NamedLines::read(inputs.text, inputs.lines.len(), &inputs.want.names),
            terms,
            weights: term_weights(inputs.goal, &inputs.index.hits, inputs.index.lines, |hit| hit.line),
        }
    }

    fn records(&self) -> &'a [Record] {
        &self.inputs.records.list
    }

    fn want(&self) -> &'a Want {
        self.inputs.want
    }

    /// Whether the goal is a question, and no task of an agent, whose words may be about anything.
    fn is_question(&self) -> bool {
        !self.want().is_long && !self.inputs.goal.is_of_agent
    }

    /// Whether the goal may select records by what it names: it is a question, and excludes nothing.
    fn may_select(&self) -> bool {
        self.is_question() && !self.want().is_open
    }

    /// The numbers of the entries of a form.
    fn entries(&self, form: RecordForm) -> Vec<usize> {
        let is_entry =
            |(_, record): &(usize, &Record)| record.form == form && record.role == RecordRole::Entry;
        self.records().iter().enumerate().filter(is_entry).map(|(number, _)| number).collect()
    }

    /// The names that the lines of a record, or its parents, have. As bits.
    fn names_of(&self, number: usize) -> u32 {
        let record = &self.records()[number];
        let own = (record.first..=record.last).fold(0, |all, line| all | self.named.of_line[line]);
        record.parent.map_or(own, |parent| own | self.names_of(parent))
    }

    /// The share of the goal's words, by weight, that a record and its parents have.
    fn coverage(&self, number: usize) -> f32 {
        let mut terms = 0;
        let mut next = Some(number);
        while let Some(number) = next {
            terms |= self.terms[number];
            next = self.records()[number].parent;
        }
        self.weight_of(terms)
    }

    fn weight_of(&self, terms: u64) -> f32 {
        let weights = self.weights.of_term.iter().take(64).enumerate();
        let found: f32 = weights.filter(|(term, _)| terms >> term & 1 == 1).map(|(_, weight)| weight).sum();
        if self.weights.total > 0.0 { found / self.weights.total } else { 0.0 }
    }
}
