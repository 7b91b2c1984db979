//! Classifies a line by how it begins: closing bracket, comment, attribute, import.

use crate::keywords::{first_word, past_attributes};

/// The width of the line's indentation, with a tab as four.
pub fn line_indent(line: &str) -> usize {
    let mut width = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => width += 1,
            b'\t' => width += 4,
            _ => break,
        }
    }
    width
}

/// Whether the line begins by closing a block: `}`, `});`, `end`, `]`.
pub fn is_closing_line(trimmed: &str) -> bool {
    trimmed.starts_with(['}', ')', ']'])
        || trimmed == "end"
        || trimmed.starts_with("end ")
        || trimmed == "fi"
        || trimmed == "done"
}

/// Whether the line begins with the comment sign of some language.
pub fn is_comment_line(trimmed: &str) -> bool {
    ["//", "/*", "*", "#", "--", "\"\"\"", "'''", "<!--"].iter().any(|start| trimmed.starts_with(start))
}

/// Whether the line is an attribute or decorator of the definition below it.
pub fn is_attribute_line(trimmed: &str) -> bool {
    trimmed.starts_with("#[")
        || trimmed.starts_with('@')
        || trimmed.starts_with("[[")
        || trimmed.starts_with("template<")
        || trimmed.starts_with("template <")
}

/// Whether the line begins an import of some language.
pub(crate) fn is_import(trimmed: &str) -> bool {
    let trimmed = if trimmed.starts_with('#') { past_attributes(trimmed) } else { trimmed };
    let (word, rest) = first_word(trimmed);
    let named = || !rest.contains(" = ") && !rest.trim_ascii_start().starts_with(['=', ':']);
    match word {
        "" => is_include(trimmed) || trimmed.starts_with("@import "),
        "pub" => ["use ", "(crate) use ", "(super) use "]
            .iter()
            .any(|next| rest.trim_ascii_start().starts_with(next)),
        "use" => rest.starts_with(' ') && (rest.starts_with(" ::") || named()),
        // After a long path the names may follow on the next line.
        "from" => {
            rest.contains(" import") || (rest.starts_with(' ') && rest.trim_ascii_end().ends_with('\\'))
        }
        "import" => {
            rest.starts_with([' ', '\t', '"', '\'', '{']) && !rest.trim_ascii_start().starts_with("= ")
        }
        "extern" => rest.starts_with(" crate "),
        "export" => rest.contains(" from ") && rest.trim_ascii_end().ends_with([';', '"', '\'']),
        "const" | "let" | "var" => rest.contains("= require("),
        "package" => rest.starts_with(' ') && !rest.contains('='),
        "using" => rest.starts_with(' ') && named(),
        "require" | "require_relative" => rest.starts_with([' ', '(']) && named(),
        _ => false,
    }
}

/// `#include <…>` or `#  include "…"`, and not a comment that begins with the word.
fn is_include(trimmed: &str) -> bool {
    trimmed.strip_prefix('#').and_then(|rest| rest.trim_ascii_start().strip_prefix("include")).is_some_and(
        |rest| rest.trim_ascii_start().starts_with(['<', '"']) || trimmed.starts_with("#include "),
    )
}
