//! The reader of Codex's logs: logs that the real client wrote, read whole, and records that it wrote in other years.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "codex/render.rs"]
mod render;
#[path = "codex/resume.rs"]
mod resume;
#[path = "codex/shapes.rs"]
mod shapes;
#[path = "codex/tokens.rs"]
mod tokens;

use std::fs;
use std::path::PathBuf;

fn logs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/logs/codex")
}

/// Compares what a log gives with what it gave. `BLESS=1` writes it anew, to be read through.
fn golden(name: &str) {
    let log = fs::read_to_string(logs().join(format!("{name}.jsonl"))).unwrap();
    let expected = logs().join(format!("{name}.golden"));
    let found = render::render(&log);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&expected, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(&expected).unwrap());
}

/// Three turns in three runs of Codex 0.166: shell, parallel and failing calls, patches, MCP, a subagent, a compaction.
#[test]
fn paginated_session() {
    golden("paginated");
}

#[test]
fn paginated_subagent_with_its_parents_history() {
    golden("paginated-subagent");
}

#[test]
fn paginated_fork_that_refers_to_its_parent() {
    golden("paginated-fork");
}

/// The same as the first, in a session that an old version began, so that the log stays in the old form.
#[test]
fn legacy_session() {
    golden("legacy");
}

#[test]
fn legacy_subagent_with_its_parents_history() {
    golden("legacy-subagent");
}

#[test]
fn legacy_fork_with_a_copy_of_its_parent() {
    golden("legacy-fork");
}

#[test]
fn review() {
    golden("review");
}

#[test]
fn review_subagent() {
    golden("review-subagent");
}

/// What `codex exec --json` printed.
#[test]
fn exec_stream() {
    golden("exec-stream");
}
