//! What a client reports while it works, in one form for all clients: only what the runner acts on or counts.

use serde_json::Value;

/// One thing that a client reported.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// Text for the user.
    Text(String),
    /// A warning, or an error that does not end the run.
    Notice(String),
    /// A tool call. Its result has the same id.
    ToolCall { id: String, tool: ClientTool, arguments: Value },
    /// The result of a tool call, as the model sees it.
    ToolResult { id: String, text: String, failed: bool },
    /// A further request to the model.
    Turn,
    /// An MCP server connected or failed.
    McpServer { name: String, status: McpServerStatus },
    /// Tokens of the run so far, as the client counts them.
    Usage { input_tokens: u64, output_tokens: u64 },
    /// The end, with the client's own count of turns where it has one.
    End { failure: Option<String>, turns: Option<u64> },
}

/// A tool and its MCP server; none for the client's own tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientTool {
    pub server: Option<String>,
    pub name: String,
}

impl std::fmt::Display for ClientTool {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.server {
            Some(server) => write!(out, "mcp:{server}/{}", self.name),
            None => write!(out, "{}", self.name),
        }
    }
}

/// The state of an MCP server, as the client reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpServerStatus {
    Connected,
    /// It does not work; [`crate::RunLifecycle`] knows whether it did before.
    Failed(String),
}

/// The stream that the client wrote a line to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStream {
    Stdout,
    Stderr,
}
