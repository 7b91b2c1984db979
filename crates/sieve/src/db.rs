//! All SQL of the ledger's tables. They hold counts and names, never a text or a goal.

use tamis_store::Component;
use tamis_store::rusqlite::{self, Connection, OptionalExtension, ToSql};

use crate::Caller;
use crate::cut_list::{read_cuts, read_ranges};
use crate::history::{
    CallFilter, CallOutcome, CallPage, CallSpan, CallSummary, LedgerCall, PruneRecord, PruneRecovery,
};
use crate::ledger::{
    LedgerPosition, LedgerPrune, LedgerRecovery, LedgerTotals, PruneRow, PruneSavings, RecentPrune,
    RecoveryRow,
};

/// The ledger's tables. Migrations are only ever added.
pub(crate) const COMPONENTS: &[Component] = &[Component {
    name: "ledger",
    migrations: &[
        "
        CREATE TABLE prunes (
            id INTEGER PRIMARY KEY,
            prune_id TEXT NOT NULL,
            at INTEGER NOT NULL,            -- milliseconds since 1970
            tool TEXT NOT NULL,
            door TEXT NOT NULL,
            client TEXT,
            session TEXT,
            project TEXT,
            model TEXT,
            kind TEXT NOT NULL,
            lines_before INTEGER NOT NULL,
            lines_after INTEGER NOT NULL,
            tokens_before INTEGER NOT NULL,
            tokens_after INTEGER NOT NULL,
            elapsed_us INTEGER NOT NULL,
            fallback TEXT                   -- the warning that stopped the cutting
        ) STRICT;
        CREATE INDEX prunes_by_time ON prunes (at);
        CREATE TABLE recoveries (
            id INTEGER PRIMARY KEY,
            prune_id TEXT NOT NULL,
            at INTEGER NOT NULL,
            tool TEXT NOT NULL,
            door TEXT NOT NULL,
            client TEXT,
            session TEXT,
            project TEXT,
            model TEXT,
            lines INTEGER NOT NULL,
            tokens INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX recoveries_by_time ON recoveries (at);
    ",
        "
        ALTER TABLE prunes ADD COLUMN call_id TEXT;             -- the client's id of its tool call
        ALTER TABLE prunes ADD COLUMN marker_tokens INTEGER;    -- of tokens_after
        ALTER TABLE recoveries ADD COLUMN call_id TEXT;
    ",
        "
        ALTER TABLE prunes ADD COLUMN cuts TEXT;                -- lines and causes, as `cut_list.rs` writes them
        ALTER TABLE recoveries ADD COLUMN ranges TEXT;          -- lines: 6-44,48
        CREATE INDEX prunes_by_id ON prunes (prune_id);
        CREATE INDEX recoveries_by_id ON recoveries (prune_id);
    ",
    ],
}];

pub(crate) fn insert_prune(connection: &Connection, row: &PruneRow) -> rusqlite::Result<()> {
    let elapsed_us = i64::try_from(row.elapsed.as_micros()).unwrap_or(i64::MAX);
    let own: [(&str, &dyn ToSql); 9] = [
        ("kind", &row.kind.name()),
        ("lines_before", &number(row.lines_before)),
        ("lines_after", &number(row.lines_after)),
        ("tokens_before", &number(row.tokens_before)),
        ("tokens_after", &number(row.tokens_after)),
        ("marker_tokens", &row.marker_tokens.map(number)),
        ("elapsed_us", &elapsed_us),
        ("fallback", &row.fallback.map(|warning| warning.code())),
        ("cuts", &row.cuts),
    ];
    insert(connection, "prunes", &row.prune_id, row.at_ms, &row.caller, &own)
}

pub(crate) fn insert_recovery(connection: &Connection, row: &RecoveryRow) -> rusqlite::Result<()> {
    let own: [(&str, &dyn ToSql); 3] =
        [("lines", &number(row.lines)), ("tokens", &number(row.tokens)), ("ranges", &row.ranges)];
    insert(connection, "recoveries", &row.prune_id, row.at_ms, &row.caller, &own)
}

/// Inserts the columns that both tables have, and those of one table.
fn insert(
    connection: &Connection,
    table: &str,
    prune_id: &str,
    at_ms: i64,
    caller: &Caller,
    own: &[(&str, &dyn ToSql)],
) -> rusqlite::Result<()> {
    let shared: [(&str, &dyn ToSql); 9] = [
        ("prune_id", &prune_id),
        ("at", &at_ms),
        ("tool", &caller.tool),
        ("door", &caller.door),
        ("client", &caller.client),
        ("session", &caller.session),
        ("project", &caller.project),
        ("model", &caller.model),
        ("call_id", &caller.call_id),
    ];
    let (names, values): (Vec<&str>, Vec<&dyn ToSql>) = shared.iter().chain(own).copied().unzip();
    let places = vec!["?"; names.len()].join(", ");
    let insert = format!("INSERT INTO {table} ({}) VALUES ({places})", names.join(", "));
    connection.prepare_cached(&insert)?.execute(values.as_slice()).map(drop)
}

pub(crate) fn totals(connection: &Connection) -> rusqlite::Result<LedgerTotals> {
    let mut savings = connection.query_row(
        "SELECT count(*), count(fallback), coalesce(sum(lines_before), 0), coalesce(sum(lines_after), 0),
                coalesce(sum(tokens_before), 0), coalesce(sum(tokens_after), 0) FROM prunes",
        [],
        |row| {
            Ok(LedgerTotals {
                calls: row.get(0)?,
                fallbacks: row.get(1)?,
                lines_before: row.get(2)?,
                lines_after: row.get(3)?,
                tokens_before: row.get(4)?,
                tokens_after: row.get(5)?,
                ..LedgerTotals::default()
            })
        },
    )?;
    (savings.recoveries, savings.recovered_lines, savings.recovered_tokens) = connection.query_row(
        "SELECT count(*), coalesce(sum(lines), 0), coalesce(sum(tokens), 0) FROM recoveries",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    Ok(savings)
}

/// What these prunes saved since `at_ms`; the ids as a list in JSON.
pub(crate) fn savings_of_prunes(
    connection: &Connection,
    prune_ids: &str,
    at_ms: i64,
) -> rusqlite::Result<PruneSavings> {
    let mut savings = connection.query_row(
        "SELECT count(DISTINCT prune_id), coalesce(sum(tokens_before), 0), coalesce(sum(tokens_after), 0) FROM prunes
         WHERE at >= ?2 AND fallback IS NULL AND prune_id IN (SELECT value FROM json_each(?1))",
        rusqlite::params![prune_ids, at_ms],
        |row| {
            Ok(PruneSavings {
                known_ids: row.get(0)?,
                tokens_before: row.get(1)?,
                tokens_after: row.get(2)?,
                recovered_tokens: 0,
            })
        },
    )?;
    savings.recovered_tokens = connection.query_row(
        "SELECT coalesce(sum(tokens), 0) FROM recoveries
         WHERE at >= ?2 AND prune_id IN (SELECT value FROM json_each(?1))",
        rusqlite::params![prune_ids, at_ms],
        |row| row.get(0),
    )?;
    Ok(savings)
}

/// The latest prunes that cut something, the last first, each id once.
pub(crate) fn recent_prunes(connection: &Connection, limit: usize) -> rusqlite::Result<Vec<RecentPrune>> {
    let mut query = connection.prepare(
        "SELECT prune_id, max(at), tool, client, project, lines_before, lines_after FROM prunes
         WHERE lines_after < lines_before GROUP BY prune_id ORDER BY max(at) DESC, prune_id LIMIT ?1",
    )?;
    let rows = query.query_map([number(limit)], |row| {
        Ok(RecentPrune {
            prune_id: row.get(0)?,
            at_ms: row.get(1)?,
            tool: row.get(2)?,
            client: row.get(3)?,
            project: row.get(4)?,
            lines_before: row.get(5)?,
            lines_after: row.get(6)?,
            goal: None,
        })
    })?;
    rows.collect()
}

/// The condition of a filter, for a query of `prunes` whose first parameters are those of [`filter_values`].
fn condition(filter: &CallFilter) -> String {
    let outcome = match filter.outcome {
        CallOutcome::Any => "TRUE",
        CallOutcome::Cut => "lines_after < lines_before",
        CallOutcome::Whole => "lines_after >= lines_before",
        CallOutcome::Recovered => {
            "EXISTS (SELECT 1 FROM recoveries WHERE recoveries.prune_id = prunes.prune_id)"
        }
    };
    let names = ["client", "tool", "session"].into_iter().enumerate();
    let names = names.map(|(at, name)| format!("(?{0} IS NULL OR {name} = ?{0})", at + 1));
    names.chain([outcome.to_owned()]).collect::<Vec<_>>().join(" AND ")
}

fn filter_values(filter: &CallFilter) -> [&dyn ToSql; 3] {
    [&filter.client, &filter.tool, &filter.session]
}

const CALL: &str =
    "prune_id, at, tool, door, client, session, project, model, kind, lines_before, lines_after,
    tokens_before, tokens_after, marker_tokens, elapsed_us, fallback,
    (SELECT count(*) FROM recoveries WHERE recoveries.prune_id = prunes.prune_id),
    (SELECT coalesce(sum(tokens), 0) FROM recoveries WHERE recoveries.prune_id = prunes.prune_id)";

fn call(row: &rusqlite::Row<'_>) -> rusqlite::Result<LedgerCall> {
    Ok(LedgerCall {
        prune_id: row.get(0)?,
        at_ms: row.get(1)?,
        tool: row.get(2)?,
        door: row.get(3)?,
        client: row.get(4)?,
        session: row.get(5)?,
        project: row.get(6)?,
        model: row.get(7)?,
        kind: row.get(8)?,
        lines_before: row.get(9)?,
        lines_after: row.get(10)?,
        tokens_before: row.get(11)?,
        tokens_after: row.get(12)?,
        marker_tokens: row.get(13)?,
        elapsed_us: row.get(14)?,
        fallback: row.get(15)?,
        recoveries: row.get(16)?,
        recovered_tokens: row.get(17)?,
    })
}

/// Calls that the filter accepts, the latest first.
pub(crate) fn calls(
    connection: &Connection,
    filter: &CallFilter,
    from: usize,
    limit: usize,
) -> rusqlite::Result<CallPage> {
    let condition = condition(filter);
    let values = filter_values(filter);
    let count = format!("SELECT count(*) FROM prunes WHERE {condition}");
    let total = connection.query_row(&count, values.as_slice(), |row| row.get(0))?;
    let select = format!(
        "SELECT {CALL} FROM prunes WHERE {condition} ORDER BY at DESC, id DESC LIMIT {} OFFSET {}",
        number(limit),
        number(from)
    );
    let mut query = connection.prepare(&select)?;
    let calls = query.query_map(values.as_slice(), call)?.collect::<rusqlite::Result<_>>()?;
    Ok(CallPage { total, calls })
}

/// Totals of the calls that the filter accepts.
pub(crate) fn call_summary(
    connection: &Connection,
    filter: &CallFilter,
    spans: usize,
) -> rusqlite::Result<CallSummary> {
    let condition = condition(filter);
    let values = filter_values(filter);
    let select = format!(
        "SELECT count(*), count(fallback), coalesce(sum(lines_before), 0), coalesce(sum(lines_after), 0),
                coalesce(sum(tokens_before), 0), coalesce(sum(tokens_after), 0),
                coalesce(sum(lines_after < lines_before), 0), coalesce(min(at), 0), coalesce(max(at), 0)
         FROM prunes WHERE {condition}"
    );
    let (mut totals, cut_calls, first, last) = connection.query_row(&select, values.as_slice(), |row| {
        let totals = LedgerTotals {
            calls: row.get(0)?,
            fallbacks: row.get(1)?,
            lines_before: row.get(2)?,
            lines_after: row.get(3)?,
            tokens_before: row.get(4)?,
            tokens_after: row.get(5)?,
            ..LedgerTotals::default()
        };
        Ok((totals, row.get(6)?, row.get::<_, i64>(7)?, row.get::<_, i64>(8)?))
    })?;
    // Without a filter, the subquery would read every prune again to accept it.
    let of_these = match filter == &CallFilter::default() {
        true => "?1 IS NULL AND ?2 IS NULL AND ?3 IS NULL".to_owned(),
        false => format!("prune_id IN (SELECT prune_id FROM prunes WHERE {condition})"),
    };
    let select = format!(
        "SELECT count(*), coalesce(sum(lines), 0), coalesce(sum(tokens), 0) FROM recoveries WHERE {of_these}"
    );
    (totals.recoveries, totals.recovered_lines, totals.recovered_tokens) =
        connection
            .query_row(&select, values.as_slice(), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let width = ((last - first) / number(spans.max(1))).saturating_add(1);
    let select = format!(
        "SELECT (at - {first}) / {width}, sum(tokens_before), sum(tokens_after) FROM prunes
         WHERE {condition} GROUP BY 1 ORDER BY 1"
    );
    let mut query = connection.prepare(&select)?;
    let spans = query.query_map(values.as_slice(), |row| {
        let at_ms = first + row.get::<_, i64>(0)? * width;
        Ok(CallSpan { at_ms, tokens_before: row.get(1)?, tokens_after: row.get(2)? })
    })?;
    let spans = spans.collect::<rusqlite::Result<_>>()?;
    let [clients, tools] = ["client", "tool"].map(|name| names(connection, name));
    Ok(CallSummary { totals, cut_calls, clients: clients?, tools: tools?, spans })
}

/// The values of a column, the most frequent first.
fn names(connection: &Connection, column: &str) -> rusqlite::Result<Vec<String>> {
    let select = format!(
        "SELECT {column} FROM prunes WHERE {column} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 100"
    );
    let mut query = connection.prepare(&select)?;
    query.query_map([], |row| row.get(0))?.collect()
}

/// What is known about one prune.
pub(crate) fn prune_record(connection: &Connection, prune_id: &str) -> rusqlite::Result<PruneRecord> {
    let select = format!("SELECT {CALL} FROM prunes WHERE prune_id = ?1 ORDER BY at DESC, id DESC LIMIT 100");
    let calls = connection.prepare(&select)?.query_map([prune_id], call)?.collect::<rusqlite::Result<_>>()?;
    // The same id means the same cuts, so any call that has them will do.
    let cuts: Option<String> = connection
        .query_row(
            "SELECT cuts FROM prunes WHERE prune_id = ?1 AND cuts IS NOT NULL AND fallback IS NULL LIMIT 1",
            [prune_id],
            |row| row.get(0),
        )
        .optional()?;
    let mut query = connection.prepare(
        "SELECT at, tool, door, client, session, ranges, lines, tokens FROM recoveries WHERE prune_id = ?1
         ORDER BY at, id LIMIT 1000",
    )?;
    let recoveries = query.query_map([prune_id], |row| {
        Ok(PruneRecovery {
            at_ms: row.get(0)?,
            tool: row.get(1)?,
            door: row.get(2)?,
            client: row.get(3)?,
            session: row.get(4)?,
            ranges: row.get::<_, Option<String>>(5)?.as_deref().and_then(read_ranges),
            lines: row.get(6)?,
            tokens: row.get(7)?,
        })
    })?;
    Ok(PruneRecord {
        calls,
        cuts: cuts.as_deref().and_then(read_cuts),
        recoveries: recoveries.collect::<rusqlite::Result<_>>()?,
    })
}

/// The prunes that cut something since `at_ms`, the earliest first.
pub(crate) fn prunes_since(connection: &Connection, at_ms: i64) -> rusqlite::Result<Vec<LedgerPrune>> {
    let mut query = connection.prepare(
        "SELECT prune_id, at, tool, door, client, session, call_id, tokens_before, tokens_after,
                coalesce(marker_tokens, 0) FROM prunes
         WHERE at >= ?1 AND lines_after < lines_before ORDER BY at, id",
    )?;
    let rows = query.query_map([at_ms], |row| {
        Ok(LedgerPrune {
            prune_id: row.get(0)?,
            at_ms: row.get(1)?,
            tool: row.get(2)?,
            door: row.get(3)?,
            client: row.get(4)?,
            session: row.get(5)?,
            call_id: row.get(6)?,
            tokens_before: row.get(7)?,
            tokens_after: row.get(8)?,
            marker_tokens: row.get(9)?,
        })
    })?;
    rows.collect()
}

/// The recoveries since `at_ms`, the earliest first.
pub(crate) fn recoveries_since(connection: &Connection, at_ms: i64) -> rusqlite::Result<Vec<LedgerRecovery>> {
    let mut query = connection.prepare(
        "SELECT prune_id, at, door, client, tokens FROM recoveries WHERE at >= ?1 ORDER BY at, id",
    )?;
    let rows = query.query_map([at_ms], |row| {
        Ok(LedgerRecovery {
            prune_id: row.get(0)?,
            at_ms: row.get(1)?,
            door: row.get(2)?,
            client: row.get(3)?,
            tokens: row.get(4)?,
        })
    })?;
    rows.collect()
}

pub(crate) fn position(connection: &Connection) -> rusqlite::Result<LedgerPosition> {
    connection.query_row(
        "SELECT (SELECT coalesce(max(id), 0) FROM prunes), (SELECT coalesce(max(id), 0) FROM recoveries)",
        [],
        |row| Ok(LedgerPosition { prunes: row.get(0)?, recoveries: row.get(1)? }),
    )
}

/// Rows of both tables.
pub(crate) fn count(connection: &Connection) -> rusqlite::Result<u64> {
    connection.query_row(
        "SELECT (SELECT count(*) FROM prunes) + (SELECT count(*) FROM recoveries)",
        [],
        |row| row.get(0),
    )
}

/// Whether anything happened before `at_ms`.
pub(crate) fn has_before(connection: &Connection, at_ms: i64) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM prunes WHERE at < ?1) OR EXISTS (SELECT 1 FROM recoveries WHERE at < ?1)",
        [at_ms],
        |row| row.get(0),
    )
}

/// Deletes some of what happened before `at_ms`; gives how many rows went, 0 when none is left.
pub(crate) fn delete_some_before(connection: &Connection, at_ms: i64) -> rusqlite::Result<u64> {
    let mut rows = 0;
    for table in ["prunes", "recoveries"] {
        let some = format!("SELECT id FROM {table} WHERE at < ?1 LIMIT 5000");
        rows += connection.execute(&format!("DELETE FROM {table} WHERE id IN ({some})"), [at_ms])?;
    }
    Ok(rows as u64)
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
