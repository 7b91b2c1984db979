//! The doors to the tools: MCP over stdio and HTTP, JSON-RPC at `/rpc`, REST and a WebSocket for agents, the dashboard, and plain
//! routes.
//!
//! Entry points: [`HttpDoor`] with [`bind`] and [`serve`], and [`serve_stdio`]. The routes are in `routes.rs`; `guard.rs`
//! decides who may use them.
//!
//! A door parses an envelope, builds the context of the call and writes the reply. It must never know a tool by name (except
//! for the two routes of one operation each, `/health` and `/prune`), look into arguments, or decide how an error is called.

mod api;
mod body;
mod connection_io;
mod connections;
mod envelope;
mod guard;
mod health_and_prune;
mod listen;
mod mcp;
mod mcp_message;
mod output_watch;
mod page;
mod page_agents;
mod page_live;
mod page_prunes;
mod page_session;
mod per_minute;
mod profile;
mod routes;
mod rpc;
mod stdio;
mod token;
mod ws;

use std::sync::Arc;

use tamis_tools::{Registry, Services};

pub use guard::{Exposure, HostPolicy};
pub use listen::{BoundListener, ListenError, bind, serve};
pub use mcp::listed_bytes;
pub use profile::ServerProfile;
pub use routes::{HttpDoor, HttpSettings};
pub use stdio::{StdioError, serve_stdio};
pub use token::{ServerToken, ServerTokenError};

/// What every door needs to serve the tools.
#[derive(Clone)]
pub struct Served {
    pub registry: Arc<Registry>,
    pub services: Arc<Services>,
    /// How the server presents itself.
    pub profile: &'static ServerProfile,
}

/// For the fuzz target `messages`.
#[cfg(fuzzing)]
pub mod fuzzing {
    use crate::ServerProfile;
    use crate::envelope::{json_value, message};
    use crate::mcp_message::parse;

    /// The errors that a line is answered with, by each door that parses lines.
    pub fn answers_to(line: &[u8]) -> Vec<String> {
        let over_stdio = [&ServerProfile::TAMIS, &ServerProfile::MCP_PRUNER]
            .map(|profile| parse(line, profile).err().map(|rejected| rejected.to_json(profile)));
        let over_rpc = json_value(line).and_then(message).and_then(|message| message.params());
        over_stdio.into_iter().flatten().chain(over_rpc.err().map(|invalid| invalid.to_json())).collect()
    }
}
