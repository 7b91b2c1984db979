//! What tamis knows of text as text: its lines, its words, how many tokens it costs, and what kind it is.
//!
//! Pure: no file, clock or network. Everything here gives the same answer on every machine.

mod ansi;
mod build_output;
pub mod interner;
mod kind;
mod kind_detection;
mod line_numbers;
mod lines;
pub mod plain;
mod tokens;
pub mod words;

pub use ansi::without_escapes;
pub use build_output::{Outcome, is_drawn, is_quoted_source, outcome};
pub use kind::Kind;
pub use line_numbers::{line_number, without_line_numbers};
pub use lines::{line_count, split_lines};
pub use tokens::estimate_tokens;
