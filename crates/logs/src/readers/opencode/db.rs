//! The database. It is another's, so nothing of it is taken on trust: which columns there are, how long a value is.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use tamis_store::read_foreign;
use tamis_store::rusqlite::{Connection, OptionalExtension, Result, Row, params};

use super::{
    Listed, MOST_BYTES, MOST_BYTES_OF_SESSION, Message, OpenCodeError, Part, Session, object, projected,
};
use crate::readers::Unrecognised;

/// Columns of a session that are read where they are there; the oldest versions have fewer.
const COLUMNS: &[&str] = &["parent_id", "directory", "title", "version", "agent", "revert", "time_created"];

pub(super) fn sessions(path: &Path) -> std::result::Result<Vec<Listed>, OpenCodeError> {
    let listed = read_foreign(path, |connection| {
        if !are_ours(connection)? {
            return Ok(None);
        }
        list(connection).map(Some)
    })?;
    listed.ok_or_else(|| OpenCodeError::NotOpenCode { path: path.to_owned() })
}

pub(super) fn session(path: &Path, id: &str) -> std::result::Result<Session, OpenCodeError> {
    read_foreign(path, |connection| {
        if !are_ours(connection)? {
            return Ok(Err(OpenCodeError::NotOpenCode { path: path.to_owned() }));
        }
        let session = one(connection, id)?;
        Ok(session.ok_or_else(|| OpenCodeError::NoSession { path: path.to_owned(), id: id.to_owned() }))
    })?
}

/// Whether the tables are there, as tables: no views, and none that another program's code would have to read.
fn are_ours(connection: &Connection) -> Result<bool> {
    Ok(["session", "message", "part"]
        .iter()
        .map(|name| is_table(connection, name))
        .collect::<Result<Vec<bool>>>()?
        .into_iter()
        .all(|is| is))
}

fn is_table(connection: &Connection, name: &str) -> Result<bool> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?1";
    connection.query_row(sql, [name], |row| row.get::<_, i64>(0)).map(|count| count == 1)
}

/// Each session with a number that changes when it does.
///
/// Every change of a session raises the sequence of its events, which is one row; the counts come from indexes alone. A
/// session from before there was such a sequence is stamped with the times of all its rows.
fn list(connection: &Connection) -> Result<Vec<Listed>> {
    let mut order = Vec::new();
    let mut stamps: HashMap<String, u64> = HashMap::new();
    numbers(connection, "SELECT id, time_updated FROM session ORDER BY time_created, id", |id, number| {
        if stamps.insert(id.clone(), mixed(0, number)).is_none() {
            order.push(id);
        }
    })?;
    let mut add = |sql: &str| -> Result<HashSet<String>> {
        let mut seen = HashSet::new();
        numbers(connection, sql, |id, number| {
            if let Some(stamp) = stamps.get_mut(&id) {
                *stamp = mixed(*stamp, number);
                seen.insert(id);
            }
        })?;
        Ok(seen)
    };
    add("SELECT session_id, count(*) FROM message GROUP BY session_id ORDER BY session_id")?;
    add("SELECT session_id, count(*) FROM part GROUP BY session_id ORDER BY session_id")?;
    if is_table(connection, "session_message")? {
        add("SELECT session_id, count(*) FROM session_message GROUP BY session_id ORDER BY session_id")?;
    }
    let numbered = match is_table(connection, "event_sequence")? {
        true => add("SELECT aggregate_id, seq FROM event_sequence ORDER BY aggregate_id")?,
        false => HashSet::new(),
    };
    let mut newest = connection.prepare(
        "SELECT (SELECT max(time_updated) FROM message WHERE session_id = ?1),
                (SELECT max(time_updated) FROM part WHERE session_id = ?1)",
    )?;
    for id in order.iter().filter(|id| !numbered.contains(*id)) {
        let times = newest.query_row([id], |row| Ok((integer(row, 0)?, integer(row, 1)?)))?;
        if let Some(stamp) = stamps.get_mut(id) {
            *stamp = mixed(mixed(*stamp, times.0.unwrap_or(-1)), times.1.unwrap_or(-1));
        }
    }
    Ok(order
        .into_iter()
        .map(|id| {
            let stamp = stamps.get(&id).copied().unwrap_or(0);
            Listed { id, stamp }
        })
        .collect())
}

/// Rows of an id and a number.
fn numbers(connection: &Connection, sql: &str, mut each: impl FnMut(String, i64)) -> Result<()> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(id) = text(row, 0)? {
            each(id, integer(row, 1)?.unwrap_or(-1));
        }
    }
    Ok(())
}

pub(super) fn mixed(stamp: u64, number: i64) -> u64 {
    (stamp ^ number.cast_unsigned()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

fn one(connection: &Connection, id: &str) -> Result<Option<Session>> {
    let mut there = HashSet::new();
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info('session')")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        there.extend(text(row, 0)?);
    }
    let columns: Vec<&str> =
        COLUMNS.iter().map(|name| if there.contains(*name) { *name } else { "NULL" }).collect();
    let sql = format!("SELECT {} FROM session WHERE id = ?1", columns.join(", "));
    let session = connection.query_row(&sql, [id], |row| {
        Ok(Session {
            id: id.to_owned(),
            parent: text(row, 0)?,
            root: text(row, 1)?,
            title: text(row, 2)?,
            version: text(row, 3)?,
            agent: text(row, 4)?,
            revert: text(row, 5)?.and_then(|revert| serde_json::from_str(&revert).ok()),
            created: integer(row, 6)?,
            ..Session::default()
        })
    });
    let Some(mut session) = session.optional()? else { return Ok(None) };
    messages(connection, &mut session)?;
    if session.messages.is_empty() && is_table(connection, "session_message")? {
        next_messages(connection, &mut session)?;
    }
    session.origin = origin(connection, &session)?;
    Ok(Some(session))
}

fn messages(connection: &Connection, session: &mut Session) -> Result<()> {
    let sql = "SELECT id, time_created, octet_length(data), CASE WHEN octet_length(data) <= ?2 THEN data END
               FROM message WHERE session_id = ?1 ORDER BY time_created, id";
    let mut statement = connection.prepare(sql)?;
    let mut budget = Budget::default();
    let mut rows = statement.query(params![session.id, MOST_BYTES])?;
    let mut locations = HashMap::new();
    while let Some(row) = rows.next()? {
        let Some(data) = budget.data(row, 2, "message", &mut session.unrecognised)? else { continue };
        let id = text(row, 0)?.unwrap_or_default();
        locations.insert(id.clone(), session.messages.len());
        session.messages.push(Message { id, created: integer(row, 1)?, data, parts: Vec::new() });
    }
    let sql = "SELECT id, time_created, message_id, octet_length(data), CASE WHEN octet_length(data) <= ?2 THEN data END
               FROM part WHERE session_id = ?1 ORDER BY message_id, id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(params![session.id, MOST_BYTES])?;
    while let Some(row) = rows.next()? {
        let Some(data) = budget.data(row, 3, "part", &mut session.unrecognised)? else { continue };
        let part = Part { id: text(row, 0)?.unwrap_or_default(), created: integer(row, 1)?, data };
        match locations.get(&text(row, 2)?.unwrap_or_default()) {
            Some(place) => session.messages[*place].parts.push(part),
            None => session.unrecognised.push(Unrecognised::Record("part without its message".into())),
        }
    }
    Ok(())
}

fn next_messages(connection: &Connection, session: &mut Session) -> Result<()> {
    let sql =
        "SELECT id, time_created, type, octet_length(data), CASE WHEN octet_length(data) <= ?2 THEN data END
               FROM session_message WHERE session_id = ?1 ORDER BY seq";
    let mut statement = connection.prepare(sql)?;
    let mut budget = Budget::default();
    let mut rows = statement.query(params![session.id, MOST_BYTES])?;
    while let Some(row) = rows.next()? {
        let Some(data) = budget.data(row, 3, "message", &mut session.unrecognised)? else { continue };
        let kind = text(row, 2)?.unwrap_or_default();
        let message = Message {
            id: text(row, 0)?.unwrap_or_default(),
            created: integer(row, 1)?,
            data,
            parts: Vec::new(),
        };
        match projected::message(&kind, message) {
            Some(message) => session.messages.push(message),
            None => session.unrecognised.push(Unrecognised::Record(format!("session_message.{kind}").into())),
        }
    }
    Ok(())
}

/// The session whose own the last inherited message is.
fn origin(connection: &Connection, session: &Session) -> Result<Option<String>> {
    let inherited = |message: &&Message| message.is_inherited(session.created);
    let Some(last) = session.messages.iter().rev().find(inherited) else { return Ok(None) };
    let sql = "SELECT s.id FROM session AS s CROSS JOIN message AS m
               WHERE m.session_id = s.id AND m.time_created = ?1 AND s.time_created <= ?1 AND s.id <> ?2
               ORDER BY s.time_created DESC LIMIT 1";
    let found =
        connection.query_row(sql, params![last.created, session.id], |row| text(row, 0)).optional()?;
    Ok(found.flatten())
}

/// How much of a session was read.
#[derive(Default)]
struct Budget {
    bytes: u64,
}

impl Budget {
    /// The data whose length stands in column `size`, and itself in the next.
    fn data(
        &mut self,
        row: &Row<'_>,
        size: usize,
        what: &str,
        unrecognised: &mut Vec<Unrecognised<'static>>,
    ) -> Result<Option<serde_json::Value>> {
        let length = integer(row, size)?.unwrap_or(0).max(0).cast_unsigned();
        self.bytes = self.bytes.saturating_add(length);
        if length > MOST_BYTES || self.bytes > MOST_BYTES_OF_SESSION {
            unrecognised.push(Unrecognised::Unreadable(format!("{what} is too long").into()));
            return Ok(None);
        }
        let text = text(row, size + 1)?.unwrap_or_default();
        Ok(object(&text, what, unrecognised))
    }
}

/// A text, whatever type the column says; a blob that is none is read as far as it is.
fn text(row: &Row<'_>, column: usize) -> Result<Option<String>> {
    use tamis_store::rusqlite::types::ValueRef;
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    })
}

fn integer(row: &Row<'_>, column: usize) -> Result<Option<i64>> {
    use tamis_store::rusqlite::types::ValueRef;
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(number) => Some(number),
        ValueRef::Real(number) => Some(number as i64),
        _ => None,
    })
}
