//! `search_event_previews`: events that match, each in a few words.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tamis_trace::{CompiledQuery, MatchPosition, SearchMatch, SearchRequest, SearchResults, TraceError};

use super::call::{Handler, TraceCall, TraceTool};
use super::cursor::Binding;
use super::failure::{invalid_parameter, trace_failure};
use super::fields::Fields;
use super::input::{EventType, Limit, Moment, ProviderName, QueryMode, session_filter, token_range};
use super::page::{Answer, Page, of_search};
use super::preview;
use super::show::event_json;
use crate::Failure;
use crate::input::Whole;

pub(crate) struct SearchEventPreviews;

/// No search takes longer.
pub(crate) const LONGEST_SEARCH: Duration = Duration::from_secs(30);

const FIELDS: &[&str] =
    &["session_id", "event_index", "timestamp", "event_type", "stream", "kind", "preview"];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchEventPreviewsInput {
    /// Text to find, in any case.
    query: String,
    /// Default substring; words: all words, in any order.
    mode: Option<QueryMode>,
    /// Page size; default 10.
    limit: Option<Limit>,
    /// next_cursor of the last page.
    cursor: Option<String>,
    /// Only this agent.
    provider: Option<ProviderName>,
    /// Only this type.
    event_type: Option<EventType>,
    /// Only this session and its subagents: id, or its first 8 characters.
    session_id: Option<String>,
    /// Hash of a project, or a prefix.
    project_hash: Option<String>,
    /// ISO 8601.
    since: Option<Moment>,
    /// ISO 8601.
    until: Option<Moment>,
    /// Minimum tokens.
    min_tokens: Option<Whole<0>>,
    /// Maximum tokens.
    max_tokens: Option<Whole<0>>,
    /// Only results of tools that failed.
    only_failed: Option<bool>,
    /// Fields to return.
    fields: Option<Vec<String>>,
}

impl TraceTool for SearchEventPreviews {
    const NAME: &'static str = "search_event_previews";
    const DESCRIPTION: &'static str = "Search past sessions: messages, reasoning, tool calls and results. Returns \
        previews, about 5 KB; get_event_details reads one in full.";
    const ANSWER: Handler<SearchEventPreviewsInput> = search;
    type Input = SearchEventPreviewsInput;
}

fn search(input: SearchEventPreviewsInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let fields = Fields::checked(input.fields, FIELDS)?;
    let (limit, note) = Limit::of(input.limit, 10);
    if input.only_failed == Some(true) && !matches!(input.event_type, None | Some(EventType::ToolResult)) {
        return Err(invalid_parameter("only_failed", "only events of the type ToolResult can have failed"));
    }
    token_range(input.min_tokens, input.max_tokens)?;
    let mut sessions = session_filter(input.provider, input.project_hash, input.since, input.until)?;
    sessions.least_tokens = input.min_tokens.map(|least| least.0);
    sessions.most_tokens = input.max_tokens.map(|most| most.0);
    let session = input.session_id.filter(|id| !id.is_empty());
    let session = session.map(|id| call.session(&id).map(|session| session.id)).transpose()?;
    let search = SearchRequest {
        query: input.query,
        mode: input.mode.unwrap_or_default().into(),
        kinds: input.event_type.map(EventType::kinds).unwrap_or_default(),
        session,
        sessions,
        only_failed: input.only_failed.unwrap_or(false),
        after: None,
        most: limit,
    };
    let found = Matches::find(SearchEventPreviews::NAME, "query", search, input.cursor.as_deref(), call)?;
    let hint =
        found.hint(call, "Use get_event_details(session_id, event_index) to retrieve full event payload")?;
    let answer = found.answer(call, of_search(limit), |found, finder| fields.of(item(found, finder)))?;
    Ok(answer.hint(hint).hint_if(note))
}

fn item(found: &SearchMatch, finder: &CompiledQuery) -> Value {
    let mut item = match_of(found);
    item["preview"] = preview::of(found, finder);
    item
}

/// What every match has, with the whole id; lists give its shortest unique prefix.
pub(crate) fn match_of(found: &SearchMatch) -> Value {
    event_json(&found.place.session, found.place.event, found.at, found.kind, found.stream)
}

/// A page of what a search found.
pub(crate) struct Matches {
    binding: Binding,
    found: SearchResults,
    finder: CompiledQuery,
}

impl Matches {
    pub(crate) fn find(
        tool: &'static str,
        parameter: &'static str,
        mut search: SearchRequest,
        cursor: Option<&str>,
        call: &TraceCall<'_>,
    ) -> Result<Matches, Failure> {
        let question = SearchRequest { most: 0, ..search.clone() };
        let binding = Binding::new(tool, &question);
        let after: Option<(i64, String, u64)> = binding.read(cursor)?;
        search.after = after.map(|(started, session, event)| MatchPosition { started, session, event });
        let found = CompiledQuery::of(&search).and_then(|finder| {
            Ok((call.trace.search(&search, LONGEST_SEARCH, &|| call.is_cancelled())?, finder))
        });
        let (found, finder) = found.map_err(|error| match error {
            TraceError::InvalidQuery(why) => invalid_parameter(parameter, why),
            error => trace_failure(error),
        })?;
        Ok(Matches { binding, found, finder })
    }

    /// What to do next: `then` with what was found, or else how something may be.
    pub(crate) fn hint(&self, call: &TraceCall<'_>, then: &str) -> Result<String, Failure> {
        match self.found.matches.is_empty() {
            true => call.nothing("Nothing matches. Use fewer filters, another spelling or mode='words'."),
            false => Ok(then.to_owned()),
        }
    }

    pub(crate) fn answer(
        self,
        call: &TraceCall<'_>,
        most: usize,
        item: impl Fn(&SearchMatch, &CompiledQuery) -> Value,
    ) -> Result<Answer, Failure> {
        let mut page = Page::new(most, 0);
        let mut last = None;
        let mut more = self.found.more;
        for found in &self.found.matches {
            let mut item = item(found, &self.finder);
            if let Some(id) = item.get_mut("session_id") {
                *id = call.short_id(&found.place.session)?.into();
            }
            if !page.take(item) {
                more = true;
                break;
            }
            last = Some(&found.place);
        }
        let next = last
            .filter(|_| more)
            .map(|place| self.binding.write(&(place.started, &place.session, place.event)));
        let late = self.found.out_of_time.then_some(
            "The search ran out of time, so these are not all: go on with next_cursor, or narrow it.",
        );
        let count = page.items.len();
        Ok(Answer::list(json!({"matches": page.items}), count, next).hint_if(late))
    }
}
