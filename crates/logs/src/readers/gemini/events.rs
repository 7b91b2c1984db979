//! From messages to events.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::document::{Conversation, Message};
use super::pieces::{Piece, content, pieces, result, shown, unknown, words};
use super::tokens::tokens;
use crate::event::{Content, EventBody, EventStream, LogEvent, LoggedCall, LoggedResult, Millis};
use crate::readers::hashing::claim_of;
use crate::readers::{ParsedLog, Unrecognised, time};
use crate::usage::UsageReport;

/// How "user" messages begin that the client wrote.
const OWN_WORDS: &[&str] = &[
    "<session_context>",
    "<hook_context>",
    "This is the Gemini CLI. We are setting up the context",
    "System: ",
    "[System: ",
    "Please continue.",
];
/// How the message begins that stands for all before it after compressing, and the model's answer that the client writes.
const SUMMARY: &str = "<state_snapshot>";
const SUMMARY_ANSWER: &str = "Got it. Thanks for the additional context!";

pub(super) fn transcript(conversation: Conversation) -> ParsedLog<'static> {
    let Conversation { head, messages, rewinds, unrecognised, .. } = conversation;
    let subagent = head.get("kind").is_some_and(|kind| kind == "subagent");
    let mut reader = Reader {
        stream: if subagent { EventStream::Subagent } else { EventStream::Main },
        called: HashSet::new(),
        answered: HashSet::new(),
        prompted: false,
        parsed: ParsedLog { facts: super::facts(&head), events: Vec::new(), unrecognised },
    };
    for (place, message) in messages.iter().enumerate() {
        for rewind in rewinds.iter().filter(|rewind| rewind.first == place) {
            let what = if rewind.count == 1 { "message was" } else { "messages were" };
            let note = format!("{} {what} taken back by rewinding", rewind.count);
            let at = messages.get(rewind.last).and_then(|message| time_of(&message.fields));
            reader.event(at, EventBody::Notification(Content::text(note)));
        }
        reader.message(message);
    }
    reader.parsed
}

fn time_of(fields: &Map<String, Value>) -> Option<Millis> {
    match fields.get("timestamp")? {
        Value::String(text) => time(text),
        number => number.as_i64(),
    }
}

struct Reader {
    stream: EventStream,
    called: HashSet<String>,
    answered: HashSet<String>,
    prompted: bool,
    parsed: ParsedLog<'static>,
}

impl Reader {
    fn event(&mut self, at: Option<Millis>, body: EventBody<'static>) {
        self.parsed.events.push(LogEvent { at, stream: self.stream, body });
    }

    fn message(&mut self, message: &Message) {
        let fields = &message.fields;
        let at = time_of(fields);
        match fields.get("type").and_then(Value::as_str) {
            Some("gemini" | "model") => self.answer(message, at),
            _ if message.rewound => {}
            Some("user") => self.user(fields, at),
            Some("info" | "error" | "warning") => {
                let parts = self.parts(pieces(fields.get("content").unwrap_or(&Value::Null)), at);
                if let Some(content) = content(parts) {
                    self.event(at, EventBody::Notification(content));
                }
            }
            Some(other) => self.parsed.unrecognised.push(Unrecognised::Record(other.to_owned().into())),
            None => self.parsed.unrecognised.push(Unrecognised::Record("message without a type".into())),
        }
    }

    fn user(&mut self, fields: &Map<String, Value>, at: Option<Millis>) {
        let message_pieces = pieces(fields.get("content").unwrap_or(&Value::Null));
        let text = words(&message_pieces);
        let text = text.trim();
        let parts = self.parts(message_pieces, at);
        let Some(whole) = content(parts) else { return };
        let own = OWN_WORDS.iter().any(|opening| text.starts_with(opening));
        if text.starts_with(SUMMARY) {
            return self.event(at, EventBody::Summary(whole));
        }
        // No user types into a subagent's log: the first text is its task, later ones are the client's.
        if own || self.stream == EventStream::Subagent && self.prompted {
            return self.event(at, EventBody::Notification(whole));
        }
        self.prompted = true;
        // What was typed, where the client added files' contents to it.
        let typed = fields.get("displayContent").map(pieces).filter(|typed| !typed.is_empty());
        if let Some(typed) = typed {
            let words = words(&typed);
            let parts = self.parts(typed, at);
            if let Some(typed) = content(parts).filter(|_| words.trim() != text) {
                self.prompt(words.trim(), typed, at);
                return self.event(at, EventBody::Notification(whole));
            }
        }
        self.prompt(text, whole, at);
    }

    fn prompt(&mut self, text: &str, whole: Content<'static>, at: Option<Millis>) {
        let (command, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let is_command = command.strip_prefix('/').is_some_and(|name| {
            name.starts_with(|first: char| first.is_ascii_alphabetic())
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_:".contains(letter))
        });
        let body = if is_command {
            let arguments = arguments.trim().to_owned().into();
            EventBody::SlashCommand { command: command.to_owned().into(), arguments }
        } else {
            EventBody::User(whole)
        };
        self.event(at, body);
    }

    /// The parts that are no tool's; a tool's become events of their own.
    fn parts(&mut self, pieces: Vec<Piece>, at: Option<Millis>) -> Vec<Value> {
        let mut parts = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => parts.push(Value::String(text)),
                Piece::Thought(text) => self.event(at, EventBody::Reasoning(Content::text(text))),
                Piece::Call(call) => self.call(&call, at),
                Piece::Response(response) => {
                    let id = response.get("id").and_then(Value::as_str).map(str::to_owned);
                    let (content, failed) =
                        result(&serde_json::json!({"functionResponse": response}), id.as_deref());
                    self.result(id, content, failed, at);
                }
                Piece::Other(part) => {
                    if let Some(name) = unknown(&part) {
                        self.parsed.unrecognised.push(Unrecognised::Part(format!("content.{name}").into()));
                    }
                    parts.push(shown(part));
                }
            }
        }
        parts
    }

    fn answer(&mut self, message: &Message, at: Option<Millis>) {
        let fields = &message.fields;
        let calls: &[Value] = fields.get("toolCalls").and_then(Value::as_array).map_or(&[], Vec::as_slice);
        if !message.rewound {
            self.message_texts(fields, at);
            for call in calls {
                self.call(call, at);
            }
        }
        if let Some(counts) = fields.get("tokens").filter(|counts| counts.is_object()) {
            let tokens = tokens(counts);
            let model = fields.get("model").and_then(Value::as_str).map(|model| model.to_owned().into());
            let claim = claim_of(&tokens, fields.get("id").and_then(Value::as_str));
            self.event(at, EventBody::TokenUsage(UsageReport { tokens, model, claim, prompt: None }));
        }
        if !message.rewound {
            for call in calls {
                self.result_of(call, at);
            }
        }
    }

    fn message_texts(&mut self, fields: &Map<String, Value>, at: Option<Millis>) {
        let thoughts = fields.get("thoughts").and_then(Value::as_array);
        for thought in thoughts.into_iter().flatten() {
            let field = |name| thought.get(name).and_then(Value::as_str).unwrap_or_default();
            let mut text = [field("subject"), field("description")].join("\n").trim().to_owned();
            if let (true, Some(bare)) = (text.is_empty(), thought.as_str()) {
                text = bare.to_owned();
            }
            let at = thought.get("timestamp").and_then(Value::as_str).and_then(time).or(at);
            if !text.is_empty() {
                self.event(at, EventBody::Reasoning(Content::text(text)));
            }
        }
        let mut message_pieces = pieces(fields.get("content").unwrap_or(&Value::Null));
        if thoughts.is_some_and(|thoughts| !thoughts.is_empty()) {
            message_pieces.retain(|piece| !matches!(piece, Piece::Thought(_)));
        }
        let own = words(&message_pieces).trim() == SUMMARY_ANSWER && !fields.contains_key("model");
        // Calls stand after the words, so they wait.
        let (tools, words): (Vec<_>, Vec<_>) = message_pieces
            .into_iter()
            .partition(|piece| matches!(piece, Piece::Call(_) | Piece::Response(_)));
        let words = self.parts(words, at);
        if let Some(content) = content(words) {
            self.event(at, if own { EventBody::Notification(content) } else { EventBody::Message(content) });
        }
        self.parts(tools, at);
    }

    fn call(&mut self, call: &Value, at: Option<Millis>) {
        let id = call.get("id").and_then(Value::as_str).map(str::to_owned);
        if id.as_ref().is_some_and(|id| !self.called.insert(id.clone())) {
            return;
        }
        let Some(name) = call.get("name").and_then(Value::as_str) else {
            self.parsed.unrecognised.push(Unrecognised::Part("toolCalls without a name".into()));
            return;
        };
        let arguments = Content::Value(call.get("args").cloned().unwrap_or(Value::Null));
        let call = LoggedCall { name: name.to_owned().into(), id: id.map(Into::into), arguments };
        self.event(at, EventBody::ToolCall(call));
    }

    fn result_of(&mut self, call: &Value, at: Option<Millis>) {
        let at = call.get("timestamp").and_then(Value::as_str).and_then(time).or(at);
        let id = call.get("id").and_then(Value::as_str);
        let status = call.get("status").and_then(Value::as_str).unwrap_or_default();
        let (mut content, mut failed) = result(call.get("result").unwrap_or(&Value::Null), id);
        let ended_badly = matches!(status, "error" | "cancelled" | "canceled");
        failed |= ended_badly;
        if content.is_none() && (ended_badly || status == "success") {
            content = match call.get("resultDisplay") {
                Some(Value::String(text)) => Some(Content::text(text.clone())),
                Some(Value::Null) | None => Some(Content::text(status.to_owned())),
                Some(display) => Some(Content::Value(display.clone())),
            };
        }
        self.result(id.map(str::to_owned), content, failed, at);
    }

    fn result(
        &mut self,
        id: Option<String>,
        content: Option<Content<'static>>,
        failed: bool,
        at: Option<Millis>,
    ) {
        let Some(content) = content else { return };
        if id.as_ref().is_some_and(|id| !self.answered.insert(id.clone())) {
            return;
        }
        let failed = failed || matches!(&content, Content::Text(text) if exited_badly(text));
        self.event(at, EventBody::ToolResult(LoggedResult { id: id.map(Into::into), content, failed }));
    }
}

/// The shell tool reports success for a command that failed, and has its exit code among its last lines.
fn exited_badly(text: &str) -> bool {
    let code = text.lines().rev().take(6).find_map(|line| line.strip_prefix("Exit Code: "));
    code.is_some_and(|code| code.trim().parse::<i64>().is_ok_and(|code| code != 0))
}
