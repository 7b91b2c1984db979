//! Request bodies, read whole before any route sees them, with limits on size, time and total memory.
//!
//! Memory is counted as bytes arrive, never as announced. A body that is too large, too slow or cut off is answered here, so
//! all routes answer alike and none is held open by half a request.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::connections::{Connection, UNCOUNTED};
use crate::guard::Admitted;

/// A local client sends its largest body in well under a second.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest pause within a body.
const PAUSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Most clients read the answer only after they have sent everything, and see a broken connection if we close it before. So a
/// body that is too large is still read and discarded, up to this many times the limit.
const DISCARD_FACTOR: usize = 8;

/// Maximum size of a body that is discarded because its request was refused.
const MAX_DISCARDED: usize = 256 << 20;

/// The limits, shared by all listeners.
#[derive(Clone)]
pub(crate) struct Bodies {
    max_bytes: usize,
    /// For large requests of anonymous callers: more at once would be no faster, and each takes several times its size.
    large: Arc<Semaphore>,
}

impl Bodies {
    pub(crate) fn new(max_bytes: usize) -> Bodies {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Bodies { max_bytes, large: Arc::new(Semaphore::new(cores)) }
    }
}

pub(crate) async fn read_whole(State(bodies): State<Bodies>, request: Request, next: Next) -> Response {
    let max_bytes = bodies.max_bytes;
    let (parts, body) = request.into_parts();
    let connection = parts.extensions.get().cloned().unwrap_or_else(Connection::detached);
    let whole = match tokio::time::timeout(BODY_TIMEOUT, collect(body, max_bytes, &connection)).await {
        Ok(Ok(whole)) => whole,
        Ok(Err(error)) => return refuse(error, max_bytes),
        Err(_) => return refuse(BodyError::TooSlow, max_bytes),
    };
    connection.work();
    let is_large = whole.len() > UNCOUNTED;
    let is_trusted = parts.extensions.get::<Admitted>().is_some_and(Admitted::is_trusted);
    let _turn = if is_large && !is_trusted { bodies.large.acquire().await.ok() } else { None };
    let request = Request::from_parts(parts, Body::from(whole));
    if is_large { on_own_thread(next.run(request)).await } else { next.run(request).await }
}

/// Runs a request away from the threads that serve connections: to parse a large one and write its answer takes long.
/// Dropping this drops the request.
async fn on_own_thread(answer: impl Future<Output = Response> + Send + 'static) -> Response {
    let gone = CancellationToken::new();
    let _gone_when_dropped = gone.clone().drop_guard();
    let runtime = tokio::runtime::Handle::current();
    let work = move || runtime.block_on(gone.run_until_cancelled(answer));
    match tokio::task::spawn_blocking(work).await {
        Ok(Some(answer)) => answer,
        // The client is gone, or the handler panicked.
        Ok(None) | Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Answers a request whose body was not read. What the client still sends is discarded for a while, since most clients read
/// the answer only after they have sent everything.
pub(crate) fn answer_unread(request: Request, mut answer: Response) -> Response {
    if request.body().is_end_stream() {
        return answer;
    }
    // The rest of the body must not be read as the next request.
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    // A client that waits for `100 Continue` sends nothing after this answer.
    if !request.headers().contains_key(header::EXPECT) {
        tokio::spawn(tokio::time::timeout(BODY_TIMEOUT, discard(request.into_body())));
    }
    answer
}

#[derive(Clone, Copy)]
enum BodyError {
    TooLarge,
    TooSlow,
    Broken,
}

async fn collect(mut body: Body, max_bytes: usize, connection: &Connection) -> Result<Bytes, BodyError> {
    let mut whole = BytesMut::new();
    let mut seen = 0usize;
    while let Some(data) = next_part(&mut body).await? {
        seen = seen.saturating_add(data.len());
        if seen <= max_bytes {
            connection.receive(seen).await;
            whole.extend_from_slice(&data);
        } else {
            whole = BytesMut::new();
            connection.made_progress();
            if seen > max_bytes.saturating_mul(DISCARD_FACTOR) {
                break;
            }
        }
    }
    if seen > max_bytes { Err(BodyError::TooLarge) } else { Ok(whole.freeze()) }
}

/// Reads as much as the largest body that is refused for its size.
async fn discard(mut body: Body) {
    let mut left = MAX_DISCARDED;
    while let Ok(Some(data)) = next_part(&mut body).await {
        left = left.saturating_sub(data.len());
        if left == 0 {
            return;
        }
    }
}

/// The next bytes of a body; none at its end.
async fn next_part(body: &mut Body) -> Result<Option<Bytes>, BodyError> {
    loop {
        let frame = tokio::time::timeout(PAUSE_TIMEOUT, body.frame()).await;
        match frame.map_err(|_| BodyError::TooSlow)? {
            None => return Ok(None),
            Some(Err(_)) => return Err(BodyError::Broken),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

/// In JSON-RPC's form, which most routes use; without an id, because none was read.
fn refuse(error: BodyError, max_bytes: usize) -> Response {
    let (status, code, message) = match error {
        BodyError::TooLarge => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "input_too_large",
            format!("the request is larger than {max_bytes} bytes"),
        ),
        BodyError::TooSlow => (
            StatusCode::REQUEST_TIMEOUT,
            "timeout",
            format!(
                "the request did not arrive within {} s, or paused for {} s",
                BODY_TIMEOUT.as_secs(),
                PAUSE_TIMEOUT.as_secs()
            ),
        ),
        BodyError::Broken => {
            (StatusCode::BAD_REQUEST, "broken_request", "the request was incomplete".to_owned())
        }
    };
    let error = json!({"code": -32600, "message": message, "data": {"code": code}});
    let mut response =
        (status, axum::Json(json!({"jsonrpc": "2.0", "id": null, "error": error}))).into_response();
    // The rest of the body must not be read as the next request.
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
