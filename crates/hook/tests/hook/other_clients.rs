//! What Codex, Gemini CLI and OpenCode show of what their tools printed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tamis_clients::Client;
use tamis_hook::{HookOutcome, HookResult, LeftReason};

use super::fixture::{Fixture, GOAL, assert_pruned, build_log};

/// Codex's log: a person's words, the call, and how it ended.
fn codex_log(output: &str, exit_code: Value) -> Vec<Value> {
    let line = |kind: &str, payload: Value| json!({"timestamp": "2026-11-16T12:00:00.000Z", "type": kind, "payload": payload});
    let execution = json!({"type": "CommandExecution", "id": "call_1", "command": ["/bin/bash", "-lc", "make"], "status": "failed",
        "aggregated_output": output, "exit_code": exit_code});
    vec![
        line(
            "session_meta",
            json!({"id": "s", "session_id": "s", "cwd": "/p", "cli_version": "0.166.0", "originator": "codex_exec"}),
        ),
        line(
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": GOAL}]}),
        ),
        line(
            "event_msg",
            json!({"type": "item_completed", "item":
            {"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": GOAL}]}}),
        ),
        line(
            "response_item",
            json!({"type": "function_call", "name": "exec_command", "call_id": "call_1",
            "arguments": "{\"cmd\": \"make\"}"}),
        ),
        line("event_msg", json!({"type": "item_completed", "item": execution})),
    ]
}

fn codex_call(log: &Path, response: &str) -> Value {
    json!({"session_id": "s", "turn_id": "t", "transcript_path": log, "cwd": "/p", "hook_event_name": "PostToolUse",
        "model": "m", "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": "make"},
        "tool_response": response, "tool_use_id": "call_1"})
}

#[test]
fn codex_shows_the_pruned_output_with_the_exit_code() {
    let fixture = Fixture::new();
    let text = build_log();
    let log = fixture.write_log("rollout.jsonl", &codex_log(&text, json!(101)));
    let reply = fixture.run(Client::Codex, &codex_call(&log, &text)).reply.unwrap();
    assert_eq!(reply["continue"], false);
    let output =
        reply["reason"].as_str().unwrap().strip_prefix("Process exited with code 101\nOutput:\n").unwrap();
    assert_pruned(&fixture, &text, output);
    // What the command printed is in the log too, but the model has not seen it.
    assert!(!output.contains("shown"), "{output}");
    // Without its exit code, an output is not replaced.
    let log = fixture.write_log("rollout.jsonl", &codex_log(&text, Value::Null));
    let result = fixture.run(Client::Codex, &codex_call(&log, &text));
    assert_eq!(result.outcome, HookOutcome::Left(LeftReason::NoExitCode));
}

#[test]
fn where_codex_has_cut_stays_visible() {
    let fixture = Fixture::new();
    let head = "Warning: truncated output (original token count: 27224)\nTotal output lines: 20000\n\n";
    let middle = "   Compiling crate-1…98894 chars truncated…999 v1.0.0\n";
    let text = format!("{head}{}{middle}{}", build_log(), build_log());
    let log = fixture.write_log("rollout.jsonl", &codex_log(&text, json!(0)));
    let result = fixture.run(Client::Codex, &codex_call(&log, &text));
    if let Some(reply) = result.reply {
        let output = reply["reason"].as_str().unwrap();
        assert!(output.contains(head) && output.contains(middle), "{output}");
    } else {
        assert_eq!(result.outcome, HookOutcome::Left(LeftReason::CutByClient));
    }
}

/// Gemini CLI's log: its head, and a person's words.
pub(crate) fn gemini_log() -> Vec<Value> {
    vec![
        json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-11-16T12:00:00.000Z", "kind": "main"}),
        json!({"id": "1", "timestamp": "2026-11-16T12:00:00.000Z", "type": "user", "content": [{"text": GOAL}]}),
    ]
}

pub(crate) fn gemini_call(log: &Path, tool: &str, text: &str) -> Value {
    json!({"session_id": "s", "transcript_path": log, "cwd": "/p", "hook_event_name": "AfterTool",
        "timestamp": "2026-11-16T12:00:00.000Z", "tool_name": tool, "tool_input": {"command": "make"},
        "tool_response": {"llmContent": text, "returnDisplay": text}})
}

#[test]
fn gemini_cli_reads_the_pruned_output_from_a_file() {
    let fixture = Fixture::new();
    let text = build_log();
    let log = fixture.write_log("tmp/p/chats/session.jsonl", &gemini_log());
    let closing = "\nExit Code: 101\nProcess Group PGID: 7\n</untrusted_context>";
    let content = format!("<untrusted_context>\nOutput: {text}{closing}");
    let reply = fixture.run(Client::Gemini, &gemini_call(&log, "run_shell_command", &content)).reply.unwrap();
    let call = &reply["hookSpecificOutput"]["tailToolCallRequest"];
    assert_eq!(call["name"], "read_file");
    let file = PathBuf::from(call["args"]["file_path"].as_str().unwrap());
    assert_eq!(file.parent().unwrap(), fixture.path("tmp/p/tamis"));
    let shown = fs::read_to_string(&file).unwrap();
    let body = shown.strip_prefix("<untrusted_context>\nOutput: ").unwrap().strip_suffix(closing).unwrap();
    assert_pruned(&fixture, &text, body);
    // The client runs the hook again for the file, which is then no longer needed.
    let mut again = gemini_call(&log, "read_file", &shown);
    again["original_request_name"] = json!("run_shell_command");
    again["tool_input"] = json!({"file_path": file});
    let result = fixture.run(Client::Gemini, &again);
    assert_eq!((result.outcome, result.reply), (HookOutcome::Left(LeftReason::StandIn), None));
    assert!(!file.exists());
    // Two outputs at the same time do not get in each other's way, even if they are the same.
    let call = gemini_call(&log, "run_shell_command", &content);
    let path = |result: HookResult| {
        let reply = result.reply.unwrap();
        reply["hookSpecificOutput"]["tailToolCallRequest"]["args"]["file_path"].as_str().unwrap().to_owned()
    };
    let [one, other] = [(), ()].map(|()| path(fixture.run(Client::Gemini, &call)));
    assert_ne!(one, other);
    // A file that was not read means that the client cannot, so the next output is left alone.
    let earlier = std::time::SystemTime::now() - Duration::from_secs(5);
    fs::File::open(&one).unwrap().set_modified(earlier).unwrap();
    let left = |call: &Value| fixture.run(Client::Gemini, call).outcome;
    assert_eq!(left(&call), HookOutcome::Left(LeftReason::NotDelivered));
    fs::remove_file(&one).unwrap();
    let with = |key: &str, value: Value| {
        let mut call = call.clone();
        call["tool_response"][key] = value;
        call
    };
    assert_eq!(left(&with("error", json!({"message": "failed"}))), HookOutcome::Left(LeftReason::NotText));
    assert_eq!(left(&with("llmContent", json!([{"text": text}]))), HookOutcome::Left(LeftReason::NotText));
    // A policy denies the tool that would show the pruned text.
    fs::create_dir(fixture.path("policies")).unwrap();
    let policy = fixture.path("policies/own.toml");
    fs::write(&policy, "[[rule]]\ntoolName = \"read_file\"\ndecision = \"deny\"\n").unwrap();
    assert_eq!(left(&call), HookOutcome::Left(LeftReason::ToolDenied));
    fs::remove_file(&policy).unwrap();
    let mut part = gemini_call(&log, "read_file", &text);
    part["tool_input"] = json!({"file_path": "a", "start_line": 10});
    assert_eq!(left(&part), HookOutcome::Left(LeftReason::PartOfFile));
    // The client cuts long outputs itself, after its hooks.
    let long = gemini_call(&log, "run_shell_command", &build_log().repeat(3));
    assert_eq!(fixture.run(Client::Gemini, &long).outcome, HookOutcome::Left(LeftReason::CutByClient));
    // No other file is deleted.
    again["tool_input"] = json!({"file_path": log});
    fixture.run(Client::Gemini, &again);
    assert!(log.exists());
}

#[test]
fn the_plugin_of_opencode_gets_the_pruned_output() {
    let fixture = Fixture::new();
    let text = build_log();
    let payload = json!({"hook_event_name": "AfterTool", "session_id": "s", "cwd": "/p", "tool_name": "bash",
        "tool_input": {"command": "make"}, "tool_response": text, "person": GOAL, "agent": "I run it."});
    let reply = fixture.run(Client::OpenCode, &payload).reply.unwrap();
    assert_pruned(&fixture, &text, reply["output"].as_str().unwrap());
    // A file has lines of the client's own before it, which are not counted.
    let numbered: String =
        (1..).zip(text.lines()).map(|(number, line)| format!("{number}: {line}\n")).collect();
    let before = "<path>/p/build.log</path>\n<type>file</type>\n<content>\n";
    let mut read = payload.clone();
    read["tool_name"] = json!("read");
    read["tool_input"] = json!({"filePath": "/p/build.log"});
    read["tool_response"] = json!(format!("{before}{numbered}\n</content>"));
    let reply = fixture.run(Client::OpenCode, &read).reply.unwrap();
    let output = reply["output"].as_str().unwrap().strip_prefix(before).unwrap();
    let (cut, next) = output.split_once('\n').map(|(first, _)| first).map_or(("", ""), |_| {
        let at = output.find("[tamis cut ").unwrap();
        let (marker, rest) = output[at..].split_once('\n').unwrap();
        (marker, rest)
    });
    let last: usize = cut["[tamis cut ".len()..]
        .split([':', ';'])
        .next()
        .unwrap()
        .split('-')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    assert!(next.starts_with(&format!("{}: ", last + 1)), "{cut}\n{next:.80}");
    read["tool_input"]["offset"] = json!(100);
    assert_eq!(fixture.run(Client::OpenCode, &read).outcome, HookOutcome::Left(LeftReason::PartOfFile));
}
