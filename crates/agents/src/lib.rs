//! Coding, review and planning agents: each an instance with a git worktree, a branch, a tmux session and a row.
//!
//! Only the [`Coordinator`] changes instances, and one process of a data folder has it: [`Coordinator::claim`] takes the leader
//! lock. It writes its intent to the journal, acts, and records the outcome; so the next coordinator can finish or undo what
//! was interrupted. [`Archive`] reads the tables, which any process may.
//!
//! Where to look: `instances` for names, identities, statuses and rows, `review` for the review loop and prompts,
//! `pull_requests` for GitHub, `launch` for tmux and starting, `cleanup` for ending and gc, `journal` for the journal and the
//! reconciler, `db` for all SQL.
//!
//! Never: a judgement of the work (agents review, people merge), a text of an agent in a shell, a deletion of what is not
//! proven to be elsewhere.

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
pub use instances::user_config::{AGENTS, user_setting};
pub use instances::work::{AbandonPreview, WorkDiff, WorkReader};
pub use launch::session_file::{
    Environment, LOG_FLAG, Launch, SessionFiles, agent_environment, keep_log, run_session,
};
pub use launch::tmux::{Tmux, TmuxSession, plain_text};
