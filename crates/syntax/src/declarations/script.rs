//! JavaScript and TypeScript: variables, assigned functions, members of objects, classes and interfaces.

use std::ops::Range;

use super::c_like::open_type_name;
use super::words::{WORDS, after_modifiers, identifier, list_of_names, past_brackets};
use super::{DeclarationKind, Found, unannotated};
use crate::c_style::past_type_parameters;
use crate::keywords::first_word;

pub(super) fn declarations(text: &str, next: &[&str], found: &mut Found<'_>) {
    let (begin, text_after) = unannotated(text);
    if begin > 0 && text_after.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$' | '#')) {
        let shifted = &mut |name: Range<usize>, kind| found(name.start + begin..name.end + begin, kind);
        return declarations(text_after, next, shifted);
    }
    inline_keys(text, found);
    named_functions(text, found);
    members(text, next, found);
    named_classes(text, found);
}

/// Functions and classes that an expression names, wherever in the line it is.
pub(super) fn named_expressions(text: &str, found: &mut Found<'_>) {
    named_functions(text, found);
    named_classes(text, found);
}

/// `define(request, 'secure', function secure() {`, `return function* items() {`.
fn named_functions(text: &str, found: &mut Found<'_>) {
    each_after(text, "function", &mut |at| {
        let from = text.len() - text[at..].trim_start_matches([' ', '*']).len();
        if let Some(name) = identifier(text, from).filter(|name| name.start > at)
            && text[name.end..].trim_ascii_start().starts_with(['(', '<'])
        {
            found(name, DeclarationKind::Definition);
        }
    });
}

/// `register(class Name {`, `return class Name extends Base {`, `new (class Name {`.
fn named_classes(text: &str, found: &mut Found<'_>) {
    each_after(text, "class", &mut |at| {
        let from = text.len() - text[at..].trim_ascii_start().len();
        let Some(name) = identifier(text, from).filter(|name| name.start > at) else { return };
        let rest = text[name.end..].trim_ascii_start();
        // Without a name, `class extends Base {`.
        let is_keyword = matches!(&text[name.clone()], "extends" | "implements");
        let goes_on = matches!(first_word(rest).0, "extends" | "implements");
        if !is_keyword && (goes_on || rest.starts_with(['{', '<']) || rest.is_empty()) {
            found(name, DeclarationKind::Definition);
        }
    });
}

/// Calls `visit` with the end of each occurrence of a keyword that begins an expression or a statement.
fn each_after(text: &str, keyword: &str, visit: &mut dyn FnMut(usize)) {
    for (at, _) in text.match_indices(keyword) {
        let end = at + keyword.len();
        if text[end..].starts_with([' ', '*']) && begins_here(&text[..at]) {
            visit(end);
        }
    }
}

/// Whether an expression or a statement may begin after this part of a line: not after a word of prose, as in the text of JSX.
fn begins_here(before: &str) -> bool {
    // An object is spread with three dots.
    if before.ends_with("...") {
        return true;
    }
    if before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '#')) {
        return false;
    }
    let before = before.trim_ascii_end();
    let word =
        before.rsplit(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.'))).next().unwrap_or("");
    word.is_empty() || WORDS_BEFORE.contains(&word)
}

/// Words that an expression or a statement may follow.
#[rustfmt::skip]
const WORDS_BEFORE: &[&str] = &[
    "abstract", "async", "await", "case", "declare", "default", "delete", "do", "else", "export", "extends", "in", "instanceof",
    "new", "of", "return", "throw", "typeof", "void", "yield",
];

fn members(text: &str, next: &[&str], found: &mut Found<'_>) {
    if let Some(name) = open_type_name(text) {
        return found(name, DeclarationKind::Definition);
    }
    let mut at = after_modifiers(text);
    loop {
        let (word, rest) = first_word(&text[at..]);
        match word {
            "static" | "async" | "get" | "set" if rest.starts_with(' ') => {
                at = text.len() - rest.trim_ascii_start().len();
                at += after_modifiers(&text[at..]);
            }
            "const" | "let" | "var" | "type" if rest.starts_with(' ') => {
                let from = text.len() - rest.trim_ascii_start().len();
                if word == "const" && text[from..].starts_with("enum ") {
                    return;
                }
                return variable(text, from, found);
            }
            _ => break,
        }
    }
    let generator = text[at..].strip_prefix('*');
    if let Some(generator) = generator {
        at = text.len() - generator.trim_ascii_start().len();
    }
    at += usize::from(text[at..].starts_with('#'));
    if generator.is_some()
        && text.ends_with('{')
        && let Some(name) = identifier(text, at)
        && text[name.end..].trim_ascii_start().starts_with('(')
    {
        return found(name, DeclarationKind::Definition);
    }
    let Some(name) = identifier(text, at) else { return };
    if WORDS.contains(&&text[name.clone()]) && !text[name.end..].starts_with([':', '(', '?', '.']) {
        return;
    }
    let path = dotted(text, &name);
    let member = path.last().cloned().unwrap_or_else(|| name.clone());
    let after = text[member.end..].trim_start_matches(['?', '!']);
    let rest = after.trim_ascii_start();
    if path.len() > 1 {
        if let Some(value) = rest.strip_prefix('=').filter(|value| !value.starts_with(['=', '>'])) {
            let owner = &text[path[0].clone()];
            let kind = match () {
                () if is_function(value.trim_ascii_start()) => DeclarationKind::Definition,
                () if matches!(owner, "exports" | "module") => DeclarationKind::Value,
                () if path.iter().any(|part| &text[part.clone()] == "prototype") => DeclarationKind::Value,
                () => DeclarationKind::Assignment,
            };
            found(member, kind);
        }
        return;
    }
    let modified = at > 0;
    if let Some(value) = rest.strip_prefix(':').filter(|value| !value.starts_with(':')) {
        let kind =
            if is_function(value.trim_ascii_start()) { DeclarationKind::Value } else { DeclarationKind::Key };
        // A member of a type ends with a semicolon or nothing, one of an object with a comma.
        let kind = if modified || text.ends_with(';') || text[name.end..].starts_with('?') {
            DeclarationKind::Value
        } else {
            kind
        };
        found(name, kind);
        // `const {`, then `key: name,`: declares the name if it is in a pattern.
        let from = text.len() - value.trim_ascii_start().len();
        if let Some(renamed) = identifier(text, from).filter(|renamed| text[renamed.end..].starts_with(',')) {
            found(renamed, DeclarationKind::Variant);
        }
    } else if let Some(value) = rest.strip_prefix('=').filter(|value| !value.starts_with(['=', '>'])) {
        let kind = if modified || is_function(value.trim_ascii_start()) {
            DeclarationKind::Value
        } else if text.ends_with(',') {
            DeclarationKind::Variant
        } else {
            DeclarationKind::Assignment
        };
        found(name, kind);
    } else if rest.is_empty() || rest.starts_with(',') || (rest == ";" && modified) {
        list_of_names(text, at, &mut |name| found(name, DeclarationKind::Variant));
    } else if rest.starts_with(['(', '<']) {
        // A method of an interface. Its type parameters may be on lines of their own.
        let (brackets, next) = past_type_parameters(text, next).unwrap_or_else(|| {
            let types = if rest.starts_with('<') { past_brackets(rest, 0) } else { None };
            (&rest[types.unwrap_or(0)..], next)
        });
        if !brackets.starts_with('(') {
            return;
        }
        // And so may its parameters.
        let closing =
            || next.iter().take(24).map(|line| line.trim_ascii()).find(|line| line.starts_with(')'));
        let tail = match past_brackets(brackets, 0) {
            Some(end) => brackets[end..].trim_ascii_start(),
            None if brackets.ends_with('(') => closing().map_or("", |line| line[1..].trim_ascii_start()),
            None => "",
        };
        if tail.starts_with(':') && !tail.ends_with('{') {
            found(name, DeclarationKind::Prototype);
        }
    }
}

/// Keys of an object on the line that opens it: `{ a: 1, b: 2 }`.
fn inline_keys(text: &str, found: &mut Found<'_>) {
    let bytes = text.as_bytes();
    let mut open: Vec<u8> = Vec::new();
    let mut begins = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' | b'(' | b'[' => {
                open.push(byte);
                begins = byte == b'{';
            }
            b'}' | b')' | b']' => {
                open.pop();
                begins = false;
            }
            b',' => begins = open.last() == Some(&b'{'),
            b'"' | b'\'' | b'`' => return,
            b'/' if bytes.get(at + 1) == Some(&b'/') => return,
            b' ' | b'\t' => {}
            _ if begins => {
                begins = false;
                if let Some(name) = identifier(text, at)
                    && text[name.end..].starts_with(": ")
                    && !text[..at].trim_ascii_start().starts_with(['{', '}'])
                {
                    found(name, DeclarationKind::Key);
                }
            }
            _ => {}
        }
    }
}

/// `name = …`, `name: Type = …`, `{ a, b: c } = …`, `[a, b] = …`.
fn variable(text: &str, from: usize, found: &mut Found<'_>) {
    if text[from..].starts_with(['{', '[']) {
        let end = past_brackets(text, from).unwrap_or(text.len());
        return pattern(text, from + 1, end, found);
    }
    let Some(name) = identifier(text, from) else { return };
    let rest = text[name.end..].trim_ascii_start();
    if rest.is_empty() || rest.starts_with(['=', ':', ';', ',', '<', '!']) {
        found(name.clone(), DeclarationKind::Value);
    }
    if rest.starts_with(',') {
        list_of_names(text, name.end, &mut |name| found(name, DeclarationKind::Value));
    }
}

/// The names of a pattern: `a, b: c, d: { e }, f = 1, ...g`.
fn pattern(text: &str, from: usize, end: usize, found: &mut Found<'_>) {
    let (mut at, mut begins) = (from, true);
    while at < end {
        match text.as_bytes()[at] {
            b'{' | b'[' | b',' => begins = true,
            b'=' => begins = false,
            _ if begins => {
                if let Some(name) = identifier(text, at) {
                    // `key: name` declares the name, and `key: { name }` what is inside.
                    let is_key = text[name.end..].trim_ascii_start().starts_with(':');
                    begins = is_key;
                    at = name.end;
                    if !is_key {
                        found(name, DeclarationKind::Assignment);
                    }
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// The identifiers of `a.b.c`.
fn dotted(text: &str, first: &Range<usize>) -> Vec<Range<usize>> {
    let mut path = vec![first.clone()];
    let mut end = first.end;
    while text[end..].starts_with('.')
        && let Some(next) = identifier(text, end + 1)
    {
        end = next.end;
        path.push(next);
    }
    path
}

fn is_function(value: &str) -> bool {
    let value = value.strip_prefix("async").map_or(value, str::trim_ascii_start);
    let (word, rest) = first_word(value);
    match word {
        "function" | "class" => true,
        "" => value.starts_with('(') && value.contains("=>"),
        _ => rest.trim_ascii_start().starts_with("=>"),
    }
}
