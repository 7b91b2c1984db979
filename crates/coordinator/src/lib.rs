//! The coordinator of a data folder's agents, seen from any process.
//!
//! One process coordinates: the one that holds the leader lock. [`AgentService`] is the same in all of them. It sends a typed
//! [`CoordinatorRequest`] through [`CoordinatorApi`] to the [`LocalCoordinator`] of this process, or over HTTP to the
//! [`RemoteCoordinator`] that holds the lock, and retries with the same idempotency key while the lock changes hands.
//!
//! Entry points: [`AgentService::lead`] takes part in the election, [`AgentService::call_tool`] is for the tools of agents,
//! `start`, `stop`, `abandon`, `gc` and `reconcile` for the user, `instances`, `details`, `events` and `feedback` read the
//! tables, redacted, and [`AgentService::follow`] waits for events.
//!
//! Never here: what a request does (`tamis-agents`), how a tool or a route looks to its callers (`tools`, `server`), and a
//! token sent to a process that does not hold the leader lock.

mod follower;
mod interface;
mod leader;
mod local;
mod reads;
mod remote;
mod requests;
mod service;

pub use follower::EventFollower;
pub use interface::{CallOptions, CoordinatorApi, CoordinatorRequest};
pub use leader::Leadership;
pub use local::LocalCoordinator;
pub use reads::{EventPage, EventQuery, InstanceQuery};
pub use remote::{IDEMPOTENCY_KEY_HEADER, RemoteCoordinator, TIME_LEFT_HEADER, was_not_done};
pub use requests::{InstanceName, ToolRequest, bounded, parse_forwarded};
pub use service::{AbsentCoordinator, AgentService, AgentServiceSettings, identity_required};
