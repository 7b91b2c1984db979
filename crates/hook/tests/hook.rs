//! Hook calls of every client, in the forms that the real ones send.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use proptest::prelude::*;
use serde_json::{Value, json};
use tamis_clients::Client;
use tamis_hook::{Hook, HookCalls, HookOutcome, HookResult, LeftReason};
use tamis_sieve::{Caller, Sieve, SieveSettings, is_marker};
use tamis_store::DataDir;

const GOAL: &str = "why does the build fail?";

/// A moment after the last record of the logs here.
fn now() -> SystemTime {
    // 2026-11-16T12:01:00Z
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_830_460)
}

/// A data folder, a sieve and a session's log.
struct Fixture {
    folder: tempfile::TempDir,
    sieve: Sieve,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = Some(DataDir::at(folder.path().join("data")));
        let settings = SieveSettings { data_dir, ..SieveSettings::without_store(2_000_000) };
        let sieve = Sieve::new(SieveSettings {
            recovery_ttl: Duration::from_secs(3_600),
            recovery_max_bytes: 1 << 24,
            ledger_keep: Duration::from_secs(3_600),
            ..settings
        });
        Fixture { folder, sieve }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_log(&self, name: &str, lines: &[Value]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, client: Client, payload: &Value) -> HookResult {
        self.run_with(client, payload, false)
    }

    fn run_with(&self, client: Client, payload: &Value, redacts: bool) -> HookResult {
        let deadline = Instant::now() + Duration::from_secs(60);
        let hook = Hook {
            client,
            sieve: &self.sieve,
            calls: None,
            min_chars: 1_000,
            skip_tools: &[],
            redacts,
            log_deadline: Instant::now(),
            now: now(),
            deadline,
        };
        hook.run(&payload.to_string())
    }

    /// The cut text of a marker with an id.
    fn recover(&self, text: &str) -> String {
        let id = tamis_sieve::prune_ids_in(text).next().unwrap();
        self.sieve.recover(id, &[(1, i64::MAX)], false, &Caller::default()).unwrap().raw_text
    }
}

/// A log of a failing build, of which most can go.
fn build_log() -> String {
    let steps = (0..400).map(|step| match step {
        250 => "error[E0425]: cannot find value `totl` in this scope".to_owned(),
        251 => " --> src/invoice.rs:41:9".to_owned(),
        step => format!("   Compiling crate-{step} v1.{step}.0 (registry, checksum {:x})", step * 7919),
    });
    steps.collect::<Vec<_>>().join("\n") + "\n"
}

/// Claude Code's log: a person's words and the call.
fn claude_log() -> Vec<Value> {
    let message = |role: &str, content: Value| json!({"role": role, "content": content});
    let record = |uuid: &str, parent: Value, role: &str, content: Value| {
        json!({"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "cwd": "/p", "version": "2.1.325",
            "timestamp": "2026-11-16T12:00:00Z", "message": message(role, content)})
    };
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make"}}]);
    vec![record("u1", Value::Null, "user", json!(GOAL)), record("a1", json!("u1"), "assistant", call)]
}

fn claude_call(log: &Path, tool: &str, input: Value, response: Value) -> Value {
    json!({"session_id": "s", "transcript_path": log, "cwd": "/p", "hook_event_name": "PostToolUse", "tool_name": tool,
        "tool_input": input, "tool_response": response, "tool_use_id": "toolu_1"})
}

fn bash_response(stdout: &str) -> Value {
    json!({"stdout": stdout, "stderr": "warned", "interrupted": false, "isImage": false, "noOutputExpected": false})
}

#[track_caller]
fn assert_pruned(fixture: &Fixture, original: &str, text: &str) {
    assert!(text.len() * 2 < original.len(), "{text}");
    assert!(text.contains("cannot find value `totl`"), "{text}");
    assert!(text.lines().any(is_marker), "{text}");
    for line in text.lines().filter(|line| !line.is_empty() && !is_marker(line)) {
        assert!(original.lines().any(|was| was == line), "{line}");
    }
    assert_eq!(fixture.recover(text), original);
}

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

/// A file that the model is shown by `cat`, as a result in Claude Code's log.
fn shown(uuid: &str, parent: &str, text: &str) -> Vec<Value> {
    let common = |uuid: &str, parent: &str, role: &str, content: Value| {
        json!({"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "cwd": "/p", "version": "2.1.325",
            "timestamp": "2026-11-16T12:00:01Z", "message": {"role": role, "content": content}})
    };
    let id = format!("toolu_{uuid}");
    let call = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "cat a.txt"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": false}]);
    let call_uuid = format!("{uuid}c");
    vec![common(&call_uuid, parent, "assistant", call), common(uuid, &call_uuid, "user", result)]
}

#[test]
fn what_the_model_has_in_its_context_is_not_shown_again() {
    let fixture = Fixture::new();
    // Words that the goal has in every line, so that nothing else is cut.
    let text: String =
        (0..60).map(|line| format!("the build may fail in step {line} because of {}\n", line * 31)).collect();
    let last = |parent: &str| {
        let call =
            json!([{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cat a.txt"}}]);
        json!({"type": "assistant", "uuid": "last", "parentUuid": parent, "sessionId": "s", "cwd": "/p",
            "timestamp": "2026-11-16T12:00:09Z", "message": {"role": "assistant", "content": call}})
    };
    let begin = claude_log();
    let compaction = json!({"type": "system", "subtype": "compact_boundary", "uuid": "compact", "parentUuid": null,
        "logicalParentUuid": "r1", "sessionId": "s", "content": "Conversation compacted", "timestamp": "2026-11-16T12:00:05Z"});
    let summary = json!({"type": "user", "uuid": "summary", "parentUuid": "compact", "sessionId": "s", "isCompactSummary": true,
        "timestamp": "2026-11-16T12:00:06Z", "message": {"role": "user", "content": "the build fails; fix it"}});
    let next = json!({"type": "user", "uuid": "next", "parentUuid": "summary", "sessionId": "s",
        "timestamp": "2026-11-16T12:00:07Z", "message": {"role": "user", "content": GOAL}});
    let numbered: String =
        (1..).zip(text.lines()).map(|(number, line)| format!("{number:6}→{line}\n")).collect();
    let in_context: Vec<Value> = [begin.clone(), shown("r1", "a1", &text), vec![last("r1")]].concat();
    let as_file: Vec<Value> = [begin.clone(), shown("r1", "a1", &numbered), vec![last("r1")]].concat();
    let rewound: Vec<Value> = [begin.clone(), shown("r1", "a1", &text), vec![last("a1")]].concat();
    let compacted: Vec<Value> =
        [begin, shown("r1", "a1", &text), vec![compaction, summary, next, last("next")]].concat();
    // Claude Code may clear all but the last five results if that frees 20,000 tokens, and says so in its log.
    let six_results_ago = |before: &str| -> Vec<Value> {
        let many =
            (2..7).flat_map(|number| shown(&format!("r{number}"), &format!("r{}", number - 1), "done"));
        let first = [shown("r0", "a1", before), shown("r1", "r0", &text)].concat();
        [claude_log(), first, many.collect(), vec![last("r6")]].concat()
    };
    // What the agent wrote is not cleared with results.
    let write = |uuid: &str, parent: &str| {
        let call = json!([{"type": "tool_use", "id": "toolu_w", "name": "Write",
            "input": {"file_path": "/p/a.txt", "content": text}}]);
        let call = json!({"type": "assistant", "uuid": format!("w{uuid}"), "parentUuid": parent, "sessionId": "s", "cwd": "/p",
            "timestamp": "2026-11-16T12:00:03Z", "message": {"role": "assistant", "content": call}});
        let result = json!([{"type": "tool_result", "tool_use_id": "toolu_w", "content": "written"}]);
        let result = json!({"type": "user", "uuid": uuid, "parentUuid": format!("w{uuid}"), "sessionId": "s", "cwd": "/p",
            "timestamp": "2026-11-16T12:00:04Z", "message": {"role": "user", "content": result}});
        vec![call, result]
    };
    let written_before: Vec<Value> = {
        let large = shown("r2", "r1", &"a line of another result\n".repeat(3_000));
        let many =
            (3..9).flat_map(|number| shown(&format!("r{number}"), &format!("r{}", number - 1), "done"));
        [claude_log(), write("r1", "a1"), large, many.collect(), vec![last("r8")]].concat()
    };
    let long_ago = six_results_ago(&"a line of another result\n".repeat(3_000));
    let not_cleared = six_results_ago("done");
    // Where the beginning of the log is not read, more may be there to clear.
    let mut of_a_long_log = claude_log();
    of_a_long_log.insert(1, json!({"type": "progress", "data": "x".repeat(2 << 20)}));
    of_a_long_log.extend(six_results_ago("done").into_iter().skip(claude_log().len()));
    // A request that was cached so far that it has the result shows that it was not cleared.
    let with_usage = |mut lines: Vec<Value>, is_cached: &dyn Fn(usize) -> bool| {
        let mut request = 0;
        for line in lines.iter_mut().filter(|line| line["type"] == "assistant") {
            request += 1;
            let (prompt, cached) =
                (10_000 * request, if is_cached(request) { 10_000 * (request - 1) } else { 0 });
            line["message"]["id"] = format!("msg_{request}").into();
            line["requestId"] = format!("req_{request}").into();
            line["message"]["usage"] = json!({"input_tokens": 3, "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": prompt - cached - 3, "output_tokens": 50});
        }
        lines
    };
    let confirmed = with_usage(long_ago.clone(), &|_| true);
    let not_confirmed = with_usage(long_ago.clone(), &|request| request != 9);
    // Another record of the same message, after the result of its first call, reports the same request again.
    let mut same_request = with_usage(long_ago.clone(), &|_| true);
    for line in same_request.iter_mut().filter(|line| line["type"] == "assistant") {
        line["message"]["id"] = "msg_1".into();
        line["requestId"] = "req_1".into();
        line["message"]["usage"] =
            json!({"input_tokens": 3, "cache_read_input_tokens": 9_997, "output_tokens": 50});
    }
    // The call itself is not in the log yet, and neither is the request that it came from.
    let mut without_call = with_usage(long_ago.clone(), &|_| true);
    without_call.pop();
    without_call.remove(1);
    let mut edited = last("r1");
    edited["message"]["context_management"] =
        json!({"applied_edits": [{"type": "clear_tool_uses_20250919"}]});
    let cleared: Vec<Value> = [claude_log(), shown("r1", "a1", &text), vec![edited]].concat();
    let removed = |record: Value| -> Vec<Value> {
        [claude_log(), shown("r1", "a1", &text), vec![record, last("r1")]].concat()
    };
    let replaced = removed(json!({"type": "content-replacement", "sessionId": "s", "replacements": []}));
    let collapsed =
        removed(json!({"type": "marble-origami-commit", "sessionId": "s", "summary": "read a file"}));
    let snipped =
        removed(json!({"type": "system", "subtype": "snip_boundary", "uuid": "snip", "parentUuid": "r1",
        "sessionId": "s", "content": "snipped"}));
    // Another process goes on where this one was rewound.
    let elsewhere = json!({"type": "user", "uuid": "else", "parentUuid": "r1", "sessionId": "s", "cwd": "/p",
        "timestamp": "2026-11-16T12:00:10Z", "message": {"role": "user", "content": "go on"}});
    let of_another_process: Vec<Value> =
        [claude_log(), shown("r1", "a1", &text), vec![last("a1"), elsewhere.clone()]].concat();
    let unknown_branch: Vec<Value> = [claude_log(), shown("r1", "a1", &text), vec![elsewhere]].concat();
    // The results of parallel calls follow both calls, and are sent together.
    let mut parallel: Vec<Value> = [claude_log(), shown("r1", "a1", &text)].concat();
    let before_result = parallel.len() - 1;
    parallel.insert(before_result, last("r1c"));
    // Of the latest five results, those of parallel calls are some.
    let four_results_ago = |parallel_calls: usize, id: &str| -> Vec<Value> {
        let many =
            (2..5).flat_map(|number| shown(&format!("r{number}"), &format!("r{}", number - 1), "done"));
        let first =
            [shown("r0", "a1", &"a line of another result\n".repeat(3_000)), shown("r1", "r0", &text)]
                .concat();
        let mut lines = [claude_log(), first, many.collect(), vec![last("r4")]].concat();
        for number in 1..parallel_calls {
            let mut sibling = lines.last().unwrap().clone();
            sibling["parentUuid"] = sibling["uuid"].clone();
            sibling["uuid"] = format!("sibling{number}").into();
            sibling["message"]["content"][0]["id"] = format!("toolu_s{number}").into();
            lines.push(sibling);
        }
        for line in lines.iter_mut().rev().take(parallel_calls) {
            line["message"]["id"] = id.into();
        }
        lines
    };
    // After an hour without a request, Claude Code clears what it does not keep, before the next one.
    let mut after_a_pause = with_usage(long_ago.clone(), &|_| true);
    for line in &mut after_a_pause {
        line["timestamp"] = json!("2026-11-16T11:00:00Z");
    }
    let mut small_after_a_pause = with_usage(not_cleared.clone(), &|_| true);
    for line in &mut small_after_a_pause {
        line["timestamp"] = json!("2026-11-16T11:00:00Z");
    }
    for (name, lines, is_shown) in [
        ("four results ago", four_results_ago(1, "msg_9"), true),
        ("four results ago, of three parallel calls", four_results_ago(3, "msg_9"), false),
        ("four results ago, of three parallel calls of another server", four_results_ago(3, "9"), false),
        ("six results ago, cached until an hour ago", after_a_pause, false),
        ("six small results ago, an hour ago", small_after_a_pause, false),
        ("in context", in_context, true),
        ("by a parallel call", parallel, true),
        ("rewound, and another process went on", of_another_process, false),
        ("not known on which branch", unknown_branch, false),
        ("collapsed", collapsed, false),
        ("snipped", snipped, false),
        ("written by the agent", written_before, true),
        ("six results ago", long_ago, false),
        ("six results ago, cached since", confirmed, true),
        ("six results ago, not cached once", not_confirmed, false),
        ("six results ago, of one request", same_request, false),
        ("six results ago, before the call is logged", without_call, false),
        ("six small results ago", not_cleared, true),
        ("six results ago in a long log", of_a_long_log, false),
        ("cleared", cleared, false),
        ("replaced", replaced, false),
        ("as a numbered file", as_file, true),
        ("rewound", rewound, false),
        ("compacted", compacted, false),
    ] {
        let log = fixture.write_log("s.jsonl", &lines);
        let payload = claude_call(&log, "Bash", json!({"command": "cat a.txt"}), bash_response(&text));
        let result = fixture.run(Client::ClaudeCode, &payload);
        let stdout = result
            .reply
            .as_ref()
            .map_or(Value::Null, |reply| reply["hookSpecificOutput"]["updatedToolOutput"]["stdout"].clone());
        let is_cut =
            [": shown ", ": you wrote this "].iter().any(|reason| stdout.to_string().contains(reason));
        assert_eq!(is_cut, is_shown, "{name}: {result:?}");
    }
}

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
fn gemini_log() -> Vec<Value> {
    vec![
        json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-11-16T12:00:00.000Z", "kind": "main"}),
        json!({"id": "1", "timestamp": "2026-11-16T12:00:00.000Z", "type": "user", "content": [{"text": GOAL}]}),
    ]
}

fn gemini_call(log: &Path, tool: &str, text: &str) -> Value {
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
    let log = fixture.write_log("s.jsonl", &[claude_log(), crate::shown("r1", "a1", shown)].concat());
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
