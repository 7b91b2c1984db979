//! Feedback of reviewers.

use tamis_store::rusqlite::{self, Connection, OptionalExtension, Row, params};

use super::{json, json_in};
use crate::InstanceId;
use crate::instances::records::{Feedback, Moment};

pub(crate) fn insert_feedback(connection: &Connection, feedback: &Feedback) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO feedback (id, review_instance, coding_instance, review_iteration, feedback, feedback_type, priority,
             actionable_items, digest, path, blob, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            feedback.id,
            feedback.review_instance,
            feedback.coding_instance,
            feedback.review_iteration,
            feedback.feedback,
            feedback.feedback_type,
            feedback.priority,
            json(&feedback.actionable_items),
            feedback.digest,
            feedback.path,
            feedback.blob,
            feedback.created_at,
        ],
    )?;
    Ok(())
}

/// Takes out feedback that never arrived.
pub(crate) fn delete_undelivered(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM feedback WHERE id = ?1 AND delivered_at IS NULL", [id])?;
    Ok(())
}

pub(crate) fn deliver_feedback(
    connection: &Connection,
    id: &str,
    commit: &str,
    path: &str,
    blob: &str,
) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE feedback SET git_commit_hash = ?2, path = ?3, blob = ?4, delivered_at = ?5 WHERE id = ?1",
        params![id, commit, path, blob, Moment::now()],
    )?;
    Ok(())
}

pub(crate) fn mark_notified(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    connection.execute("UPDATE feedback SET told_at = ?2 WHERE id = ?1", params![id, Moment::now()])?;
    Ok(())
}

pub(crate) fn feedback(connection: &Connection, id: &str) -> rusqlite::Result<Option<Feedback>> {
    let sql = "SELECT * FROM feedback WHERE id = ?1";
    connection.prepare_cached(sql)?.query_row([id], read_feedback).optional()
}

/// Feedback that a coding agent got, or all there is, first to last.
pub(crate) fn feedback_for(
    connection: &Connection,
    coding: Option<&InstanceId>,
) -> rusqlite::Result<Vec<Feedback>> {
    let mut statement = connection.prepare_cached(
        "SELECT * FROM feedback WHERE ?1 IS NULL OR coding_instance = ?1 OR review_instance = ?1
         ORDER BY created_at, id",
    )?;
    statement.query_map([coding], read_feedback)?.collect()
}

/// Feedback with this digest that a coding agent got before.
pub(crate) fn same_feedback(
    connection: &Connection,
    coding: &InstanceId,
    digest: &str,
) -> rusqlite::Result<Option<Feedback>> {
    let sql = "SELECT * FROM feedback WHERE coding_instance = ?1 AND digest = ?2";
    connection.prepare_cached(sql)?.query_row(params![coding, digest], read_feedback).optional()
}

/// Feedback that arrived, but whose coding agent has not been notified, though it is at work.
pub(crate) fn unnotified_feedback(connection: &Connection) -> rusqlite::Result<Vec<Feedback>> {
    let mut statement = connection.prepare_cached(
        "SELECT * FROM feedback WHERE delivered_at IS NOT NULL AND told_at IS NULL
             AND coding_instance IN (SELECT id FROM instances WHERE status = 'STARTED' AND phase = 'ready')
         ORDER BY created_at, id",
    )?;
    statement.query_map([], read_feedback)?.collect()
}

fn read_feedback(row: &Row<'_>) -> rusqlite::Result<Feedback> {
    Ok(Feedback {
        id: row.get("id")?,
        review_instance: row.get("review_instance")?,
        coding_instance: row.get("coding_instance")?,
        review_iteration: row.get("review_iteration")?,
        feedback: row.get("feedback")?,
        feedback_type: row.get("feedback_type")?,
        priority: row.get("priority")?,
        actionable_items: json_in(row, "actionable_items")?,
        digest: row.get("digest")?,
        path: row.get("path")?,
        blob: row.get("blob")?,
        git_commit_hash: row.get("git_commit_hash")?,
        created_at: row.get("created_at")?,
        delivered_at: row.get("delivered_at")?,
        told_at: row.get("told_at")?,
    })
}
