//! Failures in the contract's words: a code, a message, details, and whether trying again may help.

use std::error::Error;

use serde_json::{Map, Value, json};
use tamis_redact::Redacted;
use tamis_trace::TraceError;

use crate::Failure;

/// Ids and parameters that are quoted back are cut here.
const LONGEST_QUOTED: usize = 200;

fn stated(code: &'static str, message: String, details: Value, retryable: bool) -> Failure {
    let details = match details {
        Value::Object(details) => details,
        _ => Map::new(),
    };
    Failure::Stated { code, message, details, retryable }
}

pub(crate) fn quoted(text: &str) -> String {
    text.chars().take(LONGEST_QUOTED).collect()
}

/// A parameter that is of the right type, but cannot be used.
pub(crate) fn invalid_parameter(parameter: &str, why: impl Into<String>) -> Failure {
    let why = why.into();
    stated(
        "invalid_parameter",
        format!("Invalid parameter: {parameter}: {why}"),
        json!({"parameter": parameter, "detail": why}),
        false,
    )
}

pub(crate) fn invalid_cursor(why: &str) -> Failure {
    stated(
        "invalid_cursor",
        format!("Invalid cursor: {why}"),
        json!({"detail": why, "hint": "Omit cursor to start again."}),
        false,
    )
}

pub(crate) fn rate_limited(limit: u64, retry_after_ms: u64) -> Failure {
    stated(
        "rate_limited",
        format!("Too many calls: the limit is {limit} per minute. Try again in {retry_after_ms} ms."),
        json!({"limit": limit, "remaining": 0, "retry_after_ms": retry_after_ms}),
        true,
    )
}

/// An error of the index, with the contract's message.
pub(crate) fn trace_failure(error: TraceError) -> Failure {
    match error {
        TraceError::NoSuchSession { id } => {
            let id = quoted(&id);
            stated("session_not_found", format!("Session not found: {id}"), json!({"session_id": id}), false)
        }
        TraceError::Ambiguous { ref prefix, ref matches, more } => {
            let mut details = json!({"prefix": quoted(prefix), "matches": matches});
            if more {
                details["more_matches"] = true.into();
            }
            stated("ambiguous_session_prefix", error.to_string(), details, false)
        }
        TraceError::NoSuchEvent { ref session, index, most } => {
            let mut details = json!({"session_id": session, "requested_index": index});
            if let Some(most) = most {
                details["max_index"] = most.into();
            }
            stated("invalid_event_index", error.to_string(), details, false)
        }
        TraceError::InvalidQuery(why) => invalid_parameter("query", why),
        TraceError::TooSlow { seconds } => stated(
            "search_timeout",
            error.to_string(),
            json!({
                "timeout_seconds": seconds,
                "hint": "Narrow the search by session_id, provider, event_type, since or until.",
            }),
            true,
        ),
        TraceError::Cancelled => Failure::Cancelled,
        TraceError::Changed { .. }
        | TraceError::Busy { .. }
        | TraceError::Index(_)
        | TraceError::DataDir { .. }
        | TraceError::Log { .. } => internal(&error, true),
    }
}

fn internal(error: &TraceError, retryable: bool) -> Failure {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(&error.to_string());
        cause = error.source();
    }
    let message = Redacted::from(message).into_inner();
    stated("internal_error", message, json!({"hint": "`tamis data show` reports what is wrong."}), retryable)
}
