//! Opening, migrating and refusing databases, on real files.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rusqlite::Connection;
use tamis_store::{Component, DataDir, Database, Lock, StoreError};

const FIRST: &[Component] =
    &[Component { name: "notes", migrations: &["CREATE TABLE notes (text TEXT) STRICT"] }];
const SECOND: &[Component] = &[
    Component {
        name: "notes",
        migrations: &["CREATE TABLE notes (text TEXT) STRICT", "ALTER TABLE notes ADD COLUMN at INTEGER"],
    },
    Component { name: "marks", migrations: &["CREATE TABLE marks (id INTEGER PRIMARY KEY) STRICT"] },
];
const FAILING: &[Component] = &[Component {
    name: "notes",
    migrations: &[
        "CREATE TABLE notes (text TEXT) STRICT",
        "CREATE TABLE other (id) ; CREATE TABLE notes (id)",
    ],
}];
const SHORT: Duration = Duration::from_millis(50);

fn versions(path: &Path) -> Vec<(String, u32)> {
    let connection = Connection::open(path).unwrap();
    let mut statement =
        connection.prepare("SELECT component, version FROM schema_versions ORDER BY 1").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn notes(path: &Path) -> Vec<String> {
    let all = |connection: &Connection| {
        let mut statement = connection.prepare("SELECT text FROM notes ORDER BY rowid")?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    Database::read_existing(path, &[], all).unwrap().unwrap()
}

fn add_note(database: &Database, text: &str) {
    database
        .write(|transaction| transaction.execute("INSERT INTO notes (text) VALUES (?1)", [text]))
        .unwrap();
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_database_is_private_and_at_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path().join("deep/data"));
    assert!(!data.root().exists());
    let database = Database::open(&data.state_db(), FIRST).unwrap();
    add_note(&database, "kept");
    assert_eq!(notes(&data.state_db()), ["kept"]);
    #[cfg(unix)]
    {
        assert_eq!(mode(data.root()), 0o700);
        for name in files(data.root()) {
            assert_eq!(mode(&data.root().join(&name)), 0o600, "{name}");
        }
    }
    drop(database);
    assert_eq!(versions(&data.state_db()), [("notes".to_owned(), 1)]);
    assert_eq!(files(data.root()), ["state.db"]);
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn the_mode_of_our_database_is_restricted() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let other = Database::open(&path, FIRST).unwrap();
    add_note(&other, "a");
    for name in files(folder.path()) {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    drop(Database::open(&path, FIRST).unwrap());
    let modes: Vec<_> = files(folder.path()).iter().map(|name| mode(&folder.path().join(name))).collect();
    assert_eq!(modes, [0o600; 3], "the file, its journal and its shared memory");
}

/// Closing any handle of a file drops all locks that the process has on it, including SQLite's: then another process could
/// take itself for the last one and remove the journal that is still written here.
#[cfg(target_os = "linux")]
#[test]
fn opening_again_does_not_drop_the_locks_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let database = Database::open(&path, FIRST).unwrap();
    add_note(&database, "a");
    let process = format!(" {} ", std::process::id());
    let inode = format!(":{} ", std::os::unix::fs::MetadataExt::ino(&fs::metadata(&path).unwrap()));
    // /proc/locks may miss one while others change, so it is read more than once.
    let is_locked = || {
        (0..100).any(|_| {
            thread::sleep(Duration::from_millis(1));
            let locks = fs::read_to_string("/proc/locks").unwrap();
            locks.lines().any(|line| line.contains(&process) && line.contains(&inode))
        })
    };
    assert!(is_locked(), "as long as a connection is open");
    let again = Database::open(&path, FIRST).unwrap();
    assert!(is_locked());
    drop((again, database));
}

#[test]
fn reading_an_existing_database_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    assert_eq!(Database::read_existing(&path, FIRST, |_| Ok(())).unwrap(), None);
    assert!(files(folder.path()).is_empty());
    add_note(&Database::open(&path, FIRST).unwrap(), "a");
    let erase = |connection: &Connection| connection.execute("DELETE FROM notes", []);
    assert!(Database::read_existing(&path, FIRST, erase).is_err());
    assert_eq!(Database::read_existing(&path, &SECOND[1..], |_| Ok(())).unwrap(), None, "no such tables yet");
    assert_eq!(versions(&path), [("notes".to_owned(), 1)]);
    assert_eq!(notes(&path), ["a"]);
    assert_eq!(files(folder.path()), ["a.db"]);
    // Older tables are the exception, because queries expect the newest.
    let columns =
        |connection: &Connection| connection.query_row("SELECT at FROM notes", [], |row| row.get(0));
    assert_eq!(Database::read_existing(&path, &SECOND[..1], columns).unwrap(), Some(None::<i64>));
}

#[test]
fn a_database_can_be_read_in_a_read_only_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("100%?#.db");
    add_note(&Database::open(&path, FIRST).unwrap(), "a");
    // Acts like a read-only folder, even for root.
    fs::create_dir(folder.path().join("100%?#.db-shm")).unwrap();
    assert_eq!(notes(&path), ["a"]);
}

#[test]
fn compacting_fails_while_a_reader_keeps_the_old_pages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let database = Database::open_within(&path, FIRST, SHORT).unwrap();
    add_note(&database, "erased");
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM notes").unwrap();
    database.write(|transaction| transaction.execute("DELETE FROM notes", [])).unwrap();
    assert!(matches!(database.compact(), Err(StoreError::Locked { .. })));
    reader.execute_batch("COMMIT").unwrap();
    database.compact().unwrap();
    let left = fs::read(folder.path().join("a.db-wal")).unwrap_or_default();
    assert!(left.is_empty());
}

#[test]
fn a_migration_keeps_a_backup() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    add_note(&Database::open(&path, FIRST).unwrap(), "old");
    // The rows are still in the journal of another process; the backup must contain them too.
    let other = Database::open(&path, FIRST).unwrap();
    add_note(&other, "newer");

    let database = Database::open(&path, SECOND).unwrap();
    assert_eq!(notes(&path), ["old", "newer"]);
    assert_eq!(versions(&path), [("marks".to_owned(), 1), ("notes".to_owned(), 2)]);
    let copy = folder.path().join("a.db.before-notes-2");
    assert_eq!(versions(&copy), [("notes".to_owned(), 1)]);
    assert_eq!(notes(&copy), ["old", "newer"]);
    drop((database, other));

    fs::remove_file(&copy).unwrap();
    Database::open(&path, SECOND).unwrap();
    assert_eq!(files(folder.path()), ["a.db"], "nothing to migrate, nothing to copy");
}

#[test]
fn a_new_component_needs_no_backup() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    Database::open(&path, FIRST).unwrap();
    Database::open(&path, &SECOND[1..]).unwrap();
    assert_eq!(versions(&path), [("marks".to_owned(), 1), ("notes".to_owned(), 1)]);
    assert_eq!(files(folder.path()), ["a.db"]);
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    add_note(&Database::open(&path, FIRST).unwrap(), "old");
    assert!(matches!(Database::open(&path, FAILING), Err(StoreError::Sql { .. })));
    assert_eq!(notes(&path), ["old"]);
    assert_eq!(versions(&path), [("notes".to_owned(), 1)]);
}

#[test]
fn a_newer_schema_is_refused_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    Database::open(&path, SECOND).unwrap();
    let before = fs::read(&path).unwrap();
    let error = Database::open(&path, FIRST).unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { component: "notes", found: 2, known: 1, .. }));
    assert!(error.describe().contains("(hint: update this program"), "{}", error.describe());
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_damaged_file_is_reported_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    Database::open(&path, SECOND).unwrap();
    let good = fs::read(&path).unwrap();
    let mut scrambled = good.clone();
    scrambled[100..].fill(0xA5);
    for bad in [vec![b'x'; 5000], good[..good.len() / 2].to_vec(), scrambled] {
        fs::write(&path, &bad).unwrap();
        let error = Database::open(&path, SECOND).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
        // A leftover journal would be replayed onto the next database.
        assert!(error.hint().unwrap().contains("a.db-wal and"), "{error:?}");
        assert_eq!(fs::read(&path).unwrap(), bad);
    }
}

#[test]
fn a_path_below_a_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let error = Database::open(&folder.path().join("file/a.db"), FIRST).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
}

#[test]
fn a_locked_database_is_waited_for_up_to_the_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let database = Database::open_within(&path, FIRST, SHORT).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let started = Instant::now();
    let error = database.write(|transaction| transaction.execute("DELETE FROM notes", [])).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(5));
    // Opening an up-to-date database takes no lock, and readers do not wait for the writer.
    drop(Database::open_within(&path, FIRST, SHORT).unwrap());
    assert!(notes(&path).is_empty());
    assert!(matches!(Database::open_within(&path, SECOND, SHORT), Err(StoreError::Locked { .. })));
    other.execute_batch("COMMIT").unwrap();
    Database::open_within(&path, SECOND, SHORT).unwrap();
}

#[test]
fn many_threads_can_open_a_new_database_at_once() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/a.db");
        thread::scope(|scope| {
            for number in 0..8 {
                let path = &path;
                scope.spawn(move || add_note(&Database::open(path, SECOND).unwrap(), &number.to_string()));
            }
        });
        assert_eq!(notes(&path).len(), 8);
    }
}

#[test]
fn only_one_holder_gets_a_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clean-up.lock");
    let held = Lock::try_acquire(&path).unwrap();
    assert!(held.is_some());
    assert!(Lock::try_acquire(&path).unwrap().is_none());
    drop(held);
    assert!(Lock::try_acquire(&path).unwrap().is_some());
}

#[test]
fn a_lock_remembers_when_its_work_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clean-up.lock");
    assert_eq!(Lock::last_done(&path), None);
    let held = Lock::try_acquire(&path).unwrap().unwrap();
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    fs::File::options().write(true).open(&path).unwrap().set_modified(hour_ago).unwrap();
    assert_eq!(Lock::last_done(&path), Some(hour_ago));
    held.mark_done().unwrap();
    assert!(Lock::last_done(&path).unwrap() > hour_ago);
}
