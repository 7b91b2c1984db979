//! The cost of a prune besides the engine: ids, the original's file, rendering, the ledger's queue.

#![allow(clippy::unwrap_used, reason = "a bench that fails may panic")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use tamis_prune::{Cut, CutCause, CutPlace, CutReason, EngineError, EngineRequest, EngineVerdict};
use tamis_sieve::{Caller, PruneOptions, PruneRequest, Sieve, SieveSettings};
use tamis_store::DataDir;
use tamis_text::TextKind;

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

fn main() {
    divan::main();
}

/// An engine that costs nothing and cuts every other block of ten lines.
fn free_engine(
    request: &EngineRequest<'_>,
    _interrupted: &dyn Fn() -> bool,
) -> Result<EngineVerdict, EngineError> {
    let lines = tamis_text::line_count(request.text);
    let reason = CutReason { cause: CutCause::LessRelevant, place: CutPlace::Omitted };
    let cut = |first: usize| Cut { first_line: first + 11, last_line: first + 20, reason: reason.clone() };
    Ok(EngineVerdict {
        scores: Vec::new(),
        cuts: (0..lines.saturating_sub(21)).step_by(20).map(cut).collect(),
    })
}

/// Lines like those of a source file: repetitive, but no two texts alike.
fn source(bytes: usize, seed: u64) -> String {
    let mut text = format!("// {seed}\n");
    let mut number = seed;
    while text.len() < bytes {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        text.push_str(&format!("    let value_{:x} = compute(input, {});\n", number >> 40, number % 97));
    }
    text
}

fn prune(sieve: &Sieve, text: &str) {
    let request = PruneRequest {
        text,
        goal: "where is the value computed",
        kind: TextKind::Code,
        options: PruneOptions { timeout: Duration::from_secs(10), ..PruneOptions::default() },
        shown: &[],
    };
    let pruned = black_box(sieve.prune(&request, &Caller::default(), &|| false));
    assert!(!pruned.stats.used_fallback && pruned.stats.pruned_lines > 0);
}

fn sieve(folder: &tempfile::TempDir) -> Sieve {
    let settings = SieveSettings {
        data_dir: Some(DataDir::at(folder.path())),
        max_input_chars: 2_000_000,
        recovery_ttl: Duration::from_secs(7 * 24 * 60 * 60),
        recovery_max_bytes: 1 << 30,
        ledger_keep: Duration::from_secs(90 * 24 * 60 * 60),
    };
    Sieve::with_engine(settings, free_engine)
}

/// A new text: compressed and written.
#[divan::bench(args = SIZES, sample_count = 300, sample_size = 1)]
fn new_text(bencher: Bencher<'_, '_>, bytes: usize) {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(&folder);
    let seed = AtomicU64::new(1);
    bencher
        .counter(BytesCount::new(bytes))
        .with_inputs(|| source(bytes, seed.fetch_add(1, Ordering::Relaxed)))
        .bench_refs(|text| prune(&sieve, text));
}

/// A stored text: read, compared and refreshed.
#[divan::bench(args = SIZES, sample_count = 300, sample_size = 1)]
fn known_text(bencher: Bencher<'_, '_>, bytes: usize) {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(&folder);
    let text = source(bytes, 1);
    bencher.counter(BytesCount::new(bytes)).bench(|| prune(&sieve, &text));
}
