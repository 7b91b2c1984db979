//! `create_handoff`: what is known so far, on disk, to begin again with.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_research::{Handoff, Reference, ResearchRequest, ResumedHandoff};

use super::call::{answer, blocking_with};
use super::failure::{artifact_failed, invalid_parameter};
use super::handoff::{name_of, not_written, read};
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct CreateHandoff;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateHandoffInput {
    /// Question or task.
    #[serde(alias = "topic", alias = "title", alias = "query")]
    question: String,
    /// What is known, in 2 to 6 sentences.
    summary: Option<String>,
    /// Findings, one each.
    key_findings: Option<Vec<String>>,
    /// path, path:line or path:line:col.
    references: Option<Vec<String>>,
    /// Open points and next steps.
    notes: Option<String>,
}

impl Operation for CreateHandoff {
    const NAME: &'static str = "create_handoff";
    const TOOLSET: Toolset = Toolset::Research;
    const DESCRIPTION: &'static str = "Save the state of a task to a file, for resume_handoff. With only a \
        question, research the codebase for it. Secrets are redacted.";
    const READ_ONLY: bool = false;
    type Input = CreateHandoffInput;
    type Output = ResumedHandoff;

    async fn run(input: CreateHandoffInput, context: Context) -> Result<ResumedHandoff, Failure> {
        if input.question.trim().is_empty() {
            return Err(invalid_parameter("question", "it is empty"));
        }
        let texts = |list: Option<Vec<String>>| list.unwrap_or_default();
        let (key_findings, references) = (texts(input.key_findings), texts(input.references));
        let Some(summary) = input.summary.filter(|summary| !summary.trim().is_empty()) else {
            // Research would write something else in its place.
            if !key_findings.is_empty() || !references.is_empty() || input.notes.is_some() {
                let why = "it is missing; key_findings, references and notes require a summary";
                return Err(invalid_parameter("summary", why));
            }
            return of_research(input.question, context).await;
        };
        let handoff = Handoff {
            question: input.question,
            summary,
            key_findings,
            references: references.into_iter().map(Reference::from).collect(),
            notes: input.notes,
            ..Handoff::default()
        };
        blocking_with(&context, move |researcher| {
            let path = researcher.write_handoff(handoff).map_err(not_written)?;
            read(researcher, name_of(&path))
        })
        .await
    }
}

async fn of_research(question: String, context: Context) -> Result<ResumedHandoff, Failure> {
    let request = ResearchRequest { question, artifact: true, ..ResearchRequest::default() };
    let report = answer(request, context.clone()).await?;
    let Some(path) = &report.artifact_path else {
        let why = report.artifact_error().unwrap_or("nothing was written");
        return Err(artifact_failed(why, "Set TAMIS_ARTIFACTS to another folder."));
    };
    let path = PathBuf::from(path);
    blocking_with(&context, move |researcher| read(researcher, name_of(&path))).await
}
