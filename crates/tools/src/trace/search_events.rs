//! `search_events`: the search of old, for callers that still use it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tamis_clients::Client;
use tamis_trace::{CompiledQuery, SearchMatch, SearchRequest, SessionFilter};

use super::call::{Handler, TraceCall, TraceTool};
use super::input::{EventType, Limit, ProviderName};
use super::page::{Answer, of_search, size};
use super::preview;
use super::search_event_previews::{Matches, match_of};
use crate::Failure;

pub(crate) struct SearchEvents;

/// Bytes of a payload that is given in full, and characters of what is left of a larger one.
const LARGEST_PAYLOAD: usize = 10_000;
const CUT_PAYLOAD: usize = 4_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchEventsInput {
    /// Text to find, in any case.
    pattern: String,
    /// Page size; default 10.
    limit: Option<Limit>,
    /// next_cursor of the last page.
    cursor: Option<String>,
    /// Only this agent.
    provider: Option<ProviderName>,
    /// Only this type.
    event_type: Option<EventType>,
    /// Return payloads instead of previews; over 10 KB they are cut.
    include_full_payload: Option<bool>,
}

impl TraceTool for SearchEvents {
    const NAME: &'static str = "search_events";
    const DESCRIPTION: &'static str =
        "DEPRECATED: use search_event_previews, then get_event_details. At most 15 KB.";
    const ANSWER: Handler<SearchEventsInput> = search;
    type Input = SearchEventsInput;
}

fn search(input: SearchEventsInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let (limit, note) = Limit::of(input.limit, 10);
    let search = SearchRequest {
        query: input.pattern,
        kinds: input.event_type.map(EventType::kinds).unwrap_or_default(),
        sessions: SessionFilter { provider: input.provider.map(Client::from), ..SessionFilter::default() },
        most: limit,
        ..SearchRequest::default()
    };
    let full = input.include_full_payload.unwrap_or(false);
    let found = Matches::find(SearchEvents::NAME, "pattern", search, input.cursor.as_deref(), call)?;
    let answer = found.answer(call, of_search(0), |found, finder| item(found, finder, full))?;
    Ok(answer
        .hint("search_events is deprecated: use search_event_previews(query), then get_event_details(session_id, event_index)")
        .hint_if(note))
}

fn item(found: &SearchMatch, finder: &CompiledQuery, full: bool) -> Value {
    let mut item = match_of(found);
    if !full {
        item["preview"] = preview::of(found, finder);
        return item;
    }
    let payload = found.payload();
    if size(&payload) <= LARGEST_PAYLOAD {
        item["payload"] = payload.into_inner();
    } else {
        let mut short = payload.shorten(CUT_PAYLOAD);
        if size(&short) > LARGEST_PAYLOAD {
            short = payload.shorten(CUT_PAYLOAD / 4);
        }
        item["payload"] = short.into_inner();
        item["payload_cut"] = true.into();
    }
    item
}
