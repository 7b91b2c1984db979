//! Instances, their reviews and what they did.

mod details;
mod list;
mod work;

use std::sync::Arc;

use serde::Serialize;
use tamis_agents::{Feedback, Instance, InstanceId, Moment, Review};
use tamis_coordinator::AgentService;
use tamis_logs::event::Millis;
use tamis_redact::Redacted;

use crate::{Dashboard, PageError, PageErrorKind};

pub use details::{
    AgentEventQuery, AgentLogQuery, PageAgent, PageAgentEvent, PageAgentEvents, PageAgentLog,
    PageEventDetail, PageFeedback,
};
pub use list::{
    AgentListQuery, AgentState, PageAgentCounts, PageAgents, PageCoordination, PageFamily, PageReviewLimits,
    PageReviewUse,
};
pub use work::{AgentDiffQuery, PageAbandon, PageDiff, PageDiffFile, PageDiffHunk, PageDiffLine};

/// An instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageInstance {
    #[cfg_attr(test, ts(as = "String"))]
    pub id: InstanceId,
    #[serde(rename = "type")]
    #[cfg_attr(test, ts(type = "'coding' | 'review' | 'planning'"))]
    pub agent_type: &'static str,
    #[cfg_attr(
        test,
        ts(
            type = "'STARTED' | 'WAITING_REVIEW' | 'PR_CREATED' | 'PR_MERGED' | 'PR_CLOSED' | 'ABANDONED' | 'TERMINATED'"
        )
    )]
    pub status: &'static str,
    /// Whether its agent should be running.
    pub is_live: bool,
    #[cfg_attr(test, ts(type = "'preparing' | 'ready' | 'ending' | 'kept' | 'gone'"))]
    pub phase: &'static str,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub reason: Option<Redacted>,
    #[cfg_attr(test, ts(as = "String"))]
    pub task: Redacted,
    pub issue: Option<i64>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub issue_title: Option<Redacted>,
    /// `claude`, `codex`, `gemini`, `opencode` or `command`.
    #[cfg_attr(test, ts(as = "String"))]
    pub agent: Redacted,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub arguments: Vec<Redacted>,
    #[cfg_attr(test, ts(as = "String"))]
    pub repository: Redacted,
    #[cfg_attr(test, ts(as = "String"))]
    pub branch: Redacted,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub base_branch: Option<Redacted>,
    pub base_commit: String,
    #[cfg_attr(test, ts(as = "String"))]
    pub worktree: Redacted,
    pub exit_code: Option<i32>,
    pub pr_number: Option<i64>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub pr_url: Option<Redacted>,
    pub rejected_requests: u32,
    pub created: Millis,
    pub updated: Millis,
    pub ended: Option<Millis>,
}

/// A review of a coding agent's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageReview {
    #[cfg_attr(test, ts(as = "String"))]
    pub coding: InstanceId,
    #[cfg_attr(test, ts(as = "String"))]
    pub reviewer: InstanceId,
    pub iteration: u32,
    pub commit: String,
    #[cfg_attr(test, ts(type = "'feedback' | 'approved' | 'ended' | 'timed_out' | null"))]
    pub outcome: Option<&'static str>,
    /// What the reviewer wants, where it gave feedback.
    #[cfg_attr(test, ts(type = "'needs_work' | 'suggestions' | 'clarification' | null"))]
    pub wants: Option<&'static str>,
    /// The number of its actionable items.
    pub items: usize,
    pub created: Millis,
    pub ended: Option<Millis>,
}

impl PageInstance {
    fn new(instance: Instance) -> PageInstance {
        let is_live = instance.status.is_live();
        let instance = Redacted::new(instance).into_inner();
        let path = |path: &std::path::Path| Redacted::from(path.to_string_lossy().into_owned());
        PageInstance {
            agent_type: instance.agent_type.as_str(),
            status: instance.status.as_str(),
            is_live,
            phase: instance.phase.as_str(),
            reason: instance.reason.map(Redacted::from),
            task: instance.task.into(),
            issue: instance.issue,
            issue_title: instance.issue_title.map(Redacted::from),
            agent: instance.choice.agent.into(),
            arguments: instance.choice.args.into_iter().map(Redacted::from).collect(),
            repository: path(&instance.repository),
            branch: instance.branch.as_str().into(),
            base_branch: instance.base_branch.as_ref().map(|branch| branch.as_str().into()),
            base_commit: instance.base_commit.as_str().to_owned(),
            worktree: path(&instance.worktree),
            exit_code: instance.exit_code,
            pr_number: instance.pr_number,
            pr_url: instance.pr_url.map(Redacted::from),
            rejected_requests: instance.rejected_requests,
            created: instance.created_at.0,
            updated: instance.updated_at.0,
            ended: instance.ended_at.map(|at: Moment| at.0),
            id: instance.id,
        }
    }
}

impl PageReview {
    fn new(review: &Review, feedback: &[Feedback]) -> PageReview {
        let given = feedback.iter().find(|feedback| feedback.review_instance == review.child_instance);
        PageReview {
            coding: review.parent_instance.clone(),
            reviewer: review.child_instance.clone(),
            iteration: review.review_iteration,
            commit: review.reviewed_commit.as_str().to_owned(),
            outcome: review.outcome.map(|outcome| outcome.as_str()),
            wants: given.map(|feedback| feedback.feedback_type.as_str()),
            items: given.map_or(0, |feedback| feedback.actionable_items.len()),
            created: review.created_at.0,
            ended: review.ended_at.map(|at| at.0),
        }
    }
}

impl Dashboard {
    /// The agents of the data folder.
    pub(crate) fn agent_service(&self) -> Result<&Arc<AgentService>, PageError> {
        self.services
            .agents()
            .ok_or_else(|| PageError::new(PageErrorKind::Unavailable, "agents are not served here"))
    }
}

/// The name of an instance in an address.
fn parse_id(id: &str) -> Result<InstanceId, PageError> {
    id.parse().map_err(|error: tamis_agents::IdError| {
        PageError::new(PageErrorKind::NotFound, error.to_string())
            .hint("`tamis agents list` lists the instances")
    })
}
