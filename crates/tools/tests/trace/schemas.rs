//! What clients see of the tools.

use serde_json::{Map, Value};
use tamis_tools::{Access, Registry, Toolset};

const NAMES: [&str; 11] = [
    "list_sessions",
    "get_project_info",
    "get_session_details",
    "analyze_session",
    "list_turns",
    "get_turns",
    "search_event_previews",
    "get_event_details",
    "get_reasoning_chain",
    "compare_sessions",
    "search_events",
];

/// Clients warn about types that are nullable and about formats, and models need to know what each parameter is.
fn check(schema: &Map<String, Value>, place: &str) {
    for name in ["format", "$ref", "$schema", "anyOf", "oneOf", "default"] {
        assert!(!schema.contains_key(name), "{place} has {name}");
    }
    assert!(schema["type"].is_string(), "{place} is of one type: {schema:?}");
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let property = property.as_object().unwrap();
        assert!(property.contains_key("description"), "{place}.{name} is described");
        check(property, &format!("{place}.{name}"));
    }
    if let Some(Value::Object(items)) = schema.get("items") {
        check(items, &format!("{place}[]"));
    }
}

#[test]
fn schemas_are_plain_and_described() {
    let registry = Registry::all().only(&[Toolset::Trace]);
    let names: Vec<&str> = registry.list(Access::Full).map(|tool| tool.name).collect();
    assert_eq!(names, NAMES);
    assert_eq!(registry.list(Access::Open).count(), 0, "past sessions are nobody's without the token");
    for tool in registry.list(Access::Full) {
        check(&tool.input_schema, tool.name);
        assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
        assert!(tool.description.contains(" KB"), "{} says how large its answers are", tool.name);
    }
    let limit = registry.list(Access::Full).next().unwrap().input_schema["properties"]["limit"].clone();
    assert_eq!((&limit["minimum"], &limit["maximum"]), (&1.into(), &50.into()));
}
