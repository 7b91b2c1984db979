//! The session that a log holds: its id, its project, its parent.

use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};
use tamis_clients::Client;
use tamis_logs::lines::open_regular;
use tamis_logs::readers::{Relation, gemini};
use tamis_logs::reading::stem_of;
use tamis_logs::usage::Tokens;
use tamis_store::rusqlite::{self, Connection};

use crate::db::{self, LogRow, SessionRow};
use crate::summary::SessionSummary;

pub(super) fn put_session(
    connection: &Connection,
    log: i64,
    row: &LogRow,
    mut summary: SessionSummary,
) -> rusqlite::Result<()> {
    let Some(provider) = row.format.provider().filter(|_| summary.events > 0) else {
        return db::remove_session(connection, log);
    };
    let path = Path::new(&row.source.path);
    if provider == Client::ClaudeCode && summary.agent_name.is_none() && summary.parent.is_some() {
        summary.agent_name = agent_type(path);
    }
    let native = summary.native_id.clone().unwrap_or_else(|| stem_of(path));
    let parent = summary.parent.clone().or_else(|| match provider {
        Client::Gemini => Some((gemini::parent_of(path)?, Relation::Subagent)),
        Client::ClaudeCode if native.starts_with("agent-") => {
            // Some subagents' records name their own id as their parent's, but the log is in the parent's folder.
            let session = path.ancestors().find(|folder| folder.ends_with("subagents"))?.parent()?;
            Some((session.file_name()?.to_str()?.to_owned(), Relation::Subagent))
        }
        _ => None,
    });
    let mut id = native.clone();
    if db::owner_of(connection, &id)?.is_some_and(|owner| owner != log) {
        // Two logs with one id, perhaps a copy: both stay reachable.
        id = format!("{native}~{}", &hash(&format!("{}\0{}", row.source.path, row.source.part))[..6]);
    }
    let root = summary.root.clone().or_else(|| match provider {
        Client::Gemini => gemini::root_of(path),
        _ => None,
    });
    let project = match (&root, &summary.root_hash) {
        (_, Some(hash)) if hash.len() == 64 => hash.clone(),
        (Some(root), _) => hash(root),
        (None, Some(name)) => hash(name),
        (None, None) => String::new(),
    };
    let started = summary.started.unwrap_or(0);
    db::put_session(
        connection,
        &SessionRow {
            log,
            id,
            native,
            provider,
            project,
            root,
            parent: parent.as_ref().map(|(id, _)| id.clone()),
            relation: parent.map(|(_, relation)| relation),
            started,
            ended: summary.ended.unwrap_or(started),
            tokens: summary.account.total().total(),
            inherited: Tokens::default(),
            summary,
        },
    )
}

/// The kind of a subagent, which Claude Code writes beside its log.
fn agent_type(path: &Path) -> Option<String> {
    let meta = path.with_extension("meta.json");
    let mut text = String::new();
    open_regular(&meta).ok()?.take(64 << 10).read_to_string(&mut text).ok()?;
    let meta: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(meta.get("agentType")?.as_str()?.to_owned())
}

/// SHA-256 in hexadecimal, which identifies projects: older logs of Gemini CLI have nothing else.
pub(crate) fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
