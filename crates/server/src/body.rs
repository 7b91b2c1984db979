//! Request bodies, read whole before any route sees them: bounded in size, in time and in sum.
//!
//! One place decides what happens to a body that is too large, too slow or breaks off, so every route answers
//! alike and none can be held open by half a request.

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
const SLOWEST: Duration = Duration::from_secs(30);

/// Most clients only look for an answer once all is sent, and see a broken connection if we hang up before. So
/// what is too large is still read and thrown away, up to this many times the limit.
const PATIENCE: usize = 8;

/// How many of the largest bodies may be in memory at once; others wait their turn.
const LARGEST_AT_ONCE: usize = 8;

/// What the bodies of all listeners share.
#[derive(Clone)]
pub(crate) struct Bodies {
    max_bytes: usize,
    /// In KiB, since a semaphore counts in 32 bits.
    room: Arc<Semaphore>,
}

impl Bodies {
    pub(crate) fn new(max_bytes: usize) -> Bodies {
        let room = kibibytes(max_bytes) as usize * LARGEST_AT_ONCE;
        Bodies { max_bytes, room: Arc::new(Semaphore::new(room.min(Semaphore::MAX_PERMITS))) }
    }
}

fn kibibytes(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX / LARGEST_AT_ONCE as u32)
}

pub(crate) async fn read_whole(State(bodies): State<Bodies>, request: Request, next: Next) -> Response {
    let max_bytes = bodies.max_bytes;
    // A request without a body, such as one that is to become a WebSocket, takes no room.
    let size = if request.body().is_end_stream() { Some(0) } else { body_size(&request) };
    let announced = size.unwrap_or(max_bytes).min(max_bytes);
    // Held until the answer is made, since the body is in memory as long.
    let Ok(_room) = bodies.room.acquire_many(kibibytes(announced)).await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (parts, body) = request.into_parts();
    match tokio::time::timeout(SLOWEST, collect(body, max_bytes)).await {
        Ok(Ok(whole)) => next.run(Request::from_parts(parts, Body::from(whole))).await,
        Ok(Err(flaw)) => refuse(flaw, max_bytes),
        Err(_) => refuse(Flaw::TooSlow, max_bytes),
    }
}

/// Reads past a body that nobody wants, so that the client gets to see why.
pub(crate) async fn discard(body: Body, max_bytes: usize) {
    let _ = tokio::time::timeout(SLOWEST, collect(body, max_bytes)).await;
}

fn body_size(request: &Request) -> Option<usize> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[derive(Clone, Copy)]
enum Flaw {
    TooLarge,
    TooSlow,
    Broken,
}

async fn collect(mut body: Body, max_bytes: usize) -> Result<Bytes, Flaw> {
    let mut whole = BytesMut::new();
    let mut seen = 0usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Flaw::Broken)?.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        if seen <= max_bytes {
            whole.extend_from_slice(&data);
        } else {
            whole = BytesMut::new();
            if seen > max_bytes.saturating_mul(PATIENCE) {
                break;
            }
        }
    }
    if seen > max_bytes { Err(Flaw::TooLarge) } else { Ok(whole.freeze()) }
}

/// In JSON-RPC's form, which is what most routes speak; with no id, since none was read.
fn refuse(flaw: Flaw, max_bytes: usize) -> Response {
    let (status, code, message) = match flaw {
        Flaw::TooLarge => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "input_too_large",
            format!("the request is larger than {max_bytes} bytes"),
        ),
        Flaw::TooSlow => (
            StatusCode::REQUEST_TIMEOUT,
            "timeout",
            format!("the request did not arrive within {} s", SLOWEST.as_secs()),
        ),
        Flaw::Broken => (StatusCode::BAD_REQUEST, "broken_request", "the request broke off".to_owned()),
    };
    let error = json!({"code": -32600, "message": message, "data": {"code": code}});
    let mut response =
        (status, axum::Json(json!({"jsonrpc": "2.0", "id": null, "error": error}))).into_response();
    // What may be left of the body must not be taken for the next request.
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
