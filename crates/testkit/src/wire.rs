//! The four wire formats that the agents speak with their models, as far as a script needs them: which tools a
//! request offers, which results it brings back, and how to answer with text or with a tool call.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};

use crate::script::ToolResult;

/// A wire format between an agent and its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    Responses,
    /// Google's generateContent.
    Gemini,
    /// OpenAI's chat completions.
    Chat,
}

/// A tool's name in a wire format.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolName {
    /// Only in Responses, which separates it from the name.
    pub namespace: Option<String>,
    pub name: String,
}

impl ToolName {
    pub fn plain(name: impl Into<String>) -> Self {
        Self { namespace: None, name: name.into() }
    }
}

/// The model's next message.
pub(crate) enum Reply {
    Text(String),
    /// `label` is the end of the call's id.
    Call {
        tool: ToolName,
        arguments: Value,
        label: String,
    },
}

/// The tokens that the model reports for a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportedUsage {
    pub(crate) input: usize,
    pub(crate) output: usize,
}

impl ReportedUsage {
    /// The same for every request.
    pub(crate) const FIXED: Self = Self { input: 10, output: 5 };

    /// By the size of a request: a token for four bytes of its texts.
    pub(crate) fn of_request(body: &Value) -> Self {
        Self { input: text_bytes(body) / 4, ..Self::FIXED }
    }

    fn total(self) -> usize {
        self.input + self.output
    }
}

fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(fields) => fields.values().map(text_bytes).sum(),
        _ => 0,
    }
}

/// The label of the script's call of this number, counted from 1: the same on every run.
pub(crate) fn scripted(number: usize) -> String {
    format!("scripted{number}")
}

impl Wire {
    /// The tools that a request offers to the model.
    pub(crate) fn offered(self, body: &Value) -> Vec<ToolName> {
        match self {
            Self::Anthropic => anthropic::offered(body),
            Self::Responses => responses::offered(body),
            Self::Gemini => gemini::offered(body),
            Self::Chat => chat::offered(body),
        }
    }

    /// The results of tool calls in a request's conversation, in order.
    pub(crate) fn results(self, body: &Value) -> Vec<ToolResult> {
        let texts = match self {
            Self::Anthropic => anthropic::results(body),
            Self::Responses => responses::results(body),
            Self::Gemini => gemini::results(body),
            Self::Chat => chat::results(body),
        };
        texts.into_iter().map(|text| ToolResult { text }).collect()
    }

    /// The user's messages in a request, with those that clients add in the user's name.
    pub(crate) fn user_texts(self, body: &Value) -> Vec<String> {
        let (messages, content) = match self {
            Self::Anthropic | Self::Chat => ("messages", "content"),
            Self::Responses => ("input", "content"),
            Self::Gemini => ("contents", "parts"),
        };
        let of_user = items(&body[messages]).filter(|message| message["role"] == "user");
        of_user.map(|message| text_of(&message[content])).collect()
    }

    /// Whether a user message contains these words.
    pub(crate) fn is_said(self, body: &Value, words: &str) -> bool {
        words.is_empty() || self.user_texts(body).iter().any(|text| text.contains(words))
    }

    /// A call without effect, for a client that takes its turn before its servers are ready. Only Claude Code does.
    pub(crate) fn waiting_call(self, body: &Value, awaited: &ToolName) -> Option<Reply> {
        match self {
            Self::Anthropic => anthropic::waiting_call(body, awaited),
            Self::Responses | Self::Gemini | Self::Chat => None,
        }
    }

    /// The answer to a request that is not a turn of the conversation.
    pub(crate) fn side_answer(self, method: &Method, path: &str, body: &Value) -> Option<Response> {
        if method != Method::POST {
            // Every format has its own key for the list of models; a client uses the one it knows.
            return Some(json_response(
                &json!({"object": "list", "data": [], "models": [], "has_more": false}),
            ));
        }
        match self {
            Self::Anthropic => anthropic::side_answer(path),
            Self::Gemini => gemini::side_answer(path, body),
            Self::Responses | Self::Chat => None,
        }
    }

    pub(crate) fn respond(self, path: &str, body: &Value, reply: &Reply, usage: ReportedUsage) -> Response {
        match self {
            Self::Anthropic => anthropic::respond(body, reply, usage),
            Self::Responses => responses::respond(body, reply, usage),
            Self::Gemini => gemini::respond(path, reply, usage),
            Self::Chat => chat::respond(body, reply, usage),
        }
    }
}

/// The items of an array; none for any other value.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The text of a content that is either a string or a list of parts with `text` in them.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        parts => items(parts).filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
    }
}

fn json_response(value: &Value) -> Response {
    response("application/json", value.to_string())
}

fn event_stream(events: String) -> Response {
    response("text/event-stream", events)
}

fn response(content_type: &str, body: String) -> Response {
    Response::builder()
        .status(StatusCode::OK)
        .header("content-type", content_type)
        .body(Body::from(body))
        .expect("a valid response")
}
