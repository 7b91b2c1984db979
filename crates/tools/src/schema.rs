//! JSON Schemas of inputs, as plain as the contracts print them.
//!
//! No `$schema`, no titles, no references and no `format`: Gemini CLI and OpenCode warn about `uint` formats, and
//! the contracts' schemas have none of it.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, RemoveRefSiblings, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

pub(crate) fn of<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(RemoveRefSiblings::default()).transform(&mut schema);
    RecursiveTransform(|schema: &mut Schema| {
        schema.remove("format");
        schema.remove("title");
        // Of what may be left out, it says nothing more, and that it may be null is not said.
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
    })
    .transform(&mut schema);
    match schema.to_value() {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Where `value` is not of the type that the schema says, in words. Only types: what else is wrong, deserialising tells.
/// It would take an array for an object, though, and a map for an enum.
pub(crate) fn mismatch(schema: &Map<String, Value>, value: &Value) -> Option<String> {
    let wrong = match (schema.get("type").and_then(Value::as_str), value) {
        (Some("object"), Value::Object(_)) => None,
        (Some("object"), _) => Some("an object"),
        (Some("array"), Value::Array(_)) => None,
        (Some("array"), _) => Some("an array"),
        (Some("string"), Value::Object(_) | Value::Array(_)) => Some("a string"),
        // Of an enum, deserialising would say that it may be a map.
        (Some("string"), Value::Number(_) | Value::Bool(_)) if schema.contains_key("enum") => {
            Some("a string")
        }
        _ => None,
    };
    if let Some(wanted) = wrong {
        return Some(format!("{} is given where {wanted} is expected", kind(value)));
    }
    let inner = |schema: Option<&Value>, value: &Value, place: &str| {
        let found = mismatch(schema?.as_object()?, value)?;
        Some(match found.split_once(": ") {
            Some((deeper, rest)) => format!("{place}.{deeper}: {rest}"),
            None => format!("{place}: {found}"),
        })
    };
    match value {
        Value::Object(members) => {
            let properties = schema.get("properties")?;
            let required = schema.get("required").and_then(Value::as_array);
            // Models write null for what they leave out. Whoever does not take that says so.
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

    #[test]
    fn arrays_are_no_objects_and_objects_no_strings() {
        let schema = json!({
            "type": "object",
            "properties": {
                "kind": {"type": "string"},
                "options": {"type": "object", "properties": {"name": {"type": "string"}}},
                "ranges": {"type": "array", "items": {"type": "object"}},
            },
        });
        let said = |value: Value| mismatch(schema.as_object().unwrap(), &value);
        assert_eq!(said(json!({"kind": "x", "options": {"name": 3}, "ranges": [{}], "more": []})), None);
        assert_eq!(said(json!([])).unwrap(), "an array is given where an object is expected");
        assert_eq!(
            said(json!({"options": [1]})).unwrap(),
            "options: an array is given where an object is expected"
        );
        assert_eq!(
            said(json!({"options": {"name": {"a": null}}})).unwrap(),
            "options.name: an object is given where a string is expected"
        );
        assert_eq!(
            said(json!({"ranges": [{}, [1, 2]]})).unwrap(),
            "ranges.[1]: an array is given where an object is expected"
        );
    }
}
