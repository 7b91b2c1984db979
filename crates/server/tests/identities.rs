//! Who may use the tools of agents, at every door.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use common::{Announced, DoorFixture, TOKEN, insert_event, insert_instance, post, text};
use serde_json::{Value, json};
use tamis_server::Exposure;
use tamis_tools::Registry;
use tower::ServiceExt;

const AGENTS_TOOLS: [&str; 4] = ["request_review", "send_feedback", "create_pull_request", "create_issues"];

fn fixture() -> DoorFixture {
    DoorFixture::new(Registry::all())
}

fn request(path: &str, bearer: Option<&str>, body: &Value) -> Request<Body> {
    let mut request = post(path);
    if let Some(bearer) = bearer {
        request = request.header("authorization", format!("Bearer {bearer}"));
    }
    request.body(Body::from(body.to_string())).unwrap()
}

/// What a door answers to a JSON-RPC request, or its status.
async fn rpc(
    fixture: &DoorFixture,
    exposure: Exposure,
    path: &str,
    bearer: Option<&str>,
    method: &str,
    params: Value,
) -> Result<Value, StatusCode> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let response = fixture.door().router(exposure).oneshot(request(path, bearer, &body)).await.unwrap();
    let (status, body) = text(response).await;
    if status != StatusCode::OK {
        return Err(status);
    }
    Ok(serde_json::from_str::<Value>(&body).unwrap()["result"].clone())
}

fn names(listed: &Value) -> Vec<&str> {
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_door_lists_what_the_caller_may_use() {
    let fixture = fixture();
    insert_instance(&fixture.tables(), "work-7-a1", "STARTED", "a task");
    let open = ["prune_text", "recover_text", "health"];
    let identity = Some("tai_work-7-a1");
    for path in ["/rpc", "/mcp"] {
        let list =
            async |exposure, bearer| rpc(&fixture, exposure, path, bearer, "tools/list", json!({})).await;
        assert_eq!(names(&list(Exposure::Loopback, None).await.unwrap()), open, "{path}");
        let listed = list(Exposure::Loopback, identity).await.unwrap();
        assert_eq!(names(&listed), [&open[..], &AGENTS_TOOLS].concat(), "{path}");
        let listed = list(Exposure::Loopback, Some(TOKEN)).await.unwrap();
        assert!(names(&listed).contains(&"bash") && !names(&listed).contains(&"request_review"), "{path}");
        // From the network an identity opens nothing but its own tools.
        assert_eq!(names(&list(Exposure::Network, identity).await.unwrap()), AGENTS_TOOLS, "{path}");
        for bearer in [Some("tai"), Some("Tai_x"), Some("wrong"), Some("tai_x"), Some("tai_")] {
            for exposure in [Exposure::Loopback, Exposure::Network] {
                let listed = list(exposure, bearer).await;
                assert_eq!(listed, Err(StatusCode::UNAUTHORIZED), "{exposure:?} {bearer:?}");
            }
        }
        assert_eq!(list(Exposure::Network, None).await, Err(StatusCode::UNAUTHORIZED));
    }
}

#[tokio::test]
async fn from_the_network_an_identity_goes_only_where_it_is_judged() {
    let fixture = fixture();
    insert_instance(&fixture.tables(), "work-7-a1", "STARTED", "a task");
    for path in ["/health", "/prune", "/api/config", "/api/events", "/ws", "/metrics", "/nowhere", "/mcpx"] {
        let router = fixture.door().router(Exposure::Network);
        let get = Request::get(path)
            .header("host", "127.0.0.1:3001")
            .header("authorization", "Bearer tai_work-7-a1")
            .body(Body::empty())
            .unwrap();
        let answer = text(router.oneshot(get).await.unwrap()).await;
        assert_eq!(answer.0, StatusCode::UNAUTHORIZED, "{path}: {}", answer.1);
    }
}

#[tokio::test]
async fn a_call_without_an_identity_is_told_what_it_lacks() {
    let fixture = fixture();
    for bearer in [None, Some(TOKEN)] {
        for (path, tool, name) in
            [("/rpc", "request_review", "request_review"), ("/mcp", "create_pr", "create_pull_request")]
        {
            let params = json!({"name": tool, "arguments": {}});
            let answer = rpc(&fixture, Exposure::Loopback, path, bearer, "tools/call", params).await.unwrap();
            assert_eq!(answer["isError"], true, "{answer}");
            let error: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(
                error,
                json!({
                    "code": "IDENTITY_REQUIRED",
                    "error": "IDENTITY_REQUIRED",
                    "message": "this tool is for agents, and the caller has not identified itself",
                    "instance_id": null,
                    "tool_name": name,
                    "suggestions": ["`tamis agents start` starts an agent that may use it"],
                })
            );
        }
        let forwarded = request("/api/call/request_review", bearer, &json!({}));
        let (status, body) = text(fixture.send(forwarded).await).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{body}");
        assert!(body.contains("IDENTITY_REQUIRED"), "{body}");
    }
    // It is in the audit trail, once for each tool and minute.
    let sql =
        "SELECT group_concat(tool_name, ' ') FROM (SELECT tool_name FROM mcp_events WHERE instance_id IS NULL
                   AND success = 0 AND error_code = 'IDENTITY_REQUIRED' ORDER BY tool_name)";
    let recorded: String = fixture.tables().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(recorded, "create_pull_request request_review");
}

#[tokio::test]
async fn a_forwarded_call_without_an_identity_is_recorded() {
    let fixture = fixture();
    for bearer in [None, Some(TOKEN), Some("tai_unknown")] {
        let forwarded = request("/api/call/create_issues", bearer, &json!({}));
        assert_eq!(fixture.send(forwarded).await.status(), StatusCode::UNAUTHORIZED);
    }
    let tables = fixture.tables();
    let recorded =
        || tables.query_row("SELECT count(*) FROM mcp_events", [], |row| row.get::<_, i64>(0)).unwrap();
    while recorded() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(recorded(), 1);
}

#[tokio::test]
async fn a_call_with_an_identity_reaches_whoever_coordinates_or_says_that_nobody_does() {
    let fixture = fixture();
    insert_instance(&fixture.tables(), "work-7-a1", "STARTED", "a task");
    let params = json!({"name": "request_review", "arguments": {}});
    let call = rpc(&fixture, Exposure::Loopback, "/rpc", Some("tai_work-7-a1"), "tools/call", params);
    let answer = call.await.unwrap();
    let error: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        error,
        json!({
            "code": "COORDINATOR_UNAVAILABLE",
            "error": "COORDINATOR_UNAVAILABLE",
            "message": "no coordinator is running: no process holds the leader lock of this data folder",
            "instance_id": "work-7-a1",
            "tool_name": "request_review",
            "suggestions": ["start one with `tamis serve`"],
        })
    );
    // Nobody else could record it. An agent may try as often as it likes, but each call waits.
    let recorded = || {
        let sql = "SELECT group_concat(instance_id || ' ' || tool_name || ' ' || error_code) FROM mcp_events";
        fixture.tables().query_row(sql, [], |row| row.get::<_, Option<String>>(0)).unwrap()
    };
    assert_eq!(recorded().as_deref(), Some("work-7-a1 request_review COORDINATOR_UNAVAILABLE"));
    let forwarded = request("/api/call/request_review", Some("tai_work-7-a1"), &json!({}));
    let (status, body) = text(fixture.send(forwarded).await).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{body}");
    // The process that forwarded it finds another coordinator, or records the failure.
    assert_eq!(recorded().as_deref(), Some("work-7-a1 request_review COORDINATOR_UNAVAILABLE"));
}

#[tokio::test]
async fn an_alias_is_routed_as_its_tool_and_paths_are_named_in_full() {
    let fixture = fixture();
    insert_instance(&fixture.tables(), "work-7-a1", "STARTED", "a task");
    let call = async |tool: &str| {
        let forwarded = request(&format!("/api/call/{tool}"), Some("tai_work-7-a1"), &json!({}));
        let (status, body) = text(fixture.send(forwarded).await).await;
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    for tool in ["create_pull_request", "create_pr"] {
        let (status, error) = call(tool).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{error}");
        assert_eq!(
            (&error["message"], &error["tool_name"]),
            (&json!("missing field `title`"), &json!("create_pull_request"))
        );
    }
    let (status, error) = call("no_such_tool").await;
    assert_eq!(
        (status, &error["message"]),
        (StatusCode::NOT_FOUND, &json!("no route /api/call/no_such_tool"))
    );
    let get = Request::get("/api/no_such")
        .header("host", "127.0.0.1:3001")
        .header("authorization", format!("Bearer {TOKEN}"))
        .body(Body::empty());
    let (status, body) = text(fixture.send(get.unwrap()).await).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(body.contains("\"no route /api/no_such\""), "{body}");
}

#[tokio::test]
async fn what_is_wrong_with_the_input_is_told_in_the_contracts_form_and_written_down() {
    let fixture = fixture();
    let tables = fixture.tables();
    insert_instance(&tables, "review-7-a1-1", "STARTED", "a task");
    let call = async |arguments: Value| {
        let forwarded = request("/api/call/send_feedback", Some("tai_review-7-a1-1"), &arguments);
        let (status, body) = text(fixture.send(forwarded).await).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        serde_json::from_str::<Value>(&body).unwrap()
    };
    let error = call(json!({"feedback": "x", "feedback_type": "praise"})).await;
    assert_eq!(
        error,
        json!({
            "code": "VALIDATION_ERROR",
            "error": "VALIDATION_ERROR",
            "message": "feedback_type: unknown variant `praise`, expected one of `needs_work`, `suggestions`, `clarification`",
            "instance_id": "review-7-a1-1",
            "tool_name": "send_feedback",
            "suggestions": [],
        })
    );
    for arguments in [
        json!({}),
        json!([]),
        json!({"feedback": 3, "feedback_type": "needs_work"}),
        json!({"feedback": "x", "feedback_type": {}}),
        json!({"feedback": "x", "feedback_type": "needs_work", "actionable_items": "one"}),
        json!({"feedback": "x", "feedback_type": "needs_work", "more": 1}),
    ] {
        assert_eq!(call(arguments.clone()).await["code"], "VALIDATION_ERROR", "{arguments}");
    }
    // What it quotes of the input is bounded, here and in the events.
    let long = call(json!({"feedback": "x", "feedback_type": "praise".repeat(100_000)})).await;
    let message = long["message"].as_str().unwrap();
    assert!(message.starts_with("feedback_type: unknown variant `praisepraise"), "{message}");
    assert!(
        message.ends_with("praise`, expected one of `needs_work`, `suggestions`, `clarification`"),
        "{message}"
    );
    let longest: i64 =
        tables.query_row("SELECT max(length(detail)) FROM mcp_events", [], |row| row.get(0)).unwrap();
    // The message, and the beginning of the input.
    assert!(message.len() < 1000 && longest < 1100 + 4100, "{} {longest}", message.len());
    let told =
        "SELECT count(*), min(success), min(error_code), min(instance_id), min(tool_name) FROM mcp_events";
    let told: (i64, i64, String, String, String) = tables
        .query_row(told, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
        .unwrap();
    let words = ["VALIDATION_ERROR", "review-7-a1-1", "send_feedback"].map(str::to_owned);
    let [code, instance, tool] = words;
    assert_eq!(told, (8, 0, code, instance, tool));
}

/// Whichever layer refuses a forwarded call: access, the body, the route, the input, the coordinator.
#[tokio::test(start_paused = true)]
async fn every_error_of_a_forwarded_call_has_the_contracts_form() {
    let fixture = fixture();
    insert_instance(&fixture.tables(), "work-7-a1", "STARTED", "a task");
    let identity = "Bearer tai_work-7-a1";
    let at = |path: &str| Request::post(path).header("host", "127.0.0.1:3001");
    let review = || at("/api/call/request_review");
    let with = |request: axum::http::request::Builder, body: &'static str| {
        request.header("authorization", identity).body(Body::from(body)).unwrap()
    };
    let pausing = Body::new(Announced);
    let too_large = Body::from(vec![b' '; common::MAX_BODY + 1]);
    for (name, request, status, code) in [
        ("nothing", review().body(Body::from("{}")).unwrap(), 401, "IDENTITY_REQUIRED"),
        (
            "the user's token",
            review().header("authorization", format!("Bearer {TOKEN}")).body(Body::from("{}")).unwrap(),
            401,
            "IDENTITY_REQUIRED",
        ),
        (
            "a wrong token",
            review().header("authorization", "Bearer wrong").body(Body::from("{}")).unwrap(),
            401,
            "IDENTITY_REQUIRED",
        ),
        (
            "an unknown identity",
            review().header("authorization", "Bearer tai_x").body(Body::from("{}")).unwrap(),
            401,
            "IDENTITY_REQUIRED",
        ),
        (
            "a foreign host",
            with(Request::post("/api/call/request_review").header("host", "evil.example"), "{}"),
            403,
            "PERMISSION_DENIED",
        ),
        (
            "a foreign page",
            with(review().header("origin", "http://evil.example"), "{}"),
            403,
            "PERMISSION_DENIED",
        ),
        ("no such tool", with(at("/api/call/request_reviews"), "{}"), 404, "VALIDATION_ERROR"),
        ("another toolset's tool", with(at("/api/call/bash"), "{}"), 404, "VALIDATION_ERROR"),
        (
            "another method",
            with(Request::get("/api/call/request_review").header("host", "127.0.0.1"), ""),
            405,
            "VALIDATION_ERROR",
        ),
        ("no JSON", with(review(), "{"), 400, "VALIDATION_ERROR"),
        ("wrong input", with(review(), r#"{"more": 1}"#), 400, "VALIDATION_ERROR"),
        ("a wrong key", with(review().header("tamis-call", ""), "{}"), 400, "VALIDATION_ERROR"),
        ("no coordinator", with(review(), "{}"), 503, "COORDINATOR_UNAVAILABLE"),
        (
            "a body that pauses",
            review().header("authorization", identity).body(pausing).unwrap(),
            408,
            "TIMEOUT",
        ),
        (
            "a body that is too large",
            review().header("authorization", identity).body(too_large).unwrap(),
            413,
            "VALIDATION_ERROR",
        ),
    ] {
        let tool = request.uri().path().rsplit('/').next().unwrap().to_owned();
        let (found, body) = text(fixture.send(request).await).await;
        let error: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{name}: {found} {body}"));
        assert_eq!((found.as_u16(), &error["code"]), (status, &json!(code)), "{name}: {error}");
        assert_eq!((&error["error"], &error["tool_name"]), (&json!(code), &json!(tool)), "{name}: {error}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty(), "{name}: {error}");
        assert!(error.as_object().unwrap().contains_key("instance_id"), "{name}: {error}");
        assert!(error["suggestions"].is_array(), "{name}: {error}");
    }
}

#[tokio::test]
async fn only_the_tools_of_agents_can_be_forwarded_and_keys_are_bounded() {
    let fixture = fixture();
    insert_event(&fixture.tables(), None, &json!({}));
    insert_instance(&fixture.tables(), "work-7-a1", "STARTED", "a task");
    for (tool, key, wanted) in [
        ("prune_text", "k", StatusCode::NOT_FOUND),
        ("bash", "k", StatusCode::NOT_FOUND),
        ("nothing", "k", StatusCode::NOT_FOUND),
        ("request_review", "", StatusCode::BAD_REQUEST),
        ("request_review", "é", StatusCode::BAD_REQUEST),
        ("request_review", &"k".repeat(65), StatusCode::BAD_REQUEST),
    ] {
        let mut forwarded = request(&format!("/api/call/{tool}"), Some("tai_work-7-a1"), &json!({}));
        forwarded.headers_mut().insert("tamis-call", key.parse().unwrap());
        let (status, body) = text(fixture.send(forwarded).await).await;
        assert_eq!(status, wanted, "{tool} {key}: {body}");
    }
}
