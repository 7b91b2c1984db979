//! Retention: what is stored, for how long, and how it is removed.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::fs;
use std::time::{Duration, SystemTime};

use common::*;
use tamis_sieve::{
    Caller, CleanUpReport, PruneWarning, PurgeRequest, RecoverError, Sieve, SieveSettings, StorageReport,
};
use tamis_store::rusqlite::Connection;
use tamis_store::{DataDir, Lock};

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn an_original_expires_with_its_goal_and_a_new_prune_extends_it() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let old = prune(&sieve, "old", "why").prune_id;
    let young = prune(&sieve, "young", "why").prune_id;
    age(&original(folder.path(), &old), MINUTE);
    expire_in(&original(folder.path(), &young), MINUTE);
    // Expired although its file is still there.
    assert_eq!(recover_all(&sieve, &old), Err(RecoverError::NotFound { prune_id: old.clone() }));
    assert_eq!(sieve.goal(&old), None);
    assert_eq!(recover_all(&sieve, &young).unwrap(), "young");
    // Pruning again extends it.
    assert_eq!(prune(&sieve, "old", "why").prune_id, old);
    assert_eq!(recover_all(&sieve, &old).unwrap(), "old");
    assert_eq!(sieve.clean_up(), CleanUpReport::default());

    age(&original(folder.path(), &old), MINUTE);
    let bytes = sieve.storage_report().recovery_bytes / 2;
    assert_eq!(sieve.clean_up(), CleanUpReport { originals: 1, goals: 1, bytes, ..CleanUpReport::default() });
    let left = [format!("{}.zst", &young[4..20]), format!("{}.goal", &young[4..])];
    let mut found = files(&folder.path().join("recovery"));
    found.sort_by_key(|name| name.ends_with("goal"));
    assert_eq!(found, left);
}

#[test]
fn a_process_with_a_shorter_ttl_respects_a_longer_expiry() {
    let folder = tempfile::tempdir().unwrap();
    let with = |recovery_ttl| {
        Sieve::with_engine(SieveSettings { recovery_ttl, ..settings(folder.path()) }, scripted)
    };
    let (short, long) = (with(Duration::ZERO), with(30 * DAY));
    let id = prune(&short, "text", "").prune_id;
    // The expiry counts, not the settings of the reader.
    assert!(matches!(recover_all(&long, &id), Err(RecoverError::NotFound { .. })));
    assert_eq!(prune(&long, "text", "").prune_id, id);
    let promised = fs::metadata(original(folder.path(), &id)).unwrap().modified().unwrap();
    assert!(promised > SystemTime::now() + 29 * DAY);
    prune(&short, "text", "");
    assert_eq!(short.clean_up().originals, 0);
    assert_eq!(fs::metadata(original(folder.path(), &id)).unwrap().modified().unwrap(), promised);
    assert_eq!(recover_all(&short, &id).unwrap(), "text");
}

#[test]
fn an_implausible_expiry_is_corrected() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let left = |id: &str| {
        let expiry = fs::metadata(original(folder.path(), id)).unwrap().modified().unwrap();
        expiry.duration_since(SystemTime::now()).unwrap().as_secs().div_ceil(DAY.as_secs())
    };
    let id = prune(&sieve, "text", "").prune_id;
    for renew in [|sieve: &Sieve| drop(sieve.clean_up()), |sieve: &Sieve| drop(prune(sieve, "text", ""))] {
        expire_in(&original(folder.path(), &id), 20_000 * DAY);
        renew(&sieve);
        assert_eq!(left(&id), 7);
        expire_in(&original(folder.path(), &id), 100 * DAY);
        renew(&sieve);
        assert_eq!(left(&id), 100, "another configuration's");
    }
}

#[test]
fn above_the_size_limit_originals_that_expire_next_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let ids: Vec<_> = (0..5).map(|seed| prune(&sieve, &noise(2000, seed + 1), "").prune_id).collect();
    // The second and the fourth; an implausible expiry counts as one that was set now.
    for (id, days) in ids.iter().zip([3, 1, 20_000, 2, 6]) {
        expire_in(&original(folder.path(), id), days * DAY);
    }
    let bytes = sieve.storage_report().recovery_bytes;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let recovery = folder.path().join("recovery");
        let found = files(&recovery).into_iter().map(|name| fs::metadata(recovery.join(name)).unwrap());
        let on_disk = found.map(|metadata| metadata.len().max(metadata.blocks() * 512)).sum::<u64>();
        assert_eq!(bytes, on_disk, "blocks, not lengths");
    }
    let clean_up = |recovery_max_bytes| {
        let settings = SieveSettings { recovery_max_bytes, ..settings(folder.path()) };
        Sieve::with_engine(settings, scripted).clean_up()
    };
    let report = clean_up(bytes / 5 * 3);
    assert_eq!((report.originals, report.goals, report.bytes), (2, 2, bytes / 5 * 2));
    let left = || ids.iter().map(|id| recover_all(&sieve, id).is_ok()).collect::<Vec<_>>();
    assert_eq!(left(), [true, false, true, false, true]);
    // Those in the first half of their retention stay, whatever the limit.
    assert_eq!(clean_up(0).originals, 1);
    assert_eq!(left(), [false, false, true, false, true]);
}

/// Texts of one block each, from this one on, and whether each was cut.
fn flood(sieve: &Sieve, caller: &Caller, texts: std::ops::Range<u64>) -> Vec<(String, bool)> {
    let prune = |number| {
        let text = format!("a\n{}\nc", noise(3000, number + 1));
        let pruned = sieve.prune(&request(&text, "2-2 x"), caller, &|| false);
        let cut = pruned.warnings.is_empty();
        assert!(cut || pruned.warnings == [PruneWarning::RecoveryUnavailable], "{:?}", pruned.warnings);
        assert_eq!(cut, pruned.pruned_text != text);
        (pruned.prune_id, cut)
    };
    texts.map(prune).collect()
}

#[test]
fn a_full_store_takes_no_more_and_keeps_its_promises() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SieveSettings { recovery_max_bytes: 160 << 10, ..settings(folder.path()) };
    // As if in different processes.
    let [one, other] = [0; 2].map(|_| Sieve::with_engine(settings.clone(), scripted));
    let mut pruned = flood(&one, &caller(), 0..10);
    pruned.extend(flood(&other, &caller(), 10..40));
    pruned.extend(flood(&one, &caller(), 40..60));
    assert!(one.storage_report().recovery_bytes <= 160 << 10, "{:?}", one.storage_report());
    let cut: Vec<_> = pruned.iter().map(|(_, cut)| *cut).collect();
    // An original and a goal take a block each.
    assert_eq!(cut, [[true; 20].as_slice(), &[false; 40]].concat());
    one.clean_up();
    for (id, cut) in &pruned {
        assert_eq!(recover_all(&other, id).is_ok(), *cut);
    }
    // A text that is stored already needs no room.
    assert!(flood(&other, &caller(), 0..20).iter().all(|(_, cut)| *cut));
}

#[test]
fn originals_in_the_second_half_of_their_retention_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SieveSettings { recovery_max_bytes: 160 << 10, ..settings(folder.path()) };
    let sieve = Sieve::with_engine(settings, scripted);
    let old = flood(&sieve, &caller(), 0..20);
    for (id, _) in &old[5..10] {
        expire_in(&original(folder.path(), id), 3 * DAY);
    }
    let new = flood(&sieve, &caller(), 20..30);
    assert_eq!(new.iter().filter(|(_, cut)| *cut).count(), 3, "an eighth of the store");
    let left = old.iter().map(|(id, _)| recover_all(&sieve, id).is_ok()).filter(|left| *left).count();
    assert_eq!(left, 17);
}

#[test]
fn callers_without_the_token_may_fill_half_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SieveSettings { recovery_max_bytes: 160 << 10, ..settings(folder.path()) };
    let sieve = Sieve::with_engine(settings, scripted);
    let anonymous = Caller { is_anonymous: true, ..caller() };
    let count = |pruned: Vec<(String, bool)>| pruned.iter().filter(|(_, cut)| *cut).count();
    assert_eq!(count(flood(&sieve, &anonymous, 0..30)), 10);
    assert_eq!(count(flood(&sieve, &caller(), 30..60)), 10);
    assert_eq!(count(flood(&sieve, &anonymous, 60..90)), 0);
}

#[test]
fn the_size_is_counted_anew_when_it_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SieveSettings { recovery_max_bytes: 160 << 10, ..settings(folder.path()) };
    let sieve = Sieve::with_engine(settings, scripted);
    let count = |pruned: Vec<(String, bool)>| pruned.iter().filter(|(_, cut)| *cut).count();
    assert_eq!(count(flood(&sieve, &caller(), 0..15)), 15);
    fs::remove_file(folder.path().join("recovery.size")).unwrap();
    assert_eq!(count(flood(&sieve, &caller(), 15..30)), 5);
    // A purge counts anew as well.
    sieve.purge(PurgeRequest { recovery: true, ..PurgeRequest::default() });
    assert_eq!(count(flood(&sieve, &caller(), 30..60)), 20);
}

#[test]
fn stale_temporary_files_and_orphaned_goals_are_removed_and_other_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let id = prune(&sieve, "text", "why").prune_id;
    let recovery = folder.path().join("recovery");
    let strangers = ["README", "notes.zst", "aaaaaaaaaaaaaaaa.zst.txt"];
    for name in ["1-2-3.tmp", "1-2-4.tmp", "aaaaaaaaaaaaaaaabbbbbb.goal"].iter().chain(&strangers) {
        fs::write(recovery.join(name), "x").unwrap();
    }
    for name in files(&recovery).iter().filter(|name| !name.starts_with(&id[4..20])) {
        age(&recovery.join(name), 120 * MINUTE);
    }
    age(&recovery.join("1-2-4.tmp"), MINUTE);
    let report = sieve.clean_up();
    assert_eq!((report.originals, report.goals, report.temporaries), (0, 1, 1));
    let left = files(&recovery);
    assert_eq!(left.len(), 6, "{left:?}");
    assert!(strangers.iter().all(|name| left.iter().any(|found| found == name)));
    assert_eq!(sieve.goal(&id).as_deref(), Some("why"));
}

#[test]
fn old_rows_of_the_ledger_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let id = prune(&sieve, "text", "").prune_id;
    prune(&sieve, "other", "");
    recover_all(&sieve, &id).unwrap();
    sieve.flush(LONG);
    let back = 91 * DAY.as_millis() as i64;
    let connection = Connection::open(folder.path().join("state.db")).unwrap();
    connection.execute("UPDATE prunes SET at = at - ?1 WHERE prune_id = ?2", (back, &id)).unwrap();
    connection.execute("UPDATE recoveries SET at = at - ?1", [back]).unwrap();
    assert_eq!(sieve.clean_up(), CleanUpReport { ledger_rows: 2, ..CleanUpReport::default() });
    assert_eq!((sieve.ledger_totals().unwrap().calls, sieve.ledger_totals().unwrap().recoveries), (1, 0));
    // More than are deleted in one transaction.
    let many = "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 12000)
        INSERT INTO recoveries (prune_id, at, tool, door, lines, tokens) SELECT '', n, '', '', 1, 1 FROM number";
    connection.execute(many, []).unwrap();
    assert_eq!(sieve.clean_up(), CleanUpReport { ledger_rows: 12_000, ..CleanUpReport::default() });
}

#[test]
fn old_backups_of_the_database_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let [old, young] =
        ["state.db.before-ledger-2", "state.db.before-ledger-3"].map(|name| folder.path().join(name));
    for (path, days) in [(&old, 91), (&young, 89)] {
        fs::write(path, "copy").unwrap();
        age(path, days * DAY);
    }
    assert_eq!(sieve(folder.path()).clean_up(), CleanUpReport { backups: 1, ..CleanUpReport::default() });
    assert!(!old.exists() && young.exists());
}

#[test]
fn clean_up_is_due_once_an_hour_for_all_processes() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (sieve(folder.path()), sieve(folder.path()));
    assert_eq!(sieve(folder.path().join("none")).clean_up_if_due(), Some(CleanUpReport::default()));
    assert!(!folder.path().join("none").exists());
    assert_eq!(one.clean_up_if_due(), Some(CleanUpReport::default()));
    assert_eq!((one.clean_up_if_due(), other.clean_up_if_due()), (None, None));
    let lock = DataDir::at(folder.path()).clean_up_lock();
    age(&lock, 59 * MINUTE);
    assert_eq!(other.clean_up_if_due(), None);
    age(&lock, 61 * MINUTE);
    assert_eq!(other.clean_up_if_due(), Some(CleanUpReport::default()));
    assert_eq!(one.clean_up_if_due(), None);
    expire_in(&lock, DAY);
    assert_eq!(one.clean_up_if_due(), Some(CleanUpReport::default()), "a wrong clock's");
}

#[test]
fn only_one_process_cleans_up() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let id = prune(&sieve, "text", "").prune_id;
    age(&original(folder.path(), &id), MINUTE);
    let held = Lock::try_acquire(&DataDir::at(folder.path()).clean_up_lock()).unwrap().unwrap();
    assert_eq!(sieve.clean_up(), CleanUpReport { skipped: true, ..CleanUpReport::default() });
    drop(held);
    assert_eq!(sieve.clean_up().originals, 1);
}

#[test]
fn stored_data_can_be_listed_and_purged() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let old = prune(&sieve, "old", "a goal").prune_id;
    let new = prune(&sieve, "new", "a goal").prune_id;
    expire_in(&original(folder.path(), &old), DAY);
    fs::write(folder.path().join("recovery/1-2-3.tmp"), "half").unwrap();
    fs::write(folder.path().join("state.db.before-ledger-2"), "copy").unwrap();
    sieve.flush(LONG);
    let held = sieve.storage_report();
    let expected = StorageReport {
        recovery_files: 2,
        recovery_bytes: held.recovery_bytes,
        recovery_next_expiry: Some(fs::metadata(original(folder.path(), &old)).unwrap().modified().unwrap()),
        ledger_rows: 2,
        database_bytes: held.database_bytes,
        problems: vec![],
    };
    assert_eq!(held, expected);
    assert!(held.recovery_bytes > 16 && held.database_bytes > 4096);

    assert_eq!(sieve.purge(PurgeRequest::default()), CleanUpReport::default());
    // Both were pruned just now, whatever their expiry.
    let some = sieve.purge(PurgeRequest { recovery: true, ledger: true, older_than: Some(DAY) });
    assert_eq!(some, CleanUpReport::default());
    assert_eq!(recover_all(&sieve, &new).unwrap(), "new");

    let all = sieve.purge(PurgeRequest { recovery: true, ledger: true, older_than: None });
    assert_eq!((all.originals, all.goals, all.temporaries, all.ledger_rows, all.backups), (2, 2, 1, 3, 1));
    assert_eq!((all.bytes, all.problems.len()), (held.recovery_bytes, 0));
    assert!(files(&folder.path().join("recovery")).is_empty());
    let database = fs::read(folder.path().join("state.db")).unwrap();
    assert!(!String::from_utf8_lossy(&database).contains(&new), "erased rows are gone from the file too");
    assert_eq!(prune(&sieve, "new", "").warnings, []);
    assert_eq!(sieve.flush(LONG), 0);
    assert_eq!(sieve.ledger_totals().unwrap().calls, 1);
}

#[test]
fn files_that_cannot_be_removed_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let [held, free] =
        ["held", "free"].map(|text| original(folder.path(), &prune(&sieve, text, "why").prune_id));
    sieve.flush(LONG);
    let reader = fs::File::open(&held).unwrap();
    reader.lock_shared().unwrap();
    let connection = Connection::open(folder.path().join("state.db")).unwrap();
    connection.execute_batch("BEGIN; SELECT * FROM prunes").unwrap();
    let report = sieve.purge(PurgeRequest { recovery: true, ledger: true, older_than: None });
    assert_eq!((report.originals, report.goals, report.ledger_rows), (1, 1, 2));
    assert_eq!(report.problems[0], format!("{} is in use", held.display()));
    assert!(report.problems[1].starts_with("erased rows may still be in the file: "), "{report:?}");
    assert_eq!((report.problems.len(), free.exists()), (2, false));
}

#[cfg(unix)]
#[test]
fn files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let sieve = sieve(&data);
    prune(&sieve, "text", "why");
    sieve.flush(LONG);
    sieve.clean_up();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&data), mode(&data.join("recovery"))), (0o700, 0o700));
    for place in [data.join("recovery"), data] {
        for path in files(&place).iter().map(|name| place.join(name)).filter(|path| path.is_file()) {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
}
