//! The one model that every agent's log is read into.
//!
//! An event borrows from the record it was read from, and what is long in it (a text, arguments, a tool's result) stays as
//! the log has it until it is needed: indexing a gigabyte looks at the kinds of events and at their times, not at their
//! texts.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::usage::UsageReport;

/// Milliseconds since 1970.
pub type Millis = i64;

/// Whole seconds from one time to another; 0 when one is unknown, or the clock went back.
pub fn seconds_between(from: Option<Millis>, to: Option<Millis>) -> u64 {
    from.zip(to).map_or(0, |(from, to)| u64::try_from(to.saturating_sub(from)).unwrap_or(0) / 1000)
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A person's words to the agent.
    User,
    /// The agent's words to the person.
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
    TokenUsage,
    /// From neither the person nor the agent: hooks, compaction, errors of the client, added context.
    Notification,
    /// A person's `/command`.
    SlashCommand,
    /// What the client wrote of the session in few words.
    Summary,
}

impl EventKind {
    pub const ALL: &'static [EventKind] = &[
        EventKind::User,
        EventKind::Message,
        EventKind::Reasoning,
        EventKind::ToolCall,
        EventKind::ToolResult,
        EventKind::TokenUsage,
        EventKind::Notification,
        EventKind::SlashCommand,
        EventKind::Summary,
    ];

    /// The contract's name: slash commands appear as users' words and summaries as notifications.
    pub fn wire_name(self) -> &'static str {
        match self {
            EventKind::User | EventKind::SlashCommand => "User",
            EventKind::Message => "Message",
            EventKind::Reasoning => "Reasoning",
            EventKind::ToolCall => "ToolCall",
            EventKind::ToolResult => "ToolResult",
            EventKind::TokenUsage => "TokenUsage",
            EventKind::Notification | EventKind::Summary => "Notification",
        }
    }

    /// This kind's bit in a mask of kinds.
    pub fn bit(self) -> u16 {
        1 << self as u16
    }

    /// Whether it begins a turn.
    pub fn begins_turn(self) -> bool {
        matches!(self, EventKind::User | EventKind::SlashCommand)
    }
}

/// Which conversation of a session it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventStream {
    Main,
    /// A subagent's conversation inside its parent's log.
    Sidechain,
    /// A subagent's conversation in a log of its own.
    Subagent,
}

impl EventStream {
    pub fn name(self) -> &'static str {
        match self {
            EventStream::Main => "main",
            EventStream::Sidechain => "sidechain",
            EventStream::Subagent => "subagent",
        }
    }
}

/// One thing that happened in a session.
#[derive(Clone, Debug)]
pub struct LogEvent<'a> {
    pub at: Option<Millis>,
    pub stream: EventStream,
    pub body: EventBody<'a>,
}

/// The content of an event.
#[derive(Clone, Debug)]
pub enum EventBody<'a> {
    User(Content<'a>),
    Message(Content<'a>),
    Reasoning(Content<'a>),
    ToolCall(LoggedCall<'a>),
    ToolResult(LoggedResult<'a>),
    TokenUsage(UsageReport<'a>),
    Notification(Content<'a>),
    /// A notification that the conversation was compacted: what the model had read so far is gone.
    Compaction(Content<'a>),
    SlashCommand {
        /// With its slash.
        command: Cow<'a, str>,
        arguments: Cow<'a, str>,
    },
    Summary(Content<'a>),
}

impl EventBody<'_> {
    pub fn kind(&self) -> EventKind {
        match self {
            EventBody::User(_) => EventKind::User,
            EventBody::Message(_) => EventKind::Message,
            EventBody::Reasoning(_) => EventKind::Reasoning,
            EventBody::ToolCall(_) => EventKind::ToolCall,
            EventBody::ToolResult(_) => EventKind::ToolResult,
            EventBody::TokenUsage(_) => EventKind::TokenUsage,
            EventBody::Notification(_) | EventBody::Compaction(_) => EventKind::Notification,
            EventBody::SlashCommand { .. } => EventKind::SlashCommand,
            EventBody::Summary(_) => EventKind::Summary,
        }
    }

    /// Whether the person took back the latest turns: Codex removes them from the model's context.
    pub fn is_rollback(&self) -> bool {
        let EventBody::Notification(Content::Raw(payload)) = self else { return false };
        payload.get().contains("\"thread_rolled_back\"")
    }

    /// The content of an event that is nothing but a text.
    pub fn content(&self) -> Option<&Content<'_>> {
        match self {
            EventBody::User(content)
            | EventBody::Message(content)
            | EventBody::Reasoning(content)
            | EventBody::Notification(content)
            | EventBody::Compaction(content)
            | EventBody::Summary(content) => Some(content),
            EventBody::ToolCall(_)
            | EventBody::ToolResult(_)
            | EventBody::TokenUsage(_)
            | EventBody::SlashCommand { .. } => None,
        }
    }

    /// The text of an event that begins a turn, or nothing.
    pub fn prompt(&self) -> Cow<'_, str> {
        match self {
            EventBody::User(content) => content.to_text(),
            EventBody::SlashCommand { command, arguments } => {
                format!("{command} {arguments}").trim_end().to_owned().into()
            }
            _ => "".into(),
        }
    }
}

/// A tool call of the agent.
#[derive(Clone, Debug)]
pub struct LoggedCall<'a> {
    pub name: Cow<'a, str>,
    /// By which its result refers to it.
    pub id: Option<Cow<'a, str>>,
    pub arguments: Content<'a>,
}

/// The result of a tool call.
#[derive(Clone, Debug)]
pub struct LoggedResult<'a> {
    pub id: Option<Cow<'a, str>>,
    pub content: Content<'a>,
    pub failed: bool,
}

impl LoggedResult<'_> {
    /// Whether the person did not let the call happen. Clients report that as an error of the tool; what a tool that succeeded
    /// printed may begin with the same words.
    pub fn is_declined(&self) -> bool {
        if !self.failed {
            return false;
        }
        let text = output_of(&self.content);
        DECLINED.iter().any(|words| text.starts_with(words))
    }

    /// Whether the tool failed. What the person declined is no failure.
    pub fn tool_failed(&self) -> bool {
        self.failed && !self.is_declined()
    }
}

/// How results begin that a person, and no tool, gave.
const DECLINED: &[&str] = &[
    "The user doesn't want to",
    "The user doesn’t want to",
    "[Request interrupted by user",
    "User rejected",
    "The user rejected",
    "User denied",
    "Tool execution was rejected by the user",
    "[Operation Cancelled]",
    "exec command rejected by user",
    "patch rejected by user",
];

/// Something long, as the log has it.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// JSON as it stands in the record: a string, an array of parts, an object.
    Raw(&'a RawValue),
    /// A JSON document that stands in the record as an escaped string; arguments of Codex are.
    Nested(&'a RawValue),
    /// JSON that had to be put together.
    Value(Value),
}

impl<'a> Content<'a> {
    pub fn text(text: impl Into<Cow<'a, str>>) -> Content<'a> {
        Content::Text(text.into())
    }

    /// As JSON. Never fails: what is not valid JSON (too deep, torn) becomes a JSON string.
    pub fn to_value(&self) -> Value {
        let parsed =
            |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        match self {
            Content::Text(text) => Value::String(text.clone().into_owned()),
            Content::Raw(raw) => parsed(raw.get()),
            Content::Nested(raw) => match serde_json::from_str::<Cow<'_, str>>(raw.get()) {
                Ok(text) => parsed(&text),
                Err(_) => parsed(raw.get()),
            },
            Content::Value(value) => value.clone(),
        }
    }

    /// As words: a string is itself, parts are joined by line breaks, an image is named, anything else is JSON.
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Content::Text(text) => Cow::Borrowed(text),
            Content::Raw(raw) if raw.get().starts_with('"') => {
                serde_json::from_str(raw.get()).unwrap_or(Cow::Borrowed(raw.get()))
            }
            Content::Nested(_) | Content::Raw(_) => Cow::Owned(words_of(&self.to_value())),
            Content::Value(value) => Cow::Owned(words_of(value)),
        }
    }

    /// Bytes in the log, roughly.
    pub fn size(&self) -> usize {
        match self {
            Content::Text(text) => text.len(),
            Content::Raw(raw) | Content::Nested(raw) => raw.get().len(),
            Content::Value(value) => value.to_string().len(),
        }
    }
}

/// The words of a content that agents write as parts: `[{"type": "text", "text": …}, {"type": "image", …}]`.
pub(crate) fn words_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let mut words: Vec<String> = parts.iter().map(words_of).collect();
            words.retain(|word| !word.is_empty());
            words.join("\n")
        }
        Value::Object(part) => match (part.get("text"), part.get("type").and_then(Value::as_str)) {
            (Some(Value::String(text)), _) => text.clone(),
            (_, Some(image @ ("image" | "input_image" | "document"))) => format!("[{image}]"),
            _ => value.to_string(),
        },
        other => other.to_string(),
    }
}

impl LogEvent<'_> {
    pub fn kind(&self) -> EventKind {
        self.body.kind()
    }

    /// The whole event as the contract's payload.
    pub fn payload(&self) -> Value {
        let (mut payload, call_id) = match &self.body {
            EventBody::SlashCommand { command, .. } => {
                (json!({"text": self.body.prompt(), "command": command}), &None)
            }
            EventBody::ToolCall(call) => {
                (json!({"name": call.name, "arguments": call.arguments.to_value()}), &call.id)
            }
            EventBody::ToolResult(result) => {
                (json!({"content": result.content.to_text(), "is_error": result.failed}), &result.id)
            }
            EventBody::TokenUsage(report) => (report.payload(), &None),
            text => (json!({"text": text.content().map(Content::to_text)}), &None),
        };
        if let Some(id) = call_id {
            payload["call_id"] = id.as_ref().into();
        }
        payload
    }
}

/// Bytes of a name, an id or a path: as long as paths can be.
const LONGEST_NAME: usize = 4096;

/// Of a name, an id or a path, as much as is kept. No client writes longer ones; a log that does must not fill the index.
pub fn bounded(name: &str) -> &str {
    &name[..name.floor_char_boundary(LONGEST_NAME)]
}

/// A result's words. Codex wraps what a command printed in JSON with its exit code.
pub fn output_of<'t>(content: &'t Content<'_>) -> Cow<'t, str> {
    let text = content.to_text();
    if text.starts_with("{\"output\":")
        && let Ok(Value::Object(mut wrapped)) = serde_json::from_str(&text)
        && let Some(Value::String(output)) = wrapped.remove("output")
    {
        return Cow::Owned(output);
    }
    text
}

/// All strings of a JSON value, names included.
pub fn strings_of(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::String(text) => words.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings_of(item, words)),
        Value::Object(members) => {
            for (name, value) in members {
                words.push(name.clone());
                strings_of(value, words);
            }
        }
        _ => {}
    }
}
