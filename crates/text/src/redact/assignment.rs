//! Values beside telling names: `password=…`, `"api_key": "…"`, `--token …`, `<secret>…</secret>`, `setPassword("…")`,
//! in whatever language, and inside strings that are escaped, once or more.
//!
//! This is a reader of its own rather than a set of expressions: quotes must be closed by the quote that opened them, at the
//! same depth of escaping, and what an unquoted value is depends on what stands around it.

use std::ops::Range;

use super::judge::{self, Setting};
use super::names::{self, Telling};
use super::randomness::Shape;

/// How far a name reaches to either side of the word by which it was found, a value from its beginning, and a hint into its
/// line. They keep the work on hostile text linear.
const NAME_REACH: usize = 64;
const VALUE_REACH: usize = 1024;
const HINT_REACH: usize = 96;
const SPACE_REACH: usize = 64;

/// A value that a telling name gives away.
pub(super) struct Found {
    pub(super) range: Range<usize>,
    pub(super) telling: Telling,
}

/// A name in the text.
struct Name {
    range: Range<usize>,
    telling: Telling,
}

/// The secret beside the name of which `keyword` is a part.
pub(super) fn find(text: &[u8], keyword: Range<usize>) -> Option<Found> {
    let name = name_around(text, keyword)?;
    let telling = name.telling;
    let Some((from, setting)) = value_position(text, &name) else { return near(text, &name) };
    // `pass` alone is more often a verdict, and what stands behind a slash is a path.
    let vague =
        text[name.range.clone()].eq_ignore_ascii_case(b"pass") || text[..name.range.start].ends_with(b"/");
    if telling == Telling::Authorization {
        return super::headers::authorization(text, from).map(|range| Found { range, telling });
    }
    let (range, setting) = value_at(text, from, setting)?;
    if vague && !matches!(setting, Setting::Quoted | Setting::Environment) {
        return None;
    }
    judge::is_secret(telling, &text[range.clone()], setting)
        .then(|| Found { range: whole_of_long(text, range), telling })
}

/// Some tokens are longer than is worth reading before they are known to be one.
fn whole_of_long(text: &[u8], range: Range<usize>) -> Range<usize> {
    let part = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'.' | b'%')
    };
    match range.len() {
        0..VALUE_REACH => range,
        _ => range.start..range.end + text[range.end..].iter().take_while(part).count(),
    }
}

fn name_around(text: &[u8], keyword: Range<usize>) -> Option<Name> {
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let mut start =
        keyword.start - text[..keyword.start].iter().rev().take(NAME_REACH).take_while(part).count();
    let mut end = keyword.end + text[keyword.end..].iter().take(NAME_REACH).take_while(part).count();
    if start < keyword.start && is_escape(text, start) {
        start += 1;
    }
    // `--name` and `name->field`, `name.`
    while start < keyword.start && matches!(text[start], b'-' | b'.') {
        start += 1;
    }
    while end > keyword.end && matches!(text[end - 1], b'-' | b'.') {
        end -= 1;
    }
    let telling = names::telling(&text[start..end])?;
    Some(Name { range: start..end, telling })
}

/// Whether the letter at `at` belongs to an escape like `\n`.
pub(super) fn is_escape(text: &[u8], at: usize) -> bool {
    at > 0 && text[at - 1] == b'\\' && matches!(text.get(at), Some(b'n' | b't' | b'r' | b'b' | b'f'))
}

/// Where the value begins, if something says that one does: right after the sign that joins the two, spaces left out.
fn value_position(text: &[u8], name: &Name) -> Option<(usize, Setting)> {
    let quoted = quote_at(text, name.range.end);
    let mut at = quoted.as_ref().map_or(name.range.end, |quote| quote.end);
    if quoted.is_some() && text.get(at) == Some(&b']') {
        at += 1;
    }
    let spaced = skip_spaces(text, at);
    let rest = &text[spaced..];
    let flag = text[..name.range.start].ends_with(b"--")
        || text[..name.range.start].ends_with(b"ENV ")
        || text[..name.range.start].ends_with(b"ARG ");
    match rest {
        [b':', b':', ..] => None,
        // `${NAME:-value}` and `${NAME:?message}`
        [b':', b'-', ..] if text[..name.range.start].ends_with(b"${") => Some((spaced + 2, Setting::Bare)),
        [b':', b'?', ..] => None,
        [b':', b'=', ..]
        | [b'=', b'>', ..]
        | [b'?', b'=', ..]
        | [b'|', b'|', ..]
        | [b'?', b'?', ..]
        | [b'+', b'=', ..] => Some((skip_spaces(text, spaced + 2), Setting::Bare)),
        [b'=', b'=', b'=', ..] | [b'!', b'=', b'=', ..] => {
            Some((skip_spaces(text, spaced + 3), Setting::Loose))
        }
        [b'=', b'=', ..] | [b'!', b'=', ..] => Some((skip_spaces(text, spaced + 2), Setting::Loose)),
        [b'=', ..] => {
            let capitals = !text[name.range.clone()].iter().any(u8::is_ascii_lowercase);
            let tight = quoted.is_none() && spaced == at && !rest.get(1).is_none_or(u8::is_ascii_whitespace);
            let setting = if capitals && tight { Setting::Environment } else { Setting::Bare };
            Some((skip_spaces(text, spaced + 1), setting))
        }
        [b':', ..] => {
            let after = skip_spaces(text, spaced + 1);
            let after = after_type(text, after).unwrap_or(after);
            // A key in quotes with a value that has none is JSON, where only numbers and the like have none. Leaving them
            // keeps JSON valid.
            let bare = !matches!(text.get(after), Some(b'"' | b'\'' | b'`' | b'\\'));
            (!(quoted.is_some() && bare)).then_some((after, Setting::Bare))
        }
        [b',', ..] if quoted.is_some() || text[..name.range.start].ends_with(b":") => {
            let after = skip_lines(text, spaced + 1);
            after_value_word(text, after)
                .map(|after| (after, Setting::Quoted))
                .or(Some((after, Setting::Loose)))
        }
        [b'(', ..] if spaced == at => Some((skip_spaces(text, spaced + 1), Setting::Loose)),
        [b'>', ..] if text[..name.range.start].ends_with(b"<") => Some((spaced + 1, Setting::Quoted)),
        _ if (flag || is_after_login(text, name)) && spaced > at => Some((spaced, Setting::Bare)),
        [b'i', b's', b' ', ..] if spaced > at => Some((skip_spaces(text, spaced + 3), Setting::Loose)),
        [b'\'', ..] if spaced > at && quoted.is_none() => Some((spaced, Setting::Loose)),
        [b's', b't', b'r', b'i', b'n', b'g', ..] => {
            after_type(text, spaced).map(|after| (after, Setting::Bare))
        }
        _ => after_value_word(text, skip_lines(text, at)).map(|after| (after, Setting::Bare)),
    }
}

/// `machine … login … password …`, as `.netrc` has it.
fn is_after_login(text: &[u8], name: &Name) -> bool {
    let before = &text[name.range.start.saturating_sub(80)..name.range.start];
    let line = &before[memchr::memrchr(b'\n', before).map_or(0, |at| at + 1)..];
    &text[name.range.clone()] == b"password" && judge::contains(line, b"login ")
}

/// Past `value:`, `"value": ` or `value=`, as in lists of names and values.
fn after_value_word(text: &[u8], at: usize) -> Option<usize> {
    let at = quote_at(text, at).map_or(at, |quote| quote.end);
    let word = text.get(at..at + 5)?;
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let at = quote_at(text, at + 5).map_or(at + 5, |quote| quote.end);
    let at = skip_spaces(text, at);
    matches!(text.get(at), Some(b':' | b'=')).then(|| skip_spaces(text, at + 1))
}

/// Past a type and the `=` after it: `name: &str = "…"`.
fn after_type(text: &[u8], at: usize) -> Option<usize> {
    let of_type = |byte: &&u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'&' | b'\'' | b'<' | b'>' | b'[' | b']' | b' ' | b'|' | b'?' | b'.' | b':'
            )
    };
    if !text.get(at).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'&') {
        return None;
    }
    let equals = at + text[at..].iter().take(48).take_while(of_type).count();
    let sign = text.get(equals) == Some(&b'=') && !matches!(text.get(equals + 1), Some(b'=' | b'>'));
    let after = skip_spaces(text, equals + 1);
    (sign && text[at..equals].ends_with(b" ") && quote_at(text, after).is_some()).then_some(after)
}

/// The value at `at`, without its quotes, and how it stands there.
fn value_at(text: &[u8], at: usize, setting: Setting) -> Option<(Range<usize>, Setting)> {
    let wrapped = past_wrapper(text, at);
    if let Some(open) = quote_at(text, wrapped) {
        let setting = match setting {
            Setting::Loose => Setting::Loose,
            _ if wrapped > at + 1 => Setting::Loose,
            _ => Setting::Quoted,
        };
        return closing_quote(text, &open).map(|end| (open.end..end, setting));
    }
    if setting == Setting::Quoted {
        // Between tags.
        let end = at + text[at..].iter().take(VALUE_REACH).position(|byte| matches!(byte, b'<' | b'\n'))?;
        return (text.get(end) == Some(&b'<')).then_some((at..end, setting));
    }
    if setting == Setting::Loose && !(at > 3 && text[..at].ends_with(b"is ")) {
        return None;
    }
    bare_value(text, at, setting).map(|range| (range, setting))
}

/// Past what may stand before a literal: `b"…"`, `String::from("…")`, `new Secret("…")`.
fn past_wrapper(text: &[u8], at: usize) -> usize {
    let of_call =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b' ' | b'@');
    let end = at + text[at..].iter().take(40).take_while(of_call).count();
    match text.get(end) {
        Some(b'(') if end > at => skip_spaces(text, end + 1),
        Some(b'"' | b'\'' | b'`') if end == at + 1 => end,
        _ => at,
    }
}

fn bare_value(text: &[u8], at: usize, setting: Setting) -> Option<Range<usize>> {
    let reach = &text[at..floor_of_char(text, text.len().min(at + VALUE_REACH))];
    let ends = |(at, byte): (usize, &u8)| match byte {
        b'"' | b'\'' | b'`' | b'\\' | b';' => true,
        b',' | b'(' | b')' | b'{' | b'}' | b'<' | b'>' | b'|' => setting != Setting::Environment,
        b'&' => is_next_parameter(&reach[at + 1..]),
        byte => byte.is_ascii_whitespace(),
    };
    let mut length = reach.iter().enumerate().position(ends).unwrap_or(reach.len());
    // What a call, a generic type or a template goes on with makes it an expression.
    if matches!(reach.get(length), Some(b'(' | b'{' | b'<')) {
        return None;
    }
    if setting != Setting::Environment {
        while length > 0 && matches!(reach[length - 1], b'.' | b':' | b',') {
            length -= 1;
        }
    }
    (length > 0).then_some(at..at + length)
}

/// `name=`, after the `&` of an address.
fn is_next_parameter(rest: &[u8]) -> bool {
    let name = rest
        .iter()
        .take(32)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        .count();
    rest.first().is_none_or(|first| *first == b'&') || matches!(rest.get(name), Some(b'='))
}

/// A string that is surely drawn, further on in the line of a telling name.
fn near(text: &[u8], name: &Name) -> Option<Found> {
    if matches!(name.telling, Telling::Password | Telling::Credential) {
        return None;
    }
    let from = name.range.end;
    let line = &text[from..text.len().min(from + HINT_REACH + VALUE_REACH)];
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    let drawn =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.');
    let mut at = 0;
    while at < line.len().min(HINT_REACH) {
        let length = line[at..].iter().position(|byte| !drawn(byte)).unwrap_or(line.len() - at);
        let value = &line[at..at + length];
        let opened = at > 0 && matches!(line[at - 1], b' ' | b'"' | b'\'' | b'`' | b'(' | b':' | b'=');
        if length <= 200
            && opened
            && Shape::of(value).is_surely_random()
            && is_one_piece(value)
            && !has_other_name(&line[..at])
            && !judge::stands_for_something(value)
        {
            return Some(Found { range: from + at..from + at + length, telling: name.telling });
        }
        at += length + 1;
    }
    None
}

/// Endings of names of what looks drawn and is no secret.
const OTHERS: &[&str] = &[
    "id",
    "hash",
    "sum",
    "sha",
    "h1",
    "sha1",
    "sha256",
    "sha512",
    "md5",
    "digest",
    "integrity",
    "version",
    "url",
    "etag",
    "nonce",
    "signature",
    "commit",
    "rev",
    "fingerprint",
    "cursor",
];

/// Whether what ends here is another name and a sign, and the name tells of something else.
fn has_other_name(before: &[u8]) -> bool {
    let around = |byte: &u8| matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'\\' | b':' | b'=' | b'(');
    let name = &before[..before.iter().rposition(|byte| !around(byte)).map_or(0, |at| at + 1)];
    OTHERS.iter().any(|other| name.to_ascii_lowercase().ends_with(other.as_bytes()))
}

/// No path, file name or list of words: at most one sign that joins.
fn is_one_piece(value: &[u8]) -> bool {
    let longest =
        value.split(|byte| matches!(byte, b'/' | b'.' | b'-' | b'_' | b'+' | b'=')).map(<[u8]>::len).max();
    longest.is_some_and(|longest| longest >= 20) && !value.contains(&b'/')
}

/// A quote at `at` with the backslashes before it, as strings inside strings have them.
fn quote_at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let slashes = rest.iter().take(8).take_while(|byte| **byte == b'\\').count();
    matches!(rest.get(slashes), Some(b'"' | b'\'' | b'`')).then(|| at..at + slashes + 1)
}

/// Where the quote that closes `open` begins, at the same depth, in the same line.
fn closing_quote(text: &[u8], open: &Range<usize>) -> Option<usize> {
    let (depth, quote) = (open.len() - 1, text[open.end - 1]);
    let reach = &text[open.end..text.len().min(open.end + VALUE_REACH)];
    let mut slashes = 0;
    for (at, &byte) in reach.iter().enumerate() {
        match byte {
            b'\n' => return None,
            b'\\' => slashes += 1,
            _ => {
                if byte == quote && slashes <= depth {
                    return Some(open.end + at - slashes);
                }
                slashes = 0;
            }
        }
    }
    (reach.len() == VALUE_REACH).then(|| floor_of_char(text, open.end + VALUE_REACH))
}

/// `end`, or the beginning of the character that it would cut.
fn floor_of_char(text: &[u8], mut end: usize) -> usize {
    while text.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end -= 1;
    }
    end
}

pub(super) fn skip_spaces(text: &[u8], at: usize) -> usize {
    let at = at.min(text.len());
    at + text[at..].iter().take(SPACE_REACH).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

fn skip_lines(text: &[u8], at: usize) -> usize {
    let at = at.min(text.len());
    at + text[at..].iter().take(SPACE_REACH).take_while(|byte| byte.is_ascii_whitespace()).count()
}
