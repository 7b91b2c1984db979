//! Parts of long texts. A part is taken after redaction, because half a secret is not recognised as one; and only as much
//! of the text is redacted as the part needs.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{Redacted, Redactor, columns};

/// Bytes on either side of an excerpt that are redacted with it, so that a secret at its edge is seen whole. The longest
/// secret, a private key, has a few thousand. Only a table is longer, whose names are added.
const MARGIN: usize = 16 << 10;
/// In a longer text, the names of a table's columns are not looked for above an excerpt.
const LONGEST_WITH_TABLES: usize = 4 << 20;
/// Members of an array or object that are shown when it is shortened.
const MAX_MEMBERS: usize = 40;

/// The start of `text` in at most `max_chars` characters. An ellipsis, which counts, says that there is more.
pub fn excerpt(text: &str, max_chars: usize) -> Redacted {
    let mut end = end_of_chars(text, max_chars.saturating_add(1));
    loop {
        let seen = &text[..text.floor_char_boundary(end.saturating_add(MARGIN))];
        // Where `end` is after redaction: only what is before it was seen with its margin.
        let mut sure = [end];
        let redacted = Redactor::standard().redact_and_map(seen, &mut sure);
        if seen.len() == text.len() || redacted[..sure[0]].chars().nth(max_chars).is_some() {
            return Redacted(shorten(&redacted, max_chars));
        }
        // Marks are shorter than the secrets were, so more of the text fits.
        end = text.floor_char_boundary(end * 2 + MARGIN);
    }
}

/// At most `max_chars` characters of `text` around the match at `at`, of which `before` characters or fewer are before it,
/// and where the match is in them; all of it when it is short. Ellipses, which count, say that there is more. A match inside a secret is at its mark.
pub fn excerpt_around(text: &str, at: usize, before: usize, max_chars: usize) -> (Redacted, usize) {
    let at = text.floor_char_boundary(at);
    let reach = max_chars.saturating_mul(4);
    let first = text.floor_char_boundary(at.saturating_sub(reach));
    let last = text.floor_char_boundary(at.saturating_add(reach));
    let from = text.floor_char_boundary(first.saturating_sub(MARGIN));
    let to = text.floor_char_boundary(last.saturating_add(MARGIN));
    // A secret in a column is known by a name that may be far above.
    let table = (0 < from && text.len() <= LONGEST_WITH_TABLES)
        .then(|| columns::names_above(text.as_bytes(), from))
        .flatten();
    let (from, seen) = match table {
        Some((names, row)) => (row, Cow::Owned(format!("{}\n{}", &text[names], &text[row..to]))),
        None => (from, Cow::Borrowed(&text[from..to])),
    };
    let start = seen.len() - (to - from);
    // Beyond `first` and `last` the margin is incomplete, unless the text ends there.
    let mut places = [
        if from == 0 { 0 } else { start + first - from },
        start + at - from,
        start + if to == text.len() { to - from } else { last - from },
    ];
    let redacted = Redactor::standard().redact_and_map(&seen, &mut places);
    let [first, at, last] = places;
    if redacted.len() == last && from == 0 && end_of_chars(&redacted, max_chars) == last {
        return (Redacted(redacted.into_owned()), at);
    }
    let start =
        redacted[first..at].char_indices().rev().take(before).last().map_or(at, |(start, _)| first + start);
    let lead = if from > 0 || start > 0 { "…" } else { "" };
    let left = max_chars.saturating_sub(lead.chars().count());
    let mut rest = redacted[start..last].to_owned();
    if to < text.len() || last < redacted.len() {
        rest.push('…');
    }
    (Redacted(format!("{lead}{}", shorten(&rest, left))), lead.len() + at - start)
}

impl Redacted {
    /// The start of the text in at most `max_chars` characters, as [`excerpt`] gives it.
    pub fn shorten(&self, max_chars: usize) -> Redacted {
        Redacted(shorten(self, max_chars))
    }

    /// The text on one line: each control character becomes a space, and spaces at the end go.
    pub fn on_one_line(&self) -> Redacted {
        Redacted(self.replace(char::is_control, " ").trim_end().to_owned())
    }
}

/// Characters of a member's start that are worth showing.
const LEAST_START: usize = 60;

impl Redacted<Value> {
    /// A member of an object, or null.
    pub fn member(&self, name: &str) -> Redacted<Value> {
        Redacted(self[name].clone())
    }

    /// The text of the JSON.
    pub fn to_text(&self) -> Redacted {
        Redacted(self.to_string())
    }

    /// JSON in about `max_chars` characters: as it is if it is short, else with its texts cut.
    pub fn shorten(&self, max_chars: usize) -> Redacted<Value> {
        if self.to_string().chars().count() <= max_chars {
            return self.clone();
        }
        let mut left = max_chars;
        let outline = shorten_value(self, &mut left);
        // Names and punctuation can be too much by themselves.
        match outline.to_string() {
            text if text.chars().count() > max_chars * 2 => Redacted(shorten(&text, max_chars).into()),
            _ => Redacted(outline),
        }
    }

    /// JSON of at most `max_chars` characters: as it is if it is short. Otherwise, of an object, the first of the `main`
    /// members that it has, cut to what fits, and then the others that fit whole, the shortest first; what is left goes to the
    /// start of the next one, if that is worth a look.
    pub fn summarise(&self, main: &[&str], max_chars: usize) -> Redacted<Value> {
        let fits = |value: &Value| value.to_string().chars().count() <= max_chars;
        if fits(self) {
            return self.clone();
        }
        let Value::Object(all) = &**self else {
            return Redacted(fitted(text_of(self), max_chars.saturating_sub(2)).into());
        };
        let place = |name: &str| main.iter().position(|main| *main == name).unwrap_or(main.len());
        let mut members: Vec<(&String, &Value)> = all.iter().collect();
        members.sort_by_cached_key(|(name, value)| (place(name), value.to_string().len()));
        let mut shown = Value::Object(Map::new());
        for (rank, (name, value)) in members.iter().enumerate() {
            shown[name.as_str()] = (*value).clone();
            if fits(&shown) {
                continue;
            }
            shown[name.as_str()] = "".into();
            let left = max_chars.saturating_sub(shown.to_string().chars().count());
            let short = fitted(text_of(value), left);
            match (rank, short.is_empty()) {
                (0, false) => shown[name.as_str()] = short.into(),
                (_, false) if short.chars().count() >= LEAST_START => shown[name.as_str()] = short.into(),
                (0, true) => {
                    return Redacted(fitted(self.to_string().into(), max_chars.saturating_sub(2)).into());
                }
                _ => drop(shown.as_object_mut().and_then(|shown| shown.remove(name.as_str()))),
            }
        }
        Redacted(shown)
    }
}

/// A string's own text, or the text of any other JSON.
fn text_of(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| value.to_string().into(), Cow::Borrowed)
}

/// The start of a text that takes at most this many characters inside a JSON string, with `…` where it is cut.
fn fitted(text: Cow<'_, str>, max_chars: usize) -> String {
    let width = |text: &str| Value::from(text).to_string().chars().count() - 2;
    if width(&text) <= max_chars {
        return text.into_owned();
    }
    let mut start = String::new();
    let mut left = max_chars.saturating_sub(1);
    for letter in text.chars() {
        let needed = width(letter.encode_utf8(&mut [0; 4]));
        if needed > left {
            break;
        }
        left -= needed;
        start.push(letter);
    }
    if start.is_empty() { start } else { start + "…" }
}

/// A value with texts cut to the characters that are left.
fn shorten_value(value: &Value, left: &mut usize) -> Value {
    match value {
        Value::String(text) => {
            let text = shorten(text, *left);
            *left = left.saturating_sub(text.chars().count());
            text.into()
        }
        Value::Array(items) => {
            let more = items.len().saturating_sub(MAX_MEMBERS);
            let mut shown: Vec<Value> =
                items.iter().take(MAX_MEMBERS).map(|item| shorten_value(item, left)).collect();
            if more > 0 {
                shown.push(format!("… {more} more").into());
            }
            shown.into()
        }
        Value::Object(members) => {
            let more = members.len().saturating_sub(MAX_MEMBERS);
            let mut shown = Map::new();
            // The short ones first, so that a path is not lost to the content of a file before it.
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_cached_key(|(_, value)| value.to_string().len());
            for (name, value) in members.into_iter().take(MAX_MEMBERS) {
                *left = left.saturating_sub(name.chars().count());
                shown.insert(name.clone(), shorten_value(value, left));
            }
            if more > 0 {
                shown.insert("…".to_owned(), format!("{more} more").into());
            }
            shown.into()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            *left = left.saturating_sub(8);
            value.clone()
        }
    }
}

fn shorten(text: &str, max_chars: usize) -> String {
    if end_of_chars(text, max_chars) == text.len() {
        return text.to_owned();
    }
    format!("{}…", &text[..end_of_chars(text, max_chars.saturating_sub(1))])
}

/// Where the first `count` characters end.
fn end_of_chars(text: &str, count: usize) -> usize {
    text.char_indices().nth(count).map_or(text.len(), |(end, _)| end)
}
