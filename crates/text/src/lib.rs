//! Text as text: lines, words and their stems, token estimates, kinds of text, and what tools add to their output.
//!
//! Entry points: [`split_lines`], [`words::each_word`], [`estimate_tokens`], [`TextKind::detect`],
//! [`strip_ansi_escapes`], [`strip_line_numbers`], [`step_outcomes`], [`timestamp`].
//!
//! Never touches a file, a clock or the network. Results are the same on every machine.

mod ansi;
mod build_output;
pub mod interner;
mod kind;
mod kind_detection;
mod line_numbers;
mod lines;
mod numbers;
pub mod plain;
mod timestamps;
mod tokens;
pub mod words;

pub use ansi::strip_ansi_escapes;
pub use build_output::{StepOutcome, is_quoted_source, is_separator_line, step_outcome, step_outcomes};
pub use kind::TextKind;
pub use line_numbers::{line_number, strip_line_numbers};
pub use lines::{line_count, split_lines};
pub use numbers::grouped;
pub use timestamps::{Date, Timestamp, timestamp};
pub use tokens::estimate_tokens;
