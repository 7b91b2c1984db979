//! Refuses to write markers into files: they stand for lines that were cut, and a file with them has lost those lines.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tamis_clients::Client;
use tamis_logs::event::strings_of;
use tamis_logs::tool_kinds::{CallDetails, ToolKind};
use tamis_sieve::{is_marker, prune_ids_in};

use crate::payload::HookPayload;

/// Larger files are not searched for the marker.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Why a call must not be made, if it would write a marker into a file that does not have it yet.
pub(crate) fn refusal(payload: &HookPayload<'_>) -> Option<String> {
    let arguments = payload.arguments();
    let details = CallDetails::of(payload.tool(), &arguments);
    if !matches!(details.tool_kind, ToolKind::Edit | ToolKind::Write) {
        return None;
    }
    let mut texts = Vec::new();
    strings_of(&arguments, &mut texts);
    let mut markers = texts.iter().flat_map(|text| text.lines()).filter_map(marker_in).peekable();
    markers.peek()?;
    // A text about tamis may show markers.
    let folder = payload.cwd.as_deref().map(Path::new);
    let path = |path: &String| folder.map_or_else(|| PathBuf::from(path), |folder| folder.join(path));
    let files: String = details.paths.iter().filter_map(|name| content(&path(name))).collect();
    let marker = markers.find(|marker| !files.contains(marker))?;
    // Later markers of a text have no id of their own.
    let restore = match prune_ids_in(marker).next() {
        Some(id) => format!("`tamis recover {id} LINES` in the shell"),
        None => {
            "`tamis recover ID LINES` in the shell, with the id in the first marker of that text".to_owned()
        }
    };
    Some(format!(
        "tamis: this would write `{marker}` into a file. It is a marker, which stands for lines that were cut from what you read. \
         Restore them with the tool recover_text, or with {restore}, and write the whole text."
    ))
}

/// The marker that a line is, or that a line of a patch adds.
fn marker_in(line: &str) -> Option<&str> {
    let line = line.trim();
    let added = line.strip_prefix(['+', '-']).unwrap_or(line).trim();
    [line, added].into_iter().find(|line| is_marker(line))
}

fn content(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return None;
    }
    fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The reply that refuses the call.
pub(crate) fn reply(client: Client, reason: &str) -> Value {
    match client {
        Client::ClaudeCode | Client::Codex => json!({
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }
        }),
        Client::Gemini | Client::OpenCode => json!({"decision": "deny", "reason": reason}),
    }
}
