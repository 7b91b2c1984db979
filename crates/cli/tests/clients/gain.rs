//! `tamis gain` beside what the models of real clients were sent: the same session with and without tamis, every request recorded,
//! and the difference counted from the requests alone.

use std::fs;

use serde_json::{Value, json};
use tamis_testkit::{ClientHome, InstalledClients, ScriptStep, TestClient, TestClientRun, run_bounded};

use crate::hooks::{PATIENT, allow_own_tools, build_log, first_id, own_tools, server, setup, shell_step};
use crate::{LIMIT, tamis};

/// The figures of `gain` may differ from what was counted by this share.
const TOLERANCE: f64 = 0.02;

/// What a session does besides.
#[derive(Clone, Copy, PartialEq)]
enum Detour {
    None,
    Recovery,
    Reread,
}

/// Runs a session in which the shell and the read tool print much.
fn session(client: TestClient, with_tamis: bool, detour: Detour) -> TestClientRun {
    let clients = InstalledClients::installed();
    let tools = own_tools(client);
    let home = ClientHome::new();
    let project = home.project().canonicalize().expect("a path");
    fs::write(project.join("build.log"), build_log()).expect("a log");
    let other = project.join("other.log");
    fs::write(&other, build_log().replace("Compiling", "Linking")).expect("a log");
    let mut script = vec![shell_step(&tools, "cat build.log")];
    match detour {
        Detour::None => {}
        Detour::Recovery => {
            let (shell, argument) = tools.shell;
            script.push(ScriptStep::own(shell, move |history| {
                let id = first_id(&history.results[0].text);
                json!({argument: format!("{} recover {id} 20-30", tamis().display()), "description": "restore it"})
            }));
        }
        Detour::Reread => script.push(shell_step(&tools, "sed -n 20,30p build.log")),
    }
    script.push(match tools.read {
        Some((tool, argument)) => ScriptStep::own(tool, move |_| json!({argument: other})),
        None => shell_step(&tools, "cat other.log"),
    });
    script.extend((0..6).map(|number| shell_step(&tools, &format!("echo step {number}"))));
    let count = script.len();
    let run = client.run_with_own_tools(home, &clients, &server(), script, |home, command| {
        if with_tamis {
            setup(&clients, home, &["--user", "--only", "hooks", tools.setup]);
        }
        allow_own_tools(client, command.env(PATIENT.0, PATIENT.1));
    });
    run.expect_results(count);
    run
}

/// Bytes of all texts that the model was sent, in all requests.
fn sent_bytes(run: &TestClientRun) -> i64 {
    fn texts(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(texts).sum(),
            Value::Object(fields) => fields.values().map(texts).sum(),
            _ => 0,
        }
    }
    i64::try_from(run.requests.iter().map(|request| texts(&request.body)).sum::<usize>()).expect("a sum")
}

/// The figures of `tamis gain` for the home of a client.
fn gain(run: &TestClientRun) -> Value {
    let home = run.home();
    let data = home.parent().expect("a folder").join("data");
    let mut command = InstalledClients::installed().beside_tools(&tamis(), &home);
    command.args(["gain", "--json"]).env("TAMIS_DATA_DIR", data).current_dir(run.project());
    let finished = run_bounded(command, LIMIT);
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    serde_json::from_str(&finished.stdout).expect("JSON")
}

#[allow(clippy::print_stderr, reason = "the figures are worth seeing with --nocapture")]
fn agrees_with_what_was_sent(client: TestClient) {
    let without = sent_bytes(&session(client, false, Detour::None));
    for (detour, name) in
        [(Detour::None, "cuts"), (Detour::Recovery, "a recovery"), (Detour::Reread, "a re-read")]
    {
        let run = session(client, true, detour);
        let counted = (without - sent_bytes(&run)) / 4;
        let report = gain(&run);
        let total = &report["total"];
        let net = total["net_tokens"].as_i64().expect("a number");
        eprintln!("{client:?}, {name}: counted {counted}, gain {net}");
        assert_eq!(total["results_cut"], 2, "{report:#}");
        assert_eq!(total["recoveries"], u64::from(detour == Detour::Recovery), "{report:#}");
        assert_eq!(total["rereads"], u64::from(detour == Detour::Reread), "{report:#}");
        assert_eq!(report["unlinked"]["prunes"], 0, "{report:#}");
        let difference = (net - counted).abs() as f64;
        assert!(
            difference <= TOLERANCE * counted.abs() as f64,
            "{client:?}, {name}: counted {counted}: {report:#}"
        );
    }
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gain_of_claude_code_is_what_its_model_was_not_sent() {
    agrees_with_what_was_sent(TestClient::ClaudeCode);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gain_of_codex_is_what_its_model_was_not_sent() {
    agrees_with_what_was_sent(TestClient::Codex);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gain_of_gemini_cli_is_what_its_model_was_not_sent() {
    agrees_with_what_was_sent(TestClient::GeminiCli);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gain_of_opencode_is_what_its_model_was_not_sent() {
    agrees_with_what_was_sent(TestClient::OpenCode);
}
