//! What a record states about its whole session, and what the reader remembers of the records before it.
//!
//! A block of a log is read again from the state at its start, so the state is all that a record may depend on. It is kept
//! with every block: ids are hashes in it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::fields::{Key, Line};
use super::hash;
use crate::event::Millis;
use crate::readers::{ParsedLog, Relation, SessionFact};
use crate::usage::Tokens;

/// What a reader knows of the records before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// The session's id by the file's name, until a record was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) own: Option<String>,
    /// Whether it is a subagent's log, once that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subagent: Option<bool>,
    /// A hash of the session's own id, once known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<u64>,
    /// The file's name is the id: a record of another session came from there.
    pub(super) named: bool,
    pub(super) root: bool,
    pub(super) started: bool,
    pub(super) version: bool,
    pub(super) parent: bool,
    pub(super) agent_name: bool,
    /// A message has been read.
    pub(super) begun: bool,
    /// The best kind of title so far: 1 a summary, 2 of the model, 3 of the person.
    pub(super) title: u8,
    /// The log has attachments, so whatever was queued is in one.
    pub(super) attachments: bool,
    /// Of a transcript of stream-json: the requests since the last result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) streamed: Option<Streamed>,
}

/// Tokens that a transcript's messages reported since its last result. They are written before their requests end, so
/// their output is too small, and the result adds the difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Streamed {
    pub(super) request: u64,
    /// Input, read from the cache, written to it, output: of that request, and of all of them.
    pub(super) last: [u64; 4],
    pub(super) all: [u64; 4],
}

impl State {
    /// What a record states about the whole session.
    pub(super) fn facts<'a>(&mut self, line: &Line<'a>, at: Option<Millis>, record: &mut ParsedLog<'a>) {
        let facts = &mut record.facts;
        let state = self;
        let fields = &line.own;
        if let Some(own) = state.own.take() {
            state.id = Some(hash(&[&own]));
            state.named = true;
            facts.push(SessionFact::Id(Cow::Owned(own)));
        }
        let has_message = line.inner.is_some();
        let conversation = has_message || fields.get(Key::Attachment).is_some();
        state.begun |= has_message;
        let mut session = fields.text(Key::SessionId);
        if session.is_none() {
            session = fields.text(Key::SessionIdOfStream);
            if session.is_some() {
                state.streamed.get_or_insert_default();
            }
        }
        let forked_from = fields.object(Key::ForkedFrom);
        if let Some(session) = session.filter(|session| !session.is_empty()) {
            let agent = fields.text(Key::AgentId);
            let subagent = *state
                .subagent
                .get_or_insert(agent.is_some() && (fields.is(Key::IsSidechain) || !has_message));
            if state.id.is_none() {
                let id = match agent {
                    Some(agent) if subagent && agent.starts_with("agent-") => agent,
                    Some(agent) if subagent => Cow::Owned(format!("agent-{agent}")),
                    _ => session.clone(),
                };
                state.id = Some(hash(&[&id]));
                facts.push(SessionFact::Id(id));
            }
            if !state.parent {
                let parent = match forked_from.as_ref().and_then(|from| from.text(Key::SessionId)) {
                    _ if subagent => Some((session, Relation::Subagent)),
                    Some(parent) => Some((parent, Relation::Fork)),
                    None if state.named && conversation => Some((session, Relation::Fork)),
                    None => None,
                };
                // Some subagents' records have their own id for the session's.
                if let Some((id, relation)) = parent.filter(|(id, _)| state.id != Some(hash(&[id]))) {
                    state.parent = true;
                    facts.push(SessionFact::Parent { id, relation });
                }
            }
        }
        // A copied record's time is its original's.
        if let (false, None, Some(at)) = (state.started, &forked_from, at) {
            state.started = true;
            facts.push(SessionFact::Started(at));
        }
        let first = |is_known: &mut bool, keys: &[Key]| {
            let text = keys.iter().find_map(|key| fields.word(*key)).filter(|_| !*is_known);
            *is_known |= text.is_some();
            text
        };
        facts.extend(first(&mut state.root, &[Key::Cwd]).map(SessionFact::Root));
        let version = first(&mut state.version, &[Key::Version, Key::VersionOfStream]);
        facts.extend(version.map(SessionFact::Version));
        if state.subagent == Some(true) {
            let agent_name = first(&mut state.agent_name, &[Key::AttributionAgent]);
            facts.extend(agent_name.map(SessionFact::AgentName));
        }
    }
}

impl Streamed {
    pub(super) fn tokens(counts: [u64; 4]) -> Tokens {
        let [input, cache_read, cache_creation, output] = counts;
        Tokens { input, cache_read, cache_creation, output, reasoning: 0 }
    }

    pub(super) fn counts(tokens: Tokens) -> [u64; 4] {
        [tokens.input, tokens.cache_read, tokens.cache_creation, tokens.output]
    }

    /// Counts a report of a request that may have been reported before.
    pub(super) fn add(&mut self, request: u64, tokens: Tokens) {
        let before = if self.request == request { Streamed::tokens(self.last) } else { Tokens::default() };
        let largest = before.max(tokens);
        let all = Streamed::tokens(self.all).plus(largest.minus(before));
        *self = Streamed { request, last: Streamed::counts(largest), all: Streamed::counts(all) };
    }
}
