//! What the session tools take, as JSON may write it.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use tamis_clients::Client;
use tamis_logs::event::{EventKind, Millis};
use tamis_trace::{SessionFilter, TraceSearchMode};

pub(crate) use crate::input::Whole;

/// The most items on a page.
pub(crate) const MOST_ITEMS: u64 = 50;

/// Items on a page. More than 50 are taken as 50: the server limits the length of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limit(pub(crate) u64);

impl Limit {
    /// The limit, and a note for the hint when it is less than requested.
    pub(crate) fn of(requested: Option<Limit>, default: u64) -> (usize, Option<String>) {
        let requested = requested.map_or(default, |limit| limit.0);
        let note = (requested > MOST_ITEMS)
            .then(|| format!("limit is {MOST_ITEMS} at most, so {requested} was taken as that."));
        (requested.min(MOST_ITEMS) as usize, note)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Whole::<1>::deserialize(deserializer).map(|limit| Limit(limit.0))
    }
}

impl JsonSchema for Limit {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 1, "maximum": MOST_ITEMS})
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProviderName {
    ClaudeCode,
    Codex,
    Gemini,
    #[serde(rename = "opencode")]
    OpenCode,
}

impl From<ProviderName> for Client {
    fn from(name: ProviderName) -> Client {
        match name {
            ProviderName::ClaudeCode => Client::ClaudeCode,
            ProviderName::Codex => Client::Codex,
            ProviderName::Gemini => Client::Gemini,
            ProviderName::OpenCode => Client::OpenCode,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) enum EventType {
    ToolCall,
    ToolResult,
    Message,
    User,
    Reasoning,
    TokenUsage,
    Notification,
}

impl EventType {
    /// The kinds of events that go by this name.
    pub(crate) fn kinds(self) -> Vec<EventKind> {
        let name = format!("{self:?}");
        EventKind::ALL.iter().copied().filter(|kind| kind.wire_name() == name).collect()
    }
}

/// How a query is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QueryMode {
    #[default]
    Substring,
    Words,
    Regex,
}

impl From<QueryMode> for TraceSearchMode {
    fn from(mode: QueryMode) -> TraceSearchMode {
        match mode {
            QueryMode::Substring => TraceSearchMode::Substring,
            QueryMode::Words => TraceSearchMode::Words,
            QueryMode::Regex => TraceSearchMode::Regex,
        }
    }
}

/// A time in ISO 8601; without a zone it is UTC, and a mere date is the whole day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    first: Millis,
    last: Millis,
}

impl Moment {
    fn parse(text: &str) -> Option<Moment> {
        let text = text.trim();
        let exactly = |time: Timestamp| {
            let at = time.as_millisecond();
            // A time without a fraction means that whole second.
            Moment { first: at, last: if at % 1000 == 0 { at + 999 } else { at } }
        };
        let in_utc = |time: DateTime| Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp());
        if let Ok(time) = text.parse::<Timestamp>() {
            return Some(exactly(time));
        }
        if let (Ok(date), 10) = (text.parse::<Date>(), text.len()) {
            let first = in_utc(date.to_datetime(jiff::civil::Time::midnight()))?.as_millisecond();
            return Some(Moment { first, last: first + 24 * 60 * 60 * 1000 - 1 });
        }
        text.parse::<DateTime>().ok().and_then(in_utc).map(exactly)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Moment::parse(&text).ok_or_else(|| {
            let shown: String = text.chars().take(60).collect();
            D::Error::custom(format!("{shown:?} is no ISO 8601 time like 2026-01-02T06:38:45Z or 2026-01-02"))
        })
    }
}

impl JsonSchema for Moment {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}

/// The sessions that a call asks for.
pub(crate) fn session_filter(
    provider: Option<ProviderName>,
    project_hash: Option<String>,
    since: Option<Moment>,
    until: Option<Moment>,
) -> SessionFilter {
    SessionFilter {
        provider: provider.map(Client::from),
        project: project_hash.filter(|hash| !hash.is_empty()),
        since: since.map(|moment| moment.first),
        until: until.map(|moment| moment.last),
        ..SessionFilter::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_in_several_forms() {
        let second = Moment { first: 1_767_335_925_000, last: 1_767_335_925_999 };
        for text in ["2026-01-02T06:38:45Z", "2026-01-02T07:38:45+01:00", "2026-01-02 06:38:45"] {
            assert_eq!(Moment::parse(text), Some(second), "{text}");
        }
        let day = Moment { first: 1_767_312_000_000, last: 1_767_398_399_999 };
        assert_eq!(Moment::parse("2026-01-02"), Some(day));
        for text in ["", "yesterday", "2026-13-01", "1767335925"] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_type_of_event_has_its_kinds() {
        assert_eq!(EventType::User.kinds(), [EventKind::User, EventKind::SlashCommand]);
        assert_eq!(EventType::Notification.kinds(), [EventKind::Notification, EventKind::Summary]);
        assert_eq!(EventType::ToolCall.kinds(), [EventKind::ToolCall]);
    }
}
