//! Request bodies, read whole before any route sees them, with limits on size, time and total memory.
//!
//! A body that is too large, too slow or cut off is answered here, so all routes answer alike and none is held open by half
//! a request.

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

/// A local client sends its largest body in well under a second.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Most clients read the answer only after they have sent everything, and see a broken connection if we close it before. So a
/// body that is too large is still read and discarded, up to this many times the limit.
const DISCARD_FACTOR: usize = 8;

/// The same for a request that was refused, where the limit is not known.
const MAX_DISCARDED: usize = 256 << 20;

/// Bodies of the largest size that may be in memory at once; further requests wait.
const MAX_LARGEST_BODIES: usize = 8;

/// The limits, shared by all listeners.
#[derive(Clone)]
pub(crate) struct Bodies {
    max_bytes: usize,
    /// In KiB, since a semaphore counts in 32 bits.
    memory: Arc<Semaphore>,
}

impl Bodies {
    pub(crate) fn new(max_bytes: usize) -> Bodies {
        let memory = kibibytes(max_bytes) as usize * MAX_LARGEST_BODIES;
        Bodies { max_bytes, memory: Arc::new(Semaphore::new(memory.min(Semaphore::MAX_PERMITS))) }
    }
}

fn kibibytes(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX / MAX_LARGEST_BODIES as u32)
}

pub(crate) async fn read_whole(State(bodies): State<Bodies>, request: Request, next: Next) -> Response {
    let max_bytes = bodies.max_bytes;
    // A request without a body, such as a WebSocket upgrade, takes no memory.
    let size = if request.body().is_end_stream() { Some(0) } else { body_size(&request) };
    let announced = size.unwrap_or(max_bytes).min(max_bytes);
    // Held until the answer is made, because the body is in memory until then.
    let Ok(_memory) = bodies.memory.acquire_many(kibibytes(announced)).await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (parts, body) = request.into_parts();
    match tokio::time::timeout(BODY_TIMEOUT, collect(body, max_bytes)).await {
        Ok(Ok(whole)) => next.run(Request::from_parts(parts, Body::from(whole))).await,
        Ok(Err(error)) => refuse(error, max_bytes),
        Err(_) => refuse(BodyError::TooSlow, max_bytes),
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
    // A client that expects to be told to continue sends nothing after this answer.
    if !request.headers().contains_key(header::EXPECT) {
        tokio::spawn(tokio::time::timeout(BODY_TIMEOUT, collect(request.into_body(), 0)));
    }
    answer
}

fn body_size(request: &Request) -> Option<usize> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[derive(Clone, Copy)]
enum BodyError {
    TooLarge,
    TooSlow,
    Broken,
}

async fn collect(mut body: Body, max_bytes: usize) -> Result<Bytes, BodyError> {
    let mut whole = BytesMut::new();
    let mut seen = 0usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        if seen <= max_bytes {
            whole.extend_from_slice(&data);
        } else {
            whole = BytesMut::new();
            let most = if max_bytes == 0 { MAX_DISCARDED } else { max_bytes.saturating_mul(DISCARD_FACTOR) };
            if seen > most {
                break;
            }
        }
    }
    if seen > max_bytes { Err(BodyError::TooLarge) } else { Ok(whole.freeze()) }
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
            format!("the request did not arrive within {} s", BODY_TIMEOUT.as_secs()),
        ),
        BodyError::Broken => {
            (StatusCode::BAD_REQUEST, "broken_request", "the request was cut off".to_owned())
        }
    };
    let error = json!({"code": -32600, "message": message, "data": {"code": code}});
    let mut response =
        (status, axum::Json(json!({"jsonrpc": "2.0", "id": null, "error": error}))).into_response();
    // The rest of the body must not be read as the next request.
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
