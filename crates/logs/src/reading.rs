//! Opening one log with the reader of its format: record by record, or as a whole.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use tamis_clients::Client;

use crate::detection::{self, without_mark};
use crate::discovery::{LogFormat, LogSource};
use crate::event::{Content, EventBody, EventStream, LogEvent};
use crate::lines::{Chunk, LONGEST_LINE, open_regular};
use crate::readers::claude::{self, ClaudeReader};
use crate::readers::codex::CodexReader;
use crate::readers::{LineReader, ParsedLog, Unrecognised, gemini, opencode};

/// Documents are read whole, so larger ones are not.
pub const LARGEST_DOCUMENT: u64 = 64 << 20;
pub fn is_compressed(path: &str) -> bool {
    path.ends_with(".zst")
}

pub fn format_of(source: &LogSource) -> io::Result<LogFormat> {
    if !source.part.is_empty() {
        return Ok(LogFormat::Collection(Client::OpenCode));
    }
    detection::format_of(Path::new(&source.path), is_compressed(&source.path))
}

/// A reader for this log, from a state on; none is the log's beginning.
pub fn reader_of(provider: Client, path: &str, state: &str) -> Option<Box<dyn LineReader>> {
    match provider {
        Client::ClaudeCode if state.is_empty() => {
            Some(Box::new(ClaudeReader::of_file(&stem_of(Path::new(path)))))
        }
        Client::ClaudeCode => Some(Box::new(ClaudeReader::resume(state)?)),
        Client::Codex if state.is_empty() => Some(Box::new(CodexReader::default())),
        Client::Codex => Some(Box::new(CodexReader::resume(state)?)),
        Client::Gemini | Client::OpenCode => None,
    }
}

/// A log's name without its endings.
pub fn stem_of(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.strip_suffix(".zst").unwrap_or(&name);
    stem.rsplit_once('.').map_or(stem, |(stem, _)| stem).to_owned()
}

pub fn no_reader() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "its reader cannot go on from where it was")
}

/// What a chunk contains, in order.
pub enum LogItem<'e, 'a> {
    /// With its line, where it has one.
    Event(&'e LogEvent<'a>, Option<&'e str>),
    /// A record's events are through; its facts and drift.
    Record(&'e ParsedLog<'a>),
}

/// What stands for a line that is too long.
pub fn too_long(length: u64) -> String {
    format!("[a record of {length} bytes, which is more than {LONGEST_LINE} and was not read]")
}

/// Reads the records of a chunk. Everyone who reads lines does it here, so that an event has one number for all.
pub fn each_event(chunk: &Chunk<'_>, reader: &mut dyn LineReader, visit: &mut dyn FnMut(LogItem<'_, '_>)) {
    let bytes = match chunk {
        Chunk::Lines { bytes, .. } => bytes,
        Chunk::TooLong { length, .. } => {
            let body = EventBody::Notification(Content::text(too_long(*length)));
            visit(LogItem::Event(&LogEvent { at: None, stream: EventStream::Main, body }, None));
            let unrecognised = vec![Unrecognised::Unreadable("a line that is too long".into())];
            return visit(LogItem::Record(&ParsedLog { unrecognised, ..ParsedLog::default() }));
        }
    };
    if let Ok(text) = std::str::from_utf8(bytes) {
        let mut record = ParsedLog::default();
        for line in text.split('\n') {
            each_event_of(line, reader, &mut record, visit);
        }
        return;
    }
    for line in bytes.split(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        let mut record = ParsedLog::default();
        if matches!(text, std::borrow::Cow::Owned(_)) {
            record.unrecognised.push(Unrecognised::Unreadable("bytes that are not UTF-8, read as �".into()));
        }
        each_event_of(&text, reader, &mut record, visit);
    }
}

fn each_event_of<'a>(
    line: &'a str,
    reader: &mut dyn LineReader,
    record: &mut ParsedLog<'a>,
    visit: &mut dyn FnMut(LogItem<'_, '_>),
) {
    let line = without_mark(line.trim_ascii());
    if !line.is_empty() {
        reader.read(line, record);
    }
    record.events.iter().for_each(|event| visit(LogItem::Event(event, Some(line))));
    if !record.facts.is_empty() || !record.unrecognised.is_empty() {
        visit(LogItem::Record(record));
    }
    record.events.clear();
    record.facts.clear();
    record.unrecognised.clear();
}

/// Reads a session that is not a log of lines, and passes it to `visit`.
pub fn with_transcript<T>(
    source: &LogSource,
    format: LogFormat,
    visit: impl FnOnce(&ParsedLog<'_>) -> T,
) -> io::Result<T> {
    let path = Path::new(&source.path);
    if let LogFormat::Collection(_) = format {
        return opencode::read(path, &source.part).map_err(io::Error::other).map(|session| visit(&session));
    }
    let size = fs::metadata(path)?.len();
    if size > LARGEST_DOCUMENT {
        let why = format!("it has {size} bytes, and documents of more than {LARGEST_DOCUMENT} are not read");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    let mut bytes = Vec::new();
    open_regular(path)?.take(LARGEST_DOCUMENT).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = without_mark(&text);
    let transcript = match format.provider() {
        Some(Client::Gemini) => gemini::read(text),
        Some(Client::ClaudeCode) => claude::read_document(text),
        _ => None,
    };
    transcript
        .map(|transcript| visit(&transcript))
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it is not of the form that it began with"))
}
