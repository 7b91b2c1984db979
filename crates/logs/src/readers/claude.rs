//! Claude Code.
//!
//! A session is `~/.claude/projects/<folder>/<session>.jsonl` (`CLAUDE_CONFIG_DIR` in place of `~/.claude`), a record a
//! line. The folder is the project's path with all but letters and digits made hyphens, which cannot be undone; the
//! records have the path as `cwd`.
//!
//! - `user` and `assistant` records hold a message of the model's API. A message of several parts is a record for each
//!   part, each with the usage of the whole as far as it was known: the same `message.id` and `requestId`, often with an
//!   `output_tokens` of 1 until the last. Copies in forked sessions have the same ids, and messages that a compaction
//!   kept are written again with a usage of 0.
//! - What the client itself has to say to the model are user messages too, marked (`isMeta`, `isCompactSummary`,
//!   `origin`) or to be known by how they begin, and, since 2.1, `attachment` records.
//! - `system` records are notices to the person; `summary`, `ai-title` and `custom-title` name the session.
//! - A subagent's conversation is `<session>/subagents/**/agent-<id>.jsonl` (with its kind in `agent-<id>.meta.json`),
//!   before that `agent-<id>.jsonl` beside its parent's log, and at first inside its parent's log, with `isSidechain` and
//!   no `agentId`. Records have the parent's `sessionId`.
//! - A fork by `/branch` says so in each copied record (`forkedFrom`); one by `--fork-session` does not, its records have
//!   a new `sessionId` but the `uuid`s that they had. Very old clients resumed into a new file and left the old
//!   `sessionId` in what they copied, which only the file's name has.
//!
//! A transcript of `claude -p --output-format stream-json` has records of nearly the same form and is read as well; so is
//! the document that claude.ai/code exports, [`read_document`].

mod assistant;
mod document;
mod fields;
mod kinds;
mod notice;
mod state;
mod user;

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use super::fields::{moment, read_line, text};
use super::hashing::{FNV_START, fnv};
use super::{LineReader, ParsedLog, Relation, SessionFact, Unrecognised};
use crate::event::{Content, EventBody, EventStream, LogEvent, LoggedCall, LoggedResult, Millis};
use crate::lines::open_regular;
use crate::reading::stem_of;
pub use document::read_document;
use fields::{Fields, Key, Line};
use state::{State, Streamed};

/// Whether records of this kind, with a session's id, are Claude Code's; messages, which others write too, aside.
pub(crate) fn is_known(kind: &str) -> bool {
    const NAMED: &[&str] = &[
        "ai-title",
        "custom-title",
        "agent-setting",
        "queue-operation",
        "pr-link",
        "frame-link",
        "attachment",
    ];
    NAMED.contains(&kind) || kinds::SILENT.contains(&kind)
}

/// Of a subagent's log: its kind, which is in a file beside it, and its parent. Some subagents' records name their own id
/// as their parent's, but the log is in the parent's folder.
pub(super) fn facts_of_path(path: &Path) -> Vec<SessionFact<'static>> {
    if !stem_of(path).starts_with("agent-") {
        return Vec::new();
    }
    let kind = || {
        let mut text = String::new();
        open_regular(&path.with_extension("meta.json"))
            .ok()?
            .take(64 << 10)
            .read_to_string(&mut text)
            .ok()?;
        let meta: Value = serde_json::from_str(&text).ok()?;
        Some(SessionFact::AgentName(meta.get("agentType")?.as_str()?.to_owned().into()))
    };
    let parent = || {
        let session = path.ancestors().find(|folder| folder.ends_with("subagents"))?.parent()?;
        let id = session.file_name()?.to_str()?.to_owned().into();
        Some(SessionFact::Parent { id, relation: Relation::Subagent })
    };
    kind().into_iter().chain(parent()).collect()
}

/// Reads a log of Claude Code.
#[derive(Debug, Default)]
pub struct ClaudeReader {
    state: State,
}

impl ClaudeReader {
    pub fn new() -> ClaudeReader {
        ClaudeReader::default()
    }

    /// A reader of the file of that name (without its ending), which for Claude Code is the session's id.
    pub fn of_file(stem: &str) -> ClaudeReader {
        let mut reader = ClaudeReader::default();
        let uuid = stem.len() == 36
            && stem.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            });
        if uuid || stem.strip_prefix("agent-").is_some_and(|id| !id.is_empty()) {
            reader.state.own = Some(stem.to_owned());
            reader.state.subagent = Some(!uuid);
        }
        reader
    }

    /// A reader that goes on from a saved state.
    pub fn resume(state: &str) -> Option<ClaudeReader> {
        Some(ClaudeReader { state: serde_json::from_str(state).ok()? })
    }
}

impl LineReader for ClaudeReader {
    fn read<'a>(&mut self, line: &'a str, record: &mut ParsedLog<'a>) {
        if line.trim().is_empty() {
            return;
        }
        match read_line(line) {
            Ok(Some(line)) => self.record(&line, record),
            Ok(None) => record.unrecognised.push(Unrecognised::Unreadable("not a JSON object".into())),
            Err(error) if error.is_eof() => {
                record.unrecognised.push(Unrecognised::Unreadable("ends in the middle of a record".into()));
            }
            Err(_) => record.unrecognised.push(Unrecognised::Unreadable("not JSON".into())),
        }
    }

    fn state(&self) -> String {
        // Through a value, whose members are in a fixed order: states are compared.
        serde_json::to_value(&self.state).unwrap_or_default().to_string()
    }
}

impl ClaudeReader {
    fn record<'a>(&mut self, line: &Line<'a>, record: &mut ParsedLog<'a>) {
        let own = &line.own;
        let at = own.get(Key::Timestamp).and_then(moment);
        self.state.facts(line, at, record);
        let stream = match self.state.subagent {
            Some(true) => EventStream::Subagent,
            _ if own.is(Key::IsSidechain) || own.get(Key::ParentToolUseId).is_some() => {
                EventStream::Sidechain
            }
            _ => EventStream::Main,
        };
        let role = || line.inner.as_ref().and_then(|message| message.text(Key::Role));
        let Some(kind) = own.kind().or_else(role) else {
            record.unrecognised.push(Unrecognised::Record("(none)".into()));
            return;
        };
        let mut out = Out { record, at, stream };
        match kind.as_ref() {
            "user" => user::read(line, &mut out),
            "assistant" => assistant::read(line, &mut self.state, &mut out),
            "system" => notice::system(line, &mut out),
            "attachment" => {
                self.state.attachments = true;
                notice::attachment(own, &mut out);
            }
            "summary" | "task-summary" | "tool_use_summary" => match own.get(Key::Summary) {
                Some(summary) => {
                    // At a log's head stand summaries of other sessions.
                    if kind == "summary" && self.state.begun {
                        self.title(1, Some(summary), &mut out);
                    }
                    out.push(EventBody::Summary(Content::Raw(summary)));
                }
                None => out.unrecognised(format!("{kind}.summary")),
            },
            "ai-title" => self.title(2, own.get(Key::AiTitle), &mut out),
            "custom-title" => self.title(3, own.get(Key::CustomTitle), &mut out),
            "agent-setting" => {
                out.record.facts.extend(own.text(Key::AgentSetting).map(SessionFact::AgentName));
            }
            // What was queued and taken in the middle of a turn stood nowhere else before there were attachments.
            "queue-operation" => match (own.text(Key::Operation).as_deref(), own.get(Key::Content)) {
                (Some("remove"), Some(content)) if !self.state.attachments => user::prompt(content, &mut out),
                _ => {}
            },
            "pr-link" | "frame-link" => match own.first(&[Key::PrUrl, Key::FrameUrl]) {
                Some(address) => out.push(EventBody::Notification(Content::Raw(address))),
                None => out.unrecognised(format!("{kind}.url")),
            },
            "result" => notice::result(own, &mut self.state, &mut out),
            "tool_use" => out.push(EventBody::ToolCall(call_of(own))),
            "tool_result" => {
                let content = line.inner.as_ref().and_then(|message| message.get(Key::Content));
                let content = own.first(&[Key::Output, Key::Content]).or(content);
                out.push(EventBody::ToolResult(LoggedResult {
                    id: own.text(Key::ToolUseId),
                    content: content.map_or(Content::text(""), Content::Raw),
                    failed: own.is(Key::IsError),
                }));
            }
            silent if kinds::SILENT.contains(&silent) => {}
            _ => out.record.unrecognised.push(Unrecognised::Record(kind)),
        }
    }

    fn title<'a>(&mut self, rank: u8, title: Option<&'a RawValue>, out: &mut Out<'_, 'a>) {
        let Some(title) = title.and_then(text) else {
            out.unrecognised("title");
            return;
        };
        // A name that a person gave is not undone by one that the model made up later.
        if rank >= self.state.title && !title.trim().is_empty() {
            self.state.title = rank;
            out.record.facts.push(SessionFact::Title(title));
        }
    }
}

/// Where a record's events go.
struct Out<'o, 'a> {
    record: &'o mut ParsedLog<'a>,
    at: Option<Millis>,
    stream: EventStream,
}

impl<'a> Out<'_, 'a> {
    fn push(&mut self, body: EventBody<'a>) {
        self.record.events.push(LogEvent { at: self.at, stream: self.stream, body });
    }

    /// A part that was not understood.
    fn unrecognised(&mut self, part: impl Into<Cow<'a, str>>) {
        self.record.unrecognised.push(Unrecognised::Part(part.into()));
    }
}

/// A call, in a record or in a part of a message.
fn call_of<'a>(fields: &Fields<'a>) -> LoggedCall<'a> {
    LoggedCall {
        name: fields.text(Key::Name).unwrap_or_default(),
        id: fields.text(Key::Id),
        arguments: fields.get(Key::Input).map_or(Content::Value(Value::Null), Content::Raw),
    }
}

/// The same in every build: hashes are kept in an index.
fn hash(parts: &[&str]) -> u64 {
    parts.iter().fold(FNV_START, |hash, part| fnv(fnv(hash, part.as_bytes()), &[0xff]))
}
