//! `get_session_details`: a session at one of four levels of detail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tamis_trace::Session;

use super::call::{Handler, TraceCall, TraceTool};
use super::compose::{Depth, Selection, Spot, compose};
use super::cursor::Binding;
use super::failure::{invalid_parameter, trace_failure};
use super::fields::Fields;
use super::list_turns::put_turns;
use super::page::{Answer, Page, STEPS, SUMMARY, TURNS, room, size};
use super::summary::{session_json, turn_json, turn_stats};
use crate::Failure;
use crate::input::Whole;

pub(crate) struct GetSessionDetails;

/// Members' names and numbers beside a session's turns.
const HEAD: usize = 300;

/// Follows the contract's hints, which name the search of old.
const SEARCH_INSTEAD: &str = "search_events is deprecated: search_event_previews(query, session_id) finds the event_index for \
    get_event_details.";

const SUMMARY_FIELDS: &[&str] =
    &["id", "turn_index", "timestamp", "user_message", "step_count", "outcome", "stats"];
const TURN_FIELDS: &[&str] = &[
    "turn_index",
    "timestamp",
    "user_message",
    "user_message_part",
    "first_event",
    "step_count",
    "steps",
    "outcome",
    "stats",
    "key_actions",
    "continued",
];

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DetailLevel {
    #[default]
    Summary,
    Turns,
    Steps,
    Full,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetSessionDetailsInput {
    /// Id, or its first 8 characters.
    session_id: String,
    /// Default summary. steps: payloads cut to 500 characters.
    detail_level: Option<DetailLevel>,
    /// With turns: reasoning, cut to 500 characters.
    include_reasoning: Option<bool>,
    /// Only this turn, from 0.
    turn: Option<Whole<0>>,
    /// First turn to read.
    from_turn: Option<Whole<0>>,
    /// next_cursor of the last page.
    cursor: Option<String>,
    /// Fields to return.
    fields: Option<Vec<String>>,
}

impl TraceTool for GetSessionDetails {
    const NAME: &'static str = "get_session_details";
    const DESCRIPTION: &'static str = "Read a past session. detail_level: summary (15 KB), turns (30 KB), steps or \
        full (38 KB a page); start with summary.";
    const ANSWER: Handler<GetSessionDetailsInput> = details;
    type Input = GetSessionDetailsInput;
}

fn details(input: GetSessionDetailsInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let level = input.detail_level.unwrap_or_default();
    let known = if level == DetailLevel::Summary { SUMMARY_FIELDS } else { TURN_FIELDS };
    let fields = Fields::checked(input.fields, known)?;
    let session = call.session(&input.session_id)?;
    let reasoning = input.include_reasoning.unwrap_or(false);
    let selection = match (input.turn, input.from_turn) {
        (Some(turn), None) => Selection::Only(vec![turn.0]),
        (None, from) => Selection::From(from.map_or(0, |from| from.0)),
        (Some(_), Some(_)) => return Err(invalid_parameter("from_turn", "give turn or from_turn, not both")),
    };
    check(&selection, "turn", &session)?;
    let binding = Binding::new(GetSessionDetails::NAME, &(&session.id, level, reasoning, &selection));
    let cursor = input.cursor.as_deref();
    if level == DetailLevel::Summary {
        return summary(call, &session, &selection, &binding, cursor, &fields);
    }
    let start: Option<Spot> = binding.read(cursor)?;
    let (depth, most, [hint, more]) = match level {
        DetailLevel::Turns | DetailLevel::Summary => (
            Depth::Summaries { reasoning },
            TURNS,
            [
                "Use detail_level='steps' for detailed payloads",
                "That is up to 38 KB a page; name a turn to get less.",
            ],
        ),
        DetailLevel::Steps => (
            Depth::Cut,
            STEPS,
            [
                "Payloads are truncated to 500 chars. Use search_events(pattern) to find specific content, or \
                 detail_level='full' for complete data",
                SEARCH_INSTEAD,
            ],
        ),
        DetailLevel::Full => (
            Depth::Whole,
            STEPS,
            [
                "Response may be large. Use search_events(pattern) to find specific events, or detail_level='steps' for \
                 truncated payloads",
                SEARCH_INSTEAD,
            ],
        ),
    };
    let head = head(call, &session)?;
    let composed =
        compose(call, &session, &selection, start, depth, room(most).saturating_sub(size(&head) + HEAD))?;
    let turns: Vec<Value> = composed.turns.into_iter().map(|turn| fields.of(turn)).collect();
    let (count, next) = (turns.len(), composed.next.map(|spot| binding.write(&spot)));
    let mut body = head;
    body["turns"] = turns.into();
    let go_on = next.is_some().then_some("The session goes on: pass next_cursor as cursor.");
    Ok(Answer::of(body).paged(count, next).hint(hint).hint(more).hint_if(go_on))
}

/// Refuses turns that the session does not have; `one_by_one` is the parameter that names turns one by one.
pub(crate) fn check(
    selection: &Selection,
    one_by_one: &'static str,
    session: &Session,
) -> Result<(), Failure> {
    let turns = session.summary.turns;
    let (name, requested) = match selection {
        Selection::From(0) => return Ok(()),
        Selection::From(from) => ("from_turn", Some(from)),
        Selection::Only(numbers) => (one_by_one, numbers.iter().find(|number| **number >= turns)),
    };
    match (requested, turns.checked_sub(1)) {
        (Some(requested), Some(last)) if *requested > last => {
            Err(invalid_parameter(name, format!("there is no turn {requested}; the last is {last}")))
        }
        (Some(requested), None) => {
            Err(invalid_parameter(name, format!("there is no turn {requested}; the session has none")))
        }
        _ => Ok(()),
    }
}

/// The fields of the session in every level.
fn head(call: &TraceCall<'_>, session: &Session) -> Result<Value, Failure> {
    let subagents = call.trace.subagents(session).map_err(trace_failure)?;
    let of_subagents: u64 = subagents.iter().map(|child| child.own_tokens).sum();
    let summary = &session.summary;
    let mut head = session_json(call, session)?;
    head["session_id"] = session.id.as_str().into();
    head["stats"] = json!({
        "total_turns": summary.turns,
        "total_tokens": session.own_tokens.saturating_add(of_subagents),
        "duration_seconds": summary.duration_seconds(),
        "tool_calls": summary.tools.values().map(|used| used.calls).sum::<u64>(),
        "failed_tools": summary.failed_tools,
        "events": summary.events,
    });
    if let Some(title) = &summary.title {
        head["title"] = title.clone().into();
    }
    if let (Some(parent), Some(relation)) = (session.parent(), session.relation) {
        head["parent"] = json!({"session_id": parent.shorten(100), "relation": relation});
    }
    if !subagents.is_empty() {
        let mut listed = Vec::new();
        for child in subagents.iter().take(20) {
            listed.push(call.short_id(&child.id)?);
        }
        head["stats"]["subagent_tokens"] = of_subagents.into();
        head["subagents"] = json!({"count": subagents.len(), "first": listed});
    }
    if !summary.unrecognised.is_empty() {
        // Records of the log that no reader knows; counted, never hidden.
        head["stats"]["not_understood"] = summary.unrecognised.values().sum::<u64>().into();
    }
    Ok(head)
}

fn summary(
    call: &TraceCall<'_>,
    session: &Session,
    selection: &Selection,
    binding: &Binding,
    cursor: Option<&str>,
    fields: &Fields,
) -> Result<Answer, Failure> {
    let mut body = head(call, session)?;
    let (first, last) = match selection {
        Selection::From(first) => (*first, u64::MAX),
        Selection::Only(numbers) => {
            (numbers.first().copied().unwrap_or(0), numbers.last().copied().unwrap_or(0))
        }
    };
    let from = binding.read(cursor)?.unwrap_or(first);
    let mut page = Page::new(SUMMARY, size(&body) + HEAD);
    let next = put_turns(call, session, from..=last, &mut page, usize::MAX, |turn| {
        let mut item = turn_json(turn);
        item["id"] = format!("turn-{}", turn.number).into();
        item["stats"] = turn_stats(turn);
        Some(fields.of(item))
    })?;
    let count = page.items.len();
    body["turns"] = page.items.into();
    let next = next.map(|number| binding.write(&number));
    let go_on = next.is_some().then_some("More turns follow: pass next_cursor as cursor.");
    Ok(Answer::of(body)
        .paged(count, next)
        .hint("Use detail_level='turns' to see tool execution summaries")
        .hint("That is up to 30 KB.")
        .hint_if(go_on))
}
