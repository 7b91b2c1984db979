//! `request_review`: a coding agent requests a review of its work.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_agents::ReviewRequested;

use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct RequestReview;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestReviewInput {
    /// Prompt of the review agent, in place of the default one.
    reviewer_prompt: Option<String>,
    /// A summary of the work that is done.
    completion_message: Option<String>,
}

impl Operation for RequestReview {
    const NAME: &'static str = "request_review";
    const TOOLSET: Toolset = Toolset::Agents;
    const DESCRIPTION: &'static str = "For coding agents: request a review of what you have committed. A review agent reads \
        it in its own worktree, and its feedback is merged into your branch; you receive a message when it arrives. The \
        number of reviews is limited.";
    const READ_ONLY: bool = false;
    type Input = RequestReviewInput;
    type Output = ReviewRequested;

    async fn run(input: RequestReviewInput, context: Context) -> Result<ReviewRequested, Failure> {
        let RequestReviewInput { reviewer_prompt, completion_message } = input;
        let request = tamis_agents::RequestReview { reviewer_prompt, completion_message };
        super::call(&context, request).await
    }
}
