//! Messages of a log that a question is about.
//!
//! The network knows what a failing build needs, and repetition shows what can go without any goal. Neither knows what else was asked
//! for: all that one user did, what happened in four minutes, whether one suite passed. Such messages stay, however often their shape
//! repeats, and if it is unknown which they are, all stay.

mod outline;

use std::collections::HashMap;

use tamis_text::{TextKind, Timestamp, timestamp};

use super::{ANSWER, DOUBT_SHARE, Question, REST_SHARE};
use crate::mentions::{Mentions, Vocabulary};
use crate::period::PeriodSurvey;
use crate::want::{Amount, Want};
use crate::{DEFAULT_THRESHOLD, EngineError};
use outline::Outline;

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
    let stamps: Vec<Timestamp> = lines.iter().map(timestamp).collect();
    if interrupted() {
        return Err(EngineError::Interrupted);
    }
    let outline = Outline::read(lines, |line| stamps[line] != Timestamp::default());
    let mut wanted = vec![false; lines.len()];
    named.iter().for_each(|&line| wanted[line] = true);
    // Some lines are known to be meant, whatever the other words are.
    let mut is_known = !named.is_empty();
    // All others are not.
    let mut is_decided = false;
    if let Some(period) = &want.period {
        let is_whole = period.is_whole;
        let mut survey = PeriodSurvey::new(period.clone());
        stamps.iter().for_each(|stamp| survey.add(*stamp));
        let Some(period) = survey.finish() else {
            // The log may write its times in a form that is not known.
            keep(scores, &vec![true; lines.len()], want);
            return Ok(());
        };
        is_known |= is_whole;
        is_decided = is_whole;
        let mut is_inside = false;
        for (wanted, stamp) in wanted.iter_mut().zip(&stamps) {
            if *stamp != Timestamp::default() {
                is_inside = period.has(*stamp);
            }
            *wanted = is_inside;
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
    let vocabulary = Vocabulary::of(goal, want, u64::BITS);
    let mut terms = vocabulary.mark(lines);
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
    match Mentions::read(&vocabulary, &combinations) {
        Mentions::Some(selection) => {
            is_decided |= selection.is_decisive() && !matches!(want.amount, Amount::One | Amount::YesNo);
            wanted.iter_mut().zip(&terms).for_each(|(wanted, terms)| *wanted |= selection.has(*terms));
        }
        Mentions::Unknown if !is_known => wanted.fill(true),
        Mentions::Unknown | Mentions::Nothing => {}
    }
    if is_decided {
        outline.add_details(lines, &mut wanted);
    }
    outline.add_parents(&mut wanted);
    if is_decided && !want.is_open && want.comparison.is_none() {
        for (score, _) in scores.iter_mut().zip(&wanted).filter(|(_, wanted)| !**wanted) {
            *score *= REST_SHARE;
        }
    }
    keep(scores, &wanted, want);
    Ok(())
}

fn keep(scores: &mut [f32], wanted: &[bool], want: &Want) {
    for (score, _) in scores.iter_mut().zip(wanted).filter(|(_, wanted)| **wanted) {
        let least = if want.is_stated { ANSWER } else { DEFAULT_THRESHOLD + DOUBT_SHARE * *score };
        *score = score.max(least);
    }
}
