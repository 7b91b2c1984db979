//! One event as it may be shown.

use serde_json::Value;
use tamis_logs::event::{EventKind, EventStream, LogEvent, Millis};
use tamis_redact::{Redacted, redact_json};

/// An event without its secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDetails {
    pub at: Option<Millis>,
    pub kind: EventKind,
    pub stream: EventStream,
    pub payload: Redacted<Value>,
}

impl EventDetails {
    pub(crate) fn of(event: &LogEvent<'_>) -> EventDetails {
        EventDetails {
            at: event.at,
            kind: event.kind(),
            stream: event.stream,
            payload: redact_payload(event.payload()),
        }
    }
}

/// The id of a call joins it with its result, so it stays.
pub(crate) fn redact_payload(payload: Value) -> Redacted<Value> {
    redact_json(payload, &["call_id"])
}
