//! All SQL of the index.

use tamis_store::Component;
use tamis_store::rusqlite::{self, Connection, OptionalExtension, Transaction, params};

use super::segment::EncodedSegment;

/// The version in the index's place. Raise it when what is stored, or how words are counted, changes: the index is then
/// rebuilt.
pub(super) const VERSION: u32 = 8;

pub(super) const COMPONENTS: &[Component] = &[Component {
    name: "research",
    migrations: &["
        CREATE TABLE tree (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            made_by TEXT NOT NULL,          -- the root, and what is left out of it
            tree BLOB NOT NULL
        ) STRICT;
        CREATE TABLE segments (
            id INTEGER PRIMARY KEY,
            added INTEGER NOT NULL,         -- whether it came after the whole was built
            lengths BLOB NOT NULL           -- of each file, its bytes plus one; zero if it is not text
        ) STRICT;
        CREATE TABLE buckets (
            segment INTEGER NOT NULL REFERENCES segments (id) ON DELETE CASCADE,
            bucket INTEGER NOT NULL,
            counts BLOB NOT NULL,
            PRIMARY KEY (segment, bucket)
        ) STRICT, WITHOUT ROWID;
    "],
}];

/// The tree, if it was made by the same.
pub(super) fn tree(connection: &Connection, made_by: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    let query = "SELECT tree FROM tree WHERE made_by = ?1";
    connection.query_row(query, [made_by], |row| row.get(0)).optional()
}

pub(super) fn put_tree(transaction: &Transaction<'_>, tree: &[u8], made_by: &str) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT OR REPLACE INTO tree (id, made_by, tree) VALUES (1, ?1, ?2)",
        params![made_by, tree],
    )?;
    Ok(())
}

pub(super) fn put_segment(
    transaction: &Transaction<'_>,
    made: &EncodedSegment,
    added: bool,
) -> rusqlite::Result<u32> {
    transaction
        .execute("INSERT INTO segments (added, lengths) VALUES (?1, ?2)", params![added, made.lengths])?;
    let segment = u32::try_from(transaction.last_insert_rowid())
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let mut insert =
        transaction.prepare_cached("INSERT INTO buckets (segment, bucket, counts) VALUES (?1, ?2, ?3)")?;
    for (bucket, counts) in &made.buckets {
        insert.execute(params![segment, bucket, counts])?;
    }
    Ok(segment)
}

/// How many segments were added to the whole.
pub(super) fn count_added(connection: &Connection) -> rusqlite::Result<usize> {
    connection.query_row("SELECT count(*) FROM segments WHERE added", [], |row| row.get(0))
}

pub(super) fn lengths(connection: &Connection, segment: u32) -> rusqlite::Result<Vec<u8>> {
    let found = connection
        .prepare_cached("SELECT lengths FROM segments WHERE id = ?1")?
        .query_row([segment], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or_default())
}

pub(super) fn bucket(
    connection: &Connection,
    segment: u32,
    bucket: u32,
) -> rusqlite::Result<Option<Vec<u8>>> {
    connection
        .prepare_cached("SELECT counts FROM buckets WHERE segment = ?1 AND bucket = ?2")?
        .query_row([segment, bucket], |row| row.get(0))
        .optional()
}

/// Removes the segments that no file is in any more.
pub(super) fn keep_segments(transaction: &Transaction<'_>, kept: &[u32]) -> rusqlite::Result<()> {
    let all: Vec<u32> = transaction
        .prepare("SELECT id FROM segments")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for segment in all.into_iter().filter(|segment| !kept.contains(segment)) {
        transaction.execute("DELETE FROM segments WHERE id = ?1", [segment])?;
    }
    Ok(())
}

pub(super) fn clear(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch("DELETE FROM tree; DELETE FROM segments;")
}
