//! Whether a line begins a definition, and of which name: the rules of the heuristic outline.

use std::ops::Range;

use crate::c_style::{After, after_brackets, bracketed_name};
use crate::keywords::{Word, end_of_brackets, first_word, past_attributes, past_type_attributes, word_from};

/// The name of the definition that begins on this line, as a byte range of the line. `next` are the lines that follow:
/// C and Java signatures are recognised only by the brace after them. The range is empty for a definition without a
/// name: `typedef struct {`.
pub fn defined_name(line: &str, next: &[&str]) -> Option<Range<usize>> {
    defined_name_in(line, next, false)
}

/// Like [`defined_name`]. `bodiless`: methods may be declared without a body, as in an interface.
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
        // A private method: `#name(…) {`, `#name (…) {`.
        Some(rest) if first_word(rest).1.trim_ascii_start().starts_with('(') => rest,
        Some(rest) if first_word(rest).1.starts_with('<') => rest,
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
                // `async #name(`, `static async *name(`, `async * #name(`
                Some(b'#' | b'*') if at > 0 => at + 1,
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

/// Control-flow keywords that are names of methods in other languages.
fn is_common_name(word: &str) -> bool {
    matches!(word, "and" | "assert" | "delete" | "go" | "match" | "not" | "or" | "raise" | "select" | "yield")
}

/// The name of a type, unless it is only an alias.
fn type_name(trimmed: &str, start: usize) -> Option<Range<usize>> {
    let name = word_from(trimmed, start)?;
    let rest = trimmed[name.end..].trim_ascii();
    // Go: `type Name string`, `type Name struct{}`. In prose more words would follow.
    let declared = !rest.is_empty()
        && !rest.starts_with('=')
        && (!rest.contains(' ')
            || ["struct{", "func(", "map[", "[", "*"].iter().any(|next| rest.starts_with(next)))
        && rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '[' | '*'));
    (rest.ends_with('{') || declared).then_some(name)
}

/// The name in `struct Name {`, and in lines that begin alike: `struct name *function(…) {`, `struct name;`.
fn record_name(trimmed: &str, at: usize, definer: &str, next: &[&str]) -> Option<Range<usize>> {
    let start = past_type_attributes(trimmed, at + definer.len());
    if trimmed[start..].trim_ascii().is_empty() || trimmed[start..].trim_ascii_start().starts_with('{') {
        // An enum without a name counts only if it has several lines.
        let opens = (trimmed.contains('{') && !trimmed.contains('}'))
            || next.first().is_some_and(|next| next.trim_ascii_start().starts_with('{'));
        return opens.then_some(start..start);
    }
    if !trimmed[start..].starts_with([' ', '\t']) {
        return None;
    }
    let name = word_from(trimmed, start)?;
    let rest = trimmed[name.end..].trim_ascii();
    match rest.chars().next() {
        // Without a body it is a definition only in Rust, where names begin with a capital.
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
        // `for &'a [u8]` and `for ()` have no name.
        let nameless = trimmed[from..].trim_ascii_start().is_empty()
            || trimmed[from..].trim_ascii_start().starts_with(['&', '(', '[', '*', '<']);
        return word_from(trimmed, from).or(nameless.then_some(from..end.max(from)));
    }
    if matches!(definer, "class" | "struct" | "union" | "enum") {
        start = past_type_attributes(trimmed, start);
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
        // These words also begin prose, so only an opening may follow the name.
        let opens = rest.is_empty() || rest.ends_with(['{', ')', ':']) || rest.starts_with([':', '<', '(']);
        return (opens && !(definer == "mod" && rest == ";")).then_some(name);
    }
    // `class` and `function` also begin sentences: in a definition a sign follows the name.
    let is_definition = rest.is_empty()
        || (rest.starts_with(['(', '{', ':', '<', '[', ';', '!', '=', '?', '\\'])
            && !(definer == "class" && rest == ";"))
        || ["extends ", "implements ", "where ", "for ", "with ", "final", "->", "is", "from "]
            .iter()
            .any(|next| rest.starts_with(next))
        || rest.ends_with(['{', ':', '('])
        || rest.starts_with("//");
    is_definition.then_some(name)
}
