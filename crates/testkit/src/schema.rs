//! What the schemas of tools must be like for every client and model.

use serde_json::{Map, Value};

/// Clients warn about types that are nullable and about formats, and models need to know what each parameter is.
pub fn assert_plain_schema(schema: &Map<String, Value>, place: &str) {
    for name in ["format", "$ref", "$schema", "anyOf", "oneOf", "default"] {
        assert!(!schema.contains_key(name), "{place} has {name}");
    }
    assert!(schema["type"].is_string(), "{place} is of one type: {schema:?}");
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let property = property.as_object().expect("a schema");
        assert!(property.contains_key("description"), "{place}.{name} is described");
        assert_plain_schema(property, &format!("{place}.{name}"));
    }
    if let Some(Value::Object(items)) = schema.get("items") {
        assert_plain_schema(items, &format!("{place}[]"));
    }
}
