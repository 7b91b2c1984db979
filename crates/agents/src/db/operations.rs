//! The journal: operations of several steps.

use serde_json::Value;
use tamis_store::rusqlite::{self, Connection, OptionalExtension, Row, params};

use super::json_in;
use crate::InstanceId;
use crate::instances::records::{Moment, Operation, OperationState};

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
        params![call_key, tool, instance, plan.to_string(), Moment::now()],
    )?;
    Ok(connection.last_insert_rowid())
}

/// Writes what a step found out into the plan, for the next ones.
pub(crate) fn replan(connection: &Connection, operation: i64, plan: &Value) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE operations SET plan = json_patch(plan, ?2) WHERE id = ?1",
        params![operation, plan.to_string()],
    )?;
    Ok(())
}

/// As if every operation had begun this many milliseconds earlier.
#[cfg(test)]
pub(crate) fn begin_operations_earlier(connection: &Connection, milliseconds: i64) -> rusqlite::Result<()> {
    connection.execute("UPDATE operations SET begun_at = begun_at - ?1", [milliseconds]).map(drop)
}

pub(crate) fn operation(connection: &Connection, operation: i64) -> rusqlite::Result<Operation> {
    let sql = "SELECT * FROM operations WHERE id = ?1";
    connection.prepare_cached(sql)?.query_row([operation], read_operation)
}

/// Deletes operations that ended before a moment, except those of live instances, which may still refer to them.
pub(crate) fn forget_operations(connection: &Connection, before: Moment) -> rusqlite::Result<usize> {
    connection.execute(
        "DELETE FROM operations WHERE state <> 'begun' AND ended_at < ?1
             AND instance_id NOT IN (SELECT id FROM instances WHERE phase IN ('preparing', 'ready'))",
        [before],
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
        params![operation, state, result.map(Value::to_string), Moment::now()],
    )?;
    Ok(())
}

pub(crate) fn operation_by_key(
    connection: &Connection,
    call_key: &str,
) -> rusqlite::Result<Option<Operation>> {
    let sql = "SELECT * FROM operations WHERE call_key = ?1";
    connection.prepare_cached(sql)?.query_row([call_key], read_operation).optional()
}

/// What is under way in a family, or was when its coordinator died; oldest first.
pub(crate) fn operations_of_family(
    connection: &Connection,
    family: &InstanceId,
) -> rusqlite::Result<Vec<Operation>> {
    let sql = "SELECT * FROM operations WHERE state = 'begun' AND (instance_id = ?1 OR instance_id IN
             (SELECT child_instance FROM instance_relationships WHERE parent_instance = ?1)) ORDER BY id";
    connection.prepare_cached(sql)?.query_map([family], read_operation)?.collect()
}

/// What an instance did with a tool, oldest first.
pub(crate) fn operations_by(
    connection: &Connection,
    instance: &InstanceId,
    tool: &str,
) -> rusqlite::Result<Vec<Operation>> {
    let sql = "SELECT * FROM operations WHERE instance_id = ?1 AND tool = ?2 ORDER BY id";
    connection.prepare_cached(sql)?.query_map(params![instance, tool], read_operation)?.collect()
}

fn read_operation(row: &Row<'_>) -> rusqlite::Result<Operation> {
    Ok(Operation {
        id: row.get("id")?,
        call_key: row.get("call_key")?,
        tool: row.get("tool")?,
        instance: row.get("instance_id")?,
        state: row.get("state")?,
        plan: json_in(row, "plan")?,
        result: json_in(row, "result")?,
        begun_at: row.get("begun_at")?,
    })
}
