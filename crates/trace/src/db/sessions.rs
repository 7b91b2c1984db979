//! Sessions, their turns, and the requests that they count.

use tamis_clients::Client;
use tamis_logs::event::Millis;
use tamis_logs::readers::Relation;
use tamis_logs::usage::Tokens;
use tamis_redact::Redacted;
use tamis_store::rusqlite::types::Value;
use tamis_store::rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::{IndexedLog, LOG_COLUMNS, Sql, count, json, log, number, parsed};
use crate::accounting::UsageAccount;
use crate::session::{Project, Session, SessionFilter};
use crate::session_list::{SessionListQuery, SessionSort};
use crate::summary::{SessionSummary, Turn};

/// Removes the session of a log that has none any more.
pub(crate) fn remove_session(connection: &Connection, log: i64) -> Sql<()> {
    connection.prepare_cached("DELETE FROM sessions WHERE log = ?1")?.execute([log])?;
    Ok(())
}

pub(crate) fn remove_turns(connection: &Connection, log: i64) -> Sql<()> {
    connection.prepare_cached("DELETE FROM turns WHERE log = ?1")?.execute([log])?;
    Ok(())
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

pub(crate) fn put_session(connection: &Connection, session: &Session) -> Sql<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO sessions (log, id, native, provider, project, root, parent, relation, started, ended, tokens,
             turns, failed, words, inherited, tally, ledger, keys)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
    )?;
    let summary = &session.summary;
    let requests = summary.account.requests().iter();
    let keys: Vec<u8> = requests.filter_map(|request| request.key).flat_map(u64::to_le_bytes).collect();
    let started = summary.started.unwrap_or(0);
    statement.execute(params![
        session.log,
        session.id,
        session.native_id,
        session.provider.id(),
        session.project,
        session.root,
        session.parent,
        session.relation.map(Relation::name),
        started,
        summary.ended.unwrap_or(started),
        number(session.own_tokens),
        number(summary.turns),
        number(summary.failed_tools),
        words_of(summary),
        json(&session.inherited),
        json(summary),
        summary.account.encode(),
        keys,
    ])?;
    Ok(())
}

/// What a list is filtered by besides columns.
fn words_of(summary: &SessionSummary) -> String {
    let texts: Vec<&str> =
        [&summary.title, &summary.snippet].into_iter().flatten().map(|text| text.as_str()).collect();
    texts.join("\n").to_lowercase()
}

const SESSION: &str = "SELECT log, id, native, provider, project, root, parent, relation, tokens, inherited, tally FROM sessions";

fn session(row: &Row<'_>) -> Sql<Session> {
    let provider: String = row.get(3)?;
    Ok(Session {
        log: row.get(0)?,
        id: row.get(1)?,
        native_id: row.get(2)?,
        provider: Client::with_id(&provider).unwrap_or(Client::ClaudeCode),
        project: row.get(4)?,
        root: row.get(5)?,
        parent: row.get(6)?,
        relation: row.get::<_, Option<String>>(7)?.and_then(|name| Relation::named(&name)),
        own_tokens: count(row, 8)?,
        inherited: parsed(&row.get::<_, String>(9)?)?,
        summary: parsed(&row.get::<_, String>(10)?)?,
    })
}

/// Which log has this session id.
pub(crate) fn owner_of(connection: &Connection, id: &str) -> Sql<Option<i64>> {
    connection
        .prepare_cached("SELECT log FROM sessions WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()
}

pub(crate) fn session_of_log(connection: &Connection, log: i64) -> Sql<Option<Session>> {
    connection.prepare_cached(&format!("{SESSION} WHERE log = ?1"))?.query_row([log], session).optional()
}

/// Sessions that were active since then, the last active first.
pub(crate) fn active_sessions(
    connection: &Connection,
    since: Millis,
    with_subagents: bool,
    most: usize,
) -> Sql<Vec<Session>> {
    let mut statement = connection.prepare_cached(&format!(
        "{SESSION} WHERE started > 0 AND ended >= ?1 AND (?2 OR relation IS NULL OR relation != 'subagent')
         ORDER BY ended DESC, id LIMIT ?3"
    ))?;
    statement.query_map(params![since, with_subagents, number(most as u64)], session)?.collect()
}

/// The session with the client's own id; of copies, the original.
pub(crate) fn session_of_native(connection: &Connection, native: &str) -> Sql<Option<Session>> {
    connection.prepare_cached(&format!("{SESSION} WHERE id = ?1"))?.query_row([native], session).optional()
}

/// Sessions whose id has this prefix, at most `most`.
pub(crate) fn sessions_with_prefix(connection: &Connection, prefix: &str, most: usize) -> Sql<Vec<Session>> {
    let mut statement = connection.prepare_cached(&format!(
        "{SESSION} WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT ?2"
    ))?;
    statement.query_map(params![prefix, number(most as u64)], session)?.collect()
}

/// How many sessions have an id with this prefix.
pub(crate) fn count_with_prefix(connection: &Connection, prefix: &str) -> Sql<u64> {
    connection
        .prepare_cached("SELECT count(*) FROM sessions WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1")?
        .query_row([prefix], |row| count(row, 0))
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

const WHERE: &str =
    "WHERE (?1 IS NULL OR provider = ?1) AND (?2 IS NULL OR substr(project, 1, length(?2)) = ?2)
        AND (?3 IS NULL OR started > 0 AND ended >= ?3) AND (?4 IS NULL OR started > 0 AND started <= ?4)
        AND (?5 IS NULL OR tokens >= ?5) AND (?6 IS NULL OR tokens <= ?6)
        AND (NOT ?7 OR relation IS NULL OR relation != 'subagent')
        AND (?8 IS NULL OR started < ?8 OR started = ?8 AND sessions.id > ?9)
        AND (?11 IS NULL OR log IN (SELECT value FROM json_each(?11)))
    ORDER BY started DESC, sessions.id LIMIT ?10";

/// Sessions, the latest first, that come after one in this order; only of these logs if any are named.
fn listed<T>(
    connection: &Connection,
    select: &str,
    filter: &SessionFilter,
    logs: Option<&[i64]>,
    after: Option<(Millis, &str)>,
    most: usize,
    of: impl FnMut(&Row<'_>) -> Sql<T>,
) -> Sql<Vec<T>> {
    let mut statement = connection.prepare_cached(&format!("{select} {WHERE}"))?;
    let rows = statement.query_map(
        params![
            filter.provider.map(Client::id),
            filter.project,
            filter.since,
            filter.until,
            filter.least_tokens.map(number),
            filter.most_tokens.map(number),
            !filter.with_subagents,
            after.map(|(started, _)| started),
            after.map(|(_, id)| id),
            number(most as u64),
            logs.map(|logs| json(&logs)),
        ],
        of,
    )?;
    rows.collect()
}

pub(crate) fn sessions(
    connection: &Connection,
    filter: &SessionFilter,
    after: Option<(Millis, &str)>,
    most: usize,
) -> Sql<Vec<Session>> {
    listed(connection, SESSION, filter, None, after, most, session)
}

/// The same, with no more than a search needs: when they began, their ids, their logs.
pub(crate) fn sessions_with_logs(
    connection: &Connection,
    filter: &SessionFilter,
    logs: Option<&[i64]>,
    after: Option<(Millis, &str)>,
    most: usize,
) -> Sql<Vec<(Millis, String, IndexedLog)>> {
    let select =
        format!("SELECT {LOG_COLUMNS}, started, sessions.id FROM sessions JOIN logs ON logs.id = log");
    listed(connection, &select, filter, logs, after, most, |row| Ok((row.get(12)?, row.get(13)?, log(row)?)))
}

/// Selects sessions in which something happened. Clients leave logs without a turn and without a token when they are only opened.
const NOT_EMPTY: &str = "(turns > 0 OR tokens > 0 OR EXISTS
    (SELECT 1 FROM sessions AS child WHERE child.parent = sessions.native AND child.relation = 'subagent'))";

/// The logs of the sessions of a list, in its order. Empty sessions are in no list.
pub(crate) fn ordered_logs(connection: &Connection, query: &SessionListQuery) -> Sql<Vec<i64>> {
    let SessionListQuery { filter, words, only_failed, sort } = query;
    let mut values: Vec<Value> = Vec::new();
    let mut conditions: Vec<String> = Vec::new();
    let mut require = |condition: &str, value: Value| {
        values.push(value);
        conditions.push(condition.replace('?', &format!("?{}", values.len())));
    };
    if let Some(provider) = filter.provider {
        require("provider = ?", provider.id().to_owned().into());
    }
    if let Some(project) = &filter.project {
        require("substr(project, 1, length(?)) = ?", project.clone().into());
    }
    if let Some(since) = filter.since {
        require("started > 0 AND ended >= ?", since.into());
    }
    if let Some(until) = filter.until {
        require("started > 0 AND started <= ?", until.into());
    }
    if let Some(least) = filter.least_tokens {
        require("tokens >= ?", number(least).into());
    }
    if let Some(most) = filter.most_tokens {
        require("tokens <= ?", number(most).into());
    }
    for word in words.split_whitespace() {
        let escaped = word.to_lowercase().replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
        let condition = r"(words LIKE ? ESCAPE '\' OR root LIKE ? ESCAPE '\' OR id LIKE ? ESCAPE '\')";
        require(condition, format!("%{escaped}%").into());
    }
    if *only_failed {
        conditions.push("failed > 0".to_owned());
    }
    if !filter.with_subagents {
        conditions.push("(relation IS NULL OR relation != 'subagent')".to_owned());
    }
    conditions.push(NOT_EMPTY.to_owned());
    let order = match sort {
        SessionSort::Started => "started DESC, id",
        SessionSort::Ended => "ended DESC, id",
        SessionSort::Turns => "turns DESC, started DESC, id",
        SessionSort::Failed => "failed DESC, started DESC, id",
        // Subagents of subagents are rare, and each would need a look of its own.
        SessionSort::Tokens => {
            "tokens + (SELECT total(child.tokens) FROM sessions AS child
                WHERE child.parent = sessions.native AND child.relation = 'subagent') DESC, started DESC, id"
        }
    };
    let condition = conditions.join(" AND ");
    let select = format!("SELECT log FROM sessions WHERE {condition} ORDER BY {order}");
    connection.prepare_cached(&select)?.query_map(params_from_iter(values), |row| row.get(0))?.collect()
}

/// How many sessions each client has, subagents' and empty ones not counted.
pub(crate) fn sessions_by_client(connection: &Connection) -> Sql<Vec<(Client, u64)>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT provider, count(*) FROM sessions WHERE (relation IS NULL OR relation != 'subagent') AND {NOT_EMPTY}
         GROUP BY provider ORDER BY count(*) DESC, provider"
    ))?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, count(row, 1)?)))?;
    rows.filter_map(|row| row.map(|(id, count)| Some((Client::with_id(&id)?, count))).transpose()).collect()
}

/// The session with this id of its client.
pub(crate) fn session_with_native_id(connection: &Connection, native: &str) -> Sql<Option<Session>> {
    sessions_with_prefix(connection, native, 1)
        .map(|mut found| found.pop().filter(|one| one.native_id == native))
}

/// The subagents and forks of a session.
pub(crate) fn children(connection: &Connection, native: &str) -> Sql<Vec<Session>> {
    let mut statement =
        connection.prepare_cached(&format!("{SESSION} WHERE parent = ?1 ORDER BY started, id"))?;
    statement.query_map([native], session)?.collect()
}

pub(crate) fn projects(connection: &Connection) -> Sql<Vec<Project>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT project, max(root), count(*), max(ended), count(*) FILTER (WHERE {NOT_EMPTY}) FROM sessions
         WHERE relation IS NULL OR relation != 'subagent' GROUP BY project ORDER BY max(ended) DESC, project"
    ))?;
    let project = |row: &Row<'_>| {
        Ok(Project {
            hash: row.get(0)?,
            root: row.get::<_, Option<String>>(1)?.map(Redacted::from),
            sessions: count(row, 2)?,
            last_activity: Some(row.get(3)?).filter(|last| *last > 0),
            used_sessions: count(row, 4)?,
        })
    };
    statement.query_map([], project)?.collect()
}

/// A log's ledger.
pub(crate) fn account_of(connection: &Connection, log: i64) -> Sql<UsageAccount> {
    let mut statement = connection.prepare_cached("SELECT ledger FROM sessions WHERE log = ?1")?;
    let bytes: Option<Vec<u8>> = statement.query_row([log], |row| row.get(0)).optional()?;
    Ok(bytes.and_then(|bytes| UsageAccount::decode(&bytes)).unwrap_or_default())
}

/// Every log with the keys of its requests, in the order in which logs count requests: the session that began first comes
/// first. A copy begins when its original did, so of those that began together it comes later.
pub(crate) fn each_log_with_keys(connection: &Connection, mut visit: impl FnMut(i64, &[u8])) -> Sql<()> {
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

/// Fills in the folder of sessions whose logs have only its hash, from other sessions of the project.
pub(crate) fn spread_roots(connection: &Connection) -> Sql<()> {
    connection
        .prepare_cached(
            "UPDATE sessions SET root = known.root
             FROM (SELECT project, max(root) AS root FROM sessions WHERE root IS NOT NULL GROUP BY project) AS known
             WHERE sessions.root IS NULL AND known.project = sessions.project",
        )?
        .execute([])?;
    Ok(())
}
