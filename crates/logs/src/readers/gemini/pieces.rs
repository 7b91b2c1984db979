//! What a message's content is made of: a string, a part, or a list of them.

use serde_json::{Map, Value, json};

use crate::event::Content;

#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    Thought(String),
    /// `{"id", "name", "args"}`
    Call(Value),
    /// `{"id", "name", "response"}`
    Response(Value),
    Other(Map<String, Value>),
}

/// Parts that are shown as what they are, and not as the bytes they hold.
const BINARY: &[&str] = &["inlineData", "fileData"];
/// Parts of the API that are shown as JSON.
const PLAIN: &[&str] = &["executableCode", "codeExecutionResult", "videoMetadata"];

pub(super) fn pieces(content: &Value) -> Vec<Piece> {
    match content {
        Value::Null => Vec::new(),
        Value::Array(parts) => parts.iter().flat_map(pieces).collect(),
        Value::String(text) => vec![Piece::Text(text.clone())],
        Value::Object(part) => vec![piece(part)],
        other => vec![Piece::Text(other.to_string())],
    }
}

fn piece(part: &Map<String, Value>) -> Piece {
    let thought = part.get("thought");
    match (part.get("text"), part.get("functionCall"), part.get("functionResponse")) {
        // A thought is marked by `true`; older versions put the words there.
        (Some(Value::String(text)), _, _) if thought.is_some_and(|thought| thought == true) => {
            Piece::Thought(text.clone())
        }
        (Some(Value::String(text)), _, _) => Piece::Text(text.clone()),
        (_, Some(call @ Value::Object(_)), _) => Piece::Call(call.clone()),
        (_, _, Some(response @ Value::Object(_))) => Piece::Response(response.clone()),
        _ => match thought {
            Some(Value::String(text)) => Piece::Thought(text.clone()),
            _ => Piece::Other(part.clone()),
        },
    }
}

/// The name of a part that is of no known kind.
pub(super) fn unknown(part: &Map<String, Value>) -> Option<&str> {
    let known = |name: &&String| BINARY.contains(&name.as_str()) || PLAIN.contains(&name.as_str());
    if part.keys().any(|name| known(&name)) {
        return None;
    }
    Some(part.keys().next().map_or("{}", String::as_str))
}

/// What is shown of a part that is neither words nor a tool's.
pub(super) fn shown(part: Map<String, Value>) -> Value {
    let Some((name, data)) = BINARY.iter().find_map(|name| Some((*name, part.get(*name)?))) else {
        return Value::Object(part);
    };
    let bytes = data.get("data").and_then(Value::as_str).map_or(0, str::len);
    let mut shown = json!({"type": "document", "part": name, "mimeType": data.get("mimeType")});
    if data.get("mimeType").and_then(Value::as_str).is_some_and(|mime| mime.starts_with("image/")) {
        shown["type"] = "image".into();
    }
    if bytes > 0 {
        shown["base64_bytes"] = bytes.into();
    }
    if let Some(place) = data.get("fileUri") {
        shown["fileUri"] = place.clone();
    }
    shown
}

/// One text is a text, and more is a list.
pub(super) fn content(mut parts: Vec<Value>) -> Option<Content<'static>> {
    parts.retain(|part| part.as_str().is_none_or(|text| !text.is_empty()));
    match parts.len() {
        0 => None,
        1 => Some(match parts.remove(0) {
            Value::String(text) => Content::text(text),
            part => Content::Value(part),
        }),
        _ => Some(Content::Value(Value::Array(parts))),
    }
}

/// What a tool gave: the text of its only response, or all the parts.
pub(super) fn result(value: &Value, call: Option<&str>) -> (Option<Content<'static>>, bool) {
    let mut responses = Vec::new();
    let mut parts = Vec::new();
    for piece in pieces(value) {
        match piece {
            Piece::Response(response) => responses.push(response),
            Piece::Text(text) | Piece::Thought(text) => parts.push(Value::String(text)),
            Piece::Call(other) => parts.push(other),
            Piece::Other(part) => parts.push(shown(part)),
        }
    }
    // With parallel calls each one's record may hold the responses of all.
    let own = |response: &Value| response.get("id").and_then(Value::as_str) == call;
    if responses.iter().any(own) {
        responses.retain(own);
    }
    let failed = responses.iter().any(|response| response.pointer("/response/error").is_some());
    let outputs = responses.iter().map(|response| match response.get("response") {
        Some(Value::Object(fields)) if fields.len() == 1 => {
            let only = fields.get("output").or_else(|| fields.get("error"));
            only.cloned().unwrap_or_else(|| Value::Object(fields.clone()))
        }
        Some(other) => other.clone(),
        None => Value::Null,
    });
    let mut all: Vec<Value> = outputs.collect();
    all.extend(parts);
    (content(all), failed)
}

/// The words alone.
pub(super) fn words(pieces: &[Piece]) -> String {
    let texts = pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
