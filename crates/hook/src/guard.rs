//! Refuses to write markers into files: they stand for lines that were cut, and a file with them has lost those lines.
//!
//! A text about tamis may show markers. So only those of stored originals count; and of markers without an id, only those that the
//! session's log has beside the id of a stored original.

use std::fs;
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde_json::{Value, json};
use tamis_clients::Client;
use tamis_logs::event::strings_of;
use tamis_logs::tool_kinds::{CallDetails, ToolKind};
use tamis_sieve::{Sieve, is_marker, prune_ids_in};

use crate::context::{log_of, tail_of};
use crate::payload::HookPayload;

/// Larger files are not searched for the marker.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Of a session's log, this much is searched for a marker.
const MAX_LOG_BYTES: u64 = 32 << 20;

/// Why a call must not be made, if it would write a marker into a file that does not have it yet.
pub(crate) fn refusal(payload: &HookPayload<'_>, sieve: &Sieve) -> Option<String> {
    let arguments = payload.arguments();
    let details = CallDetails::of(payload.tool(), &arguments);
    if !matches!(details.tool_kind, ToolKind::Edit | ToolKind::Write) {
        return None;
    }
    let mut texts = Vec::new();
    strings_of(&arguments, &mut texts);
    let mut markers = texts.iter().flat_map(|text| text.lines()).filter_map(marker_in).peekable();
    markers.peek()?;
    let folder = payload.cwd.as_deref().map(Path::new);
    let path = |path: &String| folder.map_or_else(|| PathBuf::from(path), |folder| folder.join(path));
    let files: String = details.paths.iter().filter_map(|name| content(&path(name))).collect();
    let mut log = None;
    let mut is_of_session = |marker: &str| {
        let log = log.get_or_insert_with(|| log_of(payload).and_then(|path| tail_of(&path, MAX_LOG_BYTES)));
        // Where there is no log to look into, as in OpenCode, it may be one.
        log.as_ref().map_or(true, |log| is_shown_in(log, marker, sieve))
    };
    let marker = markers.find(|marker| {
        let is_of_cut = match prune_ids_in(marker).next() {
            Some(id) => sieve.is_recoverable(id),
            None => is_of_session(marker),
        };
        is_of_cut && !files.contains(marker)
    })?;
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

/// Whether a log has the marker in a record that names a stored original too.
fn is_shown_in(log: &str, marker: &str, sieve: &Sieve) -> bool {
    let json = Value::from(marker).to_string();
    let in_json = json.trim_matches('"');
    let mut rest = log;
    while let Some(at) = memmem::find(rest.as_bytes(), in_json.as_bytes()) {
        let start = rest[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = rest[at..].find('\n').map_or(rest.len(), |newline| at + newline);
        if prune_ids_in(&rest[start..end]).any(|id| sieve.is_recoverable(id)) {
            return true;
        }
        rest = &rest[end..];
    }
    false
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
