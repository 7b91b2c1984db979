//! A server over streamable HTTP: each message is a POST, whose response is one message or a stream of them. The server's
//! own requests and notifications come in these streams, or in one that a GET opens.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tamis_http::{HttpError, HttpMethod, HttpUrl, StreamRequest, StreamResponse};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::events::{EventReader, TooLong};
use crate::gateway::{Gateway, REQUEST_VERSION};
use crate::http_headers;
use crate::lines::MAX_LINE_BYTES;
use crate::message::{IdKey, LineContent, Message, member, text_of};
use crate::server::{Link, Server, called_tool};

/// Requests that may wait for their responses before no more are read from the client.
const MAX_REQUESTS: usize = 512;

/// A stream that was cut is opened again this many times in a row.
const MAX_REOPENED: usize = 5;

/// How long to wait before that, if the server does not say.
const RETRY_PERIOD: Duration = Duration::from_secs(1);
const MAX_RETRY_PERIOD: Duration = Duration::from_secs(30);

/// How long a stream may stay open after its last response. A connection that the server closes properly is used again.
const STREAM_END_PERIOD: Duration = Duration::from_secs(1);

/// How long the server has to answer requests when the client has closed our input, and to end the session.
const CLOSE_PERIOD: Duration = Duration::from_secs(5);
const DELETE_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) struct HttpLink {
    url: HttpUrl,
    /// Those of the user.
    headers: Vec<(String, String)>,
    session: Mutex<HttpSession>,
    /// What ends the exchange of each request. Without a handshake, a request is cancelled by closing its connection.
    exchanges: Mutex<HashMap<IdKey, CancellationToken>>,
    requests: Arc<Semaphore>,
    closing: CancellationToken,
    /// Told how the session ended.
    ended: mpsc::UnboundedSender<String>,
}

#[derive(Default)]
struct HttpSession {
    id: Option<String>,
    version: Option<String>,
    has_handshake: bool,
}

/// A message on its way to the server.
struct Post {
    body: Vec<u8>,
    headers: Vec<(String, String)>,
    /// The ids of the requests in it, as JSON.
    ids: Vec<String>,
    is_initialize: bool,
    opens_stream: bool,
    cancellation: CancellationToken,
}

impl HttpLink {
    /// The receiver gets how the session ended.
    pub(crate) fn new(
        url: HttpUrl,
        headers: Vec<(String, String)>,
    ) -> (HttpLink, mpsc::UnboundedReceiver<String>) {
        let (ended, receiver) = mpsc::unbounded_channel();
        let link = HttpLink {
            url,
            headers,
            session: Mutex::default(),
            exchanges: Mutex::default(),
            requests: Arc::new(Semaphore::new(MAX_REQUESTS)),
            closing: CancellationToken::new(),
            ended,
        };
        (link, receiver)
    }

    /// Sends a message without waiting for its response. Blocks while too many requests wait for theirs.
    pub(crate) fn send(
        &self,
        gateway: &Arc<Gateway>,
        server: &Server,
        line: &[u8],
        content: &LineContent<'_>,
    ) {
        let messages = content.messages();
        let is_handled = match messages {
            [message] => self.cancel(message),
            _ => matches!(content, LineContent::Blank),
        };
        if is_handled {
            return;
        }
        let post = self.post_of(server, line, messages);
        let permit = (!post.ids.is_empty())
            .then(|| gateway.runtime.block_on(Arc::clone(&self.requests).acquire_owned()).ok());
        let (gateway_of_task, server) = (Arc::clone(gateway), server.index);
        gateway.spawn(async move {
            let _permit = permit;
            exchange(&gateway_of_task, server, post).await;
        });
    }

    /// Ends the exchange of a request that is cancelled, where that is how the protocol cancels.
    fn cancel(&self, message: &Message<'_>) -> bool {
        if message.notification() != Some("notifications/cancelled") || self.session.lock().has_handshake {
            return false;
        }
        let exchange =
            message.param(&["requestId"]).and_then(|id| self.exchanges.lock().remove(&IdKey::of(id)));
        exchange.inspect(CancellationToken::cancel).is_some()
    }

    fn post_of(&self, server: &Server, line: &[u8], messages: &[Message<'_>]) -> Post {
        let mut session = self.session.lock();
        let mut headers = Vec::new();
        if let [message] = messages {
            if let Some(version) = message.param(&["_meta", REQUEST_VERSION]).and_then(text_of) {
                session.version = Some(version.into_owned());
            }
            let knows_version = session.version.is_some() && !session.has_handshake;
            if knows_version && message.method.as_deref() != Some("initialize") {
                let tools = server.tools.lock();
                let tool = called_tool(message).unwrap_or_default();
                headers = http_headers::standard(message, tools.header_arguments(&tool));
            }
        }
        let ids: Vec<String> =
            messages.iter().filter_map(|message| Some(message.request()?.0.to_owned())).collect();
        let is = |method: &str| messages.iter().any(|message| message.method.as_deref() == Some(method));
        let cancellation = CancellationToken::new();
        let keys = ids.iter().map(|id| (IdKey::of(id), cancellation.clone()));
        self.exchanges.lock().extend(keys);
        Post {
            body: line.trim_ascii().to_vec(),
            headers,
            ids,
            is_initialize: is("initialize"),
            opens_stream: is("notifications/initialized"),
            cancellation,
        }
    }

    async fn request(
        &self,
        method: HttpMethod,
        body: Vec<u8>,
        more: Vec<(String, String)>,
    ) -> Result<StreamResponse, HttpError> {
        let accepted = match method {
            HttpMethod::Post => "application/json, text/event-stream",
            HttpMethod::Get | HttpMethod::Delete => "text/event-stream",
        };
        let mut headers = vec![("Accept".to_owned(), accepted.to_owned())];
        if method == HttpMethod::Post {
            headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        }
        {
            let session = self.session.lock();
            let version = session.version.clone().map(|version| ("MCP-Protocol-Version".to_owned(), version));
            let id = session.id.clone().map(|id| ("Mcp-Session-Id".to_owned(), id));
            headers.extend(version.into_iter().chain(id));
        }
        headers.extend(more);
        headers.extend(self.headers.iter().cloned());
        StreamRequest { method, url: &self.url, headers: &headers, body }.send().await
    }

    /// Closes the session when the requests in flight are answered, or after a while.
    pub(crate) async fn close(&self, server: &Server) {
        let deadline = Instant::now() + CLOSE_PERIOD;
        while !server.in_flight.is_empty() && Instant::now() < deadline {
            sleep(Duration::from_millis(20)).await;
        }
        self.end().await;
        let _ = self.ended.send("was closed".to_owned());
    }

    /// Ends the session at once, if it has not ended.
    pub(crate) async fn end(&self) {
        self.closing.cancel();
        if self.session.lock().id.is_none() {
            return;
        }
        let deleted = timeout(DELETE_TIMEOUT, self.request(HttpMethod::Delete, Vec::new(), Vec::new())).await;
        self.session.lock().id = None;
        if let Ok(Err(error)) = deleted {
            tracing::debug!(%error, "cannot end the session");
        }
    }

    /// Remembers what the handshake agreed on.
    fn learn_handshake(&self, line: &[u8]) {
        let content = LineContent::of(line);
        let result = content.messages().iter().find_map(|message| message.result);
        if let Some(version) = result.and_then(|result| text_of(member(result, "protocolVersion")?)) {
            let mut session = self.session.lock();
            session.version = Some(version.into_owned());
            session.has_handshake = true;
        }
    }
}

fn link_of(server: &Server) -> Option<&HttpLink> {
    match &server.link {
        Link::Http(link) => Some(link),
        Link::Stdin(_) => None,
    }
}

/// Sends a message and handles its response. Requests that get none are answered with an error.
async fn exchange(gateway: &Arc<Gateway>, server: usize, post: Post) {
    let server = &gateway.servers[server];
    let Some(link) = link_of(server) else { return };
    let (ids, cancellation) = (post.ids.clone(), post.cancellation.clone());
    let outcome = tokio::select! {
        outcome = send_post(gateway, server, link, post) => outcome,
        () = cancellation.cancelled() => Ok(()),
        () = link.closing.cancelled() => Err("was closed".to_owned()),
    };
    let unanswered: Vec<_> = ids.iter().filter_map(|id| server.in_flight.remove(id)).collect();
    for id in &ids {
        link.exchanges.lock().remove(&IdKey::of(id));
    }
    if cancellation.is_cancelled() {
        return;
    }
    match outcome {
        Err(_) if ids.is_empty() && link.closing.is_cancelled() => {}
        Err(why) if ids.is_empty() => tracing::warn!("the MCP server `{}` {why}", server.name),
        Ok(()) if unanswered.is_empty() => {}
        outcome => {
            let why = outcome.err().unwrap_or_else(|| "sent no answer".to_owned());
            let (gateway, why) = (Arc::clone(gateway), format!("the MCP server `{}` {why}", server.name));
            // It fails only when the runtime ends.
            let _ = tokio::task::spawn_blocking(move || gateway.fail(unanswered, &why)).await;
        }
    }
}

async fn send_post(
    gateway: &Arc<Gateway>,
    server: &Server,
    link: &HttpLink,
    post: Post,
) -> Result<(), String> {
    let Post { body, headers, ids, is_initialize, opens_stream, .. } = post;
    let sent = link.request(HttpMethod::Post, body, headers).await;
    let response = sent.map_err(|error| format!("cannot be reached: {error}"))?;
    let is_success = (200..300).contains(&response.status);
    if is_initialize && is_success {
        link.session.lock().id = response.header("mcp-session-id").map(str::to_owned);
    }
    if opens_stream && is_success && link.session.lock().has_handshake {
        let (gateway_of_task, server) = (Arc::clone(gateway), server.index);
        gateway.spawn(async move { listen(&gateway_of_task, server).await });
    }
    if is_success && is_event_stream(&response) {
        return follow(gateway, server, link, response, &ids, is_initialize).await;
    }
    let status = response.status;
    let body = read_body(response).await?;
    let content = LineContent::of(&body);
    let has_answer = content.messages().iter().any(|message| {
        message.response_id().is_some_and(|id| ids.iter().any(|own| IdKey::of(own) == IdKey::of(id)))
    });
    if has_answer || (is_success && !body.trim_ascii().is_empty()) {
        drop(content);
        deliver(gateway, server, link, body, is_initialize).await;
        return Ok(());
    }
    if is_success {
        return Ok(());
    }
    if status == 404 && link.session.lock().id.is_some() {
        let _ = link.ended.send("has ended the session".to_owned());
        return Err("has ended the session".to_owned());
    }
    Err(format!("answered with HTTP status {status}"))
}

fn is_event_stream(response: &StreamResponse) -> bool {
    response.header("content-type").is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
}

async fn read_body(mut response: StreamResponse) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(piece) = response.next().await {
        body.extend_from_slice(&piece.map_err(|error| error.to_string())?);
        if body.len() > MAX_LINE_BYTES {
            return Err(too_long(TooLong));
        }
    }
    Ok(body)
}

fn too_long(_: TooLong) -> String {
    format!("sent a message of more than {} MiB", MAX_LINE_BYTES >> 20)
}

/// Handles the messages of a stream until the requests are answered. A stream that is cut before is opened again where the
/// server has numbered its events.
async fn follow(
    gateway: &Arc<Gateway>,
    server: &Server,
    link: &HttpLink,
    mut response: StreamResponse,
    ids: &[String],
    is_initialize: bool,
) -> Result<(), String> {
    let mut reader = EventReader::default();
    let mut reopened = 0;
    let is_answered = || !ids.iter().any(|id| server.in_flight.contains(id));
    loop {
        let end = loop {
            let next = match is_answered() {
                true => timeout(STREAM_END_PERIOD, response.next()).await.unwrap_or(None),
                false => response.next().await,
            };
            let piece = match next {
                None => break None,
                Some(Err(error)) => break Some(error),
                Some(Ok(piece)) => piece,
            };
            for event in reader.read(&piece).map_err(too_long)? {
                reopened = 0;
                deliver(gateway, server, link, event, is_initialize).await;
            }
        };
        if is_answered() {
            return Ok(());
        }
        let why = || end.map_or_else(|| "ended its answer too early".to_owned(), |error| error.to_string());
        let Some(last) = reader.last_id.clone().filter(|_| reopened < MAX_REOPENED) else {
            return Err(why());
        };
        reopened += 1;
        sleep(reader.retry.unwrap_or(RETRY_PERIOD)).await;
        response = match link.request(HttpMethod::Get, Vec::new(), last_event(last)).await {
            Ok(response) if response.status == 200 && is_event_stream(&response) => response,
            Ok(response) => return Err(format!("{} (HTTP status {})", why(), response.status)),
            Err(error) => return Err(format!("cannot be reached: {error}")),
        };
    }
}

fn last_event(id: String) -> Vec<(String, String)> {
    vec![("Last-Event-ID".to_owned(), id)]
}

/// Handles what the server sends on its own, until the gateway closes. Servers that send nothing refuse.
async fn listen(gateway: &Arc<Gateway>, server: usize) {
    let server = &gateway.servers[server];
    let Some(link) = link_of(server) else { return };
    let mut last_id = None;
    let mut pause = RETRY_PERIOD;
    let listening = async {
        loop {
            let more = last_id.clone().map_or_else(Vec::new, last_event);
            match link.request(HttpMethod::Get, Vec::new(), more).await {
                Ok(response) if response.status == 200 && is_event_stream(&response) => {
                    pause = RETRY_PERIOD;
                    let mut response = response;
                    let mut reader = EventReader::default();
                    reader.last_id = last_id.take();
                    while let Some(Ok(piece)) = response.next().await {
                        let Ok(events) = reader.read(&piece) else { return };
                        for event in events {
                            deliver(gateway, server, link, event, false).await;
                        }
                    }
                    pause = reader.retry.unwrap_or(pause);
                    last_id = reader.last_id;
                }
                Ok(_) => return,
                Err(error) => tracing::debug!(server = server.name, %error, "cannot listen"),
            }
            sleep(pause).await;
            pause = (pause * 2).min(MAX_RETRY_PERIOD);
        }
    };
    tokio::select! {
        () = listening => {}
        () = link.closing.cancelled() => {}
    }
}

/// Passes a message to the client as a line.
async fn deliver(
    gateway: &Arc<Gateway>,
    server: &Server,
    link: &HttpLink,
    mut message: Vec<u8>,
    is_initialize: bool,
) {
    if is_initialize {
        link.learn_handshake(&message);
    }
    // In JSON they are only white space.
    message.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    message.push(b'\n');
    let (gateway, server) = (Arc::clone(gateway), server.index);
    // It fails only when the runtime ends.
    let _ = tokio::task::spawn_blocking(move || {
        gateway.from_server(&gateway.servers[server], &message);
    })
    .await;
}
