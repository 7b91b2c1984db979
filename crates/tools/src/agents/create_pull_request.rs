//! `create_pull_request`: an agent opens a pull request for its branch.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_agents::PullRequestCreated;

use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct CreatePullRequest;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreatePullRequestInput {
    /// The pull request's title.
    title: String,
    /// What it changes, and why. A summary of the reviews is put below.
    description: String,
    /// The branch to pull it into (default: main, or the one that the work began on where there is no main).
    base_branch: Option<String>,
}

impl Operation for CreatePullRequest {
    const NAME: &'static str = "create_pull_request";
    const ALIASES: &'static [&'static str] = &["create_pr"];
    const TOOLSET: Toolset = Toolset::Agents;
    const DESCRIPTION: &'static str = "Push your branch and open a pull request for it on GitHub. From a review agent it is \
        for the branch under review, and approves it. Without GitHub the answer says what was done and what is left to do.";
    const READ_ONLY: bool = false;
    type Input = CreatePullRequestInput;
    type Output = PullRequestCreated;

    async fn run(input: CreatePullRequestInput, context: Context) -> Result<PullRequestCreated, Failure> {
        let CreatePullRequestInput { title, description, base_branch } = input;
        let request = tamis_agents::CreatePullRequest { title, description, base_branch };
        super::call(&context, request).await
    }
}
