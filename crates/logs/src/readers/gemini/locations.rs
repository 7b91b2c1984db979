//! What only the path of a log reveals.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::readers::{Relation, SessionFact};

/// No list of projects is larger, nor a path longer.
const MOST: u64 = 4 << 20;

/// The folder of the session, and its parent.
pub(in crate::readers) fn facts_of_path(chat: &Path) -> Vec<SessionFact<'static>> {
    let root = root_of(chat).map(|root| SessionFact::Root(root.into()));
    let parent =
        parent_of(chat).map(|id| SessionFact::Parent { id: id.into(), relation: Relation::Subagent });
    root.into_iter().chain(parent).collect()
}

/// The folder that the session of the log at `chat` was started in.
///
/// The client writes it into `.project_root` beside the folder of chats. Where that is missing, `projects.json` in the
/// client's own folder may have it: it names the folder of each project. Older logs are under the SHA-256 of the path, and
/// have nothing else.
fn root_of(chat: &Path) -> Option<String> {
    let project = chats_of(chat)?.parent()?;
    if let Some(root) = read(&project.join(".project_root")) {
        let root = root.trim();
        if !root.is_empty() {
            return Some(root.to_owned());
        }
    }
    let name = project.file_name()?.to_str()?;
    let list: Value =
        serde_json::from_str(&read(&project.parent()?.parent()?.join("projects.json"))?).ok()?;
    let projects = list.get("projects")?.as_object()?;
    projects.iter().find(|(_, folder)| *folder == name).map(|(root, _)| root.clone())
}

/// The id of the session that began the subagent whose log is at `chat`; `None` for a session of its own.
fn parent_of(chat: &Path) -> Option<String> {
    let folder = chat.parent()?;
    if folder.parent()?.file_name()? != "chats" {
        return None;
    }
    folder.file_name()?.to_str().map(str::to_owned)
}

/// The folder of chats that a log is in, its own or its parent's.
fn chats_of(chat: &Path) -> Option<&Path> {
    chat.ancestors().skip(1).take(2).find(|folder| folder.file_name().is_some_and(|name| name == "chats"))
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(path).ok()?.take(MOST).read_to_string(&mut text).ok()?;
    Some(text)
}
