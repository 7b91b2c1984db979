//! The doors to the tools: MCP over stdio and HTTP, JSON-RPC at `/rpc`, REST and a WebSocket for agents, and plain routes.
//!
//! A door parses an envelope, builds the context of the call and writes the reply. It knows no tool by name,
//! but for the two routes that belong to one operation each (`/health`, `/prune`).

mod api;
mod body;
mod envelope;
mod guard;
mod http_door;
mod incoming;
mod listen;
mod mcp;
mod patient;
mod presence;
mod reader;
mod routes;
mod rpc;
mod stdio;
mod token;
mod ws;

use std::sync::Arc;

use tamis_tools::{Registry, Services};

pub use guard::{Exposure, HostPolicy};
pub use http_door::{HttpDoor, HttpSettings};
pub use listen::{Bound, ListenError, bind, serve};
pub use presence::Presence;
pub use stdio::{StdioError, serve_stdio};
pub use token::{Token, TokenError};

/// What every door serves.
#[derive(Clone)]
pub struct Served {
    pub registry: Arc<Registry>,
    pub services: Arc<Services>,
    /// As what they serve it.
    pub presence: &'static Presence,
}
