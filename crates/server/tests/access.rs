//! Every route, with every kind of credential, on both kinds of listener: who is admitted, and that a refusal needs no body.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use common::{Announced, DoorFixture, TOKEN, insert_instance, sign_in, text};
use serde_json::Value;
use tamis_server::Exposure;
use tamis_tools::Registry;
use tokio::time::Instant;
use tower::ServiceExt;

const IDENTITY: &str = "tai_work-7-a1";

/// What a route requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Requirement {
    /// On loopback nothing; from the network the token.
    Open,
    /// The same, or an identity.
    OpenOrIdentity,
    Identity,
    Token,
    /// The token, or the cookie of the page.
    TokenOrPage,
    /// All three.
    Any,
    /// Nothing, from anywhere.
    Public,
}

/// Every route, and paths that are none.
const ROUTES: &[(&str, &str, Requirement)] = &[
    ("GET", "/health", Requirement::Open),
    ("POST", "/prune", Requirement::Open),
    ("POST", "/rpc", Requirement::OpenOrIdentity),
    ("POST", "/mcp", Requirement::OpenOrIdentity),
    ("GET", "/mcp", Requirement::OpenOrIdentity),
    ("DELETE", "/mcp", Requirement::OpenOrIdentity),
    ("POST", "/api/call/request_review", Requirement::Identity),
    ("POST", "/api/call/send_feedback", Requirement::Identity),
    ("POST", "/api/call/create_pull_request", Requirement::Identity),
    ("POST", "/api/call/create_issues", Requirement::Identity),
    ("POST", "/api/call/bash", Requirement::Identity),
    ("GET", "/api/instances", Requirement::Any),
    ("POST", "/api/instances", Requirement::TokenOrPage),
    ("GET", "/api/instances/work-7-a1", Requirement::Any),
    ("POST", "/api/instances/work-7-a1/stop", Requirement::TokenOrPage),
    ("POST", "/api/instances/work-7-a1/abandon", Requirement::TokenOrPage),
    ("GET", "/api/events", Requirement::TokenOrPage),
    ("GET", "/api/feedback", Requirement::TokenOrPage),
    ("GET", "/api/config", Requirement::TokenOrPage),
    ("PUT", "/api/config/max_reviews", Requirement::TokenOrPage),
    ("POST", "/api/gc", Requirement::TokenOrPage),
    ("POST", "/api/reconcile", Requirement::TokenOrPage),
    ("POST", "/api/nowhere", Requirement::TokenOrPage),
    ("GET", "/metrics", Requirement::Token),
    ("GET", "/ws", Requirement::TokenOrPage),
    ("GET", "/", Requirement::Public),
    ("HEAD", "/", Requirement::Public),
    ("GET", "/sessions/0123", Requirement::Public),
    ("GET", "/page.js", Requirement::Public),
    ("POST", "/api/page/enter", Requirement::Public),
    ("POST", "/api/page/link", Requirement::Token),
    ("POST", "/api/page/leave", Requirement::TokenOrPage),
    ("GET", "/api/page/status", Requirement::TokenOrPage),
    ("GET", "/api/page/nowhere", Requirement::TokenOrPage),
    ("GET", "/nowhere", Requirement::Open),
    ("POST", "/nowhere", Requirement::Open),
    ("POST", "/mcpx", Requirement::Open),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Credential {
    None,
    WrongToken,
    UnknownIdentity,
    /// Of an instance that this server does not know, in the form that tamis makes.
    ForeignIdentity,
    Identity,
    Token,
    /// The token, but not in the header that counts.
    Cookie,
    /// A browser that is signed in, from our own page.
    Page,
    /// The same from a page of another port of this machine.
    OtherPage,
}

const CREDENTIALS: [Credential; 9] = [
    Credential::None,
    Credential::WrongToken,
    Credential::UnknownIdentity,
    Credential::ForeignIdentity,
    Credential::Identity,
    Credential::Token,
    Credential::Cookie,
    Credential::Page,
    Credential::OtherPage,
];

fn is_admitted(requirement: Requirement, credential: Credential, exposure: Exposure) -> bool {
    let open = exposure == Exposure::Loopback;
    match (credential, requirement) {
        (Credential::WrongToken | Credential::UnknownIdentity | Credential::ForeignIdentity, _) => false,
        (_, Requirement::Public) => true,
        (Credential::Token, requirement) => requirement != Requirement::Identity,
        (Credential::Identity, Requirement::Identity | Requirement::OpenOrIdentity | Requirement::Any) => {
            true
        }
        (Credential::Page, Requirement::TokenOrPage | Requirement::Any) => true,
        (_, Requirement::Open) => open,
        (
            Credential::None | Credential::Cookie | Credential::Page | Credential::OtherPage,
            Requirement::OpenOrIdentity,
        ) => open,
        (_, Requirement::Token | Requirement::TokenOrPage | Requirement::Identity | Requirement::Any) => {
            false
        }
    }
}

fn request(method: &str, path: &str, credential: Credential, page: &str, body: Body) -> Request<Body> {
    let foreign = format!("tai_{}", "0123456789abcdef".repeat(3));
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "127.0.0.1:3001")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    let bearer = match credential {
        Credential::None => None,
        Credential::WrongToken => Some("wrong-but-long-enough"),
        Credential::UnknownIdentity => Some("tai_x"),
        Credential::ForeignIdentity => Some(foreign.as_str()),
        Credential::Identity => Some(IDENTITY),
        Credential::Token => Some(TOKEN),
        Credential::Cookie => {
            request = request.header("cookie", format!("token={TOKEN}; tamis={TOKEN}"));
            None
        }
        Credential::Page | Credential::OtherPage => {
            let site = if credential == Credential::Page { "same-origin" } else { "same-site" };
            request = request
                .header("cookie", page)
                .header("origin", "http://127.0.0.1:3001")
                .header("sec-fetch-site", site);
            None
        }
    };
    if let Some(bearer) = bearer {
        request = request.header("authorization", format!("Bearer {bearer}"));
    }
    request.body(body).unwrap()
}

#[tokio::test(start_paused = true)]
async fn every_route_judges_every_credential_before_it_reads_a_body() {
    let fixture = DoorFixture::new(Registry::all());
    insert_instance(&fixture.tables(), "work-7-a1", "STARTED", "a task");
    let door = fixture.door();
    let page = sign_in(&door).await;
    let mut wrong = Vec::new();
    for exposure in [Exposure::Loopback, Exposure::Network] {
        for (method, path, requirement) in ROUTES {
            for credential in CREDENTIALS {
                let case = format!("{exposure:?} {method} {path} {credential:?}");
                let admitted = is_admitted(*requirement, credential, exposure);
                // One that is admitted has a body, so that it is answered.
                let body = if admitted { Body::from("{}") } else { Body::new(Announced) };
                let begun = Instant::now();
                let request = request(method, path, credential, &page, body);
                let answer = door.router(exposure).oneshot(request).await.unwrap();
                let waited = begun.elapsed();
                let (status, body) = text(answer).await;
                let refused = status == StatusCode::UNAUTHORIZED;
                if refused == admitted || (refused && !waited.is_zero()) {
                    wrong.push(format!("{case}: {status} after {waited:?}: {body:.90}"));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0], "{} of {}", wrong.len(), ROUTES.len() * CREDENTIALS.len() * 2);
}

#[tokio::test]
async fn an_unknown_identity_is_refused_in_the_form_of_the_agents_contract() {
    let fixture = DoorFixture::new(Registry::all());
    let request =
        request("POST", "/api/call/create_issues", Credential::UnknownIdentity, "", Body::from("{}"));
    let (status, body) = text(fixture.send(request).await).await;
    let error: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &error["code"]), (StatusCode::UNAUTHORIZED, &"IDENTITY_REQUIRED".into()), "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_pauses_is_refused() {
    let fixture = DoorFixture::new(Registry::all());
    for (method, path) in [("POST", "/rpc"), ("POST", "/mcp"), ("POST", "/prune"), ("POST", "/api/gc")] {
        let begun = Instant::now();
        let answer = fixture.send(request(method, path, Credential::Token, "", Body::new(Announced))).await;
        assert_eq!(answer.status(), StatusCode::REQUEST_TIMEOUT, "{path}");
        assert_eq!(begun.elapsed().as_secs(), 10, "{path}");
    }
}
