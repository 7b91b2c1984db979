//! The last look at what a role says: no secrets, no reference twice, and no more than fits a glance.

use std::borrow::Cow;

use tamis_redact::Redactor;

use crate::{Reference, ResearchFinding, RoleError};

/// Characters of a summary, of a finding, of notes. A pattern's snippet is a finding, and the longest.
const SUMMARY: usize = 1200;
const KEY_FINDING: usize = 700;
const NOTES: usize = 800;
const MESSAGE: usize = 400;

const MAX_REFERENCES: usize = 24;
const MAX_KEY_FINDINGS: usize = 16;

/// A finding as it may leave.
pub(crate) fn finding(finding: ResearchFinding) -> ResearchFinding {
    let mut references: Vec<Reference> = Vec::new();
    for reference in finding.references {
        if !references.contains(&reference) {
            references.push(reference);
        }
    }
    references.truncate(MAX_REFERENCES);
    let mut key_findings: Vec<String> = Vec::new();
    for text in &finding.key_findings {
        let text = short(text, KEY_FINDING);
        if !text.is_empty() && !key_findings.contains(&text) {
            key_findings.push(text);
        }
    }
    key_findings.truncate(MAX_KEY_FINDINGS);
    ResearchFinding {
        summary: short(&finding.summary, SUMMARY),
        references,
        key_findings,
        confidence: finding.confidence,
        notes: finding.notes.map(|notes| short(&notes, NOTES)).filter(|notes| !notes.is_empty()),
    }
}

pub(crate) fn error(error: RoleError) -> RoleError {
    RoleError { kind: error.kind, message: short(&error.message, MESSAGE) }
}

/// A text without secrets, and without what is longer than so many characters. Secrets go first: half of one is not known
/// for one.
pub(crate) fn short(text: &str, most: usize) -> String {
    cut(&Redactor::standard().redact(text), most).into_owned()
}

/// The beginning of a text, of so many characters at most.
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
    use crate::Confidence;

    #[test]
    fn secrets_go_before_anything_is_cut_and_references_stay() {
        let key = ["ghp", "_", "Zq7Lk2Xv9Rb4Tn8Wc1Yd6Hs3Jf5Pm0Ga2Ke4"].concat();
        let said = ResearchFinding {
            summary: format!("{}{key}", "x ".repeat(590)),
            references: [":3", ":3", ""].map(|line| format!("src/{key}.rs{line}").into()).to_vec(),
            key_findings: vec![format!("uses {key}"), "uses".into(), " uses ".into(), "  ".into()],
            confidence: Confidence::High,
            notes: Some(String::new()),
        };
        let told = finding(said.clone());
        assert!(!told.summary.contains("ghp_") && told.summary.chars().count() <= SUMMARY);
        assert_eq!(told.references, [said.references[0].clone(), said.references[2].clone()]);
        assert_eq!(told.key_findings, ["uses [redacted:github-token]", "uses"]);
        assert_eq!(told.notes, None);
    }

    #[test]
    fn a_cut_says_so_and_counts_characters() {
        assert_eq!((cut("ééé", 3), cut("éééé", 3), cut("ab", 0)), ("ééé".into(), "éé…".into(), "…".into()));
    }
}
