//! JSON Schemas of inputs, as plain as the contracts print them, and parsing of inputs against them.
//!
//! No `$schema`, no titles, no references and no `format`: Gemini CLI and OpenCode warn about `uint` formats, and
//! the contracts' schemas have none of it.

use std::fmt;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, RemoveRefSiblings, Transform};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;

use crate::Failure;

pub(crate) fn of<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(RemoveRefSiblings::default()).transform(&mut schema);
    RecursiveTransform(|schema: &mut Schema| {
        schema.remove("format");
        schema.remove("title");
        // The contracts print no default for what may be left out.
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
        // Null counts as left out, since the answers' own `next_cursor` may be null; but clients warn about nullable types.
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                schema.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
    })
    .transform(&mut schema);
    match schema.to_value() {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A value in an input whose type is not the one in the schema.
#[derive(Debug, PartialEq, Eq)]
struct Mismatch {
    /// Names and indexes, outermost first; empty for the input itself.
    path: Vec<String>,
    found: &'static str,
    expected: &'static str,
}

impl Mismatch {
    fn parameter(&self) -> Option<String> {
        let mut parameter = String::new();
        for segment in &self.path {
            // As deserialization writes paths: `issues[0].title`.
            if !parameter.is_empty() && !segment.starts_with('[') {
                parameter.push('.');
            }
            parameter.push_str(segment);
        }
        (!parameter.is_empty()).then_some(parameter)
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parameter) = self.parameter() {
            write!(out, "{parameter}: ")?;
        }
        write!(out, "expected {}, got {}", self.expected, self.found)
    }
}

/// Deserializes an input after checking its types against the schema.
pub(crate) fn parse<T: DeserializeOwned>(schema: &Map<String, Value>, input: Value) -> Result<T, Failure> {
    if let Some(mismatch) = mismatch(schema, &input) {
        return Err(Failure::InvalidInput { parameter: mismatch.parameter(), detail: mismatch.to_string() });
    }
    let missing = missing_parameter(schema, &input);
    serde_path_to_error::deserialize(input).map_err(|error| {
        let is_known = |segment: &Segment| !matches!(segment, Segment::Unknown);
        let path = error.path().iter().any(is_known).then(|| error.path().to_string());
        // A missing parameter has no path in the input; every other error has one.
        Failure::InvalidInput { parameter: path.or(missing), detail: in_json_words(error.to_string()) }
    })
}

/// What is expected in the words of JSON and not of Rust, at the end of a message: the rest of it may quote the input.
fn in_json_words(message: String) -> String {
    for (rust, json) in [
        ("expected string or map", "expected a string"),
        ("expected a sequence", "expected an array"),
        ("expected a map", "expected an object"),
    ] {
        if let Some(before) = message.strip_suffix(rust) {
            return format!("{before}{json}");
        }
    }
    message
}

/// The first parameter that the schema requires and the input lacks.
fn missing_parameter(schema: &Map<String, Value>, input: &Value) -> Option<String> {
    let mut required = schema.get("required")?.as_array()?.iter().filter_map(Value::as_str);
    required.find(|name| input.get(name).is_none()).map(str::to_owned)
}

/// The first value of a wrong type that deserialization would accept (an array for an object) or describe in terms of Rust
/// (a map for an enum). It reports everything else itself.
fn mismatch(schema: &Map<String, Value>, value: &Value) -> Option<Mismatch> {
    let expected = match (schema.get("type").and_then(Value::as_str), value) {
        (Some("object"), Value::Object(_)) => None,
        (Some("object"), _) => Some("an object"),
        (Some("array"), Value::Array(_)) => None,
        (Some("array"), _) => Some("an array"),
        (Some("string"), Value::Object(_) | Value::Array(_)) => Some("a string"),
        // For an enum, the error of deserialization would offer a map, too.
        (Some("string"), Value::Number(_) | Value::Bool(_)) if schema.contains_key("enum") => {
            Some("a string")
        }
        _ => None,
    };
    if let Some(expected) = expected {
        return Some(Mismatch { path: Vec::new(), found: kind(value), expected });
    }
    let inner = |schema: Option<&Value>, value: &Value, name: &str| {
        let mut mismatch = mismatch(schema?.as_object()?, value)?;
        mismatch.path.insert(0, name.to_owned());
        Some(mismatch)
    };
    match value {
        Value::Object(members) => {
            let properties = schema.get("properties")?;
            let required = schema.get("required").and_then(Value::as_array);
            // Models write null for what they leave out. Deserialization rejects it where null is not allowed.
            let left_out = |name: &str, value: &Value| {
                value.is_null() && !required.is_some_and(|names| names.iter().any(|one| one == name))
            };
            members
                .iter()
                .filter(|(name, value)| !left_out(name, value))
                .find_map(|(name, value)| inner(properties.get(name), value, name))
        }
        Value::Array(items) => {
            let schema = schema.get("items");
            items.iter().enumerate().find_map(|(index, value)| inner(schema, value, &format!("[{index}]")))
        }
        _ => None,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, serde::Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only deserialized")]
    struct Input {
        session: String,
        limit: u32,
        options: Vec<Options>,
    }

    #[derive(Debug, serde::Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only deserialized")]
    struct Options {
        name: String,
    }

    #[test]
    fn an_invalid_input_names_the_parameter() {
        let schema = of::<Input>();
        let whole = || json!({"session": "a: b", "limit": 1, "options": [{"name": "x"}]});
        assert!(parse::<Input>(&schema, whole()).is_ok());
        let with = |name: &str, value: Value| {
            let mut input = whole();
            input[name] = value;
            input
        };
        for (input, parameter, detail) in [
            (json!({"limit": 1}), Some("session"), "missing field `session`"),
            (json!({"session": "x", "options": []}), Some("limit"), "missing field `limit`"),
            (
                with("limit", json!("a: b")),
                Some("limit"),
                "limit: invalid type: string \"a: b\", expected u32",
            ),
            (
                with("a: b", json!(1)),
                Some("a: b"),
                "a: b: unknown field `a: b`, expected one of `session`, `limit`, `options`",
            ),
            (with("options", json!([{}])), Some("options[0]"), "options[0]: missing field `name`"),
            (
                with("options", json!([[]])),
                Some("options[0]"),
                "options[0]: expected an object, got an array",
            ),
            (json!([]), None, "expected an object, got an array"),
        ] {
            let (parameter, detail) = (parameter.map(str::to_owned), detail.to_owned());
            let failure = parse::<Input>(&schema, input).unwrap_err();
            assert_eq!(failure, Failure::InvalidInput { parameter, detail });
        }
    }

    #[test]
    fn what_is_expected_is_said_in_the_words_of_json() {
        for (said, shown) in [
            (
                "kind: invalid type: null, expected string or map",
                "kind: invalid type: null, expected a string",
            ),
            (
                "items: invalid type: string \"expected a map\", expected a sequence",
                "items: invalid type: string \"expected a map\", expected an array",
            ),
            ("missing field `title`", "missing field `title`"),
        ] {
            assert_eq!(in_json_words(said.to_owned()), shown);
        }
    }

    #[test]
    fn an_array_is_not_an_object_and_an_object_not_a_string() {
        let schema = json!({
            "type": "object",
            "properties": {
                "kind": {"type": "string"},
                "options": {"type": "object", "properties": {"name": {"type": "string"}}},
                "ranges": {"type": "array", "items": {"type": "object"}},
            },
        });
        let found =
            |value: Value| mismatch(schema.as_object().unwrap(), &value).map(|mismatch| mismatch.to_string());
        assert_eq!(found(json!({"kind": "x", "options": {"name": 3}, "ranges": [{}], "more": []})), None);
        assert_eq!(found(json!([])).unwrap(), "expected an object, got an array");
        assert_eq!(found(json!({"options": [1]})).unwrap(), "options: expected an object, got an array");
        assert_eq!(
            found(json!({"options": {"name": {"a": null}}})).unwrap(),
            "options.name: expected a string, got an object"
        );
        assert_eq!(
            found(json!({"ranges": [{}, [1, 2]]})).unwrap(),
            "ranges[1]: expected an object, got an array"
        );
    }
}
