//! Keywords of many languages, and small scanners for words and brackets, for the heuristic outline.

use std::ops::Range;

/// What a word at the start of a line means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// May precede a definer: `pub`, `static`.
    Modifier,
    /// The name that follows is defined here: `fn`, `class`.
    Definer,
    /// Looks like a definition (brackets, then a brace) but is control flow: `if`, `while`.
    Control,
    Other,
}

impl Word {
    #[rustfmt::skip]
    pub(crate) fn of(word: &str) -> Word {
        match word {
            "pub" | "export" | "default" | "async" | "static" | "public" | "private" | "protected" | "final"
            | "abstract" | "override" | "unsafe" | "extern" | "inline" | "virtual" | "declare" | "open"
            | "internal" | "sealed" | "partial" | "data" | "suspend" | "typedef" | "const" | "constexpr"
            | "local" | "get" | "set" | "native" | "synchronized" => Word::Modifier,
            "fn" | "func" | "function" | "def" | "class" | "struct" | "enum" | "trait" | "impl" | "interface"
            | "module" | "mod" | "namespace" | "object" | "protocol" | "extension" | "record" | "union"
            | "macro_rules" | "defmodule" => Word::Definer,
            "if" | "for" | "while" | "switch" | "catch" | "return" | "else" | "do" | "try" | "match" | "loop"
            | "with" | "case" | "using" | "when" | "unless" | "until" | "elif" | "select" | "go" | "defer"
            | "await" | "throw" | "new" | "assert" | "foreach" | "elseif" | "elsif" | "yield" | "raise"
            | "echo" | "delete" | "not" | "and" | "or" => Word::Control,
            _ => Word::Other,
        }
    }
}

pub(crate) fn first_word(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|b| !(b.is_ascii_alphanumeric() || b == b'_')).unwrap_or(text.len());
    text.split_at(end)
}

/// The next identifier from `at`, past spaces, generics and sigils.
pub(crate) fn word_from(text: &str, at: usize) -> Option<Range<usize>> {
    let mut depth = 0i32;
    let mut start = None;
    for (offset, c) in text[at..].char_indices() {
        match (start, c) {
            (None, '<') => depth += 1,
            (None, '>') => depth -= 1,
            (None, c) if depth == 0 && (c.is_alphabetic() || c == '_' || c == '$') => {
                start = Some(at + offset);
            }
            (None, ' ' | '\t' | '*' | '!' | '&' | '~') => {}
            (None, _) if depth == 0 => return None,
            (Some(from), c) if !(c.is_alphanumeric() || matches!(c, '_' | '$')) => {
                return Some(from..at + offset);
            }
            _ => {}
        }
    }
    start.map(|from| from..text.len())
}

/// The line after its leading attributes and annotations: `#[cfg(test)] use`, `@Test public void`.
pub(crate) fn past_attributes(trimmed: &str) -> &str {
    let mut rest = trimmed;
    loop {
        let end = if rest.starts_with("#[") {
            end_of_brackets(rest, 1)
        } else if rest.starts_with('@') && !rest.starts_with("@interface ") {
            let word = rest[1..].find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
            let end = word.map_or(rest.len(), |word| word + 1);
            if rest[end..].starts_with('(') { end_of_brackets(rest, end) } else { Some(end) }
        } else {
            return rest;
        };
        match end {
            Some(end) if end > 1 => rest = rest[end..].trim_ascii_start(),
            _ => return rest,
        }
    }
}

/// Where the name of a type begins, past attributes and macros: `class [[nodiscard]] Name`, `struct alignas(8) Name`,
/// `enum class Name`, `class EXPORT Name {`.
pub(crate) fn past_type_attributes(text: &str, start: usize) -> usize {
    let mut at = start;
    loop {
        let rest = text[at..].trim_ascii_start();
        let (word, after) = first_word(rest);
        let end = match word {
            "" if rest.starts_with("[[") => end_of_brackets(rest, 0),
            "alignas" | "__attribute__" | "__declspec" if after.starts_with('(') => {
                end_of_brackets(rest, word.len())
            }
            "class" | "struct" if after.starts_with(' ') => Some(word.len()),
            _ => end_of_macro(rest, word),
        };
        match end {
            Some(end) => at = text.len() - rest.len() + end,
            None => return at,
        }
    }
}

/// The end of the macro in `EXPORT Name {`, `DEPRECATED("…") Name : Base`. In `URL extends Base` it is the name, and in
/// `POINT name = …` the type of a variable.
fn end_of_macro(text: &str, word: &str) -> Option<usize> {
    let is_loud = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    if word.len() < 2 || !word.bytes().all(is_loud) {
        return None;
    }
    let end =
        if text[word.len()..].starts_with('(') { end_of_brackets(text, word.len())? } else { word.len() };
    let (name, tail) = first_word(text[end..].trim_ascii_start());
    let tail = tail.trim_ascii();
    let is_name = !matches!(name, "" | "extends" | "final" | "implements" | "permits" | "where" | "with");
    // `COLOR name : 4;` is a field of bits, and `POINT name{};` a variable.
    let has_bases = tail
        .strip_prefix(':')
        .is_some_and(|bases| !bases.trim_ascii_start().starts_with(|c: char| c.is_ascii_digit()));
    let has_body = tail.starts_with('{') && !tail.contains('}');
    let is_type =
        tail.is_empty() || has_bases || has_body || tail.starts_with('<') || tail.starts_with("final");
    (is_name && is_type).then_some(end)
}

/// The position after the bracket that closes the one at `at`.
pub(crate) fn end_of_brackets(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let angles = bytes[at] == b'<';
    let mut depth = 0i32;
    for (offset, byte) in bytes.iter().enumerate().skip(at) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'<' if angles => depth += 1,
            b'>' if angles && bytes[offset - 1] != b'=' => depth -= 1,
            _ => continue,
        }
        if depth <= 0 {
            return Some(offset + 1);
        }
    }
    None
}
