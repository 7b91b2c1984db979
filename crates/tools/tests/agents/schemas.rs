use serde_json::{Value, json};
use tamis_testkit::assert_plain_schema;
use tamis_tools::{Access, Credentials, Toolset};

use crate::shared_folder::registry;

fn without_descriptions(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(name, value)| *name != "description" || !value.is_string())
            .map(|(name, value)| (name.clone(), without_descriptions(value)))
            .collect(),
        Value::Array(values) => values.iter().map(without_descriptions).collect(),
        other => other.clone(),
    }
}

#[test]
fn the_tools_take_what_the_contract_says() {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let text = json!({"type": "string"});
    let object = |properties: Value, required: Value| {
        let mut object = json!({"type": "object", "properties": properties, "additionalProperties": false});
        if required != json!([]) {
            object["required"] = required;
        }
        object
    };
    let kinds = json!({"type": "string", "enum": ["needs_work", "suggestions", "clarification"]});
    let issue = object(json!({"title": text, "body": text, "labels": texts}), json!(["title", "body"]));
    let wanted = [
        ("request_review", object(json!({"reviewer_prompt": text, "completion_message": text}), json!([]))),
        (
            "send_feedback",
            object(
                json!({"feedback": text, "feedback_type": kinds, "priority": text, "actionable_items": texts}),
                json!(["feedback", "feedback_type"]),
            ),
        ),
        (
            "create_pull_request",
            object(
                json!({"title": text, "description": text, "base_branch": text}),
                json!(["title", "description"]),
            ),
        ),
        ("create_issues", object(json!({"issues": {"type": "array", "items": issue}}), json!(["issues"]))),
    ];
    let registry = registry();
    let found: Vec<(&str, Value)> = registry
        .list(Credentials::ALL)
        .map(|tool| (tool.name, without_descriptions(&Value::Object((*tool.input_schema).clone()))))
        .collect();
    assert_eq!(found, wanted);
    for tool in registry.list(Credentials::ALL) {
        assert_plain_schema(&tool.input_schema, tool.name);
        assert!(!tool.read_only, "{}", tool.name);
    }
}

#[test]
fn the_toolset_is_for_those_with_an_identity() {
    assert_eq!(Toolset::named("agents"), Some(Toolset::Agents));
    for access in [Access::None, Access::Open, Access::Full] {
        assert_eq!(registry().list(access).count(), 0, "{access:?}");
        assert_eq!(registry().list(Credentials { access, has_identity: true }).count(), 4, "{access:?}");
    }
}
