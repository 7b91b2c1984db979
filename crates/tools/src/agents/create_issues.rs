//! `create_issues`: a planning agent opens issues.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_agents::{IssueDraft, IssuesCreated};

use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct CreateIssues;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateIssuesInput {
    /// The issues, in the order of creation.
    issues: Vec<IssueInput>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct IssueInput {
    /// The task, in one line.
    title: String,
    /// Everything the person or agent doing the work needs to know, in Markdown.
    body: String,
    /// Existing labels of the repository.
    labels: Option<Vec<String>>,
}

impl Operation for CreateIssues {
    const NAME: &'static str = "create_issues";
    const TOOLSET: Toolset = Toolset::Agents;
    const DESCRIPTION: &'static str =
        "For planning agents: open issues on GitHub for what you have planned, one for each piece of work.";
    const READ_ONLY: bool = false;
    type Input = CreateIssuesInput;
    type Output = IssuesCreated;

    async fn run(input: CreateIssuesInput, context: Context) -> Result<IssuesCreated, Failure> {
        let issue = |issue: IssueInput| IssueDraft {
            title: issue.title,
            body: issue.body,
            labels: issue.labels.unwrap_or_default(),
        };
        let issues = input.issues.into_iter().map(issue).collect();
        super::call(&context, tamis_agents::CreateIssues { issues }).await
    }
}
