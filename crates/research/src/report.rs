//! The forms of the contract: what a role finds, how it is wrapped, and the report that roles add up to.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use crate::{ResearchLimits, ResearchUsage, RoleError};

/// `path`, `path:line` or `path:line:col`; the path is relative to its root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reference(String);

impl Reference {
    /// A file; lines count from 1.
    pub fn new(path: &str, line: Option<usize>) -> Reference {
        Reference(line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}")))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path alone.
    pub fn path(&self) -> &str {
        self.split().0
    }

    /// Path and line, as whoever wrote it meant them: a path may have a colon in it.
    pub fn split(&self) -> (&str, Option<usize>) {
        let number = |text: &str| text.parse::<usize>().ok().filter(|&number| number > 0);
        let Some((rest, last)) = self.0.rsplit_once(':') else { return (&self.0, None) };
        let Some(last) = number(last) else { return (&self.0, None) };
        match rest.rsplit_once(':').and_then(|(path, line)| Some((path, number(line)?))) {
            Some((path, line)) => (path, Some(line)),
            None => (rest, Some(last)),
        }
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    Low,
    Med,
    High,
}

/// What every role gives back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResearchFinding {
    pub summary: String,
    pub references: Vec<Reference>,
    pub key_findings: Vec<String>,
    pub confidence: Confidence,
    pub notes: Option<String>,
}

/// When a task began and how long it took.
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

/// Who works on a question.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locator: Option<RoleOutcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analyzer: Option<RoleOutcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns: Option<RoleOutcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thoughts: Option<RoleOutcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<ResearchFinding>,
    pub run: RunRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_path: Option<String>,
}

/// How an answer came about: enough to judge it, and to ask again.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// The model's name; none when the roles were deterministic.
    pub model: Option<String>,
    pub tasks_spawned: u64,
    pub roles: Vec<Role>,
    /// What was searched for.
    pub keywords: Vec<String>,
    pub files_scanned: u64,
    pub elapsed_ms: u64,
    /// Roles that ran out of time.
    pub timeouts: Vec<Role>,
    /// What is missing in the answer, and why; one sentence each.
    pub partial: Vec<String>,
    pub limits: ResearchLimits,
    pub used: ResearchUsage,
}

impl ResearchReport {
    /// The roles that ran, in order.
    pub fn outcomes(&self) -> impl Iterator<Item = (Role, &RoleOutcome)> {
        let all = [
            (Role::Locator, &self.locator),
            (Role::Analyzer, &self.analyzer),
            (Role::Patterns, &self.patterns),
            (Role::Thoughts, &self.thoughts),
        ];
        all.into_iter().filter_map(|(role, outcome)| Some((role, outcome.as_ref()?)))
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
            notes: None,
        };
        let timing = RoleTiming { started_at: 1, elapsed_ms: 2 };
        let told = |result| serde_json::to_value(RoleOutcome { result, timing }).unwrap();
        assert_eq!(
            told(Ok(finding)),
            json!({"status": "ok", "value": {"summary": "s", "references": ["a.rs:3"], "key_findings": [],
                "confidence": "med", "notes": null}, "timing": {"startedAt": 1, "elapsedMs": 2}})
        );
        assert_eq!(
            told(Err(RoleError::new(RoleErrorKind::Timeout, "m"))),
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
            ("odd:name", "odd:name", None),
            ("odd:name:7", "odd:name", Some(7)),
            ("a:0", "a:0", None),
        ] {
            let reference = Reference::from(text.to_owned());
            assert_eq!(reference.split(), (path, line), "{text}");
        }
    }
}
