//! JavaScript and TypeScript: variables, assigned functions, members of objects, classes and interfaces.

use std::ops::Range;

use super::c_like::open_type_name;
use super::words::{WORDS, after_modifiers, identifier, list_of_names, past_brackets};
use super::{DeclarationKind, Found};
use crate::keywords::first_word;

pub(super) fn declarations(text: &str, found: &mut Found<'_>) {
    // A function with a name as a value: `define(request, 'secure', function secure() {`.
    let mut from = 0;
    while let Some(position) = text[from..].find("function ") {
        let at = from + position + "function ".len();
        let before = text[..from + position]
            .ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '.');
        if let Some(name) = identifier(text, at).filter(|_| !before)
            && text[name.end..].trim_ascii_start().starts_with(['(', '<'])
        {
            found(name, DeclarationKind::Definition);
        }
        from = at;
    }
    if let Some(name) = open_type_name(text) {
        return found(name, DeclarationKind::Definition);
    }
    let mut at = after_modifiers(text);
    loop {
        let (word, rest) = first_word(&text[at..]);
        match word {
            "static" | "async" | "get" | "set" if rest.starts_with(' ') => {
                at = text.len() - rest.trim_ascii_start().len();
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
    if text[at..].starts_with(['#', '*']) {
        at += 1;
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
        // A method of an interface.
        let open = text.len() - rest.len();
        let open = if rest.starts_with('<') { past_brackets(text, open).unwrap_or(open) } else { open };
        let end =
            text.as_bytes().get(open).filter(|byte| **byte == b'(').and_then(|_| past_brackets(text, open));
        if end.is_some_and(|end| text[end..].trim_ascii_start().starts_with(':')) && !text.ends_with('{') {
            found(name, DeclarationKind::Prototype);
        }
    }
}

/// `name = …`, `name: Type = …`, `{ a, b: c } = …`, `[a, b] = …`.
fn variable(text: &str, from: usize, found: &mut Found<'_>) {
    if text[from..].starts_with(['{', '[']) {
        let end = past_brackets(text, from).unwrap_or(text.len());
        let inside = &text[..end.saturating_sub(1).max(from + 1)];
        list_of_names(inside, from + 1, &mut |name| {
            // `key: name` declares the name.
            let renamed = text[name.end..].strip_prefix(": ").and_then(|_| identifier(text, name.end + 2));
            found(renamed.unwrap_or(name), DeclarationKind::Assignment);
        });
        return;
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
