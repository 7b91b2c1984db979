//! The rows of the tables.

use std::path::PathBuf;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use tamis_git::{BranchName, Commit};
use tamis_store::rusqlite;
use tamis_store::rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::instances::kinds::words;
use crate::{AgentType, Code, FeedbackType, InstanceId, Status};

words! {
    /// How much of an instance there is outside of the database.
    Phase {
        /// Being made, and not listed yet.
        Preparing = "preparing",
        /// Its worktree and its session are there, as far as is known.
        Ready = "ready",
        /// It is over, and its session and worktree are still to be cleaned up.
        Ending = "ending",
        /// It is over and its session is gone. Its worktree stays, for a person or for `gc`.
        Kept = "kept",
        /// Nothing is left of it but its row, and its branch or an undo ref.
        Gone = "gone",
    }
}

words! {
    /// How a review ended.
    ReviewOutcome {
        Feedback = "feedback",
        /// The reviewer made the pull request.
        Approved = "approved",
        /// The reviewer ended without feedback.
        Ended = "ended",
        TimedOut = "timed_out",
    }
}

words! {
    /// What happened.
    EventKind {
        /// An instance is there.
        Created = "instance_created",
        StatusChanged = "status_changed",
        /// A tool was called, and did it or not.
        ToolCalled = "tool_called",
        /// The reconciler repaired something.
        Repaired = "repaired",
        ConfigChanged = "config_changed",
    }
}

words! {
    /// Where an operation of several steps stands.
    OperationState {
        Begun = "begun",
        Done = "done",
        Undone = "undone",
    }
}

/// Milliseconds since 1970, shown as a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub i64);

impl Moment {
    pub fn now() -> Moment {
        Moment(jiff::Timestamp::now().as_millisecond())
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let moment = jiff::Timestamp::from_millisecond(self.0).unwrap_or_default();
        write!(out, "{moment:.3}")
    }
}

impl ToSql for Moment {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for Moment {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Moment> {
        value.as_i64().map(Moment)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What an instance runs: one of the known agents, or a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentChoice {
    /// `claude`, `codex`, `gemini`, `opencode`, or `command`.
    pub agent: String,
    /// More arguments of the agent; for `command`, the program and its arguments.
    #[serde(default)]
    pub args: Vec<String>,
}

impl AgentChoice {
    /// What the agent is called that is just a command.
    pub const COMMAND: &'static str = "command";
}

/// One agent at work, or one that was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Instance {
    pub id: InstanceId,
    #[serde(rename = "type")]
    pub agent_type: AgentType,
    pub status: Status,
    pub phase: Phase,
    /// Why it ended, or what is wrong.
    pub reason: Option<String>,
    pub task: String,
    pub issue: Option<i64>,
    /// What the issue is called, where that could be read.
    pub issue_title: Option<String>,
    #[serde(flatten)]
    pub choice: AgentChoice,
    /// The main worktree of its repository.
    pub repository: PathBuf,
    pub worktree: PathBuf,
    pub branch: BranchName,
    pub base_branch: Option<BranchName>,
    /// Where its branch began.
    pub base_commit: Commit,
    pub session: String,
    pub exit_code: Option<i32>,
    pub pr_number: Option<i64>,
    pub pr_url: Option<String>,
    /// Requests for review that were turned down at the limit; they count as failed reviews.
    pub rejected_requests: u32,
    pub created_at: Moment,
    pub updated_at: Moment,
    pub ended_at: Option<Moment>,
}

impl Instance {
    /// An instance as it begins, without a task yet; its branch and its session are named after it.
    pub(crate) fn preparing(
        id: InstanceId,
        agent_type: AgentType,
        choice: AgentChoice,
        repository: PathBuf,
        worktree: PathBuf,
        base_commit: Commit,
    ) -> Instance {
        let now = Moment::now();
        Instance {
            branch: id.branch(),
            session: id.to_string(),
            id,
            agent_type,
            status: Status::Started,
            phase: Phase::Preparing,
            reason: None,
            task: String::new(),
            issue: None,
            issue_title: None,
            choice,
            repository,
            worktree,
            base_branch: None,
            base_commit,
            exit_code: None,
            pr_number: None,
            pr_url: None,
            rejected_requests: 0,
            created_at: now,
            updated_at: now,
            ended_at: None,
        }
    }
}

/// A coding agent and one that reviews it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Review {
    pub parent_instance: InstanceId,
    pub child_instance: InstanceId,
    pub review_iteration: u32,
    /// The commit that was looked at.
    pub reviewed_commit: Commit,
    /// A hash of what it changes: the same hash means nothing new to review.
    pub work_identity: String,
    pub outcome: Option<ReviewOutcome>,
    pub created_at: Moment,
    pub ended_at: Option<Moment>,
}

/// Feedback of a reviewer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Feedback {
    pub id: String,
    pub review_instance: InstanceId,
    pub coding_instance: InstanceId,
    pub review_iteration: u32,
    pub feedback: String,
    pub feedback_type: FeedbackType,
    pub priority: Option<String>,
    pub actionable_items: Vec<String>,
    /// A hash of the text, to recognise duplicates.
    #[serde(skip)]
    pub digest: String,
    /// The file that it arrives as, relative to the worktree.
    pub path: String,
    /// The blob of that file as it was delivered.
    #[serde(skip)]
    pub blob: Option<String>,
    /// None until it is merged.
    pub git_commit_hash: Option<String>,
    pub created_at: Moment,
    pub delivered_at: Option<Moment>,
    /// When the coding agent was notified in its session.
    pub told_at: Option<Moment>,
}

/// Something that happened. The sequence has no gaps that matter: an event is there once a higher one is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentEvent {
    pub seq: i64,
    pub at: Moment,
    pub kind: EventKind,
    pub instance_id: Option<InstanceId>,
    pub tool_name: Option<String>,
    pub success: Option<bool>,
    pub status_before: Option<Status>,
    pub status_after: Option<Status>,
    pub git_commit: Option<String>,
    pub error_code: Option<String>,
    pub detail: Value,
}

/// An event that is about to be written.
#[derive(Clone, Debug)]
pub(crate) struct NewEvent<'a> {
    pub(crate) kind: EventKind,
    pub(crate) instance: Option<&'a InstanceId>,
    pub(crate) tool: Option<&'a str>,
    pub(crate) success: Option<bool>,
    pub(crate) statuses: Option<(Status, Status)>,
    pub(crate) git_commit: Option<&'a str>,
    pub(crate) error_code: Option<Code>,
    pub(crate) detail: Value,
}

impl<'a> NewEvent<'a> {
    pub(crate) fn of(kind: EventKind, instance: impl Into<Option<&'a InstanceId>>) -> NewEvent<'a> {
        NewEvent {
            kind,
            instance: instance.into(),
            tool: None,
            success: None,
            statuses: None,
            git_commit: None,
            error_code: None,
            detail: Value::Null,
        }
    }
}

/// Several steps that belong together, as they were written down before the first of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operation {
    pub(crate) id: i64,
    /// The idempotency key: a retry with the same key is this very operation.
    pub(crate) call_key: Option<String>,
    pub(crate) tool: String,
    pub(crate) instance: InstanceId,
    pub(crate) state: OperationState,
    /// What is to be done, as the tool that does it writes it.
    pub(crate) plan: Value,
    pub(crate) result: Option<Value>,
    pub(crate) begun_at: Moment,
}
