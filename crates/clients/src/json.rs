//! Lenient access to the clients' JSON: what is missing is empty, never an error.

use serde_json::Value;

/// The items of an array; none for any other value.
pub(crate) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A string; empty for any other value.
pub(crate) fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The text of a content that is either a string or a list of parts.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        parts => items(parts).filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
    }
}
