//! The events of a session: rows for a list of any length, and one event whole.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use tamis_logs::event::{Content, EventBody, LogEvent, Millis, output_of};
use tamis_logs::tool_kinds::{CallDetails, ToolKind};
use tamis_redact::{Redacted, redact_json};
use tamis_trace::{Session, preview};

use crate::{Dashboard, PageError, PageErrorKind};

/// Rows of one answer.
const MOST_ROWS: u64 = 500;
const USUAL_ROWS: u64 = 100;
/// Characters of a preview.
const PREVIEW_CHARS: usize = 200;
/// Events before and after a row in which the other half of a call is searched.
const NEIGHBOURS: u64 = 64;
const NEIGHBOURS_OF_ONE: u64 = 400;
/// Arguments of this size are redacted whole for a preview.
const SMALL_ARGUMENTS: usize = 4_096;
/// Bytes of an event that are sent whole.
const LARGEST_EVENT: usize = 4 << 20;

/// Which events are requested: some in a row, or those with these numbers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageEventsQuery {
    pub from: u64,
    pub limit: Option<u64>,
    /// Numbers in ascending order, with commas between them.
    pub numbers: Option<String>,
}

/// Some events of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageEventList {
    /// Events of the whole session.
    pub total: u64,
    pub rows: Vec<PageEventRow>,
}

/// An event in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageEventRow {
    pub number: u64,
    pub at: Option<Millis>,
    pub kind: PageEventKind,
    /// `main`, `sidechain` or `subagent`.
    pub stream: &'static str,
    /// The tool that was called, or whose result it is.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub tool: Option<Redacted>,
    /// The beginning of its text, or what a call is about.
    #[cfg_attr(test, ts(as = "String"))]
    pub preview: Redacted,
    pub failed: bool,
    /// Its size in the log.
    pub bytes: u64,
    /// Of a call, or of the call whose result it is.
    pub duration: Option<u64>,
    /// The result of a call, or the call of a result.
    pub partner: Option<u64>,
    /// Tokens that were read for a request and written, of a report of tokens.
    pub context: Option<u64>,
    pub output: Option<u64>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PageEventKind {
    User,
    Command,
    Message,
    Reasoning,
    Call,
    Result,
    Usage,
    Notification,
    Compaction,
    Summary,
}

impl PageEventKind {
    fn of(body: &EventBody<'_>) -> PageEventKind {
        match body {
            EventBody::User(_) => PageEventKind::User,
            EventBody::SlashCommand { .. } => PageEventKind::Command,
            EventBody::Message(_) => PageEventKind::Message,
            EventBody::Reasoning(_) => PageEventKind::Reasoning,
            EventBody::ToolCall(_) => PageEventKind::Call,
            EventBody::ToolResult(_) => PageEventKind::Result,
            EventBody::TokenUsage(_) => PageEventKind::Usage,
            EventBody::Notification(_) => PageEventKind::Notification,
            EventBody::Compaction(_) => PageEventKind::Compaction,
            EventBody::Summary(_) => PageEventKind::Summary,
        }
    }
}

/// An event with all that it holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageEvent {
    pub row: PageEventRow,
    /// A message, a result, or JSON.
    #[cfg_attr(test, ts(as = "String"))]
    pub text: Redacted,
    /// Whether the text is JSON: the arguments of a call, a report of tokens.
    pub is_json: bool,
    /// Bytes at its end that are left out.
    pub left_out: u64,
}

/// One half of a call, until the other comes.
struct Half {
    number: u64,
    at: Option<Millis>,
    tool: Redacted,
}

impl Dashboard {
    pub fn session_events(&self, id: &str, query: &PageEventsQuery) -> Result<PageEventList, PageError> {
        let session = self.trace()?.session(id)?;
        let total = session.summary.events;
        let wanted = query.wanted(total)?;
        let rows = self.event_rows(&session, &wanted, NEIGHBOURS)?;
        Ok(PageEventList { total, rows })
    }

    /// The rows of some ranges of events, in order.
    fn event_rows(
        &self,
        session: &Session,
        wanted: &[Range<u64>],
        neighbours: u64,
    ) -> Result<Vec<PageEventRow>, PageError> {
        let mut read: Vec<Range<u64>> = Vec::new();
        for range in wanted {
            let near = range.start.saturating_sub(neighbours)..range.end.saturating_add(neighbours);
            match read.last_mut() {
                Some(last) if near.start <= last.end => last.end = near.end,
                _ => read.push(near),
            }
        }
        let is_wanted = |number: u64| {
            let next = wanted.partition_point(|range| range.end <= number);
            wanted.get(next).is_some_and(|range| range.start <= number)
        };
        let mut rows: Vec<PageEventRow> = Vec::new();
        let mut calls: HashMap<String, Half> = HashMap::new();
        self.trace()?.events_in(session, &read, &mut |number, event| {
            let mut row = is_wanted(number).then(|| row_of(number, event));
            match &event.body {
                EventBody::ToolCall(call) => {
                    if let Some(id) = &call.id {
                        let tool = preview(&call.name, PREVIEW_CHARS);
                        calls.insert(id.clone().into_owned(), Half { number, at: event.at, tool });
                    }
                }
                EventBody::ToolResult(result) => {
                    if let Some(call) = result.id.as_deref().and_then(|id| calls.remove(id)) {
                        let duration = duration(call.at, event.at);
                        if let Ok(at) = rows.binary_search_by_key(&call.number, |row| row.number) {
                            rows[at].duration = duration;
                            rows[at].partner = Some(number);
                            rows[at].failed = result.failed;
                        }
                        if let Some(row) = &mut row {
                            row.duration = duration;
                            row.partner = Some(call.number);
                            row.tool = Some(call.tool);
                        }
                    }
                }
                _ => {}
            }
            rows.extend(row);
        })?;
        Ok(rows)
    }

    pub fn session_event(&self, id: &str, number: u64) -> Result<PageEvent, PageError> {
        let trace = self.trace()?;
        let session = trace.session(id)?;
        let details = trace.event(&session, number)?;
        let wanted = number..number + 1;
        let row = self.event_rows(&session, std::slice::from_ref(&wanted), NEIGHBOURS_OF_ONE)?.pop();
        let row = row.ok_or_else(|| PageError::new(PageErrorKind::NotFound, "the log was changed"))?;
        let text = ["text", "content"].into_iter().find_map(|name| details.payload[name].as_str());
        let (text, is_json) = match (row.kind, text) {
            (PageEventKind::Call, _) => (details.payload.member("arguments").to_text(), true),
            (_, Some(text)) => (Redacted::from(text), false),
            (_, None) => (details.payload.to_text(), true),
        };
        let shown = text.floor_char_boundary(LARGEST_EVENT);
        let left_out = (text.len() - shown) as u64;
        let text = if left_out == 0 { text } else { Redacted::from(&text[..shown]) };
        Ok(PageEvent { row, text, is_json, left_out })
    }
}

impl PageEventsQuery {
    fn wanted(&self, total: u64) -> Result<Vec<Range<u64>>, PageError> {
        let Some(numbers) = &self.numbers else {
            let limit = self.limit.unwrap_or(USUAL_ROWS).min(MOST_ROWS);
            let end = self.from.saturating_add(limit).min(total);
            let wanted = (self.from < end).then_some(self.from..end);
            return Ok(wanted.into_iter().collect());
        };
        let invalid =
            || PageError::new(PageErrorKind::Invalid, "expected numbers in ascending order, such as 3,17,18");
        let mut wanted: Vec<Range<u64>> = Vec::new();
        for number in numbers.split(',').take(MOST_ROWS as usize) {
            let number: u64 = number.parse().map_err(|_| invalid())?;
            match wanted.last_mut() {
                Some(last) if number < last.end => return Err(invalid()),
                Some(last) if number == last.end => last.end += 1,
                _ if number < total => wanted.push(number..number + 1),
                _ => {}
            }
        }
        Ok(wanted)
    }
}

fn row_of(number: u64, event: &LogEvent<'_>) -> PageEventRow {
    let mut row = PageEventRow {
        number,
        at: event.at,
        kind: PageEventKind::of(&event.body),
        stream: event.stream.name(),
        tool: None,
        preview: Redacted::default(),
        failed: false,
        bytes: 0,
        duration: None,
        partner: None,
        context: None,
        output: None,
    };
    match &event.body {
        EventBody::ToolCall(call) => {
            row.tool = Some(preview(&call.name, PREVIEW_CHARS));
            row.bytes = call.arguments.size() as u64;
            row.preview = call_preview(&call.name, &call.arguments);
        }
        EventBody::ToolResult(result) => {
            row.bytes = result.content.size() as u64;
            row.failed = result.failed;
            row.preview = preview(&output_of(&result.content), PREVIEW_CHARS);
        }
        EventBody::TokenUsage(report) => {
            row.context = Some(report.tokens.read());
            row.output = Some(report.tokens.output);
            row.preview = preview(report.model.as_deref().unwrap_or_default(), PREVIEW_CHARS);
        }
        EventBody::SlashCommand { .. } => {
            let prompt = event.body.prompt();
            row.bytes = prompt.len() as u64;
            row.preview = preview(&prompt, PREVIEW_CHARS);
        }
        text => {
            if let Some(content) = text.content() {
                row.bytes = content.size() as u64;
                row.preview = preview(&content.to_text(), PREVIEW_CHARS);
            }
        }
    }
    row
}

/// What a call is about: a path, a command, a pattern; else its arguments.
fn call_preview(name: &str, arguments: &Content<'_>) -> Redacted {
    let arguments = arguments.to_value();
    let details = CallDetails::of(name, &arguments);
    // What is searched for says more than where.
    let words = details.words.as_deref().filter(|_| details.tool_kind == ToolKind::Search);
    if let Some(target) = words.or_else(|| details.target()) {
        return preview(target, PREVIEW_CHARS);
    }
    let text = arguments.to_string();
    match text.as_str() {
        "{}" | "null" | "[]" => Redacted::default(),
        // The names of arguments announce secrets, so they are redacted together.
        _ if text.len() <= SMALL_ARGUMENTS => {
            redact_json(arguments, &[]).to_text().shorten(PREVIEW_CHARS).on_one_line()
        }
        text => preview(text, PREVIEW_CHARS),
    }
}

fn duration(from: Option<Millis>, to: Option<Millis>) -> Option<u64> {
    u64::try_from(to?.checked_sub(from?)?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_previewed_by_what_it_is_about() {
        for (name, arguments, shown) in [
            ("Bash", json!({"command": "make", "description": "Builds"}), "make"),
            ("Read", json!({"file_path": "/w/a.rs"}), "/w/a.rs"),
            ("Grep", json!({"path": "/w", "pattern": "retry_budget"}), "retry_budget"),
            ("Glob", json!({"path": "/w", "pattern": "**/*.rs"}), "**/*.rs"),
            ("other", json!({"number": 7}), r#"{"number":7}"#),
            ("other", json!({}), ""),
        ] {
            assert_eq!(call_preview(name, &Content::Value(arguments)).as_str(), shown, "{name}");
        }
    }
}
