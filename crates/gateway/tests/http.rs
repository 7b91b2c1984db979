//! A server over streamable HTTP behind a gateway.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use common::{PATIENCE, Running, call, log, pruning, start_before};
use serde_json::{Value, json};
use tamis_gateway::{GatewayServer, ServerConnection};

/// A request that the server got, and the connection to answer it on.
struct Request {
    /// Method and path.
    line: String,
    headers: Vec<(String, String)>,
    body: String,
    stream: TcpStream,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn id(&self) -> Value {
        serde_json::from_str::<Value>(&self.body).unwrap()["id"].clone()
    }

    fn answer(mut self, status: &str, headers: &str, body: &str) {
        let length = body.len();
        write!(
            self.stream,
            "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        )
        .unwrap();
    }

    /// Begins a stream of events.
    fn stream(mut self, events: &str) -> TcpStream {
        write!(
            self.stream,
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n{events}"
        )
        .unwrap();
        self.stream
    }
}

struct HttpServer {
    requests: Receiver<Request>,
    url: String,
}

impl HttpServer {
    fn start() -> HttpServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (send, requests) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let send = send.clone();
                std::thread::spawn(move || read(stream).map(|request| send.send(request)));
            }
        });
        HttpServer { requests, url }
    }

    /// The next request, which must be of this method and have this in its body.
    fn expect(&self, method: &str, part: &str) -> Request {
        let request = self.requests.recv_timeout(PATIENCE).expect("a request");
        assert!(request.line.starts_with(method), "{} {}", request.line, request.body);
        assert!(request.body.contains(part), "{}", request.body);
        request
    }
}

fn read(stream: TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Request { line, headers, body: String::from_utf8(body).unwrap(), stream })
}

fn start(server: &HttpServer) -> Running {
    let headers = vec![("Authorization".to_owned(), "Bearer t".to_owned())];
    let connection = ServerConnection::Url { url: server.url.parse().unwrap(), headers };
    start_before(vec![GatewayServer { name: "web".to_owned(), connection }], Vec::new(), pruning())
}

const JSON: &str = "Content-Type: application/json\r\n";

/// Makes the handshake. Returns the stream of what the server sends on its own.
fn handshake(server: &HttpServer, running: &mut Running) -> TcpStream {
    running
        .client
        .write(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#);
    let request = server.expect("POST", "initialize");
    assert_eq!(request.header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(request.header("authorization"), Some("Bearer t"));
    assert_eq!((request.header("mcp-session-id"), request.header("mcp-protocol-version")), (None, None));
    let body = "{\"jsonrpc\":\"2.0\",\r\n \"id\":0,\n\"result\":{\"protocolVersion\":\"2025-06-18\"}}";
    request.answer("200 OK", &format!("{JSON}Mcp-Session-Id: s-1\r\n"), body);
    assert_eq!(
        running.client.read(),
        r#"{"jsonrpc":"2.0",   "id":0, "result":{"protocolVersion":"2025-06-18"}}"#
    );
    running.client.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let request = server.expect("POST", "initialized");
    assert_eq!(request.header("mcp-session-id"), Some("s-1"));
    assert_eq!(request.header("mcp-protocol-version"), Some("2025-06-18"));
    assert_eq!(request.header("mcp-method"), None);
    request.answer("202 Accepted", "", "");
    let listening = server.expect("GET", "");
    assert_eq!(listening.header("mcp-session-id"), Some("s-1"));
    listening.stream(": hello\n\n")
}

#[test]
fn messages_come_as_json_as_events_and_in_the_server_s_own_stream() {
    let server = HttpServer::start();
    let mut running = start(&server);
    let mut own = handshake(&server, &mut running);
    own.write_all(b"data: {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"roots/list\"}\n\n").unwrap();
    assert_eq!(running.client.read(), r#"{"jsonrpc":"2.0","id":5,"method":"roots/list"}"#);
    running.client.write(r#"{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}"#);
    let response = server.expect("POST", "");
    assert_eq!(response.body, r#"{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}"#);
    response.answer("202 Accepted", "", "");

    running.client.write(call("1", "search", &json!({"query": "payment declined"})));
    let request = server.expect("POST", "tools/call");
    let result = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{}}}]}}}}"#,
        Value::from(log())
    );
    let progress =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1.0}}"#;
    drop(request.stream(&format!("event: message\ndata: {progress}\n\nevent: message\ndata: {result}\n\n")));
    assert_eq!(running.client.read(), progress);
    assert!(running.client.read().contains("[tamis cut "));

    running.client.close();
    let ended = server.expect("DELETE", "");
    assert_eq!(ended.header("mcp-session-id"), Some("s-1"));
    ended.answer("204 No Content", "", "");
    assert!(running.end().is_ok());
}

#[test]
fn a_stream_that_is_cut_goes_on_after_its_last_event() {
    let server = HttpServer::start();
    let mut running = start(&server);
    let _own = handshake(&server, &mut running);
    running.client.write(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
    drop(server.expect("POST", "").stream("retry: 10\nid: e-7\ndata:\n\n"));
    let again = server.expect("GET", "");
    assert_eq!(again.header("last-event-id"), Some("e-7"));
    drop(again.stream("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"));
    assert_eq!(running.client.read(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    // Without a number of an event there is no way to go on.
    running.client.write(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    drop(server.expect("POST", "").stream(": nothing\n\n"));
    let failed = running.client.read_json();
    assert_eq!((&failed["id"], &failed["error"]["code"]), (&json!(2), &json!(-32603)));
}

#[test]
fn failures_of_http_are_errors_of_one_request() {
    let server = HttpServer::start();
    let mut running = start(&server);
    let _own = handshake(&server, &mut running);
    for (status, body, expected) in [
        (
            "500 Oops",
            "<html>",
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the MCP server `web` answered with HTTP status 500"}}"#,
        ),
        (
            "200 OK",
            "",
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the MCP server `web` sent no answer"}}"#,
        ),
        (
            "400 Bad Request",
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"own"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"own"}}"#,
        ),
    ] {
        running.client.write(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        server.expect("POST", "ping").answer(status, JSON, body);
        assert_eq!(running.client.read(), expected);
    }
    running.client.write(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    server.expect("POST", "ping").answer("404 Not Found", "", "");
    assert_eq!(running.client.read_json()["error"]["message"], "the MCP server `web` has ended the session");
    assert_eq!(running.end().unwrap_err().to_string(), "the MCP server `web` has ended the session");
}

#[test]
fn without_a_handshake_requests_have_their_method_in_a_header_and_are_cancelled_by_closing() {
    let server = HttpServer::start();
    let mut running = start(&server);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    running
        .client
        .write(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{meta}}}}}"#));
    let request = server.expect("POST", "");
    assert_eq!(request.header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(request.header("mcp-method"), Some("server/discover"));
    request.answer("200 OK", JSON, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    running.client.read();
    running
        .client
        .write(format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{{meta},"name":"t"}}}}"#));
    let request = server.expect("POST", "");
    assert_eq!((request.header("mcp-method"), request.header("mcp-name")), (Some("tools/call"), Some("t")));
    let mut stream = request.stream(": wait\n\n");
    running.client.write(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "the gateway closes the connection");
    assert!(server.requests.recv_timeout(Duration::from_millis(1)).is_err());
}

#[test]
fn two_hundred_requests_are_in_flight_at_once() {
    let server = HttpServer::start();
    let mut running = start(&server);
    let _own = handshake(&server, &mut running);
    for id in 1..=200 {
        running.client.write(call(&id.to_string(), "t", &json!({})));
    }
    // None is answered before all have come.
    let requests: Vec<_> = (1..=200).map(|_| server.expect("POST", "tools/call")).collect();
    for request in requests {
        let body = json!({"jsonrpc": "2.0", "id": request.id(), "result": {"content": []}}).to_string();
        request.answer("200 OK", JSON, &body);
    }
    let mut ids: Vec<_> = (1..=200).map(|_| running.client.read_json()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(1..=200));
}
