//! What a session was already shown goes, is marked with its place, and can be recovered.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::*;
use tamis_prune::ShownMemory;
use tamis_sieve::{PruneOptions, PruneRequest, Sieve};

const GOAL: &str = "How is the timeout of a request computed?";

fn functions(numbers: std::ops::Range<usize>) -> String {
    numbers
        .map(|number| {
            format!("fn timeout_of_request_{number}() -> Duration {{\n    let base = request.timeout({number});\n    base.min(LONGEST_TIMEOUT)\n}}\n\n")
        })
        .collect()
}

#[test]
fn what_was_shown_is_cut_with_its_place_and_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = Sieve::new(settings(folder.path()));
    let mut memory = ShownMemory::new(25_000);
    memory.add("sed -n 1,100p a.rs", functions(0..20), &[]);
    memory.add("ls", "a.rs", &[]);
    let text = functions(10..30);
    let runs = memory.runs(&text);
    let request = PruneRequest { shown: &runs, ..request(&text, GOAL) };
    let pruned = sieve.prune(&request, &caller(), &|| false);
    let cuts: Vec<(usize, usize, &str)> = pruned
        .annotations
        .iter()
        .map(|cut| (cut.original_start_line, cut.original_end_line, cut.reason.as_str()))
        .collect();
    assert_eq!(cuts, [(1, 50, "déjà montré: résultat -2 ligne 51")]);
    assert_eq!(pruned.pruned_text.split_once('\n').unwrap().1, functions(20..30));
    assert_eq!(recover_all(&sieve, &pruned.prune_id).unwrap(), text);
    // The same text without a session is another call.
    let whole = sieve.prune(&PruneRequest { shown: &[], ..request }, &caller(), &|| false);
    assert_ne!(whole.prune_id, pruned.prune_id);
    assert!(whole.annotations.iter().all(|cut| !cut.reason.starts_with("déjà")));
}

#[test]
fn limits_and_directives_hold_for_what_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = Sieve::new(settings(folder.path()));
    let text = format!(
        "{}⟦NO_PRUNE_BEGIN⟧\n{}⟦NO_PRUNE_END⟧\n{}",
        functions(0..5),
        functions(5..10),
        functions(10..15)
    );
    let mut memory = ShownMemory::new(25_000);
    memory.add("cat a.rs", text.as_str(), &[]);
    let runs = memory.runs(&text);
    assert_eq!(runs.len(), 1);
    let pruned = |options: PruneOptions| {
        let request = PruneRequest { shown: &runs, options, ..request(&text, GOAL) };
        let pruned = sieve.prune(&request, &caller(), &|| false);
        let of = pruned.annotations.iter().map(|cut| (cut.original_start_line, cut.original_end_line));
        of.collect::<Vec<_>>()
    };
    let options = request(&text, GOAL).options;
    assert_eq!(pruned(options), [(1, 25), (53, 77)]);
    assert_eq!(pruned(PruneOptions { keep_first_lines: 3, ..options }), [(4, 25), (53, 77)]);
    assert_eq!(pruned(PruneOptions { max_prune_ratio: 0.2, ..options }), []);
}
