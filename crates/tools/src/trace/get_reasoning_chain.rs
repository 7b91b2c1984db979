//! `get_reasoning_chain`: what the agent thought, and nothing else.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tamis_logs::event::{EventBody, EventStream, Millis};
use tamis_redact::Redacted;

use super::call::{TraceCall, answer};
use super::compose::{Selection, part};
use super::cursor::Binding;
use super::failure::trace_failure;
use super::get_session_details::check;
use super::input::{Limit, Maybe};
use super::page::{Answer, TURNS, fitting, room, size, text_size};
use super::show::time;
use crate::input::Whole;
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct GetReasoningChain;

/// A part of a thought has at least this many bytes.
const LEAST_PART: usize = 2_000;
/// The members around a thought's text, and around all of them.
const FRAME: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetReasoningChainInput {
    /// The session's id, or its first 8 characters.
    session_id: String,
    /// Only in this turn, counted from 0.
    #[serde(default)]
    turn: Maybe<Whole<0>>,
    /// Thoughts on a page; 50 unless given, which is the most.
    #[serde(default)]
    limit: Maybe<Limit>,
    /// next_cursor of the page before.
    #[serde(default)]
    cursor: Maybe<String>,
}

impl Operation for GetReasoningChain {
    const NAME: &'static str = "get_reasoning_chain";
    const TOOLSET: Toolset = Toolset::Trace;
    const DESCRIPTION: &'static str = "Read only what the agent thought in a past session, in order and uncut, to see why it \
        did what it did. Name a turn to get less. 30 KB at most an answer; more by cursor. Some clients encrypt or drop \
        reasoning; then there is none.";
    const READ_ONLY: bool = true;
    type Input = GetReasoningChainInput;
    type Output = Value;

    async fn run(input: GetReasoningChainInput, context: Context) -> Result<Value, Failure> {
        answer(context, move |call| chain(input, call)).await
    }
}

/// The event and the byte of its text that the next page begins with.
type Spot = (u64, u64);

fn chain(input: GetReasoningChainInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let (limit, note) = Limit::of(input.limit, 50);
    let session = call.session(&input.session_id)?;
    let turn = input.turn.0.map(|turn| turn.0);
    if let Some(turn) = turn {
        check(&Selection::Only(vec![turn]), "turn", &session)?;
    }
    let binding = Binding::new(GetReasoningChain::NAME, &(&session.id, turn));
    let start: Option<Spot> = binding.read(input.cursor.0.as_deref())?;
    let turns = call
        .trace
        .turns(&session, turn.unwrap_or(0), turn.map_or(usize::MAX >> 1, |_| 1))
        .map_err(trace_failure)?;
    let (first, end) = match turn {
        Some(_) => turns.first().map_or((0, 0), |turn| (turn.first_event, turn.first_event + turn.events)),
        None => (0, u64::MAX),
    };
    let (from, offset) = start.unwrap_or((first, 0));
    let mut thoughts = Thoughts { left: room(TURNS) - FRAME, items: Vec::new(), next: None };
    let mut cancelled = false;
    call.trace
        .events(&session, from, &mut |number, event| {
            cancelled = call.is_cancelled();
            if cancelled || number >= end {
                return ControlFlow::Break(());
            }
            let EventBody::Reasoning(content) = &event.body else { return ControlFlow::Continue(()) };
            if thoughts.items.len() == limit {
                thoughts.next = Some((number, 0));
                return ControlFlow::Break(());
            }
            let within = turns.partition_point(|turn| turn.first_event <= number);
            let turn = within.checked_sub(1).map(|within| turns[within].number);
            let offset = if number == from { offset as usize } else { 0 };
            thoughts.put(number, turn, event.at, event.stream, &Redacted::from(&*content.to_text()), offset)
        })
        .map_err(trace_failure)?;
    if cancelled {
        return Err(Failure::Cancelled);
    }
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
        at: Option<Millis>,
        stream: EventStream,
        text: &str,
        offset: usize,
    ) -> ControlFlow<()> {
        let offset = text.floor_char_boundary(offset);
        let mut item = json!({"event_index": number, "timestamp": time(at)});
        if let Some(turn) = turn {
            item["turn_index"] = turn.into();
        }
        if stream != EventStream::Main {
            item["stream"] = stream.name().into();
        }
        let rest = &text[offset..];
        let mut end = text.len();
        if text_size(rest) + FRAME > self.left {
            if self.left < LEAST_PART + FRAME
                || text_size(rest) + 2 * FRAME < self.left_when_empty() && !self.items.is_empty()
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

    fn left_when_empty(&self) -> usize {
        room(TURNS) - FRAME
    }
}
