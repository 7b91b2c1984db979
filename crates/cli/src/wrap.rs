//! Wraps paragraphs to the width of the terminal.

use unicode_width::UnicodeWidthStr;

/// Longer lines are hard to read, however wide the terminal.
const WIDEST: usize = 100;

/// Width of a paragraph on this terminal.
pub(crate) fn width() -> usize {
    crate::table::screen().unwrap_or(WIDEST).clamp(20, WIDEST)
}

/// Wraps the first line of a text at spaces, after `lead`, and indents the rest. Further lines of the text are code, and are not
/// wrapped.
pub(crate) fn paragraph(text: &str, lead: &str, width: usize) -> String {
    let indent = " ".repeat(lead.width());
    let mut out = String::new();
    for (number, line) in text.lines().enumerate() {
        let mut at = if number == 0 { lead.to_owned() } else { indent.clone() };
        if number > 0 {
            at.push_str(line.trim_end());
            out.push_str(at.trim_end());
            out.push('\n');
            continue;
        }
        let mut empty = true;
        for word in line.split(' ').filter(|word| !word.is_empty()) {
            if !empty && at.width() + 1 + word.width() > width {
                out.push_str(at.trim_end());
                out.push('\n');
                at.clone_from(&indent);
                empty = true;
            }
            if !empty {
                at.push(' ');
            }
            at.push_str(word);
            empty = false;
        }
        out.push_str(at.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_code_is_not() {
        assert_eq!(paragraph("one two three four", "- ", 10), "- one two\n  three\n  four\n");
        assert_eq!(paragraph("head of it\n    let a = 1;\n", "- ", 8), "- head\n  of it\n      let a = 1;\n");
        assert_eq!(paragraph("src/a/very/long/path.rs:12", "", 8), "src/a/very/long/path.rs:12\n");
        assert_eq!(paragraph("", "- ", 8), "");
    }
}
