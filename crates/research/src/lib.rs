//! Questions about a codebase, answered in few tokens with evidence.
//!
//! A question goes to roles: the **locator** says where things are, the **analyzer** how they work, the **pattern finder**
//! shows how it is done elsewhere, **thoughts** what was written down before. Each role is a task of a fixed [`WorkerPool`], has a
//! share of the request's [`ReadBudget`], sees files only through a [`BoundedReader`], and ends in a [`ResearchFinding`] or a [`RoleError`]. The
//! synthesis makes one report of them.
//!
//! A role works in two ways. Without a model it is deterministic: words and identifiers of the question against paths,
//! definitions and contents. With a local model it is a loop in which the model calls read-only tools, and its answer is
//! checked against the files before anybody sees it.
//!
//! File and byte limits count what is read for an answer, not what is scanned to find it.

mod bounds;
mod error;
mod handoff;
mod limits;
mod locate;
mod model;
mod question;
mod reader;
mod report;
mod researcher;
mod role_runner;
mod roles;
mod synthesis;
mod worker_pool;

pub use error::{RoleError, RoleErrorKind};
pub use handoff::{
    ArtifactError, Handoff, ReferenceState, ResumeError, ResumedHandoff, list_handoffs, resume_handoff,
    write_artifact, write_handoff,
};
pub use limits::{ReadBudget, ResearchConstraints, ResearchLimits, ResearchUsage};
pub use model::{Model, ModelLimits, ModelSettings, ModelTask, ModelUse};
pub use reader::{BoundedReader, ReadError, SourceFile};
pub use report::{
    Confidence, Reference, ResearchFinding, ResearchReport, Role, RoleOutcome, RoleTiming, RunRecord,
};
pub use researcher::{ResearchError, ResearchProgress, ResearchRequest, ResearchSettings, Researcher};
pub use role_runner::{CustomRoles, RoleTask};
pub use worker_pool::{QueueFull, TaskHandle, WorkerPool};
