//! MCP over stdio, with a transport of our own.
//!
//! rmcp's transport drops lines that it cannot parse, so the client would wait forever, and accepts lines of any length. Ours
//! answers every line that needs an answer: -32700 for invalid JSON, -32600 for what is not a message or is over 16 MiB. It
//! also ignores notifications before a session is open, because rmcp ends at them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc as threads;

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{QuitReason, RoleServer, ServerInitializeError, serve_server};
use rmcp::transport::Transport;
use tamis_tools::RpcError;
use tamis_tools::request::{Event, RequestLog};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::envelope::NO_ID;
use crate::mcp::{McpDoor, UnwrittenReplies};
use crate::mcp_message::{
    RejectedLine, lacks_handshake, opens_session, own_handshake, own_handshake_id, parse,
};
use crate::output_watch::OutputWatch;
use crate::{Served, ServerProfile};

/// Longer lines are skipped and answered with an error.
const MAX_LINE_BYTES: usize = 16 << 20;

/// Answers that may wait for the client to read them before nothing more is read from it.
const MAX_UNREAD_ANSWERS: usize = 64;

/// Why serving failed.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("cannot open the MCP session")]
    Open(#[source] Box<ServerInitializeError>),
    #[error("cannot use the output")]
    Output(#[source] io::Error),
    #[error("the MCP session failed")]
    Broken(#[source] tokio::task::JoinError),
}

/// Serves one client until it closes its end or `shutdown`; running calls then have a few seconds to finish. When the client
/// closes our output, everything is cancelled at once. `project` is the client's working folder.
pub async fn serve_stdio(
    served: Served,
    project: Option<String>,
    input: impl Read + Send + 'static,
    output: impl Write + AsFd + Send + 'static,
    shutdown: CancellationToken,
) -> Result<(), StdioError> {
    let unwritten = UnwrittenReplies::default();
    let profile = served.profile;
    let door = McpDoor::over_stdio(served, project, unwritten.clone());
    let mut watch = OutputWatch::new(&output).map_err(StdioError::Output)?;
    // After `shutdown` nothing more is read. rmcp takes that for the client's end and waits for running calls.
    let transport = LineTransport::new(profile, unwritten, input, output, shutdown);
    let session = match serve_server(door, transport).await {
        Ok(session) => session,
        // The client closed its end without a message: it only checked that the server starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioError::Open(Box::new(error))),
    };
    let everything = session.cancellation_token();
    let waiting = session.waiting();
    tokio::pin!(waiting);
    let ended = tokio::select! {
        ended = &mut waiting => ended,
        Ok(()) = &mut watch.closed => {
            tracing::debug!("the client closed our output");
            everything.cancel();
            waiting.await
        }
    };
    match ended {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(StdioError::Broken(error)),
        Ok(_) => Ok(()),
    }
}

/// A transport with one JSON message per line. Threads do the blocking reads and writes, so that ending never waits for a read.
struct LineTransport {
    profile: &'static ServerProfile,
    /// Told when an answer has been written.
    unwritten: UnwrittenReplies,
    incoming: mpsc::Receiver<Line>,
    outgoing: threads::Sender<Outgoing>,
    /// One permit for each answer that may wait to be written. While none is left nothing is read, so that a client that does
    /// not read its answers cannot fill our memory.
    permits: Arc<Semaphore>,
    /// Cancelled when nothing more is to be read: at shutdown, or when the client closed our output.
    input_closed: CancellationToken,
    session_open: bool,
    /// A request that came before any handshake and waits for ours.
    before_handshake: Option<ClientJsonRpcMessage>,
}

enum Line {
    Bytes(Vec<u8>),
    TooLong,
}

struct Outgoing {
    line: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

impl LineTransport {
    fn new(
        profile: &'static ServerProfile,
        unwritten: UnwrittenReplies,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        input_closed: CancellationToken,
    ) -> LineTransport {
        let (lines, incoming) = mpsc::channel(16);
        std::thread::spawn(move || {
            let mut input = BufReader::with_capacity(64 << 10, input);
            while let Ok(Some(line)) = read_line(&mut input, MAX_LINE_BYTES) {
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
                // The receiver may be gone.
                let _ = written.send(result);
            }
        });
        let permits = Arc::new(Semaphore::new(MAX_UNREAD_ANSWERS));
        LineTransport {
            profile,
            unwritten,
            incoming,
            outgoing,
            permits,
            input_closed,
            session_open: false,
            before_handshake: None,
        }
    }

    fn write(&self, mut line: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let (outgoing, permits, input_closed) =
            (self.outgoing.clone(), Arc::clone(&self.permits), self.input_closed.clone());
        async move {
            let _permit = permits.acquire().await.map_err(io::Error::other)?;
            let (written, done) = oneshot::channel();
            line.push(b'\n');
            let queued = outgoing.send(Outgoing { line, written });
            let result = match queued {
                Ok(()) => done.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())),
                Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
            };
            if result.is_err() {
                input_closed.cancel();
            }
            result
        }
    }

    /// rmcp drops the answer to a cancelled call, so it will never be written.
    fn forget_cancelled(&self, message: &ClientJsonRpcMessage) {
        if let JsonRpcMessage::Notification(notification) = message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(log) = cancelled.params.request_id.as_ref().and_then(|id| self.unwritten.remove(id))
        {
            log.step_because(Event::Unhandled, "the caller no longer waits");
        }
    }

    /// The next line, or none at the end.
    async fn next_line(&mut self) -> Option<Line> {
        tokio::select! {
            biased;
            () = self.input_closed.cancelled() => return None,
            permit = self.permits.acquire() => drop(permit.ok()?),
        }
        tokio::select! {
            biased;
            () = self.input_closed.cancelled() => None,
            line = self.incoming.recv() => line,
        }
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        mut message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let log = match &mut message {
            JsonRpcMessage::Response(response) => self.unwritten.remove(&response.id),
            JsonRpcMessage::Error(error) => {
                let ErrorData { code, message, data } = &mut error.error;
                let error_sent = RpcError { code: code.0, message: message.to_string(), data: data.take() };
                let adapted = self.profile.adapt_error(error_sent);
                (*message, *data) = (adapted.message.into(), adapted.data);
                error.id.as_ref().and_then(|id| self.unwritten.remove(id))
            }
            _ => None,
        };
        let is_for_own_handshake =
            matches!(&message, JsonRpcMessage::Response(response) if response.id == own_handshake_id());
        let line = (!is_for_own_handshake)
            .then(|| serde_json::to_vec(&message).map_err(io::Error::other).map(|line| self.write(line)));
        async move {
            let written = match line {
                None => Ok(()),
                Some(Ok(writing)) => writing.await,
                Some(Err(error)) => Err(error),
            };
            if let Some(log) = log {
                log.written(written.as_ref().copied().map_err(|_| "the client closed our output"));
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        if let Some(message) = self.before_handshake.take() {
            return Some(message);
        }
        loop {
            let parsed = match self.next_line().await? {
                Line::Bytes(bytes) if bytes.trim_ascii().is_empty() => continue,
                Line::Bytes(bytes) => parse(&bytes, self.profile),
                Line::TooLong => {
                    let why = format!("Invalid Request: a message may have at most {MAX_LINE_BYTES} bytes");
                    Err(RejectedLine { id: NO_ID.to_owned(), error: RpcError::bare(-32600, why) })
                }
            };
            match parsed {
                Ok(message) if self.session_open || opens_session(&message) => {
                    self.session_open = true;
                    self.forget_cancelled(&message);
                    return Some(message);
                }
                Ok(message) if self.profile.is_strict && lacks_handshake(&message) => {
                    self.session_open = true;
                    self.before_handshake = Some(message);
                    return Some(own_handshake());
                }
                Ok(message @ JsonRpcMessage::Request(_)) => return Some(message),
                Ok(_) => tracing::debug!("ignored a message before the session was open"),
                Err(refused) => {
                    if self.profile.is_strict {
                        RequestLog::refused(Event::Unreadable, &format!("error {}", refused.error.code));
                    }
                    self.write(refused.to_json(self.profile).into_bytes()).await.ok()?;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The next line without its newline, or none at the end. A line over `limit` is skipped, not kept.
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
            return Ok((!nothing).then_some(if too_long { Line::TooLong } else { Line::Bytes(line) }));
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
}
