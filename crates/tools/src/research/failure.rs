//! Failures, worded so that the caller can act on them.

use serde_json::{Map, Value, json};
use tamis_codebase::RootError;
use tamis_redact::Redacted;
use tamis_research::ResearchError;

use crate::Failure;

/// Maximum handoffs that are listed in place of a missing one.
const MAX_OFFERED: usize = 10;

fn failure(code: &'static str, message: String, details: Value, retryable: bool) -> Failure {
    let details = match details {
        Value::Object(details) => details,
        _ => Map::new(),
    };
    Failure::Stated { code, message: Redacted::from(message).into_inner(), details, retryable }
}

pub(crate) fn invalid_parameter(parameter: &str, why: &str) -> Failure {
    failure(
        "invalid_parameter",
        format!("Invalid parameter: {parameter}: {why}"),
        json!({"parameter": parameter, "detail": why}),
        false,
    )
}

pub(crate) fn no_roots(why: &str) -> Failure {
    failure(
        "no_roots",
        format!("No roots to search: {why}"),
        json!({"hint": "Set TAMIS_ROOTS to the folders of the codebase, in the server's configuration."}),
        false,
    )
}

pub(crate) fn saturated(why: &str) -> Failure {
    failure("saturated", format!("Overloaded: {why}"), json!({"hint": "Try again in a moment."}), true)
}

pub(crate) fn artifact_failed(why: &str, hint: &str) -> Failure {
    failure("artifact_failed", format!("Not written: {why}"), json!({"hint": hint}), false)
}

/// Why no handoff was resumed, with those that exist.
pub(crate) fn not_resumed(code: &'static str, message: String, available: &[String]) -> Failure {
    let mut details = json!({"parameter": "name"});
    if !available.is_empty() {
        details["available"] = available.iter().take(MAX_OFFERED).cloned().collect();
    }
    failure(code, message, details, false)
}

/// The failure for a researcher's error.
pub(crate) fn research_failure(error: ResearchError) -> Failure {
    let message = error.to_string();
    match error {
        ResearchError::NoQuestion | ResearchError::LongQuestion { .. } => {
            invalid_parameter("question", &message)
        }
        ResearchError::Root(RootError::Outside { .. } | RootError::System { .. }) => failure(
            "outside_roots",
            message,
            json!({"parameter": "roots", "hint": "list_roots lists the folders that may be searched."}),
            false,
        ),
        ResearchError::Root(RootError::Denied { .. }) => {
            failure("denied", message, json!({"parameter": "roots"}), false)
        }
        ResearchError::Root(RootError::Unreadable { .. }) => {
            failure("root_unreadable", message, json!({"parameter": "roots"}), false)
        }
    }
}
