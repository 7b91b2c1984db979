//! Clients that hold connections, memory and places: the others are served meanwhile. Every hostile connection is held open
//! until the honest ones are answered, and a wait for the hostile ones would show as an answer to them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;
#[path = "common/socket.rs"]
mod socket;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use common::{DoorFixture, RELEASED, TOKEN, WAITING, probing, within};
use serde_json::{Value, json};
use socket::Socket;
use tamis_tools::Registry;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_util::sync::CancellationToken;

/// The fixture's limit of a body.
const MAX_BODY: usize = 4 << 20;

struct Running {
    address: SocketAddr,
    _fixture: DoorFixture,
    _shutdown: tokio_util::sync::DropGuard,
}

async fn run(fixture: DoorFixture) -> Running {
    let bound = tamis_server::bind("127.0.0.1", 0).await.unwrap();
    let (address, door, shutdown) = (bound.address, fixture.door(), CancellationToken::new());
    let token = shutdown.clone();
    tokio::spawn(async move { tamis_server::serve(&door, vec![bound], token).await });
    Running { address, _fixture: fixture, _shutdown: shutdown.drop_guard() }
}

fn server() -> impl Future<Output = Running> {
    run(DoorFixture::new(Registry::all()))
}

/// The head of a request with a body of that many bytes.
fn head(path: &str, length: usize, more: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n"
    )
}

fn post(path: &str, body: &str, more: &str) -> String {
    head(path, body.len(), more) + body
}

fn bearer() -> String {
    format!("Authorization: Bearer {TOKEN}\r\n")
}

/// A call of a tool over `/rpc`.
fn call(name: &str, arguments: &Value, more: &str) -> String {
    let params = json!({"name": name, "arguments": arguments});
    post(
        "/rpc",
        &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string(),
        more,
    )
}

fn prune_arguments(text: &str) -> Value {
    json!({"text": text, "goal_hint": "x", "source_type": "docs", "options": {
        "max_prune_ratio": 1.0, "min_keep_lines": 0, "timeout_ms": 600_000, "annotate_lines": false, "include_markers": true}})
}

async fn connect(running: &Running) -> TcpStream {
    TcpStream::connect(running.address).await.unwrap()
}

async fn sent(running: &Running, bytes: &[u8]) -> TcpStream {
    let mut stream = connect(running).await;
    stream.write_all(bytes).await.unwrap();
    stream
}

/// One answer: its status, and its body.
async fn answer(stream: &mut TcpStream) -> (u16, String) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await.unwrap();
    (head[9..12].parse().unwrap(), String::from_utf8_lossy(&body).into_owned())
}

async fn status_of(running: &Running, request: &str) -> u16 {
    let mut stream = sent(running, request.as_bytes()).await;
    within(&format!("the answer to {request:.60}"), answer(&mut stream)).await.0
}

/// What honest clients do, with and without the token: all of it is answered.
async fn assert_served(running: &Running) {
    let padding = "x".repeat(1 << 20);
    let large = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":"{padding}"}}}}"#);
    let health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned();
    for (what, request) in [
        ("/health", health),
        ("a prune", call("prune_text", &prune_arguments("a\nb"), "")),
        ("a prune with the token", call("prune_text", &prune_arguments("a\nb"), &bearer())),
        ("a large request with the token", post("/rpc", &large, &bearer())),
        ("a large request", post("/rpc", &large, "")),
    ] {
        assert_eq!(status_of(running, &request).await, 200, "{what}");
    }
}

/// The same, while these connections are held: `newest` of them, or more, are neither answered nor dropped before.
async fn assert_served_while_held(running: &Running, held: &[TcpStream], newest: usize) {
    let begun = Instant::now();
    assert_served(running).await;
    let untouched = untouched(held);
    // On a machine that is slower than the server's time limits, nothing can be concluded.
    if begun.elapsed() < Duration::from_secs(5) {
        assert!(untouched >= newest, "{untouched} of {} are still held", held.len());
    }
}

/// How many of these connections the server has neither answered nor dropped.
fn untouched(held: &[TcpStream]) -> usize {
    let is_untouched = |stream: &&TcpStream| match stream.try_read(&mut [0]) {
        Err(error) => error.kind() == ErrorKind::WouldBlock,
        Ok(_) => false,
    };
    held.iter().filter(is_untouched).count()
}

/// Waits until the server has dropped that many of these connections.
async fn dropped(held: &mut [TcpStream], count: usize) {
    let mut seen = 0;
    for stream in held {
        if seen == count {
            return;
        }
        within("the end of a connection", async {
            // What it may have answered before is of no interest.
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
        })
        .await;
        seen += 1;
    }
    assert_eq!(seen, count);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_announced_and_never_come_take_no_memory() {
    let running = server().await;
    let mut held = Vec::new();
    for _ in 0..100 {
        held.push(sent(&running, head("/rpc", MAX_BODY, "").as_bytes()).await);
        held.push(
            sent(&running, b"POST /prune HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
                .await,
        );
    }
    assert_served_while_held(&running, &held, held.len()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_stop_half_way_are_dropped_for_those_that_go_on() {
    let running = server().await;
    let mut held = Vec::new();
    let most = vec![b' '; MAX_BODY - 1];
    for _ in 0..24 {
        let mut stream = sent(&running, head("/rpc", MAX_BODY, "").as_bytes()).await;
        // It may be dropped before everything is sent.
        let _ = stream.write_all(&most).await;
        held.push(stream);
    }
    // Those that came first have waited longest. At most four bodies of the largest size are kept.
    assert_served_while_held(&running, &held, 1).await;
    dropped(&mut held, 20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_are_dropped_for_new_ones() {
    for beginning in ["", "GET /health HTTP/1.1\r\n", "GET /health HTTP/1.1\r\nHost: localhost\r\nX: "] {
        let running = server().await;
        let request = call("prune_text", &prune_arguments("a\nb"), &bearer());
        let mut kept = sent(&running, request.as_bytes()).await;
        assert_eq!(answer(&mut kept).await.0, 200);
        let mut held = Vec::new();
        for _ in 0..900 {
            held.push(sent(&running, beginning.as_bytes()).await);
        }
        assert_served_while_held(&running, &held, 512).await;
        dropped(&mut held, 200).await;
        // One that has shown the token keeps its place.
        kept.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(within("the answer", answer(&mut kept)).await.0, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_not_read_are_dropped_for_others() {
    let running = server().await;
    let text: String = (0..200).map(|line| format!("{line} {}\n", "x".repeat(10_000))).collect();
    let mut stream = sent(&running, call("prune_text", &prune_arguments(&text), &bearer()).as_bytes()).await;
    let (_, pruned) = within("the prune", answer(&mut stream)).await;
    let pruned: Value = serde_json::from_str(&pruned).unwrap();
    let pruned: Value =
        serde_json::from_str(pruned["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    let ranges = [json!({"start_line": 1, "end_line": 1_000_000})];
    let arguments = json!({"prune_id": pruned["prune_id"], "ranges": ranges, "include_line_numbers": false});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "recover_text", "arguments": arguments}});
    // About ten megabytes, more than the system keeps for a connection.
    let batch = post("/rpc", &json!(vec![message; 5]).to_string(), "Connection: close\r\n");
    let mut held = Vec::new();
    for _ in 0..12 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut stream = socket.connect(running.address).await.unwrap();
        stream.write_all(batch.as_bytes()).await.unwrap();
        // Its answer has begun, so that the next is later.
        within("the answer", stream.readable()).await.unwrap();
        held.push(stream);
    }
    assert_served(&running).await;
    let mut whole = 0;
    for stream in &mut held {
        let mut rest = Vec::new();
        // One that was dropped ends early.
        let _ = within("the end", stream.read_to_end(&mut rest)).await;
        whole += usize::from(rest.ends_with(b"]"));
    }
    assert!((1..=3).contains(&whole), "{whole} of {} were kept, of which the last is one", held.len());
}

/// Only one test may use the probe's signals.
#[tokio::test(flavor = "multi_thread")]
async fn running_calls_without_the_token_leave_places_for_holders_of_it() {
    let running = run(probing()).await;
    let holding = call("probe", &json!({"hold": true}), "");
    let mut held = Vec::new();
    let mut refused = 0;
    for _ in 0..400 {
        let mut stream = sent(&running, holding.as_bytes()).await;
        let begun = tokio::select! {
            begun = WAITING.acquire() => { begun.unwrap().forget(); true }
            (status, _) = answer(&mut stream) => { assert_eq!(status, 503); false }
        };
        if begun { held.push(stream) } else { refused += 1 }
    }
    assert!(refused > 0 && held.len() >= 256, "{} held, {refused} refused", held.len());
    let quick = |more: &str| call("probe", &json!({}), more);
    assert_eq!(status_of(&running, &quick(&bearer())).await, 200, "with the token");
    assert_eq!(status_of(&running, &quick("")).await, 503, "without, at once instead of later");
    assert_eq!(untouched(&held), held.len());
    RELEASED.add_permits(held.len());
    for stream in &mut held {
        assert_eq!(within("the answer", answer(stream)).await.0, 200);
    }
    assert_eq!(status_of(&running, &quick("")).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_expects_to_continue_is_told_so_only_when_it_is_admitted() {
    let running = server().await;
    let expect = "Expect: 100-continue\r\n";
    let mut admitted = sent(&running, head("/rpc", 2, expect).as_bytes()).await;
    assert_eq!(within("the interim answer", answer(&mut admitted)).await.0, 100);
    admitted.write_all(b"{}").await.unwrap();
    assert_eq!(within("the answer", answer(&mut admitted)).await.0, 200);
    for path in ["/api/instances", "/rpc"] {
        let wrong = head(path, MAX_BODY, &format!("{expect}Authorization: Bearer wrong\r\n"));
        assert_eq!(status_of(&running, &wrong).await, 401, "{path}");
    }
    assert_eq!(status_of(&running, &head("/api/gc", MAX_BODY, expect)).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_client_may_send_its_body_before_it_reads_the_answer() {
    let running = server().await;
    let mut stream = sent(&running, head("/api/instances", 3 * MAX_BODY, "").as_bytes()).await;
    assert_eq!(within("the answer", answer(&mut stream)).await.0, 401);
    stream.write_all(&vec![b' '; 3 * MAX_BODY]).await.unwrap();
    within("the end", stream.read_to_end(&mut Vec::new())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunked_body_without_end_is_ended() {
    let running = server().await;
    let head = b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut stream = sent(&running, head).await;
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    within("the end of the connection", async { while stream.write_all(chunk.as_bytes()).await.is_ok() {} })
        .await;
    assert_served(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn huge_heads_are_refused() {
    let running = server().await;
    let long = format!("GET /health HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let many = format!("GET /health HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "x: y\r\n".repeat(200));
    for request in [long, many, format!("GET /{} HTTP/1.1\r\n", "x".repeat(1 << 20))] {
        let mut stream = connect(&running).await;
        // It may be refused before everything is sent.
        let _ = stream.write_all(request.as_bytes()).await;
        let mut said = Vec::new();
        let _ = within("the refusal", stream.read_to_end(&mut said)).await;
        let said = String::from_utf8_lossy(&said);
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{said:.60}");
    }
    assert_served(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_requests_are_answered_in_order_beside_others() {
    let running = server().await;
    let requests: String = (0..500)
        .map(|id| post("/rpc", &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), ""))
        .collect();
    let mut stream = sent(&running, requests.as_bytes()).await;
    assert_served(&running).await;
    for id in 0..500 {
        let (status, body) = within("the answer", answer(&mut stream)).await;
        assert_eq!((status, body), (200, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_no_http_2() {
    let running = server().await;
    let mut preface = sent(&running, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await;
    let mut said = Vec::new();
    let _ = within("the refusal", preface.read_to_end(&mut said)).await;
    assert!(said.is_empty() || said.starts_with(b"HTTP/1.1 4"), "{said:?}");
    let upgrade = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\
        HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n";
    assert_eq!(status_of(&running, upgrade).await, 200, "ignored, as the protocol allows");
    assert_served(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn followers_of_events_are_limited_and_take_no_places_of_others() {
    let running = server().await;
    let bearer = format!("Bearer {TOKEN}");
    let mut sockets = Vec::new();
    for _ in 0..64 {
        sockets.push(Socket::open(running.address, "/ws", &[("authorization", &bearer)]).await.unwrap());
    }
    let refused = Socket::open(running.address, "/ws", &[("authorization", &bearer)]).await;
    assert_eq!(refused.err().unwrap().0, 503);
    assert_served(&running).await;
    for socket in &mut sockets {
        assert_eq!(within("the hello", socket.json()).await["type"], "hello");
    }
}
