//! Definitions without a keyword, as in C and Java: a name, parameters in brackets, then a body. Also functions assigned to
//! a name, as in JavaScript.

use std::ops::Range;

use crate::keywords::{Word, end_of_brackets, first_word, word_from};

/// Words that may stand between a signature's closing bracket and its body.
const TAILS: [&str; 9] =
    ["throws", "const", "noexcept", "override", "final", "where", "volatile", "default", "requires"];
/// A body that begins more lines below belongs to something else.
const LONGEST_HEAD: usize = 24;
/// Only this much of a line is read for the end of its brackets.
const LINE_BYTES: usize = 400;

/// The name before the bracket in `static int name(…) {`, `name(…): Type {`, `const name = (…) => {`.
pub(crate) fn bracketed_name<'a>(
    trimmed: &'a str,
    at: usize,
    next: &'a [&'a str],
    bodiless: bool,
) -> Option<Range<usize>> {
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
    let (open, brackets, next) = match text[at..].find('(') {
        Some(open) => (at + open, &text[at + open..], next),
        None => {
            let (rest, below) = past_type_parameters(text, next).filter(|(rest, _)| rest.starts_with('('))?;
            (text.len() - 1, rest, below)
        }
    };
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
    // The question mark in `Class<? super T> name(` is part of a type, not a conditional.
    let chooses = head.contains('?') && !head.contains('<');
    let expression = |byte: &u8| b"=\"';!{|+%`#-/^\\".contains(byte);
    if head.is_empty()
        || chooses
        || head.as_bytes().iter().any(expression)
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
    // Not definitions: `TAILQ_FOREACH(…) {`, and calls with a string or a function.
    let loops = !typed
        && at == 0
        && ["foreach", "for_each", "ForEach", "FOREACH", "FOR_EACH"].iter().any(|each| name.contains(each));
    if loops || (!typed && calls(brackets)) || creates(brackets) {
        return None;
    }
    match after_brackets(brackets, next, typed) {
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

/// Whether the brackets hold arguments, which no parameter list has: a literal or a function.
fn calls(brackets: &str) -> bool {
    let first = brackets[1..].trim_ascii_start().bytes().next();
    first.is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'0'..=b'9'))
        || brackets.ends_with("=> {")
        || has_function(brackets)
}

/// Whether the text has the keyword `function`, and not only a longer name or a parameter of this name.
fn has_function(text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    text.match_indices("function").any(|(at, word)| {
        !text[..at].ends_with(is_name) && text[at + word.len()..].starts_with([' ', '(', '*'])
    })
}

/// Whether an argument is a new object: `add(new Listener() {`. One that follows a sign is a default or a type, as in
/// `add(items = new Set()) {`.
fn creates(brackets: &str) -> bool {
    let mut found = brackets.match_indices("new ").map(|(at, _)| at).peekable();
    if found.peek().is_none() {
        return false;
    }
    let end = end_of_brackets(brackets, 0).unwrap_or(brackets.len());
    found.take_while(|at| *at < end).any(|at| brackets[..at].trim_ascii_end().ends_with(['(', ',']))
}

/// What follows the type parameters that a line leaves open, and the lines below it: `name<`, then `T,`, then `>(…) {`.
pub(crate) fn past_type_parameters<'a>(text: &str, next: &'a [&'a str]) -> Option<(&'a str, &'a [&'a str])> {
    // `a <` compares.
    if !text.ends_with('<') || text.ends_with(" <") {
        return None;
    }
    let mut depth = 1;
    for (number, line) in next.iter().take(LONGEST_HEAD).enumerate() {
        for (at, byte) in line.bytes().enumerate().take(LINE_BYTES) {
            match byte {
                b'<' => depth += 1,
                b'>' if !line[..at].ends_with(['-', '=']) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some((line[at + 1..].trim_ascii(), &next[number + 1..]));
            }
        }
    }
    None
}

/// What follows a signature's brackets.
pub(crate) enum After {
    Body,
    Semicolon,
    Other,
}

/// Reads from the bracket that `text` begins with to a body, or to a token after which no body can follow.
pub(crate) fn after_brackets(text: &str, next: &[&str], typed: bool) -> After {
    let mut depth = 0i32;
    let mut listing = false;
    let mut in_type = false; // `{ name }: {`, then `name: string;`
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
        let mut in_text = false;
        for (at, byte) in line.bytes().enumerate().take(LINE_BYTES) {
            match byte {
                b'"' if !line[..at].ends_with('\\') => in_text = !in_text,
                b'(' if !in_text => depth += 1,
                b')' if !in_text => depth -= 1,
                _ => continue,
            }
            if depth == 0 {
                match tail(line[at + 1..].trim_ascii_start(), typed) {
                    Some(after) => return after,
                    None => break,
                }
            }
        }
        if depth > 0 && index > 0 && line.ends_with(';') && !in_type {
            return After::Other;
        }
        in_type = line.ends_with(": {") || (in_type && !line.starts_with('}'));
    }
    After::Other
}

/// Whether a body follows, judging by the text after a signature's brackets. `None`: the next line decides.
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
    // `(…): Type` with the brace below, or `throws A,` with more names below.
    if rest.contains('(') { Some(After::Other) } else { None }
}

/// The name in `name = (…) => {` and `name = function (…) {`, if the function continues below.
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
