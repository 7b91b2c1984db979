//! `resume_handoff`: what was known, and whether it still holds.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_research::ResumedHandoff;

use super::call::blocking_with;
use super::handoff::read;
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct ResumeHandoff;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResumeHandoffInput {
    /// Path or part of the name.
    #[serde(default, alias = "path", alias = "handoff", alias = "artifactPath")]
    name: Option<String>,
}

impl Operation for ResumeHandoff {
    const NAME: &'static str = "resume_handoff";
    const TOOLSET: Toolset = Toolset::Research;
    const DESCRIPTION: &'static str = "Read a handoff, by default the latest, and report which of its references \
        changed.";
    const READ_ONLY: bool = true;
    type Input = ResumeHandoffInput;
    type Output = ResumedHandoff;

    async fn run(input: ResumeHandoffInput, context: Context) -> Result<ResumedHandoff, Failure> {
        blocking_with(&context, move |researcher| read(researcher, input.name.as_deref())).await
    }
}
