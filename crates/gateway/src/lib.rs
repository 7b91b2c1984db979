//! The gateway: stands between an MCP client and an MCP server, and prunes large results of the server's tools.
//!
//! Entry point: [`serve`]. `gateway.rs` decides what happens to each message; `tool_result.rs` and `tool_list.rs` find what
//! is changed in it.
//!
//! Only two things change. The list of tools gets `recover_text`, which the gateway answers itself, and large texts in tool
//! results are pruned. All else passes byte for byte, in both directions. So messages are not read into types of the
//! protocol, which would drop what they do not know: a line is scanned for its id and method, and parts of its text are
//! replaced.
//!
//! Never fails a call: on any problem the server's own bytes reach the client. Never holds more than one message per side and
//! request in flight; a message over 16 MiB passes in pieces, unread.

mod client_output;
mod config_file;
mod events;
mod gateway;
mod goal;
mod http_headers;
mod http_link;
mod in_flight;
mod lines;
mod many;
mod merge;
mod message;
mod serve;
mod server;
mod settings;
mod tool_list;
mod tool_result;

pub use config_file::{ServerListError, expand_variables};
pub use serve::{GatewayError, serve};
pub use settings::{GatewayPruning, GatewayServer, GatewaySettings, PrunedTools, ServerConnection};
