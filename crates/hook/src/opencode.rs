//! OpenCode: our plugin sends the JSON, and puts the reply's `output` in place of the tool's.

use serde_json::{Value, json};

use crate::LeftReason;
use crate::payload::HookPayload;
use crate::prune::ToolText;

const TOOLS: &[&str] = &["bash", "read", "grep"];

pub(crate) fn open(payload: &HookPayload<'_>) -> Result<ToolText, LeftReason> {
    if !TOOLS.contains(&payload.tool()) {
        return Err(LeftReason::OtherEvent);
    }
    let Value::String(text) = payload.response() else { return Err(LeftReason::UnknownForm) };
    Ok(ToolText::new(text))
}

pub(crate) fn reply(text: &str) -> Value {
    json!({"output": text})
}
