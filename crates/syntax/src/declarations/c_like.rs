//! C, C++, Java and their relatives: a type, then the names that have it.

use std::ops::Range;

use super::words::{WORDS, identifier, list_of_names, past_brackets};
use super::{DeclarationKind, Found, unannotated};
use crate::keywords::{Word, first_word};
use crate::signature::defined_name;

pub(super) fn declarations(text: &str, next: &[&str], found: &mut Found<'_>) {
    if let Some(directive) = text.strip_prefix('#') {
        let rest = directive.trim_ascii_start();
        if let Some(name) = rest.strip_prefix("define").filter(|rest| rest.starts_with([' ', '\t'])) {
            let at = text.len() - name.trim_ascii_start().len();
            identifier(text, at).into_iter().for_each(|name| found(name, DeclarationKind::Value));
        }
        return;
    }
    let (at, text_after) = match past_attributes_and_linkage(text) {
        Some(rest) => {
            let at = text.len() - rest.len();
            if let Some(name) = defined_name(rest, next) {
                found(name.start + at..name.end + at, DeclarationKind::Definition);
            }
            (at, rest)
        }
        None => unannotated(text),
    };
    let mut shifted = |name: Range<usize>, kind| found(name.start + at..name.end + at, kind);
    let text = text_after;
    // `} name;` ends a typedef or declares a variable.
    if let Some(rest) = text.strip_prefix('}') {
        let at = text.len() - rest.trim_start_matches([' ', '\t', '*']).len();
        if let Some(name) = identifier(text, at)
            && text[name.end..].trim_ascii_start().starts_with([';', '[', ',', '='])
        {
            list_of_names(text, at, &mut |name| shifted(name, DeclarationKind::Value));
        }
        return;
    }
    let (word, rest) = first_word(text);
    if word == "using"
        && let Some(name) = identifier(text, 6)
        && text[name.end..].trim_ascii_start().starts_with('=')
    {
        return shifted(name, DeclarationKind::Value);
    }
    if let Some(name) = type_name(text).or_else(|| open_type_name(text)) {
        shifted(name, DeclarationKind::Definition);
    }
    // Kotlin, Swift, Scala.
    if matches!(word, "fun" | "val" | "var" | "let" | "typealias" | "func" | "def") && rest.starts_with(' ') {
        let at = text.len() - rest.trim_ascii_start().len();
        let kind = if matches!(word, "fun" | "func" | "def") {
            DeclarationKind::Definition
        } else {
            DeclarationKind::Value
        };
        identifier(text, at).into_iter().for_each(|name| shifted(name, kind));
    }
    // What is declared inside of braces on the same line.
    if let Some(open) = text.find('{')
        && !text[..open].contains(['(', '='])
    {
        let head = &text[..open];
        let inside = text[open + 1..].split('}').next().unwrap_or("");
        let has = |keyword: &str| head.split(|c: char| !c.is_alphanumeric()).any(|word| word == keyword);
        if has("enum") {
            list_of_names(text, open + 1, &mut |name| {
                if name.end <= open + 1 + inside.len() {
                    shifted(name, DeclarationKind::Variant);
                }
            });
        } else if has("struct") || has("union") || has("class") {
            let mut from = open + 1;
            for piece in inside.split_inclusive(';') {
                let lead = piece.len() - piece.trim_ascii_start().len();
                declarator(piece.trim_ascii_start(), &[], &mut |name, kind| {
                    shifted(name.start + from + lead..name.end + from + lead, kind);
                });
                from += piece.len();
            }
        }
    }
    declarator(text, next, &mut shifted);
}

/// The text after `[[attributes]]`, `__attribute__((…))`, `extern "C"` and the type parameters of a method; none when it begins with
/// none of them.
fn past_attributes_and_linkage(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let after = if rest.starts_with("[[") || rest.starts_with('<') {
            past_brackets(rest, 0).map(|end| &rest[end..])
        } else if rest.starts_with("__attribute__((") {
            past_brackets(rest, "__attribute__".len()).map(|end| &rest[end..])
        } else {
            rest.strip_prefix("extern \"C\" ").filter(|rest| !rest.starts_with('{'))
        };
        match after {
            Some(after) => rest = after.trim_ascii_start(),
            None => return (rest.len() < text.len()).then_some(rest),
        }
    }
}

/// `static const char *name[] = …, *other;`
fn declarator(text: &str, next: &[&str], found: &mut Found<'_>) {
    let bytes = text.as_bytes();
    let (mut at, mut words) = (0, 0);
    let mut last: Option<Range<usize>> = None;
    let mut joined = false;
    loop {
        at = text.len() - text[at..].trim_ascii_start().len();
        let is_comment = text[at..].starts_with("//");
        let sign = if is_comment { None } else { bytes.get(at).copied() };
        match sign {
            Some(b'/') if bytes.get(at + 1) == Some(&b'*') => {
                let Some(end) = text[at..].find("*/") else { return };
                at += end + 2;
            }
            Some(b'*' | b'&' | b'^' | b'?' | b'~') if words > 0 => at += 1,
            // `int name,`, then `*name,`.
            Some(b'*') => at += 1,
            Some(b':') if bytes.get(at + 1) == Some(&b':') => {
                joined = words > 0;
                at += 2;
            }
            Some(b'.') if words > 0 => {
                joined = true;
                at += 1;
            }
            Some(b'<') if words > 0 => match past_brackets(text, at) {
                Some(end) => at = end,
                None => return,
            },
            Some(b'[') if words > 0 => match past_brackets(text, at) {
                Some(end) => at = end,
                None => return,
            },
            Some(b'@') => {
                let rest = crate::keywords::past_attributes(&text[at..]);
                let end = text.len() - rest.len();
                if end == at {
                    return;
                }
                at = end;
            }
            Some(b'(') => return parenthesis(text, at, words, last, next, found),
            Some(b';' | b'=' | b',' | b'{' | b'}' | b':') | None => {
                let Some(name) = last else { return };
                return ended(text, at, words, name, next, found);
            }
            Some(_) => {
                let Some(word) = identifier(text, at) else { return };
                let spelled = &text[word.clone()];
                // `return name;`: in other places these words are names in some language.
                if words == 0 && WORDS.contains(&spelled) && !matches!(spelled, "struct" | "enum" | "class") {
                    return;
                }
                at = word.end;
                // `a::b` and `a.b` are one word.
                words += usize::from(!joined);
                joined = false;
                last = Some(word);
            }
        }
    }
}

/// At the sign after the first name.
fn ended(text: &str, at: usize, words: usize, name: Range<usize>, next: &[&str], found: &mut Found<'_>) {
    let sign = text.as_bytes().get(at).copied().filter(|_| !text[at..].starts_with("//"));
    let after_sign = text.get(at + 1..).unwrap_or("").trim_ascii_start();
    let is_bit_field = || after_sign.starts_with(|c: char| c.is_ascii_digit() || c.is_uppercase());
    if text.starts_with('*') {
        if words == 1 && matches!(sign, Some(b',' | b';' | b'=')) && !after_sign.starts_with('=') {
            list_of_names(text, 0, &mut |name| found(name, DeclarationKind::Variant));
        }
        return;
    }
    if words == 1 && name.start == 0 {
        let is_variant = match sign {
            Some(b',' | b';' | b'}') | None => true,
            Some(b'=') => !text[at..].starts_with("==") && !text.ends_with(';'),
            Some(b'{') => true,
            Some(b':') => is_bit_field(),
            _ => false,
        };
        let begins_bases =
            || matches!(first_word(after_sign).0, "public" | "protected" | "private" | "virtual");
        if is_variant {
            list_of_names(text, 0, &mut |name| found(name, DeclarationKind::Variant));
        } else if sign == Some(b':') && text.ends_with('{') && begins_bases() {
            // `class [[nodiscard]]`, then `Name : public Base {`.
            found(name, DeclarationKind::Definition);
        } else if sign == Some(b'=') && !text[at..].starts_with("==") {
            found(name, DeclarationKind::Assignment);
        }
        return;
    }
    let is_value = match sign {
        Some(b';') => true,
        Some(b'=') => !text[at..].starts_with("=="),
        Some(b',') => true,
        Some(b':') => is_bit_field(),
        Some(b'{') => text.ends_with([';', '}', '{']),
        _ => next.first().is_some_and(|next| next.trim_ascii_start().starts_with('=')),
    };
    if words < 2 || !is_value {
        return;
    }
    // `extern int name;` is defined elsewhere.
    let kind = if text.starts_with("extern ") && sign == Some(b';') {
        DeclarationKind::Prototype
    } else {
        DeclarationKind::Value
    };
    found(name.clone(), kind);
    let is_list =
        sign == Some(b',') || (sign == Some(b':') && after_sign.starts_with(|c: char| c.is_ascii_digit()));
    if is_list {
        list_of_names(text, at, &mut |name| found(name, kind));
    } else if let (Some(b'='), true) = (sign, text.ends_with(';')) {
        let mut first = true;
        list_of_names(text, name.start, &mut |name| {
            if !std::mem::take(&mut first) {
                found(name, kind);
            }
        });
    }
}

/// `type name(…);`, `type (*name)(…);`, `NAME(…),`
fn parenthesis(
    text: &str,
    at: usize,
    words: usize,
    last: Option<Range<usize>>,
    next: &[&str],
    found: &mut Found<'_>,
) {
    let inside = text[at + 1..].trim_ascii_start();
    if words > 0 && inside.starts_with(['*', '^', '&']) {
        let from = text.len() - inside.trim_start_matches(['*', '^', '&', ' ']).len();
        if let Some(name) = identifier(text, from)
            && text[name.end..].trim_ascii_start().starts_with([')', '['])
        {
            found(name, DeclarationKind::Value);
        }
        return;
    }
    // `typedef void (name)(…);`
    if text.starts_with("typedef ")
        && let Some(name) = identifier(text, text.len() - inside.len())
        && text[name.end..].trim_ascii_start().starts_with(")(")
    {
        return found(name, DeclarationKind::Value);
    }
    let Some(name) = last else { return };
    if words == 1 && name.start == 0 {
        let capital = text.starts_with(|c: char| c.is_ascii_uppercase());
        if capital && !text.ends_with(')') || text.ends_with("),") {
            list_of_names(text, 0, &mut |name| found(name, DeclarationKind::Variant));
        }
        return;
    }
    // The rest may be on the lines below.
    let end = past_brackets(text, at);
    let tail = end.map_or("", |end| text[end..].trim_ascii_start());
    let last_line = if end.is_none() || tail.is_empty() {
        next.iter()
            .take(12)
            .map(|line| line.trim_ascii_end())
            .find(|line| line.ends_with([';', '{', '}']))
            .unwrap_or("")
    } else {
        text
    };
    if words >= 2 && last_line.ends_with(';') && !tail.starts_with(['.', '-', '?', '+', '|']) {
        found(name, DeclarationKind::Prototype);
    } else if words >= 2 && last_line.ends_with('{') && end.is_some() {
        // What follows the brackets may be a macro.
        found(name, DeclarationKind::Definition);
    }
}

/// The name in `public static class Name extends`, when its bases are on the next line.
pub(super) fn open_type_name(text: &str) -> Option<Range<usize>> {
    if !["extends", "implements", "permits", ","].iter().any(|end| text.ends_with(end)) {
        return None;
    }
    let mut at = 0;
    loop {
        let (word, rest) = first_word(&text[at..]);
        let next = text.len() - rest.trim_ascii_start().len();
        match Word::of(word) {
            Word::Modifier => at = next,
            Word::Definer if matches!(word, "class" | "interface" | "enum" | "record") => {
                return identifier(text, next).filter(|name| text[name.end..].starts_with([' ', '<']));
            }
            _ => return None,
        }
    }
}

/// The last word before the brace in `class EXPORT Name final : public Base {`.
fn type_name(text: &str) -> Option<Range<usize>> {
    let keyword = first_word(text).0;
    let (keyword, rest) = if keyword == "typedef" {
        first_word(text["typedef".len()..].trim_ascii_start())
    } else {
        (keyword, first_word(text).1)
    };
    if !matches!(keyword, "class" | "struct" | "union" | "enum" | "namespace")
        || !(text.contains('{') || text.trim_ascii_end().ends_with([':', ',']))
    {
        return None;
    }
    let begin = text.len() - rest.len();
    let end = begin + rest.find(['{', ':', '(']).filter(|at| !rest[*at..].starts_with("::"))?;
    if text[end..].starts_with('(') {
        return None;
    }
    let head = text[..end].trim_ascii_end();
    let head = head.strip_suffix(" final").unwrap_or(head);
    let start = head.rfind(|c: char| !(c.is_alphanumeric() || c == '_'))? + 1;
    (start >= begin && start < head.len()).then_some(start..head.len())
}
