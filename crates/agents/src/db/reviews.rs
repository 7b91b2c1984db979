//! Reviews, and the families that they make of a coding agent and its reviewers.

use std::collections::BTreeSet;

use tamis_store::rusqlite::{self, Connection, OptionalExtension, Row, params};

use super::parsed;
use crate::InstanceId;
use crate::instances::records::{Moment, Review, ReviewOutcome};
use crate::pull_requests::create_pull_request::CLOSED_FOLLOWED;

pub(crate) fn insert_review(connection: &Connection, review: &Review) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO instance_relationships (parent_instance, child_instance, relationship_type, review_iteration,
             reviewed_commit, work_identity, created_at)
         VALUES (?1, ?2, 'spawned_review', ?3, ?4, ?5, ?6)",
        params![
            review.parent_instance,
            review.child_instance,
            review.review_iteration,
            review.reviewed_commit.as_str(),
            review.work_identity,
            review.created_at,
        ],
    )?;
    Ok(())
}

/// The contract's count: which iteration the last review was, 0 before the first.
pub(crate) fn current_iteration(connection: &Connection, coding: &InstanceId) -> rusqlite::Result<u32> {
    connection.query_row(
        "SELECT COALESCE(MAX(review_iteration), 0) FROM instance_relationships
         WHERE parent_instance = ?1 AND relationship_type = 'spawned_review'",
        [coding],
        |row| row.get(0),
    )
}

/// The reviews of a coding agent's work, first to last.
pub(crate) fn reviews_of(connection: &Connection, coding: &InstanceId) -> rusqlite::Result<Vec<Review>> {
    let mut statement = connection.prepare_cached(
        "SELECT * FROM instance_relationships WHERE parent_instance = ?1 ORDER BY review_iteration",
    )?;
    statement.query_map([coding], read_review)?.collect()
}

/// The review that this review agent was started for.
pub(crate) fn review_by(connection: &Connection, review: &InstanceId) -> rusqlite::Result<Option<Review>> {
    let sql = "SELECT * FROM instance_relationships WHERE child_instance = ?1";
    connection.prepare_cached(sql)?.query_row([review], read_review).optional()
}

pub(crate) fn end_review(
    connection: &Connection,
    review: &InstanceId,
    outcome: ReviewOutcome,
) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE instance_relationships SET outcome = ?2, ended_at = ?3 WHERE child_instance = ?1 AND outcome IS NULL",
        params![review, outcome, Moment::now()],
    )?;
    Ok(())
}

/// Lets the time of a review begin now: the clock was wrong when it began.
pub(crate) fn restart_review(connection: &Connection, review: &InstanceId) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE instance_relationships SET created_at = ?2 WHERE child_instance = ?1",
        params![review, Moment::now()],
    )?;
    Ok(())
}

/// The review of a coding agent's work that has not ended.
pub(crate) fn running_review(
    connection: &Connection,
    coding: &InstanceId,
) -> rusqlite::Result<Option<Review>> {
    let sql = "SELECT * FROM instance_relationships WHERE parent_instance = ?1 AND outcome IS NULL";
    connection.prepare_cached(sql)?.query_row([coding], read_review).optional()
}

/// Reviews that ended without a pull request, and requests that were turned down at the limit.
pub(crate) fn failed_reviews(connection: &Connection, coding: &InstanceId) -> rusqlite::Result<u64> {
    connection.query_row(
        "SELECT rejected_requests + (SELECT COUNT(*) FROM instance_relationships
             WHERE parent_instance = ?1 AND outcome IS NOT NULL AND outcome <> 'approved')
         FROM instances WHERE id = ?1",
        [coding],
        |row| row.get(0),
    )
}

/// Whose family an instance belongs to: the coding agent of a reviewer, and else itself.
pub(crate) fn family(connection: &Connection, id: &InstanceId) -> rusqlite::Result<InstanceId> {
    Ok(review_by(connection, id)?.map_or_else(|| id.clone(), |review| review.parent_instance))
}

/// The families in which something may have to be done: by an instance that should be alive or is not cleaned up, by a pull
/// request that is open or may be opened again, or by an operation that was begun.
pub(crate) fn families_to_look_after(connection: &Connection) -> rusqlite::Result<BTreeSet<InstanceId>> {
    let mut statement = connection.prepare_cached(
        "SELECT id AS member FROM instances WHERE phase IN ('ready', 'ending') OR status = 'PR_CREATED'
             OR (status = 'PR_CLOSED' AND ended_at > ?1)
         UNION SELECT instance_id FROM operations WHERE state = 'begun'",
    )?;
    let closed_since = Moment::now().0 - CLOSED_FOLLOWED;
    let members: Vec<InstanceId> =
        statement.query_map([closed_since], |row| row.get("member"))?.collect::<rusqlite::Result<_>>()?;
    members.iter().map(|member| family(connection, member)).collect()
}

fn read_review(row: &Row<'_>) -> rusqlite::Result<Review> {
    Ok(Review {
        parent_instance: row.get("parent_instance")?,
        child_instance: row.get("child_instance")?,
        review_iteration: row.get("review_iteration")?,
        reviewed_commit: parsed(row, "reviewed_commit")?,
        work_identity: row.get("work_identity")?,
        outcome: row.get("outcome")?,
        created_at: row.get("created_at")?,
        ended_at: row.get("ended_at")?,
    })
}
