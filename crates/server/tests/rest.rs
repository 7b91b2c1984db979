//! REST for agents, and what is counted.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use common::{DoorFixture, TOKEN, insert_event, insert_instance, text};
use serde_json::{Value, json};
use tamis_tools::Registry;

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

fn fixture() -> DoorFixture {
    let fixture = DoorFixture::new(Registry::all());
    let tables = fixture.tables();
    insert_instance(&tables, "work-1-a1", "WAITING_REVIEW", &format!("use {SECRET}"));
    insert_instance(&tables, "plan-login-a1", "STARTED", "plan it");
    insert_instance(&tables, "review-1-a1-1", "STARTED", "review it");
    tables
        .execute_batch(&format!(
            "INSERT INTO instance_relationships (parent_instance, child_instance, relationship_type, review_iteration,
                 reviewed_commit, work_identity, created_at)
             VALUES ('work-1-a1', 'review-1-a1-1', 'spawned_review', 1, 'c100000000000000000000000000000000000000', 'w1', 3000);
             INSERT INTO feedback (id, review_instance, coding_instance, review_iteration, feedback, feedback_type,
                 priority, actionable_items, digest, path, created_at)
             VALUES ('f1', 'review-1-a1-1', 'work-1-a1', 1, 'remove {SECRET}', 'needs_work', 'high',
                 '[\"drop {SECRET}\"]', 'd1', 'REVIEW_FEEDBACK.md', 4000);"
        ))
        .unwrap();
    insert_event(&tables, Some("work-1-a1"), &json!({"n": 1}));
    insert_event(&tables, Some("plan-login-a1"), &json!({"n": 2}));
    insert_event(&tables, Some("work-1-a1"), &json!({"n": 3}));
    fixture
}

async fn ask(fixture: &DoorFixture, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Value) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "127.0.0.1:3001")
        .header("authorization", format!("Bearer {TOKEN}"))
        .body(body.map_or(Body::empty(), |body| Body::from(body.to_string())))
        .unwrap();
    let (status, body) = text(fixture.send(request).await).await;
    (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
}

async fn get(fixture: &DoorFixture, path: &str) -> Value {
    let (status, body) = ask(fixture, Method::GET, path, None).await;
    assert_eq!(status, StatusCode::OK, "{path}: {body}");
    body
}

fn ids(instances: &Value) -> Vec<&str> {
    instances.as_array().unwrap().iter().map(|instance| instance["id"].as_str().unwrap()).collect()
}

/// What a caller with these bearer's words gets.
async fn get_as(fixture: &DoorFixture, bearer: Option<&str>, path: &str) -> (StatusCode, String) {
    let mut request = Request::get(path).header("host", "localhost");
    if let Some(bearer) = bearer {
        request = request.header("authorization", format!("Bearer {bearer}"));
    }
    text(fixture.send(request.body(Body::empty()).unwrap()).await).await
}

#[tokio::test]
async fn an_identity_reads_the_instances_of_its_own_repository() {
    let fixture = fixture();
    let tables = fixture.tables();
    insert_instance(&tables, "work-2-a1", "STARTED", "elsewhere");
    tables.execute("UPDATE instances SET repository = '/elsewhere' WHERE id = 'work-2-a1'", []).unwrap();
    for (bearer, own, others) in [
        ("tai_work-1-a1", vec!["plan-login-a1", "review-1-a1-1", "work-1-a1"], vec!["work-2-a1"]),
        ("tai_review-1-a1-1", vec!["plan-login-a1", "review-1-a1-1", "work-1-a1"], vec!["work-2-a1"]),
        ("tai_work-2-a1", vec!["work-2-a1"], vec!["plan-login-a1", "review-1-a1-1", "work-1-a1"]),
        (TOKEN, vec!["plan-login-a1", "review-1-a1-1", "work-1-a1", "work-2-a1"], vec![]),
    ] {
        let (status, body) = get_as(&fixture, Some(bearer), "/api/instances").await;
        assert_eq!(status, StatusCode::OK, "{bearer}: {body}");
        assert!(!body.contains(SECRET), "{body}");
        assert_eq!(ids(&serde_json::from_str(&body).unwrap()), own, "{bearer}");
        for id in own {
            let (status, body) = get_as(&fixture, Some(bearer), &format!("/api/instances/{id}")).await;
            let details: Value = serde_json::from_str(&body).unwrap();
            assert_eq!((status, &details["id"]), (StatusCode::OK, &json!(id)), "{bearer}: {body}");
            assert!(!body.contains(SECRET), "{body}");
        }
        for id in others {
            let (status, body) = get_as(&fixture, Some(bearer), &format!("/api/instances/{id}")).await;
            let error: Value = serde_json::from_str(&body).unwrap();
            let expected = (StatusCode::NOT_FOUND, &json!("INSTANCE_NOT_FOUND"));
            assert_eq!((status, &error["code"]), expected, "{bearer} {id}: {body}");
        }
    }
    // It may change nothing.
    for path in
        ["/api/instances/work-1-a1/stop", "/api/instances/work-1-a1/abandon", "/api/instances", "/api/gc"]
    {
        let request = common::post(path).header("authorization", "Bearer tai_work-1-a1");
        let (status, body) = text(fixture.send(request.body(Body::from("{}")).unwrap()).await).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}: {body}");
    }
}

#[tokio::test]
async fn everything_here_needs_the_token() {
    let fixture = fixture();
    for path in ["/api/instances", "/api/instances/work-1-a1"] {
        let (status, body) = get_as(&fixture, None, path).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}");
        assert!(body.contains("`tamis token` prints it"), "{body}");
    }
    for path in ["/api/events", "/api/feedback", "/api/config", "/api/nothing", "/metrics", "/ws"] {
        for bearer in [None, Some("tai_work-1-a1")] {
            let (status, body) = get_as(&fixture, bearer, path).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{path} {bearer:?}");
            assert!(body.contains("`tamis token` prints it"), "{body}");
        }
    }
}

#[tokio::test]
async fn instances_are_listed_and_shown_without_secrets() {
    let fixture = fixture();
    let all = get(&fixture, "/api/instances").await;
    assert_eq!(ids(&all), ["plan-login-a1", "review-1-a1-1", "work-1-a1"]);
    assert_eq!(
        (&all[2]["status"], &all[2]["task"]),
        (&json!("WAITING_REVIEW"), &json!("use [redacted:github-token]"))
    );
    for (path, wanted) in [
        ("/api/instances?status=STARTED", vec!["plan-login-a1", "review-1-a1-1"]),
        ("/api/instances?type=coding", vec!["work-1-a1"]),
        ("/api/instances?type=review&status=STARTED", vec!["review-1-a1-1"]),
        ("/api/instances?type=review&status=TERMINATED", vec![]),
    ] {
        assert_eq!(ids(&get(&fixture, path).await), wanted, "{path}");
    }
    let mut details = get(&fixture, "/api/instances/work-1-a1").await;
    let reviews = details["reviews"].take();
    assert_eq!(
        (
            reviews[0]["child_instance"].as_str(),
            reviews[0]["review_iteration"].as_i64(),
            reviews.as_array().unwrap().len()
        ),
        (Some("review-1-a1-1"), Some(1), 1)
    );
    let feedback = details["feedback"].take();
    assert_eq!(feedback, get(&fixture, "/api/feedback").await);
    assert_eq!(feedback, get(&fixture, "/api/feedback?instance=review-1-a1-1").await);
    assert_eq!(get(&fixture, "/api/feedback?instance=plan-login-a1").await, json!([]));
    assert_eq!(
        feedback,
        json!([{
            "id": "f1",
            "review_instance": "review-1-a1-1",
            "coding_instance": "work-1-a1",
            "review_iteration": 1,
            "feedback": "remove [redacted:github-token]",
            "feedback_type": "needs_work",
            "priority": "high",
            "actionable_items": ["drop [redacted:github-token]"],
            "path": "REVIEW_FEEDBACK.md",
            "git_commit_hash": null,
            "created_at": "1970-01-01T00:00:04.000Z",
            "delivered_at": null,
            "told_at": null,
        }])
    );
    assert_eq!(details["id"], "work-1-a1");
}

#[tokio::test]
async fn events_are_read_from_any_of_them_on() {
    let fixture = fixture();
    for (path, wanted) in [
        ("/api/events", vec![1, 2, 3]),
        ("/api/events?after=1", vec![2, 3]),
        ("/api/events?after=1&limit=1", vec![2]),
        ("/api/events?instance=work-1-a1", vec![1, 3]),
        ("/api/events?after=3", vec![]),
    ] {
        let shown = get(&fixture, path).await;
        let found: Vec<i64> =
            shown["events"].as_array().unwrap().iter().map(|event| event["seq"].as_i64().unwrap()).collect();
        assert_eq!((found, &shown["last_seq"]), (wanted, &json!(3)), "{path}");
    }
}

#[tokio::test]
async fn settings_are_shown_and_set() {
    let fixture = fixture();
    let value = async || {
        let settings = get(&fixture, "/api/config").await;
        settings.as_array().unwrap().iter().find(|one| one["key"] == "review.max_iterations").unwrap().clone()
    };
    assert_eq!(value().await["value"], "3");
    for (body, set) in [(json!({"value": "5"}), "5"), (json!({"value": 6}), "6")] {
        let (status, shown) =
            ask(&fixture, Method::PUT, "/api/config/review.max_iterations", Some(body)).await;
        assert_eq!((status, &shown["value"]), (StatusCode::OK, &json!(set)));
        assert_eq!(value().await, shown);
    }
    for (path, body) in [
        ("/api/config/review.max_iterations", json!({"value": "none"})),
        ("/api/config/review.max_iterations", json!({"value": null})),
        ("/api/config/review.max_iterations", json!({"value": "7", "more": 1})),
        ("/api/config/nothing", json!({"value": "7"})),
    ] {
        let (status, error) = ask(&fixture, Method::PUT, path, Some(body.clone())).await;
        assert_eq!(
            (status, &error["code"]),
            (StatusCode::BAD_REQUEST, &json!("VALIDATION_ERROR")),
            "{path} {body}"
        );
    }
    assert_eq!(value().await["value"], "6");
}

#[tokio::test]
async fn what_cannot_be_done_is_told_in_the_contracts_form() {
    let fixture = fixture();
    for (method, path, body, status, code) in [
        (Method::GET, "/api/instances/work-2-a1", None, 404, "INSTANCE_NOT_FOUND"),
        (Method::GET, "/api/instances/..", None, 400, "VALIDATION_ERROR"),
        (Method::GET, "/api/instances?status=BUSY", None, 400, "VALIDATION_ERROR"),
        (Method::GET, "/api/instances?state=STARTED", None, 400, "VALIDATION_ERROR"),
        (Method::GET, "/api/events?after=x", None, 400, "VALIDATION_ERROR"),
        (Method::GET, "/api/feedback?instance=x", None, 400, "VALIDATION_ERROR"),
        (Method::POST, "/api/instances", Some(json!({})), 400, "VALIDATION_ERROR"),
        (
            Method::POST,
            "/api/instances",
            Some(json!({"type": "coding", "folder": "here"})),
            400,
            "VALIDATION_ERROR",
        ),
        (
            Method::POST,
            "/api/instances",
            Some(json!({"type": "coding", "folder": "/r"})),
            503,
            "COORDINATOR_UNAVAILABLE",
        ),
        (
            Method::POST,
            "/api/instances",
            // The agent belongs into `choice`; another one would be started.
            Some(json!({"type": "coding", "folder": "/r", "task": "t", "agent": "codex"})),
            400,
            "VALIDATION_ERROR",
        ),
        (Method::POST, "/api/instances/work-1-a1/stop", None, 503, "COORDINATOR_UNAVAILABLE"),
        (Method::POST, "/api/instances/work-1-a1/abandon", None, 503, "COORDINATOR_UNAVAILABLE"),
        (Method::POST, "/api/gc?dry_run=true", None, 503, "COORDINATOR_UNAVAILABLE"),
        (Method::POST, "/api/gc?dry_run=maybe", None, 400, "VALIDATION_ERROR"),
        (Method::POST, "/api/reconcile", None, 503, "COORDINATOR_UNAVAILABLE"),
    ] {
        let (found, error) = ask(&fixture, method.clone(), path, body).await;
        assert_eq!((found.as_u16(), &error["code"]), (status, &json!(code)), "{method} {path}: {error}");
        let members: Vec<&str> = error.as_object().unwrap().keys().map(String::as_str).collect();
        for member in ["code", "error", "message", "instance_id", "tool_name", "suggestions"] {
            assert!(members.contains(&member), "{error}");
        }
    }
    let (status, body) = ask(&fixture, Method::GET, "/api/nothing", None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(body["error"]["hint"].as_str().unwrap().contains("GET /ws"), "{body}");
}

/// The values of a text that Prometheus reads, with how each metric is typed.
fn parsed(text: &str) -> (BTreeMap<String, f64>, BTreeMap<String, String>) {
    let (mut values, mut types) = (BTreeMap::new(), BTreeMap::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            types.insert(name.to_owned(), kind.to_owned());
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let repeated = values.insert(name.to_owned(), value.parse::<f64>().unwrap());
            assert_eq!(repeated, None, "{name}");
        }
    }
    (values, types)
}

#[tokio::test]
async fn what_is_counted_is_told_as_prometheus_reads_it() {
    let fixture = fixture();
    let rpc = |name: &str, arguments: Value| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
            .to_string()
    };
    fixture.rpc(rpc("health", json!({}))).await;
    fixture.rpc(rpc("prune_text", json!({"text": 3}))).await;
    fixture.rpc(rpc("prune_text", json!({}))).await;
    fixture.rpc(rpc("request_review", json!({}))).await;
    fixture.rpc(rpc("no\"such\ntool", json!({}))).await;
    let body = get(&fixture, "/metrics").await;
    let (values, types) = parsed(body.as_str().unwrap());
    for (name, wanted) in [
        ("tamis_tool_calls_total{tool=\"health\"}", 1.0),
        ("tamis_tool_calls_total{tool=\"prune_text\"}", 2.0),
        ("tamis_tool_failures_total{tool=\"prune_text\",code=\"invalid_params\"}", 2.0),
        ("tamis_tool_failures_total{tool=\"request_review\",code=\"IDENTITY_REQUIRED\"}", 1.0),
        ("tamis_tool_duration_seconds_count{tool=\"prune_text\"}", 2.0),
        ("tamis_tool_duration_seconds_bucket{tool=\"prune_text\",le=\"+Inf\"}", 2.0),
        ("tamis_agents_instances{status=\"STARTED\"}", 2.0),
        ("tamis_agents_instances{status=\"WAITING_REVIEW\"}", 1.0),
        ("tamis_agents_instances{status=\"TERMINATED\"}", 0.0),
        // Three before, and the call without an identity.
        ("tamis_agents_events_total", 4.0),
        ("tamis_agents_coordinating", 0.0),
    ] {
        assert_eq!(values.get(name), Some(&wanted), "{name}");
    }
    assert!(values.keys().all(|name| !name.contains("such")), "names that callers make up are no labels");
    assert_eq!(
        types.into_iter().collect::<Vec<_>>(),
        [
            ("tamis_agents_coordinating", "gauge"),
            ("tamis_agents_events_total", "counter"),
            ("tamis_agents_instances", "gauge"),
            ("tamis_tool_calls_total", "counter"),
            ("tamis_tool_duration_seconds", "histogram"),
            ("tamis_tool_failures_total", "counter"),
        ]
        .map(|(name, kind)| (name.to_owned(), kind.to_owned()))
    );
}
