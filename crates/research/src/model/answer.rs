//! Reads a model's answer: lenient about its form, strict about its evidence.
//!
//! A reference must be to a file below the roots, and its line within the file. Others are dropped, and the notes say how
//! many; an answer without references must say that nothing was found.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};
use tamis_redact::Redacted;

use super::evidence::{self, Evidence};
use crate::{
    BoundedReader, Category, Confidence, FindingKind, KeyFinding, NotFound, NoteFact, Reference, ReportNote,
    ResearchFinding, Role,
};

/// Longer answers are rejected.
const MAX_ANSWER_LENGTH: usize = 256 << 10;

const MAX_SUMMARY_LENGTH: usize = 1000;
const MAX_FINDING_LENGTH: usize = 400;
const MAX_NOTES_LENGTH: usize = 500;
const MAX_FINDINGS: usize = 12;
const MAX_REFERENCES: usize = 15;
/// Examples of a pattern.
const EXAMPLES: RangeInclusive<usize> = 2..=6;

/// Maximum references to check: each may be a file to open.
const MAX_CHECKED: usize = 60;

/// Why an answer cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnusableAnswer {
    /// For the model, so that it can correct the answer.
    pub(super) reason: String,
    /// The model's refusal, when the answer is one.
    pub(super) refusal: Option<String>,
    /// What to use when the model does not correct it.
    pub(super) fallback: Option<Box<ResearchFinding>>,
}

/// Reads an answer and checks what it refers to.
pub(super) fn read(
    text: &str,
    role: Role,
    reader: &BoundedReader,
) -> Result<ResearchFinding, UnusableAnswer> {
    let unusable = |reason: String| UnusableAnswer { reason, refusal: None, fallback: None };
    if text.len() > MAX_ANSWER_LENGTH {
        return Err(unusable(format!("it has {} bytes", text.len())));
    }
    let Some(members) = object_in(text) else {
        let reason = if text.trim().is_empty() { "it is empty" } else { "it has no JSON object" };
        let refusal = refusal_in(text);
        return Err(UnusableAnswer { reason: reason.to_owned(), refusal, fallback: None });
    };
    let mut cut = 0;
    let summary = clean(&texts(members.get("summary")).join(" "), MAX_SUMMARY_LENGTH, &mut cut);
    if summary.is_empty() {
        return Err(unusable("\"summary\" is missing or empty".to_owned()));
    }
    let mut evidence = Evidence::of(reader);
    let mut references = evidence::references_in(members.get("references"));
    let cited = references.len();
    let mut known = BTreeSet::new();
    references.retain(|reference| known.insert(reference.clone()));
    let different = references.len();
    let (references, dropped) = evidence.check(references.into_iter().take(MAX_CHECKED));
    let findings = texts(members.get("keyfindings"));
    let mut more = (different.saturating_sub(MAX_CHECKED), findings.len().saturating_sub(MAX_CHECKED));
    let (confirmed, made_up): (Vec<String>, Vec<String>) =
        findings.into_iter().take(MAX_CHECKED).partition(|finding| evidence.confirms(finding));
    let examples = role == Role::Patterns && not_found(&summary).is_none();
    let most = |most: usize| if examples { *EXAMPLES.end() } else { most };
    more.0 += references.len().saturating_sub(most(MAX_REFERENCES));
    more.1 += confirmed.len().saturating_sub(most(MAX_FINDINGS));
    let shown = confirmed.iter().take(most(MAX_FINDINGS));
    let key_findings =
        shown.map(|finding| key_finding(role, clean(finding, MAX_FINDING_LENGTH, &mut cut))).collect();
    let not_found = not_found(&summary);
    if references.is_empty() && not_found.is_none() {
        return Err(unusable(if cited == 0 {
            "\"references\" is empty; cite the files that show it, or say \"not found\" in the summary"
                .to_owned()
        } else {
            format!(
                "none of its {cited} references exists; cite files that you have seen, with their paths from the root"
            )
        }));
    }
    let own = clean(&texts(members.get("notes")).join(" "), MAX_NOTES_LENGTH, &mut cut);
    let mut notes: Vec<ReportNote> = Vec::new();
    if more != (0, 0) || cut > 0 {
        notes.push(NoteFact::LeftOut { references: more.0, findings: more.1, cut }.into());
    }
    if dropped > 0 {
        notes.push(NoteFact::DroppedReferences(dropped).into());
    }
    if !made_up.is_empty() {
        notes.push(NoteFact::DroppedFindings(made_up.len()).into());
    }
    // Last, because what does not fit is cut at the end.
    notes.extend(Some(own).filter(|own| !own.is_empty()).map(|own| NoteFact::Text(own).into()));
    let mut finding = ResearchFinding {
        summary,
        confidence: if references.is_empty() {
            Confidence::Low
        } else {
            confidence(members.get("confidence"))
        },
        references,
        key_findings,
        notes,
        not_found,
    };
    finding.references.truncate(MAX_REFERENCES);
    if role == Role::Patterns && finding.not_found.is_none() {
        return bounded_examples(finding);
    }
    Ok(finding)
}

/// An answer with examples, of which there are 2 to 6.
fn bounded_examples(mut finding: ResearchFinding) -> Result<ResearchFinding, UnusableAnswer> {
    finding.references.truncate(*EXAMPLES.end());
    finding.key_findings.truncate(*EXAMPLES.end());
    let count = finding.references.len();
    if EXAMPLES.contains(&count) {
        return Ok(finding);
    }
    let reason = "it has 1 example; cite 2 to 6 different places in \"references\"".to_owned();
    finding.notes.push(NoteFact::OneExample.into());
    Err(UnusableAnswer { reason, refusal: None, fallback: Some(Box::new(finding)) })
}

/// The members of the object in an answer, by their names in lower case without `_` and `-`. The last object that has any of
/// the expected members counts: models think aloud before they answer.
fn object_in(text: &str) -> Option<Map<String, Value>> {
    /// Maximum braces to try.
    const MAX_STARTS: usize = 400;

    let spoken = text.rsplit_once("</think>").map_or(text, |(_, spoken)| spoken);
    let mut found = None;
    let mut at = 0;
    for _ in 0..MAX_STARTS {
        let Some(start) = spoken[at..].find('{') else { break };
        let start = at + start;
        let mut values = serde_json::Deserializer::from_str(&spoken[start..]).into_iter::<Value>();
        at = match values.next() {
            Some(Ok(Value::Object(members))) => {
                let end = start + values.byte_offset();
                let members: Map<String, Value> = members
                    .into_iter()
                    .map(|(name, value)| {
                        let name = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
                        (name.flat_map(char::to_lowercase).collect(), value)
                    })
                    .collect();
                if members.contains_key("summary") || members.contains_key("references") {
                    found = Some(members);
                }
                end
            }
            _ => start + 1,
        };
    }
    found
}

/// The texts in a value: itself, its lines, its elements, or the members of objects in it.
fn texts(value: Option<&Value>) -> Vec<String> {
    let of_one = |value: &Value| match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Object(members) => {
            let texts = members.values().filter_map(|value| match value {
                Value::String(text) => Some(text.trim().to_owned()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            });
            texts.collect::<Vec<_>>().join(": ")
        }
        _ => String::new(),
    };
    let all: Vec<String> = match value {
        None | Some(Value::Null | Value::Bool(_)) => Vec::new(),
        Some(Value::Array(elements)) => elements.iter().map(of_one).collect(),
        // A list in one string has bullets.
        Some(Value::String(text)) if text.lines().filter(|line| is_bullet(line)).count() > 1 => text
            .lines()
            .map(|line| line.trim().trim_start_matches(['-', '*', '•']).trim().to_owned())
            .collect(),
        Some(one) => vec![of_one(one)],
    };
    all.into_iter().filter(|text| !text.is_empty()).collect()
}

fn is_bullet(line: &str) -> bool {
    line.trim_start().starts_with(['-', '*', '•'])
}

fn confidence(value: Option<&Value>) -> Confidence {
    match value {
        Some(Value::String(word)) => match word.trim().to_lowercase().as_str() {
            "high" | "very high" | "certain" => Confidence::High,
            "med" | "medium" | "moderate" | "mid" => Confidence::Med,
            _ => Confidence::Low,
        },
        Some(Value::Number(number)) => match number.as_f64().unwrap_or(0.0) {
            share if share >= 0.75 => Confidence::High,
            share if share >= 0.4 => Confidence::Med,
            _ => Confidence::Low,
        },
        _ => Confidence::Low,
    }
}

/// Whether a summary says that nothing was found, in the words that the prompt requires. Names are in backticks.
fn not_found(summary: &str) -> Option<NotFound> {
    let says_so = summary.to_lowercase().contains("not found");
    says_so.then(|| if summary.contains('`') { NotFound::Names } else { NotFound::Words })
}

/// Classifies a sentence of the model by its form.
fn key_finding(role: Role, text: String) -> KeyFinding {
    match role {
        Role::Analyzer => KeyFinding::new(FindingKind::Explanation { places: places_in(&text) }, text),
        Role::Patterns => KeyFinding::example(evidence::place_in(&text), text),
        Role::Thoughts => KeyFinding::new(FindingKind::History, text),
        Role::Locator => located(text),
    }
}

/// `implementation: a.rs:1 defines parse: …`, or other places with or without a category.
fn located(text: String) -> KeyFinding {
    const DEFINES: &str = " defines ";
    let category = Category::ALL.into_iter().find(|category| text.starts_with(category.name()));
    let place = text.split_once(DEFINES).and_then(|(place, _)| place.split_whitespace().last());
    let Some(place) = place.map(|place| Reference::from(place.to_owned())) else {
        return KeyFinding::new(FindingKind::Places { category }, text);
    };
    let name = text.find(DEFINES).map_or(0, |at| at + DEFINES.len());
    let short = text[name..].find(": ").map(|end| text[..name + end].to_owned());
    KeyFinding { kind: FindingKind::Passage { category, place }, text, short }
}

/// The places that a sentence gives in brackets.
fn places_in(text: &str) -> Vec<Reference> {
    let inside = text.split('(').skip(1).filter_map(|rest| rest.split_once(')').map(|(inside, _)| inside));
    inside.filter(|place| !place.contains(' ')).map(|place| Reference::from(place.to_owned())).collect()
}

/// Text without secrets and control characters, cut to a length. Counts what is cut.
fn clean(text: &str, longest: usize, cut: &mut usize) -> String {
    let text = Redacted::from(text.trim()).into_inner();
    let mut text: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    if let Some((end, _)) = text.char_indices().nth(longest) {
        text.truncate(end);
        text.push('…');
        *cut += 1;
    }
    text
}

/// Words of a refusal.
const DECLINING: [&str; 12] = [
    "i can't",
    "i can’t",
    "i cannot",
    "i won't",
    "i won’t",
    "i'm sorry",
    "i’m sorry",
    "i am sorry",
    "i'm unable",
    "i am unable",
    "i'm not able",
    "i must decline",
];

fn refusal_in(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    DECLINING.iter().any(|words| lower.contains(words)).then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reader() -> (tempfile::TempDir, BoundedReader) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/a.rs"), "one\ntwo\nthree\n").unwrap();
        std::fs::write(folder.path().join("src/b.rs"), "one\n").unwrap();
        std::fs::write(folder.path().join(".env"), "A=b\n").unwrap();
        let reader = BoundedReader::of_folder(folder.path(), crate::ResearchLimits::SAMPLE);
        (folder, reader)
    }

    fn finding(
        references: &[&str],
        findings: &[&str],
        confidence: Confidence,
        notes: &[ReportNote],
    ) -> ResearchFinding {
        ResearchFinding {
            summary: "It is so.".into(),
            references: references.iter().map(|text| Reference::from((*text).to_owned())).collect(),
            key_findings: findings
                .iter()
                .map(|text| key_finding(Role::Analyzer, (*text).to_owned()))
                .collect(),
            confidence,
            notes: notes.to_vec(),
            not_found: None,
        }
    }

    #[test]
    fn lenient_forms_of_an_answer_are_read() {
        let (_folder, reader) = reader();
        let plain = finding(&["src/a.rs:2"], &["x"], Confidence::Med, &[]);
        let whole = json!({"summary": "It is so.", "references": ["src/a.rs:2"], "key_findings": ["x"],
            "confidence": "med", "notes": null});
        for text in [
            whole.to_string(),
            format!("```json\n{whole}\n```"),
            format!("Here {{it}} is: {whole} That {{is}} all."),
            format!("<think>{{\"summary\": \"no\"}}</think>{whole}"),
            format!("{{\"plan\": 1}} {whole}"),
            json!({"summary": ["It is so."], "references": "src/a.rs:2", "keyFindings": "x", "confidence": "Medium",
                "extra": 1})
            .to_string(),
            json!({"summary": "It is so.", "references": [{"file": "./src/a.rs", "line": 2}], "key_findings": ["x"],
                "confidence": 0.5, "notes": []})
            .to_string(),
        ] {
            assert_eq!(read(&text, Role::Analyzer, &reader).unwrap(), plain, "{text}");
        }
    }

    #[test]
    fn citations_of_missing_files_are_dropped_and_noted() {
        let (folder, reader) = reader();
        let absolute = format!("{}/src/b.rs:1", folder.path().canonicalize().unwrap().display());
        let text = json!({"summary": "It is so.", "confidence": "high", "references":
            ["src/a.rs:2", "src/a.rs:4", "src/gone.rs:1", "../../etc/passwd", "/etc/passwd:1", ".env:1", "src", absolute,
             "src/a.rs:2", "src/a.rs"],
            "key_findings": ["src/a.rs:1 begins", "src/gone.rs:3 is made up", "listens on 127.0.0.1:80"]});
        let notes = [NoteFact::DroppedReferences(5).into(), NoteFact::DroppedFindings(1).into()];
        assert_eq!(
            read(&text.to_string(), Role::Analyzer, &reader).unwrap(),
            finding(
                &["src/a.rs:2", "src/b.rs:1"],
                &["src/a.rs:1 begins", "listens on 127.0.0.1:80"],
                Confidence::High,
                &notes
            )
        );
        assert_eq!(
            crate::joined(&notes),
            "5 references to files that do not exist were left out. \
             1 finding that cites such a file was left out."
        );
    }

    #[test]
    fn unusable_answers_have_an_exact_reason() {
        let (_folder, reader) = reader();
        let reason = |text: &str| read(text, Role::Analyzer, &reader).unwrap_err();
        assert_eq!(reason("").reason, "it is empty");
        assert_eq!(reason("It is in src.").reason, "it has no JSON object");
        assert_eq!(reason("{\"summary\": \"It is").reason, "it has no JSON object");
        assert_eq!(reason("{\"references\": []}").reason, "\"summary\" is missing or empty");
        assert!(reason("{\"summary\": \"It is so.\"}").reason.starts_with("\"references\" is empty"));
        let made_up = json!({"summary": "It is so.", "references": ["x.rs"]}).to_string();
        assert!(reason(&made_up).reason.starts_with("none of its 1 references exists"));
        assert_eq!(reason("I'm sorry, no.").refusal.as_deref(), Some("I'm sorry, no."));
        assert_eq!(reason("It is in src.").refusal, None);
    }

    #[test]
    fn examples_of_a_model_are_two_to_six() {
        let (folder, reader) = reader();
        for number in 0..9 {
            std::fs::write(folder.path().join(format!("src/{number}.rs")), "one\n").unwrap();
        }
        let answer = |count: usize| {
            let places: Vec<String> = (0..count).map(|number| format!("src/{number}.rs:1")).collect();
            json!({"summary": "It is so.", "references": places, "key_findings": places}).to_string()
        };
        for (count, expected) in [(2, 2), (6, 6), (9, 6)] {
            let found = read(&answer(count), Role::Patterns, &reader).unwrap();
            assert_eq!((found.references.len(), found.key_findings.len()), (expected, expected));
        }
        let one = read(&answer(1), Role::Patterns, &reader).unwrap_err();
        assert!(one.reason.starts_with("it has 1 example; cite 2 to 6"), "{}", one.reason);
        let last = one.fallback.unwrap();
        assert_eq!(
            (last.references.len(), crate::joined(&last.notes).as_str()),
            (1, "Only one example was found.")
        );
        assert_eq!(read(&answer(9), Role::Analyzer, &reader).unwrap().references.len(), 9);
        let none = json!({"summary": "Retries were not found."}).to_string();
        assert!(read(&none, Role::Patterns, &reader).is_ok());
    }

    #[test]
    fn not_found_is_an_answer() {
        let (_folder, reader) = reader();
        let text = json!({"summary": "Frobnication was not found.", "confidence": "high"}).to_string();
        let found = read(&text, Role::Analyzer, &reader).unwrap();
        assert_eq!((found.references.len(), found.confidence), (0, Confidence::Low));
    }

    #[test]
    fn answers_are_bounded_and_redacted() {
        let (_folder, reader) = reader();
        let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).get(..36).unwrap());
        let text = json!({"summary": format!("The token is {key}. {}", "x".repeat(5000)),
            "references": vec!["src/a.rs:1"; 100], "key_findings": vec![format!("{key} {}", "y".repeat(900)); 100],
            "notes": format!("{key} {}", "z".repeat(5000))});
        let found = read(&text.to_string(), Role::Analyzer, &reader).unwrap();
        assert_eq!((found.references.len(), found.key_findings.len()), (1, MAX_FINDINGS));
        // The model cited one place a hundred times, and made a hundred findings of which 60 were checked.
        let said = crate::joined(&found.notes);
        assert!(said.contains("88 more findings were left out. 14 texts were cut."), "{said}");
        let whole = serde_json::to_string(&found).unwrap();
        assert!(!whole.contains(&key) && whole.len() < 8000, "{whole}");
        assert!(read(&"{".repeat(100_000), Role::Analyzer, &reader).is_err());
        assert!(read(&"{\"a\":".repeat(100_000), Role::Analyzer, &reader).is_err());
    }
}
