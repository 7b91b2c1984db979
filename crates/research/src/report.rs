//! The schemas of the contract: findings, outcomes and the report.

mod key_finding;
mod note;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;
use tamis_redact::Redact;

pub use key_finding::{FindingKind, KeyFinding};
pub(crate) use note::cut_notes;
pub use note::{NoteFact, ReportNote, joined};

use crate::{ResearchLimits, ResearchUsage, RoleError};

/// `path`, `path:line`, `path:line:col` or `path:first-last`; the path is relative to its root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Reference(String);

impl Reference {
    /// A file; lines count from 1.
    pub fn new(path: &str, line: Option<usize>) -> Reference {
        Reference(line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}")))
    }

    /// Lines of a file, from the first to the last.
    pub fn of_lines(path: &str, first: usize, last: usize) -> Reference {
        if first < last {
            Reference(format!("{path}:{first}-{last}"))
        } else {
            Reference::new(path, Some(first))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path alone.
    pub fn path(&self) -> &str {
        self.split().0
    }

    /// Path and first line. A path may contain a colon.
    pub fn split(&self) -> (&str, Option<usize>) {
        let (path, lines) = self.lines();
        (path, lines.map(|lines| *lines.start()))
    }

    /// Path and lines.
    pub fn lines(&self) -> (&str, Option<RangeInclusive<usize>>) {
        let number = |text: &str| text.parse::<usize>().ok().filter(|&number| number > 0);
        let span = |text: &str| {
            let (first, last) = text.split_once('-')?;
            Some(number(first)?..=number(last)?).filter(|lines| !lines.is_empty())
        };
        let Some((rest, end)) = self.0.rsplit_once(':') else { return (&self.0, None) };
        if let Some(lines) = span(end) {
            return (rest, Some(lines));
        }
        let Some(end) = number(end) else { return (&self.0, None) };
        match rest.rsplit_once(':').and_then(|(path, line)| Some((path, number(line)?))) {
            Some((path, line)) => (path, Some(line..=line)),
            None => (rest, Some(end..=end)),
        }
    }

    /// Whether it points at the same line as another one.
    pub(crate) fn is_same_place(&self, other: &Reference) -> bool {
        self.split() == other.split()
    }

    /// Whether its lines include the line that another one points at.
    pub(crate) fn includes(&self, other: &Reference) -> bool {
        let ((path, lines), (other, line)) = (self.lines(), other.split());
        path == other && lines.zip(line).is_some_and(|(lines, line)| lines.contains(&line))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<String> for Reference {
    fn from(text: String) -> Reference {
        Reference(text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    Low,
    Med,
    High,
}

impl Confidence {
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Med => "med",
            Confidence::High => "high",
        }
    }
}

/// What a role found out, and what the synthesis makes of all roles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResearchFinding {
    pub summary: String,
    pub references: Vec<Reference>,
    pub key_findings: Vec<KeyFinding>,
    pub confidence: Confidence,
    #[serde(serialize_with = "note::serialize_joined")]
    pub notes: Vec<ReportNote>,
    /// Set when the summary says that nothing was found.
    #[serde(skip)]
    pub not_found: Option<NotFound>,
}

impl ResearchFinding {
    pub(crate) fn not_found(what: NotFound, summary: String, notes: Vec<ReportNote>) -> ResearchFinding {
        ResearchFinding {
            summary,
            references: Vec::new(),
            key_findings: Vec::new(),
            confidence: Confidence::Low,
            notes,
            not_found: Some(what),
        }
    }
}

/// What a summary says was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// Names of the question, which the summary spells.
    Names,
    /// Anything that matches the question's words.
    Words,
}

/// When a task started and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RoleTiming {
    /// Milliseconds since 1970.
    pub started_at: i64,
    pub elapsed_ms: u64,
}

/// How a task ended: `value` when it is ok, `error` when it is not.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleOutcome {
    pub result: Result<ResearchFinding, RoleError>,
    pub timing: RoleTiming,
}

impl RoleOutcome {
    pub fn status(&self) -> &'static str {
        self.result.as_ref().map_or_else(|error| error.kind.status(), |_| "ok")
    }
}

impl Serialize for RoleOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("status", self.status())?;
        match &self.result {
            Ok(finding) => map.serialize_entry("value", finding)?,
            Err(error) => {
                map.serialize_entry("error", &json!({"name": error.kind.name(), "message": error.message}))?;
            }
        }
        map.serialize_entry("timing", &self.timing)?;
        map.end()
    }
}

/// The roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Locator,
    Analyzer,
    Patterns,
    Thoughts,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Locator, Role::Analyzer, Role::Patterns, Role::Thoughts];

    /// Its key in the report.
    pub fn key(self) -> &'static str {
        match self {
            Role::Locator => "locator",
            Role::Analyzer => "analyzer",
            Role::Patterns => "patterns",
            Role::Thoughts => "thoughts",
        }
    }
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResearchReport {
    pub question: String,
    pub roots_searched: Vec<String>,
    /// The roles that ran.
    #[serde(flatten)]
    pub roles: BTreeMap<Role, RoleOutcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<ResearchFinding>,
    #[serde(skip_serializing_if = "RunRecord::is_left_out")]
    pub run: RunRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_path: Option<String>,
}

/// How the run went: enough to judge the answer and to repeat the request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// The names of the models that answered; none when the roles were deterministic.
    #[serde(rename = "model", serialize_with = "one_text")]
    pub models: Vec<String>,
    pub tasks_spawned: u64,
    pub roles: Vec<Role>,
    /// The words searched for.
    pub keywords: Vec<String>,
    pub files_scanned: u64,
    pub elapsed_ms: u64,
    /// Roles that ran out of time.
    pub timeouts: Vec<Role>,
    /// What is missing in the answer, and why.
    pub partial: Vec<ReportNote>,
    pub limits: ResearchLimits,
    pub used: ResearchUsage,
    /// Whether a very small limit of tokens has no room for it.
    #[serde(skip)]
    pub is_left_out: bool,
}

impl RunRecord {
    fn is_left_out(&self) -> bool {
        self.is_left_out
    }

    /// The record of a run that has not begun.
    pub fn new(limits: ResearchLimits) -> RunRecord {
        RunRecord {
            models: Vec::new(),
            tasks_spawned: 0,
            roles: Vec::new(),
            keywords: Vec::new(),
            files_scanned: 0,
            elapsed_ms: 0,
            timeouts: Vec::new(),
            partial: Vec::new(),
            limits,
            used: ResearchUsage::default(),
            is_left_out: false,
        }
    }
}

/// Several names are one text in the contract.
fn one_text<S: Serializer>(names: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    match names {
        [] => serializer.serialize_none(),
        names => serializer.serialize_str(&names.join(", ")),
    }
}

impl ResearchReport {
    /// Why the artifact was not written, when one was requested and is missing.
    pub fn artifact_error(&self) -> Option<&str> {
        let failed = self.run.partial.iter().find(|note| matches!(note.fact, NoteFact::NoArtifact(_)));
        failed.map(|note| note.text.as_str())
    }

    /// What a role found, if it ran and did not fail.
    pub fn finding(&self, role: Role) -> Option<&ResearchFinding> {
        self.roles.get(&role)?.result.as_ref().ok()
    }
}

/// Roots, references and names of models stay: callers pass them back.
impl Redact for ResearchReport {
    fn redact(&mut self) {
        self.question.redact();
        for outcome in self.roles.values_mut() {
            match &mut outcome.result {
                Ok(finding) => finding.redact(),
                Err(error) => error.message.redact(),
            }
        }
        self.synthesis.redact();
        self.run.keywords.redact();
        self.run.partial.redact();
    }
}

impl Redact for ResearchFinding {
    fn redact(&mut self) {
        self.summary.redact();
        self.key_findings.redact();
        self.notes.redact();
    }
}

impl Redact for KeyFinding {
    fn redact(&mut self) {
        self.text.redact();
        self.short.redact();
    }
}

impl Redact for ReportNote {
    fn redact(&mut self) {
        self.text.redact();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoleErrorKind;

    #[test]
    fn a_value_when_ok_and_an_error_when_not() {
        let finding = ResearchFinding {
            summary: "s".into(),
            references: vec![Reference::new("a.rs", Some(3))],
            key_findings: vec![],
            confidence: Confidence::Med,
            notes: vec![],
            not_found: None,
        };
        let timing = RoleTiming { started_at: 1, elapsed_ms: 2 };
        let json_of = |result| serde_json::to_value(RoleOutcome { result, timing }).unwrap();
        assert_eq!(
            json_of(Ok(finding)),
            json!({"status": "ok", "value": {"summary": "s", "references": ["a.rs:3"], "key_findings": [],
                "confidence": "med", "notes": null}, "timing": {"startedAt": 1, "elapsedMs": 2}})
        );
        assert_eq!(
            json_of(Err(RoleError::new(RoleErrorKind::Timeout, "m"))),
            json!({"status": "timeout", "error": {"name": "TimeoutError", "message": "m"},
                "timing": {"startedAt": 1, "elapsedMs": 2}})
        );
    }

    #[test]
    fn a_reference_knows_its_path_and_line() {
        for (text, path, line) in [
            ("a/b.rs", "a/b.rs", None),
            ("a/b.rs:12", "a/b.rs", Some(12)),
            ("a/b.rs:12:3", "a/b.rs", Some(12)),
            ("a/b.rs:12-40", "a/b.rs", Some(12)),
            ("a/b.rs:40-12", "a/b.rs:40-12", None),
            ("a/b.rs:12-", "a/b.rs:12-", None),
            ("odd:7-name:12-40", "odd:7-name", Some(12)),
            ("odd:name", "odd:name", None),
            ("odd:name:7", "odd:name", Some(7)),
            ("a:0", "a:0", None),
        ] {
            let reference = Reference::from(text.to_owned());
            assert_eq!(reference.split(), (path, line), "{text}");
        }
    }
}
