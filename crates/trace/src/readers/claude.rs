//! (to be written)

use super::{LineReader, Record};

#[derive(Debug, Default)]
pub struct ClaudeReader {}

impl ClaudeReader {
    /// A reader that goes on from a saved state.
    pub fn resume(_state: &str) -> Option<ClaudeReader> {
        Some(ClaudeReader::default())
    }
}

impl LineReader for ClaudeReader {
    fn read<'a>(&mut self, _line: &'a str, _record: &mut Record<'a>) {}

    fn state(&self) -> String {
        String::new()
    }
}

/// Reads an exported session; `None` when it is none.
pub fn read_document(_text: &str) -> Option<super::Transcript> {
    None
}
