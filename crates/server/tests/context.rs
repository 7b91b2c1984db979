//! Progress, cancellation and the caller's name reach the handler from each door.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::sync::mpsc;
use std::time::Duration;

use common::{CANCELLED, RELEASED, WAITING, post, probing, text, within};
use serde_json::{Value, json};
use tamis_server::serve_stdio;
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

/// The tests here wait for the same signals, so they run one after another.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// An MCP client over pipes.
struct Client {
    to: PipeWriter,
    from: mpsc::Receiver<Value>,
    shutdown: CancellationToken,
    served: tokio::task::JoinHandle<()>,
}

impl Client {
    fn start(fixture: &common::DoorFixture) -> Client {
        let (their_input, to) = std::io::pipe().unwrap();
        let (from, their_output): (PipeReader, PipeWriter) = std::io::pipe().unwrap();
        let served = fixture.served.clone();
        let shutdown = CancellationToken::new();
        let end = shutdown.clone();
        let served = tokio::spawn(async move {
            serve_stdio(served, Some("/the/project".into()), their_input, their_output, end).await.unwrap();
        });
        let (lines, received) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(from).lines() {
                if lines.send(serde_json::from_str(&line.unwrap()).unwrap()).is_err() {
                    break;
                }
            }
        });
        Client { to, from: received, shutdown, served }
    }

    fn send(&mut self, message: Value) {
        writeln!(self.to, "{message}").unwrap();
    }

    fn receive(&self) -> Value {
        self.from.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    fn handshake(&mut self) {
        self.send(json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "probe-client", "version": "9"}}
        }));
        let answer = self.receive();
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
        assert_eq!(answer["result"]["serverInfo"]["name"], "tamis");
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    fn call(&mut self, id: u32, wait: bool) {
        self.send(json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "probe", "arguments": {"wait": wait}, "_meta": {"progressToken": "p"}}
        }));
    }

    /// Closes the input, waits until the server has ended, and returns the rest of its output.
    async fn leave(self) -> Vec<Value> {
        drop(self.to);
        within("the end of the session", self.served).await.unwrap();
        self.from.into_iter().collect()
    }
}

fn output(answer: &Value) -> Value {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    serde_json::from_str(text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn stdio_carries_caller_progress_and_cancellation() {
    let _turn = TURN.lock().await;
    let fixture = probing();
    let mut client = Client::start(&fixture);
    client.handshake();
    client.call(1, false);
    for done in [1.0, 2.0] {
        let update = client.receive();
        assert_eq!(update["method"], "notifications/progress");
        assert_eq!(
            update["params"],
            json!({"progressToken": "p", "progress": done, "total": 2.0, "message": format!("step {done}")})
        );
    }
    assert_eq!(
        output(&client.receive()),
        json!({"tool": "probe", "door": "stdio", "client": "probe-client/9", "project": "/the/project"})
    );

    client.call(2, true);
    let _ = (client.receive(), client.receive());
    within("the call", WAITING.acquire()).await.unwrap().forget();
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}));
    within("the cancellation", CANCELLED.acquire()).await.unwrap().forget();
    client.send(json!({"jsonrpc": "2.0", "id": 3, "method": "ping"}));
    let rest = client.leave().await;
    assert_eq!(rest, [json!({"jsonrpc": "2.0", "id": 3, "result": {}})], "no answer to a cancelled call");
}

#[tokio::test(flavor = "multi_thread")]
async fn stdio_answers_every_line() {
    let fixture = probing();
    let mut client = Client::start(&fixture);
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}));
    assert_eq!(client.receive()["error"]["code"], -32602);
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(client.receive()["error"]["code"], -32602);
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.handshake();
    for (line, id, code) in [
        ("nonsense", json!(null), -32700),
        ("[]", json!(null), -32600),
        (r#"{"jsonrpc":"2.0","id":4,"method":"nothing"}"#, json!(4), -32601),
        (r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{}}"#, json!(5), -32602),
        (r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"none"}}"#, json!(6), -32602),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"probe","arguments":3}}"#,
            json!(7),
            -32602,
        ),
    ] {
        writeln!(client.to, "{line}").unwrap();
        let answer = client.receive();
        assert_eq!(
            (answer.get("id"), &answer["error"]["code"]),
            (Some(&id), &json!(code)),
            "{line} got {answer}"
        );
    }
    writeln!(client.to, "{{\"pad\":\"{}\"}}", "x".repeat(17 << 20)).unwrap();
    assert_eq!(client.receive()["error"]["code"], -32600, "a line over 16 MiB");
    writeln!(client.to).unwrap();
    client.send(json!({"jsonrpc": "2.0", "id": "last", "method": "ping"}));
    assert_eq!(client.receive()["id"], "last");
    client.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn http_mcp_carries_caller_and_progress() {
    let fixture = probing();
    let call = |meta: Value| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "probe", "arguments": {}, "_meta": meta}})
            .to_string()
    };
    let (status, body) = fixture.post("/mcp", call(json!({}))).await;
    assert_eq!(status, 200, "{body}");
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        output(&answer),
        json!({"tool": "probe", "door": "mcp-http", "client": "probe-agent/7", "project": null}),
        "a client that does not name itself is known by its user agent"
    );

    let named = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "probe-client", "version": "9"},
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 5,
    });
    let request = post("/mcp")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "probe")
        .body(call(named).into())
        .unwrap();
    let (status, body) = text(fixture.send(request).await).await;
    assert_eq!(status, 200, "{body}");
    let events: Vec<Value> =
        body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
    let steps: Vec<_> = events.iter().filter_map(|event| event["params"]["message"].as_str()).collect();
    assert_eq!(steps, ["step 1", "step 2"], "{body}");
    assert_eq!(output(events.last().unwrap())["client"], "probe-client/9");
}

#[tokio::test(flavor = "multi_thread")]
async fn rpc_carries_the_caller() {
    let fixture = probing();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "probe"}});
    let answer = fixture.rpc(body.to_string()).await;
    assert_eq!(
        output(&answer),
        json!({"tool": "probe", "door": "rpc", "client": "probe-agent/7", "project": null})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_disconnects_cancels_its_call() {
    let _turn = TURN.lock().await;
    let fixture = probing();
    let (address, shutdown, server) = listening(&fixture).await;
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "probe", "arguments": {"wait": true}}
    })
    .to_string();
    for path in ["/rpc", "/mcp"] {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(request(path, address, &body).as_bytes()).await.unwrap();
        within("the call", WAITING.acquire()).await.unwrap().forget();
        drop(stream);
        within(&format!("the cancellation through {path}"), CANCELLED.acquire()).await.unwrap().forget();
    }
    shutdown.cancel();
    within("the end of the server", server).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn running_calls_are_answered_after_shutdown() {
    let _turn = TURN.lock().await;
    let fixture = probing();
    let arguments = json!({"hold": true});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "probe", "arguments": arguments}});

    let mut client = Client::start(&fixture);
    client.handshake();
    client.send(call.clone());
    within("the call", WAITING.acquire()).await.unwrap().forget();
    client.shutdown.cancel();
    RELEASED.add_permits(1);
    let answer = client.receive();
    assert_eq!((&answer["id"], output(&answer)["door"].as_str()), (&json!(7), Some("stdio")));
    within("the end of the session", client.served).await.unwrap();

    for path in ["/rpc", "/mcp"] {
        let (address, shutdown, server) = listening(&fixture).await;
        let request = request(path, address, &call.to_string());
        let answer = tokio::task::spawn_blocking(move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
            answer
        });
        within("the call", WAITING.acquire()).await.unwrap().forget();
        shutdown.cancel();
        RELEASED.add_permits(1);
        let answer = within("the answer", answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("probe-agent/7"), "{path} {answer}");
        within("the end of the server", server).await.unwrap();
    }
}

/// A listener in this process, a token that ends it, and its task.
async fn listening(
    fixture: &common::DoorFixture,
) -> (std::net::SocketAddr, CancellationToken, tokio::task::JoinHandle<()>) {
    let bound = tamis_server::bind("127.0.0.1", 0).await.unwrap();
    let address = bound.address;
    let settings = tamis_server::HttpSettings {
        max_body_bytes: 1 << 20,
        hosts: tamis_server::HostPolicy::default(),
        dashboard: None,
        token: None,
    };
    let shutdown = CancellationToken::new();
    let door = tamis_server::HttpDoor::new(fixture.served.clone(), settings);
    let end = shutdown.clone();
    let server = tokio::spawn(async move { tamis_server::serve(&door, vec![bound], end).await });
    (address, shutdown, server)
}

fn request(path: &str, address: std::net::SocketAddr, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         User-Agent: probe-agent/7\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
