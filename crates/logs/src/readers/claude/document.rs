//! What claude.ai/code exports: `{"loglines": [ … ]}`, the records of a log in one document.

use serde_json::value::RawValue;

use super::ClaudeReader;
use super::fields::{Fields, Key};
use crate::readers::{LineReader, ParsedLog};

/// Reads an exported session; `None` if the text is not one.
pub fn read_document(text: &str) -> Option<ParsedLog<'_>> {
    let lines = Fields::parse(text)?.get(Key::Loglines)?;
    let lines: Vec<&RawValue> = serde_json::from_str(lines.get()).ok()?;
    let mut reader = ClaudeReader::new();
    let mut parsed = ParsedLog::default();
    lines.iter().for_each(|line| reader.read(line.get(), &mut parsed));
    Some(parsed)
}
