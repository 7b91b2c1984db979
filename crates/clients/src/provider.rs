//! What a provider is: one agent's ways.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Event, PROVIDERS, Stream, Tool};

/// An MCP server over stdio, as an agent is to start it. There is no URL: the contract knows none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct McpServer {
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
}

/// Servers by the names that the agent will know them by.
pub type McpServers = BTreeMap<String, McpServer>;

/// What a run asks of an agent, beside the prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    pub mcp_servers: McpServers,
    /// Which tools of those servers the agent may use unasked: nobody is there to be asked. For all others its own
    /// rules hold.
    pub approved: Vec<Tool>,
    pub model: Option<String>,
    /// Passed on as they are.
    pub agent_args: Vec<String>,
}

/// One agent's ways.
pub trait Provider: Sync {
    /// As the user names it.
    fn name(&self) -> &'static str;

    /// The program to look for on PATH.
    fn program(&self) -> &'static str;

    /// How a person gets the program.
    fn install_hint(&self) -> &'static str;

    /// What to start the program with. The prompt is not in it, but goes to the agent's stdin: there it may be as long
    /// as it likes and begin with a dash, and no list of processes shows it.
    fn arguments(&self, options: &RunOptions) -> Vec<String>;

    /// A reader for what one run of the agent writes.
    fn transcript(&self) -> Box<dyn Transcript>;
}

/// Reads what an agent writes, line by line.
pub trait Transcript: Send {
    fn read(&mut self, stream: Stream, line: &str) -> Reading;
}

/// What a line says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    pub events: Vec<Event>,
    /// A person should see the line itself: it is no report, or one that nobody here understands but them.
    pub show: bool,
    /// A report of a kind that is not known here. Agents add kinds with every release.
    pub unknown: bool,
}

impl Reading {
    pub(crate) fn of(events: Vec<Event>) -> Reading {
        Reading { events, ..Reading::default() }
    }

    pub(crate) fn shown() -> Reading {
        Reading { show: true, ..Reading::default() }
    }

    pub(crate) fn unknown() -> Reading {
        Reading { unknown: true, ..Reading::default() }
    }
}

/// The provider of this name.
pub fn provider_named(name: &str) -> Option<&'static dyn Provider> {
    PROVIDERS.iter().copied().find(|provider| provider.name() == name)
}

/// Whether a failed call says that the server is no longer there. A server that answers with an error is alive, and
/// so is one whose tool the user has forbidden; so only the agents' words for a lost connection count.
pub(crate) fn tells_of_a_lost_server(error: &str) -> bool {
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
