//! What a gateway stands before, and what it prunes.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::PathBuf;

use tamis_http::HttpUrl;

/// The settings of a gateway.
pub struct GatewaySettings {
    /// One or more. The tools of several get their server's name as a prefix.
    pub servers: Vec<GatewayServer>,
    pub pruning: GatewayPruning,
    /// The client's project, for the ledger.
    pub project: Option<String>,
}

/// A server behind the gateway.
pub struct GatewayServer {
    pub name: String,
    pub connection: ServerConnection,
}

/// How a server is reached.
pub enum ServerConnection {
    /// Started by the gateway, and ended with it.
    Program { program: String, args: Vec<String>, env: Vec<(String, String)>, folder: Option<PathBuf> },
    /// Over streamable HTTP, with these headers in every request.
    Url { url: HttpUrl, headers: Vec<(String, String)> },
    /// For tests: a server in this process.
    #[doc(hidden)]
    Pipes { stdin: Box<dyn Write + Send>, stdout: Box<dyn Read + Send> },
}

/// Which results are pruned, and how.
#[derive(Clone, Debug)]
pub struct GatewayPruning {
    /// Lines that score below this are cut.
    pub threshold: f32,
    /// Shorter texts stay as they are.
    pub min_chars: usize,
    pub tools: PrunedTools,
    /// Whether long strings in `structuredContent` are pruned too.
    pub structured: bool,
}

/// The tools whose results are pruned, by the names that the client or the server knows them by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrunedTools {
    All,
    Only(BTreeSet<String>),
    Except(BTreeSet<String>),
}

impl PrunedTools {
    /// `names` are those of one tool.
    pub(crate) fn include(&self, names: &[&str]) -> bool {
        let is_in = |set: &BTreeSet<String>| names.iter().any(|name| set.contains(*name));
        match self {
            PrunedTools::All => true,
            PrunedTools::Only(set) => is_in(set),
            PrunedTools::Except(set) => !is_in(set),
        }
    }
}
