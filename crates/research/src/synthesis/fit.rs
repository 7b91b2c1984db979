//! Cuts a report to its limit of tokens: the least important parts go first, and a note says so.

use crate::bounds::cut;
use crate::report::cut_notes;
use crate::{KeyFinding, NoteFact, ResearchFinding, ResearchReport, Role};

/// Bytes of ten tokens. Prose and code have four bytes a token; reports are full of paths, and the densest of 130 had 3.4 by
/// o200k, the mean 3.9.
const BYTES_PER_TEN_TOKENS: u64 = 35;
/// Bytes counted for a time, so that what is cut does not depend on the clock.
const ROOM_FOR_A_TIME: u64 = 6;
/// Bytes reserved for the note about the cut.
const ROOM_FOR_THE_NOTE: u64 = 120;

/// Cuts a report until it fits. Its form stays: a report is complete however small the limit.
pub(crate) fn fit(report: &mut ResearchReport, max_tokens: u64) {
    let room = max_tokens.saturating_mul(BYTES_PER_TEN_TOKENS) / 10;
    lean(report);
    if weight(report) <= room {
        return;
    }
    // Duplicates go without a note.
    for number in (0..4).rev() {
        while weight(report) > room && drop_duplicate(report, number) {}
    }
    if weight(report) <= room {
        return;
    }
    let room = room.saturating_sub(ROOM_FOR_THE_NOTE);
    for step in STEPS {
        while weight(report) > room {
            if !step(report) {
                break;
            }
        }
    }
    note_truncation(report, max_tokens);
}

/// Each step removes a little, and returns whether there was something to remove.
const STEPS: &[fn(&mut ResearchReport) -> bool] = &[
    |report| pop_finding(report, 3, 3),
    |report| pop_reference(report, 10, 10),
    |report| shorten(report, 400, 400),
    |report| pop_finding(report, 2, 2),
    |report| pop_reference(report, 5, 10),
    |report| shorten(report, 200, 240),
    |report| pop_finding(report, 1, 1),
    |report| pop_reference(report, 3, 5),
    |report| pop_keyword(report, 3),
    |report| shorten(report, 100, 120),
    |report| pop_finding(report, 0, 0),
    |report| pop_reference(report, 1, 1),
    |report| pop_keyword(report, 0),
    |report| shorten(report, 40, 40),
    |report| shorten_question(report, 80),
    drop_role,
    drop_run,
    |report| shorten(report, 1, 40),
    |report| shorten_question(report, 30),
    shorten_roots,
    // Texts of characters that take several bytes.
    |report| shorten(report, 1, 16),
];

/// Bytes of the report's JSON, independent of measured times.
fn weight(report: &ResearchReport) -> u64 {
    let mut timeless = report.clone();
    let mut times = 1;
    timeless.run.elapsed_ms = 0;
    for outcome in timeless.roles.values_mut() {
        outcome.timing.elapsed_ms = 0;
        times += 1;
    }
    serde_json::to_string(&timeless).map_or(u64::MAX, |text| text.len() as u64) + times * ROOM_FOR_A_TIME
}

/// The findings of the roles, the least important last.
fn findings(report: &mut ResearchReport) -> impl DoubleEndedIterator<Item = &mut ResearchFinding> {
    report.roles.values_mut().filter_map(|outcome| outcome.result.as_mut().ok())
}

/// The synthesis has the analyzer's findings; the analyzer keeps the first, which says what they are about.
fn lean(report: &mut ResearchReport) {
    let ResearchReport { roles, synthesis: Some(synthesis), .. } = report else { return };
    if let Some(Ok(finding)) = roles.get_mut(&Role::Analyzer).map(|outcome| &mut outcome.result) {
        let mut first = true;
        finding.key_findings.retain(|finding| {
            let keep = first || !has(&synthesis.key_findings, finding);
            first = false;
            keep
        });
    }
}

fn has(findings: &[KeyFinding], finding: &KeyFinding) -> bool {
    findings.iter().any(|known| known.text == finding.text)
}

/// Removes the last finding of a role that the synthesis repeats.
fn drop_duplicate(report: &mut ResearchReport, number: usize) -> bool {
    let Some(repeated) = report.synthesis.as_ref().map(|synthesis| synthesis.key_findings.clone()) else {
        return false;
    };
    let Some(finding) = findings(report).nth(number) else { return false };
    match finding.key_findings.iter().rposition(|finding| has(&repeated, finding)) {
        Some(index) => {
            finding.key_findings.remove(index);
            true
        }
        None => false,
    }
}

fn pop_finding(report: &mut ResearchReport, of_a_role: usize, of_all: usize) -> bool {
    pop(report, of_a_role, of_all, |finding| &mut finding.key_findings)
}

fn pop_reference(report: &mut ResearchReport, of_a_role: usize, of_all: usize) -> bool {
    pop(report, of_a_role, of_all, |finding| &mut finding.references)
}

/// Removes the last entry of the role that has the most, beyond `of_a_role`, then of the synthesis, beyond `of_all`.
fn pop<T>(
    report: &mut ResearchReport,
    of_a_role: usize,
    of_all: usize,
    list: fn(&mut ResearchFinding) -> &mut Vec<T>,
) -> bool {
    let least = if report.synthesis.is_none() { of_all } else { of_a_role };
    let longest =
        findings(report).rev().map(list).filter(|list| list.len() > least).max_by_key(|list| list.len());
    if let Some(list) = longest {
        return list.pop().is_some();
    }
    match report.synthesis.as_mut().map(list).filter(|list| list.len() > of_all) {
        Some(list) => list.pop().is_some(),
        None => false,
    }
}

fn pop_keyword(report: &mut ResearchReport, least: usize) -> bool {
    report.run.keywords.len() > least && report.run.keywords.pop().is_some()
}

/// Cuts all texts, to one number of characters in roles and to another in the synthesis.
fn shorten(report: &mut ResearchReport, of_roles: usize, of_all: usize) -> bool {
    let alone = report.synthesis.is_none();
    let (mut shortened, mut notes_shortened) = (false, false);
    let mut to = |text: &mut String, most: usize| {
        let short = cut(text, most).into_owned();
        if short.len() < text.len() {
            *text = short;
            shortened = true;
        }
    };
    for outcome in report.roles.values_mut() {
        let most = if alone { of_all } else { of_roles };
        match &mut outcome.result {
            Ok(finding) => {
                to(&mut finding.summary, most);
                finding.key_findings.iter_mut().for_each(|finding| to(&mut finding.text, most));
                notes_shortened |= cut_notes(&mut finding.notes, most);
            }
            Err(error) => to(&mut error.message, most),
        }
    }
    if let Some(synthesis) = &mut report.synthesis {
        to(&mut synthesis.summary, of_all);
        synthesis.key_findings.iter_mut().for_each(|finding| to(&mut finding.text, of_all));
        notes_shortened |= cut_notes(&mut synthesis.notes, of_all);
    }
    report.run.partial.iter_mut().for_each(|note| to(&mut note.text, of_all));
    shortened || notes_shortened
}

fn shorten_question(report: &mut ResearchReport, most: usize) -> bool {
    let short = cut(&report.question, most).into_owned();
    let shorter = short.len() < report.question.len();
    if shorter {
        report.question = short;
    }
    shorter
}

/// Removes the last role but the first, whose findings the synthesis has.
fn drop_role(report: &mut ResearchReport) -> bool {
    report.synthesis.is_some() && report.roles.len() > 1 && report.roles.pop_last().is_some()
}

fn drop_run(report: &mut ResearchReport) -> bool {
    !std::mem::replace(&mut report.run.is_left_out, true)
}

/// Leaves the last names of the roots.
fn shorten_roots(report: &mut ResearchReport) -> bool {
    let mut shortened = false;
    for root in &mut report.roots_searched {
        if let Some((_, name)) = root.rsplit_once('/').filter(|(above, _)| above.chars().count() > 1) {
            *root = format!("…/{name}");
            shortened = true;
        }
    }
    shortened
}

/// Adds the note to the synthesis or to the only role, and without either to the run's record.
fn note_truncation(report: &mut ResearchReport, max_tokens: u64) {
    let note = NoteFact::Truncated { max_tokens }.into();
    let notes = match &mut report.synthesis {
        Some(synthesis) => Some(&mut synthesis.notes),
        None => findings(report).next().map(|finding| &mut finding.notes),
    };
    match notes {
        Some(notes) => notes.insert(0, note),
        None => report.run.partial.push(note),
    }
}
