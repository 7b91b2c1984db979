//! Whether a line opens a definition or an import, told from its words: the rules for reading without a grammar.

use std::ops::Range;

/// What a word at the start of a line says of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// May stand before the one that says what is defined.
    Modifier,
    /// What follows is defined here.
    Definer,
    /// Opens a line with brackets and a brace, and defines nothing.
    Control,
    Other,
}

impl Word {
    #[rustfmt::skip]
    fn of(word: &str) -> Word {
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

/// What may stand between a signature's closing bracket and its body, whatever stands before the name.
const TAILS: [&str; 9] =
    ["throws", "const", "noexcept", "override", "final", "where", "volatile", "default", "requires"];
/// A body that begins further down belongs to something else.
const LONGEST_HEAD: usize = 24;

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
    let trimmed = if trimmed.starts_with('#') { past_attributes(trimmed) } else { trimmed };
    let (word, rest) = first_word(trimmed);
    let named = || !rest.contains(" = ") && !rest.trim_ascii_start().starts_with(['=', ':']);
    match word {
        "" => is_include(trimmed) || trimmed.starts_with("@import "),
        "pub" => ["use ", "(crate) use ", "(super) use "]
            .iter()
            .any(|next| rest.trim_ascii_start().starts_with(next)),
        "use" => rest.starts_with(' ') && (rest.starts_with(" ::") || named()),
        // A path may be so long that the names follow on the next line.
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

/// `#include <…>`, `#  include "…"`: not a comment that begins with the word.
fn is_include(trimmed: &str) -> bool {
    trimmed.strip_prefix('#').and_then(|rest| rest.trim_ascii_start().strip_prefix("include")).is_some_and(
        |rest| rest.trim_ascii_start().starts_with(['<', '"']) || trimmed.starts_with("#include "),
    )
}

/// The line past the attributes and annotations that it begins with: `#[cfg(test)] use`, `@Test public void`.
fn past_attributes(trimmed: &str) -> &str {
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

/// Behind the bracket that closes the one at `at`.
fn end_of_brackets(text: &str, at: usize) -> Option<usize> {
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

/// The name that a definition opening on this line gives, as a byte range of the line. `next` are the lines that
/// follow: C and Java signatures show themselves only by the brace that comes after them. The range is empty for
/// what has no name: `typedef struct {`.
pub fn defined_name(line: &str, next: &[&str]) -> Option<Range<usize>> {
    defined_name_in(line, next, false)
}

/// As [`defined_name`]; `bodiless` where methods are declared without a body, as in an interface.
pub(crate) fn defined_name_in(line: &str, next: &[&str], bodiless: bool) -> Option<Range<usize>> {
    let start = line.trim_ascii_start();
    let trimmed = match *start.as_bytes().first()? {
        b'}' | b')' | b']' | b'*' | b'/' | b'"' | b'\'' | b'.' | b'-' | b'+' | b'{' | b'(' => return None,
        b'<' if !bodiless => return None,
        b'[' => return computed_name(start, next).map(|name| shifted(name, line.len() - start.len())),
        b'#' | b'@' => past_attributes(start),
        _ => start,
    };
    let trimmed = match trimmed.strip_prefix('#') {
        // A private method: `#name(…) {`.
        Some(rest) if first_word(rest).1.starts_with(['(', '<']) => rest,
        Some(_) => return None,
        None => trimmed,
    };
    name_in(trimmed, next, bodiless).map(|name| shifted(name, line.len() - trimmed.len()))
}

fn shifted(name: Range<usize>, by: usize) -> Range<usize> {
    name.start + by..name.end + by
}

/// `[name](…) {`
fn computed_name(trimmed: &str, next: &[&str]) -> Option<Range<usize>> {
    let name = word_from(trimmed, 1)?;
    let brackets = trimmed[name.end..].strip_prefix(']').filter(|rest| rest.starts_with('('))?;
    matches!(after_brackets(brackets.trim_ascii_end(), next, false), After::Body).then_some(name)
}

fn name_in(trimmed: &str, next: &[&str], mut bodiless: bool) -> Option<Range<usize>> {
    let mut at = 0;
    loop {
        let (word, rest) = first_word(&trimmed[at..]);
        if word.is_empty() {
            // `public <T> void name(`, `public @Nullable Type name(`
            let end = match rest.as_bytes().first() {
                Some(b'<') => at + end_of_brackets(rest, 0)?,
                Some(b'@') if rest.starts_with("@interface ") => at + 1,
                Some(b'@') => trimmed.len() - past_attributes(rest).len(),
                _ => return None,
            };
            if end == at {
                return None;
            }
            at = end + trimmed[end..].len() - trimmed[end..].trim_ascii_start().len();
            continue;
        }
        match Word::of(word) {
            Word::Definer => {
                let (start, rest) = (at + word.len(), rest.trim_ascii_start());
                if matches!(word, "struct" | "union" | "enum") {
                    return record_name(trimmed, at, word, next);
                }
                if word == "module" && rest.starts_with(['"', '\'']) && rest.trim_ascii_end().ends_with('{') {
                    return Some(start..start);
                }
                return name_after_definer(trimmed, at, word);
            }
            Word::Control if at == 0 && !(rest.starts_with('(') && is_common_name(word)) => return None,
            Word::Modifier if rest.starts_with([' ', '\t']) || (word == "pub" && rest.starts_with('(')) => {}
            _ if word == "type" && rest.starts_with([' ', '\t']) => {
                return type_name(trimmed, at + word.len());
            }
            _ => break,
        }
        bodiless |= matches!(word, "abstract" | "native");
        at = trimmed.len() - rest.len();
        if rest.starts_with('(') {
            at += rest.find(')')? + 1;
        }
        at += trimmed[at..].len() - trimmed[at..].trim_ascii_start().len();
        if trimmed[at..].starts_with('"') {
            // extern "C"
            at += trimmed[at + 1..].find('"')? + 2;
            at += trimmed[at..].len() - trimmed[at..].trim_ascii_start().len();
        }
    }
    bracketed_name(trimmed, at, next, bodiless)
}

/// Words of control in one language that name methods in another.
fn is_common_name(word: &str) -> bool {
    matches!(word, "and" | "assert" | "delete" | "go" | "match" | "not" | "or" | "raise" | "select" | "yield")
}

/// A type's name, when it is more than an alias: that is one line that needs no protecting.
fn type_name(trimmed: &str, start: usize) -> Option<Range<usize>> {
    let name = word_from(trimmed, start)?;
    let rest = trimmed[name.end..].trim_ascii();
    // Go: `type Name string`, `type Name struct{}`; in a sentence more words would follow.
    let declared = !rest.is_empty()
        && !rest.starts_with('=')
        && (!rest.contains(' ')
            || ["struct{", "func(", "map[", "[", "*"].iter().any(|next| rest.starts_with(next)))
        && rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '[' | '*'));
    (rest.ends_with('{') || declared).then_some(name)
}

/// `struct Name {`, and what only begins like it: `struct name *function(…) {`, `struct name;`.
fn record_name(trimmed: &str, at: usize, definer: &str, next: &[&str]) -> Option<Range<usize>> {
    let start = at + definer.len();
    if trimmed[start..].trim_ascii().is_empty() || trimmed[start..].trim_ascii_start().starts_with('{') {
        // Numbers with names on one line need no protecting.
        let opens = (trimmed.contains('{') && !trimmed.contains('}'))
            || next.first().is_some_and(|next| next.trim_ascii_start().starts_with('{'));
        return opens.then_some(start..start);
    }
    let name = name_or_attribute(trimmed, start)?;
    let rest = trimmed[name.end..].trim_ascii();
    match rest.chars().next() {
        // Without a body it is one in Rust alone, where names begin with a capital.
        Some(';') => {
            (definer == "struct" && trimmed[name.clone()].starts_with(char::is_uppercase)).then_some(name)
        }
        Some(c) if c == '*' || c == '&' || c == '_' || c.is_alphabetic() => {
            let words = ["extends ", "implements ", "where ", "for ", "with ", "final"];
            if words.iter().any(|word| rest.starts_with(word))
                || (rest.ends_with('{') && !rest.contains(['=', '(']))
            {
                return Some(name);
            }
            bracketed_name(
                trimmed,
                name.end + trimmed[name.end..].len() - trimmed[name.end..].trim_ascii_start().len(),
                next,
                false,
            )
        }
        _ => name_after_definer(trimmed, at, definer),
    }
}

fn name_or_attribute(trimmed: &str, start: usize) -> Option<Range<usize>> {
    if !trimmed[start..].starts_with([' ', '\t']) {
        return None;
    }
    word_from(trimmed, start)
}

/// `fn name`, `func (receiver) name`, `impl<T> Trait for Type`.
fn name_after_definer(trimmed: &str, at: usize, definer: &str) -> Option<Range<usize>> {
    let mut start = at + definer.len();
    let after = trimmed[start..].chars().next()?;
    // `func(…)` has no name.
    if !matches!(after, ' ' | '\t' | '<' | '!' | '*') {
        return None;
    }
    if definer == "impl" {
        let end = trimmed.find('{').unwrap_or(trimmed.trim_ascii_end().len());
        let from = trimmed[..end].find(" for ").map_or(start, |found| found + 5).max(start);
        // `for &'a [u8]` and `for ()` have no word in their place.
        let nameless = trimmed[from..].trim_ascii_start().is_empty()
            || trimmed[from..].trim_ascii_start().starts_with(['&', '(', '[', '*', '<']);
        return word_from(trimmed, from).or(nameless.then_some(from..end.max(from)));
    }
    if definer == "func" && trimmed[start..].trim_ascii_start().starts_with('(') {
        start += trimmed[start..].find(')')? + 1;
    }
    let name = word_from(trimmed, start)?;
    // `fn && fn()`, or a field: `fn func(…)`.
    if trimmed[start..name.start].contains('&') || (definer == "fn" && &trimmed[name.clone()] == "func") {
        return None;
    }
    let rest = trimmed[name.end..].trim_ascii();
    if matches!(definer, "module" | "mod" | "object" | "record" | "union" | "extension") {
        // Words of prose too: a name and then nothing but an opening.
        let opens = rest.is_empty() || rest.ends_with(['{', ')', ':']) || rest.starts_with([':', '<', '(']);
        return (opens && !(definer == "mod" && rest == ";")).then_some(name);
    }
    // `class` and `function` open sentences in prose and comments: a definition goes on with a sign.
    let sound = rest.is_empty()
        || (rest.starts_with(['(', '{', ':', '<', '[', ';', '!', '=', '?', '\\'])
            && !(definer == "class" && rest == ";"))
        || ["extends ", "implements ", "where ", "for ", "with ", "final", "->", "is", "from "]
            .iter()
            .any(|next| rest.starts_with(next))
        || rest.ends_with(['{', ':', '('])
        || rest.starts_with("//");
    sound.then_some(name)
}

/// The name before the bracket in `static int name(…) {`, `name(…): Type {`, `const name = (…) => {`.
fn bracketed_name(trimmed: &str, at: usize, next: &[&str], bodiless: bool) -> Option<Range<usize>> {
    let text = trimmed.trim_ascii_end();
    let (word, _) = first_word(&text[at..]);
    if matches!(word, "let" | "var") || (at > 0 && text[..at].trim_ascii_end().ends_with("const")) {
        if let Some(name) = arrow_name(text, at, next) {
            return Some(name);
        }
        if word == "let" || word == "var" {
            return None;
        }
    }
    let open = at + text[at..].find('(')?;
    let head = without_generics(text[at..open].trim_ascii_end());
    let typed = head.contains([' ', '\t']);
    if !typed && at == 0 && head.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') {
        // `PUBLIC(int) name(…) {`
        let end = end_of_brackets(text, open)?;
        let rest = text[end..].trim_ascii_start();
        if rest.starts_with(|c: char| c.is_alphabetic()) && rest.contains('(') {
            return bracketed_name(trimmed, text.len() - rest.len(), next, bodiless);
        }
    }
    // `Class<? super T> name(` is a type's question mark, not a choice.
    let chooses = head.contains('?') && !head.contains('<');
    let expression = |byte: &u8| {
        matches!(
            byte,
            b'=' | b'"'
                | b'\''
                | b';'
                | b'!'
                | b'{'
                | b'|'
                | b'+'
                | b'%'
                | b'`'
                | b'#'
                | b'-'
                | b'/'
                | b'^'
                | b'\\'
        )
    };
    if head.is_empty()
        || chooses
        || head.as_bytes().iter().any(|byte| expression(byte))
        || (head.contains(':') && head.split("::").any(|part| part.contains(':')))
        || (head.contains(',') && !head.contains('<'))
    {
        return None;
    }
    let name_end = at + head.len();
    let name_start = text[..name_end]
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
        .map_or(0, |found| found + text[found..].chars().next().map_or(1, char::len_utf8))
        .max(at);
    if name_start >= name_end
        || text.as_bytes()[name_start].is_ascii_digit()
        || text[..name_start].ends_with('.')
        || text[at..name_start].split([' ', '\t']).any(|word| Word::of(word) == Word::Control)
    {
        return None;
    }
    let name = &text[name_start..name_end];
    // `TAILQ_FOREACH(…) {` in a body, and calls with a text or a function.
    let loops = !typed && at == 0 && ["each", "Each", "EACH"].iter().any(|each| name.contains(each));
    if loops || (!typed && calls(&text[open..])) || text.contains("new ") {
        return None;
    }
    match after_brackets(&text[open..], next, typed) {
        After::Body => Some(name_start..name_end),
        After::Semicolon if bodiless && typed | (at > 0) => Some(name_start..name_end),
        _ => None,
    }
}

/// `name` of `name<T extends U>`.
fn without_generics(head: &str) -> &str {
    if !head.ends_with('>') {
        return head;
    }
    let mut depth = 0i32;
    let open = head.bytes().rposition(|byte| {
        depth += i32::from(byte == b'>') - i32::from(byte == b'<');
        depth == 0
    });
    open.map_or(head, |open| &head[..open])
}

/// Whether brackets hold what a caller gives and no definition takes.
fn calls(brackets: &str) -> bool {
    let first = brackets[1..].trim_ascii_start().bytes().next();
    first.is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'0'..=b'9'))
        || brackets.ends_with("=> {")
        || brackets.contains("function")
}

/// What follows a signature's brackets.
enum After {
    Body,
    Semicolon,
    Other,
}

/// Reads from the bracket that `text` begins with on to a body, or to what shows that there is none.
fn after_brackets(text: &str, next: &[&str], typed: bool) -> After {
    let mut depth = 0i32;
    let mut listing = false;
    for (index, line) in std::iter::once(&text).chain(next.iter().take(LONGEST_HEAD)).enumerate() {
        let line = line.trim_ascii();
        if depth == 0 && index > 0 {
            // The brace on its own line, or `throws X {`.
            if line.is_empty() {
                return After::Other;
            }
            match tail(line, listing) {
                Some(after) => return after,
                None => listing = line.ends_with(','),
            }
            continue;
        }
        listing = line.ends_with(',');
        let line = line.as_bytes();
        for (at, byte) in line.iter().enumerate().take(400) {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => continue,
            }
            if depth == 0 {
                // Bytes of a line, cut behind an ASCII sign.
                let rest = std::str::from_utf8(&line[at + 1..]).unwrap_or_default();
                match tail(rest.trim_ascii_start(), typed) {
                    Some(after) => return after,
                    None => break,
                }
            }
        }
        if depth > 0 && index > 0 && line.ends_with(b";") {
            return After::Other;
        }
    }
    After::Other
}

/// What the text behind a signature's brackets leads to; nothing when the next line tells.
fn tail(text: &str, typed: bool) -> Option<After> {
    if text.is_empty() || text.starts_with("//") || text.starts_with("/*") {
        return None;
    }
    if text.starts_with('{') {
        return Some(After::Body);
    }
    if text.starts_with(';') {
        return Some(After::Semicolon);
    }
    let (word, rest) = first_word(text);
    let words = TAILS.contains(&word) || (typed && !word.is_empty() && Word::of(word) != Word::Control);
    let result = text.starts_with("->") || (text.starts_with(':') && !text.ends_with(['?', ',']));
    if !words && !result {
        return Some(After::Other);
    }
    if text.ends_with('{') || (text.ends_with('}') && text.contains('{')) {
        return Some(After::Body);
    }
    if text.ends_with(';') {
        return Some(After::Semicolon);
    }
    // `(…): Type` and a brace below, or `throws A,` and more names.
    if rest.contains("(") { Some(After::Other) } else { None }
}

/// `name = (…) => {`, `name = function (…) {`: a function that goes on below.
fn arrow_name(text: &str, at: usize, next: &[&str]) -> Option<Range<usize>> {
    let text = text.find(" //").map_or(text, |comment| text[..comment].trim_ascii_end());
    if !text.ends_with(['{', '(', '[', ',', '>', '<']) {
        return None;
    }
    let (word, _) = first_word(&text[at..]);
    let name = word_from(text, if matches!(word, "let" | "var") { at + word.len() } else { at })?;
    let value = text[name.end..].split_once('=').map(|(_, value)| value.trim_ascii_start())?;
    let value = value
        .strip_prefix("async")
        .filter(|rest| rest.starts_with([' ', '(']))
        .unwrap_or(value)
        .trim_ascii_start();
    let (word, rest) = first_word(value);
    let function = match word {
        "function" => rest.starts_with([' ', '(', '*']) && !text.ends_with("},"),
        "" if value.starts_with(['(', '<']) => {
            let generics = if value.starts_with('<') { end_of_brackets(value, 0) } else { Some(0) };
            match generics.and_then(|at| end_of_brackets(value, at + value[at..].find('(')?)) {
                Some(end) => {
                    let rest = value[end..].trim_ascii_start();
                    rest.starts_with("=>") || (rest.starts_with(':') && rest.contains("=>"))
                }
                None => {
                    let closing = next
                        .iter()
                        .take(LONGEST_HEAD)
                        .map(|line| line.trim_ascii())
                        .find(|line| line.starts_with([')', '}']) && line.contains(')'));
                    closing.is_some_and(|line| line.contains("=>"))
                }
            }
        }
        _ => rest.trim_ascii_start().starts_with("=>"),
    };
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
