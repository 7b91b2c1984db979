//! Logs of Claude Code and Codex, and rows of the ledger, of the days before a time.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tamis_logs::discovery::LogLocations;
use tamis_sieve::{Caller, PruneOptions, PruneRequest, Sieve, SieveSettings};
use tamis_store::{DataDir, rusqlite::Connection};
use tamis_text::TextKind;
use tamis_trace::Trace;

pub(crate) const DAY: i64 = 24 * 60 * 60 * 1000;

/// A data folder and a folder of logs.
pub(crate) struct Week {
    folder: tempfile::TempDir,
    logs: PathBuf,
    now: i64,
    database: Connection,
    sieve: Sieve,
}

pub(crate) enum LedgerRow {
    Prune {
        prune_id: String,
        day: i64,
        tool: &'static str,
        door: &'static str,
        client: Option<&'static str>,
        sizes: (u64, u64, u64),
        call_id: Option<&'static str>,
    },
    Recovery {
        prune_id: String,
        day: i64,
        tokens: u64,
    },
}

impl LedgerRow {
    pub(crate) fn prune(
        prune_id: &str,
        day: i64,
        tool: &'static str,
        door: &'static str,
        client: Option<&'static str>,
        sizes: (u64, u64, u64),
    ) -> LedgerRow {
        let prune_id = prune_id.to_owned();
        LedgerRow::Prune { prune_id, day, tool, door, client, sizes, call_id: None }
    }

    pub(crate) fn recovery(prune_id: &str, day: i64, tokens: u64) -> LedgerRow {
        LedgerRow::Recovery { prune_id: prune_id.to_owned(), day, tokens }
    }

    pub(crate) fn of_call(mut self, id: &'static str) -> LedgerRow {
        if let LedgerRow::Prune { call_id, .. } = &mut self {
            *call_id = Some(id);
        }
        self
    }
}

impl Week {
    /// A week before this time, with its logs in a folder of this name and its data in `data`.
    pub(crate) fn before(now: i64, logs: &str) -> Week {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join(logs);
        std::fs::create_dir_all(&logs).unwrap();
        let data = DataDir::at(folder.path().join("data"));
        let sieve = Sieve::new(SieveSettings {
            data_dir: Some(data.clone()),
            max_input_chars: 1000,
            recovery_ttl: Duration::from_secs(1000),
            recovery_max_bytes: 1 << 20,
            ledger_keep: Duration::from_secs(1000),
        });
        // This creates the tables. Nothing is cut, so it is not counted.
        let request = PruneRequest {
            text: "one",
            goal: "two",
            kind: TextKind::Code,
            options: PruneOptions::default(),
            shown: &[],
        };
        sieve.prune(&request, &Caller::default(), &|| false);
        assert_eq!(sieve.flush(Duration::from_secs(60)), 0);
        let database = Connection::open(data.state_db()).unwrap();
        Week { folder, logs, now, database, sieve }
    }

    pub(crate) fn add(&self, row: &LedgerRow) {
        let inserted = match row {
            LedgerRow::Prune { prune_id, day, tool, door, client, sizes: (before, after, markers), call_id } => {
                self.database.execute(
                    "INSERT INTO prunes (prune_id, at, tool, door, client, kind, lines_before, lines_after, tokens_before,
                         tokens_after, marker_tokens, elapsed_us, call_id) VALUES (?1, ?2, ?3, ?4, ?5, 'logs', 90, 30, ?6, ?7, ?8, 1, ?9)",
                    (prune_id, self.now - day * DAY + 1000, tool, door, client, before, after, markers, call_id),
                )
            }
            LedgerRow::Recovery { prune_id, day, tokens } => self.database.execute(
                "INSERT INTO recoveries (prune_id, at, tool, door, lines, tokens) VALUES (?1, ?2, 'recover', 'cli', 5, ?3)",
                (prune_id, self.now - day * DAY + 2000, tokens),
            ),
        };
        assert_eq!(inserted, Ok(1));
    }

    fn log(&self, id: &str, day: i64, root: &str, is_codex: bool) -> WeekLog {
        let path = match is_codex {
            true => format!("rollout-2026-11-01T00-00-00-{id}.jsonl"),
            false => format!("{id}.jsonl"),
        };
        let path = self.logs.join(path);
        let (id, root) = (id.to_owned(), root.to_owned());
        WeekLog { path, id, root, at: self.now - day * DAY, is_codex, lines: Vec::new(), requests: 0 }
    }

    pub(crate) fn claude(&self, id: &str, day: i64, root: &str) -> WeekLog {
        let mut log = self.log(id, day, root, false);
        log.line(json!({"type": "user", "message": {"role": "user", "content": "Go on."}}));
        log
    }

    pub(crate) fn codex(&self, id: &str, day: i64, root: &str) -> WeekLog {
        let mut log = self.log(id, day, root, true);
        log.line(
            json!({"type": "session_meta", "payload": {"id": id, "cwd": root, "originator": "codex_exec",
            "cli_version": "0.166.0", "timestamp": "2026-11-13T12:00:00Z"}}),
        );
        log.line(json!({"type": "turn_context", "payload": {"cwd": root, "model": "gpt-5"}}));
        log
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(crate) fn open(&self) -> (Trace, &Sieve) {
        let logs = LogLocations::only(vec![self.logs.clone()]);
        let trace = Trace::new(logs, DataDir::at(self.folder.path().join("data")));
        trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
        (trace, &self.sieve)
    }
}

/// A log that is being written; each record is a tenth of a second after the one before.
pub(crate) struct WeekLog {
    path: PathBuf,
    id: String,
    root: String,
    at: i64,
    is_codex: bool,
    lines: Vec<Value>,
    requests: u64,
}

impl WeekLog {
    fn line(&mut self, mut record: Value) {
        self.at += 100;
        record["timestamp"] = json!(jiff::Timestamp::from_millisecond(self.at).unwrap().to_string());
        if !self.is_codex {
            record["sessionId"] = json!(self.id);
            record["uuid"] = json!(format!("{}-{}", self.id, self.lines.len()));
            record["cwd"] = json!(self.root);
            record["version"] = json!("2.1.0");
        }
        self.lines.push(record);
    }

    /// A request with its uncached and cached input and its output.
    pub(crate) fn request(&mut self, model: &str, input: u64, cached: u64, output: u64) -> &mut WeekLog {
        self.requests += 1;
        if self.is_codex {
            let usage = |times: u64| {
                json!({"input_tokens": times * (input + cached), "cached_input_tokens": times * cached,
                "output_tokens": times * output, "reasoning_output_tokens": 0, "total_tokens": times * (input + cached + output)})
            };
            let total = usage(self.requests);
            let info = json!({"total_token_usage": total, "last_token_usage": usage(1)});
            self.line(json!({"type": "event_msg", "payload": {"type": "token_count", "info": info}}));
            return self;
        }
        let usage = json!({"input_tokens": input, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0,
            "output_tokens": output});
        self.assistant(model, &json!({"type": "text", "text": "Let me see."}), &usage);
        self
    }

    fn assistant(&mut self, model: &str, content: &Value, usage: &Value) {
        let message = json!({"id": format!("msg_{}_{}", self.id, self.requests), "type": "message", "role": "assistant",
            "model": model, "content": [content], "usage": usage});
        let request = format!("req_{}_{}", self.id, self.requests);
        self.line(json!({"type": "assistant", "requestId": request, "message": message}));
    }

    /// A call in the last request; for Codex, in the next one that is reported.
    pub(crate) fn call(&mut self, id: &str, name: &str, arguments: &str) -> &mut WeekLog {
        let id = format!("{}-{id}", self.id);
        if self.is_codex {
            self.line(json!({"type": "response_item", "payload": {"type": "function_call", "name": name,
                "arguments": arguments, "call_id": id}}));
            return self;
        }
        let last = self.lines.iter().rev().find_map(|line| {
            line.get("message")?.get("usage").map(|usage| (line["message"]["model"].clone(), usage.clone()))
        });
        let (model, usage) = last.unwrap();
        let input: Value = serde_json::from_str(arguments).unwrap();
        let content = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        self.assistant(model.as_str().unwrap(), &content, &usage);
        self
    }

    pub(crate) fn result(&mut self, id: &str, text: &str) -> &mut WeekLog {
        let id = format!("{}-{id}", self.id);
        if self.is_codex {
            self.line(json!({"type": "response_item", "payload": {"type": "function_call_output", "call_id": id, "output": text}}));
            return self;
        }
        let part = json!({"type": "tool_result", "tool_use_id": id, "content": text});
        self.line(json!({"type": "user", "message": {"role": "user", "content": [part]}}));
        self
    }

    /// The last records, this many, have no time.
    pub(crate) fn untimed(&mut self, count: usize) -> &mut WeekLog {
        for record in self.lines.iter_mut().rev().take(count) {
            record.as_object_mut().unwrap().remove("timestamp");
        }
        self
    }

    /// Another session of Claude Code that begins with a copy of this one.
    pub(crate) fn forked(&self, id: &str) -> WeekLog {
        let mut lines = self.lines.clone();
        lines.iter_mut().for_each(|record| record["sessionId"] = json!(id));
        let path = self.path.with_file_name(format!("{id}.jsonl"));
        WeekLog { path, id: id.to_owned(), root: self.root.clone(), lines, ..*self }
    }

    pub(crate) fn compacts(&mut self) -> &mut WeekLog {
        self.line(
            json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}),
        );
        self
    }

    pub(crate) fn write(&self) {
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&self.path, text).unwrap();
    }
}
