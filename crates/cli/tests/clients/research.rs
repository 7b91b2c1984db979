//! Each agent asks about a codebase: pings, locates, researches, is refused, writes a handoff and takes it up again. What its
//! model gets to see is whole, has its form, and no secrets.

use serde_json::{Value, json};
use tamis_testkit::{
    ClientHome, FINAL_TEXT, InstalledClients, ScriptStep, StdioServer, TestClient, assert_report,
};

use crate::inspector::{ERAS, Inspector, printed};
use crate::tamis;
use crate::trace::said;

const TOOLS: [&str; 8] = [
    "analyze_component",
    "create_handoff",
    "find_patterns",
    "list_roots",
    "locate_in_codebase",
    "ping",
    "research_codebase",
    "resume_handoff",
];

fn token() -> String {
    ["ghp", "_", "Zq7Lk2Xv9Rb4Tn8Wc1Yd6Hs3Jf5Pm0Ga2Ke4"].concat()
}

/// A codebase with a secret in it.
fn codebase() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write("prices.py", "def parse_price(text):\n    return int(text)\n");
    write(
        "shop.py",
        "from prices import parse_price\n\ndef total(texts):\n    return sum(parse_price(text) for text in texts)\n",
    );
    write(
        "gateway.py",
        &format!("def call_gateway(order):\n    return send(order, token=\"{}\")\n", token()),
    );
    folder
}

fn server(root: &std::path::Path) -> StdioServer {
    StdioServer {
        name: "tamis".to_owned(),
        command: tamis(),
        args: ["mcp", "--tools", "research"].map(str::to_owned).to_vec(),
        env: vec![
            ("TAMIS_ROOTS".to_owned(), root.to_string_lossy().into_owned()),
            ("TAMIS_MODEL_USE".to_owned(), "never".to_owned()),
        ],
    }
}

fn asks(agent: TestClient) {
    let code = codebase();
    let calls: Vec<(&'static str, Value)> = vec![
        ("ping", json!({})),
        ("list_roots", json!({})),
        (
            "research_codebase",
            json!({"question": "How does parse_price work? Show examples.", "artifact": true}),
        ),
        ("locate_in_codebase", json!({"question": "call_gateway"})),
        ("analyze_component", json!({"question": "call_gateway"})),
        ("find_patterns", json!({"question": "parse_price"})),
        ("research_codebase", json!({"question": "frobnicate_zyxwv", "constraints": {"maxTokens": 900}})),
        ("locate_in_codebase", json!({"question": "anything", "roots": ["/etc"]})),
        (
            "create_handoff",
            json!({"question": "exact prices", "summary": "Cents are lost.", "references": ["prices.py:1"]}),
        ),
        ("resume_handoff", json!({})),
    ];
    let script = calls
        .iter()
        .cloned()
        .map(|(tool, arguments)| ScriptStep::call(tool, move |_| arguments.clone()))
        .collect();
    let run = agent.run_in(ClientHome::new(), &InstalledClients::installed(), &server(code.path()), script);
    let results = run.expect_results(calls.len());
    assert!(run.finished.stdout.contains(FINAL_TEXT), "{}", run.finished.stdout);
    let complaints = run.finished.stderr.to_lowercase();
    assert!(!complaints.contains("schema") && !complaints.contains("skipping tool"), "{complaints}");
    let texts: Vec<String> = results.iter().map(|result| said(agent, result)).collect();
    assert!(texts.iter().all(|text| !text.contains(&token())), "{texts:?}");
    assert_eq!(texts[0], "pong");
    let answers: Vec<Value> = texts[1..]
        .iter()
        .map(|text| serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}")))
        .collect();
    let [roots, report, located, analyzed, patterns, nothing, refused, created, resumed] = answers.as_slice()
    else {
        panic!("{} answers", answers.len())
    };
    let root = code.path().canonicalize().expect("it is there");
    assert_eq!(roots, &json!({"roots": [root]}));
    for report in [report, located, analyzed, patterns, nothing] {
        assert_report(report);
    }
    assert_eq!(report["synthesis"]["references"][0], "prices.py:1-2", "{report}");
    assert!(report["artifactPath"].is_string() && report["patterns"].is_object(), "{report}");
    assert!(
        located["locator"]["value"]["references"][0].as_str().is_some_and(|at| at.starts_with("gateway.py"))
    );
    assert_eq!(
        (&nothing["synthesis"]["references"], &nothing["synthesis"]["confidence"]),
        (&json!([]), &json!("low"))
    );
    assert_eq!(refused["error"]["code"], "outside_roots", "{refused}");
    assert_eq!(created["summary"], "Cents are lost.");
    assert_eq!(resumed, created);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn claude_code_asks_about_a_codebase() {
    asks(TestClient::ClaudeCode);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn codex_asks_about_a_codebase() {
    asks(TestClient::Codex);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gemini_cli_asks_about_a_codebase() {
    asks(TestClient::GeminiCli);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn open_code_asks_about_a_codebase() {
    asks(TestClient::OpenCode);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn the_inspector_finds_the_research_tools_portable() {
    let code = codebase();
    let root = format!("TAMIS_ROOTS={}", code.path().display());
    let with_roots = ["-e", root.as_str(), "-e", "TAMIS_MODEL_USE=never"];
    for era in ERAS {
        let inspector = Inspector::with(era, &["--tools", "research"]);
        let run = |arguments: &[&str]| inspector.run(&[&with_roots[..], arguments].concat());
        let listed = printed(&run(&["--method", "tools/list", "--strict"]));
        let tools = listed["result"]["tools"].as_array().expect("a list of tools");
        let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
        names.sort_unstable();
        assert_eq!(names, TOOLS);
        let call = |tool: &str, arguments: Value| {
            let arguments = arguments.to_string();
            run(&["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments])
        };
        let text = |reply: Value| reply["result"]["content"][0]["text"].as_str().expect("a text").to_owned();
        assert_eq!(text(printed(&call("ping", json!({})))), "pong");
        let reply = printed(&call("research_codebase", json!({"question": "Where is parse_price?"})));
        let report: Value = serde_json::from_str(&text(reply)).expect("a report");
        assert_report(&report);
        assert_eq!(report["synthesis"]["references"][0], "prices.py:1-2");
        // 5 is a result that calls itself an error.
        let refused = call("locate_in_codebase", json!({"question": "a", "roots": ["/etc"]}));
        assert_eq!(refused.code(), Some(5), "{refused:#?}");
    }
}
