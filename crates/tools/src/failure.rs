//! Why an operation gave no output. How it looks on the wire is the toolset's business.

use serde_json::{Map, Value};
use tamis_agents::AgentsError;

/// An operation's failure.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// There is no such tool, or not for this caller.
    UnknownTool { name: String },
    /// The input does not fit the tool's schema: which parameter (`options.name`), unless it is the input itself, and why.
    InvalidInput { parameter: Option<String>, detail: String },
    /// The operation's own kind of failure, named by its contract.
    Domain { rpc_code: i32, code: &'static str, data: Map<String, Value> },
    /// The same, in the contract's own words, for whoever called the tool rather than for its client.
    Stated { code: &'static str, message: String, details: Map<String, Value>, retryable: bool },
    /// The same, of the tools of agents, whose errors have a form of their own.
    Agents(Box<AgentsError>),
    /// The caller went away.
    Cancelled,
    /// Our fault.
    Internal { detail: String },
}

impl Failure {
    /// What it is called, for whoever counts.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Failure::UnknownTool { .. } => "unknown_tool",
            Failure::InvalidInput { .. } => "invalid_params",
            Failure::Domain { code, .. } | Failure::Stated { code, .. } => code,
            Failure::Agents(error) => error.code.as_str(),
            Failure::Cancelled => "cancelled",
            Failure::Internal { .. } => "internal_error",
        }
    }

    pub fn internal(detail: impl ToString) -> Failure {
        Failure::Internal { detail: detail.to_string() }
    }
}

impl From<AgentsError> for Failure {
    fn from(error: AgentsError) -> Failure {
        Failure::Agents(Box::new(error))
    }
}
