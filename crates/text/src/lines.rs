//! The definition of a line, for every crate and every contract.
//!
//! Text is split at `\n` and nowhere else: a final newline gives an empty last line, a CR stays in its line,
//! and the empty text is one line. Joining the lines with `\n` gives the text back byte for byte.

/// The lines of `text`, without their `\n`.
pub fn split_lines(text: &str) -> Vec<&str> {
    text.split('\n').collect()
}

/// The number of lines that [`split_lines`] returns.
pub fn line_count(text: &str) -> usize {
    1 + text.bytes().filter(|&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_at_newline_only() {
        for (text, lines) in [
            ("", vec![""]),
            ("a", vec!["a"]),
            ("a\n", vec!["a", ""]),
            ("a\r\nb", vec!["a\r", "b"]),
            ("a\rb", vec!["a\rb"]),
            ("\n\n", vec!["", "", ""]),
        ] {
            assert_eq!(split_lines(text), lines);
            assert_eq!(line_count(text), lines.len());
            assert_eq!(lines.join("\n"), text);
        }
    }
}
