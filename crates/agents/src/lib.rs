//! Coding, review and planning agents: each an instance with a git worktree, a branch, a tmux session and a row.
//!
//! Everything that happens to instances happens through the coordinator, of which there is one for a data folder. It writes
//! down what it is about to do, does it, and writes down that it is done; so whoever coordinates next can finish or undo
//! what was interrupted.
//!
//! Deliberately missing: any judgement of the work. Agents review, people merge.

mod calls;
mod cleanup;
mod coordinator;
mod db;
mod error;
pub mod faults;
mod instances;
mod journal;
mod launch;
mod pull_requests;
mod redaction;
mod review;
mod tools;

pub use calls::{
    AgentCall, CreateIssues, CreatePullRequest, Disposal, FeedbackSent, IssueCreated, IssueDraft,
    IssuesCreated, PullRequestCreated, Repair, RequestReview, ReviewRequested, SendFeedback, StartRequest,
};
pub use coordinator::{
    Coordinator, CoordinatorSettings, LockHolder, has_begun, is_leader_lock_held, lock_holder, log_file,
};
pub use error::{AgentsError, Code, ErrorObject, Result};
pub use instances::archive::{Archive, ConfigValue, InstanceDetails};
pub use instances::id::{IdError, InstanceId};
pub use instances::identity::{Identity, PREFIX as IDENTITY_PREFIX};
pub use instances::kinds::{AgentType, FeedbackType, Status, TRANSITIONS};
pub use instances::records::{
    AgentChoice, AgentEvent, EventKind, Feedback, Instance, Moment, Phase, Review, ReviewOutcome,
};
pub use instances::user_config::{AGENTS, Shape, USER_SETTINGS, UserSetting, user_setting};
pub use launch::session_file::{
    Environment, LOG_FLAG, Launch, SESSION_COMMAND, SessionFiles, agent_environment, keep_log, run_session,
};
pub use launch::tmux::{Tmux, TmuxSession, plain_text};
pub use review::prompts::{
    PastReview, PlanningPrompt, RepositoryFacts, ReviewPrompt, Task, TaskIssue, WorkPrompt, planning_prompt,
    review_prompt, work_prompt,
};
