//! Whose log a file is, by its first records.
//!
//! A log may begin with anything: records that every client might write, a line that is torn, a record of megabytes. And
//! some clients write what looks like another's: Qwen Code has Claude Code's envelopes around Gemini's messages. So records
//! are read until one can only be of one client, or is known to be of a client that is not read.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;

use serde_json::value::RawValue;

use crate::discovery::LogFormat;
use crate::lines::{CHUNK, Chunk, LogLines, open_regular};
use crate::readers::claude;
use tamis_clients::Client::{ClaudeCode, Codex, Gemini};

/// Maximum number of records that are read.
const MOST_RECORDS: usize = 200;
/// Chunks that they are looked for in, each of many lines or of a long one.
const MOST_CHUNKS: usize = 8;

/// A record, no deeper than its names.
type Fields<'a> = HashMap<&'a str, &'a RawValue>;

/// What a record shows about the format of its log.
#[derive(Debug, PartialEq, Eq)]
enum Evidence {
    Is(LogFormat),
    /// It is of a client that is not read.
    Foreign,
    /// Nothing.
    Nothing,
}

/// Whose log a file is.
pub(crate) fn format_of(path: &Path, compressed: bool) -> io::Result<LogFormat> {
    if !compressed {
        let mut beginning = Vec::new();
        open_regular(path)?.take(CHUNK as u64).read_to_end(&mut beginning)?;
        let format = of_document(&String::from_utf8_lossy(&beginning));
        if format != LogFormat::Unknown {
            return Ok(format);
        }
    }
    let mut lines = LogLines::open(path, compressed, 0)?;
    let mut records = 0;
    for _ in 0..MOST_CHUNKS {
        let bytes = match lines.next(u64::MAX)? {
            Some(Chunk::Lines { bytes, .. }) => bytes,
            Some(Chunk::TooLong { .. }) => continue,
            None => break,
        };
        for line in bytes.split(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(line);
            let Ok(record) = serde_json::from_str(without_mark(line.trim_ascii())) else { continue };
            match of_record(&record) {
                Evidence::Is(format) => return Ok(format),
                Evidence::Foreign => return Ok(LogFormat::Unknown),
                Evidence::Nothing => records += 1,
            }
            if records == MOST_RECORDS {
                return Ok(LogFormat::Unknown);
            }
        }
    }
    Ok(LogFormat::Unknown)
}

/// Without the mark that some editors put before a text's first letter.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn of_record(record: &Fields<'_>) -> Evidence {
    let has = |name: &str| record.contains_key(name);
    let kind = record.get("type").and_then(|kind| serde_json::from_str::<&str>(kind.get()).ok());
    let kind = kind.unwrap_or_default();
    let message = record.get("message").map_or("", |message| message.get());
    let header = has("id") && has("timestamp") && (has("instructions") || has("git"));
    let of_gemini = |message: &str| {
        serde_json::from_str::<Fields<'_>>(message).is_ok_and(|message| message.contains_key("parts"))
    };
    match kind {
        "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted" if has("payload") => {
            Evidence::Is(LogFormat::Lines(Codex))
        }
        "thread.started" => Evidence::Is(LogFormat::Lines(Codex)),
        "" if header || has("record_type") => Evidence::Is(LogFormat::Lines(Codex)),
        _ if has("projectHash") || has("sessionId") && has("startTime") => {
            Evidence::Is(LogFormat::Document(Gemini))
        }
        _ if has("loglines") => Evidence::Is(LogFormat::Document(ClaudeCode)),
        _ if has("systemPayload") || has("toolCallResult") || of_gemini(message) => Evidence::Foreign,
        "summary" if has("leafUuid") || has("summary") => Evidence::Is(LogFormat::Lines(ClaudeCode)),
        "user" | "assistant" | "system"
            if message.starts_with('{') || has("sessionId") || has("session_id") || has("subtype") =>
        {
            Evidence::Is(LogFormat::Lines(ClaudeCode))
        }
        // Tools that keep only what was used leave the type out.
        "" if (has("sessionId") || has("requestId")) && (has("costUSD") || message.contains("\"usage\"")) => {
            Evidence::Is(LogFormat::Lines(ClaudeCode))
        }
        "file-history-snapshot" if has("snapshot") => Evidence::Is(LogFormat::Lines(ClaudeCode)),
        _ if has("sessionId") && (has("uuid") || has("leafUuid") || claude::is_known(kind)) => {
            Evidence::Is(LogFormat::Lines(ClaudeCode))
        }
        _ => Evidence::Nothing,
    }
}

/// Documents may be written over many lines, and are too long to be parsed only to be recognised. They begin with what
/// tells whose they are, and a log of lines has other records first.
fn of_document(text: &str) -> LogFormat {
    let start = without_mark(text.trim_start()).trim_start();
    if !start.starts_with('{') {
        return LogFormat::Unknown;
    }
    let first = start.lines().next().unwrap_or_default();
    if serde_json::from_str::<Fields<'_>>(first).is_ok() {
        return LogFormat::Unknown;
    }
    let has = |name: &str| start.contains(&format!("\"{name}\""));
    if has("sessionId") && (has("projectHash") || has("startTime")) && has("messages") {
        LogFormat::Document(Gemini)
    } else if has("loglines") {
        LogFormat::Document(ClaudeCode)
    } else {
        LogFormat::Unknown
    }
}
