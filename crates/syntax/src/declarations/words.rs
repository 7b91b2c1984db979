//! Words that are no names, and small scanners.

use std::ops::Range;

use crate::keywords::first_word;

/// Words of some language that begin a line and are not names.
#[rustfmt::skip]
pub(super) const WORDS: [&str; 58] = [
    "and", "as", "assert", "async", "await", "break", "case", "catch", "class", "continue", "def", "default", "defer", "del",
    "delete", "do", "elif", "else", "enum", "except", "fallthrough", "finally", "for", "from", "func", "function", "global", "go",
    "goto", "if", "impl", "import", "in", "interface", "is", "lambda", "loop", "match", "namespace", "new", "nonlocal", "not", "or",
    "package", "pass", "raise", "range", "return", "select", "struct", "switch", "throw", "try", "use", "using", "where", "while",
    "yield",
];

/// The position after visibility and the like.
pub(super) fn after_modifiers(text: &str) -> usize {
    #[rustfmt::skip]
    const MODIFIERS: [&str; 17] = [
        "pub", "export", "default", "declare", "public", "private", "protected", "readonly", "abstract", "override", "unsafe",
        "extern", "internal", "open", "final", "lateinit", "accessor",
    ];
    let mut at = 0;
    loop {
        let (word, rest) = first_word(&text[at..]);
        if !MODIFIERS.contains(&word) {
            return at;
        }
        let mut end = at + word.len();
        if word == "pub" && rest.starts_with('(') {
            let Some(close) = rest.find(')') else { return at };
            end += close + 1;
        }
        let spaces = text[end..].len() - text[end..].trim_ascii_start().len();
        if spaces == 0 {
            return at;
        }
        at = end + spaces;
        if text[at..].starts_with("\"C\" ") {
            at += 4;
        }
    }
}

/// The identifier that begins at `at`.
pub(super) fn identifier(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
    is_identifier(&rest[..end]).then_some(at..at + end)
}

pub(super) fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$')
        && word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

/// The identifiers that begin an element of a list: `A, B = 2, C(3)`.
pub(super) fn list_of_names(text: &str, from: usize, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let (mut depth, mut begins, mut at) = (0i32, true, from);
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            // Not those of `x -> y` and `x => y`.
            b'>' if at > from && matches!(bytes[at - 1], b'-' | b'=') => {}
            b')' | b']' | b'}' | b'>' => depth -= 1,
            b'"' => {
                begins = false;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
            }
            b',' if depth == 0 => begins = true,
            b'/' if bytes.get(at + 1) == Some(&b'/') => return,
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += text[at..].find("*/").map_or(text.len() - at, |end| end + 1);
            }
            b' ' | b'\t' | b'*' | b'&' => {}
            _ if begins && depth == 0 => {
                begins = false;
                if let Some(name) = identifier(text, at) {
                    at = name.end;
                    found(name);
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// The position after the bracket that closes the one at `at`, if it is on this line.
pub(super) fn past_brackets(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (open, close) = match bytes[at] {
        b'(' => (b'(', b')'),
        b'[' => (b'[', b']'),
        b'<' => (b'<', b'>'),
        _ => (b'{', b'}'),
    };
    let mut depth = 0;
    for (number, &byte) in bytes.iter().enumerate().skip(at) {
        if byte == open {
            depth += 1;
        } else if byte == close && !(close == b'>' && bytes[number - 1] == b'-') {
            depth -= 1;
            if depth == 0 {
                return Some(number + 1);
            }
        }
    }
    None
}
