//! The dashboard's door: how a browser gets in, what its cookie opens, and the headers that protect the page.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use axum::body::Body;
use axum::http::{HeaderMap, Request, Response, StatusCode};
use common::{DoorFixture, TOKEN, sign_in, text};
use serde_json::{Value, json};
use tamis_server::{Exposure, HttpDoor};
use tamis_tools::Registry;
use tower::ServiceExt;

const HOST: (&str, &str) = ("host", "127.0.0.1:3001");
const ORIGIN: (&str, &str) = ("origin", "http://127.0.0.1:3001");

async fn send(
    door: &HttpDoor,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response<Body> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(body.to_owned())).unwrap();
    door.router(Exposure::Loopback).oneshot(request).await.unwrap()
}

async fn enter(door: &HttpDoor, code: &str) -> (StatusCode, HeaderMap, Value) {
    let body = json!({"code": code}).to_string();
    let answer = send(door, "POST", "/api/page/enter", &[HOST, ORIGIN], &body).await;
    let headers = answer.headers().clone();
    let (status, body) = text(answer).await;
    (status, headers, serde_json::from_str(&body).unwrap_or_default())
}

#[tokio::test]
async fn a_link_signs_one_browser_in_once() {
    let door = DoorFixture::new(Registry::all()).door();
    let bearer = format!("Bearer {TOKEN}");
    let answer = send(&door, "POST", "/api/page/link", &[HOST, ("authorization", &bearer)], "{}").await;
    let (status, body) = text(answer).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let code = serde_json::from_str::<Value>(&body).unwrap()["code"].as_str().unwrap().to_owned();
    let (status, headers, _) = enter(&door, &code).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let cookie = headers["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("tamis_page_3001="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(TOKEN) && !cookie.contains(&code), "{cookie}");
    let (status, headers, body) = enter(&door, &code).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::UNAUTHORIZED, &json!("link_used")));
    assert!(!headers.contains_key("set-cookie"));
    let (status, _, body) = enter(&door, "0123456789abcdef0123456789abcdef").await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::UNAUTHORIZED, &json!("link_unknown")));
    for invalid in ["", "{}", "[]", r#"{"code":1}"#, r#"{"code":"a","more":1}"#] {
        let answer = send(&door, "POST", "/api/page/enter", &[HOST, ORIGIN], invalid).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{invalid}");
    }
}

/// Forged requests that a browser of a signed-in user may be made to send, and programs that guess.
#[tokio::test]
async fn requests_that_are_not_the_pages_own_are_refused() {
    let door = DoorFixture::new(Registry::all()).door();
    let page = sign_in(&door).await;
    let cookie = ("cookie", page.as_str());
    let upgrade = ("upgrade", "websocket");
    type Case<'a> = (&'a str, &'a str, Vec<(&'a str, &'a str)>, StatusCode);
    let read = "/api/page/status";
    let cases: Vec<Case<'_>> = vec![
        ("GET", read, vec![HOST, cookie], StatusCode::OK),
        ("GET", read, vec![HOST, cookie, ORIGIN, ("sec-fetch-site", "same-origin")], StatusCode::OK),
        // A name that was rebound to this machine, with and without its own Origin.
        ("GET", read, vec![("host", "rebound.example:3001"), cookie], StatusCode::FORBIDDEN),
        (
            "GET",
            read,
            vec![("host", "rebound.example:3001"), ("origin", "http://rebound.example:3001"), cookie],
            StatusCode::FORBIDDEN,
        ),
        ("GET", "/", vec![("host", "rebound.example:3001")], StatusCode::FORBIDDEN),
        ("GET", read, vec![HOST, HOST, cookie], StatusCode::FORBIDDEN),
        ("GET", read, vec![cookie], StatusCode::FORBIDDEN),
        // Pages of other origins, one of them on this machine.
        ("GET", read, vec![HOST, cookie, ("origin", "http://evil.example")], StatusCode::FORBIDDEN),
        ("GET", read, vec![HOST, cookie, ("origin", "null")], StatusCode::FORBIDDEN),
        ("GET", read, vec![HOST, cookie, ("origin", "http://127.0.0.1:5173")], StatusCode::FORBIDDEN),
        ("GET", read, vec![HOST, cookie, ("sec-fetch-site", "same-site")], StatusCode::UNAUTHORIZED),
        ("GET", read, vec![HOST, cookie, ("sec-fetch-site", "cross-site")], StatusCode::UNAUTHORIZED),
        ("POST", "/api/gc", vec![HOST, cookie], StatusCode::UNAUTHORIZED),
        ("POST", "/api/page/leave", vec![HOST, cookie], StatusCode::UNAUTHORIZED),
        ("POST", "/api/page/leave", vec![HOST, cookie, ORIGIN], StatusCode::NO_CONTENT),
        ("GET", "/ws", vec![HOST, cookie, upgrade], StatusCode::UNAUTHORIZED),
        ("GET", "/ws", vec![HOST, cookie, upgrade, ("origin", "http://evil.example")], StatusCode::FORBIDDEN),
        ("GET", "/ws", vec![HOST, upgrade, ORIGIN], StatusCode::UNAUTHORIZED),
        ("GET", "/api/page/live", vec![HOST, cookie, upgrade], StatusCode::UNAUTHORIZED),
        ("GET", "/api/page/live", vec![HOST, cookie, upgrade, ("origin", "null")], StatusCode::FORBIDDEN),
        ("GET", "/api/page/live", vec![cookie, upgrade, ORIGIN], StatusCode::FORBIDDEN),
        ("GET", "/api/page/live", vec![HOST, upgrade, ORIGIN], StatusCode::UNAUTHORIZED),
        // The cookie opens what the page needs, and no tools.
        ("GET", "/metrics", vec![HOST, cookie, ORIGIN], StatusCode::UNAUTHORIZED),
        ("POST", "/api/page/link", vec![HOST, cookie, ORIGIN], StatusCode::UNAUTHORIZED),
        ("POST", "/api/call/create_issues", vec![HOST, cookie, ORIGIN], StatusCode::UNAUTHORIZED),
        // The cookie of a server on another port, and one that was changed.
        ("GET", read, vec![("host", "127.0.0.1:3002"), cookie], StatusCode::UNAUTHORIZED),
        ("GET", read, vec![HOST, ("cookie", &page[..page.len() - 1])], StatusCode::UNAUTHORIZED),
        ("GET", read, vec![HOST], StatusCode::UNAUTHORIZED),
    ];
    for (method, path, headers, status) in cases {
        let answer = send(&door, method, path, &headers, "{}").await;
        assert_eq!(answer.status(), status, "{method} {path} {headers:?}");
    }
}

#[tokio::test]
async fn the_page_may_run_and_reach_nothing_but_itself() {
    let door = DoorFixture::new(Registry::all()).door();
    for path in
        ["/", "/sessions/abc", "/page.js", "/page.css", "/favicon.svg", "/api/page/status", "/api/page/no"]
    {
        let answer = send(&door, "GET", path, &[HOST], "").await;
        let is_file = !path.starts_with("/api");
        assert_eq!(answer.status().is_success(), is_file, "{path}");
        let headers = answer.headers();
        if is_file {
            let policy = headers["content-security-policy"].to_str().unwrap();
            assert!(
                policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"),
                "{policy}"
            );
            assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
            for (name, value) in [
                ("x-content-type-options", "nosniff"),
                ("x-frame-options", "DENY"),
                ("referrer-policy", "no-referrer"),
                ("cross-origin-opener-policy", "same-origin"),
                ("cross-origin-resource-policy", "same-origin"),
                ("cache-control", "no-cache"),
            ] {
                assert_eq!(headers[name], value, "{path} {name}");
            }
            let tag = headers["etag"].to_str().unwrap();
            let again = send(&door, "GET", path, &[HOST, ("if-none-match", tag)], "").await;
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{path}");
        }
    }
    let answer = send(&door, "POST", "/sessions", &[HOST, ORIGIN], "{}").await;
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn answers_with_data_are_not_kept_by_browsers() {
    let door = DoorFixture::new(Registry::all()).door();
    let page = sign_in(&door).await;
    let answer = send(&door, "GET", "/api/page/status", &[HOST, ("cookie", &page)], "").await;
    assert_eq!(answer.headers()["cache-control"], "no-store");
    let (status, body) = text(answer).await;
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &body["version"]), (StatusCode::OK, &json!("0.0.0")));
}
