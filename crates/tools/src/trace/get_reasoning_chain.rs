//! `get_reasoning_chain`: what the agent thought, and nothing else.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tamis_logs::event::{EventKind, EventStream};
use tamis_trace::EventDetails;

use super::call::{Handler, TraceCall, TraceTool};
use super::compose::{Selection, part};
use super::cursor::Binding;
use super::failure::trace_failure;
use super::get_session_details::check;
use super::input::Limit;
use super::page::{Answer, TURNS, fitting, room, size, text_size};
use super::show::time;
use crate::Failure;
use crate::input::Whole;

pub(crate) struct GetReasoningChain;

/// A part of a thought has at least this many bytes.
const LEAST_PART: usize = 2_000;
/// The members around a thought's text, and around all of them.
const FRAME: usize = 200;
const LEFT_WHEN_EMPTY: usize = room(TURNS) - FRAME;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetReasoningChainInput {
    /// Id, or its first 8 characters.
    session_id: String,
    /// Only this turn, from 0.
    turn: Option<Whole<0>>,
    /// Page size; default 50.
    limit: Option<Limit>,
    /// next_cursor of the last page.
    cursor: Option<String>,
}

impl TraceTool for GetReasoningChain {
    const NAME: &'static str = "get_reasoning_chain";
    const DESCRIPTION: &'static str =
        "Read only the reasoning of a past session, in order. At most 30 KB a page.";
    const ANSWER: Handler<GetReasoningChainInput> = chain;
    type Input = GetReasoningChainInput;
}

/// The event and the byte of its text that the next page begins with.
type Spot = (u64, u64);

fn chain(input: GetReasoningChainInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let (limit, note) = Limit::of(input.limit, 50);
    let session = call.session(&input.session_id)?;
    let turn = input.turn.map(|turn| turn.0);
    if let Some(turn) = turn {
        check(&Selection::Only(vec![turn]), "turn", &session)?;
    }
    let binding = Binding::new(GetReasoningChain::NAME, &(&session.id, turn));
    let start: Option<Spot> = binding.read(input.cursor.as_deref())?;
    let turns = call
        .trace
        .turns(&session, turn.unwrap_or(0), turn.map_or(usize::MAX >> 1, |_| 1))
        .map_err(trace_failure)?;
    let (first, end) = match turn {
        Some(_) => turns.first().map_or((0, 0), |turn| (turn.first_event, turn.first_event + turn.events)),
        None => (0, u64::MAX),
    };
    let (from, offset) = start.unwrap_or((first, 0));
    let mut thoughts = Thoughts { left: LEFT_WHEN_EMPTY, items: Vec::new(), next: None };
    let visit = &mut |number: u64, event: &EventDetails| {
        if thoughts.items.len() == limit {
            thoughts.next = Some((number, 0));
            return ControlFlow::Break(());
        }
        let within = turns.partition_point(|turn| turn.first_event <= number);
        let turn = within.checked_sub(1).map(|within| turns[within].number);
        let offset = if number == from { offset as usize } else { 0 };
        thoughts.put(number, turn, event, offset)
    };
    let broken_off = &|| call.is_cancelled();
    call.trace
        .events_of_kind(&session, from..end, EventKind::Reasoning, broken_off, visit)
        .map_err(trace_failure)?;
    let count = thoughts.items.len();
    let hint = match count {
        0 => "There is no readable reasoning here.",
        _ => "Use get_turns(session_id, turns=[turn_index]) to see what was done about it",
    };
    let next = thoughts.next.map(|spot| binding.write(&spot));
    Ok(Answer::list(json!({"session_id": session.id, "reasoning": thoughts.items}), count, next)
        .hint(hint)
        .hint_if(note))
}

struct Thoughts {
    left: usize,
    items: Vec<Value>,
    next: Option<Spot>,
}

impl Thoughts {
    fn put(
        &mut self,
        number: u64,
        turn: Option<u64>,
        event: &EventDetails,
        offset: usize,
    ) -> ControlFlow<()> {
        let text = event.payload["text"].as_str().unwrap_or_default();
        let offset = text.floor_char_boundary(offset);
        let mut item = json!({"event_index": number, "timestamp": time(event.at)});
        if let Some(turn) = turn {
            item["turn_index"] = turn.into();
        }
        if event.stream != EventStream::Main {
            item["stream"] = event.stream.name().into();
        }
        let rest = &text[offset..];
        let mut end = text.len();
        if text_size(rest) + FRAME > self.left {
            if self.left < LEAST_PART + FRAME
                || text_size(rest) + 2 * FRAME < LEFT_WHEN_EMPTY && !self.items.is_empty()
            {
                self.next = Some((number, offset as u64));
                return ControlFlow::Break(());
            }
            end = offset + fitting(rest, self.left - FRAME);
            self.next = Some((number, end as u64));
        }
        if (offset, end) != (0, text.len()) {
            item["part"] = part(text, offset, end);
        }
        item["text"] = text[offset..end].into();
        self.left = self.left.saturating_sub(size(&item) + 1);
        self.items.push(item);
        if self.next.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
