//! What the session tools take, as JSON may write it.

use std::ops::RangeInclusive;

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_clients::Client;
use tamis_logs::event::EventKind;
use tamis_trace::{SessionFilter, TimeSpan, TraceSearchMode};

use super::failure::invalid_parameter;
use crate::Failure;
pub(crate) use crate::input::Whole;

/// The most items on a page.
pub(crate) const MOST_ITEMS: u64 = 50;

// Items on a page. More than 50 are taken as 50: the server limits the length of a page.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(from = "Whole<1>")]
#[schemars(extend("maximum" = MOST_ITEMS))]
pub(crate) struct Limit(u64);

impl From<Whole<1>> for Limit {
    fn from(limit: Whole<1>) -> Limit {
        Limit(limit.0)
    }
}

impl Limit {
    /// The limit, and a note for the hint when it is less than requested.
    pub(crate) fn of(requested: Option<Limit>, default: u64) -> (usize, Option<String>) {
        let requested = requested.map_or(default, |limit| limit.0);
        let note = (requested > MOST_ITEMS)
            .then(|| format!("limit is {MOST_ITEMS} at most, so {requested} was taken as that."));
        (requested.min(MOST_ITEMS) as usize, note)
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

// A time in ISO 8601; without a zone it is UTC.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub(crate) struct Moment(#[schemars(with = "String")] TimeSpan);

impl TryFrom<String> for Moment {
    type Error = String;

    fn try_from(text: String) -> Result<Moment, String> {
        TimeSpan::parse(&text, &TimeZone::UTC).map(Moment).ok_or_else(|| {
            let shown: String = text.chars().take(60).collect();
            format!("{shown:?} is not an ISO 8601 time such as 2026-01-02T06:38:45Z, 2026-01-02 or 2026-01")
        })
    }
}

/// The sessions that a call selects.
pub(crate) fn session_filter(
    provider: Option<ProviderName>,
    project_hash: Option<String>,
    since: Option<Moment>,
    until: Option<Moment>,
) -> Result<SessionFilter, Failure> {
    let filter = SessionFilter {
        provider: provider.map(Client::from),
        project: project_hash.filter(|hash| !hash.is_empty()),
        since: since.map(|moment| moment.0.first),
        until: until.map(|moment| moment.0.last),
        ..SessionFilter::default()
    };
    match filter.since.zip(filter.until) {
        Some((since, until)) if since > until => {
            Err(invalid_parameter("until", "it is before since, so no session can match"))
        }
        _ => Ok(filter),
    }
}

/// A range of tokens; open where it is not given.
pub(crate) fn token_range(
    least: Option<Whole<0>>,
    most: Option<Whole<0>>,
) -> Result<RangeInclusive<u64>, Failure> {
    let (least, most) = (least.map_or(0, |least| least.0), most.map_or(u64::MAX, |most| most.0));
    if least > most {
        return Err(invalid_parameter("max_tokens", "it is less than min_tokens, so nothing can match"));
    }
    Ok(least..=most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_event_has_its_kinds() {
        assert_eq!(EventType::User.kinds(), [EventKind::User, EventKind::SlashCommand]);
        assert_eq!(EventType::Notification.kinds(), [EventKind::Notification, EventKind::Summary]);
        assert_eq!(EventType::ToolCall.kinds(), [EventKind::ToolCall]);
    }
}
