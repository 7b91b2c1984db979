//! Instances. Whatever changes a status writes the event in the same transaction; [`set_status`] is the only way.

use serde_json::Value;
use tamis_store::rusqlite::{self, Connection, OptionalExtension, Row, named_params, params};

use super::{insert_event, json, json_in, parsed, path_text, unfit};
use crate::instances::records::{AgentChoice, EventKind, Instance, Moment, NewEvent, Phase};
use crate::{AgentsError, Code, InstanceId, Status};

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
            ":id": instance.id,
            ":type": instance.agent_type,
            ":status": instance.status,
            ":phase": instance.phase,
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
            ":created_at": instance.created_at,
        },
    )?;
    Ok(())
}

/// Stores the text of an instance's issue, for its reviewers.
pub(crate) fn set_issue_text(connection: &Connection, id: &InstanceId, text: &str) -> rusqlite::Result<()> {
    connection.execute("UPDATE instances SET issue_text = ?2 WHERE id = ?1", params![id, text])?;
    Ok(())
}

/// The text of an instance's issue at its start.
pub(crate) fn issue_text(connection: &Connection, id: &InstanceId) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT issue_text FROM instances WHERE id = ?1", [id], |row| row.get(0))
}

/// Takes out an instance that never came to be. It must have no event yet.
pub(crate) fn delete_instance(connection: &Connection, id: &InstanceId) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM instance_relationships WHERE child_instance = ?1", [id])?;
    connection.execute("DELETE FROM instances WHERE id = ?1 AND phase = 'preparing'", [id])?;
    Ok(())
}

pub(crate) fn instance(connection: &Connection, id: &InstanceId) -> rusqlite::Result<Option<Instance>> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {INSTANCE} FROM instances WHERE id = ?1"))?;
    statement.query_row([id], read_instance).optional()
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
    statement.query_map([], |row| Ok((row.get("status")?, row.get("number")?)))?.collect()
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
    connection.query_row("SELECT EXISTS (SELECT 1 FROM instances WHERE id = ?1)", [id], |row| row.get(0))
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
    let now = Moment::now();
    connection.execute(
        "UPDATE instances SET status = ?2, reason = ?3, updated_at = ?4, ended_at = iif(?5, ?4, NULL) WHERE id = ?1",
        params![id, next, reason, now, !next.is_live()],
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
        params![id, phase, Moment::now()],
    )?;
    Ok(())
}

/// Says how an instance stands whose status stays the same.
pub(crate) fn set_reason(connection: &Connection, id: &InstanceId, reason: &str) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE instances SET reason = ?2, updated_at = ?3 WHERE id = ?1",
        params![id, reason, Moment::now()],
    )?;
    Ok(())
}

pub(crate) fn set_exit_code(
    connection: &Connection,
    id: &InstanceId,
    code: Option<i32>,
) -> rusqlite::Result<()> {
    connection.execute("UPDATE instances SET exit_code = ?2 WHERE id = ?1", params![id, code])?;
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
        params![id, number, url],
    )?;
    Ok(())
}

/// Counts a request for review that was turned down at the limit.
pub(crate) fn count_rejection(connection: &Connection, id: &InstanceId) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE instances SET rejected_requests = rejected_requests + 1, updated_at = ?2 WHERE id = ?1",
        params![id, Moment::now()],
    )?;
    Ok(())
}

/// The head of a family and its reviewers, first to last. What is still being made is left out.
pub(crate) fn members(connection: &Connection, family: &InstanceId) -> rusqlite::Result<Vec<Instance>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {INSTANCE} FROM instances WHERE phase <> 'preparing' AND (id = ?1 OR id IN
             (SELECT child_instance FROM instance_relationships WHERE parent_instance = ?1))
         ORDER BY created_at, id"
    ))?;
    statement.query_map([family], read_instance)?.collect()
}

/// Dates everything that has ended far back, so that retention applies to it.
#[cfg(test)]
pub(crate) fn end_all_long_ago(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("UPDATE instances SET ended_at = 1", [])?;
    Ok(())
}

fn read_instance(row: &Row<'_>) -> rusqlite::Result<Instance> {
    Ok(Instance {
        id: row.get("id")?,
        agent_type: row.get("type")?,
        status: row.get("status")?,
        phase: row.get("phase")?,
        reason: row.get("reason")?,
        task: row.get("task")?,
        issue: row.get("issue")?,
        issue_title: row.get("issue_title")?,
        choice: AgentChoice { agent: row.get("agent")?, args: json_in(row, "args")? },
        repository: row.get::<_, String>("repository")?.into(),
        worktree: row.get::<_, String>("worktree")?.into(),
        branch: parsed(row, "branch")?,
        base_branch: row
            .get::<_, Option<String>>("base_branch")?
            .map(|name| name.parse().map_err(unfit))
            .transpose()?,
        base_commit: parsed(row, "base_commit")?,
        session: row.get("session")?,
        exit_code: row.get("exit_code")?,
        pr_number: row.get("pr_number")?,
        pr_url: row.get("pr_url")?,
        rejected_requests: row.get("rejected_requests")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        ended_at: row.get("ended_at")?,
    })
}
