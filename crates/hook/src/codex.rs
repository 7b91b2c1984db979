//! Codex: `continue: false` replaces the output, and the turn goes on. The replacement has no header, so the exit code has to be
//! said again; the session's log has it by then.

use serde_json::{Value, json};

use crate::LeftReason;
use crate::payload::HookPayload;
use crate::prune::ToolText;

/// Codex puts these lines before what it has cut in the middle.
const CUT_NOTE: &str = "Warning: truncated output";
const CUT_NOTE_LINES: usize = 3;

pub(crate) fn open(payload: &HookPayload<'_>) -> Result<ToolText, LeftReason> {
    let Value::String(text) = payload.response() else { return Err(LeftReason::UnknownForm) };
    let keep_first_lines = if text.starts_with(CUT_NOTE) { CUT_NOTE_LINES } else { 0 };
    Ok(ToolText { keep_first_lines, must_stay: is_cut_line, ..ToolText::new(text) })
}

/// Whether this line is where Codex has cut: `12…98894 chars truncated…7`.
fn is_cut_line(line: &str) -> bool {
    let mut parts = line.split('…');
    parts.any(|part| part.ends_with(" chars truncated") || part.ends_with(" tokens truncated"))
}

pub(crate) fn reply(text: &str, exit_code: i64) -> Value {
    json!({"continue": false, "reason": format!("Process exited with code {exit_code}\nOutput:\n{text}")})
}
