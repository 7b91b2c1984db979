//! The fake GitHub reports malformed requests.

use std::io::{Read, Write};
use std::process::Command;

use serde_json::json;

use super::*;

const PULLS: &str = "/api/v3/repos/octo-org/tool/pulls";

/// Sends a valid request whose head `spoil` may change, and returns the status.
fn ask(github: &FakeGithub, method: &str, path: &str, body: &Value, spoil: impl Fn(String) -> String) -> u16 {
    let address = github.listening.address;
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let of_body = match body.len() {
        0 => String::new(),
        length => format!("content-type: application/json\r\ncontent-length: {length}\r\n"),
    };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\naccept: application/vnd.github+json\r\n\
         user-agent: tamis/1\r\nx-github-api-version: 2022-11-28\r\n\
         authorization: Bearer {}\r\n{of_body}\r\n",
        FakeRepository::default().token
    );
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all((spoil(head) + &body).as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status")
}

fn pull(head: &str) -> Value {
    json!({"title": "t", "head": head, "base": "main", "body": ""})
}

/// Takes the complaints, so that they do not fail the test.
fn complaints(github: &FakeGithub) -> Vec<String> {
    std::mem::take(&mut github.shared.state.lock().complaints)
}

#[test]
fn well_formed_requests_are_answered() {
    let github = FakeGithub::start(FakeRepository::default());
    let plain = |head: String| head;
    assert_eq!(ask(&github, "POST", PULLS, &pull("a"), plain), 201);
    assert_eq!(ask(&github, "POST", PULLS, &pull("a"), plain), 422);
    assert_eq!(ask(&github, "GET", &format!("{PULLS}?head=octo-org%3Aa"), &Value::Null, plain), 200);
    assert_eq!(ask(&github, "GET", &format!("{PULLS}/1"), &Value::Null, plain), 200);
    assert_eq!(ask(&github, "GET", &format!("{PULLS}/2"), &Value::Null, plain), 404);
    assert_eq!(ask(&github, "GET", "/api/v3/repos/octo-org/other", &Value::Null, plain), 404);
    let title = json!({"title": " ", "head": "b", "base": "main", "body": "x".repeat(70_000)});
    assert_eq!(ask(&github, "POST", PULLS, &title, plain), 422);
    assert_eq!(ask(&github, "GET", PULLS, &Value::Null, |head| head.replace("ghp_", "gho_")), 401);
    assert_eq!(github.requests().len(), 8);
}

#[test]
fn malformed_requests_are_reported() {
    let github = FakeGithub::start(FakeRepository::default());
    let swap = |from: &'static str, to: &'static str| move |head: String| head.replace(from, to);
    let plain = swap("", "");
    let token = FakeRepository::default().token;
    let fields = |with: Value| {
        let mut body = pull("a");
        body.as_object_mut().expect("an object").extend(with.as_object().expect("an object").clone());
        body
    };
    ask(&github, "GET", PULLS, &Value::Null, swap("accept:", "x-accept:"));
    ask(&github, "GET", PULLS, &Value::Null, swap("2022-11-28", "2021-01-01"));
    ask(&github, "GET", PULLS, &Value::Null, swap("Bearer", "token"));
    ask(&github, "GET", PULLS, &Value::Null, swap("tamis/1", "curl"));
    ask(&github, "GET", PULLS, &Value::Null, swap("host: 127", "host: 128"));
    ask(&github, "POST", PULLS, &pull("a"), swap("application/json", "text/plain"));
    ask(&github, "PUT", PULLS, &pull("a"), plain);
    ask(&github, "GET", "/user", &Value::Null, plain);
    ask(&github, "GET", &format!("{PULLS}?page=1"), &Value::Null, plain);
    ask(&github, "POST", PULLS, &fields(json!({"title": 1})), plain);
    ask(&github, "POST", PULLS, &fields(json!({"draft": true})), plain);
    ask(&github, "POST", PULLS, &fields(json!({"body": format!("see {token}")})), plain);
    ask(&github, "POST", PULLS, &json!([]), plain);
    let found = complaints(&github);
    for words in [
        "the header accept is []",
        "the header x-github-api-version is [\"2021-01-01\"]",
        "the header authorization is",
        "the header user-agent is [\"curl\"]",
        "the header host is [\"128",
        "the header content-type is [\"text/plain\"]",
        "PUT /api/v3/repos/octo-org/tool/pulls: nothing is there",
        "GET /user: not a path of the API",
        "the parameter page is unknown",
        "the field title is not as it must be",
        "the field draft is unknown",
        "the token is where it does not belong",
        "the body is not of this kind of request",
        "the header x-accept is unknown",
    ] {
        assert!(found.iter().any(|complaint| complaint.contains(words)), "{words}: {found:#?}");
    }
    assert_eq!(found.len(), 14, "{found:#?}");
}

#[test]
fn a_malformed_request_fails_the_test() {
    let github = FakeGithub::start(FakeRepository::default());
    ask(&github, "GET", "/user", &Value::Null, |head| head);
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(github)));
    assert!(dropped.is_err());
}

#[test]
fn a_pull_request_needs_two_branches_that_differ() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = "git init -q --bare . && tree=$(git mktree </dev/null) \
        && first=$(git commit-tree -m 1 $tree) && second=$(git commit-tree -m 2 -p $first $tree) \
        && git update-ref refs/heads/main $first && git update-ref refs/heads/same $first \
        && git update-ref refs/heads/ahead $second";
    let mut shell = Command::new("sh");
    for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
        shell.env(name, "a@b.invalid");
    }
    assert!(shell.args(["-c", script]).current_dir(folder.path()).status().expect("a shell").success());
    let git = Some(folder.path().to_owned());
    let github = FakeGithub::start(FakeRepository { git, ..FakeRepository::default() });
    for (head, status) in [("missing", 422), ("same", 422), ("ahead", 201), ("octo-org:ahead", 422)] {
        assert_eq!(ask(&github, "POST", PULLS, &pull(head), |head| head), status, "{head}");
    }
    assert_eq!(github.pull_requests().len(), 1);
}
