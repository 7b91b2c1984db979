//! Every operation of tamis, one file each: its name, input, output and handler.
//!
//! A door (MCP over stdio or HTTP, `/rpc`, a route, the command line) parses its own envelope, hands the arguments
//! to [`Registry::call`] together with a [`Context`], and writes the [`Reply`] in its own form. The input
//! of an operation and the form of its errors are defined here, once.
//!
//! A door must not read arguments or choose the code of an error.

mod agents;
mod bash;
mod context;
mod failure;
mod grep;
mod health;
mod input;
mod metrics;
mod prune_code;
mod prune_text;
mod read;
mod recover_text;
mod registry;
mod remote_pruner;
pub mod request;
mod research;
mod schema;
mod services;
mod toolset;
mod trace;
mod workbench;

pub use bash::assembled_output;
pub use context::{Access, Context, Credentials, Progress, ProgressUpdate};
pub use failure::Failure;
pub use metrics::{Metrics, Pending};
pub use registry::{Operation, Registry, Tool, Visibility};
pub use remote_pruner::RemotePruner;
pub use research::Research;
pub use services::{PruneJob, Services};
pub use tamis_agents::{AgentsError, IDENTITY_PREFIX};
pub use tamis_sieve::Caller;
pub use toolset::{Reply, RpcError, Toolset};
pub use trace::Sessions;
pub use workbench::{Pruner, Workbench, limit_note};
