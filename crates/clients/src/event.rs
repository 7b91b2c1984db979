//! What an agent reports while it works, whichever agent it is. Small on purpose: only what the runner acts on or
//! counts.

use serde_json::Value;

/// One thing that an agent reported.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The agent says something.
    Text(String),
    /// The agent has something to say about itself: a warning, an error that it can bear.
    Notice(String),
    /// The agent calls a tool. The id stands in the result again.
    ToolCall { id: String, tool: Tool, arguments: Value },
    /// What the model gets to see of the tool's answer.
    ToolResult { id: String, text: String, failed: bool },
    /// The model was asked once more.
    Turn,
    /// What became of an MCP server.
    McpServer { name: String, status: ServerStatus },
    /// Tokens of the run so far, as the agent counts them.
    Usage { input_tokens: u64, output_tokens: u64 },
    /// The agent is through, with its own count of turns where it has one.
    End { failure: Option<String>, turns: Option<u64> },
}

/// A tool, and the MCP server that it belongs to; none for the agent's own tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    pub server: Option<String>,
    pub name: String,
}

impl std::fmt::Display for Tool {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.server {
            Some(server) => write!(out, "mcp:{server}/{}", self.name),
            None => write!(out, "{}", self.name),
        }
    }
}

/// What an agent says of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStatus {
    Connected,
    /// It does not work. Whether it ever did is for whoever followed the run to say.
    Failed(String),
}

/// Where the agent wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}
