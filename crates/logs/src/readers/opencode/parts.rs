//! The parts that messages are made of.

use serde_json::{Value, json};

use super::tokens::tokens;
use crate::event::{Content, EventBody, LoggedCall, LoggedResult, Millis};
use crate::readers::Unrecognised;
use crate::usage::Tokens;

pub(super) enum PartContent {
    Event(Option<Millis>, EventBody<'static>),
    /// What a request used.
    Step(Tokens),
}

/// What a part contains. `person`: it is part of a prompt. `summary`: it is part of a compaction's summary.
pub(super) fn part(
    data: &Value,
    person: bool,
    summary: bool,
    unrecognised: &mut Vec<Unrecognised<'static>>,
) -> Vec<PartContent> {
    let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default();
    let note =
        |text: String| vec![event(time(data, "/time/created"), EventBody::Notification(Content::text(text)))];
    match data.get("type").and_then(Value::as_str).unwrap_or("none") {
        "text" | "reasoning" if text("text").is_empty() => Vec::new(),
        "text" => {
            let is = |name: &str| data.get(name).is_some_and(|value| *value == true);
            let content = Content::text(text("text").to_owned());
            let body = match (is("synthetic") || is("ignored"), person, summary) {
                (_, false, true) => EventBody::Summary(content),
                (true, ..) => EventBody::Notification(content),
                (_, true, _) => EventBody::User(content),
                _ => EventBody::Message(content),
            };
            vec![event(time(data, "/time/start"), body)]
        }
        "reasoning" => {
            vec![event(
                time(data, "/time/start"),
                EventBody::Reasoning(Content::text(text("text").to_owned())),
            )]
        }
        "tool" => tool(data, unrecognised),
        "tool-invocation" => invocation(data.get("toolInvocation").unwrap_or(&Value::Null)),
        "step-finish" => vec![PartContent::Step(data.get("tokens").map(tokens).unwrap_or_default())],
        "file" => note(file(data)),
        "patch" => {
            let files = data.get("files").and_then(Value::as_array).into_iter().flatten();
            let files: Vec<&str> = files.filter_map(Value::as_str).collect();
            note(format!("files changed: {}", files.join(", ")))
        }
        "subtask" => subtask(text("command"), text("prompt")),
        "retry" => {
            let why = data.pointer("/error/data/message").and_then(Value::as_str).unwrap_or("an error");
            let attempt = data.get("attempt").and_then(Value::as_u64).unwrap_or(0);
            note(format!("retry {attempt} after {why}"))
        }
        "compaction" => {
            let auto = data.get("auto").is_some_and(|auto| *auto == true);
            let text =
                format!("the conversation was compacted {}", if auto { "by itself" } else { "by request" });
            vec![event(time(data, "/time/created"), EventBody::Compaction(Content::text(text)))]
        }
        "source-url" => note(format!("source: {}", text("url"))),
        "step-start" | "snapshot" | "agent" => Vec::new(),
        other => {
            unrecognised.push(Unrecognised::Part(format!("part.{other}").into()));
            Vec::new()
        }
    }
}

fn event(at: Option<Millis>, body: EventBody<'static>) -> PartContent {
    PartContent::Event(at, body)
}

fn time(data: &Value, pointer: &str) -> Option<Millis> {
    data.pointer(pointer).and_then(Value::as_i64)
}

/// A file by its name. What is in it, as a `data:` URL may hold, is not words.
fn file(data: &Value) -> String {
    let url = data.get("url").and_then(Value::as_str).unwrap_or_default();
    let kind = data.get("mime").and_then(Value::as_str).unwrap_or("unknown type");
    let name = data.get("filename").and_then(Value::as_str);
    match (name, url.starts_with("data:")) {
        (Some(name), _) => format!("file attached: {name} ({kind})"),
        (None, true) => format!("file attached ({kind}, {} bytes of URL)", url.len()),
        (None, false) => format!("file attached: {url} ({kind})"),
    }
}

/// A person's command that begins a subagent; the prompt is the command's template.
fn subtask(command: &str, prompt: &str) -> Vec<PartContent> {
    let prompt = Content::text(prompt.to_owned());
    if command.is_empty() {
        return vec![event(None, EventBody::User(prompt))];
    }
    let command = format!("/{}", command.trim_start_matches('/'));
    vec![
        event(None, EventBody::SlashCommand { command: command.into(), arguments: "".into() }),
        event(None, EventBody::Notification(prompt)),
    ]
}

fn tool(data: &Value, unrecognised: &mut Vec<Unrecognised<'static>>) -> Vec<PartContent> {
    let text = |name: &str| data.get(name).and_then(Value::as_str);
    let state = data.get("state").unwrap_or(&Value::Null);
    let status = state.get("status").and_then(Value::as_str).unwrap_or("none").to_ascii_lowercase();
    // What the model was still writing is only text.
    let input = state.get("input").filter(|input| !is_empty(input)).or_else(|| state.get("raw"));
    let start = time(state, "/time/start");
    let call = LoggedCall {
        name: text("tool").unwrap_or("unknown").to_owned().into(),
        id: text("callID").map(|id| id.to_owned().into()),
        arguments: Content::Value(input.or_else(|| state.get("input")).cloned().unwrap_or_default()),
    };
    let id = call.id.clone();
    let mut all = vec![event(start, EventBody::ToolCall(call))];
    if !matches!(status.as_str(), "pending" | "running" | "completed" | "success" | "error") {
        unrecognised.push(Unrecognised::Part(format!("part.tool.{status}").into()));
    }
    let failed = status == "error";
    let output =
        if failed { state.get("error").or_else(|| state.get("output")) } else { state.get("output") };
    let done = !matches!(status.as_str(), "pending" | "running");
    if let Some(output) = output.filter(|output| done && !output.is_null()) {
        // The shell completes whatever its command's end was.
        let exit = state.pointer("/metadata/exit").and_then(Value::as_i64);
        let attachments = state.get("attachments").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let content = match output {
            Value::String(text) if attachments.is_empty() => Content::text(text.clone()),
            output if attachments.is_empty() => Content::Value(output.clone()),
            output => {
                let files = attachments.iter().map(|attachment| json!(file(attachment)));
                Content::Value(std::iter::once(output.clone()).chain(files).collect())
            }
        };
        let failed = failed || exit.is_some_and(|exit| exit != 0);
        // Not before its call, whatever the clock did.
        let at = time(state, "/time/end").max(start);
        all.push(event(at, EventBody::ToolResult(LoggedResult { id, content, failed })));
    }
    all
}

fn is_empty(input: &Value) -> bool {
    input.is_null() || input.as_object().is_some_and(serde_json::Map::is_empty)
}

/// A tool call of the first versions.
fn invocation(data: &Value) -> Vec<PartContent> {
    let text = |name: &str| data.get(name).and_then(Value::as_str);
    let call = LoggedCall {
        name: text("toolName").unwrap_or("unknown").to_owned().into(),
        id: text("toolCallId").map(|id| id.to_owned().into()),
        arguments: Content::Value(data.get("args").cloned().unwrap_or_default()),
    };
    let id = call.id.clone();
    let mut all = vec![event(None, EventBody::ToolCall(call))];
    if let Some(result) = data.get("result").filter(|result| !result.is_null()) {
        let content = match result {
            Value::String(text) => Content::text(text.clone()),
            result => Content::Value(result.clone()),
        };
        all.push(event(None, EventBody::ToolResult(LoggedResult { id, content, failed: false })));
    }
    all
}
