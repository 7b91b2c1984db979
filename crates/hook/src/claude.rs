//! Claude Code: `updatedToolOutput` must be the tool's whole output object, or it is ignored.

use serde_json::{Value, json};
use tamis_clients::HookedOutput;
use tamis_redact::Redactor;
use tamis_sieve::is_marker;

use crate::LeftReason;
use crate::payload::HookPayload;
use crate::prune::ToolText;

/// The text of a tool's output, and the output around it.
pub(crate) struct ClaudeOutput {
    response: Value,
    pointer: &'static str,
}

pub(crate) fn open(
    payload: &HookPayload<'_>,
    printed: HookedOutput,
) -> Result<(ClaudeOutput, ToolText), LeftReason> {
    let pointer = match printed {
        HookedOutput::Command => "/stdout",
        HookedOutput::File => "/file/content",
        HookedOutput::Matches => "/content",
    };
    let mut response = payload.response();
    let is_other = |kind: &Value| kind.as_str().is_some_and(|kind| kind != "text");
    let is_list = printed == HookedOutput::Matches && response.get("content").is_none();
    if is_list
        || response.get("type").is_some_and(is_other)
        || response.get("isImage") == Some(&Value::Bool(true))
    {
        return Err(LeftReason::NotText);
    }
    // The agent wants these lines, and markers would count from the first of them.
    if response.pointer("/file/startLine").is_some_and(|start| start != 1) {
        return Err(LeftReason::PartOfFile);
    }
    // A long output goes into a file, and the model gets only its beginning.
    if response.get("persistedOutputPath").is_some() {
        return Err(LeftReason::CutByClient);
    }
    let Some(text) = response.pointer_mut(pointer).map(Value::take) else {
        return Err(LeftReason::UnknownForm);
    };
    let Value::String(text) = text else { return Err(LeftReason::UnknownForm) };
    // The client numbers the lines of a file.
    let is_numbered = printed == HookedOutput::File;
    Ok((ClaudeOutput { response, pointer }, ToolText { is_numbered, ..ToolText::new(text) }))
}

impl ClaudeOutput {
    /// Redacts what a command wrote to stderr, which is shown beside its output. Returns whether there were secrets.
    pub(crate) fn redact_errors(&mut self, redactor: &Redactor) -> bool {
        let Some(Value::String(errors)) = self.response.get_mut("stderr") else { return false };
        let redacted = redactor.redact(errors).into_owned();
        let is_redacted = redacted != *errors;
        *errors = redacted;
        is_redacted
    }

    pub(crate) fn reply(mut self, text: String) -> Value {
        let text = match self.response.get_mut("file") {
            Some(file) => without_empty_ends(text, file),
            None => text,
        };
        if let Some(place) = self.response.pointer_mut(self.pointer) {
            *place = Value::String(text);
        }
        json!({
            "hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": self.response}
        })
    }
}

/// A file without the lines that were emptied at its beginning and at its end: each would still take a number. The lines between
/// keep theirs, since the client counts from `startLine`.
fn without_empty_ends(text: String, file: &mut Value) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let is_empty = |line: &&&str| line.is_empty();
    let at_end = lines.iter().rev().take_while(is_empty).count();
    if lines.len().checked_sub(at_end + 1).is_some_and(|last| is_marker(lines[last])) {
        lines.truncate(lines.len() - at_end);
    }
    let at_start = lines.iter().skip(1).take_while(is_empty).count();
    if is_marker(lines[0])
        && let Some(start) = file.get("startLine").and_then(Value::as_u64)
    {
        lines.drain(1..=at_start);
        file["startLine"] = json!(start + at_start as u64);
    }
    file["numLines"] = json!(lines.len());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emptied_lines_at_the_ends_take_no_numbers() {
        const CUT: &str = "[tamis cut 1-3: off goal; restore: recover_text or tamis recover prn_x 1-3]";
        for (text, start, expected, expected_start) in [
            ("a\nb\n", 1, "a\nb\n".to_owned(), 1),
            (&format!("a\n{CUT}\n\n\nb\n"), 1, format!("a\n{CUT}\n\n\nb\n"), 1),
            (&format!("{CUT}\n\n\nb\n"), 10, format!("{CUT}\nb\n"), 12),
            (&format!("a\n{CUT}\n\n"), 10, format!("a\n{CUT}"), 10),
            (&format!("{CUT}\n\n\nb\n[tamis 5-7]\n\n"), 1, format!("{CUT}\nb\n[tamis 5-7]"), 3),
            (&format!("{CUT}\n\n"), 7, CUT.to_owned(), 7),
        ] {
            let mut file = json!({"startLine": start, "numLines": 0});
            assert_eq!(without_empty_ends(text.to_owned(), &mut file), expected, "{text}");
            let lines = expected.split('\n').count();
            assert_eq!(file, json!({"startLine": expected_start, "numLines": lines}), "{text}");
        }
    }
}
