//! (to be written)

use super::{LineReader, Record};

#[derive(Debug, Default)]
pub struct CodexReader {}

impl CodexReader {
    /// A reader that goes on from a saved state.
    pub fn resume(_state: &str) -> Option<CodexReader> {
        Some(CodexReader::default())
    }
}

impl LineReader for CodexReader {
    fn read<'a>(&mut self, _line: &'a str, _record: &mut Record<'a>) {}

    fn state(&self) -> String {
        String::new()
    }
}
