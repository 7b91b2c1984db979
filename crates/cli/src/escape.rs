//! Text for the terminal: without secrets, and with control characters made visible.
//!
//! A log holds whatever an agent read, so it may hold sequences that move the cursor, rename the window or turn the
//! direction of the text. They are shown as escapes, never sent.

use serde_json::Value;
use tamis_redact::{Redacted, Redactor};

/// A text of several lines.
pub(crate) fn text(text: &str) -> String {
    escape(&Redactor::standard().redact(text), true)
}

/// A text of several lines that is redacted already.
pub(crate) fn redacted(text: &Redacted) -> String {
    escape(text, true)
}

/// A text on one line: line breaks and runs of spaces become a space.
pub(crate) fn line(text: &str) -> String {
    let text = Redactor::standard().redact(text);
    let mut line = String::with_capacity(text.len().min(4096));
    for word in text.split([' ', '\n', '\r', '\t']).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&escape(word, false));
    }
    line
}

/// A text of several lines that may have secrets, such as what an agent's screen shows, or that was written here.
pub(crate) fn controls(text: &str) -> String {
    escape(text, true)
}

/// A value as JSON on one line.
pub(crate) fn json_line(value: &Value) -> String {
    json(&value.to_string())
}

/// Text of JSON. What is below a space is escaped already; the rest is inside strings, where an escape means the same.
pub(crate) fn json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter != '\n' && is_control(letter) {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(letter);
        }
    }
    out
}

fn escape(text: &str, several_lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' if several_lines => out.push(letter),
            '\r' if several_lines && letters.peek() == Some(&'\n') => {}
            letter if is_control(letter) => match u32::from(letter) {
                code @ ..=0xff => out.push_str(&format!("\\x{code:02x}")),
                code => out.push_str(&format!("\\u{{{code:x}}}")),
            },
            letter => out.push(letter),
        }
    }
    out
}

/// Whether a terminal acts on it or a reader is misled by it: controls, changes of direction, separators of lines, and
/// invisible tags.
pub(crate) fn is_control(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(line("a\u{1b}[31mred\r\n\tnext\u{9b}2J"), "a\\x1b[31mred next\\x9b2J");
        assert_eq!(text("a\tb\r\nc\rd\u{202e}e\u{7}"), "a\tb\nc\\x0dd\\u{202e}e\\x07");
        assert_eq!(text("日本 ✓ 👩‍💻"), "日本 ✓ 👩‍💻");
        let value = json!({"text": "\u{1b}]0;x\u{7}\u{9b}\u{202e}\u{e0041}"});
        let shown = json_line(&value);
        assert!(shown.is_ascii(), "{shown}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value, "it means the same");
    }

    #[test]
    fn secrets_are_redacted() {
        let key = ["ghp", "_", "Zq7Lk2Xv9Rb4Tn8Wc1Yd6Hs3Jf5Pm0Ga2Ke4"].concat();
        let text = format!("with {key} in it");
        assert_eq!(line(&text), "with [redacted:github-token] in it");
        assert_eq!(redacted(&Redacted::from(text)), "with [redacted:github-token] in it");
    }
}
