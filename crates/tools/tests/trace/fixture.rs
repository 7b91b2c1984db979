//! Logs in a temporary folder, and the tools over them.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};
use tamis_logs::discovery::LogLocations;
use tamis_sieve::{Caller, Sieve, SieveSettings};
use tamis_store::DataDir;
use tamis_tools::{
    Access, Context, Progress, ProgressUpdate, Registry, Reply, Services, Sessions, Toolset, Workbench,
};
use tamis_trace::Trace;

/// 2026-01-01T21:40:05Z.
pub const START: i64 = 1_767_303_605_000;

pub struct Fixture {
    folder: tempfile::TempDir,
    pub trace: Arc<Trace>,
}

/// What a tool answered.
#[derive(Debug)]
pub struct Answered {
    pub body: Value,
    pub is_error: bool,
    pub bytes: usize,
}

impl Fixture {
    pub fn new(logs: &[Log]) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let locations = LogLocations::only(vec![folder.path().join("logs")]);
        std::fs::create_dir(folder.path().join("logs")).unwrap();
        let trace = Arc::new(Trace::new(locations, DataDir::at(folder.path().join("data"))));
        let fixture = Fixture { folder, trace };
        logs.iter().for_each(|log| fixture.write(log));
        fixture
    }

    pub fn path(&self, log: &Log) -> PathBuf {
        self.folder.path().join("logs").join(format!("{}.jsonl", log.id))
    }

    pub fn write(&self, log: &Log) {
        std::fs::write(self.path(log), &log.lines).unwrap();
    }

    pub fn services(&self) -> Arc<Services> {
        let services =
            Services::new(Sieve::new(SieveSettings::without_store(usize::MAX)), Workbench::here().unwrap());
        let trace = Arc::clone(&self.trace);
        Arc::new(services.with_sessions(|| Sessions::new(trace)))
    }

    /// Calls a tool, each time as the first call of a process: only a test of the rate limit wants to meet it.
    pub fn call(&self, tool: &str, arguments: Value) -> Answered {
        call(self.services(), tool, arguments)
    }

    /// The answer of a call that succeeds.
    pub fn ask(&self, tool: &str, arguments: Value) -> Value {
        let answered = self.call(tool, arguments);
        assert!(!answered.is_error, "{}", answered.body);
        answered.body
    }

    /// The error of a call that fails.
    pub fn fail(&self, tool: &str, arguments: Value) -> Value {
        let answered = self.call(tool, arguments);
        assert!(answered.is_error, "{}", answered.body);
        answered.body["error"].clone()
    }

    /// All pages of a list.
    pub fn pages(&self, tool: &str, arguments: &Value) -> Vec<Answered> {
        let mut pages = Vec::new();
        let mut arguments = arguments.clone();
        loop {
            let page = self.call(tool, arguments.clone());
            assert!(!page.is_error, "{}", page.body);
            let pagination = page.body["pagination"].clone();
            assert_eq!(pagination["has_more"], !pagination["next_cursor"].is_null());
            pages.push(page);
            if pagination["next_cursor"].is_null() {
                return pages;
            }
            assert!(pages.len() < 2000, "the pages have an end");
            arguments["cursor"] = pagination["next_cursor"].clone();
        }
    }
}

pub fn call(services: Arc<Services>, tool: &str, arguments: Value) -> Answered {
    answered(run(tool, arguments, Context::new(services, Caller::default(), Access::Full)))
}

/// Calls a tool and gives its reports of progress too.
pub fn watched(services: Arc<Services>, tool: &str) -> (Answered, Vec<ProgressUpdate>) {
    let (progress, mut reports) = Progress::channel();
    let context = Context { progress, ..Context::new(services, Caller::default(), Access::Full) };
    let answered = answered(run(tool, json!({}), context));
    let mut all = Vec::new();
    while let Ok(report) = reports.try_recv() {
        all.push(report);
    }
    (answered, all)
}

pub fn run(tool: &str, arguments: Value, context: Context) -> Reply {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(Registry::all().only(&[Toolset::Trace]).call(tool, arguments, context))
}

fn answered(reply: Reply) -> Answered {
    match reply {
        Reply::Text { text, is_error } => {
            Answered { body: serde_json::from_str(&text).unwrap(), is_error, bytes: text.len() }
        }
        other => panic!("{other:?}"),
    }
}

/// A log of Claude Code.
#[derive(Clone)]
pub struct Log {
    pub id: String,
    pub lines: String,
    root: String,
    at: i64,
    is_timed: bool,
    number: u64,
}

impl Log {
    pub fn new(id: &str, at: i64) -> Log {
        Log {
            id: id.to_owned(),
            lines: String::new(),
            root: "/home/dev/project".to_owned(),
            at,
            is_timed: true,
            number: 0,
        }
    }

    pub fn in_project(mut self, root: &str) -> Log {
        self.root = root.to_owned();
        self
    }

    /// Records from here on have no times.
    pub fn without_times(mut self) -> Log {
        self.is_timed = false;
        self
    }

    fn record(mut self, kind: &str, message: Value) -> Log {
        let at = Timestamp::from_millisecond(self.at).unwrap().to_string();
        let mut record = json!({
            "type": kind, "uuid": format!("{}-{}", self.id, self.number), "sessionId": self.id, "cwd": self.root,
            "timestamp": at, "isSidechain": false, "version": "2.1.0", "message": message,
            "requestId": format!("req-{}-{}", self.id, self.number),
        });
        if !self.is_timed {
            record.as_object_mut().unwrap().remove("timestamp");
        }
        writeln!(self.lines, "{record}").unwrap();
        self.at += 1000;
        self.number += 1;
        self
    }

    pub fn user(self, text: &str) -> Log {
        self.record("user", json!({"role": "user", "content": text}))
    }

    /// The agent's parts, with 100 tokens read and 10 written.
    pub fn agent(self, parts: Value) -> Log {
        let id = format!("msg-{}-{}", self.id, self.number);
        let usage = json!({"input_tokens": 60, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 10, "output_tokens": 10});
        self.record(
            "assistant",
            json!({"id": id, "role": "assistant", "model": "claude-test", "content": parts, "usage": usage}),
        )
    }

    pub fn think(self, text: &str) -> Log {
        self.agent(json!([{"type": "thinking", "thinking": text, "signature": "s"}]))
    }

    pub fn say(self, text: &str) -> Log {
        self.agent(json!([{"type": "text", "text": text}]))
    }

    pub fn tool(self, name: &str, arguments: Value, result: &str, failed: bool) -> Log {
        let id = format!("toolu-{}", self.number);
        self.agent(json!([{"type": "tool_use", "id": id, "name": name, "input": arguments}])).record(
            "user",
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}]}),
        )
    }
}

/// A session of two turns, one of which has a failure.
pub fn small(id: &str, at: i64) -> Log {
    Log::new(id, at)
        .user("Fix the build")
        .think("The compiler must be asked first.")
        .tool("Bash", json!({"command": "cargo build"}), "error: no such crate", true)
        .tool(
            "Read",
            json!({"file_path": "/home/dev/project/Cargo.toml"}),
            "[package]\nname = \"demo\"",
            false,
        )
        .say("The manifest names a crate that is not there.")
        .user("Then remove it")
        .tool(
            "Edit",
            json!({"file_path": "/home/dev/project/Cargo.toml", "old_string": "x", "new_string": ""}),
            "done",
            false,
        )
        .say("Removed.")
}

/// A secret, assembled so that scanners do not find it in this file.
pub fn secret() -> String {
    format!("{}_{}", "ghp", "a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f")
}
