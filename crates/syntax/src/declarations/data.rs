//! Keys of configuration: `name = …`, `name: …`, `"name": …`, `[name]`, `ENV name`.

use std::ops::Range;

use super::{DeclarationKind, Found};

pub(super) fn keys(text: &str, found: &mut Found<'_>) {
    let mut text_at = 0;
    // Lists of YAML.
    while text[text_at..].starts_with("- ") {
        text_at += 2;
    }
    let rest = &text[text_at..];
    if rest.starts_with('[') && rest.ends_with(']') {
        let name = rest.trim_matches(['[', ']', ' ', '"']);
        let at = text_at + rest.find(name).unwrap_or(0);
        return key(text, at..at + name.len(), found);
    }
    for word in ["ENV ", "ARG ", "export ", "define "] {
        if let Some(name) = rest.strip_prefix(word) {
            text_at = text.len() - name.len();
            let end = end_of_key(text, text_at);
            return key(text, text_at..end, found);
        }
    }
    if !text[text_at..].starts_with(['{', '"', '\'']) {
        let end = end_of_key(text, text_at);
        let sign = text[end..].trim_ascii_start();
        let signs = ["=", ":", "?=", "+="];
        if end > text_at && signs.iter().any(|known| sign.starts_with(known)) && !sign.starts_with("://") {
            key(text, text_at..end, found);
        }
        return;
    }
    // `{"a": 1, "b": 2}`
    let mut at = text_at;
    while let Some(open) = text[at..].find(['"', '\'']) {
        let open = at + open;
        let quote = text[open..].chars().next().unwrap_or('"');
        let Some(close) = text[open + 1..].find(quote) else { return };
        let close = open + 1 + close;
        let after = text[close + 1..].trim_ascii_start();
        if after.starts_with(':') || (after.starts_with('=') && !after.starts_with("==")) {
            key(text, open + 1..close, found);
        }
        at = close + 1;
    }
}

/// A key, and the last part of one with dots.
fn key(text: &str, name: Range<usize>, found: &mut Found<'_>) {
    if name.is_empty() || name.len() > 100 || text[name.clone()].contains(char::is_whitespace) {
        return;
    }
    found(name.clone(), DeclarationKind::Key);
    if let Some(dot) = text[name.clone()].rfind('.') {
        found(name.start + dot + 1..name.end, DeclarationKind::Key);
    }
}

fn end_of_key(text: &str, from: usize) -> usize {
    text[from..]
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')))
        .map_or(text.len(), |length| from + length)
}
