//! All routes of the HTTP door, as one router for any listener.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tamis_dashboard::Dashboard;
use tamis_tools::Caller;
use tokio_util::sync::CancellationToken;

use crate::body::Bodies;
use crate::connections::Connections;
use crate::envelope::{json_value, message};
use crate::guard::{self, Admitted, Guard};
use crate::mcp::McpDoor;
use crate::page::{self, PageState};
use crate::page_live::LiveFeed;
use crate::page_session::PageSessions;
use crate::ws::Followers;
use crate::{Exposure, HostPolicy, Served, ServerToken, api, body, health_and_prune, rpc};

/// Bodies of the largest size that may be in memory at once, for trusted and for anonymous callers each.
const MAX_LARGEST_BODIES: usize = 4;

/// Settings of the HTTP door.
#[derive(Clone)]
pub struct HttpSettings {
    pub max_body_bytes: usize,
    pub hosts: HostPolicy,
    pub token: Option<ServerToken>,
    /// Where there is one, its page is served too.
    pub dashboard: Option<Arc<Dashboard>>,
}

/// The HTTP door, which makes a router for each listener.
pub struct HttpDoor {
    served: Served,
    settings: HttpSettings,
    bodies: Bodies,
    page_sessions: PageSessions,
    page_live: LiveFeed,
    pub(crate) connections: Connections,
    pub(crate) followers: Followers,
    /// Cancels what rmcp still runs. It would cut answers short, so it is cancelled last.
    pub(crate) rmcp_shutdown: CancellationToken,
}

impl HttpDoor {
    pub fn new(served: Served, settings: HttpSettings) -> HttpDoor {
        let bodies = Bodies::new(settings.max_body_bytes);
        let connections = Connections::new(settings.max_body_bytes.saturating_mul(MAX_LARGEST_BODIES));
        let page_sessions = PageSessions::new(settings.token.as_ref());
        HttpDoor {
            served,
            page_sessions,
            page_live: LiveFeed::default(),
            settings,
            bodies,
            connections,
            followers: Followers::default(),
            rmcp_shutdown: CancellationToken::new(),
        }
    }

    /// The routes for a listener of this exposure.
    pub fn router(&self, exposure: Exposure) -> Router {
        let guard = Guard {
            exposure,
            hosts: Arc::new(self.settings.hosts.clone()),
            token: self.settings.token.clone(),
            page_sessions: self.page_sessions.clone(),
        };
        let page = self.settings.dashboard.clone().map_or_else(Router::new, |dashboard| {
            let state = PageState {
                dashboard,
                sessions: self.page_sessions.clone(),
                agents: self.served.services.agents().cloned(),
                live: self.page_live.clone(),
            };
            page::routes(state, self.followers.clone(), &self.bodies)
        });
        let has_page = self.settings.dashboard.is_some();
        Router::new()
            .route("/rpc", post(rpc::answer))
            .route("/prune", post(health_and_prune::prune))
            .route("/health", get(health_and_prune::health))
            .with_state(self.served.clone())
            .merge(Router::new().route_service("/mcp", self.mcp()).layer(from_fn(check_message)))
            // Each group of routes reads bodies after its own checks of the headers.
            .layer(from_fn_with_state(self.bodies.clone(), body::read_whole))
            .merge(api::routes(self.followers.clone(), &self.bodies).with_state(self.served.clone()))
            .merge(page)
            .fallback(move |request: Request| page_or_not_found(has_page, request))
            // `body::read_whole` limits bodies; axum's own limit is lower.
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn_with_state((guard, self.served.clone()), guard::check))
            .layer(from_fn(api::state_call_errors))
    }

    /// A new code for the one-time link to the page, if there is a page.
    pub fn page_code(&self) -> Option<String> {
        self.settings.dashboard.as_ref()?;
        self.page_sessions.new_code(Instant::now())
    }

    /// Stateless and plain JSON unless a tool reports progress: Gemini CLI needs both, and no session can leak.
    fn mcp(&self) -> StreamableHttpService<McpDoor, LocalSessionManager> {
        let served = self.served.clone();
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(self.settings.max_body_bytes)
            .with_cancellation_token(self.rmcp_shutdown.clone())
            // The guard checks both for every route.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        StreamableHttpService::new(
            move || Ok(McpDoor::over_http(served.clone())),
            Arc::new(LocalSessionManager::default()),
            config,
        )
    }
}

/// Answers invalid messages, which rmcp would answer with "unsupported media type".
async fn check_message(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    match json_value(&body).and_then(message).and_then(|message| message.check_params()) {
        Ok(()) => next.run(Request::from_parts(parts, body.clone().into())).await,
        Err(invalid) => {
            let answer = invalid.to_json();
            (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "application/json")], answer).into_response()
        }
    }
}

async fn page_or_not_found(has_page: bool, request: Request) -> Response {
    match page::file(&request).filter(|_| has_page) {
        Some(file) => file,
        None => not_found(request.uri().clone()).await,
    }
}

pub(crate) async fn not_found(uri: axum::http::Uri) -> Response {
    no_route(uri.path())
}

/// The same below a nested router, where the request has only the rest of its path.
pub(crate) async fn not_found_in_api(uri: axum::http::Uri) -> Response {
    no_route(&format!("/api{}", uri.path()))
}

fn no_route(path: &str) -> Response {
    let hint = "POST /rpc, POST /mcp, POST /prune, GET /health, GET /metrics, GET /ws, and below /api: GET and POST \
        instances, GET instances/{id}, POST instances/{id}/stop, POST instances/{id}/abandon, GET events, GET feedback, \
        GET config, PUT config/{key}, POST gc, POST reconcile and POST call/{tool} are served here";
    let error = json!({"code": "not_found", "message": format!("no route {path}"), "hint": hint});
    (StatusCode::NOT_FOUND, axum::Json(json!({"error": error}))).into_response()
}

/// The caller of a plain HTTP request.
pub(crate) fn caller(door: &str, headers: &HeaderMap, admitted: &Admitted) -> Caller {
    Caller {
        is_anonymous: !admitted.is_trusted(),
        door: door.to_owned(),
        client: product(headers),
        ..Caller::default()
    }
}

/// The program that sent a request, from its `User-Agent`.
pub(crate) fn product(headers: &HeaderMap) -> Option<String> {
    headers
        .get(header::USER_AGENT)
        .and_then(|agent| agent.to_str().ok())
        .and_then(|agent| agent.split_whitespace().next())
        .map(|product| product.chars().take(100).collect())
}
