//! Why an operation failed. Its toolset decides how a failure looks on the wire.

use serde_json::{Map, Value};
use tamis_agents::AgentsError;

/// An operation's failure.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// There is no such tool, or not for this caller.
    UnknownTool { name: String },
    /// The input does not fit the tool's schema: which parameter (`options.name`), unless it is the input itself, and why.
    InvalidInput { parameter: Option<String>, detail: String },
    /// A failure of the operation's own, named by its contract.
    Domain { rpc_code: i32, code: &'static str, data: Map<String, Value> },
    /// The same with the contract's message, for the model rather than for its client.
    Stated { code: &'static str, message: String, details: Map<String, Value>, retryable: bool },
    /// The same for the tools of agents, whose errors have a form of their own.
    Agents(Box<AgentsError>),
    /// The caller no longer waits.
    Cancelled,
    /// A defect of tamis, or a fault of the machine.
    Internal { detail: String },
}

impl Failure {
    /// Its name in the metrics.
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
