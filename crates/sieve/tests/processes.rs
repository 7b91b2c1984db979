//! Several processes with one data folder: pruning, cleaning up, and being killed at any moment.
//!
//! The children are this test binary; environment variables say what they do.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]
#![cfg(unix)]

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use common::*;
use tamis_sieve::{PruneWarning, Pruned, Sieve};
use tamis_store::rusqlite::Connection;

const ROLE: &str = "TAMIS_TEST_ROLE";
const FOLDER: &str = "TAMIS_TEST_FOLDER";
const SEED: &str = "TAMIS_TEST_SEED";

/// Killed when dropped, so that a failing test leaves no process behind.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn child(role: &str, folder: &Path, seed: usize) -> Running {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "run_as_child", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(FOLDER, folder)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .spawn();
    Running(child.unwrap())
}

/// The entry point of the children. As a test of its own it does nothing.
#[test]
fn run_as_child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let seed = std::env::var(SEED).unwrap().parse().unwrap();
    match role.as_str() {
        "share" => share(&folder, seed),
        "write" => write_until_killed(&folder, seed),
        "clean" => loop {
            sieve(&folder).clean_up();
        },
        other => panic!("no role {other}"),
    }
}

/// Prunes texts that all children share and texts of its own. Its own originals are made to look expired each time, so
/// that clean-up would remove them; they must exist whenever a prune has just returned.
fn share(folder: &Path, seed: usize) {
    let sieve = sieve(folder);
    for round in 0..150 {
        let shared = noise(2000, round % 10 + 1);
        assert_recoverable(&sieve, &prune(&sieve, &shared, ""), &shared);

        let own = format!("{}\n{}", noise(500, round % 3 + 1), seed);
        let pruned = prune(&sieve, &own, "1-1 x");
        assert_recoverable(&sieve, &pruned, &own);
        // It may be removed as soon as it looks expired.
        if let Ok(file) = std::fs::File::open(original(folder, &pruned.prune_id)) {
            file.set_modified(std::time::SystemTime::now() - DAY).unwrap();
        }
        if round % 10 == 0 {
            sieve.clean_up();
        }
    }
    assert_eq!(sieve.flush(LONG), 0);
}

/// A pruned text can be recovered. Only if clean-up is stopped for long while it locks a file may a prune find the file
/// busy; then nothing is cut.
fn assert_recoverable(sieve: &Sieve, pruned: &Pruned, text: &str) {
    if pruned.warnings == [PruneWarning::RecoveryUnavailable] {
        assert_eq!(pruned.pruned_text, text);
    } else {
        assert!(!pruned.stats.used_fallback, "{:?}", pruned.warnings);
        assert_eq!(recover_all(sieve, &pruned.prune_id).unwrap(), text);
    }
}

/// Prints `ack <id>` for each prune whose row is in the database.
fn write_until_killed(folder: &Path, seed: usize) {
    let sieve = sieve(folder);
    for round in 0u64.. {
        let text = format!("{seed} {round}\n{}", noise(20_000, round + 1));
        let pruned = prune(&sieve, &text, "2-2 x");
        assert_eq!(pruned.stats.pruned_lines, 1);
        assert_eq!(sieve.flush(LONG), 0);
        let mut out = std::io::stdout().lock();
        writeln!(out, "ack {}", pruned.prune_id).unwrap();
        out.flush().unwrap();
    }
}

/// Every original that has its final name is complete.
fn assert_all_verify(folder: &Path) -> usize {
    let sieve = sieve(folder);
    let names = files(&folder.join("recovery"));
    let originals: Vec<_> = names.iter().filter_map(|name| name.strip_suffix(".zst")).collect();
    for name in &originals {
        // Originals that were made to look expired count too.
        expire_in(&folder.join(format!("recovery/{name}.zst")), DAY);
        recover_all(&sieve, &format!("prn_{name}aaaaaa")).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    originals.len()
}

fn assert_database_is_sound(folder: &Path) -> (u64, BTreeSet<String>) {
    let connection = Connection::open(folder.join("state.db")).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let count = connection.query_row("SELECT count(*) FROM prunes", [], |row| row.get(0)).unwrap();
    let mut statement = connection.prepare("SELECT prune_id FROM prunes").unwrap();
    let ids = statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    (count, ids)
}

#[test]
fn processes_share_originals_while_others_clean_up() {
    let folder = tempfile::tempdir().unwrap();
    let cleaners = [child("clean", folder.path(), 0), child("clean", folder.path(), 1)];
    let mut sharers: Vec<_> = (0..4).map(|seed| child("share", folder.path(), seed)).collect();
    for Running(sharer) in &mut sharers {
        let mut output_text = String::new();
        sharer.stdout.take().unwrap().read_to_string(&mut output_text).unwrap();
        assert!(sharer.wait().unwrap().success(), "{output_text}");
    }
    drop(cleaners);
    assert!(assert_all_verify(folder.path()) >= 10, "the shared ones never looked old");
    assert_eq!(assert_database_is_sound(folder.path()).0, 4 * 150 * 2);
    let left = files(&folder.path().join("recovery"));
    assert!(!left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");
}

#[test]
fn a_killed_process_loses_nothing_it_had_returned() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = BTreeSet::new();
    for round in 0..12 {
        let mut writers =
            [child("write", folder.path(), round * 2), child("write", folder.path(), round * 2 + 1)];
        let mut pipes =
            writers.each_mut().map(|writer| BufReader::new(writer.0.stdout.take().unwrap()).lines());
        // Both run at full speed; the kill comes at some moment after the first few acknowledgements.
        for pipe in &mut pipes {
            let heard: Vec<String> = pipe.by_ref().map(Result::unwrap).take(4 + round).collect();
            acknowledged.extend(heard.iter().filter_map(|line| ack(line)));
        }
        drop(writers);
        for pipe in pipes {
            acknowledged.extend(pipe.map_while(Result::ok).filter_map(|line| ack(&line)));
        }
        assert!(assert_all_verify(folder.path()) >= acknowledged.len());
        let (_, written) = assert_database_is_sound(folder.path());
        assert!(acknowledged.is_subset(&written), "{:?}", acknowledged.difference(&written));
    }
    assert!(acknowledged.len() > 24, "the children did write");
    let sieve = sieve(folder.path());
    for id in &acknowledged {
        assert!(recover_all(&sieve, id).is_ok());
    }
}

/// The id of a complete line; the last one may be torn.
fn ack(line: &str) -> Option<String> {
    let (_, id) = line.split_once("ack ")?;
    (id.len() == 26).then(|| id.to_owned())
}
