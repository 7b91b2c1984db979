//! Logs of Claude Code: turns of a prompt and of steps, where a step is one request to the model, told in one record for
//! each of its parts with the usage in every one of them.

use super::claude_request::{Request, picture};
use super::claude_tools;
use super::json::Json;
use super::log::Log;

pub(crate) struct ClaudeLog<'v> {
    pub(crate) log: Log<'v>,
    version: &'static str,
    pub(super) model: &'static str,
    /// Newer versions write attachments, thinking and more fields.
    pub(super) modern: bool,
    last_uuid: Option<String>,
    /// Tokens that the next request reads.
    pub(super) context: u64,
    pub(super) cached: u64,
}

const VERSIONS: &[(&str, &str)] = &[
    ("1.0.17", "claude-sonnet-4-20250514"),
    ("1.0.88", "claude-opus-4-1-20250805"),
    ("2.0.14", "claude-sonnet-4-5-20250929"),
    ("2.0.76", "claude-opus-4-5-20251101"),
    ("2.1.112", "claude-opus-4-6"),
];

/// Where a client would compact.
const CONTEXT_LIMIT: u64 = 160_000;

impl<'v> ClaudeLog<'v> {
    pub(crate) fn new(mut log: Log<'v>) -> ClaudeLog<'v> {
        let (version, model) = log.random().pick(VERSIONS);
        let modern = version.starts_with('2');
        ClaudeLog { log, version, model, modern, last_uuid: None, context: 14_000, cached: 0 }
    }

    /// Writes the whole log. For a fork, after what it took over.
    pub(crate) fn write(&mut self) {
        if self.log.out.is_empty() {
            self.opening();
        }
        while !self.log.is_long_enough() || self.log.has_needles_left() {
            self.turn();
            self.log.end_turn([0; 4]);
        }
    }

    fn opening(&mut self) {
        if !self.modern || self.log.agent.is_some() {
            return;
        }
        let session = self.log.session.clone();
        Json::object(&mut self.log.out, |record| {
            record
                .text("type", "permission-mode")
                .text("permissionMode", "default")
                .text("sessionId", &session);
        });
        self.log.end_line();
        for kind in ["skill_listing", "agent_listing_delta", "session_context"] {
            self.attachment(kind, 3_000);
        }
    }

    fn attachment(&mut self, kind: &str, median: usize) {
        let text = self.log.prose("notification", median);
        self.record("attachment", |record| {
            record.fields("attachment", |attachment| {
                attachment.text("type", kind).text("content", &text);
            });
        });
    }

    /// A record with what all of them have.
    pub(crate) fn record(&mut self, kind: &str, body: impl FnOnce(&mut Json<'_>)) -> String {
        let at = self.log.tick(900.0);
        let uuid = self.log.random().uuid();
        let Log { out, agent, project, session, .. } = &mut self.log;
        Json::object(out, |record| {
            match &self.last_uuid {
                Some(parent) => record.text("parentUuid", parent),
                None => record.raw("parentUuid", "null"),
            };
            record.raw("isSidechain", if agent.is_some() { "true" } else { "false" });
            record.text("userType", "external").text("cwd", &project.root).text("sessionId", session);
            record.text("version", self.version).text("gitBranch", &project.branch);
            if let Some(agent) = agent {
                record.text("agentId", agent);
            }
            record.text("type", kind);
            body(record);
            record.text("uuid", &uuid).text("timestamp", &at);
        });
        self.log.end_line();
        self.last_uuid = Some(uuid.clone());
        uuid
    }

    fn turn(&mut self) {
        self.log.tick(60_000.0);
        self.prompt();
        let steps = self.log.random().size(9, 0.8, 60).max(1);
        for _ in 0..steps {
            if self.log.is_long_enough() {
                break;
            }
            self.step();
        }
        self.closing_message();
        if self.context > CONTEXT_LIMIT {
            self.compact();
        }
    }

    fn prompt(&mut self) {
        if self.log.agent.is_none() && self.log.random().percent(6) {
            let command = self.log.random().pick(&["compact", "review", "init", "cost", "model"]);
            let text = format!(
                "<command-name>/{command}</command-name>\n            <command-message>{command}</command-message>\n            \
                 <command-args></command-args>"
            );
            self.record("user", |record| said(record, &text));
            return;
        }
        let image = self.log.image();
        let text = self.log.prose("user", 180);
        self.grow(text.len());
        self.record("user", |record| match image {
            None => said(record, &text),
            Some(image) => {
                record.fields("message", |message| {
                    message.text("role", "user").items("content", |parts| {
                        parts.item(|part| {
                            part.text("type", "text").text("text", &text);
                        });
                        parts.item(|part| picture(part, &image));
                    });
                });
            }
        });
        if self.modern && self.log.random().percent(40) {
            let message = self.last_uuid.clone().unwrap_or_default();
            let at = self.log.tick(5.0);
            Json::object(&mut self.log.out, |record| {
                record.text("type", "file-history-snapshot").text("messageId", &message);
                record.fields("snapshot", |snapshot| {
                    snapshot
                        .text("messageId", &message)
                        .raw("trackedFileBackups", "{}")
                        .text("timestamp", &at);
                });
                record.raw("isSnapshotUpdate", "false");
            });
            self.log.end_line();
        }
    }

    /// One request: its parts, then what came of its tools.
    fn step(&mut self) {
        let mut request = self.request();
        if self.modern && self.log.random().percent(35) {
            self.thinking(&mut request);
        }
        if self.log.random().percent(45) {
            let text = self.log.prose("message", 220);
            self.part(&mut request, text.len(), |part| {
                part.text("type", "text").text("text", &text);
            });
        }
        let calls = self.log.random().weighted(&[(1, 85), (2, 10), (3, 5)]);
        let calls: Vec<_> = (0..calls).map(|_| claude_tools::call(self, &mut request)).collect();
        for call in calls {
            claude_tools::result(self, call);
        }
        if self.modern && self.log.random().percent(8) {
            self.attachment("todo_reminder", 300);
        }
    }

    fn closing_message(&mut self) {
        let mut request = self.request();
        if self.modern && self.log.random().percent(25) {
            self.thinking(&mut request);
        }
        let text = self.log.prose("message", 700);
        self.part(&mut request, text.len(), |part| {
            part.text("type", "text").text("text", &text);
        });
        if self.modern {
            self.record("system", |record| {
                record.text("subtype", "turn_duration").number("durationMs", 93_250).raw("isMeta", "false");
            });
        }
    }

    fn thinking(&mut self, request: &mut Request) {
        let text = self.log.prose("reasoning", 350);
        let mut signature = String::new();
        let letters = self.log.random().size(350, 0.5, 3_000);
        self.log.random().base64(&mut signature, letters);
        self.part(request, text.len(), |part| {
            part.text("type", "thinking").text("thinking", &text).text("signature", &signature);
        });
    }

    fn compact(&mut self) {
        let before = self.context;
        self.record("system", |record| {
            record.text("subtype", "compact_boundary").text("content", "Conversation compacted");
            record.fields("compactMetadata", |metadata| {
                metadata.text("trigger", "auto").number("preTokens", before);
            });
        });
        let summary = self.log.prose("summary", 6_000);
        self.record("user", |record| {
            said(record, &summary);
            record.raw("isCompactSummary", "true").raw("isVisibleInTranscriptOnly", "true");
        });
        self.context = 20_000;
        self.cached = 0;
    }

    pub(crate) fn grow(&mut self, bytes: usize) {
        self.context += bytes as u64 / 4;
    }
}

fn said(record: &mut Json<'_>, text: &str) {
    record.fields("message", |message| {
        message.text("role", "user").text("content", text);
    });
}
