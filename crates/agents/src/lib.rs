//! Coding, review and planning agents: each an instance with a git worktree, a branch, a tmux session and a row.
//!
//! Everything that happens to instances happens through the coordinator, of which there is one for a data folder. It writes
//! down what it is about to do, does it, and writes down that it is done; so whoever coordinates next can finish or undo
//! what was interrupted.
//!
//! Deliberately missing: any judgement of the work. Agents review, people merge.

mod agent;
mod archive;
mod calls;
mod cleanup;
mod coordinator;
mod db;
mod dispose;
mod ending;
mod equip;
mod error;
pub mod faults;
mod feedback;
mod holds;
mod id;
mod identity;
mod issues;
mod kinds;
mod launch;
mod operations;
mod prompting;
mod prompts;
mod pull;
mod pull_body;
mod reconcile;
mod records;
mod redaction;
mod review;
mod start;
mod tmux;
mod tools;
mod user_config;

pub use archive::{Archive, ConfigValue, InstanceDetails};
pub use calls::{
    CreateIssues, CreatePullRequest, Disposal, FeedbackSent, Finding, IssueCreated, IssuesCreated, NewIssue,
    PullRequestCreated, RequestReview, ReviewRequested, SendFeedback, StartRequest, ToolCall,
};
pub use coordinator::{
    Coordinator, LockHolder, Settings, has_begun, is_leader_lock_held, lock_holder, log_file,
};
pub use error::{AgentsError, Code, ErrorObject, Result};
pub use id::{IdError, InstanceId};
pub use identity::{Identity, PREFIX as IDENTITY_PREFIX};
pub use kinds::{AgentType, FeedbackType, Status, TRANSITIONS};
pub use launch::{
    Environment, LOG_FLAG, Launch, SESSION_COMMAND, SessionFiles, agent_environment, keep_log, run_session,
};
pub use prompts::{
    PastReview, PlanningPrompt, RepositoryFacts, ReviewPrompt, Task, TaskIssue, WorkPrompt, planning_prompt,
    review_prompt, work_prompt,
};
pub use records::{AgentChoice, AgentEvent, EventKind, Feedback, Instance, Moment, Outcome, Phase, Review};
pub use tmux::{Session, Tmux, plain_text};
pub use user_config::{AGENTS, Shape, USER_SETTINGS, UserSetting, user_setting};
