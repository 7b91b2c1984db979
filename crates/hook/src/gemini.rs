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

/// The client reads a file at once, unless it asks its user, or denies it.
const READ_WITHIN: Duration = Duration::from_secs(2);
/// An older file was left behind, by an interrupted call for example, and says nothing about the calls of now.
const LEFT_BEHIND: Duration = Duration::from_secs(10 * 60);

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
    if rules_deny_reading(payload, Path::new(transcript)) {
        return Err(LeftReason::ToolDenied);
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

/// The tool that stands in, by the names that settings know it by.
const READ_TOOL: &[&str] = &["read_file", "ReadFileTool"];
/// The administrator's settings and policies.
const SYSTEM_FOLDER: &str =
    if cfg!(target_os = "macos") { "/Library/Application Support/GeminiCli" } else { "/etc/gemini-cli" };
/// Larger files of settings are not read.
const MAX_RULES_BYTES: u64 = 1 << 20;

/// Whether settings or a policy may deny the tool, or have the user asked: then an output would be lost, or a question be asked
/// that there was none before.
fn rules_deny_reading(payload: &HookPayload<'_>, transcript: &Path) -> bool {
    // `.gemini/tmp/PROJECT/chats/SESSION`
    let of_user = transcript.ancestors().nth(4).map(Path::to_owned);
    let of_project = payload.cwd.as_deref().map(|folder| Path::new(folder).join(".gemini"));
    let folders = [of_user, of_project, Some(PathBuf::from(SYSTEM_FOLDER))];
    folders.into_iter().flatten().any(|folder| {
        let settings = rules_in(&folder.join("settings.json"));
        let policies = fs::read_dir(folder.join("policies")).into_iter().flatten().flatten();
        let mut policies = policies.map(|entry| entry.path());
        settings.is_some_and(|text| settings_deny_reading(&text))
            || policies.any(|path| rules_in(&path).is_some_and(|text| policy_denies_reading(&text)))
    })
}

fn rules_in(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    let is_readable = metadata.is_file() && metadata.len() <= MAX_RULES_BYTES;
    if is_readable { fs::read_to_string(path).ok() } else { None }
}

/// Whether settings exclude the tool, or list others only. Of settings that cannot be parsed, the name alone will do.
fn settings_deny_reading(text: &str) -> bool {
    let Ok(settings) = serde_json::from_str::<Value>(&without_comments(text)) else {
        return READ_TOOL.iter().any(|name| text.contains(name));
    };
    let has_tool = |list: &Vec<Value>| list.iter().filter_map(Value::as_str).any(names_reading);
    let list = |pointer: &str| settings.pointer(pointer).and_then(Value::as_array);
    let is_excluded = ["/tools/exclude", "/excludeTools"].into_iter().filter_map(list).any(has_tool);
    let is_left_out = ["/tools/core", "/coreTools"].into_iter().filter_map(list).any(|list| !has_tool(list));
    is_excluded || is_left_out
}

/// The text without the comments that the client allows in its settings.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            let end = if rest.starts_with('"') { end_of_string(rest) } else { 1 };
            plain.push_str(&rest[..end]);
            end
        };
        rest = &rest[end..];
    }
    plain + rest
}

/// Where the string ends that a text begins with.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !is_escaped => return at + 1,
            b'\\' if !is_escaped => is_escaped = true,
            _ => is_escaped = false,
        }
    }
    text.len()
}

fn names_reading(name: &str) -> bool {
    READ_TOOL
        .iter()
        .any(|tool| name.strip_prefix(tool).is_some_and(|rest| rest.is_empty() || rest.starts_with('(')))
}

/// Whether a rule of a policy is for the tool, or for all, and does not allow it.
fn policy_denies_reading(text: &str) -> bool {
    let lines = text.lines().map(|line| line.trim_start()).filter(|line| !line.starts_with('#'));
    let text = lines.collect::<Vec<_>>().join("\n");
    text.split("[[rule]]").skip(1).any(|rule| {
        let is_for_all = rule.contains("\"*\"") || !rule.contains("toolName");
        let is_for_reading = READ_TOOL.iter().any(|name| rule.contains(name));
        let denies = rule.contains("\"deny\"")
            || rule.contains("\"ask_user\"")
            || rule.contains("'deny'")
            || rule.contains("'ask_user'");
        denies && (is_for_reading || is_for_all && !rule.contains("mcpName"))
    })
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
        is_of_session && age.is_some_and(|age| (READ_WITHIN..LEFT_BEHIND).contains(&age))
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
        if write().is_err() {
            // A part of it, on a full disk, would look like a file that the client may not read.
            let _ = fs::remove_file(&path);
            return Err(LeftReason::NotDelivered);
        }
        let path = path.to_str().ok_or(LeftReason::NotDelivered)?;
        let call = json!({"name": "read_file", "args": {"file_path": path}});
        Ok(json!({"hookSpecificOutput": {"hookEventName": "AfterTool", "tailToolCallRequest": call}}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_deny_reading_are_found() {
        for (settings, denies) in [
            ("{}", false),
            (r#"{"tools": {"exclude": ["write_file"]}}"#, false),
            (r#"{"tools": {"exclude": ["read_file"]}}"#, true),
            (r#"{"excludeTools": ["ReadFileTool"]}"#, true),
            (r#"{"tools": {"core": ["run_shell_command"]}}"#, true),
            (r#"{"tools": {"core": ["run_shell_command", "read_file"]}}"#, false),
            (r#"{"tools": {"exclude": ["read_file_x"]}}"#, false),
            ("{ // a comment\n}", false),
            ("{ // a comment\n\"tools\": {\"exclude\": [\"read_file\"]}}", true),
            ("{ /* a \" comment */ \"tools\": {\"exclude\": [\"read_file\"]}} // end", true),
            // Our own hook names the tool.
            ("// mine\n{\"hooks\": {\"AfterTool\": [{\"matcher\": \"^(read_file)$\"}]}}", false),
            ("{\"url\": \"http://x\\\\\", \"hooks\": \"read_file\"} /* mine */", false),
            ("{\"a\": \"\\\" // read_file\"}", false),
        ] {
            assert_eq!(settings_deny_reading(settings), denies, "{settings}");
        }
        for (policy, denies) in [
            ("", false),
            ("[[rule]]\ntoolName = \"read_file\"\ndecision = \"allow\"", false),
            ("[[rule]]\ntoolName = \"read_file\"\ndecision = \"deny\"\npriority = 5", true),
            ("[[rule]]\ntoolName = ['glob', 'read_file']\ndecision = 'ask_user'", true),
            (
                "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"rm\"\ndecision = \"deny\"",
                false,
            ),
            ("[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"", true),
            ("[[rule]]\ndecision = \"ask_user\"", true),
            ("[[rule]]\nmcpName = \"other\"\ndecision = \"deny\"", false),
            ("# [[rule]]\n# toolName = \"read_file\"\n# decision = \"deny\"", false),
            (
                "[[rule]]\ntoolName = \"read_file\"\ndecision = \"allow\"\n[[rule]]\ntoolName = \"replace\"\ndecision = \"deny\"",
                false,
            ),
        ] {
            assert_eq!(policy_denies_reading(policy), denies, "{policy}");
        }
    }

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
