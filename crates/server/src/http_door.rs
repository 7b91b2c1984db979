//! All routes of the HTTP door, as one service for any listener.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tamis_tools::Caller;
use tokio_util::sync::CancellationToken;

use crate::body::Bodies;
use crate::envelope::{json_value, message};
use crate::guard::{self, Guard};
use crate::mcp::McpDoor;
use crate::ws::Followers;
use crate::{Exposure, HostPolicy, Served, Token, api, body, routes, rpc};

/// What the routes need to know beside what they serve.
#[derive(Clone)]
pub struct HttpSettings {
    pub max_body_bytes: usize,
    pub hosts: HostPolicy,
    pub token: Option<Token>,
}

/// The routes, before it is known who can reach them.
pub struct HttpDoor {
    served: Served,
    settings: HttpSettings,
    bodies: Bodies,
    pub(crate) followers: Followers,
    /// Ends what rmcp still has under way. It would cut answers short, so it comes after all else.
    pub(crate) last_call: CancellationToken,
}

impl HttpDoor {
    pub fn new(served: Served, settings: HttpSettings) -> HttpDoor {
        let bodies = Bodies::new(settings.max_body_bytes);
        HttpDoor {
            served,
            settings,
            bodies,
            followers: Followers::default(),
            last_call: CancellationToken::new(),
        }
    }

    /// The routes for a listener of this exposure.
    pub fn router(&self, exposure: Exposure) -> Router {
        let guard = Guard {
            exposure,
            hosts: Arc::new(self.settings.hosts.clone()),
            token: self.settings.token.clone(),
        };
        Router::new()
            .route("/rpc", post(rpc::answer))
            .route("/prune", post(routes::prune))
            .route("/health", get(routes::health))
            .merge(api::routes(self.followers.clone()))
            .with_state(self.served.clone())
            .merge(Router::new().route_service("/mcp", self.mcp()).layer(from_fn(only_messages)))
            .fallback(not_found)
            // Bodies are bounded below, once for all; axum's own limit is lower.
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn_with_state(self.bodies.clone(), body::read_whole))
            .layer(from_fn_with_state(guard, guard::check))
    }

    /// Stateless, and plain JSON unless a tool reports progress: Gemini CLI needs both, and no session can leak.
    fn mcp(&self) -> StreamableHttpService<McpDoor, LocalSessionManager> {
        let served = self.served.clone();
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(self.settings.max_body_bytes)
            .with_cancellation_token(self.last_call.clone())
            // The guard has checked both for every route.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        StreamableHttpService::new(
            move || Ok(McpDoor::over_http(served.clone())),
            Arc::new(LocalSessionManager::default()),
            config,
        )
    }
}

/// Answers what is no message, which rmcp takes for an unsupported media type.
async fn only_messages(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    match json_value(&body).and_then(message).and_then(|message| message.check_params()) {
        Ok(()) => next.run(Request::from_parts(parts, body.clone().into())).await,
        Err(unfit) => {
            let answer = unfit.to_json();
            (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "application/json")], answer).into_response()
        }
    }
}

pub(crate) async fn not_found(uri: axum::http::Uri) -> Response {
    let hint = "POST /rpc, POST /mcp, POST /prune, GET /health, GET /metrics, GET /ws, and below /api: GET and POST \
        instances, GET instances/{id}, POST instances/{id}/stop, POST instances/{id}/abandon, GET events, GET feedback, \
        GET config, PUT config/{key}, POST gc, POST reconcile and POST call/{tool} are served here";
    let error = json!({"code": "not_found", "message": format!("no route {}", uri.path()), "hint": hint});
    (StatusCode::NOT_FOUND, axum::Json(json!({"error": error}))).into_response()
}

/// What is known of a caller that only sends plain HTTP.
pub(crate) fn caller(door: &str, headers: &HeaderMap) -> Caller {
    Caller { door: door.to_owned(), client: product(headers), ..Caller::default() }
}

/// The program that sent a request, as it calls itself.
pub(crate) fn product(headers: &HeaderMap) -> Option<String> {
    headers
        .get(header::USER_AGENT)
        .and_then(|agent| agent.to_str().ok())
        .and_then(|agent| agent.split_whitespace().next())
        .map(|product| product.chars().take(100).collect())
}
