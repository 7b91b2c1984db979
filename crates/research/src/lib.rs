//! Answers questions about a codebase in few tokens, with `path:line` evidence.
//!
//! Entry points: [`Researcher::research`] runs all roles that a question needs, or one of them; [`Researcher::write_handoff`] and
//! [`Researcher::resume_handoff`] write and read memos. A question is parsed (`question`), files are ranked (`locate`), and
//! `roles` work from there: the **locator** finds where things are, the **analyzer** how they work, **patterns** how it is done elsewhere,
//! **thoughts** what notes say. Each role is a task of the [`WorkerPool`], reads through a [`BoundedReader`] within the request's
//! limits, and ends in a [`ResearchFinding`] or a [`RoleError`]; `synthesis` makes one [`ResearchReport`] of them. Without a model
//! the roles are deterministic; with one (`model`) they are a loop of read-only tool calls whose answer is checked.
//!
//! It must never write outside the artifacts folder, return text that is not redacted, cite a file that does not exist, or decide
//! by the wording of a sentence: facts are typed (`report`), and words are chosen where text is written.

mod bounds;
mod code_lines;
mod definitions;
mod error;
mod handoff;
mod limits;
mod locate;
mod model;
mod question;
mod reader;
mod reference_lines;
mod report;
mod researcher;
mod role_runner;
mod roles;
mod synthesis;
mod worker_pool;

pub use error::{RoleError, RoleErrorKind};
pub use handoff::{
    ArtifactError, Handoff, HandoffSummary, ReferenceState, ResumeError, ResumedHandoff, list_handoffs,
    resume_handoff, write_artifact, write_handoff,
};
pub use limits::{ReadBudget, ResearchConstraints, ResearchLimits, ResearchUsage};
pub use locate::Category;
pub use model::{Model, ModelLimits, ModelSettings, ModelTask, ModelUse};
pub use reader::{BoundedReader, SourceFile, SourceReadError};
pub use reference_lines::{ReferenceError, ReferenceLines};
pub use report::{
    Confidence, FindingKind, KeyFinding, NotFound, NoteFact, Reference, ReportNote, ResearchFinding,
    ResearchReport, Role, RoleOutcome, RoleTiming, RunRecord, joined,
};
pub use researcher::{
    ResearchError, ResearchProgress, ResearchRequest, ResearchSettings, ResearchStep, Researcher,
};
pub use role_runner::{CustomRoles, RoleTask};
pub use worker_pool::{QueueFull, WorkerPool};
