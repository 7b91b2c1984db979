//! `/rpc` against JSON-RPC 2.0 and the pruner's contract.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use axum::http::StatusCode;
use common::DoorFixture;
use serde_json::{Value, json};
use tamis_tools::Registry;

fn fixture() -> DoorFixture {
    DoorFixture::new(Registry::all())
}

fn call(name: &str, arguments: Value) -> String {
    let params = json!({"name": name, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

/// The JSON in a tool result's text.
fn output(answer: &Value) -> Value {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    serde_json::from_str(text).unwrap()
}

fn prune_arguments(text: &str) -> Value {
    json!({
        "text": text,
        "goal_hint": "where is the cache cleared",
        "source_type": "code",
        "options": {
            "max_prune_ratio": 0.9,
            "min_keep_lines": 1,
            "timeout_ms": 60000,
            "annotate_lines": false,
            "include_markers": true,
        },
    })
}

#[tokio::test]
async fn the_methods_of_the_contract_answer() {
    let fixture = fixture();
    for (method, result) in [
        ("resources/list", json!({"resources": []})),
        ("resources/templates/list", json!({"resourceTemplates": []})),
        ("prompts/list", json!({"prompts": []})),
        ("ping", json!({})),
    ] {
        let answer = fixture.rpc(json!({"jsonrpc": "2.0", "id": "a", "method": method}).to_string()).await;
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": "a", "result": result}));
    }
    let initialize = |version| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": version}})
            .to_string()
    };
    for (asked, spoken) in
        [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")]
    {
        let answer = fixture.rpc(initialize(asked)).await;
        assert_eq!(answer["result"]["protocolVersion"], spoken);
        assert_eq!(answer["result"]["serverInfo"]["name"], "tamis");
        assert_eq!(answer["result"]["capabilities"], json!({"prompts": {}, "resources": {}, "tools": {}}));
    }
}

#[tokio::test]
async fn the_schemas_are_exactly_the_contracts() {
    let answer = fixture().rpc(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["prune_text", "recover_text", "health"]);
    assert_eq!(
        tools[0]["inputSchema"],
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "goal_hint": {"type": "string"},
                "source_type": {"type": "string", "enum": ["code", "logs", "docs"]},
                "options": {
                    "type": "object",
                    "properties": {
                        "max_prune_ratio": {"type": "number", "minimum": 0, "maximum": 1},
                        "min_keep_lines": {"type": "integer", "minimum": 0},
                        "timeout_ms": {"type": "integer", "minimum": 1},
                        "annotate_lines": {"type": "boolean"},
                        "include_markers": {"type": "boolean"}
                    },
                    "required": [
                        "max_prune_ratio", "min_keep_lines", "timeout_ms", "annotate_lines", "include_markers"
                    ],
                    "additionalProperties": false
                }
            },
            "required": ["text", "goal_hint", "source_type", "options"],
            "additionalProperties": false
        })
    );
    assert_eq!(
        tools[1]["inputSchema"],
        json!({
            "type": "object",
            "properties": {
                "prune_id": {"type": "string"},
                "ranges": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "start_line": {"type": "integer", "minimum": 1},
                            "end_line": {"type": "integer", "minimum": 1}
                        },
                        "required": ["start_line", "end_line"],
                        "additionalProperties": false
                    }
                },
                "include_line_numbers": {"type": "boolean"}
            },
            "required": ["prune_id", "ranges", "include_line_numbers"],
            "additionalProperties": false
        })
    );
}

#[tokio::test]
async fn health_has_its_five_fields_on_every_door() {
    let fixture = fixture();
    let tool = output(&fixture.rpc(call("health", json!({}))).await);
    let legacy = fixture.rpc(r#"{"jsonrpc":"2.0","id":1,"method":"health"}"#).await["result"].clone();
    let get = axum::http::Request::get("/health").header("host", "localhost").body("".into()).unwrap();
    let (status, body) = common::text(fixture.send(get).await).await;
    assert_eq!(status, StatusCode::OK);
    for mut health in [tool, legacy, serde_json::from_str(&body).unwrap()] {
        let timestamp = health["timestamp"].take();
        let timestamp = timestamp.as_str().unwrap();
        assert!(timestamp.len() == 25 && timestamp.contains('T'), "{timestamp}");
        assert_eq!(
            health,
            json!({
                "status": "healthy",
                "server": "mcp-pruner",
                "version": "0.1.0",
                "capabilities": ["prune_text", "recover_text", "annotations", "markers"],
                "timestamp": null,
            })
        );
    }
}

#[tokio::test]
async fn json_rpc_errors_are_those_of_its_specification() {
    let fixture = fixture();
    for (body, id, code) in [
        ("", "null", -32700),
        ("{", "null", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} x", "null", -32700),
        ("\u{feff}{}", "null", -32700),
        ("3", "null", -32600),
        ("\"ping\"", "null", -32600),
        ("[]", "null", -32600),
        ("{}", "null", -32600),
        (r#"{"id":7,"method":"ping"}"#, "7", -32600),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, "7", -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "null", -32600),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, "null", -32600),
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, "7", -32600),
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":"x"}"#, "7", -32600),
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}"#, "7", -32602),
        (r#"{"jsonrpc":"2.0","id":7,"method":"nothing"}"#, "7", -32601),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#, "7", -32602),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":3}}"#, "7", -32602),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"none"}}"#, "7", -32602),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"health","arguments":[]}}"#,
            "7",
            -32602,
        ),
    ] {
        let answer = fixture.rpc(body).await;
        assert_eq!(
            (answer["id"].to_string(), &answer["error"]["code"], answer.get("result")),
            (id.to_owned(), &json!(code), None),
            "{body} got {answer}"
        );
        assert!(answer["error"]["message"].is_string());
    }
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{{"a":{}1{}}}}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert_eq!(fixture.rpc(deep).await["error"]["code"], -32602);
    let (status, body) = fixture.post("/rpc", vec![b'"', 0xff, b'"']).await;
    assert_eq!((status, body.contains("-32700")), (StatusCode::OK, true), "{body}");
}

#[tokio::test]
async fn ids_are_echoed_unchanged() {
    let fixture = fixture();
    for id in ["1", "-1", "1.50", "12345678901234567890123", "1e3", "null", r#""é\n""#, r#""""#] {
        let (_, body) =
            fixture.post("/rpc", format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).await;
        assert_eq!(body, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
}

#[tokio::test]
async fn notifications_get_no_answer_and_batches_one_for_each_request() {
    let fixture = fixture();
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"nothing"}"#,
        r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#,
    ] {
        assert_eq!(fixture.post("/rpc", body).await, (StatusCode::ACCEPTED, String::new()), "{body}");
    }
    let answer = fixture
        .rpc(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}, 5, {"jsonrpc":"2.0","method":"ping"}, {"jsonrpc":"2.0","id":"z","method":"nothing"}]"#)
        .await;
    let short: Vec<_> = answer
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["id"].clone(), one["error"]["code"].clone()))
        .collect();
    assert_eq!(short, [(json!(1), Value::Null), (Value::Null, json!(-32600)), (json!("z"), json!(-32601))]);
    let huge = format!("[{}]", vec!["1"; 257].join(","));
    assert_eq!(fixture.rpc(huge).await["error"]["code"], -32600);
}

#[tokio::test]
async fn wrong_arguments_are_named_in_the_error() {
    let fixture = fixture();
    let mut cases = Vec::new();
    let mut case = |change: &dyn Fn(&mut Value), named: &'static str| {
        let mut arguments = prune_arguments("a\nb");
        change(&mut arguments);
        cases.push((arguments, named));
    };
    case(&|a| drop(a.as_object_mut().unwrap().remove("text")), "missing field `text`");
    case(&|a| a["text"] = json!(5), "text: invalid type: integer `5`, expected a string");
    case(&|a| a["extra"] = json!(5), "unknown field `extra`");
    case(&|a| a["source_type"] = json!("prose"), "source_type: unknown variant `prose`");
    case(&|a| a["options"]["threshold"] = json!(0.5), "unknown field `threshold`");
    case(&|a| a["options"]["max_prune_ratio"] = json!(1.5), "options.max_prune_ratio");
    case(&|a| a["options"]["max_prune_ratio"] = json!(null), "options.max_prune_ratio");
    case(&|a| a["options"]["min_keep_lines"] = json!(-1), "options.min_keep_lines");
    case(&|a| a["options"]["timeout_ms"] = json!(0), "options.timeout_ms");
    case(&|a| a["options"]["timeout_ms"] = json!(1.5), "options.timeout_ms");
    case(&|a| a["options"]["annotate_lines"] = json!("yes"), "options.annotate_lines");
    case(&|a| a["options"] = json!({}), "options: missing field");
    for (arguments, named) in cases {
        let answer = fixture.rpc(call("prune_text", arguments)).await;
        let message = answer["error"]["message"].as_str().unwrap();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(
            message.starts_with("Invalid params: ") && message.contains(named),
            "{message} lacks {named}"
        );
        assert_eq!(answer["error"]["data"]["code"], "invalid_params");
    }
}

#[tokio::test]
async fn pruned_text_can_be_recovered() {
    let fixture = fixture();
    let text = "fn clear_cache() {\n    cache.clear();\n}\n";
    let pruned = output(&fixture.rpc(call("prune_text", prune_arguments(text))).await);
    let id = pruned["prune_id"].as_str().unwrap();
    let recover = |name: &str, start: i64, end: i64, numbers: bool| {
        let ranges = json!([{"start_line": start, "end_line": end}, {"start_line": 1, "end_line": 1}]);
        call(name, json!({"prune_id": id, "ranges": ranges, "include_line_numbers": numbers}))
    };
    for name in ["recover_text", "recover_range"] {
        assert_eq!(
            output(&fixture.rpc(recover(name, 2, 99, true)).await),
            json!({
                "raw_text": "2│     cache.clear();\n3│ }\n4│ \n1│ fn clear_cache() {",
                "metadata": {
                    "prune_id": id,
                    "ranges": [{"start_line": 2, "end_line": 4}, {"start_line": 1, "end_line": 1}],
                    "line_numbering": "original",
                },
            })
        );
    }
    let whole = output(&fixture.rpc(call(
        "recover_text",
        json!({"prune_id": id, "ranges": [{"start_line": 1, "end_line": 4}], "include_line_numbers": false}),
    )).await);
    assert_eq!(whole["raw_text"], text);
    for (start, end) in [(0, 1), (-2, 1), (3, 2), (5, 9)] {
        let error = fixture.rpc(recover("recover_text", start, end, false)).await["error"].clone();
        assert_eq!(
            (&error["code"], &error["message"], &error["data"]["code"]),
            (&json!(-32005), &json!("invalid_range"), &json!("invalid_range"))
        );
    }
    for unknown in ["prn_aaaaaaaaaaaaaaaaaaaaaa", "", "../../etc/passwd", "prn_é"] {
        let arguments = json!({"prune_id": unknown, "ranges": [], "include_line_numbers": true});
        let error = fixture.rpc(call("recover_text", arguments)).await["error"].clone();
        assert_eq!(
            (&error["code"], &error["message"], &error["data"]["code"], &error["data"]["prune_id"]),
            (&json!(-32004), &json!("prune_id_not_found"), &json!("prune_id_not_found"), &json!(unknown))
        );
    }
}

#[tokio::test]
async fn constraints_that_cannot_be_met_leave_the_text_whole() {
    let fixture = fixture();
    let mut arguments = prune_arguments("a\nb\n");
    arguments["options"]["min_keep_lines"] = json!(4);
    arguments["options"]["annotate_lines"] = json!(true);
    let pruned = output(&fixture.rpc(call("prune_text", arguments)).await);
    assert_eq!(pruned["pruned_text"], "a\nb\n");
    assert_eq!(pruned["annotations"], json!([]));
    assert_eq!(pruned["stats"]["used_fallback"], true);
    assert_eq!(pruned["warnings"], json!(["constraints_unmet"]));
    let arguments = json!({
        "prune_id": pruned["prune_id"],
        "ranges": [{"start_line": 1, "end_line": 3}],
        "include_line_numbers": false,
    });
    assert_eq!(output(&fixture.rpc(call("recover_text", arguments)).await)["raw_text"], "a\nb\n");
}
