//! `tamis run` with real Claude Code and real Codex: the pruner's server well, failing to start, killed in the middle;
//! the run cancelled, tamis killed. What counts is what the model gets to see, and that nothing is left behind.

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;

use serde_json::{Value, json};
use tamis_testkit::{
    ClientFixture, FINAL_TEXT, FinishedProgram, InstalledClients, ScriptStep, TestClient, TestServer,
    ToolName,
};

use crate::workbench::first_marker;
use crate::{LIMIT, mcp_pruner, sample, tamis};

const PROMPT: &str = "-- Follow the script,\n\"to the letter\" $HOME";

fn provider(agent: TestClient) -> &'static str {
    match agent {
        TestClient::ClaudeCode => "claude",
        TestClient::Codex => "codex",
        other => panic!("{other:?} has no provider"),
    }
}

fn fixture(agent: TestClient, script: Vec<ScriptStep>) -> ClientFixture {
    agent.fixture(InstalledClients::installed(), "pruner", script)
}

/// `tamis run` on this fixture, with the pruner's server at `server`.
fn run_command(
    fixture: &ClientFixture,
    agent: TestClient,
    server: &Path,
    url: &str,
    flags: &[&str],
) -> Command {
    let mut command = fixture.command(&tamis());
    command
        .env("JEEVES_PRUNER_ENABLED", "yes")
        .env("JEEVES_PRUNER_URL", url)
        .env("JEEVES_MCP_PRUNER_PATH", server)
        .args(["run", "--provider", provider(agent)])
        .args(flags)
        .args(["--", PROMPT]);
    command
}

/// The tools of the pruner's server that the model was offered.
fn offered(fixture: &ClientFixture, agent: TestClient) -> Vec<ToolName> {
    let tools = ["read", "bash", "grep"].map(|tool| agent.tool_name("pruner", tool));
    let offered = fixture.model.offered();
    tools.into_iter().filter(|tool| offered.contains(tool)).collect()
}

/// The text of a tool's answer. Codex says first how long it took.
fn own_text(agent: TestClient, text: &str) -> &str {
    match agent {
        TestClient::Codex => text.split_once("\nOutput:\n").map_or(text, |(_, text)| text),
        _ => text,
    }
}

/// Whether these moves of the runner stand in its log, in this order, and no others.
#[track_caller]
fn assert_moves(finished: &FinishedProgram, expected: &[&str]) {
    let lines = finished.stderr.lines();
    let moves: Vec<_> =
        lines.filter_map(|line| Some(line.split_once(" tamis_clients::lifecycle: ")?.1)).collect();
    assert_eq!(moves.len(), expected.len(), "{}", finished.stderr);
    for (found, expected) in moves.iter().zip(expected) {
        assert!(found.starts_with(expected), "{expected} in {}", finished.stderr);
    }
}

fn answers(agent: TestClient) {
    let server = TestServer::start(tamis());
    let url = format!("{}/prune", server.url());
    let script = vec![
        ScriptStep::call("read", |_| json!({"file_path": "payments.log"})),
        ScriptStep::call(
            "read",
            |_| json!({"file_path": "payments.log", "context_focus_question": sample::GOAL}),
        ),
        ScriptStep::call("bash", |_| json!({"command": "echo said; echo wrong >&2; exit 3"})),
        ScriptStep::call("grep", |_| json!({"pattern": "ERROR", "path": "payments.log"})),
    ];
    // A first row makes the ledger, which the summary of the run can then find.
    let expected = pruned_code(&server);
    let fixture = fixture(agent, script);
    std::fs::write(fixture.work().join("payments.log"), sample::TEXT).expect("a file");
    let mut command = run_command(&fixture, agent, &mcp_pruner(), &url, &["--allow-bash"]);
    command.env("TAMIS_DATA_DIR", server.data_dir());
    let (finished, left_behind) = fixture.run(command);

    let said = format!("{}\n{}\n{:#?}", finished.stdout, finished.stderr, fixture.model.results());
    assert_eq!((finished.code(), fixture.model.failure(), left_behind), (Some(0), None, vec![]), "{said}");
    assert_eq!(offered(&fixture, agent).len(), 3, "{:?}", fixture.model.offered());
    let results = fixture.model.results();
    assert_eq!(results.len(), 4, "{said}");
    assert_eq!(own_text(agent, &results[0].text), sample::TEXT);
    let pruned = own_text(agent, &results[1].text);
    assert_eq!(pruned, expected, "{said}");
    assert!(pruned.contains("[tamis cut ") && pruned.contains(" tamis recover prn_"), "{pruned}");
    assert_eq!(own_text(agent, &results[2].text), "said\n\n[stderr]\nwrong\n\n[exit code: 3]");
    let errors = sample::TEXT.lines().enumerate().filter(|(_, line)| line.contains("ERROR"));
    let errors: String = errors.map(|(index, line)| format!("{}:{line}\n", index + 1)).collect();
    assert_eq!(own_text(agent, &results[3].text), errors);
    // The prompt came through as it was.
    let prompts = fixture.model.requests().iter().map(|request| request.body.to_string()).collect::<String>();
    assert!(prompts.contains(&json!(PROMPT).to_string()), "{prompts}");

    assert_eq!(finished.stdout, format!("{FINAL_TEXT}\n"), "{said}");
    for tool in ["read", "bash", "grep"] {
        assert!(finished.stderr.contains(&format!("-> mcp:pruner/{tool}\n")), "{said}");
    }
    assert_moves(
        &finished,
        &[
            "run:init -> run:mcp_pruner_starting",
            "run:mcp_pruner_starting -> run:mcp_pruner_running",
            "run:mcp_pruner_running -> run:shutdown",
        ],
    );
    let summary = finished.stderr.lines().last().expect("a summary");
    let (before, after) = tokens(&server);
    let saved = format!("; about {} of {} tokens saved", grouped(before - after), grouped(before));
    assert!(
        summary.contains(", 4 tool calls, 4 of them through the pruner") && summary.ends_with(&saved),
        "{said}"
    );
}

/// What the pruner itself answers.
fn pruned_code(server: &TestServer) -> String {
    let answer = post(server, &json!({"code": sample::TEXT, "query": sample::GOAL}));
    answer["pruned_code"].as_str().expect("a text").to_owned()
}

fn tokens(server: &TestServer) -> (u64, u64) {
    let answer = post(server, &json!({"code": sample::TEXT, "query": sample::GOAL}));
    let count = |name: &str| answer[name].as_u64().expect("a count");
    (count("origin_token_cnt"), count("left_token_cnt"))
}

fn grouped(number: u64) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

fn post(server: &TestServer, body: &Value) -> Value {
    use std::io::Write;

    let address = server.url().strip_prefix("http://").expect("an address").to_owned();
    let mut stream = TcpStream::connect(&address).expect("a connection");
    let body = body.to_string();
    let head = format!(
        "POST /prune HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    serde_json::from_str(answer.split_once("\r\n\r\n").expect("a body").1).expect("JSON")
}

/// With nothing set up but the flag: tamis prunes, and what it cut can be recovered.
fn prunes_with_tamis_itself(agent: TestClient) {
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
    ];
    let fixture = fixture(agent, script);
    std::fs::write(fixture.work().join("payments.log"), sample::TEXT).expect("a file");
    let data = tempfile::tempdir().expect("a temporary folder");
    let mut command = fixture.command(&tamis());
    command.env("TAMIS_DATA_DIR", data.path().join("data"));
    command.args(["run", "--provider", provider(agent), "--pruner", "--", PROMPT]);
    let (finished, left_behind) = fixture.run(command);
    let results = fixture.model.results();
    let said = format!("{}\n{}\n{results:#?}", finished.stdout, finished.stderr);
    assert_eq!((finished.code(), fixture.model.failure(), left_behind), (Some(0), None, vec![]), "{said}");
    let pruned = own_text(agent, &results[0].text);
    let (_, start, end) = first_marker(pruned);
    let lines: Vec<&str> = sample::TEXT.split('\n').collect();
    assert!(!pruned.contains(lines[start - 1]), "cut, and yet there: {said}");
    let recovered: Value = serde_json::from_str(own_text(agent, &results[1].text)).expect("JSON");
    assert_eq!(recovered["raw_text"], lines[start - 1..end].join("\n"), "{said}");
    assert_moves(
        &finished,
        &[
            "run:init -> run:mcp_pruner_starting",
            "run:mcp_pruner_starting -> run:mcp_pruner_running: the pruner is available",
            "run:mcp_pruner_running -> run:shutdown",
        ],
    );
    let summary = finished.stderr.lines().last().expect("a summary");
    assert!(summary.contains(" tokens saved"), "{said}");
}

/// Who wants shorter texts has not said that the agent may run what it likes.
fn may_not_use_the_shell_unless_the_user_says_so(agent: TestClient) {
    let script = vec![
        ScriptStep::call("bash", |_| json!({"command": "touch trace"})),
        ScriptStep::call("read", |_| json!({"file_path": "note"})),
        ScriptStep::call("grep", |_| json!({"pattern": "well", "path": "note"})),
    ];
    let fixture = fixture(agent, script);
    std::fs::write(fixture.work().join("note"), "well\n").expect("a file");
    let (finished, left_behind) = fixture.run(run_command(&fixture, agent, &mcp_pruner(), "", &[]));
    let results = fixture.model.results();
    let said = format!("{}\n{}\n{results:#?}", finished.stdout, finished.stderr);
    assert_eq!((finished.code(), left_behind), (Some(0), vec![]), "{said}");
    assert_eq!(offered(&fixture, agent).len(), 3, "{said}");
    assert!(!fixture.work().join("trace").exists(), "{said}");
    let texts: Vec<_> = results[1..].iter().map(|result| own_text(agent, &result.text)).collect();
    assert_eq!(texts, ["well\n", "1:well\n"], "{said}");
    assert!(finished.stderr.contains("run:mcp_pruner_running -> run:shutdown"), "{said}");
    assert!(
        finished.stderr.ends_with("\nhint: --allow-bash lets the agent use the pruner's bash\n"),
        "{said}"
    );
}

/// A server in JavaScript, as far as the runner can see.
fn starts_a_script_under_node(agent: TestClient) {
    let fixture = fixture(agent, vec![ScriptStep::call("bash", |_| json!({"command": "echo well"}))]);
    let script = fixture.work().join("server.mjs");
    let source = format!(
        "import {{ spawn }} from 'node:child_process';\nspawn({}, {{ stdio: 'inherit' }});\n",
        json!(mcp_pruner())
    );
    std::fs::write(&script, source).expect("a file");
    let (finished, left_behind) = fixture.run(run_command(&fixture, agent, &script, "", &["--allow-bash"]));
    let results = fixture.model.results();
    assert_eq!((finished.code(), left_behind), (Some(0), vec![]), "{}", finished.stderr);
    assert_eq!(own_text(agent, &results[0].text), "well\n", "{}", finished.stderr);
    assert!(finished.stderr.contains("run:mcp_pruner_running -> run:shutdown"), "{}", finished.stderr);
}

fn goes_on_without_a_server_that_does_not_start(agent: TestClient) {
    // Codex reports it only with this log filter; without it, the end of the run shows that the server was never reached.
    for (filter, expected) in [
        ("error,codex_mcp::rmcp_client=warn", "the pruner's server did not start: "),
        ("error", "the agent never reported that it had reached the pruner's server"),
    ] {
        let fixture = fixture(agent, vec![ScriptStep::call("read", |_| json!({"file_path": "x"}))]);
        let mut command = run_command(&fixture, agent, Path::new("/bin/false"), "", &["--json"]);
        command.env("RUST_LOG", filter);
        let (finished, left_behind) = fixture.run(command);
        assert_eq!((finished.code(), left_behind), (Some(0), vec![]), "{}", finished.stderr);
        assert_eq!(offered(&fixture, agent), []);
        assert!(finished.stdout.contains(FINAL_TEXT), "{}", finished.stdout);
        // Every line is a report of the agent's.
        for line in finished.stdout.lines() {
            let report = serde_json::from_str::<Value>(line);
            assert!(report.is_ok_and(|report| report["type"].is_string()), "{line}");
        }
        let expected = if agent == TestClient::ClaudeCode {
            "the pruner's server did not start: claude says"
        } else {
            expected
        };
        assert_moves(
            &finished,
            &[
                "run:init -> run:mcp_pruner_starting",
                &format!("run:mcp_pruner_starting -> run:mcp_pruner_disabled: {expected}"),
                "run:mcp_pruner_disabled -> run:shutdown",
            ],
        );
        assert!(!fixture.data().exists(), "nothing is made for the sake of a summary");
    }
}

fn goes_on_without_a_server_that_is_killed(agent: TestClient) {
    let script = vec![
        ScriptStep::call("bash", |_| json!({"command": "echo well"})),
        ScriptStep::call("bash", |_| json!({"command": "kill -9 $PPID"})),
        ScriptStep::call("grep", |_| json!({"pattern": "x"})),
    ];
    let fixture = fixture(agent, script);
    let (finished, left_behind) =
        fixture.run(run_command(&fixture, agent, &mcp_pruner(), "", &["--allow-bash"]));
    let results = fixture.model.results();
    let said = format!("{}\n{}\n{results:#?}", finished.stdout, finished.stderr);
    assert_eq!((finished.code(), left_behind), (Some(0), vec![]), "{said}");
    assert_eq!(results.len(), 3, "{said}");
    assert_eq!(own_text(agent, &results[0].text), "well\n");
    assert!(results[1].text.to_lowercase().contains("closed"), "{said}");
    assert_eq!(finished.stdout, format!("{FINAL_TEXT}\n"), "{said}");
    assert_moves(
        &finished,
        &[
            "run:init -> run:mcp_pruner_starting",
            "run:mcp_pruner_starting -> run:mcp_pruner_running",
            "run:mcp_pruner_running -> run:mcp_pruner_degraded: the pruner's server failed during the run: ",
            "run:mcp_pruner_degraded -> run:shutdown",
        ],
    );
    let summary = finished.stderr.lines().last().expect("a summary");
    assert!(
        summary.ends_with(", 3 tool calls, 3 of them through the pruner; none requested pruning"),
        "{said}"
    );
}

/// A command that comes to the test's door and stays there until it is killed.
struct Visitor {
    listener: TcpListener,
}

impl Visitor {
    fn new() -> Visitor {
        Visitor { listener: TcpListener::bind("127.0.0.1:0").expect("a free port") }
    }

    fn step(&self) -> ScriptStep {
        let port = self.listener.local_addr().expect("an address").port();
        let command =
            format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo here >&3; trap '' TERM; sleep 600; sleep 600");
        ScriptStep::call("bash", move |_| json!({"command": command}))
    }

    /// Waits for the visitor.
    fn arrived(&self) -> BufReader<TcpStream> {
        let listener = self.listener.try_clone().expect("a handle");
        let (send, came) = channel();
        std::thread::spawn(move || send.send(listener.accept()));
        let (stream, _) =
            came.recv_timeout(LIMIT).expect("a connection within the time limit").expect("a connection");
        stream.set_read_timeout(Some(LIMIT)).expect("a timeout");
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).expect("a line");
        assert_eq!(line, "here\n");
        stream
    }
}

/// How the run is ended in the middle of a command that does not want to end.
#[derive(Clone, Copy, PartialEq)]
enum Blow {
    Interrupt,
    Terminate,
    Kill,
}

fn leaves_nothing_behind(agent: TestClient, blow: Blow) {
    let visitor = Visitor::new();
    let fixture = fixture(agent, vec![visitor.step()]);
    let run = fixture.start(run_command(&fixture, agent, &mcp_pruner(), "", &["--allow-bash"]));
    let mut visit = visitor.arrived();
    // Codex need not have reported yet what it has long done.
    run.expect_on_stderr("-> mcp:pruner/bash\n");
    match blow {
        Blow::Interrupt => run.interrupt(),
        Blow::Terminate => run.terminate(),
        Blow::Kill => run.kill(),
    }
    // The connection ends when the last who holds it has.
    let mut rest = String::new();
    visit.read_to_string(&mut rest).expect("the command ends");
    let (finished, left_behind) = run.finish();
    let expected = if blow == Blow::Kill { None } else { Some(130) };
    assert_eq!((finished.code(), left_behind), (expected, vec![]), "{}", finished.stderr);
    if blow != Blow::Kill {
        assert_moves(
            &finished,
            &[
                "run:init -> run:mcp_pruner_starting",
                "run:mcp_pruner_starting -> run:mcp_pruner_running",
                "run:mcp_pruner_running -> run:shutdown",
            ],
        );
        let name = provider(agent);
        let error = format!("error: the run was stopped before {name} finished\n");
        assert!(finished.stderr.ends_with(&error), "{}", finished.stderr);
    }
}

fn runs_without_the_pruner(agent: TestClient) {
    let fixture = fixture(agent, vec![ScriptStep::call("read", |_| json!({"file_path": "x"}))]);
    let mut command = fixture.command(&tamis());
    command.args(["run", "--provider", provider(agent), PROMPT.trim_start_matches("-- ")]);
    let (finished, left_behind) = fixture.run(command);
    assert_eq!((finished.code(), left_behind), (Some(0), vec![]), "{}", finished.stderr);
    assert_eq!(finished.stdout, format!("{FINAL_TEXT}\n"));
    assert_eq!(offered(&fixture, agent), []);
    assert_moves(
        &finished,
        &[
            "run:init -> run:mcp_pruner_disabled: the pruner is disabled by config",
            "run:mcp_pruner_disabled -> run:shutdown",
        ],
    );
}

/// One test for each agent and what happens to it.
macro_rules! with_each_agent {
    ($($name:ident: $check:expr;)*) => {
        mod claude_code {
            use super::*;
            $(#[test]
            #[ignore = "needs the real clients: ./test installs them"]
            fn $name() {
                $check(TestClient::ClaudeCode);
            })*
        }
        mod codex {
            use super::*;
            $(#[test]
            #[ignore = "needs the real clients: ./test installs them"]
            fn $name() {
                $check(TestClient::Codex);
            })*
        }
    };
}

with_each_agent! {
    uses_all_three_tools: answers;
    prunes_with_tamis: prunes_with_tamis_itself;
    keeps_to_its_permissions: may_not_use_the_shell_unless_the_user_says_so;
    runs_bare: runs_without_the_pruner;
    starts_scripts: starts_a_script_under_node;
    bears_a_server_that_does_not_start: goes_on_without_a_server_that_does_not_start;
    bears_a_server_that_is_killed: goes_on_without_a_server_that_is_killed;
    is_interrupted: |agent| leaves_nothing_behind(agent, Blow::Interrupt);
    is_terminated: |agent| leaves_nothing_behind(agent, Blow::Terminate);
    does_not_outlive_tamis: |agent| leaves_nothing_behind(agent, Blow::Kill);
}
