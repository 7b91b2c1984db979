//! What tamis knows of text as text: its lines, its words, how many tokens it costs, what kind it is,
//! and which parts of it are nobody's business.
//!
//! Pure: no file, clock or network. Everything here gives the same answer on every machine.

mod detect;
mod kind;
mod lines;
mod listing;
mod redact;
mod terminal;
mod tokens;
mod tool_output;
pub mod vocabulary;
pub mod words;

pub use kind::Kind;
pub use lines::{line_count, split_lines};
pub use listing::{line_number, without_line_numbers};
pub use redact::{Redacted, Redactor};
pub use terminal::without_escapes;
pub use tokens::estimate_tokens;
pub use tool_output::{Outcome, is_drawn, is_quoted_source, outcome};
