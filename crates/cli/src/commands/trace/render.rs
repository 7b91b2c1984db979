//! Sessions, times and events as text and as JSON.

use serde_json::{Value, json};
use tamis_logs::event::EventKind;
use tamis_logs::usage::Tokens;
use tamis_trace::{EventDetails, Session, Trace, Turn};

use crate::error::{CliError, CliResult};
pub(crate) use crate::times::{clock, duration, minute, second, seconds, utc};
use crate::{escape, print, table};

/// Maximum width of a project's column.
const PROJECT_WIDTH: usize = 28;

/// A project's folder, short enough for a column of a screen.
pub(crate) fn project(session: &Session) -> String {
    let root = session.root().map(|root| escape::line(&under_home(&root)));
    let hash = || session.project.chars().take(8).collect::<String>();
    match root {
        Some(root) if table::screen().is_some() => table::cut_front(&root, PROJECT_WIDTH),
        Some(root) => root,
        None if !session.has_project() => "-".to_owned(),
        None => hash(),
    }
}

/// A path with `~` for the home folder.
pub(crate) fn under_home(path: &str) -> String {
    let home = std::env::home_dir().map(|home| home.to_string_lossy().into_owned());
    match home.filter(|home| home.len() > 1).and_then(|home| path.strip_prefix(home.as_str())) {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

/// Reports that there is nothing to show: no sessions at all, with the folders that were searched, or none that match.
pub(crate) fn nothing(trace: &Trace, message: &str) -> CliResult {
    if trace.has_sessions()? {
        print::note(message);
        return Ok(());
    }
    let mut text = "no sessions found; looked in".to_owned();
    for place in locations(trace) {
        text.push_str(&format!("\n  {place}"));
    }
    print::note(text);
    Ok(())
}

/// The files and folders that are searched for logs.
pub(crate) fn locations(trace: &Trace) -> impl Iterator<Item = String> {
    trace.locations().all().map(|place| escape::line(&under_home(&place.to_string_lossy())))
}

/// What a session is about, and where it comes from.
pub(crate) fn about(trace: &Trace, session: &Session) -> Result<String, CliError> {
    let mut text = String::new();
    if let (Some(parent), Some(relation)) = (session.parent(), session.relation) {
        text.push_str(&format!("[{} of {}] ", relation.name(), short_parent(trace, &parent)?));
    }
    let summary = &session.summary;
    let words = summary.snippet.as_ref().or(summary.title.as_ref());
    text.push_str(&words.map_or_else(String::new, |words| escape::line(words)));
    Ok(text)
}

fn short_parent(trace: &Trace, native: &str) -> Result<String, CliError> {
    match trace.session(native) {
        Ok(parent) => Ok(trace.short_id(&parent.id)?),
        // Its log is gone, or was never here.
        Err(_) => Ok(escape::line(native).chars().take(8).collect()),
    }
}

/// A session as JSON.
pub(crate) fn session_json(trace: &Trace, session: &Session, tokens: u64) -> Result<Value, CliError> {
    let summary = &session.summary;
    Ok(json!({
        "id": session.id,
        "short_id": trace.short_id(&session.id)?,
        "provider": session.provider.id(),
        "project_hash": session.project,
        "root_path": session.root(),
        "parent": session.parent(),
        "relation": session.relation,
        "start_time": utc(summary.started),
        "end_time": utc(summary.ended),
        "duration_seconds": summary.duration_seconds(),
        "turn_count": summary.turns,
        "event_count": summary.events,
        "total_tokens": tokens,
        "own_tokens": session.own_tokens,
        "title": summary.title,
        "snippet": summary.snippet,
    }))
}

/// Tokens as JSON.
pub(crate) fn tokens_json(tokens: Tokens) -> Value {
    let mut value = json!(tokens);
    value["total"] = tokens.total().into();
    value
}

/// A turn as JSON.
pub(crate) fn turn_json(turn: &Turn) -> Value {
    json!({
        "turn_index": turn.number,
        "first_event": turn.first_event,
        "event_count": turn.events,
        "timestamp": utc(turn.at),
        "duration_seconds": seconds(turn.at, turn.ended),
        "user_message": turn.preview,
        "step_count": turn.steps,
        "tool_calls": turn.tool_calls,
        "failed_tools": turn.failed_tools,
        "largest_context": turn.largest_context,
        "tokens": tokens_json(turn.tokens),
    })
}

/// A whole event as JSON.
pub(crate) fn event_json(session: &Session, index: u64, event: &EventDetails) -> Value {
    json!({
        "session_id": session.id,
        "event_index": index,
        "timestamp": utc(event.at),
        "event_type": event.kind.wire_name(),
        "stream": event.stream.name(),
        "provider": session.provider.id(),
        "payload": event.payload,
    })
}

/// An event's words, from its payload; of a tool, its name first.
pub(crate) fn words(kind: EventKind, payload: &Value) -> String {
    let text = |name: &str| payload[name].as_str().unwrap_or_default();
    match kind {
        EventKind::ToolCall => format!("{} {}", text("name"), payload["arguments"]),
        EventKind::ToolResult if payload["is_error"] == true => format!("failed: {}", text("content")),
        EventKind::ToolResult => text("content").to_owned(),
        EventKind::TokenUsage => {
            let number = |name: &str| print::grouped(payload[name].as_u64().unwrap_or(0));
            let cached =
                payload["cache_read"].as_u64().unwrap_or(0) + payload["cache_creation"].as_u64().unwrap_or(0);
            format!(
                "input {}, cached {}, output {} {}",
                number("input"),
                print::grouped(cached),
                number("output"),
                text("model")
            )
        }
        _ => text("text").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_easily() {
        assert_eq!(
            [0, 59, 60, 3599, 3600, 86_399, 90_000].map(duration),
            ["0s", "59s", "1m 00s", "59m 59s", "1h 00m", "23h 59m", "1d 01h"]
        );
    }
}
