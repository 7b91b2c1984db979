//! What the research tools take.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_research::{ResearchConstraints, ResearchRequest, Role};

use crate::input::{Maybe, Whole};

// Plain comments on the forms themselves: what they document goes into the schema that a model reads.

// Limits of one call, in place of those that are configured.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ConstraintsInput {
    /// Milliseconds it may take; 30000 unless configured otherwise.
    #[serde(default, alias = "deadline_ms")]
    deadline_ms: Maybe<Whole<1>>,
    /// Files it may read; 50 unless configured otherwise.
    #[serde(default, alias = "max_files_read")]
    max_files_read: Maybe<Whole<0>>,
    /// Bytes it may read; 1048576 unless configured otherwise.
    #[serde(default, alias = "max_bytes_read")]
    max_bytes_read: Maybe<Whole<0>>,
    /// Tokens the report may have; 2000 unless configured otherwise.
    #[serde(default, alias = "max_tokens")]
    max_tokens: Maybe<Whole<1>>,
}

impl ConstraintsInput {
    fn constraints(self) -> ResearchConstraints {
        ResearchConstraints {
            deadline_ms: self.deadline_ms.0.map(|number| number.0),
            max_files_read: self.max_files_read.0.map(|number| number.0),
            max_bytes_read: self.max_bytes_read.0.map(|number| number.0),
            max_tokens: self.max_tokens.0.map(|number| number.0),
        }
    }
}

// The input of a tool for one role. Models also name the question after the tool's subject.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoleInput {
    /// What you want to know, in words; identifiers and file names help.
    #[serde(alias = "query", alias = "pattern", alias = "component")]
    question: String,
    /// Look only into these folders; each must be one that list_roots names, or lie in one.
    #[serde(default)]
    roots: Maybe<Vec<String>>,
    /// Limits of this call.
    #[serde(default)]
    constraints: Maybe<ConstraintsInput>,
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
    /// What you want to know, in words; identifiers and file names help.
    #[serde(alias = "query", alias = "pattern", alias = "component")]
    question: String,
    /// Look only into these folders; each must be one that list_roots names, or lie in one.
    #[serde(default)]
    roots: Maybe<Vec<String>>,
    /// Limits of this call.
    #[serde(default)]
    constraints: Maybe<ConstraintsInput>,
    /// Also write the answer to a file, whose path is in artifactPath.
    #[serde(default)]
    artifact: Maybe<bool>,
}

impl ResearchInput {
    pub(crate) fn request(self) -> ResearchRequest {
        let artifact = self.artifact.0.unwrap_or(false);
        ResearchRequest { artifact, ..request(self.question, self.roots, self.constraints) }
    }
}

fn request(
    question: String,
    roots: Maybe<Vec<String>>,
    constraints: Maybe<ConstraintsInput>,
) -> ResearchRequest {
    ResearchRequest {
        question,
        roots: roots.0.unwrap_or_default().into_iter().map(PathBuf::from).collect(),
        constraints: constraints.0.map(ConstraintsInput::constraints).unwrap_or_default(),
        ..ResearchRequest::default()
    }
}
