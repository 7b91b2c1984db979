//! Searching: previews, modes, filters, pages.

use serde_json::{Value, json};

use crate::fixture::{Fixture, Log, START, small};

const ID: &str = "fb3cff44-13ae-41a6-a6df-f287e0552835";

fn matches(fixture: &Fixture, arguments: Value) -> Vec<Value> {
    fixture.ask("search_event_previews", arguments)["data"]["matches"].as_array().unwrap().clone()
}

#[test]
fn each_type_of_event_has_a_preview() {
    let fixture = Fixture::new(&[small(ID, START)]);
    let call = json!({
        "session_id": "fb3cff44",
        "event_index": 4,
        "timestamp": "2026-01-01T21:40:07Z",
        "event_type": "ToolCall",
        "preview": {"tool": "Bash", "arguments": {"command": "cargo build"}},
    });
    let mut found = matches(&fixture, json!({"query": "CARGO build"}));
    let index = found[0]["event_index"].clone();
    found[0]["event_index"] = json!(4);
    assert_eq!(found, [call]);
    let event = fixture.ask("get_event_details", json!({"session_id": "fb3cff44", "event_index": index}));
    assert_eq!(event["payload"]["arguments"], json!({"command": "cargo build"}));
    let found = matches(&fixture, json!({"query": "no such crate"}));
    assert_eq!(found[0]["preview"], json!({"preview": "error: no such crate", "is_error": true}));
    let found = matches(&fixture, json!({"query": "manifest"}));
    assert_eq!(found[0]["preview"], json!({"text": "The manifest names a crate that is not there."}));
    let found = matches(&fixture, json!({"query": "compiler", "event_type": "Reasoning"}));
    assert_eq!(found[0]["preview"], json!({"text": "The compiler must be asked first."}));
    assert_eq!(
        matches(&fixture, json!({"query": "claude-test", "event_type": "TokenUsage", "limit": 1}))[0]["preview"],
        json!({"input": 60, "output": 10})
    );
}

#[test]
fn a_match_outside_of_the_preview_is_shown() {
    let content = format!("{}\nlet needle = \"漢\";\n{}", "line é\n".repeat(300), "more\n".repeat(300));
    let log = Log::new(ID, START).user("go").tool(
        "Write",
        json!({"content": content, "file_path": "/a.rs"}),
        &content,
        false,
    );
    let fixture = Fixture::new(&[log]);
    let found = matches(&fixture, json!({"query": "NEEDLE = \"漢"}));
    assert_eq!(found[0]["preview"]["arguments"]["file_path"], "/a.rs");
    assert!(found[0]["preview"]["match"].as_str().unwrap().contains("let needle = \"漢\";"), "{}", found[0]);
    let shown = found[1]["preview"]["preview"].as_str().unwrap();
    assert!(shown.contains("let needle = \"漢\";") && shown.chars().count() <= 300, "{shown}");
}

#[test]
fn call_ids_are_searched() {
    let fixture = Fixture::new(&[small(ID, START)]);
    for (query, mode) in
        [("toolu-2", "substring"), ("TOOLU-2", "words"), ("toolu.2", "regex"), ("oolu-", "substring")]
    {
        let found = matches(&fixture, json!({"query": query, "mode": mode, "limit": 50}));
        let of_type = |kind: &str| found.iter().filter(|found| found["event_type"] == kind).count();
        let each = if query == "oolu-" { 3 } else { 1 };
        assert_eq!(
            (of_type("ToolCall"), of_type("ToolResult"), found.len()),
            (each, each, 2 * each),
            "{query}"
        );
    }
    let found = matches(&fixture, json!({"query": "toolu-2", "event_type": "ToolCall"}));
    let index = found[0]["event_index"].clone();
    let event = fixture.ask("get_event_details", json!({"session_id": ID, "event_index": index}));
    assert_eq!(event["payload"]["call_id"], "toolu-2");
}

/// The arguments of a call, and the member that its preview must have, cut or not.
#[test]
fn a_preview_has_the_main_argument_in_100_characters_of_json() {
    let long = |letter: &str| letter.repeat(400);
    let path = format!("/home/dev/{}/lib.rs", "folder/".repeat(5));
    for (arguments, main, whole) in [
        (json!({"file_path": "/a.rs", "content": long("x")}), "file_path", true),
        (json!({"content": long("x"), "file_path": path}), "file_path", true),
        (json!({"file_path": long("/deep")}), "file_path", false),
        (json!({"command": long("echo é "), "description": "Say é"}), "command", false),
        (json!({"command": "cargo test", "description": long("d"), "timeout": 600_000}), "command", true),
        (json!({"old_string": long("\n"), "new_string": long("\""), "file_path": "/a"}), "file_path", true),
        (json!({"query": long("\u{1}\"\\"), "limit": 5}), "query", false),
        (json!({"todos": [{"content": long("t")}], "url": "https://example.com"}), "url", true),
        (json!({"prompt": long("漢"), "subagent_type": "x"}), "prompt", false),
        (json!({"zeta": long("z"), "alpha": "short"}), "alpha", true),
        (json!({"only": long("o")}), "only", false),
        (json!({"edits": [{"old": long("o")}]}), "edits", false),
    ] {
        let log = Log::new(ID, START).user("go").tool("Tool", arguments.clone(), "done", false);
        let found = matches(&Fixture::new(&[log]), json!({"query": "Tool", "event_type": "ToolCall"}));
        let shown = &found[0]["preview"]["arguments"];
        let length = shown.to_string().chars().count();
        assert!(length <= 100, "{length}: {shown}");
        let value = &shown[main];
        assert!(!value.is_null(), "{main} is missing from {shown}");
        assert_eq!(value == &arguments[main], whole, "{shown}");
        assert!(whole || length > 90, "{length}: there is room for more of {main} in {shown}");
    }
}

#[test]
fn modes_and_filters_narrow() {
    let other =
        Log::new("0b3cff44-13ae-41a6-a6df-f287e0552835", START + 60_000).user("build the fix").say("No.");
    let fixture = Fixture::new(&[small(ID, START), other]);
    let count = |arguments: Value| matches(&fixture, arguments).len();
    assert_eq!(count(json!({"query": "fix the build"})), 1);
    assert_eq!(count(json!({"query": "the build fix", "mode": "words"})), 2);
    assert_eq!(count(json!({"query": "^(fix|build) the", "mode": "regex"})), 2);
    assert_eq!(count(json!({"query": "the", "session_id": "0b3c"})), 1);
    assert_eq!(count(json!({"query": "the", "event_type": "User", "since": "2026-01-01T21:41:00Z"})), 1);
    assert_eq!(count(json!({"query": "error", "only_failed": true})), 1);
    assert_eq!(count(json!({"query": "fix", "min_tokens": 500, "event_type": "User"})), 1);
    assert_eq!(count(json!({"query": "the", "provider": "gemini"})), 0);
    let latest = &matches(&fixture, json!({"query": "build", "event_type": "User"}))[0];
    assert_eq!(latest["session_id"], "0b3cff44", "the latest session comes first");
}

#[test]
fn every_match_is_on_one_page() {
    let mut logs = Vec::new();
    for number in 0..4 {
        let mut log =
            Log::new(&format!("{number}b3cff44-13ae-41a6-a6df-f287e0552835"), START + number * 60_000);
        for turn in 0..20 {
            log = log.user(&format!("needle {turn} {}", "long ".repeat(200))).say("Needle again");
        }
        logs.push(log);
    }
    let fixture = Fixture::new(&logs);
    for limit in [3, 10, 50] {
        let pages = fixture.pages("search_event_previews", &json!({"query": "needle", "limit": limit}));
        let mut seen: Vec<(String, u64)> = pages
            .iter()
            .flat_map(|page| page.body["data"]["matches"].as_array().unwrap().clone())
            .map(|found| {
                (found["session_id"].as_str().unwrap().to_owned(), found["event_index"].as_u64().unwrap())
            })
            .collect();
        assert_eq!(seen.len(), 160);
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 160);
        assert!(pages.iter().all(|page| page.bytes <= 30_000));
    }
}

#[test]
fn the_old_search_still_works_and_reports_that_it_is_deprecated() {
    let fixture = Fixture::new(&[small(ID, START)]);
    let answer = fixture.ask("search_events", json!({"pattern": "Cargo.toml", "event_type": "ToolCall"}));
    assert_eq!(answer["data"]["matches"][0]["preview"]["tool"], "Read");
    assert!(
        answer["hint"]
            .as_str()
            .unwrap()
            .starts_with("search_events is deprecated: use search_event_previews")
    );
    let full = fixture
        .ask("search_events", json!({"pattern": "cargo build", "include_full_payload": true, "limit": 1}));
    assert_eq!(full["data"]["matches"][0]["payload"]["arguments"], json!({"command": "cargo build"}));
}
