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
use super::input::{EventType, Limit, Moment, ProviderName, QueryMode, session_filter};
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
    /// What to look for in events' texts, arguments and results, in any case.
    query: String,
    /// substring: the query just so. words: all its words, anywhere in the event. regex: a regular expression.
    mode: Option<QueryMode>,
    /// Matches on a page; 10 unless given, 50 at most.
    limit: Option<Limit>,
    /// next_cursor of the page before.
    cursor: Option<String>,
    /// Only in sessions of this agent.
    provider: Option<ProviderName>,
    /// Only events of this type.
    event_type: Option<EventType>,
    /// Only in this session and its subagents': an id, or its first 8 characters.
    session_id: Option<String>,
    /// Only in this project: a hash from get_project_info, or its beginning.
    project_hash: Option<String>,
    /// ISO 8601: only in sessions that were active at this time or later.
    since: Option<Moment>,
    /// ISO 8601: only in sessions that began at this time or earlier.
    until: Option<Moment>,
    /// Only in sessions with at least this many tokens of their own.
    min_tokens: Option<Whole<0>>,
    /// Only in sessions with at most this many tokens of their own.
    max_tokens: Option<Whole<0>>,
    /// Only results of tools that failed.
    only_failed: Option<bool>,
    /// Only these fields of each match.
    fields: Option<Vec<String>>,
}

impl TraceTool for SearchEventPreviews {
    const NAME: &'static str = "search_event_previews";
    const DESCRIPTION: &'static str = "Search what was said, thought, called and returned in past sessions, the latest \
        sessions first. Gives previews of about 300 characters with session_id and event_index; read one in full with \
        get_event_details. Narrow by session_id, provider, event_type, project_hash, since, until. About 5 KB for 10 \
        matches, 15 KB at most (30 KB with a limit of 20 or more); more by cursor.";
    const ANSWER: Handler<SearchEventPreviewsInput> = search;
    type Input = SearchEventPreviewsInput;
}

fn search(input: SearchEventPreviewsInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let fields = Fields::checked(input.fields, FIELDS)?;
    let (limit, note) = Limit::of(input.limit, 10);
    if input.only_failed == Some(true) && !matches!(input.event_type, None | Some(EventType::ToolResult)) {
        return Err(invalid_parameter("only_failed", "only events of the type ToolResult can have failed"));
    }
    let mut sessions = session_filter(input.provider, input.project_hash, input.since, input.until);
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
