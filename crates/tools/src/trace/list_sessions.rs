//! `list_sessions`: past sessions, the latest first.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tamis_logs::event::Millis;
use tamis_redact::excerpt;
use tamis_trace::ListedSession;

use super::call::{Handler, TraceCall, TraceTool};
use super::cursor::Binding;
use super::failure::trace_failure;
use super::fields::Fields;
use super::input::{Limit, Moment, ProviderName, session_filter, token_range};
use super::page::{Answer, LIST, Page};
use super::summary::session_json;
use crate::Failure;
use crate::input::Whole;

pub(crate) struct ListSessions;

const FIELDS: &[&str] = &[
    "id",
    "project_hash",
    "provider",
    "start_time",
    "end_time",
    "snippet",
    "title",
    "turn_count",
    "duration_seconds",
    "total_tokens",
    "failed_tools",
    "model",
    "parent",
    "relation",
    "agent",
    "subagents",
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListSessionsInput {
    /// Page size; default 10.
    limit: Option<Limit>,
    /// next_cursor of the last page.
    cursor: Option<String>,
    /// Only this agent.
    provider: Option<ProviderName>,
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
    /// Also list subagents' sessions.
    include_subagents: Option<bool>,
    /// Fields to return.
    fields: Option<Vec<String>>,
}

impl TraceTool for ListSessions {
    const NAME: &'static str = "list_sessions";
    const DESCRIPTION: &'static str = "List past sessions of coding agents on this machine, latest first. About 5 \
        KB; get_session_details reads one.";
    const ANSWER: Handler<ListSessionsInput> = list;
    type Input = ListSessionsInput;
}

fn list(input: ListSessionsInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let fields = Fields::checked(input.fields, FIELDS)?;
    let (limit, note) = Limit::of(input.limit, 10);
    let tokens = token_range(input.min_tokens, input.max_tokens)?;
    let mut filter = session_filter(input.provider, input.project_hash, input.since, input.until)?;
    filter.with_subagents = input.include_subagents.unwrap_or(false);
    let binding = Binding::new(ListSessions::NAME, &(&filter, &tokens));
    let after: Option<(Millis, String)> = binding.read(input.cursor.as_deref())?;
    let in_range = |listed: &ListedSession| tokens.contains(&listed.total_tokens);
    let listed = call.trace.list_sessions(&filter, after, limit + 1, &in_range, &|| call.is_cancelled());
    let listed = listed.map_err(trace_failure)?;
    let mut page = Page::new(LIST, 0);
    for session in listed.iter().take(limit) {
        if !page.take(fields.of(item(call, session)?)) {
            break;
        }
    }
    let last = page.items.len().checked_sub(1).filter(|last| last + 1 < listed.len());
    let next = last.map(|last| binding.write(&listed[last].session.place()));
    let found = page.items.len();
    let hint = match found {
        0 => call.nothing("No sessions match. get_project_info lists the projects that have any.")?,
        _ => "Use get_session_details(id, detail_level='summary') for turn breakdown".to_owned(),
    };
    Ok(Answer::list(json!({"sessions": page.items}), found, next).hint(hint).hint_if(note))
}

fn item(call: &TraceCall<'_>, listed: &ListedSession) -> Result<Value, Failure> {
    let ListedSession { session, subagents, total_tokens } = listed;
    let summary = &session.summary;
    let mut item = session_json(call, session)?;
    item["id"] = call.short_id(&session.id)?.into();
    item["snippet"] = json!(summary.snippet.clone().unwrap_or_default());
    item["turn_count"] = summary.turns.into();
    item["duration_seconds"] = summary.duration_seconds().into();
    item["total_tokens"] = (*total_tokens).into();
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            item[name] = value;
        }
    };
    add("title", summary.title.clone().map(Value::from));
    add("failed_tools", (summary.failed_tools > 0).then(|| summary.failed_tools.into()));
    add("parent", session.parent().map(|parent| parent.shorten(100).into()));
    add("relation", session.relation.map(|relation| relation.name().into()));
    add("agent", summary.agent_name.as_deref().map(|agent| excerpt(agent, 100).into()));
    add("subagents", (*subagents > 0).then(|| (*subagents).into()));
    Ok(item)
}
