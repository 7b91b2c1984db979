//! Every tool, through every door that exposes it: the same answers.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{House, Mcp, Server, http, module, prune_arguments};
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
        None => Answer::Output(without_times(common::output(envelope))),
    }
}

fn without_times(mut output: Value) -> Value {
    if let Some(elapsed) = output.pointer_mut("/stats/elapsed_ms") {
        *elapsed = Value::Null;
    }
    if let Some(timestamp) = output.get_mut("timestamp") {
        *timestamp = Value::Null;
    }
    output
}

struct Doors {
    house: House,
    server: Server,
    mcp: Mcp,
}

impl Doors {
    fn open() -> Doors {
        let house = House::new();
        let (server, mcp) = (house.serve(), house.mcp());
        Doors { house, server, mcp }
    }

    /// The answer that all doors agree on.
    fn call(&mut self, name: &str, arguments: &Value) -> Answer {
        let params = json!({"name": name, "arguments": arguments});
        let stdio = answer(&self.mcp.request("tools/call", params.clone()));
        let rpc = answer(&self.server.rpc("tools/call", params.clone()));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let (status, body) = self.server.post("/mcp", &body.to_string());
        assert_eq!(status, 200, "{body}");
        let over_http = answer(&serde_json::from_str(&body).unwrap());
        assert_eq!(stdio, rpc, "{name} over stdio and /rpc");
        assert_eq!(stdio, over_http, "{name} over stdio and /mcp");

        let ran = self.house.run(&["call", name, "-"], arguments.to_string().as_bytes());
        match &stdio {
            Answer::Output(output) => {
                assert_eq!(ran.code, Some(0), "{}", ran.stderr);
                assert_eq!(&without_times(ran.json()), output, "{name} over stdio and the command line");
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

#[test]
fn every_tool_answers_alike_through_every_door() {
    let mut doors = Doors::open();
    let listed = doors.server.rpc("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(doors.mcp.request("tools/list", json!({}))["result"]["tools"], listed);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let (_, over_http) = doors.server.post("/mcp", &body);
    assert_eq!(serde_json::from_str::<Value>(&over_http).unwrap()["result"]["tools"], listed);
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    let on_command_line: Vec<_> = doors
        .house
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

#[test]
fn the_spec_s_own_examples_work() {
    let house = House::new();
    let server = house.serve();
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
    let house = House::new();
    let command = house.tamis(&["serve", "--port", "0", "--pruner-port", "0", "--prune-port", "0"]);
    let server = Server::start_with(command, 3);
    for address in &server.addresses {
        assert_eq!(http(*address, "GET", "/health", &[], b"").0, 200);
        assert_eq!(http(*address, "POST", "/prune", &[], br#"{"query":"q","code":"c"}"#).0, 200);
    }
}
