//! MCP over stdio, with a transport of our own.
//!
//! rmcp's drops what it cannot parse, so a client with a typo waits for ever; and it takes lines of any length.
//! Ours answers every line that asks for something: -32700 for what is no JSON, -32600 for what is no message or
//! is over 16 MiB. It also keeps notifications back until a session is open, since rmcp ends at an early one.

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
use crate::incoming::{Refused, lacks_handshake, opens_session, own_handshake, own_handshake_id, parse};
use crate::mcp::{McpDoor, Unwritten};
use crate::reader::ReaderWatch;
use crate::{Presence, Served};

/// Longer lines are skipped and answered with an error.
const LONGEST_LINE: usize = 16 << 20;

/// How many answers may wait for a client to read them before nothing more is read from it.
const WAITING_LINES: usize = 64;

/// Why serving ended other than by the client's leave.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("the MCP session could not be opened")]
    Open(#[source] Box<ServerInitializeError>),
    #[error("the output cannot be used")]
    Output(#[source] io::Error),
    #[error("the MCP session broke")]
    Broken(#[source] tokio::task::JoinError),
}

/// Serves one client until it closes its end or `shutdown`: then what is under way is finished, for a few seconds. When
/// nobody reads the output any more, everything is cancelled at once. `project` is where the client works.
pub async fn serve_stdio(
    served: Served,
    project: Option<String>,
    input: impl Read + Send + 'static,
    output: impl Write + AsFd + Send + 'static,
    shutdown: CancellationToken,
) -> Result<(), StdioError> {
    let unwritten = Unwritten::default();
    let presence = served.presence;
    let door = McpDoor::over_stdio(served, project, unwritten.clone());
    let mut watch = ReaderWatch::new(&output).map_err(StdioError::Output)?;
    // At the end nothing more is read, which rmcp takes for the client's leave: it then waits for what is under way.
    let transport = Lines::new(presence, unwritten, input, output, shutdown);
    let session = match serve_server(door, transport).await {
        Ok(session) => session,
        // Gone before it said anything: a client that only looked whether we start.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioError::Open(Box::new(error))),
    };
    let everything = session.cancellation_token();
    let waiting = session.waiting();
    tokio::pin!(waiting);
    let ended = tokio::select! {
        ended = &mut waiting => ended,
        Ok(()) = &mut watch.gone => {
            tracing::debug!("nobody reads the answers any more");
            everything.cancel();
            waiting.await
        }
    };
    match ended {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(StdioError::Broken(error)),
        Ok(_) => Ok(()),
    }
}

/// One JSON message a line, each way. Threads do the blocking, so that ending never waits for a read.
struct Lines {
    presence: &'static Presence,
    /// Whom to tell when an answer has been written.
    unwritten: Unwritten,
    incoming: mpsc::Receiver<Line>,
    outgoing: threads::Sender<Outgoing>,
    /// One permit for each line that may wait to be written. While none is left nothing is read, so that a client which
    /// does not read its answers cannot fill our memory with them.
    room: Arc<Semaphore>,
    /// Cancelled when no more is to be read: at the end, or when nobody reads us any more.
    deaf: CancellationToken,
    session_open: bool,
    /// What was asked for before any handshake, and waits for ours.
    early: Option<ClientJsonRpcMessage>,
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
    fn new(
        presence: &'static Presence,
        unwritten: Unwritten,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        deaf: CancellationToken,
    ) -> Lines {
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
        let room = Arc::new(Semaphore::new(WAITING_LINES));
        Lines { presence, unwritten, incoming, outgoing, room, deaf, session_open: false, early: None }
    }

    fn write(&self, mut line: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let (outgoing, room, deaf) = (self.outgoing.clone(), Arc::clone(&self.room), self.deaf.clone());
        async move {
            let _permit = room.acquire().await.map_err(io::Error::other)?;
            let (written, done) = oneshot::channel();
            line.push(b'\n');
            let queued = outgoing.send(Outgoing { line, written });
            let result = match queued {
                Ok(()) => done.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())),
                Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
            };
            if result.is_err() {
                deaf.cancel();
            }
            result
        }
    }

    /// rmcp drops the answer to what is cancelled, so nobody would tell that it was written.
    fn forget_cancelled(&self, message: &ClientJsonRpcMessage) {
        if let JsonRpcMessage::Notification(notification) = message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(log) = cancelled.params.request_id.as_ref().and_then(|id| self.unwritten.remove(id))
        {
            log.step_because(Event::Unhandled, "the caller no longer waits");
        }
    }

    /// The next line, or None when there is none to come.
    async fn next_line(&mut self) -> Option<Line> {
        tokio::select! {
            biased;
            () = self.deaf.cancelled() => return None,
            permit = self.room.acquire() => drop(permit.ok()?),
        }
        tokio::select! {
            biased;
            () = self.deaf.cancelled() => None,
            line = self.incoming.recv() => line,
        }
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        mut message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let log = match &mut message {
            JsonRpcMessage::Response(response) => self.unwritten.remove(&response.id),
            JsonRpcMessage::Error(error) => {
                let ErrorData { code, message, data } = &mut error.error;
                let said = RpcError { code: code.0, message: message.to_string(), data: data.take() };
                let worded = self.presence.worded(said);
                (*message, *data) = (worded.message.into(), worded.data);
                error.id.as_ref().and_then(|id| self.unwritten.remove(id))
            }
            _ => None,
        };
        let for_nobody =
            matches!(&message, JsonRpcMessage::Response(response) if response.id == own_handshake_id());
        let line = (!for_nobody)
            .then(|| serde_json::to_vec(&message).map_err(io::Error::other).map(|line| self.write(line)));
        async move {
            let written = match line {
                None => Ok(()),
                Some(Ok(writing)) => writing.await,
                Some(Err(error)) => Err(error),
            };
            if let Some(log) = log {
                log.written(written.as_ref().copied().map_err(|_| "nobody reads it"));
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        if let Some(message) = self.early.take() {
            return Some(message);
        }
        loop {
            let parsed = match self.next_line().await? {
                Line::Bytes(bytes) if bytes.trim_ascii().is_empty() => continue,
                Line::Bytes(bytes) => parse(&bytes, self.presence),
                Line::TooLong => {
                    let why = format!("Invalid Request: a message may have {LONGEST_LINE} bytes at most");
                    Err(Refused { id: NO_ID.to_owned(), error: RpcError::bare(-32600, why) })
                }
            };
            match parsed {
                Ok(message) if self.session_open || opens_session(&message) => {
                    self.session_open = true;
                    self.forget_cancelled(&message);
                    return Some(message);
                }
                Ok(message) if self.presence.to_the_letter && lacks_handshake(&message) => {
                    self.session_open = true;
                    self.early = Some(message);
                    return Some(own_handshake());
                }
                Ok(message @ JsonRpcMessage::Request(_)) => return Some(message),
                Ok(_) => tracing::debug!("a message before the session was opened is ignored"),
                Err(refused) => {
                    if self.presence.to_the_letter {
                        RequestLog::refused(Event::Unreadable, &format!("error {}", refused.error.code));
                    }
                    self.write(refused.to_json(self.presence).into_bytes()).await.ok()?;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
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
