//! Texts as answers show them: without secrets, then cut.
//!
//! The order matters: half a secret looks like none, so a text is cut only after the secrets are out. Where only its
//! beginning is shown, only that is looked at, and so much more that a secret which begins there ends there too.

use jiff::Timestamp;
use serde_json::{Map, Value};
use tamis_logs::event::{EventKind, Millis};
use tamis_redact::Redactor;

/// Bytes beyond what is shown that are looked at for secrets. The longest, a private key, has a few thousand.
const BEYOND: usize = 16 << 10;
/// Members of an array or object that are shown when it is cut.
const MOST_MEMBERS: usize = 40;
/// JSON is looked into this deep.
const DEEPEST: usize = 64;

/// A time as the contract writes it.
pub(crate) fn time(at: Option<Millis>) -> Value {
    let time = at.and_then(|at| Timestamp::from_millisecond(at).ok());
    time.map_or(Value::Null, |time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into())
}

/// What an event is, where the contract's types do not tell it from others.
pub(crate) fn finer_kind(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::SlashCommand => Some("slash_command"),
        EventKind::Summary => Some("summary"),
        _ => None,
    }
}

/// The whole text without its secrets.
pub(crate) fn redacted(text: &str) -> String {
    Redactor::standard().redact(text).into_owned()
}

/// The first characters of a text, without secrets. An ellipsis, which counts, says that there is more.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    let shown = text.char_indices().nth(most + 1).map_or(text.len(), |(end, _)| end);
    let seen = &text[..text.floor_char_boundary(shown + BEYOND)];
    cut(&Redactor::standard().redact(seen), most)
}

/// The first characters of a text that has no secrets any more.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.char_indices().nth(most).is_none() {
        return text.to_owned();
    }
    let mut shown: String = text.chars().take(most.saturating_sub(1)).collect();
    shown.push('…');
    shown
}

/// JSON without secrets: in each text, and where a member's name says that its value is one.
pub(crate) fn redacted_value(value: Value) -> Value {
    redact_member("", value, DEEPEST)
}

/// An event's payload without secrets. Its call's id is no secret, however drawn it looks.
pub(crate) fn redacted_payload(mut payload: Value) -> Value {
    let id = payload.as_object_mut().and_then(|payload| payload.remove("call_id"));
    let mut payload = redacted_value(payload);
    if let Some(id) = id {
        payload["call_id"] = id;
    }
    payload
}

fn redact_member(name: &str, value: Value, depth: usize) -> Value {
    match value {
        Value::String(text) => Redactor::standard().redact_named(name, &text).into_owned().into(),
        Value::Array(_) | Value::Object(_) if depth == 0 => redacted(&value.to_string()).into(),
        Value::Array(items) => items.into_iter().map(|item| redact_member(name, item, depth - 1)).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(key, value)| {
                let value = redact_member(&key, value, depth - 1);
                (Redactor::standard().redact(&key).into_owned(), value)
            })
            .collect(),
        other => other,
    }
}

/// JSON without secrets in about so many characters: as it is if it is short, else with its texts cut.
pub(crate) fn outlined(value: Value, most: usize) -> Value {
    let value = redacted_value(value);
    if value.to_string().chars().count() <= most {
        return value;
    }
    let mut left = most;
    let outline = cut_value(value, &mut left);
    // Names and punctuation can be too much by themselves.
    match outline.to_string() {
        text if text.chars().count() > most * 2 => cut(&text, most).into(),
        _ => outline,
    }
}

fn cut_value(value: Value, left: &mut usize) -> Value {
    match value {
        Value::String(text) => {
            let text = cut(&text, *left);
            *left = left.saturating_sub(text.chars().count());
            text.into()
        }
        Value::Array(items) => {
            let more = items.len().saturating_sub(MOST_MEMBERS);
            let mut shown: Vec<Value> =
                items.into_iter().take(MOST_MEMBERS).map(|item| cut_value(item, left)).collect();
            if more > 0 {
                shown.push(format!("… {more} more").into());
            }
            shown.into()
        }
        Value::Object(members) => {
            let more = members.len().saturating_sub(MOST_MEMBERS);
            let mut shown = Map::new();
            // The short ones first, so that a path is not lost to a file's content that stands before it.
            let mut members: Vec<(String, Value)> = members.into_iter().collect();
            members.sort_by_key(|(_, value)| value.to_string().len());
            for (name, value) in members.into_iter().take(MOST_MEMBERS) {
                *left = left.saturating_sub(name.chars().count());
                shown.insert(name, cut_value(value, left));
            }
            if more > 0 {
                shown.insert("…".to_owned(), format!("{more} more").into());
            }
            shown.into()
        }
        other => {
            *left = left.saturating_sub(8);
            other
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Put together here, so that nobody's scanner takes this file for a leak.
    fn secret() -> String {
        format!("{}_{}", "ghp", "a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f")
    }

    #[test]
    fn secrets_go_before_the_cut() {
        let text = format!("{} {} after", "x".repeat(180), secret());
        for most in 150..260 {
            let shown = beginning(&text, most);
            assert!(shown.chars().count() <= most);
            assert!(!shown.contains("a8Kd"), "{most}: {shown}");
        }
        assert!(beginning(&text, 300).ends_with("[redacted:github-token] after"));
    }

    #[test]
    fn json_loses_its_secrets_and_keeps_its_form() {
        let value = json!({"command": format!("curl -H 'Authorization: Bearer {}'", secret()), "password": "hunter2hunter2X9", "n": [1, true, null]});
        let shown = redacted_value(value);
        let text = shown.to_string();
        assert!(!text.contains("a8Kd") && !text.contains("hunter2"), "{text}");
        assert_eq!(shown["n"], json!([1, true, null]));
    }

    #[test]
    fn long_json_is_cut_at_its_texts() {
        let value = json!({"content": "c".repeat(5000), "file_path": "/repo/src/main.rs"});
        let shown = outlined(value, 100);
        assert_eq!(shown["file_path"], "/repo/src/main.rs");
        assert!(shown.to_string().len() < 200, "{shown}");
        let many: Value = (0..5000).map(|number| json!({"name": number})).collect();
        assert!(outlined(many, 100).to_string().chars().count() <= 202);
        assert_eq!(outlined(json!({"a": 1}), 100), json!({"a": 1}));
    }
}
