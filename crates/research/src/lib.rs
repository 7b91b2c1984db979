//! Questions about a codebase, answered in few tokens with evidence.
//!
//! A question goes to roles: the **locator** says where things are, the **analyzer** how they work, the **pattern finder**
//! shows how it is done elsewhere, **thoughts** what was written down before. Each role is a task of a fixed [`Pool`], has a
//! share of the request's [`Allowance`], sees files only through a [`View`], and ends in a [`Finding`] or a [`Fault`]. The
//! synthesis makes one report of them.
//!
//! A role works in two ways. Without a model it is deterministic: words and identifiers of the question against paths,
//! definitions and contents. With a local model it is a loop in which the model calls read-only tools, and its answer is
//! checked against the files before anybody sees it.
//!
//! File and byte limits count what is read for an answer, not what is scanned to find it.

mod artifact;
mod bounds;
mod class;
mod crew;
mod fault;
mod handoff;
mod index;
mod limits;
mod map;
mod memo;
mod model;
mod pool;
mod question;
mod rank;
mod report;
mod researcher;
mod resume;
mod roles;
mod survey;
mod synthesis;
mod tally;
mod view;

pub use artifact::{ArtifactError, write_artifact, write_handoff};
pub use crew::{Assignment, StandIn};
pub use fault::{Fault, FaultKind};
pub use handoff::Handoff;
pub use index::{IndexSettings, IndexUse};
pub use limits::{Allowance, Constraints, Limits, Used};
pub use model::{Effort, Model, ModelSettings, ModelTask, ModelUse};
pub use pool::{Pool, Saturated, Ticket};
pub use report::{Confidence, Finding, Outcome, Reference, Report, Role, RunRecord, Timing};
pub use researcher::{Progress, Request, ResearchError, Researcher, Settings};
pub use resume::{ResumeError, Resumed, Standing, list_handoffs, resume_handoff};
pub use view::{NotRead, Source, View};
