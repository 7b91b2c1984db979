use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::connector::Proxies;

const PATIENCE: Duration = Duration::from_secs(60);

/// Reads the head and the body of a request.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(request).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await.unwrap();
    head + &String::from_utf8(body).unwrap()
}

async fn listen() -> (TcpListener, HttpUrl) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/a?b=c", listener.local_addr().unwrap()).parse().unwrap();
    (listener, url)
}

/// Sends a request to a server that answers with these bytes and closes the connection; returns what the server read, and
/// the result.
async fn exchange(
    method: HttpMethod,
    body: Option<&Value>,
    answer: Vec<u8>,
) -> (String, Result<JsonResponse, HttpError>) {
    let (listener, url) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let request = read_request(&mut stream).await;
        stream.write_all(&answer).await.unwrap();
        request
    });
    let secret = BearerSecret::new("s-1");
    let request = JsonRequest {
        method,
        headers: &[("accept", "application/x"), ("X-Version", "1")],
        secret: secret.as_ref(),
        max_failure_bytes: 40,
        ..JsonRequest::new(&url, body.map(Value::to_string), 40)
    };
    assert!(!format!("{request:?}").contains("s-1"));
    let response = request.send(PATIENCE).await;
    (server.await.unwrap(), response)
}

fn answer(head: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {head}\r\n\r\n{body}").into_bytes()
}

#[tokio::test]
async fn requests_and_responses_arrive_whole() {
    for (method, word) in [(HttpMethod::Get, "GET"), (HttpMethod::Post, "POST")] {
        let body = json!({"é": [1]});
        let head = "201 Created\r\ncontent-length: 8\r\nlocation: /x\r\nretry-after: 3\r\n\
            X-RateLimit-Remaining: 0\r\nx-ratelimit-reset: 17";
        let (request, response) = exchange(method, Some(&body), answer(head, "{\"a\": 1}")).await;
        let response = response.unwrap();
        assert_eq!((response.status, response.json::<Value>().unwrap()), (201, json!({"a": 1})));
        assert_eq!(
            response.headers,
            ResponseHeaders {
                retry_after: Some(Duration::from_secs(3)),
                rate_limit_remaining: Some(0),
                rate_limit_reset: Some(17),
            }
        );
        let (head, sent) = request.split_once("\r\n\r\n").unwrap();
        let mut lines: Vec<&str> = head.lines().filter(|line| !line.starts_with("host: ")).collect();
        assert_eq!(lines.remove(0), format!("{word} /a?b=c HTTP/1.1"));
        lines.sort_unstable();
        assert_eq!(
            lines,
            [
                "accept: application/x",
                "authorization: Bearer s-1",
                "content-length: 10",
                "content-type: application/json",
                "x-version: 1"
            ]
        );
        assert_eq!(sent, body.to_string());
    }
}

#[tokio::test]
async fn every_status_is_a_response() {
    for (head, status, body) in [
        ("204 No Content", 204, ""),
        ("307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 2", 307, "{}"),
        ("404 Not Found\r\ncontent-length: 6", 404, "<html>"),
        ("500 Oops\r\ncontent-length: 2", 500, "{}"),
    ] {
        let (request, response) = exchange(HttpMethod::Get, None, answer(head, body)).await;
        let response = response.unwrap();
        assert_eq!((response.status, &*response.body), (status, body.as_bytes()), "{head}");
        assert!(!request.contains("content-type"), "{request}");
    }
    // The body of a failure is lost when half of it is, but its status is not.
    let (_, response) =
        exchange(HttpMethod::Get, None, answer("422 No\r\ncontent-length: 30", "{\"mess")).await;
    let response = response.unwrap();
    assert_eq!((response.status, response.body), (422, Bytes::new()));
}

#[tokio::test]
async fn each_way_to_get_no_response_is_a_different_error() {
    let long = "x".repeat(41);
    for (bytes, error) in [
        (answer("200 OK\r\ncontent-length: 30", "{\"a\":"), "the response was cut short"),
        (answer("200 OK\r\ntransfer-encoding: chunked", "4\r\n{\"a\"\r\n"), "the response was cut short"),
        (b"HTTP/1.1 200 OK\r\ncontent-le".to_vec(), "the response was cut short"),
        (Vec::new(), "the response was cut short"),
        (answer("200 OK\r\ncontent-length: 41", &long), "the response is larger than 40 bytes"),
        (answer("200 OK", &long), "the response is larger than 40 bytes"),
        (answer("200 OK\r\ncontent-length: 1x", "{}"), "the response is not HTTP"),
        (answer("200 OK\r\ncontent-length: 2\r\ncontent-length: 3", "{}"), "the response is not HTTP"),
        (b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(), "the response is not HTTP"),
    ] {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (_, response) = exchange(HttpMethod::Get, None, bytes).await;
        let found = response.expect_err(&text).to_string();
        assert!(found.starts_with(error), "{text}: {found}");
    }
    // A body longer than its `content-length` is cut there, and then is not JSON.
    for (length, body) in [(3, "{\"a\": 1}"), (6, "<html>"), (0, "")] {
        let head = format!("200 OK\r\ncontent-length: {length}");
        let (_, response) = exchange(HttpMethod::Get, None, answer(&head, body)).await;
        let found = response.unwrap().json::<Value>().unwrap_err().to_string();
        assert!(found.starts_with("the response is not JSON"), "{body}: {found}");
    }
}

#[tokio::test]
async fn a_silent_server_ends_in_a_timeout_and_a_closed_port_in_a_connect_error() {
    let (listener, url) = listen().await;
    let request = JsonRequest::new(&url, None, 1);
    let error = request.send(Duration::from_millis(20)).await.unwrap_err();
    assert!(matches!(error, HttpError::Timeout(_)), "{error}");
    drop(listener);
    let error = request.send(PATIENCE).await.unwrap_err();
    assert!(matches!(error, HttpError::Connect { .. }), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
}

#[test]
fn threads_without_a_runtime_can_send() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    drop(listener);
    let error = JsonRequest::new(&url, None, 1).send_blocking(PATIENCE).unwrap_err();
    assert!(matches!(error, HttpError::Connect { .. }), "{error}");
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    let (listener, url) = listen().await;
    let request = JsonRequest::new(&url, Some("{}".to_owned()), 1);
    let mut sending = Box::pin(request.send(PATIENCE));
    let accepted = tokio::select! {
        _ = &mut sending => panic!("there was no response"),
        accepted = listener.accept() => accepted,
    };
    let mut stream = accepted.unwrap().0;
    tokio::select! {
        _ = &mut sending => panic!("there was no response"),
        _ = read_request(&mut stream) => {}
    }
    drop(sending);
    assert_eq!(stream.read(&mut [0]).await.unwrap_or(0), 0, "the client closed the connection");
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

#[tokio::test]
async fn a_connection_is_kept_for_the_next_request() {
    let (listener, url) = listen().await;
    let request = JsonRequest::new(&url, Some("{}".to_owned()), 10);
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for _ in 0..3 {
            read_request(&mut stream).await;
            stream.write_all(OK).await.unwrap();
        }
    });
    for _ in 0..3 {
        assert_eq!(request.send(PATIENCE).await.unwrap().status, 200);
    }
    server.await.unwrap();
}

#[tokio::test]
async fn a_kept_connection_that_died_is_replaced_without_an_error() {
    let (listener, url) = listen().await;
    let request = JsonRequest::new(&url, Some("{}".to_owned()), 10);
    let server = tokio::spawn(async move {
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            stream.write_all(OK).await.unwrap();
        }
    });
    for _ in 0..3 {
        assert_eq!(request.send(PATIENCE).await.unwrap().status, 200);
        // The server has closed it; the system may need a moment to pass that on.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    server.await.unwrap();
}

#[tokio::test]
async fn a_request_that_may_have_been_processed_is_not_sent_again() {
    let (listener, url) = listen().await;
    let request = JsonRequest::new(&url, Some("{}".to_owned()), 10);
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(OK).await.unwrap();
        // The second request is read on the kept connection, and never answered.
        read_request(&mut stream).await;
        drop(stream);
        tokio::time::timeout(Duration::from_millis(200), listener.accept()).await.is_err()
    });
    assert_eq!(request.send(PATIENCE).await.unwrap().status, 200);
    let error = request.send(PATIENCE).await.unwrap_err();
    assert!(matches!(error, HttpError::CutShort), "{error}");
    assert!(server.await.unwrap(), "no second attempt");
}

/// Sends a request to `url` through a proxy that answers its requests in turn; returns what the proxy read, and the result.
async fn through_proxy(url: &str, answers: &[&str]) -> (Vec<String>, Result<JsonResponse, HttpError>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://user:word@{}", listener.local_addr().unwrap());
    let answers: Vec<String> = answers.iter().map(ToString::to_string).collect();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut requests = Vec::new();
        for answer in answers {
            requests.push(read_request(&mut stream).await);
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        // What follows a CONNECT is TLS.
        if requests[0].starts_with("CONNECT") && stream.read_u8().await.is_ok_and(|byte| byte == 0x16) {
            requests.push("TLS".to_owned());
        }
        requests
    });
    let background = Background::start(Proxies::all_through(&proxy)).unwrap();
    let url: HttpUrl = url.parse().unwrap();
    let response = JsonRequest::new(&url, None, 10).send_with(&background, PATIENCE).await;
    (server.await.unwrap(), response)
}

#[tokio::test]
async fn a_proxy_gets_whole_urls_or_opens_a_tunnel() {
    const AUTHORIZATION: &str = "proxy-authorization: Basic dXNlcjp3b3Jk";
    let ok = std::str::from_utf8(OK).unwrap();
    let (requests, response) = through_proxy("http://model.example:81/v1?a=b", &[ok]).await;
    assert_eq!(response.unwrap().status, 200);
    assert!(requests[0].starts_with("GET http://model.example:81/v1?a=b HTTP/1.1\r\n"), "{requests:?}");
    assert!(
        requests[0].contains(AUTHORIZATION) && requests[0].contains("host: model.example:81"),
        "{requests:?}"
    );

    let (requests, response) = through_proxy("https://model.example/v1", &["HTTP/1.1 200 OK\r\n\r\n"]).await;
    assert!(requests[0].starts_with("CONNECT model.example:443 HTTP/1.1\r\n"), "{requests:?}");
    assert!(requests[0].to_lowercase().contains(&AUTHORIZATION.to_lowercase()), "{requests:?}");
    assert_eq!(requests[1], "TLS");
    assert!(matches!(response, Err(HttpError::Connect { .. })), "{response:?}");

    let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n";
    let (_, response) = through_proxy("https://model.example/v1", &[refusal]).await;
    let error = response.unwrap_err().to_string();
    assert!(error.starts_with("cannot connect to `model.example`: ") && error.contains("proxy"), "{error}");
    assert!(!error.contains("word"), "{error}");
}
