//! `list_turns`: what a session's turns were about and came to.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tamis_logs::event::seconds_between;
use tamis_trace::{Session, Turn};

use super::call::{Handler, TraceCall, TraceTool};
use super::cursor::Binding;
use super::failure::trace_failure;
use super::fields::Fields;
use super::input::{Limit, token_range};
use super::page::{Answer, LIST, Page};
use super::summary::{tokens, turn_json};
use crate::Failure;
use crate::input::Whole;

pub(crate) struct ListTurns;

/// Turns that are read at once.
const BATCH: usize = 256;

const FIELDS: &[&str] = &[
    "turn_index",
    "timestamp",
    "user_message",
    "step_count",
    "tool_calls",
    "failed_tools",
    "outcome",
    "duration_seconds",
    "tokens",
    "largest_context",
    "first_event",
    "event_count",
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListTurnsInput {
    /// Id, or its first 8 characters.
    session_id: String,
    /// Page size; default 20.
    limit: Option<Limit>,
    /// next_cursor of the last page.
    cursor: Option<String>,
    /// Only turns in which a tool failed.
    only_failed: Option<bool>,
    /// Minimum tokens.
    min_tokens: Option<Whole<0>>,
    /// Maximum tokens.
    max_tokens: Option<Whole<0>>,
    /// Fields to return.
    fields: Option<Vec<String>>,
}

impl TraceTool for ListTurns {
    const NAME: &'static str = "list_turns";
    const DESCRIPTION: &'static str = "List the turns of a past session: prompt, steps, failed tools, tokens. About \
        10 KB.";
    const ANSWER: Handler<ListTurnsInput> = list;
    type Input = ListTurnsInput;
}

fn list(input: ListTurnsInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let fields = Fields::checked(input.fields, FIELDS)?;
    let (limit, note) = Limit::of(input.limit, 20);
    let session = call.session(&input.session_id)?;
    let only_failed = input.only_failed.unwrap_or(false);
    let tokens_in = token_range(input.min_tokens, input.max_tokens)?;
    let binding = Binding::new(ListTurns::NAME, &(&session.id, only_failed, &tokens_in));
    let from = binding.read(input.cursor.as_deref())?.unwrap_or(0);
    let matches =
        |turn: &Turn| tokens_in.contains(&turn.tokens.total()) && (!only_failed || turn.failed_tools > 0);
    let mut page = Page::new(LIST, 200);
    let next = put_turns(call, &session, from..=u64::MAX, &mut page, limit, |turn| {
        matches(turn).then(|| fields.of(item(turn)))
    })?;
    let found = page.items.len();
    let next = next.map(|number| binding.write(&number));
    Ok(Answer::list(json!({"session_id": session.id, "turns": page.items}), found, next)
        .hint("Use get_turns(session_id, turns=[…]) to read some of them with their steps (up to 38 KB)")
        .hint_if(note))
}

/// Puts a session's turns on a page until it is full, and gives the first that is not on it. `item` is `None` for a turn
/// that is left out.
pub(crate) fn put_turns(
    call: &TraceCall<'_>,
    session: &Session,
    turns: RangeInclusive<u64>,
    page: &mut Page,
    limit: usize,
    item: impl Fn(&Turn) -> Option<Value>,
) -> Result<Option<u64>, Failure> {
    let mut from = *turns.start();
    loop {
        let batch = call.trace.turns(session, from, BATCH).map_err(trace_failure)?;
        for turn in &batch {
            if turn.number > *turns.end() {
                return Ok(None);
            }
            if let Some(item) = item(turn)
                && (page.items.len() == limit || !page.take(item))
            {
                return Ok(Some(turn.number));
            }
            from = turn.number + 1;
        }
        if batch.len() < BATCH {
            return Ok(None);
        }
    }
}

fn item(turn: &Turn) -> Value {
    let mut item = turn_json(turn);
    item["tool_calls"] = turn.tool_calls.into();
    item["failed_tools"] = turn.failed_tools.into();
    item["duration_seconds"] = seconds_between(turn.at, turn.ended).into();
    item["tokens"] = tokens(turn.tokens);
    item["largest_context"] = turn.largest_context.into();
    item["first_event"] = turn.first_event.into();
    item["event_count"] = turn.events.into();
    item
}
