//! Text from logs, as it may be shown: without secrets, and without anything that a terminal would obey.
//!
//! A log holds whatever an agent read, and so whatever a stranger wrote: sequences that move the cursor, rename the window
//! or turn the direction of the text. They are shown, never sent. Secrets go first, before anything is cut: half a key is
//! not known for one.

use serde_json::Value;
use tamis_redact::Redactor;

use crate::error::CliError;
use crate::print;

/// A text of several lines.
pub(crate) fn text(text: &str) -> String {
    escaped(&Redactor::standard().redact(text), true)
}

/// A text of ours that may quote somebody else's, such as a path: only without what a terminal would obey.
pub(crate) fn harmless(text: &str) -> String {
    escaped(text, true)
}

/// A text on one line: what breaks it becomes a space, and so does a run of spaces.
pub(crate) fn line(text: &str) -> String {
    one_line(&Redactor::standard().redact(text))
}

fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(4096));
    for word in text.split([' ', '\n', '\r', '\t']).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&escaped(word, false));
    }
    line
}

/// The beginning of a longer text, as the index keeps it. It was cut before its secrets were looked for, so a last word
/// that may be half of one is left out.
pub(crate) fn beginning(text: &str) -> String {
    const MAY_BE_SECRET: usize = 8;
    let Some(whole) = text.strip_suffix('…') else { return line(text) };
    let tail = whole.bytes().rev().take_while(u8::is_ascii_graphic).count();
    let kept = if tail >= MAY_BE_SECRET { &whole[..whole.len() - tail] } else { whole };
    format!("{}…", line(kept))
}

/// A value of a log without its secrets: texts by what they say, and by the names they go by.
pub(crate) fn value(value: Value) -> Value {
    named("", value)
}

fn named(name: &str, value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(Redactor::standard().redact_named(name, &text).into_owned()),
        Value::Array(items) => items.into_iter().map(|item| named(name, item)).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| {
                let value = named(&name, value);
                (name, value)
            })
            .collect(),
        other => other,
    }
}

/// Writes a value to stdout as indented JSON. Secrets must be out of it already.
pub(crate) fn json(value: &Value) -> Result<(), CliError> {
    print::line(escaped_json(&serde_json::to_string_pretty(value).map_err(CliError::internal)?))
}

/// A value as JSON on one line.
pub(crate) fn json_line(value: &Value) -> String {
    escaped_json(&value.to_string())
}

/// JSON escapes what is below a space itself; the rest stands in its strings, where an escape means the same.
fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter != '\n' && is_obeyed(letter) {
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

fn escaped(text: &str, several_lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' if several_lines => out.push(letter),
            '\r' if several_lines && letters.peek() == Some(&'\n') => {}
            letter if is_obeyed(letter) => match u32::from(letter) {
                code @ ..=0xff => out.push_str(&format!("\\x{code:02x}")),
                code => out.push_str(&format!("\\u{{{code:x}}}")),
            },
            letter => out.push(letter),
        }
    }
    out
}

/// Whether a terminal, or the eye, would be led by it: controls, turns of direction, breaks of lines that are none,
/// letters that nobody sees.
fn is_obeyed(letter: char) -> bool {
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
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(line("a\u{1b}[31mred\r\n\tnext\u{9b}2J"), "a\\x1b[31mred next\\x9b2J");
        assert_eq!(text("a\tb\r\nc\rd\u{202e}e\u{7}"), "a\tb\nc\\x0dd\\u{202e}e\\x07");
        assert_eq!(text("日本 ✓ 👩‍💻"), "日本 ✓ 👩‍💻");
        let value = json!({"text": "\u{1b}]0;x\u{7}\u{9b}\u{202e}\u{e0041}"});
        let shown = json_line(&value);
        assert!(shown.is_ascii(), "{shown}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value, "it means the same");
    }

    #[test]
    fn secrets_go_before_anything_is_cut() {
        let key = ["ghp", "_", "Zq7Lk2Xv9Rb4Tn8Wc1Yd6Hs3Jf5Pm0Ga2Ke4"].concat();
        assert_eq!(line(&format!("with {key} in it")), "with [redacted:github-token] in it");
        assert_eq!(
            value(json!({"env": {"password": "tr0ub4dor&3x"}, "argv": [key]})),
            json!({"env": {"password": "[redacted:password]"}, "argv": ["[redacted:github-token]"]})
        );
        assert_eq!(beginning(&format!("use {}…", &key[..12])), "use…");
        assert_eq!(beginning("mend the tests…"), "mend the tests…");
    }
}
