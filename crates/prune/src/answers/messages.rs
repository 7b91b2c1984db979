//! Messages of a log that a question is about.
//!
//! The network knows what a failing build needs, and repetition shows what can go without any goal. Neither knows what else was asked
//! for: all that one user did, what happened in four minutes, whether one suite passed. Such messages stay, however often their shape
//! repeats, and if it is unknown which they are, all stay.

mod outline;

use std::collections::HashMap;

use tamis_syntax::line_indent;
use tamis_text::{TextKind, Timestamp, timestamp};

use super::{ANSWER, DOUBT_SHARE, Question, REST_SHARE};
use crate::mentions::{Mentions, Vocabulary};
use crate::period::PeriodSurvey;
use crate::want::{Amount, Want};
use crate::{DEFAULT_THRESHOLD, EngineError};
use outline::Outline;

/// Lines on each side of a wanted one that are left to the network.
const NEIGHBOURS: usize = 3;

/// Raises the messages that a question is about, and lowers the others if it is certain that those are all. `named` are lines whose numbers
/// the goal names.
pub(crate) fn raise(
    question: &Question<'_>,
    named: &[usize],
    scores: &mut [f32],
    interrupted: &dyn Fn() -> bool,
) -> Result<(), EngineError> {
    let Question { kind, lines, goal, index, want } = question;
    let is_question = !want.is_long && !goal.is_of_agent;
    if *kind != TextKind::Logs || !is_question {
        return Ok(());
    }
    let check_interrupted = || if interrupted() { Err(EngineError::Interrupted) } else { Ok(()) };
    let stamps = stamps(lines);
    check_interrupted()?;
    let vocabulary = Vocabulary::of(goal, want, u64::BITS);
    let outline = Outline::read(lines, |line| stamps[line] != Timestamp::default());
    let mut wanted = vec![false; lines.len()];
    named.iter().for_each(|&line| wanted[line] = true);
    // Some lines are known to be meant, whatever the other words are.
    let mut is_known = !named.is_empty();
    // All others are not.
    let mut is_decided = false;
    if let Some(period) = &want.period {
        let mut survey = PeriodSurvey::new(period.clone());
        stamps.iter().for_each(|stamp| survey.add(*stamp));
        // Another time may be meant than was read, or the log writes its times in a form that is not known.
        let is_certain = want.has_certain_period();
        let Some(period) = survey.finish().filter(|_| is_certain || vocabulary.is_about_failures()) else {
            if !vocabulary.is_about_failures() {
                keep(scores, &vec![true; lines.len()], want);
            }
            return Ok(());
        };
        is_known = true;
        is_decided = true;
        let mut is_inside = false;
        for (wanted, stamp) in wanted.iter_mut().zip(&stamps) {
            if *stamp != Timestamp::default() {
                is_inside = period.has(*stamp);
            }
            *wanted |= is_inside;
        }
    }
    if let Amount::Latest(count) | Amount::First(count) = want.amount {
        // Logs are printed from either end.
        let filled: Vec<usize> = (0..lines.len()).filter(|&line| !lines[line].trim().is_empty()).collect();
        filled
            .iter()
            .take(count)
            .chain(filled.iter().rev().take(count))
            .for_each(|&line| wanted[line] = true);
    }
    check_interrupted()?;
    let mut terms = vocabulary.mark(lines);
    check_interrupted()?;
    for hit in &index.hits {
        terms[hit.line as usize] |= vocabulary.term(usize::from(hit.term));
    }
    outline.share(&mut terms);
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for line in (0..lines.len()).filter(|&line| !lines[line].trim().is_empty()) {
        *counts.entry(terms[line]).or_default() += 1;
    }
    let mut combinations: Vec<(u64, u64)> = counts.into_iter().collect();
    combinations.sort_unstable();
    check_interrupted()?;
    match Mentions::read(&vocabulary, &combinations) {
        Mentions::Some(selection) => {
            if want.is_about_others() && selection.has_id() && !vocabulary.is_about_failures() {
                wanted.fill(true);
            }
            let is_open = matches!(want.amount, Amount::One | Amount::YesNo);
            is_decided = is_decided && selection.is_complete() || selection.is_decisive() && !is_open;
            wanted.iter_mut().zip(&terms).for_each(|(wanted, terms)| *wanted |= selection.has(*terms));
        }
        Mentions::Unknown => {
            is_decided = false;
            if !is_known {
                wanted.fill(true);
            }
        }
        Mentions::Nothing => {}
    }
    if is_decided {
        outline.add_details(lines, &mut wanted);
    }
    outline.add_parents(&mut wanted);
    let may_lower = !vocabulary.is_about_failures()
        && !want.is_open
        && !want.relates
        && !want.is_open_ended
        && want.comparison.is_none();
    if is_decided && may_lower {
        lower_others(scores, &wanted);
    }
    keep(scores, &wanted, want);
    Ok(())
}

/// The times that lines begin with. A line that is indented further than the first one is part of a message, and its time may be any.
fn stamps(lines: &[&str]) -> Vec<Timestamp> {
    let mut least_indent = None;
    let stamp = |line: &&str| {
        let stamp = timestamp(line);
        let indent = line_indent(line);
        let is_part = stamp != Timestamp::default() && indent > *least_indent.get_or_insert(indent);
        if is_part { Timestamp::default() } else { stamp }
    };
    lines.iter().map(stamp).collect()
}

/// Lowers what is not wanted, but for the lines next to what is: they may be about the same.
fn lower_others(scores: &mut [f32], wanted: &[bool]) {
    let mut since = NEIGHBOURS;
    let mut is_near = vec![false; wanted.len()];
    for (line, &wanted) in wanted.iter().enumerate() {
        since = if wanted { 0 } else { since.saturating_add(1) };
        is_near[line] = since <= NEIGHBOURS;
    }
    since = NEIGHBOURS;
    for (line, &wanted) in wanted.iter().enumerate().rev() {
        since = if wanted { 0 } else { since.saturating_add(1) };
        if since > NEIGHBOURS && !is_near[line] {
            scores[line] *= REST_SHARE;
        }
    }
}

fn keep(scores: &mut [f32], wanted: &[bool], want: &Want) {
    for (score, _) in scores.iter_mut().zip(wanted).filter(|(_, wanted)| **wanted) {
        let least = if want.is_stated { ANSWER } else { DEFAULT_THRESHOLD + DOUBT_SHARE * *score };
        *score = score.max(least);
    }
}
