//! Codex's rollouts: `~/.codex/sessions/Y/M/D/rollout-<time>-<id>.jsonl` and `~/.codex/archived_sessions/` (`CODEX_HOME`),
//! where a week-old one may be compressed to `.jsonl.zst`.
//!
//! A line is `{"timestamp", "ordinal"?, "type", "payload"}`. What it can be:
//!
//! | type | content |
//! | --- | --- |
//! | `session_meta` | the session: id, folder, version, parent; a fork has its parent's after its own ([`meta`]) |
//! | `turn_context` | what a turn runs with; the model |
//! | `response_item` | the conversation as the model's API has it ([`items`]) |
//! | `event_msg` | what the client showed its user ([`events`]), tools among it ([`mirrors`]), and tokens ([`usage`]) |
//! | `token_usage_record` | one request's tokens |
//! | `compacted` | the conversation was replaced by a summary |
//! | `inter_agent_communication` | a message from another agent; `…_metadata` precedes one that is an item |
//! | `world_state`, `security_risk_score` | nothing that happened |
//!
//! Messages, reasoning, searches and compactions are logged twice, by an item and by an event, in either order, next to each
//! other or a few records apart. Which of them there are depends on version, `history_mode` and fork, so neither is the
//! one to trust: whichever comes first gives the event, and the other is recognised by a hash of its words.
//!
//! Older logs have no envelope: a header `{"id", "timestamp", "instructions"}`, bare items, and `{"record_type": "state"}`
//! between them. Those of the first Codex were one JSON document, `{"session", "items"}`; it is read where it is one line.
//! The stream of `codex exec --json` (`thread.started`, `item.completed`, `turn.completed`) is read as a log too.

mod events;
mod fields;
mod items;
mod meta;
mod mirrors;
mod outcome;
mod state;
mod usage;
mod words;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{LineReader, ParsedLog, SessionFact, Unrecognised};
use crate::event::bounded;
use crate::event::{Content, EventBody, EventStream, LogEvent, Millis};
use crate::readers::fields::read_line;
use fields::{Fields, Key, Line};
use state::State;

/// Reads Codex's logs.
#[derive(Debug, Default)]
pub struct CodexReader {
    state: State,
}

/// Records without content for us.
const SILENT: &[&str] = &[
    // The model's environment, which the items have as text.
    "world_state",
    // Kept out of the conversation by design.
    "security_risk_score",
    // The stream's bounds, and pieces of what is logged whole later.
    "item.updated",
    "turn.started",
];

impl CodexReader {
    /// A reader that goes on from a saved state.
    pub fn resume(state: &str) -> Option<CodexReader> {
        Some(CodexReader { state: serde_json::from_str(state).ok()? })
    }

    /// A record by its type.
    fn typed<'a>(&mut self, kind: &str, line: &Line<'a>, out: &mut Out<'a, '_>) {
        let bare = line.inner.is_none();
        let payload = line.inner.as_ref().unwrap_or(&line.own);
        let inner = payload.kind().filter(|_| !bare);
        match kind {
            "response_item" | "request_item" | "event_msg" | "session_meta" | "compacted" if bare => {
                out.unreadable("a record without its payload");
            }
            "session_meta" => self.session_meta(payload, out),
            "turn_context" => self.set_model(payload),
            "response_item" | "request_item" => {
                // Some programs leave the type of messages out.
                let inner = inner.or_else(|| payload.get(Key::Role).map(|_| "message".into()));
                let inner = inner.unwrap_or_default();
                if !self.item(&inner, payload, out) {
                    out.unknown_part(format!("{kind}.{inner}"));
                }
            }
            "event_msg" => {
                let inner = inner.unwrap_or_default();
                if !self.event(&inner, payload, out) {
                    out.unknown_part(format!("event_msg.{inner}"));
                }
            }
            "compacted" => self.compacted(payload, out),
            "token_usage_record" => self.usage_record(payload, out),
            "inter_agent_communication" => {
                let begins = payload.flag(Key::TriggerTurn) == Some(true);
                self.agent_message(begins, payload.get(Key::Content), out);
            }
            "inter_agent_communication_metadata" => {
                self.state.triggered = payload.flag(Key::TriggerTurn) == Some(true);
            }
            _ if SILENT.contains(&kind) => (),
            _ if self.streamed(kind, payload, out) => (),
            _ if bare && (self.item(kind, payload, out) || self.event(kind, payload, out)) => (),
            _ => out.record.unrecognised.push(Unrecognised::Record(Cow::Owned(kind.to_owned()))),
        }
    }

    /// A record of the stream of `codex exec --json`.
    fn streamed<'a>(&mut self, kind: &str, payload: &Fields<'a>, out: &mut Out<'a, '_>) -> bool {
        match (kind, payload.get(Key::Item)) {
            ("thread.started", _) => {
                let id = payload.word(Key::ThreadId);
                if self.state.id.as_deref() != id.as_deref() {
                    self.state.total = None;
                }
                self.state.id = id.as_deref().map(|id| bounded(id).to_owned());
                // Each run of the program counts its items from 0.
                self.state.calls.clear();
                out.record.facts.extend(id.map(SessionFact::Id));
            }
            ("item.started", Some(item)) => self.started_item(item, out),
            ("item.completed", Some(item)) => self.turn_item(item, out),
            ("item.started" | "item.completed", None) => out.unreadable("a record without its item"),
            ("turn.completed", _) => self.turn_usage(payload, out),
            ("turn.failed" | "error", _) => match payload.first(&[Key::Error, Key::Message, Key::Text]) {
                Some(words) => out.notice(words),
                None => out.give(EventBody::Notification(Content::text(kind.to_owned()))),
            },
            _ => return false,
        }
        true
    }

    /// A record without a type.
    fn untyped<'a>(&mut self, own: &Fields<'a>, out: &mut Out<'a, '_>) {
        if own.get(Key::Role).is_some() {
            self.item("message", own, out);
        } else if own.text(Key::RecordType).is_some_and(|kind| kind == "state") {
            // Between two runs of an old version; it has nothing else.
        } else if own.get(Key::Id).is_some() && own.get(Key::Timestamp).is_some() {
            self.session_meta(own, out);
        } else if let (Some(session), Some(items)) = (own.object(Key::Session), own.get(Key::Items)) {
            self.session_meta(&session, out);
            for item in Fields::list(items) {
                let kind = item.kind().unwrap_or_default();
                if !self.item(&kind, &item, out) {
                    out.unknown_part(format!("items.{kind}"));
                }
            }
        } else {
            out.unreadable(if own.is_empty() {
                "no record of any known form"
            } else {
                "a record without a type"
            });
        }
    }
}

impl LineReader for CodexReader {
    fn read<'a>(&mut self, line: &'a str, record: &mut ParsedLog<'a>) {
        // Codex skips blank lines too: it ends a torn line with a line break when it goes on writing.
        if line.trim().is_empty() {
            return;
        }
        let mut parsed: Line<'a> = match read_line(line) {
            Ok(Some(parsed)) => parsed,
            Ok(None) => {
                let why = "no record of any known form";
                return record.unrecognised.push(Unrecognised::Unreadable(why.into()));
            }
            Err(error) => {
                let why = if error.is_eof() { "a torn line" } else { "no JSON" };
                return record.unrecognised.push(Unrecognised::Unreadable(why.into()));
            }
        };
        if parsed.has_inner {
            parsed.inner.get_or_insert_default();
        }
        let at = parsed.own.time();
        self.watch_prefix(&parsed, at);
        let mut out = Out { record, at, stream: self.state.stream(), line };
        match parsed.own.kind() {
            Some(kind) => self.typed(&kind, &parsed, &mut out),
            None => self.untyped(&parsed.own, &mut out),
        }
    }

    fn state(&self) -> String {
        serde_json::to_string(&self.state).unwrap_or_default()
    }
}

/// Where what a line gives goes to.
struct Out<'a, 'r> {
    record: &'r mut ParsedLog<'a>,
    at: Option<Millis>,
    stream: EventStream,
    line: &'a str,
}

impl<'a> Out<'a, '_> {
    fn give(&mut self, body: EventBody<'a>) {
        self.record.events.push(LogEvent { at: self.at, stream: self.stream, body });
    }

    /// Gives all of the payload as a notification.
    fn give_payload(&mut self) {
        #[derive(Deserialize)]
        struct Whole<'a> {
            #[serde(borrow)]
            payload: Option<&'a RawValue>,
        }
        let whole = serde_json::from_str::<Whole<'a>>(self.line).ok().and_then(|whole| whole.payload);
        self.give(EventBody::Notification(whole.map_or(Content::Text(self.line.into()), Content::Raw)));
    }

    fn unknown_part(&mut self, part: String) {
        self.record.unrecognised.push(Unrecognised::Part(Cow::Owned(part)));
    }

    fn unreadable(&mut self, why: &'static str) {
        self.record.unrecognised.push(Unrecognised::Unreadable(Cow::Borrowed(why)));
    }
}
