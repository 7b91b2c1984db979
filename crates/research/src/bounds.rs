//! Bounds of a finding: redacted, without duplicates, and within limits of length.

use std::borrow::Cow;

use tamis_redact::Redacted;

use crate::report::cut_notes;
use crate::{KeyFinding, NoteFact, Reference, ReportNote, ResearchFinding, RoleError};

/// Characters of a summary, of a finding, of notes. A pattern's snippet is a finding, and the longest.
const SUMMARY: usize = 1200;
const KEY_FINDING: usize = 700;
const NOTES: usize = 800;
const MESSAGE: usize = 400;

const MAX_REFERENCES: usize = 24;
const MAX_KEY_FINDINGS: usize = 16;

/// A finding within its bounds.
pub(crate) fn finding(finding: ResearchFinding) -> ResearchFinding {
    let mut references: Vec<Reference> = Vec::new();
    for reference in finding.references {
        if !references.contains(&reference) {
            references.push(reference);
        }
    }
    let mut cut = usize::from(is_long(&finding.summary, SUMMARY));
    let more_references = references.len().saturating_sub(MAX_REFERENCES);
    references.truncate(MAX_REFERENCES);
    let mut key_findings: Vec<KeyFinding> = Vec::new();
    for finding in finding.key_findings {
        let is_cut = is_long(&finding.text, KEY_FINDING);
        let text = short(&finding.text, KEY_FINDING);
        if !text.is_empty() && !key_findings.iter().any(|known| known.text == text) {
            cut += usize::from(is_cut && key_findings.len() < MAX_KEY_FINDINGS);
            let shorter = finding.short.map(|text| short(&text, KEY_FINDING));
            key_findings.push(KeyFinding { text, short: shorter, ..finding });
        }
    }
    let more_findings = key_findings.len().saturating_sub(MAX_KEY_FINDINGS);
    key_findings.truncate(MAX_KEY_FINDINGS);
    let mut all_notes = finding.notes;
    if more_references + more_findings + cut > 0 {
        let left_out = NoteFact::LeftOut { references: more_references, findings: more_findings, cut };
        all_notes.insert(0, left_out.into());
    }
    ResearchFinding {
        summary: short(&finding.summary, SUMMARY),
        references,
        key_findings,
        confidence: finding.confidence,
        notes: notes(all_notes),
        not_found: finding.not_found,
    }
}

fn is_long(text: &str, most: usize) -> bool {
    Redacted::from(text.trim()).chars().nth(most).is_some()
}

fn notes(notes: Vec<ReportNote>) -> Vec<ReportNote> {
    let mut notes: Vec<ReportNote> =
        notes.into_iter().map(|note| ReportNote { text: short(&note.text, NOTES), ..note }).collect();
    notes.retain(|note| !note.text.is_empty());
    cut_notes(&mut notes, NOTES);
    notes
}

pub(crate) fn error(error: RoleError) -> RoleError {
    RoleError { kind: error.kind, message: short(&error.message, MESSAGE) }
}

/// A text without secrets, cut to a number of characters. Redaction comes first: no rule recognises half of a secret.
pub(crate) fn short(text: &str, most: usize) -> String {
    cut(&Redacted::from(text), most).into_owned()
}

/// The beginning of a text, of at most this many characters.
pub(crate) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    let text = text.trim();
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some(_) => {
            let end = text.char_indices().nth(most.saturating_sub(1)).map_or(0, |(index, _)| index);
            Cow::Owned(format!("{}…", text[..end].trim_end()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Confidence, FindingKind, NoteFact};

    #[test]
    fn a_cut_behind_a_space_counts_once() {
        let long = format!("{} end", "x ".repeat(KEY_FINDING));
        let unbounded = ResearchFinding {
            summary: "s".to_owned(),
            references: Vec::new(),
            key_findings: vec![KeyFinding::new(FindingKind::History, long)],
            confidence: Confidence::High,
            notes: Vec::new(),
            not_found: None,
        };
        let once = finding(unbounded);
        let left_out = NoteFact::LeftOut { references: 0, findings: 0, cut: 1 };
        assert_eq!(once.notes, [left_out.into()]);
        assert_eq!(finding(once.clone()), once, "what was cut is not cut again");
    }

    #[test]
    fn secrets_go_before_anything_is_cut_and_references_stay() {
        let key = ["ghp", "_", "Zq7Lk2Xv9Rb4Tn8Wc1Yd6Hs3Jf5Pm0Ga2Ke4"].concat();
        let unbounded = ResearchFinding {
            summary: format!("{}{key}", "x ".repeat(590)),
            references: [":3", ":3", ""].map(|line| format!("src/{key}.rs{line}").into()).to_vec(),
            key_findings: [&format!("uses {key}"), "uses", " uses ", "  "]
                .map(|text| KeyFinding::new(FindingKind::History, text.to_owned()))
                .to_vec(),
            confidence: Confidence::High,
            notes: vec![NoteFact::Text(String::new()).into()],
            not_found: None,
        };
        let bounded = finding(unbounded.clone());
        assert!(!bounded.summary.contains("ghp_") && bounded.summary.chars().count() <= SUMMARY);
        assert_eq!(bounded.references, [unbounded.references[0].clone(), unbounded.references[2].clone()]);
        let texts: Vec<&str> = bounded.key_findings.iter().map(|finding| finding.text.as_str()).collect();
        assert_eq!(texts, ["uses [redacted:github-token]", "uses"]);
        let cut = NoteFact::LeftOut { references: 0, findings: 0, cut: 1 };
        assert_eq!(bounded.notes, [ReportNote::from(cut)]);
        assert_eq!(crate::joined(&bounded.notes), "1 text was cut.");
        let long =
            |number: usize| KeyFinding::new(FindingKind::History, format!("{number}{}", "x".repeat(900)));
        let references = (0..40).map(|line| format!("a.rs:{line}").into()).collect();
        let many = ResearchFinding { references, key_findings: (0..17).map(long).collect(), ..unbounded };
        let many = ResearchFinding { notes: vec![NoteFact::Text("y ".repeat(900)).into()], ..many };
        let said = crate::joined(&finding(many).notes);
        let expected = "16 more references and 1 more finding were left out. 17 texts were cut. y y";
        assert!(said.starts_with(expected) && said.chars().count() <= NOTES, "{said}");
    }

    #[test]
    fn a_cut_ends_with_an_ellipsis_and_counts_characters() {
        assert_eq!((cut("ééé", 3), cut("éééé", 3), cut("ab", 0)), ("ééé".into(), "éé…".into(), "…".into()));
    }
}
