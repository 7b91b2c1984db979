//! A session of Claude Code, written event by event into a log, and indexed.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::ops::ControlFlow;

use serde_json::{Value, json};
use tamis_logs::discovery::LogLocations;
use tamis_store::DataDir;
use tamis_trace::{Session, Trace};

pub(crate) const ID: &str = "0f0e0d0c-0000-4000-8000-000000000001";

/// Writes a log. Each event is a second after the one before.
#[derive(Default)]
pub(crate) struct Log {
    lines: Vec<String>,
    calls: u64,
    requests: u64,
    seconds: i64,
}

impl Log {
    fn line(&mut self, mut record: Value) {
        self.seconds += 1;
        let time = jiff::Timestamp::from_second(1_700_000_000 + self.seconds).unwrap();
        record["sessionId"] = json!(ID);
        record["uuid"] = json!(format!("uuid-{}", self.lines.len()));
        record["timestamp"] = json!(time.to_string());
        record["cwd"] = json!("/w");
        record["version"] = json!("2.0.0");
        self.lines.push(record.to_string());
    }

    pub(crate) fn wait(&mut self, seconds: i64) -> &mut Log {
        self.seconds += seconds;
        self
    }

    pub(crate) fn user(&mut self, text: &str) -> &mut Log {
        self.line(json!({"type": "user", "message": {"role": "user", "content": text}}));
        self
    }

    fn assistant(&mut self, content: Value, usage: Option<Value>) {
        self.requests += 1;
        let mut message = json!({"id": format!("msg_{}", self.requests), "type": "message", "role": "assistant",
            "model": "claude", "content": [content]});
        if let Some(usage) = usage {
            message["usage"] = usage;
        }
        let request = format!("req_{}", self.requests);
        self.line(json!({"type": "assistant", "requestId": request, "message": message}));
    }

    pub(crate) fn says(&mut self, text: &str) -> &mut Log {
        self.assistant(json!({"type": "text", "text": text}), None);
        self
    }

    /// A message in a request that read and wrote these numbers of tokens.
    pub(crate) fn spends(&mut self, input: u64, cached: u64, output: u64) -> &mut Log {
        let usage = json!({"input_tokens": input, "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0, "output_tokens": output});
        self.assistant(json!({"type": "text", "text": "on it"}), Some(usage));
        self
    }

    /// The last event is a subagent's, in the same log.
    pub(crate) fn in_sidechain(&mut self) -> &mut Log {
        let mut record: Value = serde_json::from_str(&self.lines.pop().unwrap()).unwrap();
        record["isSidechain"] = json!(true);
        self.lines.push(record.to_string());
        self
    }

    pub(crate) fn call(&mut self, name: &str, input: Value) -> &mut Log {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        self.assistant(json!({"type": "tool_use", "id": id, "name": name, "input": input}), None);
        self
    }

    /// A result that is logged later, or whose call is not in the log: of the call with this number, from 1.
    pub(crate) fn answers(&mut self, call: u64, text: &str, failed: bool) -> &mut Log {
        let calls = std::mem::replace(&mut self.calls, call);
        self.result(text, failed).calls = calls;
        self
    }

    /// The client's own words.
    pub(crate) fn notes(&mut self, text: &str) -> &mut Log {
        self.line(json!({"type": "system", "subtype": "informational", "content": text}));
        self
    }

    /// The client's summary.
    pub(crate) fn sums_up(&mut self, text: &str) -> &mut Log {
        self.line(json!({"type": "summary", "summary": text, "leafUuid": "l"}));
        self
    }

    pub(crate) fn commands(&mut self, command: &str) -> &mut Log {
        self.user(&format!("<command-name>{command}</command-name><command-args></command-args>"))
    }

    pub(crate) fn gets(&mut self, text: &str) -> &mut Log {
        self.result(text, false)
    }

    pub(crate) fn fails(&mut self, text: &str) -> &mut Log {
        self.result(text, true)
    }

    fn result(&mut self, text: &str, failed: bool) -> &mut Log {
        let part = json!({"type": "tool_result", "tool_use_id": format!("toolu_{}", self.calls),
            "content": text, "is_error": failed});
        self.line(json!({"type": "user", "message": {"role": "user", "content": [part]}}));
        self
    }

    /// The context is compacted.
    pub(crate) fn compacts(&mut self) -> &mut Log {
        self.line(
            json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}),
        );
        self
    }

    /// The log in an index of its own.
    pub(crate) fn open(&self) -> Opened {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        std::fs::create_dir(&logs).unwrap();
        std::fs::write(logs.join(format!("{ID}.jsonl")), self.lines.join("\n") + "\n").unwrap();
        let trace = Trace::new(LogLocations::only(vec![logs]), DataDir::at(folder.path().join("data")));
        trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
        let session = trace.session(ID).unwrap();
        Opened { trace, session, folder }
    }
}

/// Writes some events.
pub(crate) type Write = fn(&mut Log) -> &mut Log;

pub(crate) struct Opened {
    pub(crate) trace: Trace,
    pub(crate) session: Session,
    /// Removed with it.
    pub(crate) folder: tempfile::TempDir,
}
