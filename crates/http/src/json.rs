//! Any exchange of JSON, bounded: what GitHub is asked with, and what one server of ours asks another with.
//!
//! Nothing is made of the status here: what a 404 or a 307 means, only the caller knows. No redirect is followed, so a
//! secret goes where it was meant to go and nowhere else.

use std::fmt;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::exchange::{Question, ask};
use crate::{Address, BearerSecret, RemoteError};

/// How something is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonMethod {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// A question. Its secret is in no text that is made of it.
#[derive(Clone, Debug)]
pub struct JsonRequest<'a> {
    pub method: JsonMethod,
    pub address: &'a Address,
    /// Beside those that every request has, or in place of them: `Accept`, say.
    pub headers: &'a [(&'static str, &'a str)],
    pub secret: Option<&'a BearerSecret>,
    pub body: Option<&'a Value>,
    /// How many bytes the answer may have.
    pub limit: usize,
}

/// What came back.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonAnswer {
    pub status: u16,
    pub headers: AnswerHeaders,
    /// Empty where it tells of a failure and could not be read to its end: the status says enough.
    pub body: Vec<u8>,
}

/// What an answer's headers say that a caller may have to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerHeaders {
    pub location: Option<String>,
    /// In seconds; none where it is a date, which nobody sends who speaks JSON.
    pub retry_after: Option<Duration>,
    pub rate_limit_remaining: Option<u64>,
    /// In seconds since 1970.
    pub rate_limit_reset: Option<i64>,
}

impl JsonRequest<'_> {
    /// Asks. The time holds from the look-up of the name to the last byte.
    pub async fn send(&self, timeout: Duration) -> Result<JsonAnswer, RemoteError> {
        let body = self.body.map(serde_json::to_vec).transpose();
        let mut headers = Vec::new();
        for (name, value) in self.headers {
            let value = HeaderValue::from_str(value).map_err(|error| RemoteError::Broken(error.into()))?;
            let name = name.parse::<HeaderName>().map_err(|error| RemoteError::Broken(error.into()))?;
            headers.push((name, value));
        }
        let question = Question {
            method: self.method.into(),
            address: self.address,
            headers,
            body: body.map_err(|error| RemoteError::Broken(error.into()))?,
            key: self.secret,
            limit: self.limit,
            failure_limit: self.limit,
        };
        let answer = ask(question, timeout).await?;
        let (status, headers) = (answer.status.as_u16(), AnswerHeaders::read(&answer.headers));
        Ok(JsonAnswer { status, headers, body: answer.body.to_vec() })
    }
}

impl JsonAnswer {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body, read as what it should be.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, RemoteError> {
        serde_json::from_slice(&self.body).map_err(|error| RemoteError::Unreadable(error.to_string()))
    }
}

/// Without the body, which may hold anything.
impl fmt::Debug for JsonAnswer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let JsonAnswer { status, headers, body } = self;
        write!(out, "JsonAnswer {{ status: {status}, headers: {headers:?}, body: {} bytes }}", body.len())
    }
}

impl AnswerHeaders {
    fn read(headers: &HeaderMap) -> AnswerHeaders {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        AnswerHeaders {
            location: text("location").map(str::to_owned),
            retry_after: text("retry-after").and_then(|text| text.parse().ok()).map(Duration::from_secs),
            rate_limit_remaining: text("x-ratelimit-remaining").and_then(|text| text.parse().ok()),
            rate_limit_reset: text("x-ratelimit-reset").and_then(|text| text.parse().ok()),
        }
    }
}

impl From<JsonMethod> for Method {
    fn from(method: JsonMethod) -> Method {
        match method {
            JsonMethod::Get => Method::GET,
            JsonMethod::Post => Method::POST,
            JsonMethod::Put => Method::PUT,
            JsonMethod::Patch => Method::PATCH,
            JsonMethod::Delete => Method::DELETE,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// Asks a peer that says these bytes and hangs up; gives what it was asked, and what came of it.
    async fn exchange(
        method: JsonMethod,
        body: Option<&Value>,
        says: Vec<u8>,
    ) -> (String, Result<JsonAnswer, RemoteError>) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address: Address = format!("http://{}/a?b=c", listener.local_addr().unwrap()).parse().unwrap();
        let length = body.map_or(0, |body| body.to_string().len());
        let peer = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                asked.push(stream.read_u8().await.unwrap());
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await.unwrap();
            asked.extend(body);
            stream.write_all(&says).await.unwrap();
            String::from_utf8(asked).unwrap()
        });
        let secret = BearerSecret::new("s-1");
        let headers = [("accept", "application/x"), ("X-Version", "1")];
        let secret = secret.as_ref();
        let request = JsonRequest { method, address: &address, headers: &headers, secret, body, limit: 40 };
        assert!(!format!("{request:?}").contains("s-1"));
        let answer = request.send(PATIENCE).await;
        (peer.await.unwrap(), answer)
    }

    fn says(head: &str, body: &str) -> Vec<u8> {
        format!("HTTP/1.1 {head}\r\n\r\n{body}").into_bytes()
    }

    #[tokio::test]
    async fn a_question_goes_out_as_it_is_and_an_answer_comes_back_whole() {
        for (method, word) in [
            (JsonMethod::Get, "GET"),
            (JsonMethod::Post, "POST"),
            (JsonMethod::Put, "PUT"),
            (JsonMethod::Patch, "PATCH"),
            (JsonMethod::Delete, "DELETE"),
        ] {
            let body = json!({"é": [1]});
            let head = "201 Created\r\ncontent-length: 8\r\nlocation: /x\r\nretry-after: 3\r\n\
                X-RateLimit-Remaining: 0\r\nx-ratelimit-reset: 17";
            let (asked, answer) = exchange(method, Some(&body), says(head, "{\"a\": 1}")).await;
            let answer = answer.unwrap();
            assert_eq!((answer.status, answer.json::<Value>().unwrap()), (201, json!({"a": 1})));
            assert_eq!(
                answer.headers,
                AnswerHeaders {
                    location: Some("/x".to_owned()),
                    retry_after: Some(Duration::from_secs(3)),
                    rate_limit_remaining: Some(0),
                    rate_limit_reset: Some(17),
                }
            );
            let (head, sent) = asked.split_once("\r\n\r\n").unwrap();
            let mut lines: Vec<&str> = head.lines().filter(|line| !line.starts_with("host: ")).collect();
            assert_eq!(lines.remove(0), format!("{word} /a?b=c HTTP/1.1"));
            lines.sort_unstable();
            assert_eq!(
                lines,
                [
                    "accept: application/x",
                    "authorization: Bearer s-1",
                    "connection: close",
                    "content-length: 10",
                    "content-type: application/json",
                    "x-version: 1"
                ]
            );
            assert_eq!(sent, body.to_string());
        }
    }

    #[tokio::test]
    async fn every_status_is_an_answer() {
        for (head, status, body) in [
            ("204 No Content", 204, ""),
            ("307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 2", 307, "{}"),
            ("404 Not Found\r\ncontent-length: 6", 404, "<html>"),
            ("500 Oops\r\ncontent-length: 2", 500, "{}"),
        ] {
            let (asked, answer) = exchange(JsonMethod::Get, None, says(head, body)).await;
            let answer = answer.unwrap();
            assert_eq!((answer.status, &*answer.body), (status, body.as_bytes()), "{head}");
            assert!(!asked.contains("content-type"), "{asked}");
        }
        // What a failure says is lost with its second half, and the failure is not.
        let (_, answer) =
            exchange(JsonMethod::Get, None, says("422 No\r\ncontent-length: 30", "{\"mess")).await;
        let answer = answer.unwrap();
        assert_eq!((answer.status, answer.body), (422, Vec::new()));
    }

    #[tokio::test]
    async fn what_is_no_answer_is_an_error_of_its_own() {
        let long = "x".repeat(41);
        for (bytes, error) in [
            (says("200 OK\r\ncontent-length: 30", "{\"a\":"), "its answer ends in the middle"),
            (
                says("200 OK\r\ntransfer-encoding: chunked", "4\r\n{\"a\"\r\n"),
                "its answer ends in the middle",
            ),
            (b"HTTP/1.1 200 OK\r\ncontent-le".to_vec(), "its answer ends in the middle"),
            (Vec::new(), "its answer ends in the middle"),
            (says("200 OK\r\ncontent-length: 41", &long), "its answer has over 40 bytes"),
            (says("200 OK", &long), "its answer has over 40 bytes"),
            (says("200 OK\r\ncontent-length: 1x", "{}"), "what it says is not HTTP"),
            (says("200 OK\r\ncontent-length: 2\r\ncontent-length: 3", "{}"), "what it says is not HTTP"),
            (b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(), "what it says is not HTTP"),
        ] {
            let told = String::from_utf8_lossy(&bytes).into_owned();
            let (_, answer) = exchange(JsonMethod::Get, None, bytes).await;
            let found = answer.expect_err(&told).to_string();
            assert!(found.starts_with(error), "{told}: {found}");
        }
        // A body that is longer than it was said to be is cut there, and then is no JSON.
        for (length, body) in [(3, "{\"a\": 1}"), (6, "<html>"), (0, "")] {
            let head = format!("200 OK\r\ncontent-length: {length}");
            let (_, answer) = exchange(JsonMethod::Get, None, says(&head, body)).await;
            let found = answer.unwrap().json::<Value>().unwrap_err().to_string();
            assert!(found.starts_with("its answer is not JSON"), "{body}: {found}");
        }
    }

    #[tokio::test]
    async fn silence_ends_with_the_time() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address: Address = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let request = JsonRequest {
            method: JsonMethod::Get,
            address: &address,
            headers: &[],
            secret: None,
            body: None,
            limit: 1,
        };
        let error = request.send(Duration::from_millis(20)).await.unwrap_err();
        assert!(matches!(error, RemoteError::Timeout(_)), "{error}");
        drop(listener);
        let error = request.send(PATIENCE).await.unwrap_err();
        assert!(matches!(error, RemoteError::Connect { .. }), "{error}");
    }
}
