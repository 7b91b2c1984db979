//! The background writer: callers never wait for it, and it drops no more jobs than necessary.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tamis_store::{Component, Database, WriteJob, Writer, WriterProgress};

const NOTES: &[Component] =
    &[Component { name: "notes", migrations: &["CREATE TABLE notes (text TEXT NOT NULL UNIQUE) STRICT"] }];
const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(50);

fn note(text: impl Into<String>) -> WriteJob {
    let text = text.into();
    Box::new(move |transaction| transaction.execute("INSERT INTO notes VALUES (?1)", [&text]).map(drop))
}

fn notes(path: &Path) -> Vec<String> {
    let all = |connection: &Connection| {
        let mut statement = connection.prepare("SELECT text FROM notes ORDER BY rowid")?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    Database::read_existing(path, NOTES, all).unwrap().unwrap()
}

fn progress(submitted: u64, committed: u64, lost: u64) -> WriterProgress {
    WriterProgress { submitted, committed, lost }
}

#[test]
fn nothing_is_opened_before_the_first_job() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data/a.db");
    let writer = Writer::new(path.clone(), NOTES);
    assert_eq!(writer.flush(LONG), progress(0, 0, 0));
    drop(writer);
    assert!(!folder.path().join("data").exists());

    let writer = Writer::new(path.clone(), NOTES);
    writer.submit(note("a"));
    assert_eq!(writer.flush(LONG), progress(1, 1, 0));
    assert_eq!(writer.problem(), None);
    assert_eq!(notes(&path), ["a"]);
}

#[test]
fn a_failing_job_does_not_affect_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let writer = Writer::new(path.clone(), NOTES);
    writer.submit(note("a"));
    writer.submit(Box::new(|transaction| {
        note("half")(transaction)?;
        note("a")(transaction)
    }));
    writer.submit(Box::new(|transaction| {
        note("half")(transaction)?;
        panic!("as a test")
    }));
    writer.submit(note("b"));
    assert_eq!(writer.flush(LONG), progress(4, 2, 2));
    assert_eq!(notes(&path), ["a", "b"]);
    writer.submit(note("c"));
    assert_eq!(writer.flush(LONG), progress(5, 3, 2));
    assert_eq!(writer.problem(), None);
}

#[test]
fn a_database_that_cannot_be_written_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let writer = Writer::new(path.clone(), NOTES);
    writer.submit(note("a"));
    writer.flush(LONG);
    let other = Connection::open(&path).unwrap();
    let refuse = "CREATE TRIGGER no BEFORE INSERT ON notes BEGIN SELECT RAISE(ABORT, 'as a test'); END";
    other.execute_batch(refuse).unwrap();
    for text in ["b", "c"] {
        writer.submit(note(text));
    }
    assert_eq!(writer.flush(LONG), progress(3, 1, 2));
    assert!(writer.problem().unwrap().contains("as a test"), "{:?}", writer.problem());
    other.execute_batch("DROP TRIGGER no").unwrap();
    writer.submit(note("d"));
    assert_eq!(writer.flush(LONG), progress(4, 2, 2));
    assert_eq!(writer.problem(), None);
}

#[test]
fn dropping_writes_the_queued_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let writer = Writer::new(path.clone(), NOTES);
    for number in 0..20 {
        writer.submit(note(number.to_string()));
    }
    drop(writer);
    // Dropping waits only for a while; the thread goes on, so that a slow disk loses nothing here.
    let started = Instant::now();
    let written =
        || Database::read_existing(&path, NOTES, |_| Ok(())).unwrap().map_or(0, |()| notes(&path).len());
    while written() < 20 && started.elapsed() < LONG {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(written(), 20);
}

#[test]
fn jobs_wait_for_a_lock_to_be_released() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let writer = Writer::with_lock_timeout(path.clone(), NOTES, SHORT);
    writer.submit(note("before"));
    writer.flush(LONG);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let expected: Vec<_> = (0..1000).map(|number| number.to_string()).collect();
    expected.iter().for_each(|text| writer.submit(note(text)));
    while !writer.has_problem() {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(writer.problem().unwrap().contains("is locked by another process"));
    assert_eq!(writer.progress(), progress(1001, 1, 0));

    other.execute_batch("COMMIT").unwrap();
    assert_eq!(writer.flush(LONG), progress(1001, 1001, 0));
    assert_eq!(writer.problem(), None);
    assert_eq!(notes(&path)[1..], expected, "in their order");
}

#[test]
fn a_full_queue_drops_jobs_and_counts_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let writer = Writer::with_lock_timeout(path.clone(), NOTES, SHORT);
    writer.submit(note("first"));
    writer.flush(LONG);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    // Waiting for the lock would last forever here, because it is released only afterwards.
    for number in 0..6000 {
        writer.submit(note(number.to_string()));
    }
    let lost = writer.progress().lost;
    assert!((6000 - 4096 - 512..=6000 - 4096).contains(&lost), "{lost}");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(writer.flush(LONG), progress(6001, 6001 - lost, lost));
    assert_eq!(notes(&path).len() as u64, 6001 - lost);
}

#[test]
fn a_flush_times_out_while_the_database_is_locked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    drop(Database::open(&path, NOTES).unwrap());
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let writer = Writer::with_lock_timeout(path, NOTES, LONG);
    writer.submit(note("a"));
    let started = Instant::now();
    assert_eq!(writer.flush(SHORT).pending(), 1);
    drop(writer);
    // Less than the two seconds that dropping waits when no flush has timed out before.
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_database_that_cannot_be_opened_is_reported_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    fs::write(&path, [b'x'; 5000]).unwrap();
    let writer = Writer::new(path.clone(), NOTES);
    assert_eq!(writer.problem(), None, "nothing tried yet");
    writer.submit(note("a"));
    assert_eq!(writer.flush(LONG), progress(1, 0, 1));
    assert!(writer.problem().unwrap().contains("is damaged or not a database"));
    assert_eq!(fs::read(&path).unwrap(), [b'x'; 5000]);
}

#[cfg(unix)]
#[test]
fn a_removed_folder_is_created_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data/a.db");
    let writer = Writer::new(path.clone(), NOTES);
    writer.submit(note("a"));
    writer.flush(LONG);
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    writer.submit(note("b"));
    assert_eq!(writer.flush(LONG), progress(2, 2, 0));
    assert_eq!(notes(&path), ["b"]);
}
