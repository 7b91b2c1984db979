//! Every tool, through every door that exposes it: the same answers.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::io::Write;

use common::{Fixture, Mcp, Server, http, module, prune_arguments};
use serde_json::{Value, json};

/// What a door answered: the text of a result, or an error.
#[derive(Debug, PartialEq)]
enum Answer {
    Output(Value),
    Error { code: Value, message: Value, data: Value },
}

fn answer(envelope: &Value) -> Answer {
    match envelope.get("error") {
        Some(error) => Answer::Error {
            code: error["code"].clone(),
            message: error["message"].clone(),
            data: error["data"].clone(),
        },
        None => {
            let text =
                envelope["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{envelope}"));
            Answer::Output(without_times(said(text)))
        }
    }
}

/// A tool's text: JSON where it is, else the text itself.
fn said(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

fn without_times(mut output: Value) -> Value {
    if let Some(elapsed) = output.pointer_mut("/stats/elapsed_ms") {
        *elapsed = Value::Null;
    }
    if let Some(timestamp) = output.get_mut("timestamp") {
        *timestamp = Value::Null;
    }
    // A handoff is a new file each time.
    for name in ["artifactPath", "written"] {
        if let Some(value) = output.get_mut(name) {
            *value = Value::Null;
        }
    }
    for place in ["/run/elapsedMs", "/locator/timing", "/analyzer/timing", "/patterns/timing"] {
        if let Some(value) = output.pointer_mut(place) {
            *value = Value::Null;
        }
    }
    // Each process counts for itself.
    if let Some(rate) = output.get_mut("rate_limit") {
        *rate = Value::Null;
    }
    output
}

struct Doors {
    fixture: Fixture,
    server: Server,
    mcp: Mcp,
    /// Shown to all doors of HTTP, for what is not open.
    bearer: String,
}

impl Doors {
    fn open() -> Doors {
        let fixture = Fixture::new();
        let (server, mcp) = (fixture.serve(), fixture.mcp());
        let bearer = format!("Bearer {}", fixture.run(&["token"], b"").stdout.trim());
        Doors { fixture, server, mcp, bearer }
    }

    /// The JSON that a route answers with to a request with the token.
    fn post(&self, path: &str, method: &str, params: &Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let headers = [("Authorization", self.bearer.as_str())];
        let (status, body) = http(self.server.address(), "POST", path, &headers, body.as_bytes());
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// The answer that all doors agree on.
    fn call(&mut self, name: &str, arguments: &Value) -> Answer {
        let params = json!({"name": name, "arguments": arguments});
        let stdio = answer(&self.mcp.request("tools/call", params.clone()));
        let rpc = answer(&self.post("/rpc", "tools/call", &params));
        let over_http = answer(&self.post("/mcp", "tools/call", &params));
        assert_eq!(stdio, rpc, "{name} over stdio and /rpc");
        assert_eq!(stdio, over_http, "{name} over stdio and /mcp");

        let ran = self.fixture.run(&["call", name, "-"], arguments.to_string().as_bytes());
        match &stdio {
            Answer::Output(output) => {
                assert_eq!(ran.code, Some(0), "{}", ran.stderr);
                let printed = ran.stdout.strip_suffix('\n').unwrap();
                assert_eq!(&without_times(said(printed)), output, "{name} over stdio and the command line");
            }
            Answer::Error { code, message, .. } => {
                assert_eq!(ran.code, Some(if *code == -32602 { 2 } else { 1 }));
                let said = format!("error: {} ({code})", message.as_str().unwrap());
                assert!(ran.stderr.starts_with(&said), "{} lacks {said}", ran.stderr);
            }
        }
        stdio
    }
}

/// Asks about the codebase that the doors stand in.
fn research(doors: &mut Doors) -> Vec<&'static str> {
    std::fs::write(doors.fixture.work().join("prices.py"), "def parse_price(text):\n    return int(text)\n")
        .unwrap();
    let work = doors.fixture.work().canonicalize().unwrap();
    assert_eq!(doors.call("ping", &json!({})), Answer::Output(json!("pong")));
    assert_eq!(doors.call("list_roots", &json!({})), Answer::Output(json!({"roots": [work]})));
    let mut called = vec!["ping", "list_roots"];
    let question = json!({"question": "Where is parse_price?"});
    let handoff = json!({"question": "prices", "summary": "They are whole.", "references": ["prices.py:1"]});
    for (tool, arguments, place) in [
        ("research_codebase", &question, "/synthesis/references/0"),
        ("locate_in_codebase", &question, "/locator/value/references/0"),
        ("find_patterns", &question, "/patterns/status"),
        ("analyze_component", &question, "/analyzer/value/references/0"),
        ("create_handoff", &handoff, "/references/0"),
        ("resume_handoff", &json!({}), "/references/0"),
    ] {
        let Answer::Output(output) = doors.call(tool, arguments) else { panic!("{tool} failed") };
        let reply = output.pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("{output}"));
        assert!(["prices.py:1", "prices.py:1-2", "ok"].contains(&reply), "{tool}: {output}");
        called.push(tool);
    }
    called
}

#[test]
fn every_tool_answers_alike_through_every_door() {
    let mut doors = Doors::open();
    let listed = doors.post("/rpc", "tools/list", &json!({}))["result"]["tools"].clone();
    assert_eq!(doors.mcp.request("tools/list", json!({}))["result"]["tools"], listed);
    assert_eq!(doors.post("/mcp", "tools/list", &json!({}))["result"]["tools"], listed);
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    let on_command_line: Vec<_> = doors
        .fixture
        .run(&["tools", "--json"], b"")
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(on_command_line, names);

    let mut called = Vec::new();
    let text = module();
    let Answer::Output(pruned) = doors.call("prune_text", &prune_arguments(&text)) else {
        panic!("prune_text failed")
    };
    called.push("prune_text");
    let cut = pruned["annotations"][0].clone();
    assert!(cut.is_object(), "something is cut: {pruned}");
    let (first, last) = (&cut["original_start_line"], &cut["original_end_line"]);
    let arguments = json!({
        "prune_id": pruned["prune_id"],
        "ranges": [{"start_line": first, "end_line": last}],
        "include_line_numbers": false,
    });
    let Answer::Output(recovered) = doors.call("recover_text", &arguments) else {
        panic!("recover_text failed")
    };
    called.push("recover_text");
    let lines: Vec<_> = text.split('\n').collect();
    let wanted = &lines[first.as_u64().unwrap() as usize - 1..last.as_u64().unwrap() as usize];
    assert_eq!(recovered["raw_text"], wanted.join("\n"));
    assert_eq!(doors.call("recover_range", &arguments), Answer::Output(recovered));
    assert!(matches!(doors.call("health", &json!({})), Answer::Output(_)));
    called.push("health");
    std::fs::write(doors.fixture.work().join("text.txt"), "one\ntwo\n").unwrap();
    for (tool, arguments, text) in [
        ("read", json!({"file_path": "text.txt"}), "one\ntwo\n"),
        ("bash", json!({"command": "echo out; exit 3"}), "out\n\n[exit code: 3]"),
        ("grep", json!({"pattern": "two", "path": "text.txt"}), "2:two\n"),
    ] {
        assert_eq!(doors.call(tool, &arguments), Answer::Output(json!(text)));
        called.push(tool);
    }
    called.extend(past_sessions(&mut doors));
    called.extend(research(&mut doors));
    assert_eq!(names, called, "every listed tool is called here");

    let unknown = json!({"prune_id": "prn_none", "ranges": [], "include_line_numbers": true});
    let Answer::Error { code, message, data } = doors.call("recover_text", &unknown) else {
        panic!("it answered")
    };
    assert_eq!((code, message), (json!(-32004), json!("prune_id_not_found")));
    assert_eq!((&data["code"], &data["prune_id"]), (&json!("prune_id_not_found"), &json!("prn_none")));
    let mut wrong = prune_arguments("a");
    wrong["options"]["max_prune_ratio"] = json!("half");
    assert!(matches!(doors.call("prune_text", &wrong), Answer::Error { code, .. } if code == -32602));
    assert!(matches!(doors.call("nothing", &json!({})), Answer::Error { code, .. } if code == -32602));
}

/// The tools for past sessions, over a log where Claude Code keeps its own.
fn past_sessions(doors: &mut Doors) -> Vec<&'static str> {
    let id = "fb3cff44-13ae-41a6-a6df-f287e0552835";
    let folder = doors.fixture.folder.path().join("home/.claude/projects/-work");
    std::fs::create_dir_all(&folder).unwrap();
    let record = |number: u64, kind: &str, message: Value| {
        json!({
            "type": kind, "uuid": format!("u{number}"), "sessionId": id, "cwd": "/work", "version": "2.1.0",
            "timestamp": format!("2026-01-01T21:40:0{number}Z"), "isSidechain": false, "message": message,
        })
    };
    let usage = json!({"input_tokens": 5, "output_tokens": 2});
    let lines = [
        record(1, "user", json!({"role": "user", "content": "find the needle"})),
        record(
            2,
            "assistant",
            json!({
                "id": "m1", "role": "assistant", "model": "a-model", "content": [{"type": "text", "text": "Here."}], "usage": usage,
            }),
        ),
    ];
    let log = lines.map(|line| format!("{line}\n")).concat();
    std::fs::write(folder.join(format!("{id}.jsonl")), log).unwrap();
    let session = json!({"session_id": "fb3cff44"});
    let mut called = Vec::new();
    for (tool, arguments, pointer, expected) in [
        ("list_sessions", json!({}), "/data/sessions/0/id", json!("fb3cff44")),
        ("get_project_info", json!({}), "/data/projects/0/root_path", json!("/work")),
        ("get_session_details", session.clone(), "/stats/total_tokens", json!(7)),
        ("analyze_session", session.clone(), "/score", json!(100)),
        ("list_turns", session.clone(), "/data/turns/0/user_message", json!("find the needle")),
        (
            "get_turns",
            json!({"session_id": id, "turns": [0]}),
            "/data/turns/0/steps/0/message/text",
            json!("Here."),
        ),
        ("search_event_previews", json!({"query": "needle"}), "/data/matches/0/event_type", json!("User")),
        (
            "get_event_details",
            json!({"session_id": id, "event_index": 0}),
            "/payload/text",
            json!("find the needle"),
        ),
        ("get_reasoning_chain", session, "/pagination/total_in_page", json!(0)),
        ("compare_sessions", json!({"id1": id, "id2": id}), "/difference/turns", json!(0)),
        ("search_events", json!({"pattern": "needle"}), "/data/matches/0/event_index", json!(0)),
    ] {
        let Answer::Output(output) = doors.call(tool, &arguments) else { panic!("{tool} failed") };
        assert_eq!(output.pointer(pointer), Some(&expected), "{tool}: {output}");
        called.push(tool);
    }
    let params = json!({"name": "get_session_details", "arguments": {"session_id": "none"}});
    let failed = doors.mcp.request("tools/call", params)["result"].clone();
    assert_eq!(failed["isError"], true);
    let error = said(failed["content"][0]["text"].as_str().unwrap());
    assert_eq!(error["error"]["code"], "session_not_found");
    called
}

#[test]
fn whoever_shows_no_token_neither_sees_nor_uses_the_workbench() {
    let fixture = Fixture::new();
    let server = fixture.serve();
    let listed = server.rpc("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["prune_text", "recover_text", "health"]);
    let params = json!({"name": "bash", "arguments": {"command": "touch ran"}});
    assert_eq!(server.rpc("tools/call", params.clone())["error"]["data"]["code"], "unknown_tool");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let (_, answer) = server.post("/mcp", &body);
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["error"]["data"]["code"], "unknown_tool");
    assert!(!fixture.work().join("ran").exists());
}

#[test]
fn a_client_that_hangs_up_ends_its_command() {
    for path in ["/rpc", "/mcp"] {
        let fixture = Fixture::new();
        let server = fixture.serve();
        let token = fixture.run(&["token"], b"").stdout;
        let params = json!({"name": "bash", "arguments": {"command": common::FAMILY}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
            server.address(),
            token.trim(),
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        let pids = common::family(&fixture.work());
        drop(stream);
        common::all_end(&pids);
    }
}

/// In `tamis mcp` the sieve prunes: cuts are marked, can be recovered, and are counted.
#[test]
fn what_the_workbench_cuts_can_be_recovered() {
    let fixture = Fixture::new();
    let text = module();
    std::fs::write(fixture.work().join("module.py"), &text).unwrap();
    let mut mcp = fixture.mcp();
    let question = "how does cache_17 fill the cache";
    for (tool, arguments) in [
        ("read", json!({"file_path": "module.py"})),
        ("bash", json!({"command": "cat module.py"})),
        ("grep", json!({"pattern": "value", "path": "module.py"})),
    ] {
        let mut call = |arguments: &Value| {
            let answer = mcp.request("tools/call", json!({"name": tool, "arguments": arguments}));
            answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
        };
        let whole = call(&arguments);
        let mut with_question = arguments.clone();
        with_question["context_focus_question"] = json!(question);
        let pruned = call(&with_question);
        assert_eq!(call(&with_question), pruned, "the same call gives the same bytes");
        assert!(pruned.len() < whole.len() / 2, "{tool}");
        assert!(pruned.contains("def cache_17("), "{tool}");
        let marker = pruned.lines().find_map(|line| line.strip_prefix("[tamis cut ")).unwrap();
        let id = common::prune_id(&pruned);
        let (first, last) = marker.split(':').next().unwrap().split_once('-').unwrap();
        let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
        let ranges = json!([{"start_line": first, "end_line": last}]);
        let arguments = json!({"prune_id": id, "ranges": ranges, "include_line_numbers": false});
        let recovered = common::output(
            &mcp.request("tools/call", json!({"name": "recover_text", "arguments": arguments})),
        );
        let lines: Vec<_> = whole.split('\n').collect();
        assert_eq!(recovered["raw_text"], lines[first - 1..last].join("\n"), "{tool}");
        // The marker itself names both, and the beginning of the id is enough.
        for arguments in [
            json!({"prune_id": format!("[tamis cut {marker}"), "ranges": [], "include_line_numbers": false}),
            json!({"prune_id": id[..12], "ranges": ranges, "include_line_numbers": false}),
        ] {
            let call = mcp.request("tools/call", json!({"name": "recover_text", "arguments": arguments}));
            assert_eq!(common::output(&call)["raw_text"], recovered["raw_text"], "{tool}");
        }
    }
    assert_eq!(mcp.leave(), Some(0));
    let shown = fixture.run(&["data", "show", "--json"], b"").json();
    assert_eq!((&shown["savings"]["calls"], &shown["savings"]["recoveries"]), (&json!(6), &json!(9)));
}

#[test]
fn a_server_of_one_toolset_speaks_in_its_way() {
    let fixture = Fixture::new();
    let mut mcp = Mcp::start(fixture.tamis(&["mcp", "--tools", "workbench"]));
    let listed = mcp.request("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["read", "bash", "grep"]);
    for (name, arguments) in [("prune_text", json!({})), ("read", json!({"file_path": null}))] {
        let error = mcp.request("tools/call", json!({"name": name, "arguments": arguments}))["error"].clone();
        assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!("Invalid params")));
    }
}

#[test]
fn the_spec_s_own_examples_work() {
    let fixture = Fixture::new();
    let server = fixture.serve();
    let arguments = json!({
        "text": "L1\nL2\nL3\nL4",
        "goal_hint": "garder L1",
        "source_type": "docs",
        "options": {
            "max_prune_ratio": 0.75, "min_keep_lines": 1, "timeout_ms": 1500,
            "annotate_lines": true, "include_markers": true
        }
    });
    let pruned =
        common::output(&server.rpc("tools/call", json!({"name": "prune_text", "arguments": arguments})));
    assert!(pruned["pruned_text"].as_str().unwrap().starts_with("1│ L1\n"), "{pruned}");
    let arguments = json!({
        "prune_id": pruned["prune_id"],
        "ranges": [{"start_line": 1, "end_line": 50}],
        "include_line_numbers": true
    });
    let recovered =
        common::output(&server.rpc("tools/call", json!({"name": "recover_text", "arguments": arguments})));
    assert_eq!(recovered["raw_text"], "1│ L1\n2│ L2\n3│ L3\n4│ L4");
}

#[test]
fn extra_listeners_serve_the_same_routes() {
    let fixture = Fixture::new();
    let command = fixture.tamis(&["serve", "--port", "0", "--pruner-port", "0", "--prune-port", "0"]);
    let server = Server::start_with(command, 3);
    for address in &server.addresses {
        assert_eq!(http(*address, "GET", "/health", &[], b"").0, 200);
        assert_eq!(http(*address, "POST", "/prune", &[], br#"{"query":"q","code":"c"}"#).0, 200);
    }
}
