//! Whose log a file is, however it begins.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::ops::ControlFlow;

use serde_json::{Value, json};
use tamis_clients::Client;
use tamis_logs::discovery::LogLocations;
use tamis_store::DataDir;
use tamis_trace::Trace;

const AT: &str = "2026-01-01T00:00:00Z";

fn claude(text: &str) -> Value {
    json!({"type": "user", "sessionId": "s1", "uuid": "u1", "timestamp": AT, "message": {"role": "user", "content": text}})
}

fn codex_meta(instructions: &str) -> Value {
    json!({"timestamp": AT, "type": "session_meta", "payload": {"id": "c1", "timestamp": AT, "cwd": "/w", "instructions": instructions}})
}

fn codex(text: &str) -> Value {
    json!({"timestamp": AT, "type": "event_msg", "payload": {"type": "user_message", "message": text}})
}

fn gemini() -> Value {
    json!({"sessionId": "g1", "projectHash": "ab", "startTime": AT, "messages": [
        {"id": "m1", "timestamp": AT, "type": "user", "content": "a wish"}]})
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// The provider that a log is taken for, its events, and what of it was not understood.
type Taken = (Option<Client>, u64, u64);

fn taken_for(name: &str, content: &[u8]) -> Taken {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let trace = Trace::new(LogLocations::only(vec![path]), DataDir::at(folder.path().join("data")));
    trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
    let logs = trace.logs().unwrap();
    assert_eq!(logs.len(), 1);
    let sessions = trace.sessions(&Default::default(), None, 10).unwrap();
    let events = sessions.iter().map(|session| session.summary.events).sum();
    let unrecognised = sessions.iter().flat_map(|session| session.summary.unrecognised.values()).sum();
    (logs[0].format.provider(), events, unrecognised)
}

#[test]
fn a_log_is_known_however_it_begins() {
    let (is_claude, is_codex) = (Some(Client::ClaudeCode), Some(Client::Codex));
    let long = "x".repeat(700_000);
    let snapshot = json!({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}});
    let mode = json!({"type": "permission-mode", "permissionMode": "plan", "sessionId": "s1"});
    let foreign = json!({"anything": 1});
    let cases: Vec<(&str, String, Taken)> = vec![
        (
            "a mark before Claude Code's",
            format!("\u{feff}{}", lines(&[claude("a"), claude("b")])),
            (is_claude, 2, 0),
        ),
        (
            "a mark before Codex's",
            format!("\u{feff}{}", lines(&[codex_meta("i"), codex("b")])),
            (is_codex, 1, 0),
        ),
        (
            "only what was used",
            lines(&[json!({
                "timestamp": "2026-01-02T00:00:00Z", "sessionId": "s1", "requestId": "r1", "costUSD": 0.1,
                "message": {"role": "assistant", "id": "m1", "model": "opus", "usage": {"input_tokens": 1, "output_tokens": 2}},
            })]),
            (is_claude, 1, 0),
        ),
        ("carriage returns", lines(&[claude("a"), claude("b")]).replace('\n', "\r\n"), (is_claude, 2, 0)),
        ("a long first record of Claude Code", lines(&[claude(&long), claude("b")]), (is_claude, 2, 0)),
        ("a long only record", claude(&long).to_string(), (is_claude, 1, 0)),
        ("a long first record of Codex", lines(&[codex_meta(&long), codex("b")]), (is_codex, 1, 0)),
        ("snapshots first", lines(&[vec![snapshot; 25], vec![claude("a")]].concat()), (is_claude, 1, 0)),
        ("modes first", lines(&[vec![mode; 25], vec![claude("a")]].concat()), (is_claude, 1, 0)),
        ("something else first", lines(&[vec![foreign; 30], vec![claude("a")]].concat()), (is_claude, 1, 30)),
        ("words first", format!("{}{}", "words\n".repeat(3000), claude("a")), (is_claude, 1, 3000)),
    ];
    for (what, log, expected) in cases {
        assert_eq!(taken_for("log.jsonl", log.as_bytes()), expected, "{what}");
        let compressed = zstd::encode_all(log.as_bytes(), 1).unwrap();
        assert_eq!(taken_for("log.jsonl.zst", &compressed), expected, "{what}, compressed");
    }
    for document in [gemini().to_string(), serde_json::to_string_pretty(&gemini()).unwrap()] {
        let document = format!("\u{feff}{document}");
        assert_eq!(taken_for("session-1.json", document.as_bytes()), (Some(Client::Gemini), 1, 0));
    }
}

#[test]
fn what_is_nobodys_log_is_taken_for_none() {
    let telemetry = json!({"uuid": "1", "sessionId": "q", "timestamp": AT, "type": "system", "subtype": "ui_telemetry", "systemPayload": {}});
    let parts = json!({"uuid": "2", "sessionId": "q", "timestamp": AT, "type": "user", "message": {"role": "user", "parts": [{"text": "hi"}]}});
    let cases = [
        ("Qwen Code's", lines(&[telemetry, parts.clone()])),
        ("Qwen Code's messages", lines(&[parts])),
        (
            "Cursor's",
            lines(&[json!({"role": "user", "message": {"content": [{"type": "text", "text": "hi"}]}})]),
        ),
        (
            "Pi's",
            lines(&[
                json!({"type": "session", "version": 3, "id": "p", "timestamp": AT, "cwd": "/w"}),
                json!({"type": "message", "id": "m", "parentId": null, "timestamp": AT, "message": {"role": "user", "content": "hi"}}),
            ]),
        ),
        (
            "Copilot's",
            lines(&[
                json!({"type": "session.start", "data": {"sessionId": "x", "startTime": AT}, "id": "1", "timestamp": AT, "parentId": null}),
                json!({"type": "user.message", "data": {"content": "hi"}, "id": "2", "timestamp": AT}),
            ]),
        ),
        ("a form", json!({"type": "user", "name": "x", "message": "hi"}).to_string()),
        ("a configuration", "{\n  \"hooks\": {},\n  \"model\": \"x\"\n}\n".to_owned()),
        ("a list", "[{\"sessionId\": \"a\", \"type\": \"user\", \"message\": \"x\"}]".to_owned()),
        ("nothing", String::new()),
        ("space", "\n \n\r\n".to_owned()),
        ("zeros", "\0".repeat(5000)),
    ];
    for (what, log) in cases {
        assert_eq!(taken_for("log.jsonl", log.as_bytes()), (None, 0, 0), "{what}");
    }
}
