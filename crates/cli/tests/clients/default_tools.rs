//! Each agent with `tamis mcp` and nothing else set up: what a first session needs is among the default tools.

use std::path::{Path, PathBuf};

use serde_json::json;
use tamis_testkit::{InstalledClients, ScriptStep, StdioServer, TestClient};

use crate::workbench::first_marker;
use crate::{sample, tamis};

/// Reads with a question, recovers what was cut, asks about the code, and finds and reads an old session.
fn does_a_first_sessions_work(agent: TestClient) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("payments.log"), sample::TEXT).expect("a file");
    std::fs::write(folder.path().join("prices.py"), "def parse_price(text):\n    return int(text)\n")
        .expect("a file");
    let logs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../logs/tests/logs/claude");
    let text = |path: &Path| path.to_str().expect("a path in UTF-8").to_owned();
    let server = StdioServer {
        name: "tamis".to_owned(),
        command: tamis(),
        args: vec!["mcp".to_owned()],
        env: vec![
            ("TAMIS_WORKBENCH_DIR".to_owned(), text(folder.path())),
            ("TAMIS_ROOTS".to_owned(), text(folder.path())),
            ("TAMIS_MODEL_USE".to_owned(), "never".to_owned()),
            ("TAMIS_TRACE_LOGS".to_owned(), text(&logs)),
        ],
    };
    let script = vec![
        ScriptStep::call(
            "read",
            |_| json!({"file_path": "payments.log", "context_focus_question": sample::GOAL}),
        ),
        ScriptStep::call("recover_text", |history| {
            let (prune_id, start, end) = first_marker(&history.results[0].text);
            let ranges = json!([{"start_line": start, "end_line": end}]);
            json!({"prune_id": prune_id, "ranges": ranges, "include_line_numbers": false})
        }),
        ScriptStep::call("research_codebase", |_| json!({"question": "Where is parse_price?"})),
        ScriptStep::call("list_sessions", |_| json!({"limit": 1})),
        ScriptStep::call(
            "get_session_details",
            |history| json!({"session_id": history.results[3].json()["data"]["sessions"][0]["id"]}),
        ),
    ];
    let run = agent.run(&InstalledClients::installed(), &server, script);
    let results = run.expect_results(5);
    let (_, start, end) = first_marker(&results[0].text);
    let lines: Vec<&str> = sample::TEXT.split('\n').collect();
    assert_eq!(results[1].json()["raw_text"], lines[start - 1..end].join("\n"));
    let answer = results[2].json()["synthesis"]["references"][0].clone();
    assert!(answer.as_str().is_some_and(|place| place.starts_with("prices.py:1")), "{}", results[2].text);
    assert!(results[4].json()["stats"]["total_turns"].as_u64() > Some(0), "{}", results[4].text);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn claude_code_does_a_first_sessions_work() {
    does_a_first_sessions_work(TestClient::ClaudeCode);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn codex_does_a_first_sessions_work() {
    does_a_first_sessions_work(TestClient::Codex);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gemini_cli_does_a_first_sessions_work() {
    does_a_first_sessions_work(TestClient::GeminiCli);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn open_code_does_a_first_sessions_work() {
    does_a_first_sessions_work(TestClient::OpenCode);
}
