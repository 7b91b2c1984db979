//! What is kept, for how long, and how it goes.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::fs;
use std::time::Duration;

use common::*;
use tamis_sieve::{CleanUp, Holdings, Purge, RecoverError, Settings, Sieve};
use tamis_store::rusqlite::Connection;
use tamis_store::{DataDir, Lock};

#[test]
fn an_original_expires_with_its_goal_and_a_new_prune_renews_it() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let old = prune(&sieve, "old", "why").prune_id;
    let young = prune(&sieve, "young", "why").prune_id;
    age(&original(folder.path(), &old), 8 * DAY);
    age(&original(folder.path(), &young), 6 * DAY);
    // Expired although its file is still there.
    assert_eq!(recover_all(&sieve, &old), Err(RecoverError::NotFound { prune_id: old.clone() }));
    assert_eq!(sieve.goal(&old), None);
    assert_eq!(recover_all(&sieve, &young).unwrap(), "young");
    // Pruned again, it lives again.
    assert_eq!(prune(&sieve, "old", "why").prune_id, old);
    assert_eq!(recover_all(&sieve, &old).unwrap(), "old");
    assert_eq!(sieve.clean_up(), CleanUp::default());

    let path = original(folder.path(), &old);
    age(&path, 8 * DAY);
    let bytes = fs::metadata(&path).unwrap().len() + 3;
    assert_eq!(sieve.clean_up(), CleanUp { originals: 1, goals: 1, bytes, ..CleanUp::default() });
    let left = [format!("{}.zst", &young[4..20]), format!("{}.goal", &young[4..])];
    let mut found = files(&folder.path().join("recovery"));
    found.sort_by_key(|name| name.ends_with("goal"));
    assert_eq!(found, left);
}

#[test]
fn beyond_the_size_allowed_the_oldest_go() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { recovery_max_bytes: 6000, ..settings(folder.path()) };
    let sieve = Sieve::with_engine(settings, scripted);
    let ids: Vec<_> = (0..5).map(|seed| prune(&sieve, &noise(2000, seed + 1), "").prune_id).collect();
    for (id, days) in ids.iter().zip([3, 5, 1, 4, 2]) {
        age(&original(folder.path(), id), days * DAY);
    }
    let report = sieve.clean_up();
    assert_eq!((report.originals, report.goals), (2, 2));
    let left: Vec<_> = ids.iter().map(|id| recover_all(&sieve, id).is_ok()).collect();
    assert_eq!(left, [true, false, true, false, true]);
}

#[test]
fn stale_temporary_files_and_lost_goals_go_and_strangers_stay() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let id = prune(&sieve, "text", "why").prune_id;
    let recovery = folder.path().join("recovery");
    let strangers = ["README", "notes.zst", "aaaaaaaaaaaaaaaa.zst.txt"];
    for name in ["1-2-3.tmp", "1-2-4.tmp", "aaaaaaaaaaaaaaaabbbbbb.goal"].iter().chain(&strangers) {
        fs::write(recovery.join(name), "x").unwrap();
    }
    for name in files(&recovery) {
        age(&recovery.join(name), Duration::from_secs(2 * 60 * 60));
    }
    age(&recovery.join("1-2-4.tmp"), Duration::from_secs(60));
    assert_eq!(sieve.clean_up(), CleanUp { goals: 1, temporaries: 1, bytes: 2, ..CleanUp::default() });
    let left = files(&recovery);
    assert_eq!(left.len(), 6, "{left:?}");
    assert!(strangers.iter().all(|name| left.iter().any(|found| found == name)));
    assert_eq!(sieve.goal(&id).as_deref(), Some("why"));
}

#[test]
fn rows_of_the_ledger_go_after_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let id = prune(&sieve, "text", "").prune_id;
    prune(&sieve, "other", "");
    recover_all(&sieve, &id).unwrap();
    sieve.close(LONG);
    let back = 91 * DAY.as_millis() as i64;
    let connection = Connection::open(folder.path().join("state.db")).unwrap();
    connection.execute("UPDATE prunes SET at = at - ?1 WHERE prune_id = ?2", (back, &id)).unwrap();
    connection.execute("UPDATE recoveries SET at = at - ?1", [back]).unwrap();
    assert_eq!(sieve.clean_up(), CleanUp { ledger_rows: 2, ..CleanUp::default() });
    assert_eq!((sieve.savings().unwrap().calls, sieve.savings().unwrap().recoveries), (1, 0));
}

#[test]
fn one_cleans_and_the_others_go_on_without() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let id = prune(&sieve, "text", "").prune_id;
    age(&original(folder.path(), &id), 8 * DAY);
    let held = Lock::try_acquire(&DataDir::at(folder.path()).clean_up_lock()).unwrap().unwrap();
    assert_eq!(sieve.clean_up(), CleanUp { skipped: true, ..CleanUp::default() });
    drop(held);
    assert_eq!(sieve.clean_up().originals, 1);
}

#[test]
fn what_is_held_can_be_seen_and_erased() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let old = prune(&sieve, "old", "a goal").prune_id;
    let new = prune(&sieve, "new", "a goal").prune_id;
    age(&original(folder.path(), &old), 3 * DAY);
    fs::write(folder.path().join("recovery/1-2-3.tmp"), "half").unwrap();
    fs::write(folder.path().join("state.db.before-ledger-2"), "copy").unwrap();
    sieve.close(LONG);
    let held = sieve.holdings();
    let expected = Holdings {
        recovery_files: 2,
        recovery_bytes: held.recovery_bytes,
        recovery_oldest: Some(fs::metadata(original(folder.path(), &old)).unwrap().modified().unwrap()),
        ledger_rows: 2,
        database_bytes: held.database_bytes,
        problems: vec![],
    };
    assert_eq!(held, expected);
    assert!(held.recovery_bytes > 16 && held.database_bytes > 4096);

    let nothing = sieve.purge(Purge::default()).unwrap();
    assert_eq!(nothing, CleanUp::default());
    let some = sieve.purge(Purge { recovery: true, ledger: true, older_than: Some(2 * DAY) }).unwrap();
    assert_eq!(
        (some.originals, some.goals, some.temporaries, some.ledger_rows, some.backups),
        (1, 1, 0, 0, 0)
    );
    assert_eq!(recover_all(&sieve, &new).unwrap(), "new");

    let all = sieve.purge(Purge { recovery: true, ledger: true, older_than: None }).unwrap();
    assert_eq!((all.originals, all.goals, all.temporaries, all.ledger_rows, all.backups), (1, 1, 1, 3, 1));
    assert!(files(&folder.path().join("recovery")).is_empty());
    let database = fs::read(folder.path().join("state.db")).unwrap();
    assert!(!String::from_utf8_lossy(&database).contains(&new), "erased rows are gone from the file too");
    assert_eq!(prune(&sieve, "new", "").warnings, []);
    assert!(sieve.close(LONG));
    assert_eq!(sieve.savings().unwrap().calls, 1);
}

#[cfg(unix)]
#[test]
fn everything_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let sieve = sieve(&data);
    prune(&sieve, "text", "why");
    sieve.close(LONG);
    sieve.clean_up();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&data), mode(&data.join("recovery"))), (0o700, 0o700));
    for place in [data.join("recovery"), data] {
        for path in files(&place).iter().map(|name| place.join(name)).filter(|path| path.is_file()) {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
}
