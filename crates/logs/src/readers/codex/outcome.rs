//! Whether a tool failed, which Codex writes as prose.
//!
//! Commands: `Exit code: 1` at the top (the shell tools of 2025), `Process exited with code 1` in the lines above
//! `Output:` (unified exec), or a JSON document in the string with `metadata.exit_code` (2025 and before). Other tools
//! say that they failed in one of a few openings. Only the ends of a result are checked.

use serde_json::value::RawValue;

use super::fields::{Fields, Key};
use crate::readers::fields::inside;

/// How far the head and the tail of a result reach, in bytes.
const ENDS: usize = 400;

/// Words that the client itself puts in place of a result.
const FAILURES: &[&str] = &[
    "aborted by user",
    "apply_patch verification failed",
    "command timed out after",
    "exec command rejected by user",
    "exec_command failed",
    "execution error: ",
    "failed in sandbox",
    "failed to parse function arguments",
    "patch rejected by user",
    "tool call error: ",
    "unsupported call: ",
    "unsupported custom tool call: ",
    "write_stdin failed",
];

pub(super) fn failed(output: &RawValue) -> bool {
    match output.get().as_bytes().first() {
        Some(b'"') => inside(output).is_some_and(text_failed),
        Some(b'[') => parts_failed(output.get()),
        Some(b'{') => object_failed(&Fields::of(output)),
        _ => false,
    }
}

/// Whether an object that describes an outcome is a failure.
pub(super) fn object_failed(fields: &Fields<'_>) -> bool {
    let code = fields.first(&[Key::ExitCode, Key::ExitCodeCamel]).is_some_and(|code| code.get() != "0");
    let status = fields.text(Key::Status);
    code || fields.flag(Key::Success) == Some(false)
        || fields.flag(Key::IsError) == Some(true)
        || fields.get(Key::Err).is_some()
        || matches!(status.as_deref(), Some("failed" | "declined" | "errored"))
        || fields.object(Key::Metadata).is_some_and(|metadata| object_failed(&metadata))
        || fields.object(Key::Ok).is_some_and(|result| object_failed(&result))
        || fields.first(&[Key::Content, Key::Output, Key::Text]).is_some_and(failed)
}

/// The texts of an array's parts: the first has the duration, the second the outcome.
fn parts_failed(array: &str) -> bool {
    const TEXT: &str = "\"text\":\"";
    let head = head(array, 4 * ENDS);
    memchr::memmem::find_iter(head.as_bytes(), TEXT)
        .take(4)
        .filter_map(|at| array.get(at + TEXT.len()..))
        .any(|text| text_failed(&text[..text_end(head_of(text))]))
}

fn head_of(text: &str) -> &str {
    head(text, ENDS)
}

/// Where a string ends whose beginning this is.
fn text_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'"', bytes)
        .find(|at| bytes[..*at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0)
        .unwrap_or(text.len())
}

/// `text` is as it stands in the log, escapes and all.
fn text_failed(text: &str) -> bool {
    let head = head(text, ENDS);
    if let Some(rest) = head.strip_prefix("Exit code: ") {
        return number_but_zero(rest);
    }
    if head.starts_with("{\\\"") {
        let tail = tail(text, ENDS);
        return [head, tail].iter().any(|end| {
            ["exit_code\\\":", "exitCode\\\":"].iter().any(|key| after(end, key).is_some_and(number_but_zero))
        });
    }
    let above = head.split("\\nOutput:").next().unwrap_or(head);
    after(above, "Process exited with code ").is_some_and(number_but_zero)
        || FAILURES.iter().any(|failure| head.starts_with(failure))
}

fn after<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    Some(&text[text.find(words)? + words.len()..])
}

fn number_but_zero(text: &str) -> bool {
    let text = text.trim_start();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
    !digits.is_empty() && digits.bytes().any(|digit| digit != b'0')
}

fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn tail(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}
