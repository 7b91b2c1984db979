//! What Claude Code shows of what its tools printed.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tamis_clients::Client;
use tamis_hook::{Hook, HookCalls, HookOutcome, LeftReason};
use tamis_sieve::is_marker;
use tamis_store::DataDir;

use super::fixture::{Fixture, assert_pruned, bash_response, build_log, claude_call, claude_log, now};

#[test]
fn claude_code_shows_the_pruned_output_of_a_command() {
    let fixture = Fixture::new();
    let log = fixture.write_log("s.jsonl", &claude_log());
    let text = build_log();
    let payload = claude_call(&log, "Bash", json!({"command": "make"}), bash_response(&text));
    let result = fixture.run(Client::ClaudeCode, &payload);
    assert_eq!(result.outcome, HookOutcome::Pruned);
    let reply = result.reply.unwrap();
    let output = &reply["hookSpecificOutput"]["updatedToolOutput"];
    assert_pruned(&fixture, &text, output["stdout"].as_str().unwrap());
    // Everything else is as the client gave it, or it would ignore the reply.
    let mut rest = output.clone();
    rest["stdout"] = json!(text);
    assert_eq!(rest, payload["tool_response"]);
    assert_eq!(reply["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    let ids = [result.session, result.tool, result.call_id].map(Option::unwrap);
    assert_eq!(ids, ["s", "Bash", "toolu_1"]);
}

#[test]
fn lines_that_claude_code_numbers_stay_where_they_are() {
    let fixture = Fixture::new();
    let log = fixture.write_log("s.jsonl", &claude_log());
    let text = build_log();
    let file = json!({"filePath": "/p/build.log", "content": text, "numLines": 401, "startLine": 1, "totalLines": 900});
    let response = json!({"type": "text", "file": file});
    let payload = claude_call(&log, "Read", json!({"file_path": "/p/build.log"}), response.clone());
    let reply = fixture.run(Client::ClaudeCode, &payload).reply.unwrap();
    let output = &reply["hookSpecificOutput"]["updatedToolOutput"];
    let pruned = output["file"]["content"].as_str().unwrap();
    let original: Vec<_> = text.split('\n').collect();
    let start = usize::try_from(output["file"]["startLine"].as_u64().unwrap()).unwrap();
    for (number, line) in (start - 1..).zip(pruned.split('\n')) {
        assert!(line.is_empty() || line == original[number] || is_marker(line), "{number}: {line}");
    }
    assert_pruned(&fixture, &text, pruned);
    assert_eq!(output["file"]["numLines"], pruned.split('\n').count());
}

#[test]
fn tools_that_are_switched_off_are_not_pruned() {
    let fixture = Fixture::new();
    let log = fixture.write_log("s.jsonl", &claude_log());
    let payload = claude_call(&log, "Bash", json!({"command": "make"}), bash_response(&build_log()));
    for (skipped, outcome) in [
        ("Bash", HookOutcome::Left(LeftReason::SwitchedOff)),
        ("claude:Bash", HookOutcome::Left(LeftReason::SwitchedOff)),
        ("codex:Bash", HookOutcome::Pruned),
        ("bash", HookOutcome::Pruned),
        ("claude:Read", HookOutcome::Pruned),
    ] {
        let skip_tools = &["Grep".to_owned(), skipped.to_owned()];
        let deadline = Instant::now() + Duration::from_secs(60);
        let hook = Hook {
            client: Client::ClaudeCode,
            sieve: &fixture.sieve,
            calls: None,
            min_chars: 1_000,
            skip_tools,
            redacts: false,
            log_deadline: Instant::now(),
            now: now(),
            deadline,
        };
        assert_eq!(hook.run(&payload.to_string()).outcome, outcome, "{skipped}");
    }
}

#[test]
fn what_is_not_for_the_hook_stays_as_it_is() {
    let fixture = Fixture::new();
    let log = fixture.write_log("s.jsonl", &claude_log());
    let silent = fixture.write_log("silent.jsonl", &[]);
    let text = build_log();
    let bash = |command: &str, text: &str| {
        claude_call(&log, "Bash", json!({"command": command}), bash_response(text))
    };
    let with = |key: &str, value: Value| {
        let mut payload = bash("make", &text);
        payload[key] = value;
        payload
    };
    let response = |key: &str, value: Value| {
        let mut response = bash_response(&text);
        response[key] = value;
        with("tool_response", response)
    };
    let file = |start: u64, kind: &str| {
        let file = json!({"filePath": "/p/a", "content": text, "numLines": 401, "startLine": start, "totalLines": 900});
        claude_call(&log, "Read", json!({"file_path": "/p/a"}), json!({"type": kind, "file": file}))
    };
    let grep = |response: Value| claude_call(&log, "Grep", json!({"pattern": "x"}), response);
    let marked =
        format!("{text}[tamis cut 1-4: repeats; restore: recover_text or tamis recover prn_x 1-4]\n");
    for (payload, reason) in [
        (bash("make", "short"), LeftReason::TooShort),
        (bash("tamis recover prn_abcd 1-400", &text), LeftReason::OwnOutput),
        (bash("cat notes", &marked), LeftReason::OwnOutput),
        (with("tool_name", json!("mcp__tamis__recover_text")), LeftReason::OtherEvent),
        (with("tool_name", json!("WebFetch")), LeftReason::OtherEvent),
        (with("hook_event_name", json!("SessionStart")), LeftReason::OtherEvent),
        (with("hook_event_name", json!("PostToolUseFailure")), LeftReason::OtherEvent),
        (with("transcript_path", json!(fixture.path("none.jsonl"))), LeftReason::NoSession),
        (with("transcript_path", json!(fixture.folder.path())), LeftReason::NoSession),
        (with("transcript_path", Value::Null), LeftReason::NoSession),
        (with("transcript_path", json!(silent)), LeftReason::NoGoal),
        // A subagent whose log is not there.
        (with("agent_id", json!("x")), LeftReason::NoSession),
        (with("agent_id", json!("../s")), LeftReason::NoSession),
        (response("persistedOutputPath", json!("/p/out.txt")), LeftReason::CutByClient),
        (response("isImage", json!(true)), LeftReason::NotText),
        (file(10, "text"), LeftReason::PartOfFile),
        (file(1, "notebook"), LeftReason::NotText),
        (grep(json!({"mode": "files_with_matches", "filenames": [text]})), LeftReason::NotText),
        (with("tool_response", json!({"output": text})), LeftReason::UnknownForm),
        (with("tool_response", json!({"stdout": [text]})), LeftReason::UnknownForm),
        (json!({"text": text}), LeftReason::UnknownForm),
    ] {
        let result = fixture.run(Client::ClaudeCode, &payload);
        assert_eq!(result.outcome, HookOutcome::Left(reason), "{:.300}", payload.to_string());
        assert_eq!(result.reply, None);
    }
    // Nothing was stored for any of them.
    assert_eq!(fixture.sieve.recent_prunes(10).unwrap(), []);
}

/// Claude Code writes its log a moment after its tools have run.
#[test]
fn a_log_that_is_written_late_is_waited_for() {
    let begins = json!({"type": "progress", "uuid": "u0", "parentUuid": null, "sessionId": "s", "cwd": "/p"});
    let mut with_call = claude_log();
    with_call[0]["parentUuid"] = json!("u0");
    with_call.insert(0, begins.clone());
    // An answered call with the same id, as of a server that numbers calls from 0 again.
    let mut answered = vec![begins.clone(), claude_log().remove(1)];
    answered[1]["parentUuid"] = json!("u0");
    answered.push(json!({"type": "user", "uuid": "r1", "parentUuid": "a1", "sessionId": "s", "cwd": "/p",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}]}}));
    let mut with_second = answered.clone();
    for (index, mut line) in claude_log().into_iter().enumerate() {
        line["parentUuid"] = json!(["r1", "u2"][index]);
        line["uuid"] = json!(["u2", "a2"][index]);
        with_second.push(line);
    }
    let (no_session, no_goal) = (LeftReason::NoSession, LeftReason::NoGoal);
    for (name, agent, first, whole, without_wait) in [
        ("no log", None, None, claude_log(), no_session),
        ("an empty log", None, Some(vec![]), claude_log(), no_goal),
        ("a log without the call", None, Some(vec![begins]), with_call, no_goal),
        ("a log with an earlier call of that id", None, Some(answered), with_second, no_goal),
        ("no log of a subagent", Some("subagents/agent-a1.jsonl"), None, claude_log(), no_session),
        ("nor in a folder below", Some("subagents/flow/agent-a1.jsonl"), None, claude_log(), no_session),
    ] {
        let fixture = Fixture::new();
        let transcript = fixture.path("s.jsonl");
        let log = agent.map_or("s.jsonl".to_owned(), |name| format!("s/{name}"));
        if let Some(lines) = &first {
            fixture.write_log(&log, lines);
        }
        let mut payload = claude_call(
            &transcript,
            "Bash",
            json!({"command": "cat src/build.rs"}),
            bash_response(&build_log()),
        );
        payload["agent_id"] = json!(agent.map(|_| "a1"));
        let calls = HookCalls::new(DataDir::at(fixture.path("data")));
        let run = |session: &str, log_wait: u64| {
            let mut payload = payload.clone();
            payload["session_id"] = json!(session);
            let hook = Hook {
                client: Client::ClaudeCode,
                sieve: &fixture.sieve,
                calls: Some(&calls),
                min_chars: 1_000,
                skip_tools: &[],
                redacts: false,
                log_deadline: Instant::now() + Duration::from_secs(log_wait),
                now: now(),
                deadline: Instant::now() + Duration::from_secs(60),
            };
            hook.run(&payload.to_string()).outcome
        };
        assert_eq!(run("too early", 0), HookOutcome::Left(without_wait), "{name}");
        let outcome = std::thread::scope(|scope| {
            let late = scope.spawn(|| run("waiting", 40));
            // It is recorded before the log is read. The pause only makes it likelier that a hook that does not wait fails here.
            let record = fixture.path("data/hook-calls.jsonl");
            while !fs::read_to_string(&record).is_ok_and(|text| text.contains("waiting")) {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(5));
            fixture.write_log(&log, &whole);
            late.join().unwrap()
        });
        assert_eq!(outcome, HookOutcome::Pruned, "{name}");
    }
}

/// An agent goes on to use, to follow or to change what it reads, and its words do not say which lines.
#[test]
fn files_stay_whole() {
    let fixture = Fixture::new();
    let log = fixture.write_log("s.jsonl", &claude_log());
    let mut text =
        String::from("fn why_the_build_fails(build: &Build) -> Cause {\n    build.fail().cause()\n}\n\n");
    for subject in ["palette", "kerning", "margin", "glyph", "ligature", "baseline", "ornament", "hyphen"] {
        let rows = (0..30)
            .map(|row| format!("    {subject}.corner({row}).stroke(canvas, Colour::Sepia);\n"))
            .collect::<String>();
        text += &format!("fn draw_{subject}(canvas: &mut Canvas, {subject}: &Shape) {{\n{rows}}}\n\n");
    }
    for command in ["cat src/build.rs", "cat .claude/skills/build/workflow.md"] {
        let payload = claude_call(&log, "Bash", json!({"command": command}), bash_response(&text));
        let outcome = fixture.run(Client::ClaudeCode, &payload).outcome;
        assert_eq!(outcome, HookOutcome::Left(LeftReason::NothingToCut), "{command}");
    }
}
