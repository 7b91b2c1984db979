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
const MAX_NOTES_LENGTH: usize = 4000;
const NOTES_WERE_CUT: &str = "The notes were cut.";

impl Handoff {
    /// The handoff of a report.
    pub fn of(report: &ResearchReport) -> Handoff {
        let of_a_role = || report.roles.values().find_map(|outcome| outcome.result.as_ref().ok());
        let finding = report.synthesis.as_ref().or_else(of_a_role).cloned().unwrap_or_else(|| {
            let summary = "Nothing was found out: no role came to an end.".to_owned();
            ResearchFinding::not_found(NotFound::Words, summary, Vec::new())
        });
        let mut notes = vec![joined(&finding.notes)];
        // The synthesis has most of them.
        for note in &report.run.partial {
            if !notes.iter().any(|known| known.contains(&note.text)) {
                notes.push(note.text.clone());
            }
        }
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
        let mut note = |count: usize, one: &str, more: &str| match count {
            0 => {}
            1 => left_out.push(one.to_owned()),
            count => left_out.push(format!("{count} {more}")),
        };
        let question = clean(&self.question);
        note(
            excess(&question, MAX_QUESTION_LENGTH),
            "The question was cut.",
            "bytes of the question were cut.",
        );
        let mut key_findings: Vec<String> = Vec::new();
        for finding in self.key_findings.iter().map(|finding| clean(finding)) {
            if !finding.is_empty() && !key_findings.contains(&finding) {
                key_findings.push(finding);
            }
        }
        let more = key_findings.len().saturating_sub(MAX_FINDINGS);
        note(more, "1 more key finding was left out.", "more key findings were left out.");
        key_findings.truncate(MAX_FINDINGS);
        let long = key_findings.iter().filter(|finding| excess(finding, MAX_FINDING_LENGTH) > 0).count();
        note(long, "1 key finding was cut.", "key findings were cut.");
        let key_findings = key_findings.iter().map(|finding| cut(finding, MAX_FINDING_LENGTH)).collect();
        let mut references: Vec<Reference> = Vec::new();
        let mut odd = 0;
        for reference in self.references {
            let reference = Reference::from(reference.as_str().trim().to_owned());
            if !is_plain(reference.as_str()) {
                odd += usize::from(!reference.as_str().is_empty());
            } else if !references.contains(&reference) {
                references.push(reference);
            }
        }
        let more = references.len().saturating_sub(MAX_REFERENCES);
        note(more, "1 more reference was left out.", "more references were left out.");
        note(odd, "1 text that is no reference was left out.", "texts that are no references were left out.");
        references.truncate(MAX_REFERENCES);
        let constraints = self.constraints.iter().map(|line| cut(&clean(line), MAX_FINDING_LENGTH));
        let mut constraints: Vec<String> = constraints.filter(|line| !line.is_empty()).collect();
        let more = constraints.len().saturating_sub(MAX_CONSTRAINTS);
        note(more, "1 more constraint was left out.", "more constraints were left out.");
        constraints.truncate(MAX_CONSTRAINTS);
        // What is too long for a summary is not lost for that.
        let summary = clean(&self.summary);
        let end = sentences(&summary).nth(MAX_SENTENCES - 1).unwrap_or(summary.len());
        let (summary, rest) = summary.split_at(end);
        let (summary, middle) = split_long(summary.trim_end(), MAX_SUMMARY_LENGTH);
        let notes = [self.notes.as_deref().unwrap_or_default(), middle.as_str(), rest.trim()];
        let notes = clean(
            &notes.map(str::trim).into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"),
        );
        // The sentences about what is left out are never cut themselves.
        let said: usize = left_out.iter().map(|sentence| sentence.len() + 1).sum();
        let room = MAX_NOTES_LENGTH.saturating_sub(said + NOTES_WERE_CUT.len() + 1);
        let notes = if notes.len() + said > MAX_NOTES_LENGTH {
            left_out.push(NOTES_WERE_CUT.to_owned());
            cut(&notes, room)
        } else {
            notes
        };
        let notes = std::iter::once(notes).chain(left_out).filter(|text| !text.is_empty());
        let notes = notes.collect::<Vec<_>>().join("\n");
        Handoff {
            question: cut(&question, MAX_QUESTION_LENGTH),
            summary,
            key_findings,
            references,
            constraints,
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

/// Redacted, without control characters and space at the ends of lines.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let shown: String = text.chars().filter(|&c| c == '\n' || c == '\t' || !c.is_control()).collect();
    let redacted = Redacted::from(shown.as_str()).into_inner();
    let lines: Vec<&str> = redacted.lines().map(str::trim_end).collect();
    lines.join("\n").trim().to_owned()
}

/// How many bytes a text has too many.
fn excess(text: &str, longest: usize) -> usize {
    text.len().saturating_sub(longest)
}

/// The beginning of a text, no longer than that.
fn cut(text: &str, longest: usize) -> String {
    split_long(text, longest).0
}

/// The beginning of a text, no longer than that, and the rest, which begins with a word where that is possible.
fn split_long(text: &str, longest: usize) -> (String, String) {
    if text.len() <= longest {
        return (text.to_owned(), String::new());
    }
    let most = text.floor_char_boundary(longest - '…'.len_utf8());
    let word = text[..most].rfind(char::is_whitespace).filter(|word| word * 2 > most).unwrap_or(most);
    (format!("{}…", text[..word].trim_end()), format!("…{}", text[word..].trim_start()))
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
        assert_eq!(
            tidy.notes.as_deref(),
            Some(
                "One. One. One.\n8 more key findings were left out.\n1 text that is no reference was left out."
            )
        );
        assert_eq!(tidy.clone().tidy(), tidy);
    }

    #[test]
    fn every_cut_is_noted_and_a_long_summary_goes_on_in_the_notes() {
        let long = |words: usize| format!("Start. {}Last fact.", "word ".repeat(words));
        let of = |text: &str| Reference::from(text.to_owned());
        let plain = || Handoff { question: "q".into(), summary: "One. Two.".into(), ..Handoff::default() };
        for (handoff, said) in [
            (Handoff { summary: long(600), ..plain() }, "Last fact."),
            (Handoff { summary: long(2000), ..plain() }, "The notes were cut."),
            (Handoff { notes: Some(long(2000)), ..plain() }, "The notes were cut."),
            (Handoff { question: long(4000), ..plain() }, "bytes of the question were cut."),
            (Handoff { key_findings: vec![long(300)], ..plain() }, "1 key finding was cut."),
            (
                Handoff {
                    key_findings: (0..40).map(|n| n.to_string()).collect(),
                    notes: Some(long(2000)),
                    ..plain()
                },
                "28 more key findings were left out.",
            ),
            (
                Handoff { references: (0..100).map(|n| of(&format!("a.rs:{n}"))).collect(), ..plain() },
                "40 more references were left out.",
            ),
            (
                Handoff { references: vec![of("a\nb"), of(" ")], ..plain() },
                "1 text that is no reference was left out.",
            ),
            (
                Handoff { constraints: (0..30).map(|n| n.to_string()).collect(), ..plain() },
                "6 more constraints were left out.",
            ),
        ] {
            let tidy = handoff.tidy();
            let notes = tidy.notes.clone().unwrap_or_default();
            assert!(notes.contains(said), "{said}: {notes}");
            assert!(notes.len() <= MAX_NOTES_LENGTH && tidy.summary.len() <= MAX_SUMMARY_LENGTH);
            assert_eq!(tidy.clone().tidy(), tidy);
        }
        let spaced =
            Handoff { references: vec![of(" a.rs:1"), of("b.rs:2\n"), of("a.rs:1")], ..plain() }.tidy();
        assert_eq!(spaced.references, [of("a.rs:1"), of("b.rs:2")]);
        assert_eq!(spaced.notes, None);
    }
}
