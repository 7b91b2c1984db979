//! What the dashboard's pages on prunes and research read.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use hyper::body::Frame;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tamis_dashboard::{
    PageError, PageErrorKind, PagePruneQuery, PageReferenceQuery, PageResearchRequest, PageTrialRequest,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::page::{Answer, PageFailure, PageState, read};

pub(crate) fn routes() -> Router<PageState> {
    Router::new()
        .route("/prunes", get(prunes))
        .route("/prunes/summary", get(prune_summary))
        .route("/prunes/{id}", get(prune))
        .route("/prunes/{id}/lines", get(prune_lines))
        .route("/try", post(try_prune))
        .route("/research", get(research_overview).post(research))
        .route("/research/handoffs/{name}", get(handoff))
        .route("/research/lines", get(reference_lines))
}

async fn prunes(State(state): State<PageState>, Query(query): Query<PagePruneQuery>) -> Answer {
    read(&state, move |dashboard| dashboard.prunes(&query)).await
}

async fn prune_summary(State(state): State<PageState>, Query(query): Query<PagePruneQuery>) -> Answer {
    read(&state, move |dashboard| dashboard.prune_summary(&query)).await
}

async fn prune(State(state): State<PageState>, Path(id): Path<String>) -> Answer {
    read(&state, move |dashboard| dashboard.prune(&id)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinesQuery {
    from: Option<usize>,
    limit: Option<usize>,
}

async fn prune_lines(
    State(state): State<PageState>,
    Path(id): Path<String>,
    Query(query): Query<LinesQuery>,
) -> Answer {
    let (from, limit) = (query.from.unwrap_or(1), query.limit.unwrap_or(usize::MAX));
    read(&state, move |dashboard| dashboard.prune_lines(&id, from, limit)).await
}

async fn try_prune(State(state): State<PageState>, body: Bytes) -> Answer {
    let request: PageTrialRequest = parse(&body)?;
    let cancellation = CancellationToken::new();
    // When the page asks again it gives this request up, and the future is dropped.
    let _gone = cancellation.clone().drop_guard();
    read(&state, move |dashboard| dashboard.try_prune(&request, &cancellation)).await
}

async fn research_overview(State(state): State<PageState>) -> Answer {
    read(&state, |dashboard| dashboard.research_overview()).await
}

async fn handoff(State(state): State<PageState>, Path(name): Path<String>) -> Answer {
    read(&state, move |dashboard| dashboard.handoff(&name)).await
}

async fn reference_lines(State(state): State<PageState>, Query(query): Query<PageReferenceQuery>) -> Answer {
    read(&state, move |dashboard| dashboard.reference_lines(&query)).await
}

/// Answers a question with one JSON object a line, as roles work. The work ends when the page goes away.
async fn research(State(state): State<PageState>, body: Bytes) -> Response {
    let request: PageResearchRequest = match parse(&body) {
        Ok(request) => request,
        Err(invalid) => return PageFailure(invalid).into_response(),
    };
    let cancellation = CancellationToken::new();
    let (send, lines) = unbounded_channel();
    let lines = JsonLines { lines, _gone: cancellation.clone().drop_guard() };
    let dashboard = Arc::clone(&state.dashboard);
    tokio::task::spawn_blocking(move || {
        dashboard.research(request, cancellation, &|event| {
            if let Ok(mut line) = serde_json::to_vec(&event) {
                line.push(b'\n');
                // The page may be gone.
                let _ = send.send(Bytes::from(line));
            }
        });
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::new(lines)).into_response()
}

fn parse<T: DeserializeOwned>(body: &Bytes) -> Result<T, PageError> {
    serde_json::from_slice(body)
        .map_err(|error| PageError::new(PageErrorKind::Invalid, format!("invalid request: {error}")))
}

/// Lines that are sent as they come.
struct JsonLines {
    lines: UnboundedReceiver<Bytes>,
    /// Cancels the work when the connection is gone.
    _gone: DropGuard,
}

impl hyper::body::Body for JsonLines {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.lines.poll_recv(task).map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}
