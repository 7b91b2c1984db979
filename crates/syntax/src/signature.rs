//! Whether a line opens a definition or an import, told from its words: the rules for reading without a grammar.

use std::ops::Range;

/// Words that may stand before the one that says what is defined.
#[rustfmt::skip]
const MODIFIERS: [&str; 28] = [
    "pub", "export", "default", "async", "static", "public", "private", "protected", "final", "abstract",
    "override", "unsafe", "extern", "inline", "virtual", "declare", "open", "internal", "sealed",
    "partial", "data", "suspend", "typedef", "const", "constexpr", "local", "get", "set",
];

/// Words that say that what follows is defined here.
#[rustfmt::skip]
const DEFINERS: [&str; 20] = [
    "fn", "func", "function", "def", "class", "struct", "enum", "trait", "impl", "interface", "module",
    "mod", "namespace", "object", "protocol", "extension", "record", "union", "macro_rules", "defmodule",
];

/// Words that open a line with brackets and a brace, and define nothing.
#[rustfmt::skip]
const CONTROL: [&str; 26] = [
    "if", "for", "while", "switch", "catch", "return", "else", "do", "try", "match", "loop", "with",
    "synchronized", "case", "using", "when", "unless", "until", "elif", "select", "go", "defer", "await",
    "throw", "new", "assert",
];

const IMPORTS: [&str; 8] =
    ["import", "use", "from", "#include", "package", "using", "require", "require_relative"];

/// The line's white space before its first character, with a tab as four.
pub fn indent(line: &str) -> usize {
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

/// Whether the line only closes what others opened: `}`, `});`, `end`, `]`.
pub fn is_closer(trimmed: &str) -> bool {
    trimmed.starts_with(['}', ')', ']'])
        || trimmed == "end"
        || trimmed.starts_with("end ")
        || trimmed == "fi"
        || trimmed == "done"
}

/// Whether the line opens with a comment sign of some language.
pub fn is_comment(trimmed: &str) -> bool {
    ["//", "/*", "*", "#", "--", "\"\"\"", "'''", "<!--"].iter().any(|start| trimmed.starts_with(start))
}

/// Attributes and decorators, which belong to the definition below them.
pub fn is_attribute(trimmed: &str) -> bool {
    trimmed.starts_with("#[")
        || trimmed.starts_with('@')
        || trimmed.starts_with("[[")
        || trimmed.starts_with("template<")
        || trimmed.starts_with("template <")
}

pub(crate) fn is_import(trimmed: &str) -> bool {
    let (word, rest) = first_word(trimmed);
    match word {
        "pub" => {
            ["use ", "(crate) use ", "(super) use "].iter().any(|next| rest.trim_start().starts_with(next))
        }
        "from" => rest.contains(" import"),
        "import" => {
            rest.starts_with([' ', '\t', '"', '\'', '{', '(']) && !rest.trim_start().starts_with("= ")
        }
        "extern" => rest.starts_with(" crate "),
        "export" => rest.contains(" from ") && rest.trim_end().ends_with([';', '"', '\'']),
        "const" | "let" | "var" => rest.contains("= require("),
        "package" => rest.starts_with(' ') && !rest.contains('='),
        "" => {
            trimmed.starts_with("#include")
                || trimmed.starts_with("# include")
                || trimmed.starts_with("@import ")
        }
        _ => {
            IMPORTS.contains(&word)
                && rest.starts_with([' ', '('])
                && !rest.contains(" = ")
                && !rest.trim_start().starts_with(['=', ':'])
        }
    }
}

/// The name that a definition opening on this line gives, as a byte range of the line. `next` are the lines that
/// follow: C and Java signatures show themselves only by the brace that comes after them.
pub fn defined_name(line: &str, next: &[&str]) -> Option<Range<usize>> {
    let trimmed = line.trim_start();
    if trimmed.is_empty()
        || trimmed
            .starts_with(['}', ')', ']', '*', '/', '"', '\'', '#', '@', '.', '-', '+', '<', '{', '(', '['])
    {
        return None;
    }
    let base = line.len() - trimmed.len();
    let mut at = 0;
    let mut first = true;
    loop {
        let (word, rest) = first_word(&trimmed[at..]);
        if word.is_empty() {
            return None;
        }
        if DEFINERS.contains(&word) {
            return name_after_definer(trimmed, at, word).map(|range| base + range.start..base + range.end);
        }
        if word == "type" {
            // An alias is one line that needs no protecting; a body makes it a definition.
            let opens = trimmed.trim_end().ends_with('{');
            return if opens {
                name_after_definer(trimmed, at, word).map(|range| base + range.start..base + range.end)
            } else {
                None
            };
        }
        if first && CONTROL.contains(&word) {
            return None;
        }
        if !MODIFIERS.contains(&word) || !rest.starts_with([' ', '(', '\t']) {
            break;
        }
        first = false;
        at = trimmed.len() - rest.len();
        if rest.starts_with('(') && word == "pub" {
            at += rest.find(')')? + 1;
        }
        at += trimmed[at..].len() - trimmed[at..].trim_start().len();
        if trimmed[at..].starts_with('"') {
            // extern "C"
            at += trimmed[at + 1..].find('"')? + 2;
            at += trimmed[at..].len() - trimmed[at..].trim_start().len();
        }
    }
    bracketed_name(trimmed, at, next).map(|range| base + range.start..base + range.end)
}

/// `fn name`, `func (receiver) name`, `impl<T> Trait for Type`.
fn name_after_definer(trimmed: &str, at: usize, definer: &str) -> Option<Range<usize>> {
    let mut start = at + definer.len();
    let after = trimmed[start..].chars().next()?;
    if !matches!(after, ' ' | '\t' | '<' | '!' | '(' | '*') {
        return None;
    }
    if definer == "impl" {
        let end = trimmed.find('{').unwrap_or(trimmed.trim_end().len());
        let from = trimmed[..end].find(" for ").map_or(start, |found| found + 5);
        return word_from(trimmed, from.max(start));
    }
    if definer == "func" && trimmed[start..].trim_start().starts_with('(') {
        start += trimmed[start..].find(')')? + 1;
    }
    if definer == "module"
        || definer == "mod"
        || definer == "object"
        || definer == "record"
        || definer == "union"
        || definer == "extension"
    {
        // Words of prose too: a name and then nothing but an opening.
        let name = word_from(trimmed, start)?;
        let rest = trimmed[name.end..].trim();
        let opens = rest.is_empty() || rest.ends_with(['{', ')', ':']) || rest.starts_with([':', '<', '(']);
        return (opens && !(definer == "mod" && rest == ";")).then_some(name);
    }
    let name = word_from(trimmed, start)?;
    // `class` and `function` open sentences in prose and comments: a definition goes on with a sign.
    let rest = trimmed[name.end..].trim_start();
    let sound = rest.is_empty()
        || rest.starts_with(['(', '{', ':', '<', '[', ';', '!', '=', '?', ',', '\\'])
        || ["extends ", "implements ", "where ", "for ", "with ", "final", "->", "is", "from "]
            .iter()
            .any(|next| rest.starts_with(next))
        || rest.ends_with(['{', ':', '('])
        || rest.starts_with("//");
    sound.then_some(name)
}

/// The name before the bracket in `static int name(…) {`, `name(…): Type {`, `const name = (…) => {`.
fn bracketed_name(trimmed: &str, at: usize, next: &[&str]) -> Option<Range<usize>> {
    let text = trimmed.trim_end();
    let (word, _) = first_word(&text[at..]);
    if matches!(word, "let" | "var" | "const") || (at > 0 && text[..at].trim_end().ends_with("const")) {
        return arrow_name(text, at);
    }
    let open = at + text[at..].find('(')?;
    let head = text[at..open].trim_end();
    // `Class<? super T> name(` is a type's question mark, not a choice.
    let chooses = head.contains('?') && !head.contains("<?");
    if head.is_empty()
        || chooses
        || head.contains(['=', '.', '"', '\'', ';', '!', '{', '|', '+', '%', '`', '#'])
        || text.contains("=>")
        || text.contains("new ")
    {
        return None;
    }
    if head.split([' ', '\t']).any(|word| CONTROL.contains(&word)) {
        return None;
    }
    let name_end = at + head.len();
    let name_start = text[..name_end]
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
        .map_or(0, |found| found + text[found..].chars().next().map_or(1, char::len_utf8));
    if name_start >= name_end || text.as_bytes()[name_start].is_ascii_digit() {
        return None;
    }
    if !opens_body(text, next) {
        return None;
    }
    Some(name_start.max(at)..name_end)
}

/// Whether a signature that starts on this line is followed by a brace before anything ends it.
fn opens_body(text: &str, next: &[&str]) -> bool {
    let mut depth = 0i32;
    for (index, line) in std::iter::once(&text).chain(next.iter().take(12)).enumerate() {
        let line = line.trim();
        if index > 0 && depth <= 0 {
            // The brace on its own line, or `throws X {`.
            return line.starts_with('{')
                || (line.ends_with('{') && !line.contains(';') && !line.contains('='));
        }
        let mut last = b' ';
        for byte in line.bytes().take(400) {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b';' | b'{' if depth == 0 => return byte == b'{',
                b'"' if depth > 0 && index == 0 => return false,
                _ => {}
            }
            if byte != b' ' {
                last = byte;
            }
        }
        if depth > 0
            && !matches!(last, b',' | b'(' | b'*' | b'/')
            && index > 0
            && !line.is_empty()
            && last == b';'
        {
            return false;
        }
    }
    false
}

fn arrow_name(text: &str, at: usize) -> Option<Range<usize>> {
    let after_keyword = if matches!(first_word(&text[at..]).0, "let" | "var" | "const") {
        at + first_word(&text[at..]).0.len()
    } else {
        at
    };
    let name = word_from(text, after_keyword)?;
    let rest = &text[name.end..];
    let value = rest.split_once('=').map(|(_, value)| value.trim_start())?;
    let function = value.starts_with("function")
        || value.starts_with("async")
        || (value.starts_with('(') && (value.ends_with("=> {") || value.ends_with('(')));
    function.then_some(name)
}

fn first_word(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|b| !(b.is_ascii_alphanumeric() || b == b'_')).unwrap_or(text.len());
    text.split_at(end)
}

/// The next identifier from `at`, past spaces, generics and sigils.
fn word_from(text: &str, at: usize) -> Option<Range<usize>> {
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
