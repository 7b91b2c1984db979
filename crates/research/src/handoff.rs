//! A handoff: what is known about a question, small enough to begin again with.
//!
//! It comes from a report or from a caller. Every text in it is redacted and bounded.

mod memo;
mod resume;
mod write;

use jiff::Timestamp;
use tamis_redact::{Redact, Redacted};

pub(crate) use resume::latest_handoffs;
pub use resume::{
    HandoffSummary, ReferenceState, ResumeError, ResumedHandoff, list_handoffs, resume_handoff,
};
pub use write::{ArtifactError, write_artifact, write_handoff};

use crate::{NotFound, Reference, ResearchFinding, ResearchReport, joined};

/// What goes into an artifact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Handoff {
    /// The question as given, redacted; or a topic.
    pub question: String,
    /// A few sentences.
    pub summary: String,
    pub key_findings: Vec<String>,
    pub references: Vec<Reference>,
    /// Roots, limits, what ran out of time.
    pub constraints: Vec<String>,
    pub notes: Option<String>,
    /// Set when it is written.
    pub written: Option<Timestamp>,
}

const MAX_SENTENCES: usize = 6;
const MAX_FINDINGS: usize = 12;
const MAX_REFERENCES: usize = 60;
const MAX_CONSTRAINTS: usize = 24;
const MAX_QUESTION_LENGTH: usize = 16 << 10;
const MAX_SUMMARY_LENGTH: usize = 2000;
const MAX_FINDING_LENGTH: usize = 600;
const MAX_REFERENCE_LENGTH: usize = 1024;
const MAX_NOTES_LENGTH: usize = 2000;

impl Handoff {
    /// The handoff of a report.
    pub fn of(report: &ResearchReport) -> Handoff {
        let of_a_role = || report.roles.values().find_map(|outcome| outcome.result.as_ref().ok());
        let finding = report.synthesis.as_ref().or_else(of_a_role).cloned().unwrap_or_else(|| {
            let summary = "Nothing was found out: no role came to an end.".to_owned();
            ResearchFinding::not_found(NotFound::Words, summary, Vec::new())
        });
        let mut notes = vec![joined(&finding.notes)];
        notes.extend(report.run.partial.iter().map(|note| note.text.clone()));
        let handoff = Handoff {
            question: report.question.clone(),
            summary: finding.summary,
            key_findings: finding.key_findings.into_iter().map(|finding| finding.text).collect(),
            references: finding.references,
            constraints: constraints(report),
            notes: Some(notes.join("\n")),
            written: None,
        };
        let mut handoff = handoff.tidy();
        if sentences(&handoff.summary).count() < 2 {
            let places = handoff.references.len();
            let confidence = finding.confidence.name();
            let is_ended = handoff.summary.ends_with(['.', '!', '?']) || handoff.summary.is_empty();
            let end = if is_ended { "" } else { "." };
            let more = format!("{end} References: {places}; confidence: {confidence}.");
            handoff.summary = format!("{}{more}", handoff.summary).trim_start().to_owned();
        }
        handoff
    }

    /// The same, redacted, within bounds, and in a form that can be written and read back. The notes say what is left out.
    fn tidy(self) -> Handoff {
        let mut left_out: Vec<String> = Vec::new();
        let mut bound = |what: &str, length: usize, most: usize| {
            if length > most {
                left_out.push(format!("{} more {what} were left out.", length - most));
            }
        };
        let mut key_findings: Vec<String> = Vec::new();
        for finding in self.key_findings.iter().map(|finding| clean(finding, MAX_FINDING_LENGTH)) {
            if !finding.is_empty() && !key_findings.contains(&finding) {
                key_findings.push(finding);
            }
        }
        bound("key findings", key_findings.len(), MAX_FINDINGS);
        key_findings.truncate(MAX_FINDINGS);
        let mut references: Vec<Reference> = Vec::new();
        for reference in self.references {
            if is_plain(reference.as_str()) && !references.contains(&reference) {
                references.push(reference);
            }
        }
        bound("references", references.len(), MAX_REFERENCES);
        references.truncate(MAX_REFERENCES);
        let constraints = self.constraints.iter().map(|line| clean(line, MAX_FINDING_LENGTH));
        // What is too long for a summary is not lost for that.
        let summary = clean(&self.summary, MAX_SUMMARY_LENGTH);
        let end = sentences(&summary).nth(MAX_SENTENCES - 1).unwrap_or(summary.len());
        let (summary, rest) = summary.split_at(end);
        let notes = format!("{}\n{}", self.notes.as_deref().unwrap_or_default(), rest.trim());
        let mut notes = clean(&notes, MAX_NOTES_LENGTH);
        for sentence in left_out {
            notes = format!("{notes}\n{sentence}").trim().to_owned();
        }
        Handoff {
            question: clean(&self.question, MAX_QUESTION_LENGTH),
            summary: summary.trim_end().to_owned(),
            key_findings,
            references,
            constraints: constraints.filter(|line| !line.is_empty()).take(MAX_CONSTRAINTS).collect(),
            notes: (!notes.is_empty()).then_some(notes),
            written: self.written,
        }
    }
}

/// The references of a report are paths of files and stay. A caller's are redacted where they are taken in.
impl Redact for Handoff {
    fn redact(&mut self) {
        *self = std::mem::take(self).tidy();
    }
}

/// What a report was made under.
fn constraints(report: &ResearchReport) -> Vec<String> {
    let run = &report.run;
    let timeouts: Vec<&str> = run.timeouts.iter().map(|role| role.key()).collect();
    let mut lines: Vec<String> = report.roots_searched.iter().map(|root| format!("root: {root}")).collect();
    lines.push(run.limits.render());
    lines.push(format!(
        "used: {} files read, {} bytes read, {} files scanned, {} ms",
        run.used.files_read, run.used.bytes_read, run.files_scanned, run.elapsed_ms
    ));
    let list = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    lines.push(format!("model: {}", list(&run.models.iter().map(String::as_str).collect::<Vec<_>>())));
    lines.push(format!("timeouts: {}", list(&timeouts)));
    lines
}

/// Redacted, without control characters and space at the ends of lines, and no longer than that.
fn clean(text: &str, longest: usize) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let shown: String = text.chars().filter(|&c| c == '\n' || c == '\t' || !c.is_control()).collect();
    let redacted = Redacted::from(shown.as_str()).into_inner();
    let lines: Vec<&str> = redacted.lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    let text = text.trim();
    if text.len() <= longest {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(longest - '…'.len_utf8());
    format!("{}…", text[..end].trim_end())
}

/// Whether a reference fits on a line of its own.
fn is_plain(reference: &str) -> bool {
    !reference.is_empty()
        && reference.len() <= MAX_REFERENCE_LENGTH
        && reference.trim() == reference
        && !reference.chars().any(char::is_control)
}

/// Where sentences end.
fn sentences(text: &str) -> impl Iterator<Item = usize> {
    let mut ends = text
        .match_indices(['.', '!', '?'])
        .map(|(at, mark)| at + mark.len())
        .filter(|&end| {
            let word = text[..end - 1].rsplit(char::is_whitespace).next().unwrap_or_default();
            let is_short = matches!(word, "e.g" | "i.e" | "etc" | "vs" | "cf" | "No");
            !is_short && text[end..].chars().next().is_none_or(char::is_whitespace)
        })
        .peekable();
    let mut over = false;
    std::iter::from_fn(move || {
        if over {
            return None;
        }
        let next = ends.next();
        over = next.is_none_or(|end| end >= text.len());
        // What follows the last mark is a sentence too.
        Some(next.unwrap_or(text.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_a_reader_stops() {
        for (text, count) in [
            ("One.", 1),
            ("One", 1),
            ("One. Two", 2),
            ("See a.rs:12 and b.rs. Then stop!", 2),
            ("Some, e.g. this one. Two? Three", 3),
        ] {
            assert_eq!(sentences(text).count(), count, "{text}");
        }
    }

    #[test]
    fn bounds_hold_and_what_is_left_out_is_noted_once() {
        let handoff = Handoff {
            question: "a\r\nb\u{7} ".into(),
            summary: "One. ".repeat(9),
            key_findings: (0..20)
                .map(|n| format!("finding {n}"))
                .chain(["finding 0".into(), " ".into()])
                .collect(),
            references: ["a.rs:1", "a.rs:1", "b\nc", "", "b.rs"]
                .map(|text| Reference::from(text.to_owned()))
                .to_vec(),
            notes: None,
            ..Handoff::default()
        };
        let tidy = handoff.tidy();
        assert_eq!(tidy.question, "a\nb");
        assert_eq!(tidy.summary, "One. One. One. One. One. One.");
        assert_eq!(tidy.key_findings.len(), MAX_FINDINGS);
        assert_eq!(tidy.references.iter().map(Reference::as_str).collect::<Vec<_>>(), ["a.rs:1", "b.rs"]);
        assert_eq!(tidy.notes.as_deref(), Some("One. One. One.\n8 more key findings were left out."));
        assert_eq!(tidy.clone().tidy(), tidy);
    }
}
