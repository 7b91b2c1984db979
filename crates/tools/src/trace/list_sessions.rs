//! `list_sessions`: past sessions, the latest first.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tamis_logs::event::Millis;
use tamis_redact::excerpt;
use tamis_trace::Session;

use super::call::{TraceCall, answer};
use super::cursor::Binding;
use super::failure::trace_failure;
use super::fields::Fields;
use super::input::{Limit, Maybe, Moment, ProviderName, session_filter};
use super::page::{Answer, LIST, Page};
use super::summary::session_json;
use crate::input::Whole;
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct ListSessions;

/// Sessions that are read at once when they are filtered by their tokens.
const BATCH: usize = 64;

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
    /// Sessions on a page; 10 unless given, 50 at most.
    #[serde(default)]
    limit: Maybe<Limit>,
    /// next_cursor of the page before.
    #[serde(default)]
    cursor: Maybe<String>,
    /// Whose sessions.
    #[serde(default)]
    provider: Maybe<ProviderName>,
    /// Only of this project: a hash from get_project_info, or its beginning.
    #[serde(default)]
    project_hash: Maybe<String>,
    /// ISO 8601: only sessions that were active at this time or later.
    #[serde(default)]
    since: Maybe<Moment>,
    /// ISO 8601: only sessions that began at this time or earlier.
    #[serde(default)]
    until: Maybe<Moment>,
    /// Only sessions with at least this many total_tokens.
    #[serde(default)]
    min_tokens: Maybe<Whole<0>>,
    /// Only sessions with at most this many total_tokens.
    #[serde(default)]
    max_tokens: Maybe<Whole<0>>,
    /// List subagents' sessions too, which otherwise count with their parents.
    #[serde(default)]
    include_subagents: Maybe<bool>,
    /// Only these fields of each session, such as ["id", "snippet"].
    #[serde(default)]
    fields: Maybe<Vec<String>>,
}

impl Operation for ListSessions {
    const NAME: &'static str = "list_sessions";
    const TOOLSET: Toolset = Toolset::Trace;
    const DESCRIPTION: &'static str = "List past sessions of coding agents on this machine (Claude Code, Codex, Gemini CLI, \
        OpenCode), the latest first: what each was about, turns, duration, tokens including subagents. Start here, then \
        go on with the id in get_session_details or analyze_session. About 5 KB for 10 sessions, 20 KB at most; more \
        by cursor.";
    const READ_ONLY: bool = true;
    type Input = ListSessionsInput;
    type Output = Value;

    async fn run(input: ListSessionsInput, context: Context) -> Result<Value, Failure> {
        answer(context, move |call| list(input, call)).await
    }
}

fn list(input: ListSessionsInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let fields = Fields::checked(input.fields, FIELDS)?;
    let (limit, note) = Limit::of(input.limit, 10);
    let tokens =
        (input.min_tokens.0.map_or(0, |least| least.0), input.max_tokens.0.map_or(u64::MAX, |most| most.0));
    let mut filter = session_filter(input.provider, input.project_hash, input.since, input.until);
    filter.with_subagents = input.include_subagents.0.unwrap_or(false);
    let binding = Binding::new(ListSessions::NAME, &(&filter, tokens));
    let mut after: Option<(Millis, String)> = binding.read(input.cursor.0.as_deref())?;
    let any_tokens = tokens == (0, u64::MAX);
    let mut page = Page::new(LIST, 0);
    let mut last = None;
    let mut more = true;
    'pages: loop {
        let place = after.as_ref().map(|(started, id)| (*started, id.as_str()));
        let batch = if any_tokens { limit + 1 } else { BATCH };
        let sessions = call.trace.sessions(&filter, place, batch).map_err(trace_failure)?;
        for session in &sessions {
            if call.is_cancelled() {
                return Err(Failure::Cancelled);
            }
            let subagents = call.trace.subagents(session).map_err(trace_failure)?;
            let total =
                subagents.iter().fold(session.own_tokens, |sum, one| sum.saturating_add(one.own_tokens));
            if total < tokens.0 || total > tokens.1 {
                continue;
            }
            if page.items.len() == limit
                || !page.take(fields.of(item(call, session, total, subagents.len())?))
            {
                break 'pages;
            }
            last = Some(owned(session));
        }
        if sessions.len() < batch {
            more = false;
            break;
        }
        after = sessions.last().map(owned);
    }
    let next = last.filter(|_| more).map(|place| binding.write(&place));
    let found = page.items.len();
    let hint = match found {
        0 => call.nothing("No sessions match. get_project_info lists the projects that have any.")?,
        _ => "Use get_session_details(id, detail_level='summary') for turn breakdown".to_owned(),
    };
    Ok(Answer::list(json!({"sessions": page.items}), found, next).hint(hint).hint_if(note))
}

fn owned(session: &Session) -> (Millis, String) {
    let (started, id) = session.place();
    (started, id.to_owned())
}

fn item(call: &TraceCall<'_>, session: &Session, total: u64, subagents: usize) -> Result<Value, Failure> {
    let summary = &session.summary;
    let mut item = session_json(call, session)?;
    item["id"] = call.short_id(&session.id)?.into();
    item["snippet"] = json!(summary.snippet.clone().unwrap_or_default());
    item["turn_count"] = summary.turns.into();
    item["duration_seconds"] = summary.duration_seconds().into();
    item["total_tokens"] = total.into();
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
    add("subagents", (subagents > 0).then(|| subagents.into()));
    Ok(item)
}
