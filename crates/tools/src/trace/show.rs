//! Times and kinds of events as answers write them.

use jiff::Timestamp;
use serde_json::Value;
use tamis_logs::event::{EventKind, Millis};

/// A time as the contract writes it.
pub(crate) fn time(at: Option<Millis>) -> Value {
    let time = at.and_then(|at| Timestamp::from_millisecond(at).ok());
    time.map_or(Value::Null, |time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into())
}

/// The kind of an event, where the contract's types do not distinguish it.
pub(crate) fn finer_kind(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::SlashCommand => Some("slash_command"),
        EventKind::Summary => Some("summary"),
        _ => None,
    }
}
