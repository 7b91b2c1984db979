//! `/prune` in swe-pruner's format, and the checks before every route.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use common::{DoorFixture, TOKEN, post, text};
use serde_json::{Value, json};
use tamis_tools::Registry;

fn fixture() -> DoorFixture {
    DoorFixture::new(Registry::all())
}

async fn prune(fixture: &DoorFixture, body: Value) -> Value {
    let (status, body) = fixture.post("/prune", body.to_string()).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    serde_json::from_str(&body).unwrap()
}

#[tokio::test]
async fn prune_answers_in_swe_pruners_format() {
    let fixture = fixture();
    let mut answer = prune(
        &fixture,
        json!({"query": "q", "code": "a\nb", "threshold": 0, "chunk_overlap_tokens": 50, "more": 1}),
    )
    .await;
    assert!(answer["score"].take().is_number());
    assert!(answer["prune_id"].take().as_str().unwrap().starts_with("prn_"));
    assert_eq!(
        answer,
        json!({
            "score": null,
            "pruned_code": "a\nb",
            "token_scores": [],
            "kept_frags": [1, 2],
            "origin_token_cnt": 1,
            "left_token_cnt": 1,
            "model_input_token_cnt": 0,
            "error_msg": null,
            "prune_id": null,
        })
    );
    let scored = prune(&fixture, json!({"query": "q", "code": "a\nb", "include_token_scores": true})).await;
    let lines: Vec<_> = scored["token_scores"].as_array().unwrap().iter().map(|pair| &pair[0]).collect();
    assert_eq!(lines, ["a", "b"]);
}

#[tokio::test]
async fn kept_frags_are_the_lines_that_are_not_cut() {
    let fixture = fixture();
    let step = |index: usize, step: usize| format!("    value = compute_{index}_{step}(request, value)\n");
    let handler = |index| -> String {
        let steps: String = (0..12).map(|number| step(index, number)).collect();
        format!("def handler_{index}(request, value):\n{steps}    return render_{index}(value)\n\n\n")
    };
    let code: String = (0..40).map(handler).collect();
    let answer =
        prune(&fixture, json!({"query": "render_7 of handler_7", "code": code, "threshold": 0.9})).await;
    let kept: Vec<usize> = serde_json::from_value(answer["kept_frags"].clone()).unwrap();
    let pruned = answer["pruned_code"].as_str().unwrap();
    let lines: Vec<_> = code.split('\n').collect();
    assert!(kept.len() < lines.len(), "something is cut");
    let kept_lines: Vec<_> = kept.iter().map(|line| lines[line - 1]).collect();
    let unmarked: Vec<_> = pruned.split('\n').filter(|line| !line.starts_with("[tamis ")).collect();
    assert_eq!(unmarked, kept_lines);
    assert!(answer["left_token_cnt"].as_u64() < answer["origin_token_cnt"].as_u64());
}

#[tokio::test]
async fn prune_answers_invalid_input_with_422() {
    let fixture = fixture();
    for body in [
        "",
        "{}",
        "[]",
        "nonsense",
        r#"{"query":"q"}"#,
        r#"{"query":1,"code":""}"#,
        r#"{"query":"q","code":"c","threshold":"x"}"#,
    ] {
        let (status, answer) = fixture.post("/prune", body).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        assert!(answer["detail"].is_string() && answer["error_msg"].is_string());
    }
}

#[tokio::test]
async fn every_route_checks_host_origin_and_token() {
    let fixture = fixture();
    for (method, path) in [
        ("POST", "/rpc"),
        ("POST", "/mcp"),
        ("POST", "/prune"),
        ("GET", "/health"),
        ("GET", "/"),
        ("GET", "/ws"),
    ] {
        let with = |headers: &[(&str, &str)]| {
            let mut request = Request::builder().method(method).uri(path);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            request.body(Body::empty()).unwrap()
        };
        for headers in [
            &[("host", "evil.example")][..],
            &[("host", "127.0.0.1:3001"), ("origin", "http://evil.example")],
            &[("host", "127.0.0.1:3001"), ("origin", "null")],
            &[],
        ] {
            assert_eq!(
                fixture.send(with(headers)).await.status(),
                StatusCode::FORBIDDEN,
                "{path} {headers:?}"
            );
        }
        let wrong = with(&[("host", "localhost"), ("authorization", "Bearer wrong")]);
        assert_eq!(fixture.send(wrong).await.status(), StatusCode::UNAUTHORIZED, "{path}");
        let right = with(&[("host", "localhost"), ("authorization", &format!("Bearer {TOKEN}"))]);
        let status = fixture.send(right).await.status();
        assert!(status != StatusCode::UNAUTHORIZED && status != StatusCode::FORBIDDEN, "{path} {status}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_on_every_route() {
    let fixture = fixture();
    for path in ["/rpc", "/mcp", "/prune"] {
        let (status, answer) = fixture.post(path, vec![b' '; (4 << 20) + 1]).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{path}");
        assert_eq!(answer["error"]["data"]["code"], "input_too_large");
    }
}

#[tokio::test]
async fn bodies_up_to_the_limit_are_accepted_on_every_route() {
    let fixture = fixture();
    let padding = " ".repeat(3 << 20);
    let ping = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":"{padding}"}}}}"#);
    for (path, body) in
        [("/rpc", &ping), ("/mcp", &ping), ("/prune", &format!(r#"{{"query":"","code":"{padding}"}}"#))]
    {
        let (status, answer) = fixture.post(path, body.clone()).await;
        assert_eq!(status, StatusCode::OK, "{path} {}", &answer[..answer.len().min(200)]);
    }
}

#[tokio::test]
async fn invalid_messages_are_answered_on_mcp_as_elsewhere() {
    let fixture = fixture();
    for (body, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32602),
    ] {
        let (status, answer) = fixture.post("/mcp", body).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((status, &answer["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(code)), "{body}");
    }
}

#[tokio::test]
async fn the_answer_to_an_unknown_route_lists_the_known_ones() {
    let fixture = fixture();
    let (status, answer) = text(
        fixture.send(Request::get("/nothing").header("host", "localhost").body(Body::empty()).unwrap()).await,
    )
    .await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(answer.contains("/rpc"), "{answer}");
    let (status, _) = text(fixture.send(post("/health").body(Body::empty()).unwrap()).await).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
}
