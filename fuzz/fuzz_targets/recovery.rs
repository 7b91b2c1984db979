//! Pruning and recovery: the original comes back byte for byte, and what is kept is the original's lines in their order.
#![no_main]

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use tamis_sieve::{Caller, PruneOptions, PruneRequest, PurgeRequest, Sieve, SieveSettings};
use tamis_store::DataDir;
use tamis_text::{TextKind, line_count};

static SIEVE: LazyLock<(tempfile::TempDir, Sieve)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sieve = Sieve::new(SieveSettings {
        data_dir: Some(DataDir::at(folder.path())),
        max_input_chars: 100_000,
        recovery_ttl: Duration::from_secs(3600),
        recovery_max_bytes: 1 << 30,
        ledger_keep: Duration::from_secs(3600),
    });
    (folder, sieve)
});
static RUNS: AtomicUsize = AtomicUsize::new(0);

fuzz_target!(|data: &[u8]| {
    // At the end, so that any text is a seed.
    let [rest @ .., flags, threshold] = data else { return };
    let sieve = &SIEVE.1;
    // Otherwise every text of the run stays on the disk.
    if RUNS.fetch_add(1, Ordering::Relaxed) % 1000 == 999 {
        sieve.purge(PurgeRequest { recovery: true, ledger: true, older_than: None });
    }
    let text = String::from_utf8_lossy(rest);
    let (goal, text) = text.split_once('\n').unwrap_or(("", &text));
    let options = PruneOptions {
        threshold: f32::from(*threshold) / 255.0,
        annotate_lines: flags & 1 != 0,
        include_markers: flags & 2 != 0,
        ..PruneOptions::default()
    };
    let kind = TextKind::ALL[usize::from(flags >> 2) % TextKind::ALL.len()];
    let request = PruneRequest { text, goal, kind, options, shown: &[] };
    let pruned = sieve.prune(&request, &Caller::default(), &|| false);
    let lines = line_count(text);
    assert_eq!(pruned.stats.kept_lines + pruned.stats.pruned_lines, lines);
    if !options.annotate_lines {
        let mut rest = pruned.pruned_text.split('\n');
        let is_cut = |number: usize| {
            pruned
                .annotations
                .iter()
                .any(|cut| (cut.original_start_line..=cut.original_end_line).contains(&number))
        };
        for (number, line) in text.split('\n').enumerate().filter(|(number, _)| !is_cut(number + 1)) {
            assert!(rest.any(|kept| kept == line), "line {number} is missing");
        }
    }
    let end = i64::try_from(lines).expect("few lines");
    let recovered = sieve.recover(&pruned.prune_id, &[(1, end)], false, &Caller::default());
    assert_eq!(recovered.expect("it was stored").raw_text, text);
});
