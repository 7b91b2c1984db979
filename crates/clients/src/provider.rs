//! The interface of a provider: what the runner needs to know about one client.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Client, ClientEvent, ClientTool, OutputStream, PROVIDERS};

/// An MCP server over stdio that a client starts. It has no URL, because the contract has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct McpServer {
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
}

/// Servers by the names in the client's configuration.
pub type McpServers = BTreeMap<String, McpServer>;

/// What a client is started with, besides the prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    pub mcp_servers: McpServers,
    /// Tools of those servers that the client may use without asking, since no user is there to answer. For all other tools
    /// the client's own rules hold.
    pub approved: Vec<ClientTool>,
    pub model: Option<String>,
    /// Passed on unchanged.
    pub agent_args: Vec<String>,
}

/// Our support for one client.
pub trait Provider: Sync {
    fn client(&self) -> Client;

    /// The program's arguments. The prompt is not among them but written to stdin: there it may be long or begin with a dash,
    /// and no list of processes shows it.
    fn arguments(&self, options: &RunOptions) -> Vec<String>;

    /// A parser for the output of one run.
    fn output_parser(&self) -> Box<dyn OutputParser>;
}

/// Parses what a client writes, line by line.
pub trait OutputParser: Send {
    fn read(&mut self, stream: OutputStream, line: &str) -> ParsedLine;
}

/// The events in a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedLine {
    pub events: Vec<ClientEvent>,
    /// Show the line itself to the user, because it is not a report.
    pub show: bool,
    /// A report of an unknown kind. Clients add kinds with every release.
    pub unknown: bool,
}

impl ParsedLine {
    pub(crate) fn of(events: Vec<ClientEvent>) -> ParsedLine {
        ParsedLine { events, ..ParsedLine::default() }
    }

    pub(crate) fn shown() -> ParsedLine {
        ParsedLine { show: true, ..ParsedLine::default() }
    }

    pub(crate) fn unknown() -> ParsedLine {
        ParsedLine { unknown: true, ..ParsedLine::default() }
    }
}

/// The provider of this name.
pub fn provider_named(name: &str) -> Option<&'static dyn Provider> {
    PROVIDERS.iter().copied().find(|provider| provider.client().name() == name)
}

/// Whether the error of a failed call means that the server is gone. A server that answers with an error is alive, and so
/// is one whose tool the user has forbidden; so only the clients' messages for a lost connection count.
pub(crate) fn means_lost_server(error: &str) -> bool {
    const WORDS: [&str; 6] = [
        "connection closed",
        "is not connected",
        "transport closed",
        "transport channel closed",
        "transport send error",
        "transport error",
    ];
    let error = error.to_ascii_lowercase();
    WORDS.iter().any(|words| error.contains(words))
}
