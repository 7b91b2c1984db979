//! A ledger of an earlier version: its rows stay, and new ones have the new columns.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::time::SystemTime;

use common::{LONG, caller, request, sieve};
use tamis_sieve::{Caller, LedgerPrune, LedgerRecovery};
use tamis_store::{Component, Database};

/// The tables of version 1, as they were.
const VERSION_1: &[Component] = &[Component {
    name: "ledger",
    migrations: &["
        CREATE TABLE prunes (
            id INTEGER PRIMARY KEY, prune_id TEXT NOT NULL, at INTEGER NOT NULL, tool TEXT NOT NULL, door TEXT NOT NULL,
            client TEXT, session TEXT, project TEXT, model TEXT, kind TEXT NOT NULL,
            lines_before INTEGER NOT NULL, lines_after INTEGER NOT NULL,
            tokens_before INTEGER NOT NULL, tokens_after INTEGER NOT NULL, elapsed_us INTEGER NOT NULL, fallback TEXT
        ) STRICT;
        CREATE INDEX prunes_by_time ON prunes (at);
        CREATE TABLE recoveries (
            id INTEGER PRIMARY KEY, prune_id TEXT NOT NULL, at INTEGER NOT NULL, tool TEXT NOT NULL, door TEXT NOT NULL,
            client TEXT, session TEXT, project TEXT, model TEXT, lines INTEGER NOT NULL, tokens INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX recoveries_by_time ON recoveries (at);
    "],
}];

#[test]
fn a_ledger_of_version_1_keeps_its_rows_and_takes_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(&folder.path().join("state.db"), VERSION_1).unwrap();
    let old = "INSERT INTO prunes VALUES (1, 'prn_old', 1000, 'Bash', 'hook', 'claude', 's1', '/w', NULL, 'logs', 90, 30, 900, 300, 5, NULL);
        INSERT INTO recoveries VALUES (1, 'prn_old', 2000, 'recover', 'cli', NULL, NULL, '/w', NULL, 3, 40);";
    database.write(|transaction| transaction.execute_batch(old)).unwrap();
    drop(database);

    let sieve = sieve(folder.path());
    let old = LedgerPrune {
        prune_id: "prn_old".into(),
        at_ms: 1000,
        tool: "Bash".into(),
        door: "hook".into(),
        client: Some("claude".into()),
        session: Some("s1".into()),
        call_id: None,
        tokens_before: 900,
        tokens_after: 300,
        marker_tokens: 0,
    };
    let recovery = LedgerRecovery {
        prune_id: "prn_old".into(),
        at_ms: 2000,
        door: "cli".into(),
        client: None,
        tokens: 40,
    };
    let read = || sieve.ledger_since(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(read(), (vec![old.clone()], vec![recovery.clone()]));
    assert!(folder.path().join("state.db.before-ledger-3").exists(), "copied before it was changed");

    let caller = Caller { call_id: Some("toolu_1".into()), ..caller() };
    let text = "some words in a line\n".repeat(30);
    let pruned = sieve.prune(&request(&text, "2-25 new"), &caller, &|| false);
    assert_eq!(sieve.flush(LONG), 0);
    let (prunes, recoveries) = read();
    assert_eq!((&prunes[..1], prunes.len(), recoveries), (&[old][..], 2, vec![recovery]));
    let marker_tokens = (pruned.annotations[0].marker.len() as u64 + 1) / 4;
    assert_eq!(
        prunes[1],
        LedgerPrune {
            prune_id: pruned.prune_id.clone(),
            at_ms: prunes[1].at_ms,
            tool: "prune_text".into(),
            door: "stdio".into(),
            client: Some("test".into()),
            session: None,
            call_id: Some("toolu_1".into()),
            tokens_before: pruned.stats.tokens_est_before as u64,
            tokens_after: pruned.stats.tokens_est_after as u64,
            marker_tokens,
        }
    );
    // Earlier than that, and nothing.
    assert_eq!(
        sieve.ledger_since(SystemTime::now() + std::time::Duration::from_secs(60)).unwrap(),
        (vec![], vec![])
    );
}
