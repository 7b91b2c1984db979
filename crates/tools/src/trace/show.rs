//! Times and kinds of events as answers write them.

use jiff::Timestamp;
use serde_json::{Value, json};
use tamis_logs::event::{EventKind, EventStream, Millis};

/// A time as the contract writes it.
pub(crate) fn time(at: Option<Millis>) -> Value {
    let time = at.and_then(|at| Timestamp::from_millisecond(at).ok());
    time.map_or(Value::Null, |time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into())
}

/// What every answer has of an event. Its kind is added where the contract's types do not distinguish it.
pub(crate) fn event_json(
    session: &str,
    index: u64,
    at: Option<Millis>,
    kind: EventKind,
    stream: EventStream,
) -> Value {
    let mut event = json!({
        "session_id": session,
        "event_index": index,
        "timestamp": time(at),
        "event_type": kind.wire_name(),
    });
    if stream != EventStream::Main {
        event["stream"] = stream.name().into();
    }
    if let Some(kind) = finer_kind(kind) {
        event["kind"] = kind.into();
    }
    event
}

fn finer_kind(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::SlashCommand => Some("slash_command"),
        EventKind::Summary => Some("summary"),
        _ => None,
    }
}
