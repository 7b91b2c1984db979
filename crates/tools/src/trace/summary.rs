//! What turns and steps came to, in few words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tamis_logs::usage::Tokens;
use tamis_redact::{Redacted, excerpt};
use tamis_trace::{Session, ToolStep, Turn, TurnStep};

use super::call::TraceCall;
use super::failure::trace_failure;
use super::show::time;
use crate::Failure;

/// Characters of a step's summary.
const SUMMARY: usize = 300;
/// Tools that a summary names.
const MOST_TOOLS: usize = 6;
/// Arguments that describe a call best, in this order.
pub(crate) const TELLING: &[&str] = &[
    "file_path",
    "filePath",
    "absolute_path",
    "path",
    "notebook_path",
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "prompt",
    "description",
];

/// Whether a turn's tools succeeded.
pub(crate) fn outcome(turn: &Turn) -> &'static str {
    match turn.failed_tools {
        0 => "success",
        failed if failed >= turn.tool_calls => "failed",
        _ => "partial",
    }
}

/// The fields of a session in every answer: its client, project, times and model.
pub(crate) fn session_json(call: &TraceCall<'_>, session: &Session) -> Result<Value, Failure> {
    let mut item = json!({
        "provider": session.provider.id(),
        "project_hash": session.project,
        "start_time": time(session.summary.started),
        "end_time": time(session.summary.ended),
    });
    if let Some(model) = model(call, session)? {
        item["model"] = excerpt(&model, 100).into();
    }
    Ok(item)
}

/// The model that used most of a session's tokens.
fn model(call: &TraceCall<'_>, session: &Session) -> Result<Option<String>, Failure> {
    let account = call.trace.account(session).map_err(trace_failure)?;
    let mut used: BTreeMap<&str, u64> = BTreeMap::new();
    for request in account.requests() {
        *used.entry(account.model_of(request)).or_default() += request.tokens.total();
    }
    let most = used.into_iter().filter(|(model, _)| !model.is_empty()).max_by_key(|(_, tokens)| *tokens);
    Ok(most.map(|(model, _)| model.to_owned()))
}

/// The fields of a turn in every list.
pub(crate) fn turn_json(turn: &Turn) -> Value {
    json!({
        "turn_index": turn.number,
        "timestamp": time(turn.at),
        "user_message": turn.preview,
        "step_count": turn.steps,
        "outcome": outcome(turn),
    })
}

/// A turn's tokens. What the model read counts as input, from the cache or not.
pub(crate) fn turn_stats(turn: &Turn) -> Value {
    json!({
        "input_tokens": turn.tokens.read(),
        "output_tokens": turn.tokens.output,
        "tool_calls": turn.tool_calls,
        "failed_tools": turn.failed_tools,
    })
}

pub(crate) fn step_tokens(step: &TurnStep) -> Value {
    json!({"input": step.tokens.read(), "output": step.tokens.output})
}

/// Tokens by their parts.
pub(crate) fn tokens(tokens: Tokens) -> Value {
    json!({
        "total": tokens.total(),
        "input": tokens.read(),
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_creation": tokens.cache_creation,
        "reasoning": tokens.reasoning,
    })
}

/// A step in one line: its tools with their main argument, or the beginning of the agent's message.
pub(crate) fn step_summary(step: &TurnStep) -> Value {
    let mut parts: Vec<String> = step.tools.iter().take(MOST_TOOLS).map(tool).collect();
    let more = step.tools.len().saturating_sub(MOST_TOOLS);
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    let summary = if parts.is_empty() {
        let text = step.first_text().map(|text| text.shorten(SUMMARY));
        text.unwrap_or_else(|| Redacted::from("(nothing said)"))
    } else {
        excerpt(&parts.join(", "), SUMMARY)
    };
    let names: BTreeSet<Redacted> = step
        .tools
        .iter()
        .filter_map(|tool| tool.call.as_ref())
        .map(|call| call.name.shorten(60))
        .take(20)
        .collect();
    let mut line = json!({
        "step_index": step.index,
        "first_event": step.first_event,
        "summary": summary,
        "tools": names,
        "tool_calls": step.tool_calls(),
        "failed_tools": step.failed_tools(),
        "tokens": step_tokens(step),
    });
    if step.sidechain {
        line["sidechain"] = true.into();
    }
    line
}

fn tool(tool: &ToolStep) -> String {
    let state = match &tool.result {
        None => "no result",
        Some(result) if result.declined => "declined",
        Some(result) if result.failed => "failed",
        Some(_) => "ok",
    };
    let Some(call) = &tool.call else { return format!("result of an earlier call ({state})") };
    let name = call.name.shorten(60);
    let telling = TELLING.iter().find_map(|name| call.arguments.get(name)?.as_str());
    match telling {
        Some(telling) => format!("{name} {} ({state})", excerpt(&telling.replace(['\n', '\r'], " "), 120)),
        None => format!("{name} ({state})"),
    }
}

/// What was done in a turn, on whichever pages its steps are.
pub(crate) fn key_actions(turn: &Turn) -> Value {
    let mut actions = Vec::new();
    if !turn.tools.is_empty() {
        let names: Vec<&str> = turn.tools.iter().map(|name| name.as_str()).collect();
        actions.push(format!("Used tools: {}", names.join(", ")));
    }
    if turn.failed_tools > 0 {
        actions.push(format!("{} tool execution(s) failed", turn.failed_tools));
    }
    actions.into()
}
