//! What the research tools take.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_research::{ResearchConstraints, ResearchRequest, Role};

use crate::input::Whole;

// Plain comments on the forms themselves: what they document goes into the schema that a model reads.

// Limits of one call, in place of those that are configured.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ConstraintsInput {
    /// Time limit; default 30000.
    #[serde(default, alias = "deadline_ms")]
    deadline_ms: Option<Whole<1>>,
    /// Default 50.
    #[serde(default, alias = "max_files_read")]
    max_files_read: Option<Whole<0>>,
    /// Default 1048576.
    #[serde(default, alias = "max_bytes_read")]
    max_bytes_read: Option<Whole<0>>,
    /// Size of the report; default 2000.
    #[serde(default, alias = "max_tokens")]
    max_tokens: Option<Whole<1>>,
}

impl ConstraintsInput {
    fn constraints(self) -> ResearchConstraints {
        ResearchConstraints {
            deadline_ms: self.deadline_ms.map(|number| number.0),
            max_files_read: self.max_files_read.map(|number| number.0),
            max_bytes_read: self.max_bytes_read.map(|number| number.0),
            max_tokens: self.max_tokens.map(|number| number.0),
        }
    }
}

// The input of a tool for one role. Models also name the question after the tool's subject.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoleInput {
    /// Question in words; names from the code help.
    #[serde(alias = "query", alias = "pattern", alias = "component")]
    question: String,
    /// Folders to search; default all roots.
    roots: Option<Vec<String>>,
    /// Limits of this call.
    constraints: Option<ConstraintsInput>,
}

impl RoleInput {
    pub(crate) fn request(self, role: Role) -> ResearchRequest {
        ResearchRequest { role: Some(role), ..request(self.question, self.roots, self.constraints) }
    }
}

// The same, and whether to write a memo.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResearchInput {
    /// Question in words; names from the code help.
    #[serde(alias = "query", alias = "pattern", alias = "component")]
    question: String,
    /// Folders to search; default all roots.
    roots: Option<Vec<String>>,
    /// Limits of this call.
    constraints: Option<ConstraintsInput>,
    /// Also write the report to a file.
    artifact: Option<bool>,
}

impl ResearchInput {
    pub(crate) fn request(self) -> ResearchRequest {
        let artifact = self.artifact.unwrap_or(false);
        ResearchRequest { artifact, ..request(self.question, self.roots, self.constraints) }
    }
}

fn request(
    question: String,
    roots: Option<Vec<String>>,
    constraints: Option<ConstraintsInput>,
) -> ResearchRequest {
    ResearchRequest {
        question,
        roots: roots.unwrap_or_default().into_iter().map(PathBuf::from).collect(),
        constraints: constraints.map(ConstraintsInput::constraints).unwrap_or_default(),
        ..ResearchRequest::default()
    }
}
