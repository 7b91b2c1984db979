//! The readers, one module for each agent, whose format is described at the module's top.
//!
//! There are two families. Logs of lines only grow, so they are read on from where the last reading ended: a
//! [`LineReader`] gets one record after the other, and what later records depend on can be saved and resumed. Documents
//! are rewritten, so they are read whole.
//!
//! A reader never fails on a record: what it does not recognise it reports as [`Unrecognised`], which is counted and shown.

pub mod claude;
pub mod codex;
mod fields;
pub mod gemini;
mod hashing;
pub mod opencode;

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tamis_clients::Client;

use crate::event::{LogEvent, Millis};
use crate::reading::stem_of;
pub use hashing::hex_sha256;

/// What a record, or a whole document, gave.
#[derive(Debug, Default)]
pub struct ParsedLog<'a> {
    pub events: Vec<LogEvent<'a>>,
    pub facts: Vec<SessionFact<'a>>,
    pub unrecognised: Vec<Unrecognised<'a>>,
}

/// What a record states about its whole session. The first value of each field counts; of titles, the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionFact<'a> {
    /// The agent's own id of the session.
    Id(Cow<'a, str>),
    /// The folder that it was started in.
    Root(Cow<'a, str>),
    /// SHA-256 of that folder's path, for logs that have only that.
    RootHash(Cow<'a, str>),
    Started(Millis),
    /// A name that the client or the user gave to the session.
    Title(Cow<'a, str>),
    Parent {
        id: Cow<'a, str>,
        relation: Relation,
    },
    /// The client's version.
    Version(Cow<'a, str>),
    /// The kind of subagent, as its client calls it.
    AgentName(Cow<'a, str>),
}

/// How a session comes from its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// Begun by its parent for a task of its own.
    Subagent,
    /// Begun with a copy of its parent's conversation.
    Fork,
}

impl Relation {
    pub fn name(self) -> &'static str {
        match self {
            Relation::Subagent => "subagent",
            Relation::Fork => "fork",
        }
    }

    pub fn named(name: &str) -> Option<Relation> {
        [Relation::Subagent, Relation::Fork].into_iter().find(|relation| relation.name() == name)
    }
}

/// Something in a log that its reader does not recognise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unrecognised<'a> {
    /// A record of a type that the reader does not know.
    Record(Cow<'a, str>),
    /// A part of a known record, of a type that the reader does not know: `assistant.content.video`.
    Part(Cow<'a, str>),
    /// No JSON, or none of the expected form; why, in a few words and without quoting.
    Unreadable(Cow<'a, str>),
}

/// Reads a log of lines.
pub trait LineReader: Send {
    /// Reads one record, a line without its line break. What it gives is added to `record`.
    fn read<'a>(&mut self, line: &'a str, record: &mut ParsedLog<'a>);

    /// What later records depend on, as JSON; the reader's module resumes from it.
    fn state(&self) -> String;
}

/// What only the path of a log, and files beside it, state about its session. It counts where the log states nothing itself.
pub fn facts_of_path(provider: Client, path: &Path) -> Vec<SessionFact<'static>> {
    let mut facts = match provider {
        Client::ClaudeCode => claude::facts_of_path(path),
        Client::Gemini => gemini::facts_of_path(path),
        Client::Codex | Client::OpenCode => Vec::new(),
    };
    facts.push(SessionFact::Id(stem_of(path).into()));
    facts
}

/// A time as logs write it, RFC 3339.
pub(crate) fn time(text: &str) -> Option<Millis> {
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(time.as_millisecond())
}
