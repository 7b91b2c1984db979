//! The audit trail.

use tamis_store::rusqlite::{self, Connection, Row, params};

use super::json_in;
use crate::InstanceId;
use crate::instances::records::{AgentEvent, Moment, NewEvent};

/// Inserts an event. Answers its sequence number.
pub(crate) fn insert_event(connection: &Connection, event: &NewEvent<'_>) -> rusqlite::Result<i64> {
    connection.execute(
        "INSERT INTO mcp_events (at, kind, instance_id, tool_name, success, status_before, status_after, git_commit,
             error_code, detail)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            Moment::now(),
            event.kind,
            event.instance,
            event.tool,
            event.success,
            event.statuses.map(|(before, _)| before),
            event.statuses.map(|(_, after)| after),
            event.git_commit,
            event.error_code,
            event.detail.to_string(),
        ],
    )?;
    Ok(connection.last_insert_rowid())
}

const EVENT: &str = "seq, at, kind, instance_id, tool_name, success, status_before, status_after, git_commit, error_code, detail";

/// Events after this one, in order, of one instance or of all.
pub(crate) fn events_after(
    connection: &Connection,
    after: i64,
    instance: Option<&InstanceId>,
    most: u32,
) -> rusqlite::Result<Vec<AgentEvent>> {
    // Said so that those of one are found by the index.
    let whose = if instance.is_some() { "instance_id = ?2" } else { "?2 IS NULL" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {EVENT} FROM mcp_events WHERE seq > ?1 AND {whose} ORDER BY seq LIMIT ?3",
    ))?;
    statement.query_map(params![after, instance, most], read_event)?.collect()
}

/// Events of one instance before this one, latest first.
pub(crate) fn events_before(
    connection: &Connection,
    before: i64,
    instance: &InstanceId,
    most: u32,
) -> rusqlite::Result<Vec<AgentEvent>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {EVENT} FROM mcp_events WHERE instance_id = ?2 AND seq < ?1 ORDER BY seq DESC LIMIT ?3",
    ))?;
    statement.query_map(params![before, instance, most], read_event)?.collect()
}

fn read_event(row: &Row<'_>) -> rusqlite::Result<AgentEvent> {
    Ok(AgentEvent {
        seq: row.get("seq")?,
        at: row.get("at")?,
        kind: row.get("kind")?,
        instance_id: row.get("instance_id")?,
        tool_name: row.get("tool_name")?,
        success: row.get("success")?,
        status_before: row.get("status_before")?,
        status_after: row.get("status_after")?,
        git_commit: row.get("git_commit")?,
        error_code: row.get("error_code")?,
        detail: json_in(row, "detail")?,
    })
}

/// The number of the last event; 0 before the first.
pub(crate) fn last_event(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT COALESCE(MAX(seq), 0) FROM mcp_events", [], |row| row.get(0))
}

/// Changes when another connection has written.
pub(crate) fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0))
}
