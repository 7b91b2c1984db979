//! OpenCode: our plugin sends the JSON, and puts the reply's `output` in place of the tool's.

use serde_json::{Value, json};
use tamis_clients::HookedOutput;
use tamis_text::line_number;

use crate::LeftReason;
use crate::payload::HookPayload;
use crate::prune::ToolText;

/// The text, and what the client puts before it.
pub(crate) fn open(
    payload: &HookPayload<'_>,
    printed: HookedOutput,
) -> Result<(String, ToolText), LeftReason> {
    let Value::String(text) = payload.response() else { return Err(LeftReason::UnknownForm) };
    if printed != HookedOutput::File {
        return Ok((String::new(), ToolText::new(text)));
    }
    // The agent wants these lines, and markers would count from the first of them.
    if payload.arguments().get("offset").and_then(Value::as_u64).is_some_and(|offset| offset > 1) {
        return Err(LeftReason::PartOfFile);
    }
    // So that the lines of a marker are those of the file.
    let lines = text.split_inclusive('\n');
    let before: usize = lines.take_while(|line| line_number(line) != Some(1)).map(str::len).sum();
    let (before, body) = if before < text.len() { text.split_at(before) } else { ("", text.as_str()) };
    Ok((before.to_owned(), ToolText::new(body.to_owned())))
}

pub(crate) fn reply(before: &str, text: &str) -> Value {
    json!({"output": format!("{before}{text}")})
}
