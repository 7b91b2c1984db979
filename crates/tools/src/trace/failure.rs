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
        TraceError::Ambiguous { ref prefix, ref matches, count } => {
            let mut details = json!({"prefix": quoted(prefix), "matches": matches});
            if count > matches.len() as u64 {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::trace::search_event_previews::LONGEST_SEARCH;

    #[test]
    fn every_code_of_the_contract_has_its_form() {
        assert_eq!(LONGEST_SEARCH, Duration::from_secs(30));
        let session = "fb3cff44".to_owned();
        for (failure, code, message, detail, retryable) in [
            (
                trace_failure(TraceError::NoSuchSession { id: "fb3c".to_owned() }),
                "session_not_found",
                "Session not found: fb3c",
                ("session_id", json!("fb3c")),
                false,
            ),
            (
                trace_failure(TraceError::Ambiguous {
                    prefix: "fb3".to_owned(),
                    matches: ["fb3cff44", "fb3a1b2c", "fb3d9e8f"].map(str::to_owned).to_vec(),
                    count: 3,
                }),
                "ambiguous_session_prefix",
                "Session ID prefix 'fb3' matches 3 sessions. Provide more characters.",
                ("matches", json!(["fb3cff44", "fb3a1b2c", "fb3d9e8f"])),
                false,
            ),
            (
                trace_failure(TraceError::NoSuchEvent { session, index: 999, most: Some(127) }),
                "invalid_event_index",
                "Event index 999 out of bounds for session fb3cff44 (max: 127)",
                ("max_index", json!(127)),
                false,
            ),
            (invalid_cursor("why"), "invalid_cursor", "Invalid cursor: why", ("detail", json!("why")), false),
            (
                invalid_parameter("limit", "why"),
                "invalid_parameter",
                "Invalid parameter: limit: why",
                ("parameter", json!("limit")),
                false,
            ),
            (
                trace_failure(TraceError::TooSlow { seconds: LONGEST_SEARCH.as_secs() }),
                "search_timeout",
                "",
                ("timeout_seconds", json!(30)),
                true,
            ),
            (
                trace_failure(TraceError::Busy { path: "/data".into() }),
                "internal_error",
                "",
                ("hint", json!("`tamis data show` reports what is wrong.")),
                true,
            ),
        ] {
            let Failure::Stated { code: found, message: words, details, retryable: again } = failure else {
                panic!("{code}");
            };
            assert_eq!((found, again), (code, retryable));
            assert!(!words.is_empty() && (message.is_empty() || words == message), "{code}: {words}");
            assert_eq!(details.get(detail.0), Some(&detail.1), "{code}");
        }
    }
}
