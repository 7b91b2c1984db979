//! All SQL of the tables for agents.
//!
//! Whatever changes an instance's status writes the event in the same transaction; [`set_status`] is the only way.

use std::collections::BTreeSet;

use serde_json::Value;
use tamis_store::Component;
use tamis_store::rusqlite::types::Type;
use tamis_store::rusqlite::{self, Connection, OptionalExtension, Row, named_params, params};

use crate::instances::records::{
    AgentChoice, AgentEvent, EventKind, Feedback, Instance, Moment, NewEvent, Operation, OperationState,
    Phase, Review, ReviewOutcome,
};
use crate::pull_requests::create_pull_request::CLOSED_FOLLOWED;
use crate::{AgentsError, Code, InstanceId, Status};

/// Migrations are only ever added.
pub(crate) const COMPONENTS: &[Component] = &[Component {
    name: "agents",
    migrations: &["
        CREATE TABLE instances (
            id TEXT PRIMARY KEY,
            type TEXT NOT NULL CHECK (type IN ('coding', 'review', 'planning')),
            status TEXT NOT NULL CHECK (status IN ('STARTED', 'WAITING_REVIEW', 'PR_CREATED', 'PR_MERGED', 'PR_CLOSED',
                                                   'ABANDONED', 'TERMINATED')),
            phase TEXT NOT NULL CHECK (phase IN ('preparing', 'ready', 'ending', 'kept', 'gone')),
            reason TEXT,
            task TEXT NOT NULL,
            issue INTEGER,
            agent TEXT NOT NULL,
            args TEXT NOT NULL CHECK (json_valid(args)),
            repository TEXT NOT NULL,
            worktree TEXT NOT NULL UNIQUE,
            branch TEXT NOT NULL,
            base_branch TEXT,
            base_commit TEXT NOT NULL,
            session TEXT NOT NULL UNIQUE,
            identity_hash TEXT NOT NULL UNIQUE,
            exit_code INTEGER,
            pr_number INTEGER,
            pr_url TEXT,
            rejected_requests INTEGER NOT NULL DEFAULT 0 CHECK (rejected_requests >= 0),
            created_at INTEGER NOT NULL,    -- milliseconds since 1970, here and below
            updated_at INTEGER NOT NULL,
            ended_at INTEGER,
            -- A review agent waits for nobody.
            CHECK (type <> 'review' OR status IN ('STARTED', 'TERMINATED', 'ABANDONED')),
            CHECK (status NOT IN ('PR_CREATED', 'PR_MERGED', 'PR_CLOSED') OR pr_number IS NOT NULL)
        ) STRICT;
        CREATE TABLE instance_relationships (
            id INTEGER PRIMARY KEY,
            parent_instance TEXT NOT NULL REFERENCES instances (id),
            child_instance TEXT NOT NULL UNIQUE REFERENCES instances (id),
            relationship_type TEXT NOT NULL CHECK (relationship_type IN ('spawned_review')),
            review_iteration INTEGER NOT NULL CHECK (review_iteration > 0),
            reviewed_commit TEXT NOT NULL,
            work_identity TEXT NOT NULL,
            outcome TEXT CHECK (outcome IN ('feedback', 'approved', 'ended', 'timed_out')),
            created_at INTEGER NOT NULL,
            ended_at INTEGER,
            UNIQUE (parent_instance, relationship_type, review_iteration)
        ) STRICT;
        CREATE TABLE feedback (
            id TEXT PRIMARY KEY,
            review_instance TEXT NOT NULL REFERENCES instances (id),
            coding_instance TEXT NOT NULL REFERENCES instances (id),
            review_iteration INTEGER NOT NULL,
            feedback TEXT NOT NULL,
            feedback_type TEXT NOT NULL CHECK (feedback_type IN ('needs_work', 'suggestions', 'clarification')),
            priority TEXT,
            actionable_items TEXT NOT NULL CHECK (json_valid(actionable_items)),
            digest TEXT NOT NULL,
            path TEXT NOT NULL,
            blob TEXT,
            git_commit_hash TEXT,
            created_at INTEGER NOT NULL,
            delivered_at INTEGER,
            told_at INTEGER,
            CHECK ((git_commit_hash IS NULL) = (delivered_at IS NULL)),
            UNIQUE (coding_instance, digest)
        ) STRICT;
        CREATE TABLE mcp_events (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            instance_id TEXT REFERENCES instances (id),
            tool_name TEXT,
            success INTEGER CHECK (success IN (0, 1)),
            status_before TEXT,
            status_after TEXT,
            git_commit TEXT,
            error_code TEXT,
            detail TEXT NOT NULL CHECK (json_valid(detail))
        ) STRICT;
        CREATE INDEX mcp_events_of_instance ON mcp_events (instance_id, seq);
        CREATE TABLE operations (
            id INTEGER PRIMARY KEY,
            call_key TEXT UNIQUE,
            tool TEXT NOT NULL,
            instance_id TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('begun', 'done', 'undone')),
            plan TEXT NOT NULL CHECK (json_valid(plan)),
            result TEXT CHECK (json_valid(result)),
            begun_at INTEGER NOT NULL,
            ended_at INTEGER,
            CHECK ((state = 'begun') = (ended_at IS NULL))
        ) STRICT;
        -- An instance does one thing at a time.
        CREATE UNIQUE INDEX operations_under_way ON operations (instance_id) WHERE state = 'begun';
        CREATE TABLE user_config (
            key TEXT PRIMARY KEY,
            value TEXT NOT NULL,
            encrypted INTEGER NOT NULL DEFAULT FALSE
        ) STRICT;
        INSERT INTO user_config (key, value, encrypted) VALUES
            ('review.max_iterations', '3', FALSE),
            ('review.auto_abandon_after', '5', FALSE),
            ('review.timeout_hours', '24', FALSE);
    ", "
        -- What the issue said when the instance was started.
        ALTER TABLE instances ADD COLUMN issue_title TEXT;
        ALTER TABLE instances ADD COLUMN issue_text TEXT;
    "],
}];

const INSTANCE: &str = "id, type, status, phase, reason, task, issue, issue_title, agent, args, repository, worktree,
    branch, base_branch, base_commit, session, exit_code, pr_number, pr_url, rejected_requests, created_at, updated_at, ended_at";

/// Puts an instance in, with the hash of its identity's token.
pub(crate) fn insert_instance(
    connection: &Connection,
    instance: &Instance,
    identity_hash: &str,
) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO instances (id, type, status, phase, reason, task, issue, issue_title, agent, args, repository,
             worktree, branch, base_branch, base_commit, session, identity_hash, created_at, updated_at)
         VALUES (:id, :type, :status, :phase, :reason, :task, :issue, :issue_title, :agent, :args, :repository,
             :worktree, :branch, :base_branch, :base_commit, :session, :identity_hash, :created_at, :created_at)",
        named_params! {
            ":id": instance.id.as_str(),
            ":type": instance.agent_type.as_str(),
            ":status": instance.status.as_str(),
            ":phase": instance.phase.as_str(),
            ":reason": instance.reason,
            ":task": instance.task,
            ":issue": instance.issue,
            ":issue_title": instance.issue_title,
            ":agent": instance.choice.agent,
            ":args": json(&instance.choice.args),
            ":repository": path_text(&instance.repository),
            ":worktree": path_text(&instance.worktree),
            ":branch": instance.branch.as_str(),
            ":base_branch": instance.base_branch.as_deref(),
            ":base_commit": instance.base_commit.as_str(),
            ":session": instance.session,
            ":identity_hash": identity_hash,
            ":created_at": instance.created_at.0,
        },
    )?;
    Ok(())
}

/// Stores the text of an instance's issue, for its reviewers.
pub(crate) fn set_issue_text(connection: &Connection, id: &InstanceId, text: &str) -> rusqlite::Result<()> {
    connection.execute("UPDATE instances SET issue_text = ?2 WHERE id = ?1", [id.as_str(), text])?;
    Ok(())
}

/// The text of an instance's issue at its start.
pub(crate) fn issue_text(connection: &Connection, id: &InstanceId) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT issue_text FROM instances WHERE id = ?1", [id.as_str()], |row| row.get(0))
}

/// Takes out an instance that never came to be. It must have no event yet.
pub(crate) fn delete_instance(connection: &Connection, id: &InstanceId) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM instance_relationships WHERE child_instance = ?1", [id.as_str()])?;
    connection.execute("DELETE FROM instances WHERE id = ?1 AND phase = 'preparing'", [id.as_str()])?;
    Ok(())
}

pub(crate) fn instance(connection: &Connection, id: &InstanceId) -> rusqlite::Result<Option<Instance>> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {INSTANCE} FROM instances WHERE id = ?1"))?;
    statement.query_row([id.as_str()], read_instance).optional()
}

/// All instances, or those of some statuses, oldest first. What is still being made is left out unless it is wanted.
pub(crate) fn instances(connection: &Connection, with_preparing: bool) -> rusqlite::Result<Vec<Instance>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {INSTANCE} FROM instances WHERE ?1 OR phase <> 'preparing' ORDER BY created_at, id"
    ))?;
    statement.query_map([with_preparing], read_instance)?.collect()
}

/// How many instances there are of each status that any has.
pub(crate) fn count_by_status(connection: &Connection) -> rusqlite::Result<Vec<(Status, u64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT status, COUNT(*) AS number FROM instances WHERE phase <> 'preparing' GROUP BY status",
    )?;
    statement.query_map([], |row| Ok((word(row, "status")?, row.get("number")?)))?.collect()
}

/// Whose identity this is.
pub(crate) fn instance_by_identity(
    connection: &Connection,
    identity_hash: &str,
) -> rusqlite::Result<Option<Instance>> {
    let sql = format!("SELECT {INSTANCE} FROM instances WHERE identity_hash = ?1");
    connection.prepare_cached(&sql)?.query_row([identity_hash], read_instance).optional()
}

/// Whether a name is taken, by an instance of whatever age.
pub(crate) fn is_taken(connection: &Connection, id: &InstanceId) -> rusqlite::Result<bool> {
    connection
        .query_row("SELECT EXISTS (SELECT 1 FROM instances WHERE id = ?1)", [id.as_str()], |row| row.get(0))
}

/// Changes the status, if the table of transitions has it, and records an event. Anything else is [`Code::InvalidState`].
pub(crate) fn set_status(
    connection: &Connection,
    id: &InstanceId,
    next: Status,
    reason: Option<&str>,
    tool: Option<&str>,
) -> Result<i64, AgentsError> {
    let Some(before) = instance(connection, id)?.map(|instance| instance.status) else {
        return Err(AgentsError::new(Code::InstanceNotFound, format!("there is no instance {id}")).about(id));
    };
    if !before.may_become(next) {
        return Err(AgentsError::new(
            Code::InvalidState,
            format!("{id} is {before} and cannot become {next}"),
        )
        .about(id));
    }
    let now = Moment::now().0;
    connection.execute(
        "UPDATE instances SET status = ?2, reason = ?3, updated_at = ?4, ended_at = iif(?5, ?4, NULL) WHERE id = ?1",
        params![id.as_str(), next.as_str(), reason, now, !next.is_live()],
    )?;
    let event = NewEvent {
        tool,
        statuses: Some((before, next)),
        detail: reason.map_or(Value::Null, |reason| serde_json::json!({"reason": reason})),
        ..NewEvent::of(EventKind::StatusChanged, id)
    };
    Ok(insert_event(connection, &event)?)
}

pub(crate) fn set_phase(connection: &Connection, id: &InstanceId, phase: Phase) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE instances SET phase = ?2, updated_at = ?3 WHERE id = ?1",
        params![id.as_str(), phase.as_str(), Moment::now().0],
    )?;
    Ok(())
}

pub(crate) fn set_exit_code(
    connection: &Connection,
    id: &InstanceId,
    code: Option<i32>,
) -> rusqlite::Result<()> {
    connection.execute("UPDATE instances SET exit_code = ?2 WHERE id = ?1", params![id.as_str(), code])?;
    Ok(())
}

pub(crate) fn set_pull_request(
    connection: &Connection,
    id: &InstanceId,
    number: i64,
    url: &str,
) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE instances SET pr_number = ?2, pr_url = ?3 WHERE id = ?1",
        params![id.as_str(), number, url],
    )?;
    Ok(())
}

/// Counts a request for review that was turned down at the limit.
pub(crate) fn count_rejection(connection: &Connection, id: &InstanceId) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE instances SET rejected_requests = rejected_requests + 1, updated_at = ?2 WHERE id = ?1",
        params![id.as_str(), Moment::now().0],
    )?;
    Ok(())
}

fn read_instance(row: &Row<'_>) -> rusqlite::Result<Instance> {
    let args: String = row.get("args")?;
    Ok(Instance {
        id: word(row, "id")?,
        agent_type: word(row, "type")?,
        status: word(row, "status")?,
        phase: word(row, "phase")?,
        reason: row.get("reason")?,
        task: row.get("task")?,
        issue: row.get("issue")?,
        issue_title: row.get("issue_title")?,
        choice: AgentChoice { agent: row.get("agent")?, args: from_json(&args, "args")? },
        repository: path(row, "repository")?,
        worktree: path(row, "worktree")?,
        branch: word(row, "branch")?,
        base_branch: maybe_word(row, "base_branch")?,
        base_commit: word(row, "base_commit")?,
        session: row.get("session")?,
        exit_code: row.get("exit_code")?,
        pr_number: row.get("pr_number")?,
        pr_url: row.get("pr_url")?,
        rejected_requests: row.get("rejected_requests")?,
        created_at: Moment(row.get("created_at")?),
        updated_at: Moment(row.get("updated_at")?),
        ended_at: row.get::<_, Option<i64>>("ended_at")?.map(Moment),
    })
}

const REVIEW: &str =
    "parent_instance, child_instance, review_iteration, reviewed_commit, work_identity, outcome,
    created_at, ended_at";

pub(crate) fn insert_review(connection: &Connection, review: &Review) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO instance_relationships (parent_instance, child_instance, relationship_type, review_iteration,
             reviewed_commit, work_identity, created_at)
         VALUES (?1, ?2, 'spawned_review', ?3, ?4, ?5, ?6)",
        params![
            review.parent_instance.as_str(),
            review.child_instance.as_str(),
            review.review_iteration,
            review.reviewed_commit.as_str(),
            review.work_identity,
            review.created_at.0,
        ],
    )?;
    Ok(())
}

/// The contract's count: which iteration the last review was, 0 before the first.
pub(crate) fn current_iteration(connection: &Connection, coding: &InstanceId) -> rusqlite::Result<u32> {
    connection.query_row(
        "SELECT COALESCE(MAX(review_iteration), 0) FROM instance_relationships
         WHERE parent_instance = ?1 AND relationship_type = 'spawned_review'",
        [coding.as_str()],
        |row| row.get(0),
    )
}

/// The reviews of a coding agent's work, first to last.
pub(crate) fn reviews_of(connection: &Connection, coding: &InstanceId) -> rusqlite::Result<Vec<Review>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {REVIEW} FROM instance_relationships WHERE parent_instance = ?1 ORDER BY review_iteration"
    ))?;
    statement.query_map([coding.as_str()], read_review)?.collect()
}

/// The review that this review agent was started for.
pub(crate) fn review_by(connection: &Connection, review: &InstanceId) -> rusqlite::Result<Option<Review>> {
    let sql = format!("SELECT {REVIEW} FROM instance_relationships WHERE child_instance = ?1");
    connection.prepare_cached(&sql)?.query_row([review.as_str()], read_review).optional()
}

pub(crate) fn end_review(
    connection: &Connection,
    review: &InstanceId,
    outcome: ReviewOutcome,
) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE instance_relationships SET outcome = ?2, ended_at = ?3 WHERE child_instance = ?1 AND outcome IS NULL",
        params![review.as_str(), outcome.as_str(), Moment::now().0],
    )?;
    Ok(())
}

/// Lets the time of a review begin now: the clock was wrong when it began.
pub(crate) fn restart_review(connection: &Connection, review: &InstanceId) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE instance_relationships SET created_at = ?2 WHERE child_instance = ?1",
        params![review.as_str(), Moment::now().0],
    )?;
    Ok(())
}

/// The review of a coding agent's work that has not ended.
pub(crate) fn running_review(
    connection: &Connection,
    coding: &InstanceId,
) -> rusqlite::Result<Option<Review>> {
    let sql =
        format!("SELECT {REVIEW} FROM instance_relationships WHERE parent_instance = ?1 AND outcome IS NULL");
    connection.prepare_cached(&sql)?.query_row([coding.as_str()], read_review).optional()
}

/// Reviews that ended without a pull request, and requests that were turned down at the limit.
pub(crate) fn failed_reviews(connection: &Connection, coding: &InstanceId) -> rusqlite::Result<u64> {
    connection.query_row(
        "SELECT rejected_requests + (SELECT COUNT(*) FROM instance_relationships
             WHERE parent_instance = ?1 AND outcome IS NOT NULL AND outcome <> 'approved')
         FROM instances WHERE id = ?1",
        [coding.as_str()],
        |row| row.get(0),
    )
}

/// Whose family an instance belongs to: the coding agent of a reviewer, and else itself.
pub(crate) fn family(connection: &Connection, id: &InstanceId) -> rusqlite::Result<InstanceId> {
    Ok(review_by(connection, id)?.map_or_else(|| id.clone(), |review| review.parent_instance))
}

/// The head of a family and its reviewers, first to last. What is still being made is left out.
pub(crate) fn members(connection: &Connection, family: &InstanceId) -> rusqlite::Result<Vec<Instance>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {INSTANCE} FROM instances WHERE phase <> 'preparing' AND (id = ?1 OR id IN
             (SELECT child_instance FROM instance_relationships WHERE parent_instance = ?1))
         ORDER BY created_at, id"
    ))?;
    statement.query_map([family.as_str()], read_instance)?.collect()
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
        statement.query_map([closed_since], |row| word(row, "member"))?.collect::<rusqlite::Result<_>>()?;
    members.iter().map(|member| family(connection, member)).collect()
}

fn read_review(row: &Row<'_>) -> rusqlite::Result<Review> {
    Ok(Review {
        parent_instance: word(row, "parent_instance")?,
        child_instance: word(row, "child_instance")?,
        review_iteration: row.get("review_iteration")?,
        reviewed_commit: word(row, "reviewed_commit")?,
        work_identity: row.get("work_identity")?,
        outcome: maybe_word(row, "outcome")?,
        created_at: Moment(row.get("created_at")?),
        ended_at: row.get::<_, Option<i64>>("ended_at")?.map(Moment),
    })
}

const FEEDBACK: &str =
    "id, review_instance, coding_instance, review_iteration, feedback, feedback_type, priority,
    actionable_items, digest, path, blob, git_commit_hash, created_at, delivered_at, told_at";

pub(crate) fn insert_feedback(connection: &Connection, feedback: &Feedback) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO feedback (id, review_instance, coding_instance, review_iteration, feedback, feedback_type, priority,
             actionable_items, digest, path, blob, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            feedback.id,
            feedback.review_instance.as_str(),
            feedback.coding_instance.as_str(),
            feedback.review_iteration,
            feedback.feedback,
            feedback.feedback_type.as_str(),
            feedback.priority,
            json(&feedback.actionable_items),
            feedback.digest,
            feedback.path,
            feedback.blob,
            feedback.created_at.0,
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
        params![id, commit, path, blob, Moment::now().0],
    )?;
    Ok(())
}

pub(crate) fn mark_notified(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    connection.execute("UPDATE feedback SET told_at = ?2 WHERE id = ?1", params![id, Moment::now().0])?;
    Ok(())
}

pub(crate) fn feedback(connection: &Connection, id: &str) -> rusqlite::Result<Option<Feedback>> {
    let sql = format!("SELECT {FEEDBACK} FROM feedback WHERE id = ?1");
    connection.prepare_cached(&sql)?.query_row([id], read_feedback).optional()
}

/// Feedback that a coding agent got, or all there is, first to last.
pub(crate) fn feedback_for(
    connection: &Connection,
    coding: Option<&InstanceId>,
) -> rusqlite::Result<Vec<Feedback>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {FEEDBACK} FROM feedback WHERE ?1 IS NULL OR coding_instance = ?1 OR review_instance = ?1
         ORDER BY created_at, id"
    ))?;
    statement.query_map([coding.map(InstanceId::as_str)], read_feedback)?.collect()
}

/// Feedback of this very text that a coding agent got before.
pub(crate) fn same_feedback(
    connection: &Connection,
    coding: &InstanceId,
    digest: &str,
) -> rusqlite::Result<Option<Feedback>> {
    let sql = format!("SELECT {FEEDBACK} FROM feedback WHERE coding_instance = ?1 AND digest = ?2");
    connection.prepare_cached(&sql)?.query_row([coding.as_str(), digest], read_feedback).optional()
}

/// Feedback that arrived, but whose coding agent has not been notified, though it is at work.
pub(crate) fn unnotified_feedback(connection: &Connection) -> rusqlite::Result<Vec<Feedback>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {FEEDBACK} FROM feedback WHERE delivered_at IS NOT NULL AND told_at IS NULL
             AND coding_instance IN (SELECT id FROM instances WHERE status = 'STARTED' AND phase = 'ready')
         ORDER BY created_at, id"
    ))?;
    statement.query_map([], read_feedback)?.collect()
}

fn read_feedback(row: &Row<'_>) -> rusqlite::Result<Feedback> {
    let items: String = row.get("actionable_items")?;
    Ok(Feedback {
        id: row.get("id")?,
        review_instance: word(row, "review_instance")?,
        coding_instance: word(row, "coding_instance")?,
        review_iteration: row.get("review_iteration")?,
        feedback: row.get("feedback")?,
        feedback_type: word(row, "feedback_type")?,
        priority: row.get("priority")?,
        actionable_items: from_json(&items, "actionable_items")?,
        digest: row.get("digest")?,
        path: row.get("path")?,
        blob: row.get("blob")?,
        git_commit_hash: row.get("git_commit_hash")?,
        created_at: Moment(row.get("created_at")?),
        delivered_at: row.get::<_, Option<i64>>("delivered_at")?.map(Moment),
        told_at: row.get::<_, Option<i64>>("told_at")?.map(Moment),
    })
}

/// As if whatever is over had been for long.
#[cfg(test)]
pub(crate) fn end_all_long_ago(connection: &rusqlite::Transaction<'_>) -> rusqlite::Result<()> {
    connection.execute("UPDATE instances SET ended_at = 1", [])?;
    Ok(())
}

/// Inserts an event. Answers its sequence number.
pub(crate) fn insert_event(connection: &Connection, event: &NewEvent<'_>) -> rusqlite::Result<i64> {
    connection.execute(
        "INSERT INTO mcp_events (at, kind, instance_id, tool_name, success, status_before, status_after, git_commit,
             error_code, detail)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            Moment::now().0,
            event.kind.as_str(),
            event.instance.map(InstanceId::as_str),
            event.tool,
            event.success,
            event.statuses.map(|(before, _)| before.as_str()),
            event.statuses.map(|(_, after)| after.as_str()),
            event.git_commit,
            event.error_code.map(Code::as_str),
            event.detail.to_string(),
        ],
    )?;
    Ok(connection.last_insert_rowid())
}

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
        "SELECT seq, at, kind, instance_id, tool_name, success, status_before, status_after, git_commit, error_code, detail
         FROM mcp_events WHERE seq > ?1 AND {whose} ORDER BY seq LIMIT ?3",
    ))?;
    let rows = statement.query_map(params![after, instance.map(InstanceId::as_str), most], |row| {
        let detail: String = row.get("detail")?;
        Ok(AgentEvent {
            seq: row.get("seq")?,
            at: Moment(row.get("at")?),
            kind: word(row, "kind")?,
            instance_id: maybe_word(row, "instance_id")?,
            tool_name: row.get("tool_name")?,
            success: row.get("success")?,
            status_before: maybe_word(row, "status_before")?,
            status_after: maybe_word(row, "status_after")?,
            git_commit: row.get("git_commit")?,
            error_code: row.get("error_code")?,
            detail: from_json(&detail, "detail")?,
        })
    })?;
    rows.collect()
}

/// Whether a failure of this kind, by an unknown caller, was recorded since then.
pub(crate) fn stranger_since(connection: &Connection, code: Code, since: Moment) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM mcp_events WHERE instance_id IS NULL AND error_code = ?1 AND at >= ?2)",
        params![code.as_str(), since.0],
        |row| row.get(0),
    )
}

/// The number of the last event; 0 before the first.
pub(crate) fn last_event(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT COALESCE(MAX(seq), 0) FROM mcp_events", [], |row| row.get(0))
}

/// Changes when another connection has written.
pub(crate) fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0))
}

const OPERATION: &str = "id, call_key, tool, instance_id, state, plan, result, begun_at";

/// Records what is about to be done. Answers its id. An instance with another operation under way is refused by the
/// table.
pub(crate) fn begin_operation(
    connection: &Connection,
    call_key: Option<&str>,
    tool: &str,
    instance: &InstanceId,
    plan: &Value,
) -> rusqlite::Result<i64> {
    // What was undone may be tried again by the same caller.
    connection.execute("DELETE FROM operations WHERE call_key = ?1 AND state = 'undone'", [call_key])?;
    connection.execute(
        "INSERT INTO operations (call_key, tool, instance_id, state, plan, begun_at) VALUES (?1, ?2, ?3, 'begun', ?4, ?5)",
        params![call_key, tool, instance.as_str(), plan.to_string(), Moment::now().0],
    )?;
    Ok(connection.last_insert_rowid())
}

/// Writes the plan anew, when a step found out what the next ones need.
pub(crate) fn replan(connection: &Connection, operation: i64, plan: &Value) -> rusqlite::Result<()> {
    connection
        .execute("UPDATE operations SET plan = ?2 WHERE id = ?1", params![operation, plan.to_string()])?;
    Ok(())
}

pub(crate) fn plan_of(connection: &Connection, operation: i64) -> rusqlite::Result<Option<Value>> {
    let sql = "SELECT plan FROM operations WHERE id = ?1";
    let plan = connection.query_row(sql, [operation], |row| row.get::<_, String>(0)).optional()?;
    plan.map(|plan| from_json(&plan, "plan")).transpose()
}

/// Forgets what ended before a moment, but for what instances did that are still at work: it may be gone on from.
pub(crate) fn forget_operations(connection: &Connection, before: Moment) -> rusqlite::Result<usize> {
    connection.execute(
        "DELETE FROM operations WHERE state <> 'begun' AND ended_at < ?1
             AND instance_id NOT IN (SELECT id FROM instances WHERE phase IN ('preparing', 'ready'))",
        [before.0],
    )
}

pub(crate) fn end_operation(
    connection: &Connection,
    operation: i64,
    state: OperationState,
    result: Option<&Value>,
) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE operations SET state = ?2, result = ?3, ended_at = ?4 WHERE id = ?1",
        params![operation, state.as_str(), result.map(Value::to_string), Moment::now().0],
    )?;
    Ok(())
}

pub(crate) fn operation_by_key(
    connection: &Connection,
    call_key: &str,
) -> rusqlite::Result<Option<Operation>> {
    let sql = format!("SELECT {OPERATION} FROM operations WHERE call_key = ?1");
    connection.prepare_cached(&sql)?.query_row([call_key], read_operation).optional()
}

/// What is under way in a family, or was when its coordinator died; oldest first.
pub(crate) fn operations_of_family(
    connection: &Connection,
    family: &InstanceId,
) -> rusqlite::Result<Vec<Operation>> {
    let sql = format!(
        "SELECT {OPERATION} FROM operations WHERE state = 'begun' AND (instance_id = ?1 OR instance_id IN
             (SELECT child_instance FROM instance_relationships WHERE parent_instance = ?1)) ORDER BY id"
    );
    connection.prepare_cached(&sql)?.query_map([family.as_str()], read_operation)?.collect()
}

/// What an instance did with a tool, oldest first.
pub(crate) fn operations_by(
    connection: &Connection,
    instance: &InstanceId,
    tool: &str,
) -> rusqlite::Result<Vec<Operation>> {
    let sql = format!("SELECT {OPERATION} FROM operations WHERE instance_id = ?1 AND tool = ?2 ORDER BY id");
    connection.prepare_cached(&sql)?.query_map([instance.as_str(), tool], read_operation)?.collect()
}

fn read_operation(row: &Row<'_>) -> rusqlite::Result<Operation> {
    let plan: String = row.get("plan")?;
    let result: Option<String> = row.get("result")?;
    Ok(Operation {
        id: row.get("id")?,
        call_key: row.get("call_key")?,
        tool: row.get("tool")?,
        instance: word(row, "instance_id")?,
        state: word(row, "state")?,
        plan: from_json(&plan, "plan")?,
        result: result.map(|result| from_json(&result, "result")).transpose()?,
        begun_at: Moment(row.get("begun_at")?),
    })
}

pub(crate) fn config_value(connection: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM user_config WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

pub(crate) fn set_config_value(connection: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO user_config (key, value, encrypted) VALUES (?1, ?2, FALSE)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        [key, value],
    )?;
    Ok(())
}

/// A word of ours in a column. Another program's, or a later version's, is an error and no panic.
fn word<T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    row: &Row<'_>,
    column: &'static str,
) -> rusqlite::Result<T> {
    row.get::<_, String>(column)?.parse().map_err(|error| unfit(column, error))
}

fn maybe_word<T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    row: &Row<'_>,
    column: &'static str,
) -> rusqlite::Result<Option<T>> {
    row.get::<_, Option<String>>(column)?
        .map(|text| text.parse().map_err(|error| unfit(column, error)))
        .transpose()
}

fn unfit(column: &str, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    let _ = column;
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error))
}

fn json<T: serde::Serialize>(value: &T) -> String {
    // Lists of strings cannot fail to be written.
    serde_json::to_string(value).unwrap_or_else(|_| "[]".to_owned())
}

fn from_json<T: serde::de::DeserializeOwned>(text: &str, column: &'static str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| unfit(column, error))
}

fn path(row: &Row<'_>, column: &str) -> rusqlite::Result<std::path::PathBuf> {
    row.get::<_, String>(column).map(Into::into)
}

/// Paths are text here: agents' configurations, which must have them too, know nothing else.
fn path_text(path: &std::path::Path) -> String {
    path.to_string_lossy().into_owned()
}
