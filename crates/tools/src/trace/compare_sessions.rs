//! `compare_sessions`: two sessions side by side.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tamis_logs::event::EventKind;
use tamis_logs::usage::Tokens;
use tamis_redact::excerpt;
use tamis_trace::{Session, ToolStats};

use super::call::{Handler, TraceCall, TraceTool};
use super::failure::trace_failure;
use super::page::{Answer, COMPARISON, room, size};
use super::summary::{session_json, tokens};
use crate::Failure;

pub(crate) struct CompareSessions;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompareSessionsInput {
    /// Id, or its first 8 characters.
    id1: String,
    /// The other session's.
    id2: String,
}

impl TraceTool for CompareSessions {
    const NAME: &'static str = "compare_sessions";
    const DESCRIPTION: &'static str =
        "Compare two past sessions: turns, duration, tokens, tools. About 3 KB.";
    const ANSWER: Handler<CompareSessionsInput> = compare;
    type Input = CompareSessionsInput;
}

fn compare(input: CompareSessionsInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let (one, other) = (call.session(&input.id1)?, call.session(&input.id2)?);
    let (mut first, mut second) = (side(call, &one)?, side(call, &other)?);
    let mut difference = Map::new();
    let numbers = [&first, &second].map(|side| side["stats"].clone());
    if let Some(names) = numbers[0].as_object() {
        for name in names.keys() {
            let [before, after] = [&numbers[0], &numbers[1]].map(|stats| stats[name].as_i64().unwrap_or(0));
            difference.insert(name.clone(), (after - before).into());
        }
    }
    let same = json!({
        "project": one.has_project() && one.project == other.project,
        "provider": one.provider == other.provider,
        "model": first["model"] == second["model"],
        "first_message": one.summary.snippet.is_some() && one.summary.snippet == other.summary.snippet,
    });
    for side in [&mut first, &mut second] {
        side["session_id"] = call.short_id(side["session_id"].as_str().unwrap_or_default())?.into();
    }
    let mut body = json!({"sessions": [first, second], "difference": difference, "same": same});
    let left = room(COMPARISON).saturating_sub(size(&body) + 100);
    let (tools, dropped) = tools(&one, &other, left);
    body["tools"] = tools.into();
    let more = (dropped > 0).then(|| format!("{dropped} more tools differ less."));
    Ok(Answer::of(body)
        .hint("Use analyze_session(session_id) on either for failures and loops, list_turns for its turns")
        .hint_if(more))
}

fn side(call: &TraceCall<'_>, session: &Session) -> Result<Value, Failure> {
    let summary = &session.summary;
    let account = call.trace.account(session).map_err(trace_failure)?;
    let used = account.requests().iter().fold(Tokens::default(), |sum, request| sum.plus(request.tokens));
    let mut side = session_json(call, session)?;
    side["session_id"] = session.id.as_str().into();
    side["snippet"] = json!(summary.snippet.clone().unwrap_or_default());
    side["own_tokens"] = tokens(used.minus(session.inherited));
    side["stats"] = json!({
            "turns": summary.turns,
            "duration_seconds": summary.duration_seconds(),
            "total_tokens": call.trace.tokens_with_subagents(session).map_err(trace_failure)?,
            "requests": account.requests().len(),
            "tool_calls": summary.count(EventKind::ToolCall),
            "failed_tools": summary.failed_tools,
            "messages": summary.count(EventKind::Message),
            "subagents": call.trace.subagents(session).map_err(trace_failure)?.len(),
    });
    Ok(side)
}

/// Tools by how differently they were used, as many as there is room for, and how many that leaves.
fn tools(one: &Session, other: &Session, mut left: usize) -> (Vec<Value>, usize) {
    let of = |session: &Session, name: &str| -> ToolStats {
        session.summary.tools.get(name).copied().unwrap_or_default()
    };
    let names: BTreeSet<&String> = one.summary.tools.keys().chain(other.summary.tools.keys()).collect();
    let mut rows: Vec<(u64, Value)> = names
        .into_iter()
        .map(|name| {
            let (first, second) = (of(one, name), of(other, name));
            let row = json!({
                "name": excerpt(name, 120),
                "calls": [first.calls, second.calls],
                "failed": [first.failed, second.failed],
                "result_bytes": [first.result_bytes, second.result_bytes],
            });
            (first.calls.abs_diff(second.calls), row)
        })
        .collect();
    rows.sort_by_key(|(difference, _)| std::cmp::Reverse(*difference));
    let all = rows.len();
    let mut kept = Vec::new();
    for (_, row) in rows {
        let needed = size(&row) + 1;
        if needed > left {
            break;
        }
        left -= needed;
        kept.push(row);
    }
    let dropped = all - kept.len();
    (kept, dropped)
}
