//! Running the coding agents (clients): how each is started, what it reports, how it is ended.
//!
//! Entry points: [`PreparedRun`] for a run without a user, [`INTERACTIVE_AGENTS`] for a session in a terminal,
//! [`PROVIDERS`] for the clients that can be run.
//!
//! The contract splits a run in two. The runner decides whether the pruner's MCP server is wired in and follows the
//! [`RunLifecycle`]; it tracks no process. The provider owns all processes: it knows how its client is configured
//! ([`Provider`]), and ends the client, the MCP servers that the client started and everything else below them ([`tamis_process::run_minder`]).
//!
//! The client starts the MCP server, so the server's state is known only from what the client reports. This crate must
//! never restart a server or a client: what failed stays failed until the next run.

mod claude;
mod client;
mod codex;
mod event;
mod hooks;
mod interactive;
mod json;
mod lifecycle;
mod programs;
mod provider;
mod run;
mod totals;
mod wiring;

pub use client::Client;
pub use event::{ClientEvent, ClientTool, McpServerStatus, OutputStream};
pub use hooks::{ClientHooks, HookEvent, HookedOutput, HookedTool};
pub use interactive::{
    INTERACTIVE_AGENTS, InteractiveAgent, InteractiveLaunch, InteractiveOptions, interactive_agent,
};
pub use lifecycle::{RunEvent, RunLifecycle, RunState, RunTransition, TRANSITIONS};
pub use programs::{find_program, is_program};
pub use provider::{McpServer, McpServers, OutputParser, ParsedLine, Provider, RunOptions, provider_named};
pub use totals::{ClientToolCall, RunTotals};
pub use wiring::{
    DEFAULT_PRUNER_URL, PRUNER, PrunerSettings, PrunerWiring, ServerLookup, WiringError, approved_tools,
    wire_pruner,
};

pub use run::{ActiveRun, PreparedRun, RunError, RunOutcome, RunOutput, RunRequest};

/// Every client that can be run without a user.
pub const PROVIDERS: &[&dyn Provider] = &[&claude::Claude, &codex::Codex];
