//! Large texts: kept lines and recovered cuts make the original, however it arrives, and nothing is lost if nothing can be cut.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::io::{self, Read};
use std::time::Duration;

use common::*;
use tamis_sieve::{
    LargePruneRequest, LargePruned, PruneOptions, PruneWarning, RecoverError, Sieve, SieveSettings, is_marker,
};

/// Gives a text in pieces of these sizes, again and again, as a pipe does.
struct Pieces<'a> {
    text: &'a [u8],
    sizes: Vec<usize>,
    next: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.next = (self.next + 1) % self.sizes.len();
        let count = self.sizes[self.next].min(buffer.len()).min(self.text.len());
        buffer[..count].copy_from_slice(&self.text[..count]);
        self.text = &self.text[count..];
        Ok(count)
    }
}

fn request(goal: &str) -> LargePruneRequest<'_> {
    let options = PruneOptions { timeout: Duration::MAX, ..PruneOptions::default() };
    LargePruneRequest { goal, options, max_bytes: u64::MAX }
}

fn prune(sieve: &Sieve, mut text: impl Read, request: &LargePruneRequest<'_>) -> (LargePruned, Vec<u8>) {
    let mut output = Vec::new();
    let pruned = sieve.prune_large(&mut text, request, &mut output, &caller(), &|| false).unwrap();
    (pruned, output)
}

fn log(lines: usize) -> String {
    let line = |number: usize| match number % 50_000 {
        777 => format!("ERROR worker {number} lost its connection\n    at Pool.take(Pool.java:7)\n"),
        999 => format!("é🦀 {}\n", "long ".repeat(20_000)),
        _ => format!(
            "2026-01-01T00:00:{:02} INFO poll {number} of queue orders took {} ms\r\n",
            number % 60,
            number % 90
        ),
    };
    (0..lines).map(line).collect()
}

/// Rebuilds the original from what was printed, recovering each cut by its marker.
fn rebuild(sieve: &Sieve, pruned: &LargePruned, output: &str) -> String {
    let id = pruned.prune_id.as_ref().unwrap();
    let mut lines: Vec<String> = Vec::new();
    for line in output.split('\n') {
        if !is_marker(line) {
            lines.push(line.to_owned());
            continue;
        }
        let cut: tamis_sieve::PastedCuts = line.parse().unwrap();
        let recovered = sieve.recover(id, &cut.ranges, false, &caller()).unwrap();
        lines.push(recovered.raw_text);
    }
    lines.join("\n")
}

#[test]
fn kept_lines_and_recovered_cuts_make_the_original_however_it_arrives() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = Sieve::new(settings(folder.path()));
    for (text, goal) in [
        (log(150_000), "which worker lost its connection"),
        (log(3000).trim_end().to_owned(), "poll 2000"),
        ("x".repeat(3 << 20), "x"),
        (String::new(), "x"),
    ] {
        let request = request(goal);
        let (pruned, output) = prune(&sieve, text.as_bytes(), &request);
        let output = String::from_utf8(output).unwrap();
        assert_eq!(pruned.warnings, []);
        assert_eq!(pruned.stats.original_lines, text.split('\n').count());
        assert!(rebuild(&sieve, &pruned, &output) == text);
        assert_eq!(pruned.stats.tokens_est_after, output.len().div_ceil(4));
        for sizes in [vec![1000, 7, 100_000], vec![1 << 20]] {
            let pieces = Pieces { text: text.as_bytes(), sizes, next: 0 };
            let (again, same) = prune(&sieve, pieces, &request);
            assert_eq!(
                (again.prune_id.as_ref(), same),
                (pruned.prune_id.as_ref(), output.clone().into_bytes())
            );
        }
        let id = pruned.prune_id.unwrap();
        let mut original = Vec::new();
        sieve.write_original(&id[..12], &mut original).unwrap();
        assert!(original == text.as_bytes());
        assert_eq!(sieve.goal(&id).as_deref(), Some(goal));
    }
    assert!(files(&folder.path().join("recovery")).iter().all(|name| !name.ends_with(".tmp")));
}

#[test]
fn most_of_a_log_is_cut_and_recovery_of_it_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = Sieve::new(settings(folder.path()));
    let text = log(120_000);
    let (pruned, output) = prune(&sieve, text.as_bytes(), &request("which worker lost its connection"));
    assert!(output.len() < text.len() / 20, "{} of {}", output.len(), text.len());
    let id = pruned.prune_id.unwrap();
    let lines: Vec<&str> = text.split('\n').collect();
    let recovered = sieve.recover(&id, &[(70_000, 70_002), (3, 3)], true, &caller()).unwrap().raw_text;
    let numbered = |number: usize| format!("{number}│ {}", lines[number - 1]);
    assert_eq!(recovered, [70_000, 70_001, 70_002, 3].map(numbered).join("\n"));
    let beyond = sieve.recover(&id, &[(900_000, 900_000)], false, &caller());
    assert!(
        matches!(beyond, Err(RecoverError::InvalidRange { lines: Some(count), .. }) if count == lines.len())
    );
    assert_eq!(sieve.flush(LONG), 0);
    assert_eq!(sieve.recent_prunes(9).unwrap().len(), 1);
    assert_eq!(sieve.ledger_totals().unwrap().calls, 1);
    // A damaged original is not handed out.
    let path = original(folder.path(), &id);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    expire_in(&path, DAY);
    assert!(matches!(sieve.recover(&id, &[(1, 1)], false, &caller()), Err(RecoverError::Unavailable { .. })));
    assert!(sieve.write_original(&id, &mut Vec::new()).is_err());
}

#[test]
fn a_text_that_cannot_be_stored_or_pruned_comes_out_whole() {
    let folder = tempfile::tempdir().unwrap();
    let text = log(40_000);
    let request = request("connection");
    let sieve = Sieve::new(settings(folder.path().join("ok")));
    let whole = |sieve: &Sieve, text: &[u8], request: &LargePruneRequest<'_>, warnings: &[PruneWarning]| {
        let (pruned, output) = prune(sieve, Pieces { text, sizes: vec![70_000, 3], next: 0 }, request);
        assert!(output == text);
        assert_eq!((pruned.prune_id, pruned.warnings.as_slice()), (None, warnings));
    };
    let full = SieveSettings { recovery_max_bytes: 4096, ..settings(folder.path().join("full")) };
    whole(&Sieve::new(full), text.as_bytes(), &request, &[PruneWarning::RecoveryUnavailable]);
    let none = SieveSettings::without_store(usize::MAX);
    whole(&Sieve::new(none), text.as_bytes(), &request, &[PruneWarning::RecoveryUnavailable]);
    let noisy = noise(40 << 20, 5);
    let small = SieveSettings { recovery_max_bytes: 1 << 20, ..settings(folder.path().join("small")) };
    whole(&Sieve::new(small), noisy.as_bytes(), &request, &[PruneWarning::RecoveryUnavailable]);
    let limited = LargePruneRequest { max_bytes: 1_500_000, ..request };
    whole(&sieve, text.as_bytes(), &limited, &[PruneWarning::InputTooLarge]);
    let late = PruneOptions { timeout: Duration::ZERO, ..request.options };
    whole(&sieve, text.as_bytes(), &LargePruneRequest { options: late, ..request }, &[PruneWarning::Timeout]);
    let unmet = PruneOptions { min_keep_lines: 1_000_000, ..request.options };
    let unmet = LargePruneRequest { options: unmet, ..request };
    whole(&sieve, text.as_bytes(), &unmet, &[PruneWarning::ConstraintsUnmet]);
    for broken in [&b"caf\xe9 "[..], b"caf\xc3"] {
        whole(&sieve, &[text.as_bytes(), broken].concat(), &request, &[]);
    }
}
