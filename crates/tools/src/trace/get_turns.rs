//! `get_turns`: some turns of a session, with their steps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Handler, TraceCall, TraceTool};
use super::compose::{Depth, Selection, Spot, compose};
use super::cursor::Binding;
use super::failure::invalid_parameter;
use super::get_session_details::check;
use super::page::{Answer, STEPS, TURNS, room};
use crate::Failure;
use crate::input::Whole;

pub(crate) struct GetTurns;

/// Turns that one call may name.
const MOST_TURNS: usize = 50;
/// The session's id and the members' names around the turns.
const HEAD: usize = 200;

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TurnDetail {
    Turns,
    #[default]
    Steps,
    Full,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetTurnsInput {
    /// Id, or its first 8 characters.
    session_id: String,
    /// Turns to read, from 0; 50 at most.
    turns: Vec<Whole<0>>,
    /// Default steps: payloads cut to 500 characters.
    detail_level: Option<TurnDetail>,
    /// With turns: reasoning, cut to 500 characters.
    include_reasoning: Option<bool>,
    /// next_cursor of the last page.
    cursor: Option<String>,
}

impl TraceTool for GetTurns {
    const NAME: &'static str = "get_turns";
    const DESCRIPTION: &'static str = "Read turns of a past session: reasoning, messages, calls and results. At \
        most 38 KB a page.";
    const ANSWER: Handler<GetTurnsInput> = turns;
    type Input = GetTurnsInput;
}

fn turns(input: GetTurnsInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let mut numbers: Vec<u64> = input.turns.iter().map(|number| number.0).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.is_empty() || numbers.len() > MOST_TURNS {
        return Err(invalid_parameter("turns", format!("name 1 to {MOST_TURNS} turns")));
    }
    let session = call.session(&input.session_id)?;
    let selection = Selection::Only(numbers);
    check(&selection, "turns", &session)?;
    let level = input.detail_level.unwrap_or_default();
    let reasoning = input.include_reasoning.unwrap_or(false);
    let binding = Binding::new(GetTurns::NAME, &(&session.id, level, reasoning, &selection));
    let start: Option<Spot> = binding.read(input.cursor.as_deref())?;
    let (depth, most) = match level {
        TurnDetail::Turns => (Depth::Summaries { reasoning }, TURNS),
        TurnDetail::Steps => (Depth::Cut, STEPS),
        TurnDetail::Full => (Depth::Whole, STEPS),
    };
    let composed = compose(call, &session, &selection, start, depth, room(most) - HEAD)?;
    let (count, next) = (composed.turns.len(), composed.next.map(|spot| binding.write(&spot)));
    let go_on = next.is_some().then_some("The turns go on: pass next_cursor as cursor.");
    Ok(Answer::list(json!({"session_id": session.id, "turns": composed.turns}), count, next)
        .hint("Use get_event_details(session_id, event_index) for one event's full payload")
        .hint_if(go_on))
}
