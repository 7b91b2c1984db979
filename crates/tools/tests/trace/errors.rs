//! Every error that the contract names, in its words.

use serde_json::{Value, json};
use tamis_sieve::Caller;
use tamis_tools::{Access, Context, Reply};

use crate::fixture::{Fixture, Log, START, run, small};

fn fixture() -> Fixture {
    Fixture::new(&[
        small("fb3cff44-13ae-41a6-a6df-f287e0552835", START),
        small("fb3a1b2c-13ae-41a6-a6df-f287e0552835", START),
        small("fb3d9e8f-13ae-41a6-a6df-f287e0552835", START),
    ])
}

#[test]
fn an_unknown_session_is_an_error() {
    let fixture = fixture();
    let expected = json!({
        "code": "session_not_found",
        "message": "Session not found: fb3c0",
        "details": {"session_id": "fb3c0"},
        "retryable": false,
    });
    for (tool, arguments) in [
        ("get_session_details", json!({"session_id": "fb3c0"})),
        ("get_event_details", json!({"session_id": "fb3c0", "event_index": 0})),
        ("analyze_session", json!({"session_id": "fb3c0"})),
        ("list_turns", json!({"session_id": "fb3c0"})),
        ("get_turns", json!({"session_id": "fb3c0", "turns": [0]})),
        ("get_reasoning_chain", json!({"session_id": "fb3c0"})),
        ("search_event_previews", json!({"query": "x", "session_id": "fb3c0"})),
        ("compare_sessions", json!({"id1": "fb3cff44", "id2": "fb3c0"})),
    ] {
        assert_eq!(fixture.fail(tool, arguments), expected, "{tool}");
    }
}

#[test]
fn a_prefix_of_several_sessions_is_ambiguous() {
    assert_eq!(
        fixture().fail("get_session_details", json!({"session_id": "fb3"})),
        json!({
            "code": "ambiguous_session_prefix",
            "message": "Session ID prefix 'fb3' matches 3 sessions. Provide more characters.",
            "details": {"prefix": "fb3", "matches": ["fb3a1b2c", "fb3cff44", "fb3d9e8f"]},
            "retryable": false,
        })
    );
}

#[test]
fn an_event_past_the_last_is_an_error() {
    assert_eq!(
        fixture().fail("get_event_details", json!({"session_id": "fb3cff44", "event_index": 999})),
        json!({
            "code": "invalid_event_index",
            "message": "Event index 999 out of bounds for session fb3cff44 (max: 16)",
            "details": {"session_id": "fb3cff44", "requested_index": 999, "max_index": 16},
            "retryable": false,
        })
    );
}

#[test]
fn invalid_parameters_are_named() {
    let fixture = fixture();
    let message_of = |tool: &str, arguments: Value| {
        let error = fixture.fail(tool, arguments);
        assert_eq!(
            (&error["code"], &error["retryable"]),
            (&json!("invalid_parameter"), &json!(false)),
            "{error}"
        );
        error["message"].as_str().unwrap().to_owned()
    };
    for (tool, arguments, words) in [
        ("list_sessions", json!({"limit": 0}), vec!["limit"]),
        ("list_sessions", json!({"limit": "ten"}), vec!["limit"]),
        (
            "list_sessions",
            json!({"provider": "cursor"}),
            vec!["provider", "claude_code", "codex", "gemini", "opencode"],
        ),
        ("list_sessions", json!({"since": "yesterday"}), vec!["since", "ISO 8601"]),
        ("list_sessions", json!({"fields": ["id", "color"]}), vec!["fields", "color", "snippet"]),
        ("list_sessions", json!({"projekt": "x"}), vec!["projekt", "project_hash"]),
        ("list_sessions", json!([1]), vec!["expected an object, got an array"]),
        ("get_session_details", json!({}), vec!["session_id"]),
        (
            "get_session_details",
            json!({"session_id": "fb3cff44", "detail_level": "all"}),
            vec!["detail_level", "summary", "turns", "steps", "full"],
        ),
        (
            "get_session_details",
            json!({"session_id": "fb3cff44", "turn": 7}),
            vec!["there is no turn 7; the last is 1"],
        ),
        (
            "get_session_details",
            json!({"session_id": "fb3cff44", "turn": 0, "from_turn": 1}),
            vec!["not both"],
        ),
        ("get_turns", json!({"session_id": "fb3cff44", "turns": []}), vec!["turns", "1 to 50"]),
        ("get_event_details", json!({"session_id": "fb3cff44", "event_index": -1}), vec!["event_index"]),
        ("search_event_previews", json!({"query": ""}), vec!["query"]),
        ("search_event_previews", json!({"query": "(", "mode": "regex"}), vec!["regular expression"]),
        (
            "search_event_previews",
            json!({"query": "a", "event_type": "Tool"}),
            vec!["event_type", "ToolCall", "Notification"],
        ),
        ("search_events", json!({"pattern": "  "}), vec!["empty"]),
    ] {
        let message = message_of(tool, arguments.clone());
        for word in words {
            assert!(message.contains(word), "{tool} {arguments}: {message}");
        }
    }
}

#[test]
fn details_have_the_name_of_the_parameter_in_the_schema() {
    let fixture = fixture();
    for (tool, arguments, parameter, detail) in [
        ("get_session_details", json!({}), "session_id", "missing field `session_id`"),
        (
            "get_turns",
            json!({"session_id": "fb3cff44", "turns": [0, 7]}),
            "turns",
            "there is no turn 7; the last is 1",
        ),
        (
            "get_reasoning_chain",
            json!({"session_id": "fb3cff44", "turn": 7}),
            "turn",
            "there is no turn 7; the last is 1",
        ),
        (
            "list_sessions",
            json!({"since": "2026-02-01", "until": "2026-01-31"}),
            "until",
            "it is before since, so no session can match",
        ),
        (
            "search_event_previews",
            json!({"query": "a", "since": "2026-02", "until": "2026-01-31T23:59:59Z"}),
            "until",
            "it is before since, so no session can match",
        ),
        (
            "list_sessions",
            json!({"min_tokens": 5, "max_tokens": 4}),
            "max_tokens",
            "it is less than min_tokens, so nothing can match",
        ),
        (
            "list_turns",
            json!({"session_id": "fb3cff44", "min_tokens": 5, "max_tokens": 4}),
            "max_tokens",
            "it is less than min_tokens, so nothing can match",
        ),
        (
            "search_event_previews",
            json!({"query": "a", "min_tokens": 5, "max_tokens": 4}),
            "max_tokens",
            "it is less than min_tokens, so nothing can match",
        ),
        ("search_event_previews", json!({"query": " "}), "query", "is empty"),
        ("search_events", json!({"pattern": " "}), "pattern", "is empty"),
        ("list_sessions", json!({"provider": 5}), "provider", "provider: expected a string, got a number"),
    ] {
        let error = fixture.fail(tool, arguments.clone());
        assert_eq!(
            error["details"],
            json!({"parameter": parameter, "detail": detail}),
            "{tool} {arguments}: {error}"
        );
    }
}

#[test]
fn a_cursor_of_another_call_is_refused() {
    let fixture = fixture();
    let page = fixture.ask("list_sessions", json!({"limit": 1}));
    let cursor = &page["pagination"]["next_cursor"];
    for (tool, arguments) in [
        ("list_sessions", json!({"limit": 1, "cursor": "eyJvZmZzZXQiOjEwfQ=="})),
        ("list_sessions", json!({"limit": 1, "cursor": cursor, "provider": "claude_code"})),
        ("list_turns", json!({"session_id": "fb3cff44", "cursor": cursor})),
        ("search_event_previews", json!({"query": "build", "cursor": cursor})),
        ("get_event_details", json!({"session_id": "fb3cff44", "event_index": 0, "cursor": cursor})),
        ("get_reasoning_chain", json!({"session_id": "fb3cff44", "cursor": cursor})),
        ("get_turns", json!({"session_id": "fb3cff44", "turns": [0], "cursor": cursor})),
        ("get_project_info", json!({"cursor": cursor})),
    ] {
        let error = fixture.fail(tool, arguments);
        assert_eq!(
            (&error["code"], &error["retryable"]),
            (&json!("invalid_cursor"), &json!(false)),
            "{tool}"
        );
    }
    let other_limit = fixture.ask("list_sessions", json!({"limit": 50, "cursor": cursor, "fields": ["id"]}));
    assert_eq!(other_limit["pagination"]["total_in_page"], 2, "the length of pages may change");
}

#[test]
fn a_deleted_log_is_a_retryable_error() {
    let log = small("aaaaaaaa-13ae-41a6-a6df-f287e0552835", START);
    let fixture = Fixture::new(std::slice::from_ref(&log));
    fixture.ask("list_sessions", json!({}));
    std::fs::remove_file(fixture.path(&log)).unwrap();
    // The list is of a second ago, and the log is read now.
    let error =
        fixture.call("get_event_details", json!({"session_id": "aaaaaaaa", "event_index": 0})).body["error"]
            .clone();
    assert!(["internal_error", "session_not_found"].contains(&error["code"].as_str().unwrap()), "{error}");
    assert!(error["code"] == "session_not_found" || error["retryable"] == true);
}

#[test]
fn unknown_tools_and_cancelled_calls_are_json_rpc_errors() {
    let fixture = Fixture::new(&[Log::new("aaaaaaaa-13ae-41a6-a6df-f287e0552835", START).user("a")]);
    let context = || Context::new(fixture.services(), Caller::default(), Access::Full);
    let Reply::Error(unknown) = run("list_all", json!({}), context()) else { panic!() };
    assert_eq!((unknown.code, unknown.data.unwrap()["code"].clone()), (-32602, json!("unknown_tool")));
    let gone = context();
    gone.cancellation.cancel();
    let Reply::Error(cancelled) = run("list_sessions", json!({}), gone) else { panic!() };
    assert_eq!(cancelled.data.unwrap()["code"], "cancelled");
}
