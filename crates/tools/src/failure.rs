//! Why an operation gave no output. How it looks on the wire is the toolset's business.

use serde_json::{Map, Value};

/// An operation's failure.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// There is no such tool, or not for this caller.
    UnknownTool { name: String },
    /// The input does not have the form that the tool asks for.
    InvalidInput { detail: String },
    /// The operation's own kind of failure, named by its contract.
    Domain { rpc_code: i32, code: &'static str, data: Map<String, Value> },
    /// The same, in the contract's own words, for whoever called the tool rather than for its client.
    Stated { code: &'static str, message: String, details: Map<String, Value>, retryable: bool },
    /// The caller went away.
    Cancelled,
    /// Our fault.
    Internal { detail: String },
}

impl Failure {
    pub fn invalid_input(detail: impl ToString) -> Failure {
        Failure::InvalidInput { detail: detail.to_string() }
    }

    pub fn internal(detail: impl ToString) -> Failure {
        Failure::Internal { detail: detail.to_string() }
    }
}
