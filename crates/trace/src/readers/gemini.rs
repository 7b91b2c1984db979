//! (to be written)

use super::Transcript;

/// Reads a document; `None` when it is none of Gemini CLI's.
pub fn read(_text: &str) -> Option<Transcript> {
    None
}

/// The folder of the project that a chat belongs to.
pub fn root_of(_chat: &std::path::Path) -> Option<String> {
    None
}
