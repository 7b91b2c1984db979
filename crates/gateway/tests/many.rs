//! Several servers behind one gateway.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{Running, call, log, pruning, start};
use serde_json::{Value, json};
use tamis_gateway::{GatewayPruning, PrunedTools};

fn two() -> Running {
    start(&["git", "web"], pruning())
}

/// Reads a request of the gateway from a server, and answers it.
fn answer(running: &mut Running, server: usize, method: &str, result: &str) -> Value {
    let request = running.servers[server].read_json();
    assert_eq!(request["method"], method, "{request}");
    let id = request["id"].to_string();
    running.servers[server].write(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    request
}

fn refuse(running: &mut Running, server: usize, method: &str) {
    let request = running.servers[server].read_json();
    assert_eq!(request["method"], method, "{request}");
    let id = request["id"].to_string();
    let error = r#"{"code":-32601,"message":"Method not found"}"#;
    running.servers[server].write(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
}

#[test]
fn handshakes_and_lists_are_merged() {
    let mut running = two();
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    running
        .client
        .write(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string());
    let request = answer(
        &mut running,
        0,
        "initialize",
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#,
    );
    assert_eq!(request["params"], params);
    answer(
        &mut running,
        1,
        "initialize",
        r#"{"protocolVersion":"2025-06-18","capabilities":{"prompts":{}}}"#,
    );
    let merged = running.client.read_json();
    assert_eq!((&merged["id"], &merged["result"]["protocolVersion"]), (&json!(1), &json!("2025-06-18")));
    assert_eq!(merged["result"]["capabilities"], json!({"tools": {}, "prompts": {}}));
    running.client.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    for server in 0..2 {
        assert_eq!(
            running.servers[server].read(),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
        );
    }

    running.client.write(r#"{"jsonrpc":"2.0","id":"l","method":"tools/list","params":{"_meta":{"a":1}}}"#);
    let first =
        answer(&mut running, 0, "tools/list", r#"{"tools":[{"name":"log","x":1.0}],"nextCursor":"next"}"#);
    assert_eq!(first["params"], json!({"_meta": {"a": 1}}));
    let second = answer(&mut running, 0, "tools/list", r#"{"tools":[{"name":"diff"}]}"#);
    assert_eq!(second["params"], json!({"_meta": {"a": 1}, "cursor": "next"}));
    answer(&mut running, 1, "tools/list", r#"{"tools":[{"name":"fetch"}]}"#);
    let listed = running.client.read();
    assert!(listed.starts_with(r#"{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"git__log","x":1.0},{"name":"git__diff"},{"name":"web__fetch"},{"#), "{listed}");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["result"]["tools"][3]["name"], "recover_text");

    // A server without prompts has none to add.
    running.client.write(r#"{"jsonrpc":"2.0","id":3,"method":"prompts/list"}"#);
    refuse(&mut running, 0, "prompts/list");
    answer(&mut running, 1, "prompts/list", r#"{"prompts":[{"name":"p"}]}"#);
    assert_eq!(running.client.read(), r#"{"jsonrpc":"2.0","id":3,"result":{"prompts":[{"name":"web__p"}]}}"#);
}

#[test]
fn calls_reach_the_server_that_their_name_begins_with() {
    let mut running = start(
        &["git", "git__hub"],
        GatewayPruning { tools: PrunedTools::Except(["git__log".into()].into()), ..pruning() },
    );
    let query = json!({"query": "payment declined"});
    running.client.write(call("1.0", "git__log", &query));
    assert_eq!(running.servers[0].read(), call("1.0", "log", &query));
    running.client.write(call("2", "git__hub__log", &query));
    assert_eq!(running.servers[1].read(), call("2", "log", &query));
    let response = |id: &str, text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{}}}]}}}}"#,
            Value::from(text)
        )
    };
    running.servers[0].write(response("1", &log()));
    assert_eq!(running.client.read(), response("1", &log()), "this tool is not pruned");
    running.servers[1].write(response("2", &log()));
    assert!(running.client.read().contains("[tamis cut "));
    running.client.write(call("3", "log", &query));
    let refused = running.client.read_json();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(3), &json!(-32602)));
}

#[test]
fn requests_of_servers_are_answered_to_the_right_one() {
    let mut running = two();
    let sampling = r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"_meta":{"progressToken":"t\u0031"}}}"#;
    running.servers[0].write(sampling);
    running.servers[1].write(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    let mut requests = [running.client.read_json(), running.client.read_json()];
    requests.sort_by_key(|request| request["method"] == "sampling/createMessage");
    let [roots, sampling] = &requests;
    assert_ne!(roots["id"], sampling["id"]);

    let token = &sampling["params"]["_meta"]["progressToken"];
    running.client.write(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}}).to_string());
    let progress = running.servers[0].read();
    assert!(progress.contains(r#""progressToken":"t\u0031""#), "{progress}");
    running.client.write(json!({"jsonrpc": "2.0", "id": roots["id"], "result": {"roots": []}}).to_string());
    assert_eq!(running.servers[1].read(), r#"{"id":1,"jsonrpc":"2.0","result":{"roots":[]}}"#);
    running.client.write(
        json!({"jsonrpc": "2.0", "id": sampling["id"], "error": {"code": -1, "message": "no"}}).to_string(),
    );
    assert_eq!(running.servers[0].read_json()["id"], 1);

    running.servers[1]
        .write(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    assert_eq!(running.client.read_json()["params"]["requestId"], roots["id"]);
    for notification in [
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1.0}}"#,
    ] {
        running.servers[1].write(notification);
        assert_eq!(running.client.read(), notification);
    }
}

#[test]
fn cancellations_reach_the_server_that_works_on_the_request() {
    let mut running = two();
    running.client.write(call("7", "web__fetch", &json!({})));
    running.servers[1].read();
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    running.client.write(cancelled);
    assert_eq!(running.servers[1].read(), cancelled);
    running.client.write(call("8", "git__log", &json!({})));
    assert_eq!(running.servers[0].read(), call("8", "log", &json!({})), "the first thing that it gets");
}

#[test]
fn other_requests_go_to_the_server_that_can_answer() {
    let mut running = two();
    running.client.write(r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#);
    answer(&mut running, 0, "resources/list", r#"{"resources":[]}"#);
    answer(&mut running, 1, "resources/list", r#"{"resources":[{"uri":"a://b","name":"b"}]}"#);
    assert_eq!(
        running.client.read(),
        r#"{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"a://b","name":"b"}]}}"#
    );
    // A listed resource is its server's.
    running.client.write(r#"{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"a://b"}}"#);
    answer(&mut running, 1, "resources/read", r#"{"contents":[1.0]}"#);
    assert_eq!(running.client.read(), r#"{"jsonrpc":"2.0","id":2,"result":{"contents":[1.0]}}"#);
    // Another is looked for.
    running.client.write(r#"{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"c://d"}}"#);
    refuse(&mut running, 0, "resources/read");
    refuse(&mut running, 1, "resources/read");
    assert_eq!(running.client.read_json()["error"]["code"], -32601);
    // All servers get the level; the client gets one answer.
    running.client.write(r#"{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{"level":"info"}}"#);
    refuse(&mut running, 0, "logging/setLevel");
    answer(&mut running, 1, "logging/setLevel", "{}");
    assert_eq!(running.client.read_json()["id"], 4);
    running.client.write(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#);
    assert_eq!(running.client.read(), r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    running.client.write("nonsense");
    assert_eq!(running.client.read_json()["error"]["code"], -32700);
}

#[test]
fn the_others_go_on_when_one_server_ends() {
    let mut running = two();
    running.client.write(call("1", "git__log", &json!({})));
    running.servers[0].read();
    running.servers[0].close();
    let failed = running.client.read_json();
    assert_eq!(failed["error"]["message"], "the MCP server `git` closed its output");
    running.client.write(call("2", "git__log", &json!({})));
    assert_eq!(running.client.read_json()["id"], 2);
    running.client.write(call("3", "web__fetch", &json!({})));
    assert_eq!(running.servers[1].read(), call("3", "fetch", &json!({})));
    running.servers[1].close();
    assert_eq!(running.client.read_json()["id"], 3);
    assert!(running.end().is_err());
}
