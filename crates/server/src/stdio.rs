//! MCP over stdio, with a transport of our own.
//!
//! rmcp's drops what it cannot parse, so a client with a typo waits for ever; and it takes lines of any length.
//! Ours answers every line that asks for something: -32700 for what is no JSON, -32600 for what is no message or
//! is over 16 MiB. It also keeps notifications back until a session is open, since rmcp ends at an early one.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc as threads;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, GetMeta, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{QuitReason, RoleServer, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::Served;
use crate::mcp::McpDoor;

/// Longer lines are skipped and answered with an error.
const LONGEST_LINE: usize = 16 << 20;

/// Why serving ended other than by the client's leave.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("the MCP session could not be opened")]
    Open(#[source] Box<ServerInitializeError>),
    #[error("the MCP session broke")]
    Broken(#[source] tokio::task::JoinError),
}

/// Serves one client until it closes its end or `shutdown`. `project` is where the client works.
pub async fn serve_stdio(
    served: Served,
    project: Option<String>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    shutdown: CancellationToken,
) -> Result<(), StdioError> {
    let door = McpDoor::over_stdio(served, project);
    let transport = Lines::new(input, output);
    let session = match serve_server_with_ct(door, transport, shutdown).await {
        Ok(session) => session,
        // Gone before it said anything: a client that only looked whether we start.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(StdioError::Open(Box::new(error))),
    };
    match session.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(StdioError::Broken(error)),
        Ok(_) => Ok(()),
    }
}

/// One JSON message a line, each way. Threads do the blocking, so that ending never waits for a read.
struct Lines {
    incoming: mpsc::Receiver<Line>,
    outgoing: threads::Sender<Outgoing>,
    session_open: bool,
}

enum Line {
    Bytes(Vec<u8>),
    TooLong,
}

struct Outgoing {
    line: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

impl Lines {
    fn new(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Lines {
        let (lines, incoming) = mpsc::channel(16);
        std::thread::spawn(move || {
            let mut input = BufReader::with_capacity(64 << 10, input);
            while let Ok(Some(line)) = read_line(&mut input, LONGEST_LINE) {
                if lines.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        let (outgoing, queue) = threads::channel::<Outgoing>();
        std::thread::spawn(move || {
            let mut output = output;
            for Outgoing { line, written } in queue {
                let result = output.write_all(&line).and_then(|()| output.flush());
                // Whoever sent it may have stopped waiting.
                let _ = written.send(result);
            }
        });
        Lines { incoming, outgoing, session_open: false }
    }

    fn write(&self, message: &ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let (written, done) = oneshot::channel();
        let queued = serde_json::to_vec(message).map_err(io::Error::other).and_then(|mut line| {
            line.push(b'\n');
            self.outgoing.send(Outgoing { line, written }).map_err(|_| io::ErrorKind::BrokenPipe.into())
        });
        async move {
            queued?;
            done.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
        }
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.write(&message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let parsed = match self.incoming.recv().await? {
                Line::Bytes(bytes) if bytes.trim_ascii().is_empty() => continue,
                Line::Bytes(bytes) => parse(&bytes),
                Line::TooLong => Err(Unfit::new(
                    None,
                    ErrorCode::INVALID_REQUEST,
                    format!("Invalid Request: a message may have {LONGEST_LINE} bytes at most"),
                )),
            };
            match parsed {
                Ok(message) if self.session_open || opens_session(&message) => {
                    self.session_open = true;
                    return Some(message);
                }
                Ok(message @ JsonRpcMessage::Request(_)) => return Some(message),
                Ok(_) => tracing::debug!("a message before the session was opened is ignored"),
                Err(unfit) => {
                    tracing::debug!(error = %unfit.error, "a line that is no message");
                    let answer = ServerJsonRpcMessage::error(unfit.error, unfit.id);
                    if self.write(&answer).await.is_err() {
                        return None;
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether rmcp leaves its handshake with this message.
fn opens_session(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::InitializeRequest(_) => true,
            ClientRequest::DiscoverRequest(_) => false,
            request => request.get_meta().protocol_version().is_some(),
        },
        _ => false,
    }
}

/// A line that is no message, and what to answer.
struct Unfit {
    id: Option<RequestId>,
    error: ErrorData,
}

impl Unfit {
    fn new(id: Option<RequestId>, code: ErrorCode, message: impl Into<String>) -> Unfit {
        Unfit { id, error: ErrorData::new(code, message.into(), None) }
    }
}

/// The members that decide what a message is.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    jsonrpc: Value,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    #[serde(default)]
    method: Option<Value>,
    #[serde(default)]
    result: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    error: Option<serde::de::IgnoredAny>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn parse(line: &[u8]) -> Result<ClientJsonRpcMessage, Unfit> {
    let invalid =
        |id, why: &str| Unfit::new(id, ErrorCode::INVALID_REQUEST, format!("Invalid Request: {why}"));
    let envelope: Envelope = serde_json::from_slice(line).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => invalid(None, "one JSON object a line is expected"),
        _ => Unfit::new(None, ErrorCode::PARSE_ERROR, format!("Parse error: {error}")),
    })?;
    let id = match envelope.id {
        None => None,
        Some(id) => match serde_json::from_value::<RequestId>(id) {
            Ok(id) => Some(id),
            Err(_) => return Err(invalid(None, "id must be a string or a 64-bit integer")),
        },
    };
    if envelope.jsonrpc != "2.0" {
        return Err(invalid(id, "jsonrpc must be \"2.0\""));
    }
    let answers = envelope.result.is_some() || envelope.error.is_some();
    let method = match envelope.method {
        Some(Value::String(method)) => method,
        None if answers => String::new(),
        _ => return Err(invalid(id, "method must be a string")),
    };
    let message = serde_json::from_slice::<ClientJsonRpcMessage>(line)
        .map_err(|_| invalid(id.clone(), "not a message of MCP"))?;
    // Until a session is open rmcp would complain about metadata instead.
    if let JsonRpcMessage::Request(request) = &message
        && matches!(request.request, ClientRequest::CustomRequest(_))
        && method == "initialize"
    {
        let why = "Invalid params: initialize needs protocolVersion, capabilities and clientInfo";
        return Err(Unfit::new(id, ErrorCode::INVALID_PARAMS, why));
    }
    Ok(message)
}

/// The next line without its newline, or None at the end. What is over `limit` is read past, not kept.
fn read_line(input: &mut impl BufRead, limit: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            let nothing = line.is_empty() && !too_long;
            return Ok((!nothing).then(|| if too_long { Line::TooLong } else { Line::Bytes(line) }));
        }
        let newline = memchr::memchr(b'\n', available);
        let part = &available[..newline.unwrap_or(available.len())];
        if too_long || line.len() + part.len() > limit {
            too_long = true;
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(newline.is_some());
        input.consume(used);
        if newline.is_some() {
            return Ok(Some(if too_long { Line::TooLong } else { Line::Bytes(line) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_newlines_and_long_ones_are_skipped() {
        let mut input = BufReader::with_capacity(3, &b"one\n\nlonger than ten\ntwo"[..]);
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut input, 10).unwrap() {
            lines.push(match line {
                Line::Bytes(bytes) => String::from_utf8(bytes).unwrap(),
                Line::TooLong => "TOO LONG".to_owned(),
            });
        }
        assert_eq!(lines, ["one", "", "TOO LONG", "two"]);
    }

    #[test]
    fn what_is_no_message_is_answered_in_json_rpcs_words() {
        let refused = |line: &str| {
            parse(line.as_bytes()).err().map(|unfit| (unfit.id.map(|id| id.to_string()), unfit.error.code.0))
        };
        for (line, answer) in [
            ("{", (None, -32700)),
            ("nonsense", (None, -32700)),
            ("[]", (None, -32600)),
            ("3", (None, -32600)),
            ("{}", (None, -32600)),
            (r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#, (Some("4"), -32600)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, (None, -32600)),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, (None, -32600)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, (None, -32600)),
            (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, (Some("a"), -32600)),
            (r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}"#, (Some("5"), -32602)),
        ] {
            assert_eq!(refused(line), Some((answer.0.map(str::to_owned), answer.1)), "{line}");
        }
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert_eq!(refused(line), None, "{line}");
        }
    }
}
