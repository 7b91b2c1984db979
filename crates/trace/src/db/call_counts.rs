//! Counts of calls of the session tools, in `state.db`: numbers and names, never a text.

use tamis_store::Component;
use tamis_store::rusqlite::{Connection, Row, params};

use super::{Sql, count, number};
use crate::call_stats::{ToolCallCounts, ToolCallSize};

pub(crate) const CALL_COUNTS: &[Component] = &[Component {
    name: "trace_uses",
    migrations: &["
        CREATE TABLE trace_uses (
            tool TEXT PRIMARY KEY,
            calls INTEGER NOT NULL,
            failures INTEGER NOT NULL,
            bytes INTEGER NOT NULL,         -- of all its answers
            largest INTEGER NOT NULL        -- of them, in bytes
        ) STRICT;
    ", "
        ALTER TABLE trace_uses ADD COLUMN request_bytes INTEGER NOT NULL DEFAULT 0;     -- of all its arguments
        ALTER TABLE trace_uses ADD COLUMN largest_request INTEGER NOT NULL DEFAULT 0;   -- of them, in bytes
    "],
}];

pub(crate) fn count_call(connection: &Connection, call: ToolCallSize) -> Sql<()> {
    let ToolCallSize { tool, failed, request_bytes, bytes } = call;
    let mut statement = connection.prepare_cached(
        "INSERT INTO trace_uses (tool, calls, failures, bytes, largest, request_bytes, largest_request)
         VALUES (?1, 1, ?2, ?3, ?3, ?4, ?4)
         ON CONFLICT (tool) DO UPDATE SET calls = calls + 1, failures = failures + ?2, bytes = bytes + ?3,
             largest = max(largest, ?3), request_bytes = request_bytes + ?4, largest_request = max(largest_request, ?4)",
    )?;
    statement.execute(params![tool, failed, number(bytes), number(request_bytes)])?;
    Ok(())
}

pub(crate) fn clear_call_counts(connection: &Connection) -> Sql<()> {
    connection.execute("DELETE FROM trace_uses", [])?;
    Ok(())
}

pub(crate) fn call_counts(connection: &Connection) -> Sql<Vec<ToolCallCounts>> {
    let mut statement = connection.prepare_cached(
        "SELECT tool, calls, failures, bytes, largest, request_bytes, largest_request FROM trace_uses ORDER BY tool",
    )?;
    let counts = |row: &Row<'_>| {
        Ok(ToolCallCounts {
            tool: row.get(0)?,
            calls: count(row, 1)?,
            failures: count(row, 2)?,
            bytes: count(row, 3)?,
            largest: count(row, 4)?,
            request_bytes: count(row, 5)?,
            largest_request: count(row, 6)?,
        })
    };
    statement.query_map([], counts)?.collect()
}
