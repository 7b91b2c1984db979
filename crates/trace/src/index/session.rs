//! The session that a log holds: its id, its project, its parent.

use std::path::Path;

use tamis_logs::readers::{facts_of_path, hex_sha256};
use tamis_logs::usage::Tokens;
use tamis_store::rusqlite::{self, Connection};

use crate::db;
use crate::indexed_log::IndexedLog;
use crate::session::{Project, Session};
use crate::summary::SessionSummary;

pub(super) fn put_session(
    connection: &Connection,
    log: i64,
    row: &IndexedLog,
    mut summary: SessionSummary,
) -> rusqlite::Result<()> {
    let Some(provider) = row.format.provider().filter(|_| summary.events > 0) else {
        return db::remove_session(connection, log);
    };
    // These are not kept in the summary: when the log goes on, it may state them itself.
    let mut of_path = SessionSummary::default();
    facts_of_path(provider, Path::new(&row.source.path)).iter().for_each(|fact| of_path.fact(fact));
    if summary.parent.is_some() {
        summary.agent_name = summary.agent_name.or(of_path.agent_name);
    }
    let native_id = summary.native_id.clone().or(of_path.native_id).unwrap_or_default();
    let (parent, relation) = summary.parent.clone().or(of_path.parent).unzip();
    let root = summary.root.clone().or(of_path.root).filter(|root| !root.is_empty());
    let project = match (&root, &summary.root_hash) {
        (_, Some(hash)) if hash.len() == 64 => hash.clone(),
        (Some(root), _) => hex_sha256(root),
        (None, Some(name)) => hex_sha256(name),
        (None, None) => Project::hash_of(""),
    };
    let mut id = native_id.clone();
    if db::owner_of(connection, &id)?.is_some_and(|owner| owner != log) {
        // Two logs with one id, perhaps a copy: both stay reachable.
        let place = format!("{}\0{}", row.source.path, row.source.part);
        id = format!("{native_id}~{}", &hex_sha256(&place)[..6]);
    }
    db::put_session(
        connection,
        &Session {
            log,
            id,
            native_id,
            provider,
            project,
            root,
            parent,
            relation,
            own_tokens: summary.account.total().total(),
            inherited: Tokens::default(),
            summary,
        },
    )
}
