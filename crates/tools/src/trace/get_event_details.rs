//! `get_event_details`: one event, all of it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tamis_redact::excerpt;
use tamis_trace::EventDetails;

use super::call::{Handler, TraceCall, TraceTool};
use super::compose::part;
use super::cursor::Binding;
use super::failure::trace_failure;
use super::page::{Answer, EVENT, fitting, room, size};
use super::show::event_json;
use crate::Failure;
use crate::input::Whole;

pub(crate) struct GetEventDetails;

/// The members beside the payload.
const HEAD: usize = 400;
/// Where the part of a payload that is given says which it is.
const PART: usize = 120;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetEventDetailsInput {
    /// Id, or its first 8 characters.
    session_id: String,
    /// From search_event_previews or get_turns.
    event_index: Whole<0>,
    /// next_cursor of the last page.
    cursor: Option<String>,
}

impl TraceTool for GetEventDetails {
    const NAME: &'static str = "get_event_details";
    const DESCRIPTION: &'static str = "Read one event of a past session in full, by its event_index. At most 10 KB \
        a page.";
    const ANSWER: Handler<GetEventDetailsInput> = details;
    type Input = GetEventDetailsInput;
}

fn details(input: GetEventDetailsInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let session = call.session(&input.session_id)?;
    let index = input.event_index.0;
    let binding = Binding::new(GetEventDetails::NAME, &(&session.id, index));
    let start: Option<u64> = binding.read(input.cursor.as_deref())?;
    let EventDetails { at, kind, stream, payload } =
        call.trace.event(&session, index).map_err(trace_failure)?;
    let mut body = event_json(&session.id, index, at, kind, stream);
    let payload = payload.into_inner();
    let left = room(EVENT) - HEAD;
    if start.is_none() && size(&payload) <= left {
        body["payload"] = payload;
        return Ok(Answer::of(body));
    }
    let (payload, name, text) = taken_apart(payload);
    let start = text.floor_char_boundary(start.unwrap_or(0) as usize);
    let end = start + fitting(&text[start..], left.saturating_sub(size(&payload) + name.len() + PART));
    body["payload"] = payload;
    body["payload"][name] = text[start..end].into();
    body["payload_part"] = part(&text, start, end);
    body["payload_part"]["field"] = name.into();
    let next = (end < text.len()).then(|| binding.write(&(end as u64)));
    let hint = match next {
        Some(_) => format!(
            "The payload is returned in parts: pass next_cursor as cursor, and join payload.{name} of all parts."
        ),
        None => format!("This is the last part of payload.{name}."),
    };
    Ok(Answer::of(body).paged(1, next).hint(hint))
}

/// A payload without its long text, which can then be given in parts. Arguments are taken as the text of their JSON.
fn taken_apart(mut payload: Value) -> (Value, &'static str, String) {
    for name in ["text", "content"] {
        if let Some(Value::String(text)) = payload.get_mut(name) {
            let text = std::mem::take(text);
            // A slash command's own name is in its text.
            return (short(payload), name, text);
        }
    }
    let arguments = payload.as_object_mut().and_then(|payload| payload.remove("arguments"));
    match arguments {
        Some(arguments) => (short(payload), "arguments_json", arguments.to_string()),
        None => (json!({}), "payload_json", payload.to_string()),
    }
}

/// Members that are long against all expectation are cut, so that the text has room.
fn short(mut payload: Value) -> Value {
    if let Some(members) = payload.as_object_mut() {
        for value in members.values_mut() {
            if let Value::String(text) = value {
                *text = excerpt(text, 200).into_inner();
            }
        }
    }
    payload
}
