//! Each agent prunes a text, then recovers what was cut. What counts is what its model gets to see.

use tamis_testkit::{FINAL_TEXT, InstalledClients, ScriptStep, StdioServer, TestClient};

use crate::{sample, tamis};

fn prunes_and_recovers(agent: TestClient) {
    let server = StdioServer {
        name: "tamis".to_owned(),
        command: tamis(),
        args: vec!["mcp".to_owned()],
        env: Vec::new(),
    };
    let script = vec![
        ScriptStep::call("prune_text", |_| sample::prune_arguments()),
        ScriptStep::call("recover_text", |history| sample::recover_arguments(&history.results[0].json())),
    ];
    let run = agent.run(&InstalledClients::installed(), &server, script);

    let results = run.expect_results(2);
    let (pruned, recovered) = (results[0].json(), results[1].json());
    sample::assert_pruned(&pruned);
    sample::assert_recovered(&pruned, &recovered);
    assert!(run.finished.stdout.contains(FINAL_TEXT), "{}", run.finished.stdout);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn claude_code_prunes_and_recovers() {
    prunes_and_recovers(TestClient::ClaudeCode);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn codex_prunes_and_recovers() {
    prunes_and_recovers(TestClient::Codex);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gemini_cli_prunes_and_recovers() {
    prunes_and_recovers(TestClient::GeminiCli);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn open_code_prunes_and_recovers() {
    prunes_and_recovers(TestClient::OpenCode);
}
