//! The dashboard: the files of its page, how it gets in, and what it reads, below `/api/page`.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use http::uri::Authority;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tamis_coordinator::AgentService;
use tamis_dashboard::{
    Dashboard, NowQuery, PageCompareQuery, PageError, PageErrorKind, PageEventsQuery, PageSearchQuery,
    PageSessionsQuery, page_file,
};
use tokio_util::sync::CancellationToken;

use crate::body::{self, Bodies};
use crate::guard::only_with_token;
use crate::page_agents;
use crate::page_live::{self, LiveFeed};
use crate::page_prunes;
use crate::page_session::{CodeRefusal, PageSessions, clear_cookie, set_cookie};
use crate::ws::Followers;

/// Where the page sends its one-time code. Open to all: the code is the credential.
pub(crate) const ENTER: &str = "/api/page/enter";

/// Where `tamis open` gets a link. Needs the token: a browser that is signed in must not be able to sign in others.
pub(crate) const LINK: &str = "/api/page/link";

/// The page runs its own script and style, talks to its own server, and is shown in no frame.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// With every answer of these routes.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(crate) type Answer = Result<JsonText, PageFailure>;

/// An answer that is already written: that takes long for large ones.
pub(crate) struct JsonText(Vec<u8>);

impl IntoResponse for JsonText {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

/// What these routes need.
#[derive(Clone)]
pub(crate) struct PageState {
    pub(crate) dashboard: Arc<Dashboard>,
    pub(crate) sessions: PageSessions,
    /// The agents, where they are served.
    pub(crate) agents: Option<Arc<AgentService>>,
    pub(crate) live: LiveFeed,
}

/// Everything but the files, which are served where no other route is.
pub(crate) fn routes(state: PageState, followers: Followers, bodies: &Bodies) -> Router {
    let read_whole = || from_fn_with_state(bodies.clone(), body::read_whole);
    let data = Router::new()
        .route("/status", get(status))
        .route("/sessions", get(sessions))
        .route("/sessions/filters", get(session_filters))
        .route("/sessions/{id}", get(session))
        .route("/sessions/{id}/outline", get(session_outline))
        .route("/sessions/{id}/events", get(session_events))
        .route("/sessions/{id}/events/{number}", get(session_event))
        .route("/sessions/{id}/analysis", get(session_analysis))
        .route("/search", get(search_sessions))
        .route("/compare", get(compare_sessions))
        .route("/now", get(now))
        .route("/now/start", get(now_start))
        .merge(page_agents::routes())
        .route("/link", post(link))
        .route("/leave", post(leave))
        .merge(page_prunes::routes())
        .layer(read_whole())
        .layer(from_fn(only_with_token));
    let live = Router::new()
        .route("/live", get(page_live::connect))
        .layer(Extension(followers))
        .layer(from_fn(only_with_token));
    let open = Router::new().route("/enter", post(enter)).layer(read_whole());
    Router::new()
        .nest("/api/page", data.merge(live).merge(open))
        .layer(from_fn(with_headers))
        .with_state(state)
}

/// The file of the page at this path.
pub(crate) fn file(request: &Request) -> Option<Response> {
    let is_reading = [http::Method::GET, http::Method::HEAD].contains(request.method());
    let file = page_file(request.uri().path()).filter(|_| is_reading)?;
    let tag = format!("\"{}\"", &blake3::hash(file.bytes).to_hex()[..32]);
    let is_known =
        request.headers().get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let headers = [(header::ETAG, tag.as_str()), (header::CACHE_CONTROL, "no-cache")];
    let mut response = if is_known {
        (StatusCode::NOT_MODIFIED, headers).into_response()
    } else {
        (headers, [(header::CONTENT_TYPE, file.content_type)], file.bytes).into_response()
    };
    add_headers(&mut response);
    Some(response)
}

async fn with_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    add_headers(&mut response);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn add_headers(response: &mut Response) {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnterBody {
    code: String,
}

/// Signs the browser in.
async fn enter(State(state): State<PageState>, headers: HeaderMap, body: Bytes) -> Response {
    let Ok(EnterBody { code }) = serde_json::from_slice(&body) else {
        let invalid = PageError::new(PageErrorKind::Invalid, "expected {\"code\": \"…\"}");
        return PageFailure(invalid).into_response();
    };
    let (code, message) = match state.sessions.enter(&code, Instant::now(), SystemTime::now()) {
        Ok(Some(cookie)) => {
            let cookie = set_cookie(port(&headers), &cookie);
            return (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response();
        }
        Ok(None) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Err(CodeRefusal::Used) => ("link_used", "this link was used already; each works once"),
        Err(CodeRefusal::Unknown) => ("link_unknown", "this link is not known, or too old"),
    };
    let error = json!({"code": code, "message": message, "hint": "run `tamis open` for a new link"});
    (StatusCode::UNAUTHORIZED, axum::Json(json!({"error": error}))).into_response()
}

/// Signs the browser out.
async fn leave(headers: HeaderMap) -> Response {
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, clear_cookie(port(&headers)))]).into_response()
}

/// A new one-time code, for `tamis open`.
async fn link(State(state): State<PageState>) -> Response {
    match state.sessions.new_code(Instant::now()) {
        Some(code) => axum::Json(json!({"code": code})).into_response(),
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn port(headers: &HeaderMap) -> Option<u16> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    host.parse::<Authority>().ok()?.port_u16()
}

async fn status(State(state): State<PageState>) -> Answer {
    read(&state, |dashboard| Ok(dashboard.status())).await
}

async fn sessions(State(state): State<PageState>, Query(query): Query<PageSessionsQuery>) -> Answer {
    read(&state, move |dashboard| dashboard.sessions(&query)).await
}

async fn session_filters(State(state): State<PageState>) -> Answer {
    read(&state, Dashboard::session_filters).await
}

async fn session(State(state): State<PageState>, Path(id): Path<String>) -> Answer {
    read(&state, move |dashboard| dashboard.session(&id)).await
}

async fn session_outline(State(state): State<PageState>, Path(id): Path<String>) -> Answer {
    read(&state, move |dashboard| dashboard.session_outline(&id)).await
}

async fn session_events(
    State(state): State<PageState>,
    Path(id): Path<String>,
    Query(query): Query<PageEventsQuery>,
) -> Answer {
    read(&state, move |dashboard| dashboard.session_events(&id, &query)).await
}

async fn session_event(State(state): State<PageState>, Path((id, number)): Path<(String, u64)>) -> Answer {
    read(&state, move |dashboard| dashboard.session_event(&id, number)).await
}

async fn session_analysis(State(state): State<PageState>, Path(id): Path<String>) -> Answer {
    read(&state, move |dashboard| dashboard.session_analysis(&id)).await
}

async fn search_sessions(State(state): State<PageState>, Query(query): Query<PageSearchQuery>) -> Answer {
    // Dropped with the request: a search for which no reader waits any more ends.
    let cancellation = CancellationToken::new();
    let _cancelled = cancellation.clone().drop_guard();
    read(&state, move |dashboard| dashboard.search_sessions(&query, &|| cancellation.is_cancelled())).await
}

async fn compare_sessions(State(state): State<PageState>, Query(query): Query<PageCompareQuery>) -> Answer {
    read(&state, move |dashboard| dashboard.compare_sessions(&query)).await
}

async fn now(State(state): State<PageState>, Query(query): Query<NowQuery>) -> Answer {
    read(&state, move |dashboard| dashboard.now(query)).await
}

async fn now_start(State(state): State<PageState>) -> Answer {
    read(&state, |dashboard| Ok(dashboard.now_start())).await
}

/// Reads, and writes the answer, away from the threads that serve connections.
pub(crate) async fn read<T: Serialize>(
    state: &PageState,
    read: impl FnOnce(&Dashboard) -> Result<T, PageError> + Send + 'static,
) -> Answer {
    let dashboard = Arc::clone(&state.dashboard);
    let failed = || PageError::new(PageErrorKind::Failed, "the server failed to answer");
    let read =
        tokio::task::spawn_blocking(move || serde_json::to_vec(&read(&dashboard)?).map_err(|_| failed()));
    Ok(JsonText(read.await.map_err(|_| failed())??))
}

/// An error as an answer.
pub(crate) struct PageFailure(pub(crate) PageError);

impl From<PageError> for PageFailure {
    fn from(error: PageError) -> PageFailure {
        PageFailure(error)
    }
}

impl IntoResponse for PageFailure {
    fn into_response(self) -> Response {
        let PageFailure(PageError { kind, message, hint }) = self;
        let status = match kind {
            PageErrorKind::Invalid => StatusCode::BAD_REQUEST,
            PageErrorKind::NotFound => StatusCode::NOT_FOUND,
            PageErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            PageErrorKind::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let error = json!({"code": kind, "message": message, "hint": hint});
        (status, axum::Json(json!({"error": error}))).into_response()
    }
}
