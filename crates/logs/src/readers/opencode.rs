//! OpenCode.
//!
//! Everything is stored in `$XDG_DATA_HOME/opencode` (`~/.local/share/opencode`). Since early 2026 that is an SQLite database,
//! `opencode.db` (`opencode-<channel>.db` for other than released versions):
//!
//! ```text
//! session  id, parent_id, directory, title, version, agent, revert, time_created, time_updated, …
//! message  id, session_id, time_created, data: {"role": "user"|"assistant", "time", "modelID", "tokens", "error", …}
//! part     id, message_id, session_id, time_created, data: {"type": …}
//! event_sequence  aggregate_id (a session's id), seq: rises with every change of the session
//! session_message id, session_id, type, seq, data     the next version's messages, empty in those of today
//! ```
//!
//! Before, the same objects were files: `storage/session/<project>/<session>.json`, `storage/message/<session>/<message>.json`,
//! `storage/part/<message>/<part>.json` (some have all parts in `storage/part/`). Older still is the same for each project,
//! in `project/<project>/storage/session/{info,message,part}`, and at first messages had their parts in them.
//! The client copies the old into the new, with their ids, and leaves them: see [`sessions_of`].
//!
//! - **Order**: messages by time and id, parts by id, as the client does.
//! - **Tokens**: each `step-finish` part has those of one request. A message's own `tokens` are its last step's, so they
//!   count only where it has no such part; summing both counts twice, and taking the message alone loses steps. `input`
//!   has nothing cached in it. `output` has the reasoning in it until version 1.3 (April 2026), and not since; `total`
//!   (since February 2026) shows which. Without it the reasoning is taken as included, unless it is larger.
//! - **Forks** are new sessions with copies of the messages under new ids, but their old times, and no word of where they
//!   come from. So what is older than its session, and is not named by that time, was inherited; the session that has it
//!   first is the parent.
//! - **Subagents**: sessions with a `parent_id`.
//! - **Reverted**: until the next prompt the messages from `revert` on are still there, but no conversation. A
//!   notification says how many; their tokens count.
//! - **Ignored**: parts `step-start` and `snapshot` (states of the folder), `agent` (the mention stands in the text),
//!   empty texts and reasoning (only encrypted), a user message's `summary` (the client's list of changed files).

mod assemble;
mod db;
mod files;
mod parts;
mod projected;
mod tokens;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;
use tamis_store::ForeignError;

use super::{ParsedLog, Unrecognised};
use crate::event::Millis;

/// A message or part that is longer is not read, but reported as unrecognised.
const MOST_BYTES: u64 = 64 << 20;
/// Of a session that is longer, the rest is not read, but reported as unrecognised.
const MOST_BYTES_OF_SESSION: u64 = 512 << 20;

#[derive(Debug, thiserror::Error)]
pub enum OpenCodeError {
    #[error(transparent)]
    Database(#[from] ForeignError),
    #[error("cannot read {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} has none of OpenCode's tables", path.display())]
    NotOpenCode { path: PathBuf },
    #[error("{} has no session {id}", path.display())]
    NoSession { path: PathBuf, id: String },
}

/// A session, and a number that changes whenever the session does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub id: String,
    pub stamp: u64,
}

/// Where sessions may be stored under OpenCode's data folder: databases, then the storages before them. The first that has a
/// session is right.
pub fn stores(data: &Path) -> Vec<PathBuf> {
    let under = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let mut stores: Vec<PathBuf> = under(data).into_iter().filter(|path| is_database(path)).collect();
    stores.push(data.join("storage"));
    stores.extend(under(&data.join("project")).into_iter().map(|project| project.join("storage")));
    stores.retain(|store| store.exists());
    stores
}

/// Whether a file is a database of OpenCode's, by its name.
pub fn is_database(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name == "opencode.db" || name.starts_with("opencode-") && name.ends_with(".db")
}

/// Whether a folder is one of the storages, by what is in it.
pub fn is_storage(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_dir();
    has("message") && (has("session") || has("part"))
}

/// The sessions of a database, or of a folder of the older storage.
pub fn sessions(path: &Path) -> Result<Vec<Listed>, OpenCodeError> {
    if path.is_dir() { files::sessions(path) } else { db::sessions(path) }
}

/// The sessions of all stores, each from the first that has it, and what could not be read.
pub fn sessions_of(stores: &[PathBuf]) -> (Vec<(PathBuf, Listed)>, Vec<OpenCodeError>) {
    let (mut found, mut errors, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for store in stores {
        match sessions(store) {
            Ok(listed) => {
                let new = listed.into_iter().filter(|listed| seen.insert(listed.id.clone()));
                found.extend(new.map(|listed| (store.clone(), listed)));
            }
            Err(error) => errors.push(error),
        }
    }
    (found, errors)
}

/// Reads one session of a database, or of a folder of the older storage.
pub fn read(path: &Path, id: &str) -> Result<ParsedLog<'static>, OpenCodeError> {
    let session = if path.is_dir() { files::session(path, id) } else { db::session(path, id) }?;
    Ok(assemble::transcript(session))
}

/// A session as it is stored.
#[derive(Debug, Default)]
struct Session {
    id: String,
    parent: Option<String>,
    /// The session that has the inherited messages as its own.
    origin: Option<String>,
    root: Option<String>,
    title: Option<String>,
    version: Option<String>,
    agent: Option<String>,
    created: Option<Millis>,
    /// `{"messageID", "partID"?}`
    revert: Option<Value>,
    messages: Vec<Message>,
    unrecognised: Vec<Unrecognised<'static>>,
}

#[derive(Debug)]
struct Message {
    id: String,
    created: Option<Millis>,
    data: Value,
    parts: Vec<Part>,
}

impl Message {
    /// Whether a fork has it from the session it was made of.
    fn is_inherited(&self, session: Option<Millis>) -> bool {
        let (Some(created), Some(session)) = (self.created, session) else { return false };
        // An id has the time of its making in it, modulo 2^36 ms. A clock that jumped back gives an old message an old id.
        let made = self.id.strip_prefix("msg_").and_then(|id| i64::from_str_radix(id.get(..12)?, 16).ok());
        let apart = made.map(|made| (made >> 12).wrapping_sub(created).rem_euclid(1 << 36));
        created < session && apart.is_none_or(|apart| apart > 1000 && apart < (1 << 36) - 1000)
    }
}

#[derive(Debug)]
struct Part {
    id: String,
    created: Option<Millis>,
    data: Value,
}

/// JSON that should be an object; what it is instead is reported.
fn object(text: &str, what: &str, unrecognised: &mut Vec<Unrecognised<'static>>) -> Option<Value> {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ Value::Object(_)) => Some(value),
        Ok(_) => {
            unrecognised.push(Unrecognised::Unreadable(format!("{what} is not an object").into()));
            None
        }
        Err(error) => {
            let why = if error.is_eof() { "ends too early" } else { "is not JSON" };
            unrecognised.push(Unrecognised::Unreadable(format!("{what} {why}").into()));
            None
        }
    }
}
