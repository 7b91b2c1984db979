//! What may be cut for a goal that an agent did not state.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use tamis_prune::{DEFAULT_THRESHOLD, EngineRequest, PruneLimits, overheard_goal, prune};
use tamis_text::TextKind;

/// The lines that are cut.
fn cut_lines(text: &str, kind: TextKind, goal: &str) -> Vec<String> {
    let limits = PruneLimits {
        threshold: DEFAULT_THRESHOLD,
        max_prune_ratio: 1.0,
        min_keep_lines: 0,
        keep_first_lines: 0,
    };
    let request = EngineRequest { text, goal, kind, limits, marker_bytes: &|_| 30, shown: &[] };
    let lines: Vec<&str> = text.split('\n').collect();
    let cuts = prune(&request, &|| false).unwrap().cuts;
    cuts.iter()
        .flat_map(|cut| lines[cut.first_line - 1..cut.last_line].iter().map(|line| (*line).to_owned()))
        .collect()
}

#[test]
fn of_a_log_only_what_passed_or_repeats_goes() {
    let passed: String =
        (0..40).map(|number| format!("test parser::tests::case_{number}_works ... ok\n")).collect();
    let repeats: String = (0..20).map(|number| format!("worker {number} is alive\n")).collect();
    let once = [
        "web-chat .env written (key: ..., model: small)",
        "ANTHROPIC_API_KEY: ",
        "schema is ready",
        "listening on :3333",
    ];
    let text =
        format!("running 40 tests\n{passed}test result: ok. 40 passed\n{}\n{repeats}done\n", once.join("\n"));
    let goal = overheard_goal(
        "Let me check the logs of the parser.",
        "cargo test",
        "why does the service not answer",
    );
    let cut = cut_lines(&text, TextKind::Logs, &goal);
    assert!(cut.iter().filter(|line| line.ends_with("... ok")).count() > 30, "{cut:?}");
    assert!(cut.iter().all(|line| line.ends_with("... ok") || line.ends_with("is alive")), "{cut:?}");
    assert!(!cut.contains(&"worker 0 is alive".to_owned()), "the first stays");
}
