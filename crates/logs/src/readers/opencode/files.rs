//! The storage of files before the database.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::Value;

use super::db::mixed;
use super::{Listed, MOST_BYTES, MOST_BYTES_OF_SESSION, Message, OpenCodeError, Part, Session, object};
use crate::event::Millis;
use crate::readers::Unrecognised;

/// The layout of a storage folder.
struct Layout {
    /// Folders of sessions' files.
    sessions: Vec<PathBuf>,
    messages: PathBuf,
    parts: PathBuf,
    /// Whether the parts of a message are in a folder of its session first.
    by_session: bool,
}

impl Layout {
    fn of(storage: &Path) -> Layout {
        let session = storage.join("session");
        if session.join("info").is_dir() {
            return Layout {
                sessions: vec![session.join("info")],
                messages: session.join("message"),
                parts: session.join("part"),
                by_session: true,
            };
        }
        let sessions = entries(&session).into_iter().filter(|path| path.is_dir()).collect();
        let (messages, parts) = (storage.join("message"), storage.join("part"));
        Layout { sessions, messages, parts, by_session: false }
    }

    /// The sessions' files by their ids. A folder of messages whose session's file is gone is a session too.
    fn sessions(&self) -> BTreeMap<String, Option<PathBuf>> {
        let mut found = BTreeMap::new();
        for path in self.sessions.iter().flat_map(|folder| entries(folder)).filter(|path| is_json(path)) {
            let named = name_of(&path);
            // Most are named as they are called, so few have to be opened for their names.
            let id = match named.starts_with("ses_") && self.messages.join(&named).is_dir() {
                true => Some(named),
                false => load(&path, &mut Vec::new()).and_then(|data| text(&data, "/id")).or(Some(named)),
            };
            found.extend(id.filter(|id| is_plain(id)).map(|id| (id, Some(path))));
        }
        for folder in entries(&self.messages).into_iter().filter(|path| path.is_dir()) {
            found.entry(name_of(&folder)).or_insert(None);
        }
        found
    }

    fn parts_of(&self, session: &str, message: &str) -> Vec<PathBuf> {
        let folder = if self.by_session { self.parts.join(session) } else { self.parts.clone() };
        let found = entries(&folder.join(message));
        if found.is_empty() { entries(&folder.join(format!("msg_{message}"))) } else { found }
    }
}

/// A message is written again when a step of it ends, so the parts' files need not be checked; their folders are.
pub(super) fn sessions(storage: &Path) -> Result<Vec<Listed>, OpenCodeError> {
    fs::read_dir(storage).map_err(|source| OpenCodeError::Io { path: storage.to_owned(), source })?;
    let layout = Layout::of(storage);
    let flat = entries(&layout.parts).iter().any(|path| is_json(path));
    let listed = layout.sessions().into_iter().map(|(id, file)| {
        let mut stamp = file.map_or(0, |file| stamped(0, &file));
        for message in entries(&layout.messages.join(&id)) {
            stamp = stamped(stamp, &message);
            let folder = if layout.by_session { layout.parts.join(&id) } else { layout.parts.clone() };
            stamp = stamped(stamp, &folder.join(name_of(&message)));
        }
        if flat {
            stamp = stamped(stamp, &layout.parts);
        }
        Listed { id, stamp }
    });
    Ok(listed.collect())
}

pub(super) fn session(storage: &Path, id: &str) -> Result<Session, OpenCodeError> {
    let layout = Layout::of(storage);
    let missing = || OpenCodeError::NoSession { path: storage.to_owned(), id: id.to_owned() };
    if !is_plain(id) {
        return Err(missing());
    }
    let file = layout.sessions().remove(id).ok_or_else(missing)?;
    let mut session = Session { id: id.to_owned(), ..Session::default() };
    let info = file.and_then(|file| load(&file, &mut session.unrecognised)).unwrap_or_default();
    session.parent = text(&info, "/parentID");
    session.root = text(&info, "/directory");
    session.title = text(&info, "/title");
    session.version = text(&info, "/version");
    session.created = number(&info, "/time/created");
    session.revert = info.get("revert").filter(|revert| revert.is_object()).cloned();
    let mut bytes = 0;
    for path in entries(&layout.messages.join(id)).into_iter().filter(|path| is_json(path)) {
        let Some(data) = within(&path, &mut bytes, "message", &mut session.unrecognised) else { continue };
        let created = number(&data, "/time/created").or_else(|| number(&data, "/metadata/time/created"));
        let id = text(&data, "/id").unwrap_or_else(|| name_of(&path));
        session.messages.push(Message { id, created, data, parts: Vec::new() });
    }
    session.messages.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
    parts(&layout, &mut session, bytes);
    if session.root.is_none() {
        let root = |message: &Message| {
            text(&message.data, "/path/root").or_else(|| text(&message.data, "/path/cwd"))
        };
        session.root = session.messages.iter().find_map(root);
    }
    Ok(session)
}

fn parts(layout: &Layout, session: &mut Session, mut bytes: u64) {
    let mut messages = std::mem::take(&mut session.messages);
    for message in &mut messages {
        if let Some(Value::Array(inside)) = message.data.get_mut("parts").map(Value::take) {
            let id = message.id.clone();
            let part = |(place, data)| Part { id: format!("{id}.{place}"), created: None, data };
            message.parts.extend(inside.into_iter().enumerate().map(part));
        }
        if !is_plain(&message.id) {
            continue;
        }
        for path in layout.parts_of(&session.id, &message.id).into_iter().filter(|path| is_json(path)) {
            let Some(data) = within(&path, &mut bytes, "part", &mut session.unrecognised) else { continue };
            message.parts.push(Part { id: name_of(&path), created: None, data });
        }
    }
    // All parts of all sessions in one folder: those of this session are found by their messages.
    let flat: Vec<PathBuf> = entries(&layout.parts).into_iter().filter(|path| is_json(path)).collect();
    let ids: BTreeSet<String> = messages.iter().map(|message| message.id.clone()).collect();
    for path in flat {
        let Some(data) = load(&path, &mut session.unrecognised) else { continue };
        let owner = text(&data, "/messageID").filter(|owner| ids.contains(owner));
        let message = owner.and_then(|owner| messages.iter_mut().find(|message| message.id == owner));
        if let Some(message) = message {
            message.parts.push(Part { id: name_of(&path), created: None, data });
            message.parts.sort_by(|one, other| one.id.cmp(&other.id));
        }
    }
    session.messages = messages;
}

/// A file's object, unless the session is too long already.
fn within(
    path: &Path,
    bytes: &mut u64,
    what: &str,
    unrecognised: &mut Vec<Unrecognised<'static>>,
) -> Option<Value> {
    *bytes = bytes.saturating_add(fs::metadata(path).map_or(0, |metadata| metadata.len()));
    if *bytes > MOST_BYTES_OF_SESSION {
        unrecognised.push(Unrecognised::Unreadable(format!("{what} is too long").into()));
        return None;
    }
    load(path, unrecognised)
}

fn load(path: &Path, unrecognised: &mut Vec<Unrecognised<'static>>) -> Option<Value> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    if read.is_err() || bytes.len() as u64 > MOST_BYTES {
        let why = if read.is_err() { "file cannot be read" } else { "file is too long" };
        unrecognised.push(Unrecognised::Unreadable(why.into()));
        return None;
    }
    object(&String::from_utf8_lossy(&bytes), "file", unrecognised)
}

/// In order of their names, which is the order of their making.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json") && path.is_file()
}

fn name_of(path: &Path) -> String {
    path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether an id may be part of a path: one that a file gives may be anything.
fn is_plain(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('.') && !id.contains(['/', '\\', '\0', ':'])
}

fn stamped(stamp: u64, path: &Path) -> u64 {
    let Ok(metadata) = fs::metadata(path) else { return mixed(stamp, -1) };
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let nanoseconds = modified.map_or(0, |time| time.as_nanos() as i64);
    mixed(mixed(stamp, nanoseconds), metadata.len().cast_signed())
}

fn text(data: &Value, pointer: &str) -> Option<String> {
    data.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

fn number(data: &Value, pointer: &str) -> Option<Millis> {
    let value = data.pointer(pointer)?;
    value.as_i64().or_else(|| value.as_f64().map(|value| value as Millis))
}
