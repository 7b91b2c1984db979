//! All SQL of the index. It holds where things are and what they come to; the texts stay in the logs, but for the first
//! letters of what a session and its turns are about.

use std::collections::HashMap;

use tamis_store::Component;
use tamis_store::rusqlite::{self, Connection, OptionalExtension, Row, params};

use crate::accounting::UsageAccount;
use crate::bloom::RequiredNgrams;
use crate::call_stats::ToolCallCounts;
use crate::segment::{self, Columns};
use crate::summary::{SessionSummary, Turn};
use tamis_logs::discovery::{LogFormat, LogSource, LogStamp};
use tamis_logs::event::{Millis, Provider};
use tamis_logs::usage::Tokens;

/// The version in the index's name. Raise it when what is stored changes: the index is then built anew.
pub(crate) const VERSION: u32 = 1;

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
            inherited TEXT NOT NULL,        -- tokens that an earlier log counts
            tally TEXT NOT NULL,
            ledger BLOB NOT NULL,
            keys BLOB NOT NULL              -- of the ledger's requests
        ) STRICT;
        CREATE INDEX sessions_by_start ON sessions (started, id);
        CREATE INDEX sessions_by_parent ON sessions (parent);
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

/// What is known of a log.
#[derive(Clone, Debug)]
pub(crate) struct LogRow {
    pub(crate) id: i64,
    pub(crate) source: LogSource,
    pub(crate) format: LogFormat,
    pub(crate) read_to: u64,
    pub(crate) pending: u64,
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) reader: String,
    pub(crate) problem: Option<String>,
}

/// A part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockRow {
    pub(crate) number: u64,
    pub(crate) start: u64,
    pub(crate) stop: u64,
    pub(crate) first_event: u64,
    pub(crate) events: u64,
    pub(crate) kinds: u16,
    pub(crate) reader: String,
    pub(crate) filter: Vec<u8>,
}

/// A session as the index has it.
#[derive(Clone, Debug)]
pub(crate) struct SessionRow {
    pub(crate) log: i64,
    pub(crate) id: String,
    pub(crate) native: String,
    pub(crate) provider: Provider,
    pub(crate) project: String,
    pub(crate) root: Option<String>,
    pub(crate) parent: Option<String>,
    pub(crate) relation: Option<String>,
    pub(crate) started: Millis,
    pub(crate) ended: Millis,
    pub(crate) tokens: u64,
    pub(crate) inherited: Tokens,
    pub(crate) summary: SessionSummary,
}

type Sql<T> = rusqlite::Result<T>;

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn count(row: &Row<'_>, index: usize) -> Sql<u64> {
    row.get::<_, i64>(index).map(|value| u64::try_from(value).unwrap_or(0))
}

pub(crate) fn logs(connection: &Connection) -> Sql<Vec<LogRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, path, part, format, size, changed, file, read_to, pending, fingerprint, reader, problem FROM logs",
    )?;
    statement.query_map([], log)?.collect()
}

pub(crate) fn log_of(connection: &Connection, id: i64) -> Sql<Option<LogRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, path, part, format, size, changed, file, read_to, pending, fingerprint, reader, problem
         FROM logs WHERE id = ?1",
    )?;
    statement.query_row([id], log).optional()
}

fn log(row: &Row<'_>) -> Sql<LogRow> {
    Ok(LogRow {
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
pub(crate) fn put_log(connection: &Connection, row: &LogRow) -> Sql<i64> {
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

/// Removes the session of a log that has none any more.
pub(crate) fn remove_session(connection: &Connection, log: i64) -> Sql<()> {
    connection.prepare_cached("DELETE FROM sessions WHERE log = ?1")?.execute([log])?;
    Ok(())
}

/// Removes a log's turns and blocks from these on: what follows was read again, or never finished.
pub(crate) fn remove_blocks(connection: &Connection, log: i64, from: u64) -> Sql<()> {
    let mut statement = connection.prepare_cached("DELETE FROM blocks WHERE log = ?1 AND number >= ?2")?;
    statement.execute(params![log, number(from)])?;
    Ok(())
}

pub(crate) fn remove_turns(connection: &Connection, log: i64) -> Sql<()> {
    connection.prepare_cached("DELETE FROM turns WHERE log = ?1")?.execute([log])?;
    Ok(())
}

/// Writes blocks of these logs: as many as a segment has go into one at once, fewer keep their filters.
pub(crate) fn put_blocks(connection: &Connection, blocks: &[(i64, BlockRow)]) -> Sql<()> {
    let mut segment = None;
    if blocks.len() == segment::COLUMNS {
        let filters: Vec<&[u8]> = blocks.iter().map(|(_, block)| block.filter.as_slice()).collect();
        segment = Some(put_segment(connection, &filters)?);
    }
    for (column, (log, block)) in blocks.iter().enumerate() {
        put_block(connection, *log, block, segment.map(|segment| (segment, column as i64)))?;
    }
    Ok(())
}

fn put_segment(connection: &Connection, filters: &[&[u8]]) -> Sql<i64> {
    connection.prepare_cached("INSERT INTO segments DEFAULT VALUES")?.execute([])?;
    let segment = connection.last_insert_rowid();
    let mut statement = connection.prepare_cached("INSERT INTO parts (id, bits) VALUES (?1, ?2)")?;
    for (number, bits) in segment::turned(filters).iter().enumerate() {
        statement.execute(params![part_id(segment, number), bits])?;
    }
    Ok(segment)
}

fn put_block(connection: &Connection, log: i64, block: &BlockRow, place: Option<(i64, i64)>) -> Sql<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO blocks (log, number, start, stop, first_event, events, kinds, reader, filter, segment,
             place)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    statement.execute(params![
        log,
        number(block.number),
        number(block.start),
        number(block.stop),
        number(block.first_event),
        number(block.events),
        block.kinds,
        block.reader,
        if place.is_some() { &[][..] } else { &block.filter },
        place.map(|(segment, _)| segment),
        place.map(|(_, column)| column),
    ])?;
    Ok(())
}

/// Where a block's letters are to be looked up.
#[derive(Clone, Debug)]
pub(crate) enum Letters {
    Filter(Vec<u8>),
    Segment { id: i64, column: usize },
}

/// The blocks of every log, in order, with their letters.
pub(crate) type Blocks = HashMap<i64, Vec<(BlockRow, Letters)>>;

/// The blocks of one log, or of all.
pub(crate) fn blocks_with_letters(connection: &Connection, log: Option<i64>) -> Sql<Blocks> {
    let mut statement = connection.prepare_cached(
        "SELECT number, start, stop, first_event, events, kinds, reader, segment, place, filter, log FROM blocks
         WHERE ?1 IS NULL OR log = ?1 ORDER BY log, number",
    )?;
    let mut rows = statement.query([log])?;
    let mut blocks = Blocks::new();
    while let Some(row) = rows.next()? {
        let letters = match row.get(7)? {
            Some(id) => Letters::Segment { id, column: count(row, 8)? as usize },
            None => Letters::Filter(row.get(9)?),
        };
        blocks.entry(row.get(10)?).or_default().push((block(row)?, letters));
    }
    Ok(blocks)
}

/// A log's blocks from the one with this event on, in order.
pub(crate) fn blocks(connection: &Connection, log: i64, from_event: u64) -> Sql<Vec<BlockRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT number, start, stop, first_event, events, kinds, reader FROM blocks
         WHERE log = ?1 AND first_event + events > ?2 ORDER BY number",
    )?;
    statement.query_map(params![log, number(from_event)], block)?.collect()
}

fn block(row: &Row<'_>) -> Sql<BlockRow> {
    Ok(BlockRow {
        number: count(row, 0)?,
        start: count(row, 1)?,
        stop: count(row, 2)?,
        first_event: count(row, 3)?,
        events: count(row, 4)?,
        kinds: row.get(5)?,
        reader: row.get(6)?,
        filter: Vec::new(),
    })
}

/// Changes when another connection has changed the index.
pub(crate) fn data_version(connection: &Connection) -> Sql<i64> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0))
}

/// Segments as they were read, some of them: whoever looks at all blocks needs each over and over.
pub(crate) type Segments = HashMap<i64, Vec<Vec<u8>>>;
const MOST_SEGMENTS: usize = 16;

/// A log's blocks with their filters, unfolded.
pub(crate) fn blocks_whole(connection: &Connection, log: i64, segments: &mut Segments) -> Sql<Vec<BlockRow>> {
    let (mut blocks, mut gathered) = (Vec::new(), Vec::new());
    for (mut block, letters) in blocks_with_letters(connection, Some(log))?.remove(&log).unwrap_or_default() {
        match letters {
            Letters::Filter(filter) => block.filter = segment::unfolded(&filter),
            Letters::Segment { id, column } => gathered.push((blocks.len(), id, column)),
        }
        blocks.push(block);
    }
    let mut statement = connection.prepare_cached("SELECT bits FROM parts WHERE id = ?1")?;
    for (index, id, column) in gathered {
        if !segments.contains_key(&id) {
            if segments.len() == MOST_SEGMENTS {
                segments.clear();
            }
            let part = |part| statement.query_row([part_id(id, part)], |row| row.get(0));
            segments.insert(id, (0..segment::PARTS).map(part).collect::<Sql<_>>()?);
        }
        blocks[index].filter = segment::filter_of(&segments[&id], column);
    }
    Ok(blocks)
}

/// Gathers blocks that are in no segment into segments, as long as one can be filled.
pub(crate) fn gather(connection: &Connection) -> Sql<()> {
    loop {
        let mut statement = connection
            .prepare_cached("SELECT id, filter FROM blocks WHERE segment IS NULL ORDER BY id LIMIT ?1")?;
        let rows = statement.query_map([segment::COLUMNS as i64], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let blocks: Vec<(i64, Vec<u8>)> = rows.collect::<Sql<_>>()?;
        if blocks.len() < segment::COLUMNS {
            return Ok(());
        }
        let filters: Vec<&[u8]> = blocks.iter().map(|(_, filter)| filter.as_slice()).collect();
        let segment = put_segment(connection, &filters)?;
        for (column, (id, _)) in blocks.iter().enumerate() {
            connection
                .prepare_cached("UPDATE blocks SET segment = ?2, place = ?3, filter = x'' WHERE id = ?1")?
                .execute(params![id, segment, column as i64])?;
        }
    }
}

fn part_id(segment: i64, part: usize) -> i64 {
    segment * segment::PARTS as i64 + part as i64
}

/// Of every segment, the columns that may have these pieces.
pub(crate) fn columns(connection: &Connection, pieces: &RequiredNgrams) -> Sql<HashMap<i64, Columns>> {
    let mut statement = connection.prepare_cached("SELECT id FROM segments")?;
    let segments: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Sql<_>>()?;
    let mut statement = connection.prepare_cached("SELECT bits FROM parts WHERE id = ?1")?;
    let mut columns = HashMap::new();
    for segment in segments {
        let part = |part| statement.query_row([part_id(segment, part)], |row| row.get(0));
        columns.insert(segment, segment::may_have(pieces, part)?);
    }
    Ok(columns)
}

/// The last block of a log.
pub(crate) fn last_block(connection: &Connection, log: i64) -> Sql<Option<BlockRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT number, start, stop, first_event, events, kinds, reader FROM blocks
         WHERE log = ?1 ORDER BY number DESC LIMIT 1",
    )?;
    statement.query_row([log], block).optional()
}

pub(crate) fn put_turn(connection: &Connection, log: i64, turn: &Turn) -> Sql<()> {
    let mut statement =
        connection.prepare_cached("INSERT OR REPLACE INTO turns (log, number, turn) VALUES (?1, ?2, ?3)")?;
    statement.execute(params![log, number(turn.number), json(turn)])?;
    Ok(())
}

/// A session's turns from this one on.
pub(crate) fn turns(connection: &Connection, log: i64, from: u64, most: usize) -> Sql<Vec<Turn>> {
    let mut statement = connection
        .prepare_cached("SELECT turn FROM turns WHERE log = ?1 AND number >= ?2 ORDER BY number LIMIT ?3")?;
    let rows = statement
        .query_map(params![log, number(from), number(most as u64)], |row| row.get::<_, String>(0))?;
    rows.map(|row| parsed(&row?)).collect()
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Sql<T> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })
}

pub(crate) fn put_session(connection: &Connection, row: &SessionRow) -> Sql<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO sessions (log, id, native, provider, project, root, parent, relation, started, ended, tokens,
             inherited, tally, ledger, keys)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    let keys: Vec<u8> = row
        .summary
        .account
        .requests()
        .iter()
        .filter_map(|request| request.key)
        .flat_map(u64::to_le_bytes)
        .collect();
    statement.execute(params![
        row.log,
        row.id,
        row.native,
        row.provider.name(),
        row.project,
        row.root,
        row.parent,
        row.relation,
        row.started,
        row.ended,
        number(row.tokens),
        json(&row.inherited),
        json(&row.summary),
        row.summary.account.encode(),
        keys,
    ])?;
    Ok(())
}

const SESSION: &str =
    "SELECT log, id, native, provider, project, root, parent, relation, started, ended, tokens, inherited,
    tally FROM sessions";

fn session(row: &Row<'_>) -> Sql<SessionRow> {
    let provider: String = row.get(3)?;
    Ok(SessionRow {
        log: row.get(0)?,
        id: row.get(1)?,
        native: row.get(2)?,
        provider: Provider::named(&provider).unwrap_or(Provider::ClaudeCode),
        project: row.get(4)?,
        root: row.get(5)?,
        parent: row.get(6)?,
        relation: row.get(7)?,
        started: row.get(8)?,
        ended: row.get(9)?,
        tokens: count(row, 10)?,
        inherited: parsed(&row.get::<_, String>(11)?)?,
        summary: parsed(&row.get::<_, String>(12)?)?,
    })
}

/// Which log has this session id.
pub(crate) fn owner_of(connection: &Connection, id: &str) -> Sql<Option<i64>> {
    connection
        .prepare_cached("SELECT log FROM sessions WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()
}

pub(crate) fn session_of_log(connection: &Connection, log: i64) -> Sql<Option<SessionRow>> {
    connection.prepare_cached(&format!("{SESSION} WHERE log = ?1"))?.query_row([log], session).optional()
}

/// Sessions whose id begins so, at most as many as asked.
pub(crate) fn sessions_with_prefix(
    connection: &Connection,
    prefix: &str,
    most: usize,
) -> Sql<Vec<SessionRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "{SESSION} WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT ?2"
    ))?;
    statement.query_map(params![prefix, number(most as u64)], session)?.collect()
}

/// The ids just before and just after one, other than those of its copies.
pub(crate) fn neighbours(connection: &Connection, id: &str) -> Sql<[Option<String>; 2]> {
    let before = connection
        .prepare_cached("SELECT id FROM sessions WHERE id < ?1 ORDER BY id DESC LIMIT 1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let after = connection
        .prepare_cached(
            "SELECT id FROM sessions WHERE id > ?1 AND substr(id, 1, length(?1) + 1) != ?1 || '~' ORDER BY id LIMIT 1",
        )?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok([before, after])
}

/// What sessions are asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) provider: Option<&'a str>,
    pub(crate) project: Option<&'a str>,
    pub(crate) since: Option<Millis>,
    pub(crate) until: Option<Millis>,
    pub(crate) least_tokens: Option<u64>,
    pub(crate) most_tokens: Option<u64>,
    /// Only those that are no subagent's.
    pub(crate) only_roots: bool,
    /// Only those that began before this one, in the order of the list.
    pub(crate) after: Option<(Millis, &'a str)>,
}

const WHERE: &str =
    "WHERE (?1 IS NULL OR provider = ?1) AND (?2 IS NULL OR substr(project, 1, length(?2)) = ?2)
        AND (?3 IS NULL OR ended >= ?3) AND (?4 IS NULL OR started <= ?4)
        AND (?5 IS NULL OR tokens >= ?5) AND (?6 IS NULL OR tokens <= ?6)
        AND (NOT ?7 OR relation IS NULL OR relation != 'subagent')
        AND (?8 IS NULL OR started < ?8 OR started = ?8 AND sessions.id > ?9)
    ORDER BY started DESC, sessions.id LIMIT ?10";

fn listed<T>(
    connection: &Connection,
    columns: &str,
    wanted: &Wanted<'_>,
    most: usize,
    of: impl FnMut(&Row<'_>) -> Sql<T>,
) -> Sql<Vec<T>> {
    let mut statement = connection.prepare_cached(&format!("{columns} {WHERE}"))?;
    let rows = statement.query_map(
        params![
            wanted.provider,
            wanted.project,
            wanted.since,
            wanted.until,
            wanted.least_tokens.map(number),
            wanted.most_tokens.map(number),
            wanted.only_roots,
            wanted.after.map(|(started, _)| started),
            wanted.after.map(|(_, id)| id),
            number(most as u64),
        ],
        of,
    )?;
    rows.collect()
}

/// Sessions, the latest first.
pub(crate) fn sessions(connection: &Connection, wanted: &Wanted<'_>, most: usize) -> Sql<Vec<SessionRow>> {
    listed(connection, SESSION, wanted, most, session)
}

/// The same, with no more than a search needs: when they began, their ids, their logs.
pub(crate) fn sessions_with_logs(
    connection: &Connection,
    wanted: &Wanted<'_>,
    most: usize,
) -> Sql<Vec<(Millis, String, LogRow)>> {
    let columns = "SELECT logs.id, path, part, format, size, changed, file, read_to, pending, fingerprint, reader, problem,
        started, sessions.id FROM sessions JOIN logs ON logs.id = log";
    listed(connection, columns, wanted, most, |row| Ok((row.get(12)?, row.get(13)?, log(row)?)))
}

/// The subagents and forks of a session.
pub(crate) fn children(connection: &Connection, native: &str) -> Sql<Vec<SessionRow>> {
    let mut statement =
        connection.prepare_cached(&format!("{SESSION} WHERE parent = ?1 ORDER BY started, id"))?;
    statement.query_map([native], session)?.collect()
}

/// A project as the index has it: hash, root, sessions, last activity.
pub(crate) type ProjectRow = (String, Option<String>, u64, Millis);

pub(crate) fn projects(connection: &Connection) -> Sql<Vec<ProjectRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT project, max(root), count(*), max(ended) FROM sessions
         WHERE relation IS NULL OR relation != 'subagent' GROUP BY project ORDER BY max(ended) DESC, project",
    )?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, count(row, 2)?, row.get(3)?)))?.collect()
}

/// A log's ledger.
pub(crate) fn account_of(connection: &Connection, log: i64) -> Sql<UsageAccount> {
    let mut statement = connection.prepare_cached("SELECT ledger FROM sessions WHERE log = ?1")?;
    let bytes: Option<Vec<u8>> = statement.query_row([log], |row| row.get(0)).optional()?;
    Ok(bytes.and_then(|bytes| UsageAccount::decode(&bytes)).unwrap_or_default())
}

/// Every log's requests by their keys, those that began first before the others: whoever has a key first, counts it. A copy
/// begins when what it was copied from did, so of those that began together it comes after.
pub(crate) fn each_keys(connection: &Connection, mut visit: impl FnMut(i64, &[u8])) -> Sql<()> {
    let mut statement = connection.prepare_cached(
        "SELECT log, keys FROM sessions WHERE length(keys) > 0
             ORDER BY started, relation IS NOT NULL, ended, id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        visit(row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default());
    }
    Ok(())
}

pub(crate) fn put_inherited(connection: &Connection, log: i64, tokens: u64, inherited: Tokens) -> Sql<()> {
    let mut statement =
        connection.prepare_cached("UPDATE sessions SET tokens = ?2, inherited = ?3 WHERE log = ?1")?;
    statement.execute(params![log, number(tokens), json(&inherited)])?;
    Ok(())
}

/// Logs whose tokens another counts in part.
pub(crate) fn with_inherited(connection: &Connection) -> Sql<Vec<i64>> {
    let mut statement = connection.prepare_cached("SELECT log FROM sessions WHERE inherited != ?1")?;
    statement.query_map([json(&Tokens::default())], |row| row.get(0))?.collect()
}

/// Gives a folder to sessions that know only its hash, where another session tells it.
pub(crate) fn spread_roots(connection: &Connection) -> Sql<()> {
    connection
        .prepare_cached(
            "UPDATE sessions SET root = told.root
             FROM (SELECT project, max(root) AS root FROM sessions WHERE root IS NOT NULL GROUP BY project) AS told
             WHERE sessions.root IS NULL AND sessions.project != '' AND told.project = sessions.project",
        )?
        .execute([])?;
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

/// The tables in `state.db`: how often the tools were used. They hold counts and names, never a text.
pub(crate) const USES: &[Component] = &[Component {
    name: "trace_uses",
    migrations: &["
        CREATE TABLE trace_uses (
            tool TEXT PRIMARY KEY,
            calls INTEGER NOT NULL,
            failures INTEGER NOT NULL,
            bytes INTEGER NOT NULL,         -- of all its answers
            largest INTEGER NOT NULL        -- of them, in bytes
        ) STRICT;
    "],
}];

pub(crate) fn add_use(connection: &Connection, tool: &str, failed: bool, bytes: u64) -> Sql<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO trace_uses (tool, calls, failures, bytes, largest) VALUES (?1, 1, ?2, ?3, ?3)
         ON CONFLICT (tool) DO UPDATE SET calls = calls + 1, failures = failures + ?2, bytes = bytes + ?3,
             largest = max(largest, ?3)",
    )?;
    statement.execute(params![tool, failed, number(bytes)])?;
    Ok(())
}

pub(crate) fn forget_uses(connection: &Connection) -> Sql<()> {
    connection.execute("DELETE FROM trace_uses", [])?;
    Ok(())
}

pub(crate) fn uses(connection: &Connection) -> Sql<Vec<ToolCallCounts>> {
    let mut statement = connection
        .prepare_cached("SELECT tool, calls, failures, bytes, largest FROM trace_uses ORDER BY tool")?;
    let uses = |row: &Row<'_>| {
        Ok(ToolCallCounts {
            tool: row.get(0)?,
            calls: count(row, 1)?,
            failures: count(row, 2)?,
            bytes: count(row, 3)?,
            largest: count(row, 4)?,
        })
    };
    statement.query_map([], uses)?.collect()
}
