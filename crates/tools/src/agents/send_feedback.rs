//! `send_feedback`: a review agent gives its feedback, and ends.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_agents::{FeedbackSent, FeedbackType};

use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct SendFeedback;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendFeedbackInput {
    /// What you think of the work, in detail.
    feedback: String,
    /// Whether the work has to be changed, could be, or has to be explained.
    feedback_type: Kind,
    /// How urgent it is.
    priority: Option<String>,
    /// What is to be done, one thing each.
    actionable_items: Option<Vec<String>>,
}

/// What a reviewer wants of the feedback.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    NeedsWork,
    Suggestions,
    Clarification,
}

impl From<Kind> for FeedbackType {
    fn from(kind: Kind) -> FeedbackType {
        match kind {
            Kind::NeedsWork => FeedbackType::NeedsWork,
            Kind::Suggestions => FeedbackType::Suggestions,
            Kind::Clarification => FeedbackType::Clarification,
        }
    }
}

impl Operation for SendFeedback {
    const NAME: &'static str = "send_feedback";
    const TOOLSET: Toolset = Toolset::Agents;
    const DESCRIPTION: &'static str = "For review agents: give your feedback to the coding agent whose work you review. It is \
        merged into its branch as a file, and your session ends with it. Call it once, when you are done.";
    const READ_ONLY: bool = false;
    type Input = SendFeedbackInput;
    type Output = FeedbackSent;

    async fn run(input: SendFeedbackInput, context: Context) -> Result<FeedbackSent, Failure> {
        let SendFeedbackInput { feedback, feedback_type, priority, actionable_items } = input;
        let request = tamis_agents::SendFeedback {
            feedback,
            feedback_type: feedback_type.into(),
            priority,
            actionable_items: actionable_items.unwrap_or_default(),
        };
        super::call(&context, request).await
    }
}
