//! (to be written)

use super::Transcript;

/// Reads a document; `None` when it is none of Gemini CLI's.
pub fn read(_text: &str) -> Option<Transcript> {
    None
}
