//! Requests to the coordinator and their answers, in the form of the contract.

use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Deserializer, Serialize};

use crate::instances::records::AgentChoice;
use crate::{AgentType, FeedbackType, InstanceId};

/// A tool's call by an agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentCall<'a> {
    /// The token of the caller's identity, not verified yet.
    pub token: &'a str,
    /// The same for every retry of a call whose answer was lost.
    pub idempotency_key: Option<&'a str>,
    /// When the caller stops waiting. What is not done by then is undone.
    pub deadline: Instant,
}

/// An agent to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartRequest {
    #[serde(rename = "type")]
    pub agent_type: AgentType,
    /// At least one of the two.
    pub issue: Option<i64>,
    pub task: Option<String>,
    /// None: the default agent.
    pub choice: Option<AgentChoice>,
    /// A folder of the repository.
    pub folder: PathBuf,
    /// Where to begin. None: what is checked out there.
    pub base: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestReview {
    pub reviewer_prompt: Option<String>,
    pub completion_message: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRequested {
    pub review_instance_id: InstanceId,
    pub session_name: String,
    pub worktree_path: PathBuf,
    /// The branch that is reviewed.
    pub branch_name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendFeedback {
    pub feedback: String,
    pub feedback_type: FeedbackType,
    pub priority: Option<String>,
    #[serde(default, deserialize_with = "null_as_empty")]
    pub actionable_items: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedbackSent {
    pub feedback_id: String,
    pub git_commit_hash: String,
    pub target_instance_id: InstanceId,
    /// `scheduled`: the reviewer is ended once it has this answer.
    pub cleanup_status: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreatePullRequest {
    pub title: String,
    pub description: String,
    pub base_branch: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequestCreated {
    /// None where there is no GitHub.
    pub pr_number: Option<i64>,
    pub pr_url: Option<String>,
    pub branch_name: String,
    /// What was done, where there is no GitHub or the pull request was open before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<String>,
    /// In the same cases: what is left to do, and how.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_to_do: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateIssues {
    pub issues: Vec<IssueDraft>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueDraft {
    pub title: String,
    pub body: String,
    #[serde(default, deserialize_with = "null_as_empty")]
    pub labels: Vec<String>,
}

/// A server that was started before an upgrade forwards an omitted list as `null`.
fn null_as_empty<'de, D: Deserializer<'de>>(list: D) -> std::result::Result<Vec<String>, D::Error> {
    Ok(Option::deserialize(list)?.unwrap_or_default())
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssuesCreated {
    pub issues: Vec<IssueCreated>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueCreated {
    pub number: i64,
    pub url: String,
    pub title: String,
}

/// Something that the reconciler found, and what it did about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    pub instance: Option<InstanceId>,
    pub found: String,
    pub done: String,
}

/// The result of a clean-up for one instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disposal {
    pub instance: InstanceId,
    /// What was removed, or would be.
    pub removed: Vec<String>,
    /// Why something stays.
    pub kept: Vec<String>,
    /// The reference from which the work can be restored.
    pub undo: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_omitted_list_may_be_null() {
        let feedback = json!({"feedback": "f", "feedback_type": "suggestions", "priority": null});
        let mut with_null = feedback.clone();
        with_null["actionable_items"] = json!(null);
        for input in [feedback, with_null] {
            let read: SendFeedback = serde_json::from_value(input).unwrap();
            assert_eq!(read.actionable_items, Vec::<String>::new());
        }
        let draft: IssueDraft =
            serde_json::from_value(json!({"title": "t", "body": "b", "labels": null})).unwrap();
        assert_eq!(draft.labels, Vec::<String>::new());
        assert!(
            serde_json::from_value::<IssueDraft>(json!({"title": "t", "body": "b", "label": []})).is_err()
        );
    }
}
