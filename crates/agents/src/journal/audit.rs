//! The audit trail: what each call was given and what came of it, in the events.
//!
//! Inputs and results are stored without secrets, and bounded: feedback is in its own table, whole, and a follower reads every
//! event.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use tamis_git::{BranchName, Head};
use tamis_redact::redact_json;
use tamis_store::rusqlite::{self, Connection};
use tamis_text::plain::shortened;

use crate::instances::records::{EventKind, NewEvent};
use crate::{AgentsError, InstanceId, db};

/// Maximum length of a message in the events: failures quote other programs.
const LONGEST_MESSAGE: usize = 1_000;

/// Maximum size of an input or a result as JSON, and the lengths that its texts are cut to until it fits.
const LARGEST_VALUE: usize = 16 << 10;
const TEXT_LENGTHS: [usize; 4] = [4_000, 1_000, 200, 20];

/// Calls of a tool by unknown callers are recorded no more often than this: any program of this machine can make any number
/// of them.
const STRANGERS_EVERY: Duration = Duration::from_secs(60);

/// A value as the audit trail holds it.
pub(crate) fn audited(value: &impl Serialize) -> Value {
    let value = redact_json(serde_json::to_value(value).unwrap_or_default(), &[]).into_inner();
    for length in TEXT_LENGTHS {
        let bounded = with_short_texts(&value, length);
        if bounded.to_string().len() <= LARGEST_VALUE {
            return bounded;
        }
    }
    Value::String(shortened(&value.to_string(), LONGEST_MESSAGE))
}

fn with_short_texts(value: &Value, length: usize) -> Value {
    match value {
        Value::String(text) => Value::String(shortened(text, length)),
        Value::Array(items) => items.iter().map(|item| with_short_texts(item, length)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), with_short_texts(value, length))).collect()
        }
        other => other.clone(),
    }
}

/// Who made a call that failed, and what was checked out in its worktree then. Neither is known of a stranger.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Failed<'a> {
    pub(crate) instance: Option<&'a InstanceId>,
    pub(crate) head: Option<&'a Head>,
}

/// A call that failed, by an instance or by an unknown caller. `input` is audited already.
pub(crate) fn record_failure(
    connection: &Connection,
    tool: &str,
    by: Failed<'_>,
    input: &Value,
    error: &AgentsError,
    begun: Option<Instant>,
) -> rusqlite::Result<()> {
    let Failed { instance, head } = by;
    let message = shortened(&error.message, LONGEST_MESSAGE);
    let mut detail = json!({"message": message, "about": error.instance, "input": input});
    if let Some(begun) = begun {
        detail["duration_ms"] = milliseconds(begun).into();
    }
    if let Some(head) = head {
        detail["branch"] = json!(head.branch.as_ref().map(BranchName::as_str));
        detail["commit"] = head.commit.as_str().into();
    }
    if !error.details.is_empty() {
        detail["details"] = audited(&error.details);
    }
    let event = NewEvent {
        tool: Some(tool),
        success: Some(false),
        error_code: Some(error.code),
        detail,
        ..NewEvent::of(EventKind::ToolCalled, instance)
    };
    db::insert_event(connection, &event).map(drop)
}

pub(crate) fn milliseconds(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// When this process last recorded a call of each tool by an unknown caller.
#[derive(Default)]
pub(crate) struct Strangers(Mutex<HashMap<String, Instant>>);

impl Strangers {
    /// Whether a call of the tool is recorded now.
    pub(crate) fn admit(&self, tool: &str) -> bool {
        let mut recorded = self.0.lock();
        let is_due = recorded.get(tool).is_none_or(|at| at.elapsed() >= STRANGERS_EVERY);
        if is_due {
            recorded.insert(tool.to_owned(), Instant::now());
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_stored_without_secrets_and_bounded() {
        let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
        let kept = audited(&json!({"completion_message": format!("used {token}"), "n": [1, null, true]}));
        assert_eq!(kept["n"], json!([1, null, true]));
        let text = kept["completion_message"].as_str().unwrap();
        assert!(text.starts_with("used [redacted") && !text.contains(token), "{text}");
        assert_eq!(
            audited(&json!({"body": "é".repeat(5_000)}))["body"].as_str().unwrap().chars().count(),
            4_000
        );
        let many: Vec<Value> =
            (0..50).map(|n| json!({"title": n.to_string(), "body": "x".repeat(60_000)})).collect();
        let issues = audited(&json!({"issues": many}));
        assert_eq!(issues["issues"].as_array().unwrap().len(), 50);
        for value in [issues, audited(&vec!["y"; 100_000])] {
            assert!(value.to_string().len() <= LARGEST_VALUE, "{}", value.to_string().len());
        }
    }

    #[test]
    fn a_flood_of_strangers_is_recorded_in_part() {
        let strangers = Strangers::default();
        for tool in ["request_review", "create_issues"] {
            assert_eq!((0..1000).filter(|_| strangers.admit(tool)).count(), 1);
        }
    }
}
