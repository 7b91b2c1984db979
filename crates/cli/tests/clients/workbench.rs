//! Each agent reads, runs and searches, with and without a question; what its model gets to see is asserted byte for
//! byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tamis_testkit::{FINAL_TEXT, InstalledClients, ScriptStep, StdioServer, TestClient, ToolResult};

use crate::{sample, tamis};

const FILE: &str = "first line\n\tsecond \"line\" \\ ü ⟦x⟧\nthird";

/// What a pruner in the place of swe-pruner answers: enough of the question to see that it came through as it was.
fn start_pruner() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/prune", listener.local_addr().expect("a bound port"));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut input = BufReader::new(&stream);
            let mut length = 0;
            let mut line = String::new();
            while input.read_line(&mut line).is_ok_and(|_| !line.trim_end().is_empty()) {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                    length = value.trim_end().parse().expect("a length");
                }
                line.clear();
            }
            let mut body = vec![0; length];
            input.read_exact(&mut body).expect("a whole body");
            let question: Value = serde_json::from_slice(&body).expect("JSON");
            let pruned =
                pruned(question["code"].as_str().expect("code"), question["query"].as_str().expect("query"));
            let answer = json!({"pruned_code": pruned}).to_string();
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", answer.len());
            let _ = (&stream).write_all((head + &answer).as_bytes());
            let _ = stream.shutdown(Shutdown::Both);
        }
    });
    url
}

fn pruned(code: &str, query: &str) -> String {
    format!("for {query:?}:\n{code}(pruned)")
}

fn mcp_pruner() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_mcp-pruner"))
}

/// A call of the script and the text that the tool answers with.
struct Turn {
    tool: &'static str,
    arguments: Value,
    text: String,
}

fn turns() -> Vec<Turn> {
    let question = "  what is \"second\"?\n";
    let grep = "./file.txt:2:\tsecond \"line\" \\ ü ⟦x⟧\n";
    let bash = "out\n\n[stderr]\nerr\n\n[exit code: 3]";
    let mut turns = Vec::new();
    for (tool, arguments, text) in [
        ("read", json!({"file_path": "file.txt"}), FILE),
        ("bash", json!({"command": "echo out; echo err >&2; exit 3"}), bash),
        ("grep", json!({"pattern": "second"}), grep),
    ] {
        let mut with_question = arguments.clone();
        with_question["context_focus_question"] = json!(question);
        turns.push(Turn { tool, arguments, text: text.to_owned() });
        turns.push(Turn { tool, arguments: with_question, text: pruned(text, question) });
    }
    let error = |tool, arguments, text: &str| Turn { tool, arguments, text: text.to_owned() };
    turns.push(error("bash", json!({"command": "true"}), "(no output)"));
    turns.push(error("grep", json!({"pattern": "fourth"}), "(no matches found)"));
    turns
}

/// The tool's text as the agent passes it on: Codex says before it how long the call took, Gemini CLI puts tags around.
pub(crate) fn passed_on(agent: TestClient, result: &ToolResult) -> String {
    match agent {
        TestClient::Codex => {
            let (header, text) =
                result.text.split_once("\nOutput:\n").unwrap_or_else(|| panic!("{}", result.text));
            assert!(header.starts_with("Wall time: "), "{header}");
            text.to_owned()
        }
        TestClient::GeminiCli => {
            let inner = result.text.strip_prefix("<untrusted_context>\n");
            let inner = inner.and_then(|text| text.strip_suffix("\n</untrusted_context>"));
            inner.unwrap_or_else(|| panic!("{}", result.text)).to_owned()
        }
        TestClient::ClaudeCode | TestClient::OpenCode => result.text.clone(),
    }
}

fn uses_all_three_tools(agent: TestClient) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("file.txt"), FILE).expect("a file");
    let server = StdioServer {
        name: "pruner".to_owned(),
        command: mcp_pruner(),
        args: Vec::new(),
        env: vec![
            ("PRUNER_URL".to_owned(), start_pruner()),
            ("PRUNER_TIMEOUT_MS".to_owned(), "60000".to_owned()),
            ("MCP_PRUNER_CWD".to_owned(), text(folder.path())),
        ],
    };
    let script = turns()
        .into_iter()
        .map(|turn| ScriptStep::call(turn.tool, move |_| turn.arguments.clone()))
        .collect();
    let run = agent.run(&InstalledClients::installed(), &server, script);
    let turns = turns();
    let results = run.expect_results(turns.len());
    for (turn, result) in turns.iter().zip(results) {
        assert_eq!(passed_on(agent, result), turn.text, "{} {}", turn.tool, turn.arguments);
    }
    assert!(run.finished.stdout.contains(FINAL_TEXT), "{}", run.finished.stdout);
}

fn text(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_owned()
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn claude_code_uses_all_three_tools() {
    uses_all_three_tools(TestClient::ClaudeCode);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn codex_uses_all_three_tools() {
    uses_all_three_tools(TestClient::Codex);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gemini_cli_uses_all_three_tools() {
    uses_all_three_tools(TestClient::GeminiCli);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn open_code_uses_all_three_tools() {
    uses_all_three_tools(TestClient::OpenCode);
}

/// In `tamis mcp` the sieve prunes, and its cuts can be recovered.
#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn claude_code_recovers_what_the_workbench_cut() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("payments.log"), sample::TEXT).expect("a file");
    let server = StdioServer {
        name: "tamis".to_owned(),
        command: tamis(),
        args: vec!["mcp".to_owned()],
        env: vec![("TAMIS_WORKBENCH_DIR".to_owned(), text(folder.path()))],
    };
    let script = vec![
        ScriptStep::call(
            "bash",
            |_| json!({"command": "cat payments.log", "context_focus_question": sample::GOAL}),
        ),
        ScriptStep::call("recover_text", |history| {
            let (prune_id, start, end) = first_marker(&history.results[0].text);
            let ranges = json!([{"start_line": start, "end_line": end}]);
            json!({"prune_id": prune_id, "ranges": ranges, "include_line_numbers": false})
        }),
    ];
    let run = TestClient::ClaudeCode.run(&InstalledClients::installed(), &server, script);
    let results = run.expect_results(2);
    let pruned = &results[0].text;
    let lines: Vec<&str> = sample::TEXT.split('\n').collect();
    for line in lines.iter().filter(|line| line.contains(" ERROR ")) {
        assert!(pruned.contains(line), "needed, and yet cut: {line}");
    }
    let (_, start, end) = first_marker(pruned);
    assert!(!pruned.contains(lines[start - 1]), "cut, and yet there");
    assert_eq!(results[1].json()["raw_text"], lines[start - 1..end].join("\n"));
}

pub(crate) fn first_marker(text: &str) -> (String, usize, usize) {
    let (_, rest) = text.split_once("[tamis cut ").unwrap_or_else(|| panic!("nothing was cut: {text}"));
    let (start, end) = rest.split(':').next().and_then(|range| range.split_once('-')).expect("a range");
    let prune_id =
        rest.split_once("tamis recover ").and_then(|(_, id)| id.split(' ').next()).expect("an id").to_owned();
    (prune_id, start.parse().expect("a number"), end.parse().expect("a number"))
}
