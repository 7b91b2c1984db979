//! Reading JSON that others wrote: what is not there is empty, and never an error.

use serde_json::Value;

/// The items of an array; none where there is no array.
pub(crate) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A string; empty where there is none.
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
