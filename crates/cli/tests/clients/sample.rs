//! A text to prune, with a goal that needs only a part of it, and what every client must find in the answers.

use serde_json::{Value, json};

/// A morning of a web shop's log: a few lines on a payment that failed, among heartbeats and evictions.
pub(crate) const TEXT: &str = include_str!("../../../../docs/examples/payments.log");

/// Needs the lines on the payment; any engine can do without most of the others.
pub(crate) const GOAL: &str = "Why did the payment of order 8812 fail?";

const MAX_PRUNE_RATIO: f64 = 0.9;

pub(crate) fn prune_arguments() -> Value {
    json!({
        "text": TEXT,
        "goal_hint": GOAL,
        "source_type": "logs",
        "options": {
            "max_prune_ratio": MAX_PRUNE_RATIO,
            "min_keep_lines": 10,
            // Far more than it takes: a slow machine must not turn the answer into a no-op.
            "timeout_ms": 60_000,
            "annotate_lines": true,
            "include_markers": true,
        },
    })
}

/// Asks for the first block that was cut, from the answer to `prune_text`.
pub(crate) fn recover_arguments(pruned: &Value) -> Value {
    let (start, end) = first_cut(pruned);
    json!({
        "prune_id": pruned["prune_id"],
        "ranges": [{"start_line": start, "end_line": end}],
        "include_line_numbers": true,
    })
}

/// The answer to `prune_text` has an id, a marker that stands in the text for lines that are gone, and still what the
/// goal needs.
pub(crate) fn assert_pruned(pruned: &Value) {
    let id = pruned["prune_id"].as_str().expect("a prune id");
    assert!(id.starts_with("prn_"), "{id}");
    let marker = pruned["annotations"][0]["marker"].as_str().expect("a marker");
    assert!(marker.starts_with(&format!("⟦PRUNÉ: prune_id={id} lignes ")), "{marker}");
    let text: Vec<&str> = pruned["pruned_text"].as_str().expect("a text").split('\n').collect();
    assert!(text.contains(&marker), "{text:#?}");
    let (start, end) = first_cut(pruned);
    for line in numbered(start, end) {
        assert!(!text.contains(&line.as_str()), "cut, and yet there: {line}");
    }
    let errors: Vec<_> = numbered(1, usize::MAX - 1).filter(|line| line.contains(" ERROR ")).collect();
    assert!(errors.len() > 1, "the sample has its answer");
    for line in errors {
        assert!(text.contains(&line.as_str()), "needed, and yet cut: {line}");
    }
    let ratio = pruned["stats"]["pruned_ratio"].as_f64().expect("a ratio");
    assert!(ratio > 0.0 && ratio <= MAX_PRUNE_RATIO, "{ratio}");
    assert_eq!(pruned["stats"]["used_fallback"], false);
}

/// The answer to `recover_text` has the original's lines.
pub(crate) fn assert_recovered(pruned: &Value, recovered: &Value) {
    let (start, end) = first_cut(pruned);
    let text = recovered["raw_text"].as_str().expect("a text");
    assert_eq!(text.split('\n').collect::<Vec<_>>(), numbered(start, end).collect::<Vec<_>>());
    assert_eq!(recovered["metadata"]["prune_id"], pruned["prune_id"]);
}

fn first_cut(pruned: &Value) -> (usize, usize) {
    let line = |name: &str| {
        let number = pruned["annotations"][0][name].as_u64().expect("something was cut");
        usize::try_from(number).expect("a line number")
    };
    (line("original_start_line"), line("original_end_line"))
}

fn numbered(start: usize, end: usize) -> impl Iterator<Item = String> {
    let lines = TEXT.split('\n').enumerate().map(|(index, line)| format!("{}│ {line}", index + 1));
    lines.skip(start - 1).take(end + 1 - start)
}
