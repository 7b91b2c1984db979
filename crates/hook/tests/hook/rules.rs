//! What holds for every client: secrets, records, markers in files, and hooks that are installed twice.

use std::fs;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use tamis_clients::Client;
use tamis_hook::{Hook, HookCalls, HookOutcome, LeftReason};
use tamis_sieve::is_marker;
use tamis_store::DataDir;

use super::fixture::{Fixture, bash_response, build_log, claude_call, claude_log, now};
use super::other_clients::{gemini_call, gemini_log};

#[test]
fn secrets_are_redacted_if_asked_for_whatever_is_cut() {
    let fixture = Fixture::new();
    let log = fixture.write_log("s.jsonl", &claude_log());
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    for text in [format!("token {secret}\n"), format!("token {secret}\n{}", build_log())] {
        let mut payload = claude_call(&log, "Bash", json!({"command": "env"}), bash_response(&text));
        payload["tool_response"]["stderr"] = json!(format!("again {secret}"));
        let result = fixture.run_with(Client::ClaudeCode, &payload, true);
        let reply = result.reply.unwrap();
        let stdout = reply["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().unwrap();
        assert!(stdout.starts_with("token [redacted:"), "{stdout}");
        assert!(!reply.to_string().contains(&secret));
        if result.outcome == HookOutcome::Pruned {
            // What is recovered is redacted as well.
            assert!(!fixture.recover(stdout).contains(&secret));
        }
    }
}

#[test]
fn secrets_are_redacted_also_where_nothing_may_be_cut() {
    let fixture = Fixture::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let text = format!("token {secret}\n{}", build_log());
    let without_log =
        claude_call(&fixture.path("none.jsonl"), "Bash", json!({"command": "env"}), bash_response(&text));
    let log = fixture.write_log("s.jsonl", &claude_log());
    let own = claude_call(&log, "Bash", json!({"command": "cd tamis && env"}), bash_response(&text));
    for payload in [without_log, own] {
        let result = fixture.run_with(Client::ClaudeCode, &payload, true);
        assert_eq!(result.outcome, HookOutcome::Redacted);
        assert!(!result.reply.unwrap().to_string().contains(&secret));
    }
}

#[test]
fn only_what_was_shown_is_counted() {
    let fixture = Fixture::new();
    let log = fixture.write_log("s.jsonl", &claude_log());
    let payload = claude_call(&log, "Bash", json!({"command": "make"}), bash_response(&build_log()));
    let result = fixture.run(Client::ClaudeCode, &payload);
    assert_eq!(fixture.sieve.flush(Duration::from_secs(60)), 0);
    assert_eq!(fixture.sieve.ledger_totals().unwrap().calls, 0);
    fixture.sieve.record_shown(result.unrecorded.unwrap());
    assert_eq!(fixture.sieve.flush(Duration::from_secs(60)), 0);
    assert_eq!(fixture.sieve.ledger_totals().unwrap().calls, 1);
}

#[test]
fn markers_are_not_written_into_files() {
    let fixture = Fixture::new();
    // A text with several cuts, so that its later markers have no id.
    let text: String = (0..5).map(|part| build_log().replace("crate", &format!("part-{part}"))).collect();
    let log = fixture.write_log("s.jsonl", &claude_log());
    let payload = claude_call(&log, "Bash", json!({"command": "make"}), bash_response(&text));
    let reply = fixture.run(Client::ClaudeCode, &payload).reply.unwrap();
    let shown = reply["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().unwrap();
    let mut markers = shown.lines().filter(|line| is_marker(line));
    let (marker, second) = (markers.next().unwrap(), markers.next().unwrap());
    assert!(marker.contains("prn_") && !second.contains("prn_"), "{shown}");
    let log = fixture.write_log("s.jsonl", &[claude_log(), crate::shown::shown("r1", "a1", shown)].concat());
    let file = fixture.path("notes.md");
    fs::write(&file, format!("# Markers\n\n{marker}\n")).unwrap();
    let call = |event: &str, tool: &str, input: Value| json!({"hook_event_name": event, "cwd": fixture.folder.path(), "transcript_path": log, "tool_name": tool, "tool_input": input});
    let patch =
        format!("*** Begin Patch\n*** Update File: a.rs\n@@\n fn a() {{\n+{marker}\n }}\n*** End Patch\n");
    let code = format!("fn a() {{\n    {marker}\n}}\n");
    let later = format!("fn a() {{\n{second}\n}}\n");
    for (client, payload) in [
        (Client::ClaudeCode, call("PreToolUse", "Write", json!({"file_path": "a.rs", "content": code}))),
        (Client::ClaudeCode, call("PreToolUse", "Write", json!({"file_path": "a.rs", "content": later}))),
        (
            Client::ClaudeCode,
            call("PreToolUse", "Edit", json!({"file_path": "a.rs", "old_string": "x", "new_string": code})),
        ),
        (
            Client::ClaudeCode,
            call(
                "PreToolUse",
                "MultiEdit",
                json!({"file_path": "a.rs", "edits": [{"old_string": "x", "new_string": code}]}),
            ),
        ),
        (Client::Codex, call("PreToolUse", "apply_patch", json!({"command": patch}))),
        (Client::Gemini, call("BeforeTool", "write_file", json!({"file_path": "a.rs", "content": code}))),
        (
            Client::Gemini,
            call(
                "BeforeTool",
                "replace",
                json!({"file_path": "a.rs", "old_string": "x", "new_string": code}),
            ),
        ),
        (Client::OpenCode, call("BeforeTool", "write", json!({"filePath": "a.rs", "content": code}))),
    ] {
        let result = fixture.run(client, &payload);
        assert_eq!(result.outcome, HookOutcome::Refused, "{payload}");
        let reply = result.reply.unwrap();
        let reason = match client {
            Client::ClaudeCode | Client::Codex => {
                let output = &reply["hookSpecificOutput"];
                assert_eq!(output["permissionDecision"], "deny");
                output["permissionDecisionReason"].as_str().unwrap().to_owned()
            }
            Client::Gemini | Client::OpenCode => {
                assert_eq!(reply["decision"], "deny");
                reply["reason"].as_str().unwrap().to_owned()
            }
        };
        assert!(reason.contains("recover_text") && reason.contains("`tamis recover "), "{reason}");
    }
    for payload in [
        call("PreToolUse", "Write", json!({"file_path": "a.rs", "content": "fn a() {}\n"})),
        // The file has this marker already.
        call(
            "PreToolUse",
            "Write",
            json!({"file_path": "notes.md", "content": format!("# A marker\n\n{marker}\n")}),
        ),
        call("PreToolUse", "Bash", json!({"command": format!("tamis recover '{marker}'")})),
        // Texts that show how markers look.
        call(
            "PreToolUse",
            "Write",
            json!({"file_path": "a.md", "content": "[tamis cut 6-44: repeats; restore: recover_text or tamis recover prn_abcdefghijklmnopqrstuv 6-44]\n"}),
        ),
        call("PreToolUse", "Write", json!({"file_path": "a.md", "content": "[tamis 4800-7800: tests]\n"})),
    ] {
        assert_eq!(fixture.run(Client::ClaudeCode, &payload).reply, None, "{payload}");
    }
    // Without a log, a marker without an id may be one of this session.
    let mut unknown =
        call("BeforeTool", "write", json!({"filePath": "a.rs", "content": "[tamis 4-7: tests]\n"}));
    unknown["transcript_path"] = Value::Null;
    assert_eq!(fixture.run(Client::OpenCode, &unknown).outcome, HookOutcome::Refused);
}

#[test]
fn calls_are_recorded_without_texts() {
    let fixture = Fixture::new();
    let calls = HookCalls::new(DataDir::at(fixture.path("data")));
    assert_eq!(calls.list(), []);
    let log = fixture.write_log("s.jsonl", &claude_log());
    let payload = claude_call(&log, "Bash", json!({"command": "make"}), bash_response(&build_log()));
    let result = fixture.run(Client::ClaudeCode, &payload);
    for _ in 0..20_000 {
        calls.add("claude", &result, Duration::from_millis(7)).unwrap();
    }
    // By names, so that other programs can read it.
    let text = fs::read_to_string(fixture.path("data/hook-calls.jsonl")).unwrap();
    assert!(text.lines().next().unwrap().contains("\"outcome\":\"pruned\""));
    let list = calls.list();
    // The oldest are gone.
    assert!((1..20_000).contains(&list.len()), "{}", list.len());
    let last = list.last().unwrap();
    assert_eq!(
        (last.client.as_str(), last.tool.as_deref(), last.call_id.as_deref(), last.outcome, last.elapsed_ms),
        ("claude", Some("Bash"), Some("toolu_1"), HookOutcome::Pruned, 7)
    );
}

#[test]
fn a_hook_that_is_installed_twice_acts_once() {
    let fixture = Fixture::new();
    let log = fixture.write_log("s.jsonl", &claude_log());
    let chats = fixture.write_log("tmp/p/chats/session.jsonl", &gemini_log());
    let text = build_log();
    let claude = claude_call(&log, "Bash", json!({"command": "make"}), bash_response(&text));
    let gemini = gemini_call(&chats, "run_shell_command", &text);
    let later = |payload: &Value, key: &str, value: &str| {
        let mut payload = payload.clone();
        payload[key] = json!(value);
        payload
    };
    for (client, payload, is_doubled) in [
        (Client::ClaudeCode, claude.clone(), true),
        (Client::Gemini, gemini.clone(), true),
        // Other calls, even for the same output.
        (Client::ClaudeCode, later(&claude, "tool_use_id", "toolu_2"), true),
        (Client::ClaudeCode, later(&claude, "session_id", "t"), true),
        // Another output under the same id: a model server may count calls from 0 again.
        (
            Client::ClaudeCode,
            claude_call(&log, "Bash", json!({"command": "make"}), bash_response(&format!("again\n{text}"))),
            true,
        ),
        (Client::Gemini, later(&gemini, "timestamp", "2026-11-16T12:00:00.001Z"), true),
        // What is too short is not even looked up.
        (
            Client::ClaudeCode,
            claude_call(&log, "Bash", json!({"command": "make"}), bash_response("short")),
            false,
        ),
    ] {
        let run = || {
            let calls = HookCalls::new(DataDir::at(fixture.path("data")));
            let deadline = Instant::now() + Duration::from_secs(60);
            let hook = Hook {
                client,
                sieve: &fixture.sieve,
                calls: Some(&calls),
                min_chars: 1_000,
                skip_tools: &[],
                redacts: false,
                log_deadline: Instant::now(),
                now: now(),
                deadline,
            };
            hook.run(&payload.to_string()).outcome
        };
        // At the same time, as clients run them.
        let outcomes: Vec<HookOutcome> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let count = |outcome| outcomes.iter().filter(|other| **other == outcome).count();
        let expected = if is_doubled { (1, 3) } else { (0, 0) };
        let found = (count(HookOutcome::Pruned), count(HookOutcome::Left(LeftReason::Doubled)));
        assert_eq!(found, expected, "{outcomes:?}");
    }
    // The claims are not listed as calls.
    assert_eq!(HookCalls::new(DataDir::at(fixture.path("data"))).list(), []);
}

#[test]
fn an_outcome_is_recorded_by_its_name() {
    use tamis_sieve::PruneWarning;
    for (outcome, name) in [
        (HookOutcome::Refused, "refused"),
        (HookOutcome::Left(LeftReason::TooShort), "too_short"),
        (HookOutcome::Left(LeftReason::Failed(PruneWarning::RecoveryUnavailable)), "recovery_unavailable"),
    ] {
        assert_eq!(serde_json::to_value(outcome).unwrap(), name);
        assert_eq!(serde_json::from_value::<HookOutcome>(json!(name)).unwrap(), outcome);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a client sends, the hook answers with JSON or nothing.
    #[test]
    fn nothing_a_client_sends_ends_the_hook(
        input in prop_oneof![
            any::<String>(),
            "\\{\"hook_event_name\":\"(PostToolUse|AfterTool|PreToolUse)\",\"tool_name\":\"(Bash|Read|Write)\",\"tool_(input|response)\":.{0,60}\\}",
        ],
    ) {
        let fixture = Fixture::new();
        for client in Client::ALL {
            let deadline = Instant::now() + Duration::from_secs(60);
            let hook = Hook {
                client: *client,
                sieve: &fixture.sieve,
                calls: None,
                min_chars: 0,
                skip_tools: &[],
                redacts: true,
                log_deadline: Instant::now(),
            now: now(),
                deadline,
            };
            hook.run(&input);
        }
    }
}
