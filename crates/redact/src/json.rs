//! Secrets out of JSON: in its texts, in its keys, and in values that their key announces.

use serde_json::{Map, Value};

use crate::{Redact, Redacted, Redactor, names};

/// Arrays and objects deeper than this are shown as the redacted text of their JSON.
const MAX_DEPTH: usize = 64;

/// `value` without secrets. Texts that the outermost object has under one of the names in `ids` stay as they are: callers
/// pass ids back, and an id looks as random as a secret.
pub fn redact_json(value: Value, ids: &[&str]) -> Redacted<Value> {
    let Value::Object(mut members) = value else { return Redacted(redact_value("", value, MAX_DEPTH)) };
    let kept: Vec<(String, Value)> = ids
        .iter()
        .filter_map(|id| {
            members.get_mut(*id).filter(|value| value.is_string()).map(|value| (id, value.take()))
        })
        .map(|(id, value)| ((*id).to_owned(), value))
        .collect();
    let mut members = redact_members("", members, MAX_DEPTH);
    members.extend(kept);
    Redacted(Value::Object(members))
}

impl Redact for Value {
    fn redact(&mut self) {
        *self = redact_json(self.take(), &[]).into_inner();
    }
}

fn redact_value(name: &str, value: Value, depth: usize) -> Value {
    match value {
        Value::String(text) => Redactor::standard().redact_named(name, &text).into_owned().into(),
        Value::Array(_) | Value::Object(_) if depth == 0 => Redacted::from(value.to_string()).into(),
        Value::Array(items) => redact_items(name, items, depth),
        Value::Object(members) => Value::Object(redact_members(name, members, depth)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// The items of an array are named by the array's key, or by an option before them that announces a secret:
/// `["--token", "…"]`.
fn redact_items(name: &str, items: Vec<Value>, depth: usize) -> Value {
    let mut option: Option<String> = None;
    let redact = |item: Value| {
        let announces =
            |text: &&str| text.starts_with("--") && names::announced_kind(text.as_bytes()).is_some();
        let next = item.as_str().filter(announces).map(str::to_owned);
        let named = std::mem::replace(&mut option, next);
        redact_value(named.as_deref().unwrap_or(name), item, depth - 1)
    };
    items.into_iter().map(redact).collect()
}

/// The members of the object under `name`. Their `value` is named by their `name`, as in lists of environment variables:
/// `{"name": "API_TOKEN", "value": "…"}`, or else by the object's: `{"db_password": {"value": "…"}}`.
fn redact_members(name: &str, members: Map<String, Value>, depth: usize) -> Map<String, Value> {
    let described = ["name", "key"].iter().find_map(|key| members.get(*key)?.as_str());
    let described = described.or((!name.is_empty()).then_some(name)).map(str::to_owned);
    let mut redacted = Map::new();
    for (number, (key, value)) in members.into_iter().enumerate() {
        let name = described.as_deref().filter(|_| key == "value").unwrap_or(&key);
        let value = redact_value(name, value, depth - 1);
        let mut key = Redacted::from(key).into_inner();
        // Two keys may become the same mark; neither value may be lost.
        while redacted.contains_key(&key) {
            key.push_str(&format!(" {number}"));
        }
        redacted.insert(key, value);
    }
    redacted
}
