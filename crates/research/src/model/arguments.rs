//! What a model calls a tool with, read as it is plainly meant: numbers may be in quotes.

use serde_json::{Map, Value};

use super::tools::{ToolError, tool_error};

pub(super) type Arguments = Map<String, Value>;

pub(super) fn optional_text<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

/// A text that must be there.
pub(super) fn text<'a>(arguments: &'a Arguments, name: &str) -> Result<&'a str, ToolError> {
    let text = optional_text(arguments, name).filter(|text| !text.is_empty());
    text.ok_or_else(|| tool_error(format!("{name:?} is missing, or no text")))
}

pub(super) fn number(arguments: &Arguments, name: &str) -> Result<Option<usize>, ToolError> {
    let wrong = || tool_error(format!("{name:?} is not a whole number"));
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => text.trim().parse().map(Some).map_err(|_| wrong()),
        Some(value) => value
            .as_u64()
            .or_else(|| value.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64))
            .and_then(|number| usize::try_from(number).ok())
            .map(Some)
            .ok_or_else(wrong),
    }
}

pub(super) fn flag(arguments: &Arguments, name: &str) -> bool {
    match arguments.get(name) {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::String(text)) => text == "true",
        _ => false,
    }
}
