//! Who a session is, where it comes from, and where in its log its own records begin.
//!
//! A fork's log begins with a copy of its parent's, in one of three ways:
//! - `history_mode: legacy`: after the fork's own `session_meta` come the parent's `session_meta` and its records, stamped
//!   with the time of copying. Nothing marks their end.
//! - `paginated`, a subagent: the same, and `subagent_history_start_ordinal` says which ordinal is the first of its own.
//! - `paginated`, any other fork: nothing is copied, `history_base` says where in the parent's log the fork goes on.
//!
//! Where nothing marks the end, the first own record is the first that names the fork's thread, or else the first turn
//! that is not older than the fork: turns and threads have version 7 UUIDs, which contain their time. Logs of 2025,
//! whose turns have no such ids, are judged by the time: a copy is written at once, a person needs a second.

use std::borrow::Cow;

use super::fields::{Fields, Key, Line};
use super::state::Prefix;
use super::{CodexReader, Out};
use crate::event::Millis;
use crate::event::bounded;
use crate::readers::fields::text;
use crate::readers::{Relation, SessionFact};

/// Records further apart than this were not copied together.
const COPYING_PAUSE: Millis = 1000;

/// Longer names of models are cut, so that the state stays small.
const MODEL_LENGTH: usize = 64;

impl CodexReader {
    /// `session_meta`, and the header of 2025's first logs, which has no type.
    pub(super) fn session_meta<'a>(&mut self, meta: &Fields<'a>, out: &mut Out<'a, '_>) {
        let id = meta.word(Key::Id);
        match (&self.state.id, &id) {
            (Some(own), Some(id)) if *own != **id => return self.copied_meta(meta, out),
            // Written again, with other settings.
            (Some(_), _) => return,
            (None, _) => (),
        }
        self.state.id = id.as_deref().map(|id| bounded(id).to_owned());
        let started = meta.time().or(out.at);
        let facts = &mut out.record.facts;
        facts.extend(id.clone().map(SessionFact::Id));
        facts.extend(meta.word(Key::Cwd).map(SessionFact::Root));
        facts.extend(started.map(SessionFact::Started));
        facts.extend(meta.word(Key::CliVersion).map(SessionFact::Version));

        let origin = Origin::of(meta);
        self.state.subagent = origin.subagent;
        facts.extend(origin.agent_name.map(SessionFact::AgentName));
        let forked_from = meta.word(Key::ForkedFromId);
        let relation = if origin.subagent { Relation::Subagent } else { Relation::Fork };
        if let Some(id) = origin.parent.or_else(|| forked_from.clone()) {
            facts.push(SessionFact::Parent { id, relation });
        }

        let referred = meta.get(Key::HistoryBase).is_some();
        let own_from = meta.number(Key::SubagentHistoryStart);
        self.state.foreign_total = referred || forked_from.is_some();
        if own_from.is_some() || (forked_from.is_some() && !referred) {
            self.begin_prefix(id.as_deref(), started, own_from, out.at);
        }
    }

    /// The `session_meta` of another session, or of another's parent: what follows is a copy, if nothing came before.
    fn copied_meta<'a>(&mut self, meta: &Fields<'a>, out: &mut Out<'a, '_>) {
        let is_first = self.state.prefix.is_none() && !self.state.answered && self.state.total.is_none();
        if !is_first || self.state.foreign_total {
            return;
        }
        self.state.foreign_total = true;
        let relation = if self.state.subagent { Relation::Subagent } else { Relation::Fork };
        out.record.facts.extend(meta.word(Key::Id).map(|id| SessionFact::Parent { id, relation }));
        let own = self.state.id.clone();
        self.begin_prefix(own.as_deref(), out.at, None, out.at);
    }

    fn begin_prefix(
        &mut self,
        id: Option<&str>,
        started: Option<Millis>,
        own_from: Option<u64>,
        at: Option<Millis>,
    ) {
        let born = id.and_then(uuid_time).or(started).unwrap_or_default();
        let copied_at = at.or(started).unwrap_or(born);
        self.state.prefix = Some(Prefix { own_from, born, copied_at, by_turn: false });
    }

    /// Looks whether a copied beginning ends before this record.
    pub(super) fn watch_prefix(&mut self, line: &Line<'_>, at: Option<Millis>) {
        let Some(prefix) = &mut self.state.prefix else { return };
        if let (Some(own_from), Some(ordinal)) = (prefix.own_from, line.own.number(Key::Ordinal)) {
            if ordinal >= own_from {
                self.state.prefix = None;
            }
            return;
        }
        let Some(payload) = &line.inner else { return };
        let record = line.own.kind().unwrap_or_default();
        let event = payload.kind().unwrap_or_default();
        let thread = match record.as_ref() {
            "session_meta" => payload.text(Key::Id),
            "event_msg" | "token_usage_record" => payload.text(Key::ThreadId),
            _ => None,
        };
        let names_own = thread.is_some() && thread.as_deref() == self.state.id.as_deref();
        let is_turn = record == "turn_context" || matches!(event.as_ref(), "task_started" | "turn_started");
        let turn = payload.text(Key::TurnId).filter(|_| is_turn).and_then(|id| uuid_time(&id));
        let ends = match (turn, at) {
            _ if names_own => true,
            (Some(turn), _) => {
                prefix.by_turn = true;
                turn >= prefix.born
            }
            (None, Some(at)) if !prefix.by_turn => {
                let pause = at - prefix.copied_at;
                prefix.copied_at = prefix.copied_at.max(at);
                pause >= COPYING_PAUSE
            }
            _ => false,
        };
        if ends {
            self.state.prefix = None;
        }
    }

    /// What a turn runs with.
    pub(super) fn set_model(&mut self, settings: &Fields<'_>) {
        if let Some(mut model) = settings.word(Key::Model).map(Cow::into_owned) {
            model.truncate(model.floor_char_boundary(MODEL_LENGTH));
            self.state.model = Some(model);
        }
    }
}

/// Who began a session.
struct Origin<'a> {
    subagent: bool,
    parent: Option<Cow<'a, str>>,
    agent_name: Option<Cow<'a, str>>,
}

impl<'a> Origin<'a> {
    /// `source` is a word (`cli`, `exec`), or `{"subagent": "review"}`, or `{"subagent": {"thread_spawn": {…}}}`, or
    /// `{"internal": "guardian"}`.
    fn of(meta: &Fields<'a>) -> Origin<'a> {
        let source = meta.object(Key::Source).unwrap_or_default();
        let kind = source.first(&[Key::Subagent, Key::Internal]);
        let within = kind.map(Fields::of).unwrap_or_default();
        let spawn = within.object(Key::ThreadSpawn).unwrap_or_default();
        let says_so = meta.text(Key::ThreadSource).is_some_and(|source| source == "subagent");
        let subagent = kind.is_some() || says_so;
        let named = [Key::AgentRole, Key::AgentType, Key::AgentPath, Key::AgentNickname];
        let name = named.iter().find_map(|key| spawn.word(*key).or_else(|| meta.word(*key)));
        let parent = spawn.word(Key::ParentThreadId).or_else(|| meta.word(Key::ParentThreadId));
        Origin {
            subagent,
            parent: parent.filter(|_| subagent),
            agent_name: name.or_else(|| kind.and_then(text)).filter(|_| subagent),
        }
    }
}

/// When a version 7 UUID was made.
fn uuid_time(id: &str) -> Option<Millis> {
    let is_version_7 = id.len() == 36 && id.as_bytes()[14] == b'7';
    let millis = [id.get(..8)?, id.get(9..13)?].concat();
    Millis::from_str_radix(&millis, 16).ok().filter(|_| is_version_7)
}
