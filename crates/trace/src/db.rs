//! All SQL of the index. It holds where things are and what they come to; the texts stay in the logs, but for the first
//! letters of what a session and its turns are about.

mod blocks;
mod call_counts;
mod sessions;

use tamis_logs::discovery::{LogFormat, LogSource, LogStamp};
use tamis_logs::event::Millis;
use tamis_store::Component;
use tamis_store::rusqlite::{self, Connection, OptionalExtension, Row, params};

use crate::indexed_log::IndexedLog;
pub(crate) use blocks::*;
pub(crate) use call_counts::*;
pub(crate) use sessions::*;

/// The version in the index's name. Raise it when what is stored changes: the index is then rebuilt.
pub(crate) const VERSION: u32 = 4;

pub(crate) const COMPONENTS: &[Component] = &[Component {
    name: "trace",
    migrations: &["
        CREATE TABLE logs (
            id INTEGER PRIMARY KEY,
            path TEXT NOT NULL,
            part TEXT NOT NULL,             -- which of several sessions there
            format TEXT NOT NULL,
            size INTEGER NOT NULL,
            changed INTEGER NOT NULL,
            file INTEGER NOT NULL,
            read_to INTEGER NOT NULL,       -- bytes of it that are indexed
            pending INTEGER NOT NULL,       -- bytes of a last line that is not whole
            fingerprint BLOB NOT NULL,      -- of what is indexed
            reader TEXT NOT NULL,           -- the reader's state at read_to
            problem TEXT,
            UNIQUE (path, part)
        ) STRICT;
        CREATE TABLE sessions (
            log INTEGER PRIMARY KEY REFERENCES logs (id) ON DELETE CASCADE,
            id TEXT NOT NULL UNIQUE,
            native TEXT NOT NULL,
            provider TEXT NOT NULL,
            project TEXT NOT NULL,          -- SHA-256 of the root's path
            root TEXT,
            parent TEXT,                    -- the native id of its parent
            relation TEXT,
            started INTEGER NOT NULL,       -- milliseconds since 1970; 0 when the log does not tell
            ended INTEGER NOT NULL,
            tokens INTEGER NOT NULL,        -- that it used itself
            turns INTEGER NOT NULL,
            failed INTEGER NOT NULL,        -- calls of tools
            words TEXT NOT NULL,            -- its title and first prompt in lower case, which lists are filtered by
            inherited TEXT NOT NULL,        -- tokens that an earlier log counts
            tally TEXT NOT NULL,
            ledger BLOB NOT NULL,
            keys BLOB NOT NULL              -- of the ledger's requests
        ) STRICT;
        CREATE INDEX sessions_by_start ON sessions (started, id);
        CREATE INDEX sessions_by_parent ON sessions (parent, relation, tokens);
        -- All that selects and orders a list, since rows of the table are long.
        CREATE INDEX sessions_listed ON sessions (
            started DESC, id, relation, provider, project, ended, tokens, turns, failed, native, root, words
        );
        CREATE TABLE turns (
            log INTEGER NOT NULL REFERENCES logs (id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            turn TEXT NOT NULL,
            PRIMARY KEY (log, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE blocks (
            id INTEGER PRIMARY KEY,
            log INTEGER NOT NULL REFERENCES logs (id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            start INTEGER NOT NULL,
            stop INTEGER NOT NULL,
            first_event INTEGER NOT NULL,
            events INTEGER NOT NULL,
            kinds INTEGER NOT NULL,
            reader TEXT NOT NULL,           -- the reader's state at its start
            filter BLOB NOT NULL,           -- empty when it is in a segment
            segment INTEGER,
            place INTEGER,                  -- the segment's column
            UNIQUE (log, number)
        ) STRICT;
        CREATE INDEX blocks_without_segment ON blocks (id) WHERE segment IS NULL;
        CREATE TABLE segments (id INTEGER PRIMARY KEY) STRICT;
        CREATE TABLE parts (
            id INTEGER PRIMARY KEY,         -- the segment's times the parts of each, and the part's number
            bits BLOB NOT NULL
        ) STRICT;
        CREATE TABLE done (at INTEGER NOT NULL) STRICT;
    "],
}];

type Sql<T> = rusqlite::Result<T>;

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn count(row: &Row<'_>, index: usize) -> Sql<u64> {
    row.get::<_, i64>(index).map(|value| u64::try_from(value).unwrap_or(0))
}

const LOG_COLUMNS: &str =
    "logs.id, path, part, format, size, changed, file, read_to, pending, fingerprint, reader, problem";

pub(crate) fn logs(connection: &Connection) -> Sql<Vec<IndexedLog>> {
    let select = format!("SELECT {LOG_COLUMNS} FROM logs ORDER BY path, part");
    connection.prepare_cached(&select)?.query_map([], log)?.collect()
}

pub(crate) fn log_of(connection: &Connection, id: i64) -> Sql<Option<IndexedLog>> {
    let select = format!("SELECT {LOG_COLUMNS} FROM logs WHERE id = ?1");
    connection.prepare_cached(&select)?.query_row([id], log).optional()
}

fn log(row: &Row<'_>) -> Sql<IndexedLog> {
    Ok(IndexedLog {
        id: row.get(0)?,
        source: LogSource {
            path: row.get(1)?,
            part: row.get(2)?,
            stamp: LogStamp {
                size: count(row, 4)?,
                changed: row.get(5)?,
                file: row.get::<_, i64>(6)? as u64,
            },
        },
        format: LogFormat::named(&row.get::<_, String>(3)?),
        read_to: count(row, 7)?,
        pending: count(row, 8)?,
        fingerprint: row.get(9)?,
        reader: row.get(10)?,
        problem: row.get(11)?,
    })
}

/// Writes a log's row, and gives its id.
pub(crate) fn put_log(connection: &Connection, row: &IndexedLog) -> Sql<i64> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO logs (path, part, format, size, changed, file, read_to, pending, fingerprint, reader, problem)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (path, part) DO UPDATE SET format = ?3, size = ?4, changed = ?5, file = ?6, read_to = ?7,
             pending = ?8, fingerprint = ?9, reader = ?10, problem = ?11
         RETURNING id",
    )?;
    let stamp = row.source.stamp;
    statement.query_row(
        params![
            row.source.path,
            row.source.part,
            row.format.name(),
            number(stamp.size),
            stamp.changed,
            stamp.file as i64,
            number(row.read_to),
            number(row.pending),
            row.fingerprint,
            row.reader,
            row.problem,
        ],
        |row| row.get(0),
    )
}

pub(crate) fn remove_log(connection: &Connection, id: i64) -> Sql<()> {
    remove_blocks(connection, id, 0)?;
    connection.prepare_cached("DELETE FROM turns WHERE log = ?1")?.execute([id])?;
    connection.prepare_cached("DELETE FROM sessions WHERE log = ?1")?.execute([id])?;
    connection.prepare_cached("DELETE FROM logs WHERE id = ?1")?.execute([id])?;
    Ok(())
}

/// Forgets everything.
pub(crate) fn clear(connection: &Connection) -> Sql<()> {
    for table in ["parts", "segments", "blocks", "turns", "sessions", "logs", "done"] {
        connection.execute(&format!("DELETE FROM {table}"), [])?;
    }
    Ok(())
}

/// Notes that the index was brought up to date once.
pub(crate) fn put_done(connection: &Connection, at: Millis) -> Sql<()> {
    connection.execute("DELETE FROM done", [])?;
    connection.execute("INSERT INTO done (at) VALUES (?1)", [at])?;
    Ok(())
}

pub(crate) fn done(connection: &Connection) -> Sql<Option<Millis>> {
    connection.prepare_cached("SELECT at FROM done")?.query_row([], |row| row.get(0)).optional()
}

/// Changes when another connection has changed the index.
pub(crate) fn data_version(connection: &Connection) -> Sql<i64> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0))
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Sql<T> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })
}
