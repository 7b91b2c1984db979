//! Reading the database of another program.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use tamis_store::rusqlite::{self, Connection};
use tamis_store::{ForeignError, read_foreign};

/// A database of another program, in WAL mode, whose program has it open.
fn another(folder: &Path, schema: &str) -> (PathBuf, Connection) {
    let path = folder.join("an odd?name#%.db");
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.execute_batch(schema).unwrap();
    (path, connection)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn count(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0))
}

#[test]
fn rows_in_the_log_are_read_and_the_writer_is_not_blocked() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = another(folder.path(), "CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    let before = names(folder.path());
    assert_eq!(before.len(), 3, "{before:?}");
    let seen = read_foreign(&path, |connection| {
        let first = count(connection)?;
        // The program writes during the query, which keeps its snapshot.
        program.execute_batch("INSERT INTO t VALUES (2)")?;
        Ok((first, count(connection)?))
    });
    assert_eq!(seen.unwrap(), (1, 1));
    assert_eq!(read_foreign(&path, count).unwrap(), 2);
    assert_eq!(names(folder.path()), before);
}

#[test]
fn a_closed_database_is_read_without_a_file_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = another(folder.path(), "CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    drop(program);
    let before = names(folder.path());
    assert_eq!(before.len(), 1, "{before:?}");
    assert_eq!(read_foreign(&path, count).unwrap(), 1);
    assert_eq!(names(folder.path()), before);
}

#[test]
fn a_file_that_changes_during_reading_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = another(folder.path(), "CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    drop(program);
    let mut times = 0;
    let seen = read_foreign(&path, |connection| {
        times += 1;
        let seen = count(connection)?;
        if times == 1 {
            let program = Connection::open(&path)?;
            program.execute_batch("INSERT INTO t VALUES (2)")?;
            std::mem::forget(program);
        }
        Ok(seen)
    });
    assert_eq!((seen.unwrap(), times), (2, 2));
}

#[test]
fn nothing_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _program) = another(folder.path(), "CREATE TABLE t (x)");
    for statement in ["INSERT INTO t VALUES (1)", "CREATE TABLE u (x)", "ATTACH ':memory:' AS m", "VACUUM"] {
        let result = read_foreign(&path, |connection| connection.execute_batch(statement));
        assert!(result.is_err(), "{statement}");
    }
    assert_eq!(read_foreign(&path, count).unwrap(), 0);
}

#[test]
fn a_hostile_schema_runs_nothing_and_a_query_without_end_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS x FROM n";
    let (path, _program) = another(folder.path(), &format!("CREATE VIEW t AS {endless}"));
    let error = read_foreign(&path, count).unwrap_err();
    assert!(matches!(error, ForeignError::Sql { .. }), "{error:?}");
    let query = format!("SELECT max(x) FROM ({endless})");
    let error =
        read_foreign(&path, |connection| connection.query_row(&query, [], |row| row.get::<_, i64>(0)));
    assert!(matches!(error, Err(ForeignError::TooMuch { .. })), "{error:?}");
}

#[test]
fn each_kind_of_unreadable_file_is_a_different_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("not.db");
    let read = || read_foreign(&path, count).unwrap_err();
    assert!(matches!(read(), ForeignError::Io { .. }));
    fs::write(
        &path,
        "this is a text, and longer than a header of a database would be: one hundred bytes or so, yes",
    )
    .unwrap();
    assert!(matches!(read(), ForeignError::Corrupt { .. }));
    assert!(read().hint().unwrap().contains("quick_check"));
    let folder_itself = read_foreign(folder.path(), count).unwrap_err();
    assert!(matches!(folder_itself, ForeignError::Io { .. }));
    assert_eq!(names(folder.path()), ["not.db"]);
}
