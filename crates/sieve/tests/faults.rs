//! A store that is missing, full, damaged or locked: the text is returned, and nothing is cut that could not be recovered.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::fs::{self, File};
use std::io::Write;
use std::process::Command;
use std::time::Instant;

use common::*;
use tamis_sieve::{PruneWarning, PurgeRequest, RecoverError, Sieve, SieveSettings};
use tamis_store::rusqlite::Connection;
use tamis_store::{Component, Database, StoreError};

const TEXT: &str = "a\nb\nc\nd";
const CUT: &str = "2-3 x";

fn unavailable(sieve: &Sieve, id: &str) -> bool {
    matches!(recover_all(sieve, id), Err(RecoverError::Unavailable { .. }))
}

#[test]
fn without_a_store_nothing_is_cut() {
    let sieve = Sieve::with_engine(SieveSettings::without_store(usize::MAX), scripted);
    let pruned = prune(&sieve, TEXT, CUT);
    assert_whole(&pruned, TEXT, &[PruneWarning::RecoveryUnavailable]);
    let not_found = RecoverError::NotFound { prune_id: pruned.prune_id.clone() };
    assert_eq!(recover_all(&sieve, &pruned.prune_id), Err(not_found));
}

#[test]
fn a_data_folder_that_is_a_file_cuts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // The data folder is a file.
    let place = folder.path().join("data");
    fs::write(&place, "").unwrap();
    let blocked = sieve(&place);
    assert_whole(&prune(&blocked, TEXT, CUT), TEXT, &[PruneWarning::RecoveryUnavailable]);
    blocked.flush(LONG);
    let both = [PruneWarning::RecoveryUnavailable, PruneWarning::LedgerUnavailable];
    assert_whole(&prune(&blocked, TEXT, CUT), TEXT, &both);
    assert!(unavailable(&blocked, &prune(&blocked, TEXT, CUT).prune_id));
    assert!(!blocked.clean_up().problems.is_empty());
    // Only the folder of originals is a file.
    let data = folder.path().join("other");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("recovery"), "").unwrap();
    let blocked = sieve(&data);
    assert_whole(&prune(&blocked, TEXT, CUT), TEXT, &[PruneWarning::RecoveryUnavailable]);
    assert_eq!(blocked.flush(LONG), 0);
    assert_eq!(blocked.ledger_totals().unwrap().fallbacks, 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_data_folder_that_cannot_be_created_cuts_nothing() {
    // A path under /proc, where even root cannot create a folder.
    let sieve = sieve("/proc/tamis");
    assert_whole(&prune(&sieve, TEXT, CUT), TEXT, &[PruneWarning::RecoveryUnavailable]);
    assert_eq!(sieve.storage_report(), Default::default());
    assert_eq!(sieve.clean_up_if_due(), Some(Default::default()));
}

/// Runs itself again as another user, since permissions do not bind root.
#[cfg(unix)]
#[test]
fn a_read_only_folder_can_still_be_read() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    if let Some(folder) = std::env::var_os("TAMIS_TEST_READ_ONLY") {
        return look_at_a_read_only_folder(std::path::Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let sieve = sieve(&data);
    for text in ["expired", "expired too"] {
        age(&original(&data, &prune(&sieve, text, "").prune_id), DAY);
    }
    prune(&sieve, TEXT, CUT);
    sieve.flush(LONG);
    drop(sieve);
    fs::write(data.join("clean-up.lock"), "").unwrap();
    let root = fs::metadata(&data).unwrap().uid() == 0;
    let everything = [folder.path().to_owned(), data.clone(), data.join("recovery")];
    let places = everything.iter().flat_map(|place| files(place).into_iter().map(|name| place.join(name)));
    for path in places.chain([folder.path().to_owned()]).filter(|_| root) {
        chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let allow = |mode| {
        for place in &everything[1..] {
            fs::set_permissions(place, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    allow(0o500);
    let mut again = Command::new(std::env::current_exe().unwrap());
    again
        .args(["--exact", "a_read_only_folder_can_still_be_read", "--test-threads=1"])
        .env("TAMIS_TEST_READ_ONLY", &data)
        .current_dir("/");
    if root {
        again.uid(NOBODY).gid(NOBODY);
    }
    let output = again.output();
    allow(0o700);
    // That user may not be able to read the folder of the test binary.
    if output.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied) {
        return;
    }
    let output = output.unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && output_text.contains("1 passed"), "{output_text}");
}

#[cfg(unix)]
fn look_at_a_read_only_folder(data: &std::path::Path) {
    let sieve = sieve(data);
    let held = sieve.storage_report();
    assert_eq!((held.recovery_files, held.ledger_rows, held.problems), (3, 3, vec![]));
    assert_eq!(sieve.ledger_totals().unwrap().calls, 3);
    let known = prune(&sieve, TEXT, CUT);
    assert_eq!((known.warnings, known.stats.pruned_lines), (vec![], 2), "its original is there");
    assert_eq!(recover_all(&sieve, &known.prune_id).unwrap(), TEXT);
    let new = prune(&sieve, "a\nb\nc\nd\ne", CUT);
    assert_eq!((new.warnings[0], new.stats.pruned_lines), (PruneWarning::RecoveryUnavailable, 0));
    // Each file that cannot be removed is reported.
    let problems = sieve.clean_up().problems;
    assert_eq!(problems.iter().filter(|problem| problem.starts_with("cannot remove ")).count(), 2);
    assert_eq!(problems.len(), 2, "{problems:?}");
}

#[test]
fn a_text_too_large_for_the_store_is_not_cut() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        SieveSettings { recovery_max_bytes: 1000, max_input_chars: 4000, ..settings(folder.path()) };
    let sieve = Sieve::with_engine(settings, scripted);
    let text = format!("a\n{}\nc", noise(3000, 1));
    assert_whole(&prune(&sieve, &text, "2-2 x"), &text, &[PruneWarning::RecoveryUnavailable]);
    let text = format!("a\n{}\nc", noise(5000, 1));
    let both = [PruneWarning::InputTooLarge, PruneWarning::RecoveryUnavailable];
    assert_whole(&prune(&sieve, &text, "2-2 x"), &text, &both);
    assert!(files(&folder.path().join("recovery")).is_empty());
}

#[test]
fn a_damaged_original_is_never_returned_and_is_replaced_by_the_next_prune() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let text = noise(5000, 7);
    let id = prune(&sieve, &text, "").prune_id;
    let path = original(folder.path(), &id);
    let good = fs::read(&path).unwrap();
    let mut flipped = good.clone();
    flipped[2500] ^= 1;
    let other = zstd::bulk::compress(b"another text", 1).unwrap();
    let not_text = zstd::bulk::compress(&[0xFF; 100], 1).unwrap();
    for bad in [&good[..0], &good[..3], &good[..2000], &flipped, &other, &not_text, b"no frame at all"] {
        fs::write(&path, bad).unwrap();
        expire_in(&path, DAY);
        assert!(unavailable(&sieve, &id));
        assert_eq!(prune(&sieve, &text, "").warnings, []);
        assert_eq!(recover_all(&sieve, &id).unwrap(), text);
    }
}

/// A thread that finds the damage replaces the file, but never a good file that another thread wrote meanwhile.
#[test]
fn many_threads_replace_one_damaged_original() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let text = noise(200_000, 3);
    let path = original(folder.path(), &prune(&sieve, &text, "").prune_id);
    // The damage is at the end, so that finding it takes a while.
    let mut damaged = fs::read(&path).unwrap();
    let end = damaged.len() - 20;
    damaged[end] ^= 1;
    for round in 0..30 {
        fs::write(&path, &damaged).unwrap();
        let together = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    together.wait();
                    let pruned = prune(&sieve, &text, "");
                    assert_eq!(pruned.warnings, [], "round {round}");
                    assert_eq!(recover_all(&sieve, &pruned.prune_id).unwrap(), text, "round {round}");
                });
            }
        });
    }
}

#[test]
fn a_crafted_original_cannot_exhaust_memory() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let id = prune(&sieve, TEXT, "").prune_id;
    let path = original(folder.path(), &id);
    // With its size in its header, as an original has it, and without, as a large text has it.
    for size in [Some(300 << 20), None] {
        let mut bomb = zstd::Encoder::new(File::create(&path).unwrap(), 1).unwrap();
        bomb.set_pledged_src_size(size).unwrap();
        let zeros = vec![0; 1 << 20];
        for _ in 0..300 {
            bomb.write_all(&zeros).unwrap();
        }
        bomb.finish().unwrap();
        expire_in(&path, DAY);
        let error = recover_all(&sieve, &id).unwrap_err();
        assert!(matches!(&error, RecoverError::Unavailable { why } if why.contains("damaged")), "{error:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_folder_in_place_of_an_original_does_not_hang() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let id = prune(&sieve, TEXT, "").prune_id;
    let path = original(folder.path(), &id);
    fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(unavailable(&sieve, &id));
    assert_whole(&prune(&sieve, TEXT, CUT), TEXT, &[PruneWarning::RecoveryUnavailable]);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(unavailable(&sieve, &id));
    assert_whole(&prune(&sieve, TEXT, CUT), TEXT, &[PruneWarning::RecoveryUnavailable]);
}

#[test]
fn a_damaged_ledger_does_not_stop_pruning() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("state.db");
    fs::write(&database, [b'x'; 5000]).unwrap();
    let sieve = sieve(folder.path());
    prune(&sieve, TEXT, CUT);
    assert_eq!(sieve.flush(LONG), 1, "lost");
    let pruned = prune(&sieve, TEXT, CUT);
    assert_eq!(pruned.warnings, [PruneWarning::LedgerUnavailable]);
    assert_eq!((pruned.stats.pruned_lines, pruned.stats.used_fallback), (2, false));
    assert_eq!(recover_all(&sieve, &pruned.prune_id).unwrap(), TEXT);
    assert!(matches!(sieve.ledger_totals(), Err(StoreError::Corrupt { .. })));
    let purged = sieve.purge(PurgeRequest { recovery: true, ledger: true, older_than: None });
    assert_eq!((purged.originals, purged.problems.len()), (1, 1), "{purged:?}");
    assert!(sieve.storage_report().problems[0].contains("is damaged"));
    assert!(sieve.clean_up().problems[0].contains("is damaged"));
    assert_eq!(fs::read(&database).unwrap(), [b'x'; 5000], "left for its owner to look at");
}

#[test]
fn a_ledger_that_cannot_be_written_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    prune(&sieve, TEXT, CUT);
    assert_eq!(sieve.flush(LONG), 0);
    let other = Connection::open(folder.path().join("state.db")).unwrap();
    other.execute_batch("DROP TABLE prunes").unwrap();
    assert_eq!(prune(&sieve, TEXT, CUT).warnings, [], "not known before");
    assert_eq!(sieve.flush(LONG), 1);
    assert_eq!(prune(&sieve, TEXT, CUT).warnings, [PruneWarning::LedgerUnavailable]);
    assert!(sieve.ledger_problem().unwrap().contains("no such table"), "{:?}", sieve.ledger_problem());
}

#[test]
fn a_newer_ledger_does_not_stop_pruning() {
    const NEWER: &[Component] = &[Component { name: "ledger", migrations: &["SELECT 1"; 99] }];
    let folder = tempfile::tempdir().unwrap();
    drop(Database::open(&folder.path().join("state.db"), NEWER).unwrap());
    let sieve = sieve(folder.path());
    prune(&sieve, TEXT, CUT);
    sieve.flush(LONG);
    let pruned = prune(&sieve, TEXT, CUT);
    assert_eq!((pruned.warnings, pruned.stats.pruned_lines), (vec![PruneWarning::LedgerUnavailable], 2));
    assert!(sieve.ledger_problem().unwrap().contains("hint: update this program"));
}

#[test]
fn a_locked_ledger_delays_no_call_and_its_rows_are_written_later() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    prune(&sieve, TEXT, CUT);
    sieve.flush(LONG);
    let other = Connection::open(folder.path().join("state.db")).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let started = Instant::now();
    for _ in 0..100 {
        assert_eq!(prune(&sieve, TEXT, CUT).stats.pruned_lines, 2);
    }
    // Waiting would take seconds each time.
    assert!(started.elapsed() < LONG, "waited for the lock");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(sieve.flush(LONG), 0);
    assert_eq!(sieve.ledger_totals().unwrap().calls, 101);
}

/// Runs itself again as a process that cannot write files of more than about half a KiB, as on a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_cuts_nothing_and_leaves_no_broken_file() {
    if let Some(folder) = std::env::var_os("TAMIS_TEST_FULL") {
        let folder = std::path::Path::new(&folder);
        let sieve = sieve(folder);
        let text = format!("a\n{}\nc", noise(5000, 1));
        assert_whole(&prune(&sieve, &text, "2-2 x"), &text, &[PruneWarning::RecoveryUnavailable]);
        assert!(files(&folder.join("recovery")).is_empty());
        sieve.flush(LONG);
        // Small enough to be written; the ledger is not.
        let pruned = prune(&sieve, TEXT, CUT);
        assert_eq!((pruned.warnings, pruned.stats.pruned_lines), (vec![PruneWarning::LedgerUnavailable], 2));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" --exact \"$1\" --test-threads=1"])
        .arg(std::env::current_exe().unwrap())
        .arg("a_full_disk_cuts_nothing_and_leaves_no_broken_file")
        .env("TAMIS_TEST_FULL", folder.path())
        .output()
        .unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && output_text.contains("1 passed"), "{output_text}");
    // Without the limit, the same folder works.
    let sieve = sieve(folder.path());
    assert_eq!(prune(&sieve, TEXT, CUT).stats.pruned_lines, 2);
    assert_eq!(sieve.flush(LONG), 0);
    assert_eq!((sieve.ledger_totals().unwrap().calls, sieve.ledger_problem()), (1, None));
}
