//! Toolsets: groups of tools that share a contract, and so the form of their errors.

use serde_json::{Map, Value, json};
use tamis_agents::{AgentsError, Code};
use tamis_coordinator::bounded;

use crate::{Access, Credentials, Failure};

/// JSON-RPC's code for invalid parameters.
const INVALID_PARAMS: i32 = -32602;

/// A group of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toolset {
    /// Pruning and recovery, as the pruner service's contract has them.
    Prune,
    /// Reading, running and searching, with an optional question.
    Workbench,
    /// Past sessions of agents: browsing, searching, diagnosing.
    Trace,
    /// Questions about a codebase.
    Research,
    /// For agents that tamis has started: reviews, pull requests, issues.
    Agents,
}

/// What a door writes back.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A tool result with one text.
    Text { text: String, is_error: bool },
    /// A JSON-RPC error.
    Error(RpcError),
}

/// A JSON-RPC error object.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    pub code: i32,
    pub message: String,
    pub data: Option<Value>,
}

impl Toolset {
    pub const ALL: &'static [Toolset] =
        &[Toolset::Prune, Toolset::Workbench, Toolset::Trace, Toolset::Research, Toolset::Agents];

    /// As in `tamis mcp --tools`.
    pub fn name(self) -> &'static str {
        match self {
            Toolset::Prune => "prune",
            Toolset::Workbench => "workbench",
            Toolset::Trace => "trace",
            Toolset::Research => "research",
            Toolset::Agents => "agents",
        }
    }

    pub fn named(name: &str) -> Option<Toolset> {
        Toolset::ALL.iter().copied().find(|toolset| toolset.name() == name)
    }

    /// Whether a caller with these credentials may use these tools.
    pub fn is_open_to(self, credentials: Credentials) -> bool {
        match self {
            Toolset::Prune => credentials.access >= Access::Open,
            Toolset::Workbench | Toolset::Trace | Toolset::Research => credentials.access >= Access::Full,
            Toolset::Agents => credentials.has_identity,
        }
    }

    /// A success in this toolset's form.
    pub(crate) fn success(self, output: String) -> Reply {
        match self {
            Toolset::Prune | Toolset::Workbench | Toolset::Trace | Toolset::Research | Toolset::Agents => {
                Reply::Text { text: output, is_error: false }
            }
        }
    }

    /// A tool's failure in this toolset's form.
    pub(crate) fn failure(self, tool: &str, failure: Failure) -> Reply {
        match self {
            Toolset::Prune => Reply::Error(RpcError::from(failure)),
            // The contract has one message for every invalid call; the data has the details.
            Toolset::Workbench => {
                let mut error = RpcError::from(failure);
                if error.code == INVALID_PARAMS {
                    error.message = "Invalid params".to_owned();
                }
                Reply::Error(error)
            }
            // The model can react to these, so they are tool results with the contract's message.
            Toolset::Trace | Toolset::Research => match error_object(failure) {
                Ok(error) => Reply::Text { text: json!({"error": error}).to_string(), is_error: true },
                Err(failure) => Reply::Error(failure.into()),
            },
            Toolset::Agents => match agents_error(failure) {
                Ok(error) => Reply::Text { text: json!(error.to_object(tool)).to_string(), is_error: true },
                Err(failure) => Reply::Error(failure.into()),
            },
        }
    }
}

/// A failure as an object of code, message, details and whether trying again may help; or the failure itself, when it is
/// meant for the client and not for the model.
fn error_object(failure: Failure) -> Result<Value, Failure> {
    let (code, message, details, retryable) = match failure {
        Failure::Stated { code, message, details, retryable } => (code, message, details, retryable),
        Failure::InvalidInput { parameter, detail } => {
            let parameter = parameter.map(|parameter| ("parameter".to_owned(), parameter.into()));
            let details =
                [("detail".to_owned(), detail.clone().into())].into_iter().chain(parameter).collect();
            ("invalid_parameter", format!("Invalid parameter: {detail}"), details, false)
        }
        Failure::Domain { code, data, .. } => (code, code.to_owned(), data, false),
        Failure::Agents(error) => (error.code.as_str(), error.message, error.details, false),
        Failure::Internal { detail } => ("internal_error", detail, Map::new(), false),
        failure @ (Failure::UnknownTool { .. } | Failure::Cancelled) => return Err(failure),
    };
    Ok(json!({"code": code, "message": message, "details": details, "retryable": retryable}))
}

/// A failure in the form of the agents' contract; or the failure itself, when it is meant for the client and not for the agent.
pub(crate) fn agents_error(failure: Failure) -> Result<AgentsError, Failure> {
    match failure {
        Failure::Agents(error) => Ok(*error),
        // The detail may quote the input, which may be long.
        Failure::InvalidInput { detail, .. } => Ok(AgentsError::new(Code::ValidationError, bounded(detail))),
        Failure::Internal { detail } => Ok(AgentsError::new(Code::InternalError, detail)),
        Failure::Domain { code, .. } => Ok(AgentsError::new(Code::InternalError, code)),
        Failure::Stated { message, .. } => Ok(AgentsError::new(Code::InternalError, message)),
        failure @ (Failure::UnknownTool { .. } | Failure::Cancelled) => Err(failure),
    }
}

impl RpcError {
    /// An error without data.
    pub fn bare(code: i32, message: String) -> RpcError {
        RpcError { code, message, data: None }
    }
}

impl From<Failure> for RpcError {
    fn from(failure: Failure) -> RpcError {
        let (code, message, data) = match failure {
            Failure::UnknownTool { name } => (
                INVALID_PARAMS,
                format!("Unknown tool: {name}"),
                Some(json!({"code": "unknown_tool", "tool": name})),
            ),
            Failure::InvalidInput { detail, .. } => (
                INVALID_PARAMS,
                format!("Invalid params: {detail}"),
                Some(json!({"code": "invalid_params", "detail": detail})),
            ),
            Failure::Domain { rpc_code, code, mut data } => {
                data.insert("code".into(), code.into());
                (rpc_code, code.to_owned(), Some(Value::Object(data)))
            }
            Failure::Stated { code, message, mut details, retryable } => {
                details.insert("code".into(), code.into());
                details.insert("retryable".into(), retryable.into());
                (-32000, message, Some(Value::Object(details)))
            }
            Failure::Agents(error) => {
                (-32000, error.message.clone(), Some(json!({"code": error.code, "details": error.details})))
            }
            Failure::Cancelled => (-32603, "Cancelled".into(), Some(json!({"code": "cancelled"}))),
            Failure::Internal { detail } => {
                (-32603, "Internal error".into(), Some(json!({"code": "internal_error", "detail": detail})))
            }
        };
        RpcError { code, message, data }
    }
}
