//! Prints a text from standard input as it comes out of the sieve: `look GOAL [THRESHOLD]`.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]
use std::io::Read;
use std::time::Duration;

use tamis_sieve::{MarkerForm, PruneOptions, PruneRequest, Sieve, SieveSettings};
use tamis_text::TextKind;

fn main() -> std::io::Result<()> {
    let goal = std::env::args().nth(1).unwrap_or_default();
    let threshold = std::env::args()
        .nth(2)
        .and_then(|value| value.parse().ok())
        .unwrap_or(tamis_prune::DEFAULT_THRESHOLD);
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let request = PruneRequest {
        text: &text,
        goal: &goal,
        kind: TextKind::detect(&text),
        options: PruneOptions {
            threshold,
            timeout: Duration::from_secs(600),
            markers: MarkerForm::Short,
            ..PruneOptions::default()
        },
        shown: &[],
    };
    let pruned = Sieve::new(SieveSettings::without_store(usize::MAX)).dry_run(&request, &|| false);
    println!("{}", pruned.pruned_text);
    Ok(())
}
