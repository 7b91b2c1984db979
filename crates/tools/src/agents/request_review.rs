//! `request_review`: a coding agent wants its work looked at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_agents::{RequestReview as Asked, ReviewRequested};

use super::call;
use crate::input::Maybe;
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct RequestReview;

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestReviewInput {
    /// What the reviewer should look at, in place of a review of everything.
    #[serde(default)]
    reviewer_prompt: Maybe<String>,
    /// A summary of the work that is done.
    #[serde(default)]
    completion_message: Maybe<String>,
}

impl Operation for RequestReview {
    const NAME: &'static str = "request_review";
    const TOOLSET: Toolset = Toolset::Agents;
    const DESCRIPTION: &'static str = "For coding agents: ask for a review of what you have committed. A review agent looks \
        at it in a worktree of its own, and what it says is merged into your branch; you are told when it is there. The \
        number of reviews is limited.";
    const READ_ONLY: bool = false;
    type Input = RequestReviewInput;
    type Output = ReviewRequested;

    async fn run(input: RequestReviewInput, context: Context) -> Result<ReviewRequested, Failure> {
        call::run(&context, Self::NAME, input, |coordinator, call, input| {
            let RequestReviewInput { reviewer_prompt, completion_message } = input;
            let asked =
                Asked { reviewer_prompt: reviewer_prompt.0, completion_message: completion_message.0 };
            coordinator.request_review(call, &asked)
        })
        .await
    }
}
