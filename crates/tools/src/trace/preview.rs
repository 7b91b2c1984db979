//! What a search shows of an event that it found.

use serde_json::{Value, json};
use tamis_logs::event::EventKind;
use tamis_redact::excerpt;
use tamis_trace::{CompiledQuery, SearchMatch};

use super::summary::TELLING;

/// Characters of a text's preview.
const TEXT: usize = 300;
/// Characters of a call's arguments as JSON.
const ARGUMENTS: usize = 100;
/// Characters around a match in arguments that the preview does not show.
const AROUND: usize = 200;

/// The preview that the contract has for each type of event.
pub(crate) fn of(found: &SearchMatch, finder: &CompiledQuery) -> Value {
    match found.kind {
        EventKind::ToolCall => {
            let payload = found.payload();
            let arguments = payload.member("arguments");
            let short = arguments.summarise(TELLING, ARGUMENTS);
            let name = excerpt(payload["name"].as_str().unwrap_or_default(), 200);
            let mut preview = json!({"tool": name, "arguments": short});
            if short != arguments
                && let Some(around) = found.excerpt(finder, AROUND)
            {
                preview["match"] = around.into();
            }
            preview
        }
        EventKind::ToolResult => {
            let mut preview = json!({"preview": found.excerpt(finder, TEXT).unwrap_or_default()});
            if found.is_error() {
                preview["is_error"] = true.into();
            }
            preview
        }
        EventKind::TokenUsage => {
            let payload = found.payload();
            json!({"input": payload["input"], "output": payload["output"]})
        }
        _ => json!({"text": found.excerpt(finder, TEXT).unwrap_or_default()}),
    }
}
