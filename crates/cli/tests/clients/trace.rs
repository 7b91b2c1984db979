//! Each agent looks into past sessions: those of a furnished home first, in the contract's three flows, and then its own of
//! a moment before. What its model gets to see is whole, of the sizes that the contract promises, and without secrets.

mod flows;
mod past;
mod shapes;

use std::ops::Range;

use serde_json::{Value, json};
use tamis_testkit::{
    ClientHome, FINAL_TEXT, InstalledClients, PROMPT, StdioServer, TestClient, TestClientRun, ToolResult,
};

use crate::inspector::{ERAS, Inspector, printed};
use crate::tamis;
use crate::workbench::passed_on;
use flows::{ANALYSIS, Call, EVENT, FLOW, LIST, SEARCH, STEPS, SUMMARY, TURNS, first_match};

/// Where each flow's answers are in the first run.
const DEBUG_FAILED_TOOLS: Range<usize> = 0..6;
const TOKEN_USAGE_PATTERN: Range<usize> = 6..9;
const SEARCH_AND_RETRIEVE: Range<usize> = 9..11;
/// What these are refused with, in order.
const REFUSED: Range<usize> = 11..14;
const REFUSALS: [&str; 3] = ["session_not_found", "invalid_event_index", "invalid_cursor"];

const TOOLS: [&str; 11] = [
    "analyze_session",
    "compare_sessions",
    "get_event_details",
    "get_project_info",
    "get_reasoning_chain",
    "get_session_details",
    "get_turns",
    "list_sessions",
    "list_turns",
    "search_event_previews",
    "search_events",
];

fn server() -> StdioServer {
    StdioServer {
        name: "tamis".to_owned(),
        command: tamis(),
        args: ["mcp", "--tools", "trace"].map(str::to_owned).to_vec(),
        env: Vec::new(),
    }
}

fn provider(agent: TestClient) -> &'static str {
    match agent {
        TestClient::ClaudeCode => "claude_code",
        TestClient::Codex => "codex",
        TestClient::GeminiCli => "gemini",
        TestClient::OpenCode => "opencode",
    }
}

/// Stands before a secret.
const NEIGHBOUR: &str = "neighbour";

/// A run's answers as the model got them, and the run.
struct Played {
    run: TestClientRun,
    answers: Vec<Value>,
    sizes: Vec<usize>,
}

/// Has the model make these calls. Every answer must be whole, no larger than it may be, and free of secrets.
fn play(agent: TestClient, home: ClientHome, calls: Vec<Call>) -> Played {
    let bounds: Vec<(&str, usize)> = calls.iter().map(|call| (call.tool, call.most)).collect();
    let script = calls.into_iter().map(Call::step).collect();
    let run = agent.run_in(home, &InstalledClients::installed(), &server(), script);
    let results = run.expect_results(bounds.len());
    assert!(run.finished.stdout.contains(FINAL_TEXT), "{}", run.finished.stdout);
    let complaints = run.finished.stderr.to_lowercase();
    assert!(!complaints.contains("schema") && !complaints.contains("skipping tool"), "{complaints}");
    let (mut answers, mut sizes) = (Vec::new(), Vec::new());
    for (at, ((tool, most), result)) in bounds.iter().zip(results).enumerate() {
        for secret in past::secrets() {
            assert!(!result.text.contains(&secret), "call {at}, {tool}: {secret} in {}", result.text);
        }
        let text = said(agent, result);
        let answer: Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("call {at}, {tool}: {error} in {}", result.text));
        assert!(text.len() <= *most, "call {at}, {tool}: {} of {most} bytes", text.len());
        answers.push(answer);
        sizes.push(text.len());
    }
    Played { run, answers, sizes }
}

/// The tool's text. Of an error Gemini CLI makes a text of its own, with the call and what was answered in it.
pub(crate) fn said(agent: TestClient, result: &ToolResult) -> String {
    if agent != TestClient::GeminiCli || result.text.starts_with("<untrusted_context>") {
        return passed_on(agent, result);
    }
    let reply: Value = serde_json::from_str(&result.text).unwrap_or_else(|_| panic!("{}", result.text));
    let reply = reply["error"].as_str().unwrap_or_else(|| panic!("{}", result.text));
    let (_, response) = reply.split_once("with response: ").unwrap_or_else(|| panic!("{reply}"));
    let response: Value = serde_json::from_str(response).unwrap_or_else(|_| panic!("{reply}"));
    let response = &response[0]["functionResponse"]["response"];
    assert_eq!(response["isError"], true, "{reply}");
    response["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

/// The three flows, calls that must be refused, and a search for what stands beside secrets.
fn first_calls(past: &past::Past) -> Vec<Call> {
    let mut calls = flows::debug_failed_tools();
    calls.extend(flows::token_usage_pattern());
    calls.extend(flows::search_and_retrieve(calls.len()));
    let refused = |tool, arguments: Value| Call::new(tool, 1000, move |_| arguments.clone());
    calls.push(refused("get_session_details", json!({"session_id": "no-such-session"})));
    calls.push(Call::new(
        "get_event_details",
        1000,
        |answers| json!({"session_id": answers[5]["session_id"], "event_index": 99_999_999}),
    ));
    calls.push(refused("search_event_previews", json!({"query": "error", "cursor": "not-a-cursor"})));
    for words in &past.traces {
        let words = words.clone();
        calls.push(Call::new("search_event_previews", SEARCH, move |_| json!({"query": words})));
    }
    // The secret is in the agent's own log now, beside a word by which it is found: a search does not see the secret itself.
    let secret = format!("{NEIGHBOUR} {}", past::secrets().remove(0));
    calls.push(Call::new("search_event_previews", SEARCH, move |_| json!({"query": secret})));
    calls
}

fn check_first(played: &Played) {
    let Played { answers, sizes, .. } = played;
    shapes::debug_failed_tools(&answers[DEBUG_FAILED_TOOLS]);
    shapes::token_usage_pattern(&answers[TOKEN_USAGE_PATTERN]);
    shapes::search_and_retrieve(&answers[SEARCH_AND_RETRIEVE]);
    for flow in [DEBUG_FAILED_TOOLS, TOKEN_USAGE_PATTERN, SEARCH_AND_RETRIEVE] {
        let bytes: usize = sizes[flow.clone()].iter().sum();
        assert!(bytes <= FLOW, "{bytes} bytes in calls {flow:?}");
    }
    for (answer, code) in answers[REFUSED].iter().zip(REFUSALS) {
        shapes::error(answer, code);
    }
    for answer in &answers[REFUSED.end..answers.len() - 1] {
        shapes::matches(answer);
        assert!(answer.to_string().contains("[redacted:"), "no mark of a secret in {answer}");
    }
}

/// The agent's earlier session: listed, detailed, searched and diagnosed.
fn second_calls(agent: TestClient) -> Vec<Call> {
    // The latest are this run's, which may not be in its log yet, and the one before it.
    let session = |answers: &[Value]| {
        let sessions = answers[0]["data"]["sessions"].as_array().expect("sessions").iter();
        // OpenCode puts quotes around its prompt.
        let own = sessions
            .filter(|session| session["snippet"].as_str().is_some_and(|words| words.contains(PROMPT)));
        // Both may have started within the same second, but the earlier one had more calls.
        let earlier = own.max_by_key(|session| session["total_tokens"].as_u64());
        earlier.unwrap_or_else(|| panic!("not listed: {}", answers[0]))["id"].clone()
    };
    let of_session = move |tool, most, others: Value| {
        Call::new(tool, most, move |answers| {
            let mut arguments = others.clone();
            arguments["session_id"] = session(answers);
            arguments
        })
    };
    vec![
        Call::new("list_sessions", LIST, move |_| json!({"provider": provider(agent), "limit": 10})),
        of_session("get_session_details", SUMMARY, json!({})),
        of_session("get_session_details", TURNS, json!({"detail_level": "turns"})),
        of_session("get_turns", STEPS, json!({"turns": [0], "detail_level": "full"})),
        of_session("analyze_session", ANALYSIS, json!({"include_loops": true})),
        of_session(
            "search_event_previews",
            SEARCH,
            json!({"query": "session_not_found", "only_failed": true}),
        ),
        Call::new("get_event_details", EVENT, |answers| first_match(&answers[5])),
        of_session("search_event_previews", SEARCH, json!({"query": NEIGHBOUR, "event_type": "ToolCall"})),
        of_session("list_turns", LIST, json!({})),
        Call::new("get_project_info", LIST, |_| json!({})),
    ]
}

fn check_second(agent: TestClient, calls: usize, played: &Played) {
    let [_, summary, turns, full, analysis, found, event, secret, listed, projects] =
        played.answers.as_slice()
    else {
        panic!("{} answers", played.answers.len())
    };
    assert_eq!(summary["provider"], provider(agent));
    shapes::summary(summary);
    shapes::turns(turns);
    let stats = &summary["stats"];
    assert_eq!((&stats["total_turns"], &stats["tool_calls"]), (&json!(1), &json!(calls)), "{stats}");
    assert_eq!(stats["failed_tools"], REFUSALS.len(), "{stats}");
    // 10 read and 5 written for each call, and for the last words.
    assert_eq!(stats["total_tokens"], 15 * (calls + 1), "{stats}");
    assert_eq!(stats["not_understood"], Value::Null, "{stats}");
    assert!(full["data"]["turns"][0]["steps"].as_array().is_some_and(|steps| !steps.is_empty()), "{full}");
    shapes::analysis(analysis);
    assert_eq!(analysis["summary"]["event_counts"]["tool_calls"], calls, "{analysis}");
    shapes::matches(found);
    let reply = event["payload"]["content"].as_str().unwrap_or_else(|| panic!("{event}"));
    assert!(reply.contains("Session not found: no-such-session"), "{reply}");
    assert!(secret.to_string().contains("[redacted:github-token]"), "{secret}");
    assert_eq!(listed["data"]["turns"][0]["outcome"], "partial", "{listed}");
    shapes::projects(projects, &summary["project_hash"]);
}

fn investigates(agent: TestClient) {
    let home = ClientHome::new();
    let calls = first_calls(&past::furnish(home.path()));
    let count = calls.len();
    let first = play(agent, home, calls);
    check_first(&first);
    let second = play(agent, first.run.into_home(), second_calls(agent));
    check_second(agent, count, &second);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn claude_code_investigates_past_sessions() {
    investigates(TestClient::ClaudeCode);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn codex_investigates_past_sessions() {
    investigates(TestClient::Codex);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gemini_cli_investigates_past_sessions() {
    investigates(TestClient::GeminiCli);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn open_code_investigates_past_sessions() {
    investigates(TestClient::OpenCode);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn the_inspector_finds_the_trace_tools_portable() {
    for era in ERAS {
        let inspector = Inspector::with(era, &["--tools", "trace"]);
        let listed = printed(&inspector.run(&["--method", "tools/list", "--strict"]));
        let mut names: Vec<&str> = shapes::items(&listed["result"]["tools"])
            .map(|tool| tool["name"].as_str().expect("a name"))
            .collect();
        names.sort_unstable();
        assert_eq!(names, TOOLS);
        // 5 is a result that calls itself an error.
        let refused = inspector.call("get_session_details", &json!({"session_id": "no-such-session"}));
        assert_eq!(refused.code(), Some(5), "{refused:#?}");
    }
}
