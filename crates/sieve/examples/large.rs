//! Prunes a text of any size from standard input, as `tamis prune` does: `large GOAL < FILE > PRUNED`.
#![allow(clippy::print_stderr, reason = "its output is what it is for")]
use std::io;
use std::time::{Duration, Instant};

use tamis_sieve::{Caller, LargePruneRequest, PruneOptions, Sieve, SieveSettings};
use tamis_store::DataDir;

fn main() -> io::Result<()> {
    let goal = std::env::args().nth(1).unwrap_or_default();
    let folder = std::env::temp_dir().join(format!("tamis-large-{}", std::process::id()));
    let settings = SieveSettings {
        data_dir: Some(DataDir::at(&folder)),
        max_input_chars: usize::MAX,
        recovery_ttl: Duration::from_secs(3600),
        recovery_max_bytes: 1 << 30,
        ledger_keep: Duration::from_secs(3600),
    };
    let options = PruneOptions { timeout: Duration::MAX, ..PruneOptions::default() };
    let request = LargePruneRequest { goal: &goal, options, max_bytes: u64::MAX };
    let started = Instant::now();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let pruned =
        Sieve::new(settings).prune_large(&mut input, &request, &mut output, &Caller::default(), &|| false)?;
    let (stats, elapsed) = (pruned.stats, started.elapsed().as_secs_f64());
    let rate = stats.tokens_est_before as f64 * 4e-6 / elapsed;
    eprintln!(
        "kept {} of {} lines, {} of {} tokens, in {elapsed:.1} s: {rate:.0} MB/s, warnings {:?}",
        stats.kept_lines,
        stats.original_lines,
        stats.tokens_est_after,
        stats.tokens_est_before,
        pruned.warnings
    );
    std::fs::remove_dir_all(folder)
}
