//! A sieve, a session and its log, and calls as the clients send them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tamis_clients::Client;
use tamis_hook::{Hook, HookResult};
use tamis_sieve::{Caller, Sieve, SieveSettings, is_marker};
use tamis_store::DataDir;

pub(crate) const GOAL: &str = "why does the build fail?";

/// A moment after the last record of the logs here.
pub(crate) fn now() -> SystemTime {
    // 2026-11-16T12:01:00Z
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_830_460)
}

/// A data folder, a sieve and a session's log.
pub(crate) struct Fixture {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) sieve: Sieve,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
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

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write_log(&self, name: &str, lines: &[Value]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn run(&self, client: Client, payload: &Value) -> HookResult {
        self.run_with(client, payload, false)
    }

    pub(crate) fn run_with(&self, client: Client, payload: &Value, redacts: bool) -> HookResult {
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
    pub(crate) fn recover(&self, text: &str) -> String {
        let id = tamis_sieve::prune_ids_in(text).next().unwrap();
        self.sieve.recover(id, &[(1, i64::MAX)], false, &Caller::default()).unwrap().raw_text
    }
}

/// A log of a failing build, of which most can go.
pub(crate) fn build_log() -> String {
    let steps = (0..400).map(|step| match step {
        250 => "error[E0425]: cannot find value `totl` in this scope".to_owned(),
        251 => " --> src/invoice.rs:41:9".to_owned(),
        step => format!("   Compiling crate-{step} v1.{step}.0 (registry, checksum {:x})", step * 7919),
    });
    steps.collect::<Vec<_>>().join("\n") + "\n"
}

/// Claude Code's log: a person's words and the call.
pub(crate) fn claude_log() -> Vec<Value> {
    let message = |role: &str, content: Value| json!({"role": role, "content": content});
    let record = |uuid: &str, parent: Value, role: &str, content: Value| {
        json!({"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "cwd": "/p", "version": "2.1.325",
            "timestamp": "2026-11-16T12:00:00Z", "message": message(role, content)})
    };
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make"}}]);
    vec![record("u1", Value::Null, "user", json!(GOAL)), record("a1", json!("u1"), "assistant", call)]
}

pub(crate) fn claude_call(log: &Path, tool: &str, input: Value, response: Value) -> Value {
    json!({"session_id": "s", "transcript_path": log, "cwd": "/p", "hook_event_name": "PostToolUse", "tool_name": tool,
        "tool_input": input, "tool_response": response, "tool_use_id": "toolu_1"})
}

pub(crate) fn bash_response(stdout: &str) -> Value {
    json!({"stdout": stdout, "stderr": "warned", "interrupted": false, "isImage": false, "noOutputExpected": false})
}

#[track_caller]
pub(crate) fn assert_pruned(fixture: &Fixture, original: &str, text: &str) {
    assert!(text.len() * 2 < original.len(), "{text}");
    assert!(text.contains("cannot find value `totl`"), "{text}");
    assert!(text.lines().any(is_marker), "{text}");
    for line in text.lines().filter(|line| !line.is_empty() && !is_marker(line)) {
        assert!(original.lines().any(|was| was == line), "{line}");
    }
    assert_eq!(fixture.recover(text), original);
}
