//! The tools of agents that are started, and everything else that doors do with them.
//!
//! One process of a data folder coordinates; [`Agents`] is the same in all of them. What is asked of it is done here if this
//! is that process, and else there.

mod call;
mod coordinate;
pub(crate) mod create_issues;
pub(crate) mod create_pull_request;
mod desk;
mod errand;
mod follow;
mod manage;
pub(crate) mod request_review;
pub(crate) mod send_feedback;
mod show;
mod wire;

pub(crate) use call::{identity_needed, refused};
pub use coordinate::Standing;
pub use desk::{Agents, AgentsSettings, Vacancy};
pub use errand::was_not_done;
pub use follow::Follower;
pub use show::{EventsAsked, EventsShown, InstancesAsked};
