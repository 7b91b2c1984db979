//! Gemini CLI: a hook cannot replace a tool's output, but it can have another tool called whose output stands in for it. That is
//! the client's own `read_file`, of a file in the client's temporary folder for this project: it may read there without asking.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tamis_store::{create_private_dir, private_file};

use crate::LeftReason;
use crate::payload::HookPayload;
use crate::prune::ToolText;

/// The client marks what a command printed, so that the model does not take it for instructions.
const OPENING: &str = "<untrusted_context>\n";
const CLOSING: &str = "\n</untrusted_context>";
/// Before the first line of the output.
const OUTPUT: &str = "Output: ";
/// How the lines begin that the client adds after the output.
const ADDED: &[&str] = &["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];

/// `read_file` returns longer files, and longer lines, only in part.
const MAX_LINES: usize = 1_900;
const MAX_LINE_CHARS: usize = 1_900;

/// The client reads a file at once, unless it asks its user.
const READ_WITHIN: Duration = Duration::from_secs(60);

/// Our folder in the client's temporary folder.
const FOLDER: &str = "tamis";

/// What the client puts around a tool's output.
pub(crate) struct GeminiOutput {
    opening: String,
    closing: String,
    folder: PathBuf,
    session: String,
}

pub(crate) fn open(payload: &HookPayload<'_>) -> Result<(GeminiOutput, ToolText), LeftReason> {
    // The chats are in a folder of the project's temporary folder.
    let transcript = payload.transcript_path.as_deref().ok_or(LeftReason::NoSession)?;
    let folder = Path::new(transcript).parent().and_then(Path::parent).ok_or(LeftReason::NoSession)?;
    let folder = folder.join(FOLDER);
    if payload.original_request_name.is_some() {
        take_back(payload, &folder);
        return Err(LeftReason::StandIn);
    }
    let response = payload.response();
    let text = match response.get("llmContent") {
        Some(Value::String(text)) => text,
        Some(_) => return Err(LeftReason::NotText),
        None => return Err(LeftReason::UnknownForm),
    };
    // A file that is read would turn an error into a success.
    if response.get("error").is_some_and(|error| !error.is_null()) {
        return Err(LeftReason::NotText);
    }
    // The agent wants these lines, and markers would count from the first of them.
    let arguments = payload.arguments();
    let start = |name: &str| arguments.get(name).and_then(Value::as_u64).unwrap_or(0);
    if start("start_line") > 1 || start("offset") > 0 {
        return Err(LeftReason::PartOfFile);
    }
    let session = file_name_part(payload.session_id.as_deref().unwrap_or_default());
    if was_not_read(&folder, &session) {
        return Err(LeftReason::NotDelivered);
    }
    let (opening, body, closing) = split(text);
    let output = GeminiOutput { opening: opening.to_owned(), closing: closing.to_owned(), folder, session };
    Ok((output, ToolText::new(body.to_owned())))
}

/// The output of a command, and what the client puts before and after it.
fn split(text: &str) -> (&str, &str, &str) {
    let Some(inside) = text.strip_prefix(OPENING).and_then(|text| text.strip_suffix(CLOSING)) else {
        return ("", text, "");
    };
    let output = inside.strip_prefix(OUTPUT).unwrap_or(inside);
    let mut last = OPENING.len() + inside.len();
    let start = last - output.len();
    while let Some(line) = text[start..last].rfind('\n').map(|at| start + at)
        && ADDED.iter().any(|name| text[line + 1..last].starts_with(name))
    {
        last = line;
    }
    (&text[..start], &text[start..last], &text[last..])
}

/// The letters of a session's id that may be in a file's name.
fn file_name_part(session: &str) -> String {
    session.chars().filter(char::is_ascii_alphanumeric).take(36).collect()
}

/// Whether a file of this session is still there, although the client should have read it: then it may not use the tool, and
/// further outputs would be lost.
fn was_not_read(folder: &Path, session: &str) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        let is_of_session = entry.file_name().to_string_lossy().starts_with(session);
        is_of_session && age.is_some_and(|age| age > READ_WITHIN)
    })
}

/// Deletes the file that stood in for an output, once it was read.
fn take_back(payload: &HookPayload<'_>, folder: &Path) {
    let arguments = payload.arguments();
    let file = arguments.get("file_path").and_then(Value::as_str).map(Path::new);
    if let Some(file) = file.filter(|file| file.parent() == Some(folder)) {
        // A file that is left behind is in a folder that the client clears.
        let _ = fs::remove_file(file);
    }
}

impl GeminiOutput {
    pub(crate) fn reply(&self, text: &str) -> Result<Value, LeftReason> {
        let whole = format!("{}{text}{}", self.opening, self.closing);
        let is_long = |line: &str| line.len() > MAX_LINE_CHARS && line.chars().count() > MAX_LINE_CHARS;
        if whole.split('\n').count() > MAX_LINES || whole.split('\n').any(is_long) {
            return Err(LeftReason::NotDelivered);
        }
        // Calls at the same time have files of their own, even for the same text.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = self.folder.join(format!("{}-{now}-{}.txt", self.session, process::id()));
        let write = || {
            create_private_dir(&self.folder)?;
            private_file().write(true).create_new(true).open(&path)?.write_all(whole.as_bytes())
        };
        write().map_err(|_| LeftReason::NotDelivered)?;
        let path = path.to_str().ok_or(LeftReason::NotDelivered)?;
        let call = json!({"name": "read_file", "args": {"file_path": path}});
        Ok(json!({"hookSpecificOutput": {"hookEventName": "AfterTool", "tailToolCallRequest": call}}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_puts_around_an_output_stays() {
        for (text, parts) in [
            ("plain\ntext", ("", "plain\ntext", "")),
            (
                "<untrusted_context>\nOutput: a\nb\n</untrusted_context>",
                ("<untrusted_context>\nOutput: ", "a\nb", "\n</untrusted_context>"),
            ),
            (
                "<untrusted_context>\nOutput: a\nb\nExit Code: 3\nProcess Group PGID: 20892\n</untrusted_context>",
                (
                    "<untrusted_context>\nOutput: ",
                    "a\nb",
                    "\nExit Code: 3\nProcess Group PGID: 20892\n</untrusted_context>",
                ),
            ),
            ("<untrusted_context>\nOther\n", ("", "<untrusted_context>\nOther\n", "")),
            (
                "<untrusted_context>\n</untrusted_context>",
                ("", "<untrusted_context>\n</untrusted_context>", ""),
            ),
        ] {
            assert_eq!(split(text), parts, "{text}");
        }
    }
}
