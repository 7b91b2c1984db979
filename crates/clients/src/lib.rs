//! What is known of each coding agent for running it: how it is started, what it reports, how it is ended.
//!
//! A run has two parts, as the contract draws the line. The runner decides whether the pruner's MCP server is wired in
//! and follows the [`Lifecycle`]; it tracks no process. The provider owns all processes: it knows how its agent takes a
//! configuration ([`Provider`]), and ends the agent, the MCP servers that the agent started and everything else below
//! them ([`minder`]).
//!
//! The agent starts the MCP server, not we; so what becomes of the server is known from what the agent reports, and
//! from nothing else.
//!
//! Deliberately missing: restarting a server, or an agent. What failed stays so until the next run.

mod claude;
mod codex;
mod event;
mod interactive;
mod json;
mod lifecycle;
mod programs;
mod provider;
mod tally;
mod wiring;

#[cfg(unix)]
mod canceller;
#[cfg(unix)]
mod descendants;
#[cfg(unix)]
pub mod minder;
#[cfg(unix)]
pub mod processes;
#[cfg(unix)]
mod run;

pub use event::{Event, ServerStatus, Stream, Tool};
pub use interactive::{
    INTERACTIVE_AGENTS, Interactive, InteractiveAgent, InteractiveOptions, interactive_agent,
};
pub use lifecycle::{Lifecycle, RunEvent, RunState, TRANSITIONS, Transition};
pub use programs::{find_program, is_program};
pub use provider::{McpServer, McpServers, Provider, Reading, RunOptions, Transcript, provider_named};
pub use tally::{Call, Tally};
pub use wiring::{
    DEFAULT_PRUNER_URL, PRUNER, PrunerSettings, Resolution, Wiring, WiringError, approved_tools, wire_pruner,
};

#[cfg(unix)]
pub use canceller::Canceller;
#[cfg(unix)]
pub use run::{Ending, Output, Request, Run, RunError, Running};

/// Every agent that can be run.
pub const PROVIDERS: &[&dyn Provider] = &[&claude::Claude, &codex::Codex];
