//! What redaction does to JSON: keys, values, and values that their key announces.

use serde_json::{Value, json};
use tamis_redact::{Redacted, redact_json};

/// Put together here, so that no scanner takes this file for a leak.
fn token() -> String {
    format!("{}_{}", "ghp", "a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f")
}

#[test]
fn keys_texts_and_announced_values_are_redacted() {
    let token = token();
    for (value, expected) in [
        (json!({&token: 1}), json!({"[redacted:github-token]": 1})),
        (json!([[&token]]), json!([["[redacted:github-token]"]])),
        (json!(&token), json!("[redacted:github-token]")),
        (json!({"password": "tr0ub4dor&3x"}), json!({"password": "[redacted:password]"})),
        (
            json!({"passwords": 1, "password": ["tr0ub4dor&3x"]}),
            json!({"passwords": 1, "password": ["[redacted:password]"]}),
        ),
        (
            json!({"env": [{"name": "DB_PASSWORD", "value": "tr0ub4dor&3x"}]}),
            json!({"env": [{"name": "DB_PASSWORD", "value": "[redacted:password]"}]}),
        ),
        (
            json!({"db_password": {"type": "string", "value": "tr0ub4dor&3x"}}),
            json!({"db_password": {"type": "string", "value": "[redacted:password]"}}),
        ),
        (
            json!({"argv": ["--password", "tr0ub4dor&3x", "run"]}),
            json!({"argv": ["--password", "[redacted:password]", "run"]}),
        ),
        (
            json!({"n": [1, true, null], "commit": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"}),
            json!({"n": [1, true, null], "commit": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"}),
        ),
    ] {
        assert_eq!(*redact_json(value.clone(), &[]), expected);
        assert_eq!(*Redacted::new(value), expected);
    }
}

#[test]
fn ids_stay_where_the_caller_names_them() {
    let value = json!({"call_id": token(), "arguments": {"call_id": token()}});
    let redacted = redact_json(value, &["call_id", "missing"]);
    assert_eq!(*redacted, json!({"call_id": token(), "arguments": {"call_id": "[redacted:github-token]"}}));
    let nested = redact_json(json!({"call_id": {"x": token()}}), &["call_id"]);
    assert_eq!(*nested, json!({"call_id": {"x": "[redacted:github-token]"}}), "only a text is an id");
}

#[test]
fn keys_that_become_the_same_mark_keep_their_values() {
    let value = json!({token(): "a", token().replace("a8Kd", "b9Le"): "b", "[redacted:github-token]": "c"});
    let redacted = redact_json(value, &[]);
    let mut values: Vec<&Value> =
        redacted.as_object().into_iter().flat_map(|members| members.values()).collect();
    values.sort_by_key(|value| value.as_str());
    assert_eq!(values, ["a", "b", "c"]);
}

#[test]
fn what_is_too_deep_becomes_redacted_text() {
    let mut value = json!({"password": "tr0ub4dor&3x", "key": token()});
    for _ in 0..100 {
        value = json!([value]);
    }
    let text = redact_json(value, &[]).to_string();
    assert!(!text.contains("a8Kd") && !text.contains("tr0ub"), "{text}");
}

#[test]
fn an_option_that_announces_nothing_leaves_the_arrays_own_name() {
    let redacted = redact_json(json!({"password": ["--x", "tr0ub4dor&3x"]}), &[]);
    assert_eq!(*redacted, json!({"password": ["--x", "[redacted:password]"]}));
}
