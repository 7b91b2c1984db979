//! Coding, review and planning agents: each an instance with a git worktree, a branch, a tmux session and a row.
//!
//! Everything that happens to instances happens through the coordinator, of which there is one for a data folder. It writes
//! down what it is about to do, does it, and writes down that it is done; so whoever coordinates next can finish or undo
//! what was interrupted.
//!
//! Deliberately missing: any judgement of the work. Agents review, people merge.

mod error;
pub mod faults;
mod git;
mod github;
mod id;
mod identity;
mod kinds;
mod launch;
mod prompts;
mod tmux;

pub use error::{AgentsError, Code, Result};
pub use id::{IdError, InstanceId};
pub use kinds::{AgentType, FeedbackType, Status, TRANSITIONS};
pub use launch::{
    Environment, LOG_FLAG, Launch, SESSION_COMMAND, SessionFiles, agent_environment, keep_log, run_session,
};
pub use prompts::{
    PastReview, PlanningPrompt, RepositoryFacts, ReviewPrompt, Task, WorkPrompt, planning_prompt,
    review_prompt, work_prompt,
};
pub use tmux::{Session, Tmux, plain_text};
