//! REST for agents and their reviews, below `/api`; and counters, at `/metrics`.
//!
//! Everything here requires the server's token, with two exceptions. At `/api/call/TOOL` the server of an instance forwards its
//! agent's calls, validated, with the instance's identity; and an identity may read the instances of its own repository. Errors
//! are the contract's object, with a status by its code.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tamis_agents::{
    AgentsError, Code, CreateIssues, CreatePullRequest, ErrorObject, IdError, InstanceId, RequestReview,
    SendFeedback, StartRequest,
};
use tamis_coordinator::{
    AgentService, EventQuery, IDEMPOTENCY_KEY_HEADER, InstanceQuery, TIME_LEFT_HEADER, ToolRequest,
    identity_required, parse_forwarded,
};
use tamis_redact::{Redacted, excerpt};

use crate::Served;
use crate::body::{self, Bodies};
use crate::guard::{Admitted, only_with_identity, only_with_token, only_with_token_or_identity};
use crate::routes::{not_found, not_found_in_api};
use crate::ws::{self, Followers};

/// What these routes call themselves where an error names a tool.
const TOOL: &str = "api";

/// Where calls of agents are forwarded to.
const CALLS: &str = "/api/call/";

/// The contract's other name of `create_pull_request`.
const ALIAS: &str = "create_pr";

/// Characters of the name of a tool that does not exist, and bytes of an error.
const LONGEST_TOOL: usize = 64;
const LONGEST_ERROR: usize = 1 << 20;

/// Maximum length of an idempotency key.
const LONGEST_KEY: usize = 64;

type Answer<T> = Result<axum::Json<T>, ApiError>;

pub(crate) fn routes(followers: Followers, bodies: &Bodies) -> Router<Served> {
    let read_whole = || from_fn_with_state(bodies.clone(), body::read_whole);
    let api = Router::new()
        .route("/instances", post(start))
        .route("/instances/{id}/stop", post(stop))
        .route("/instances/{id}/abandon", post(abandon))
        .route("/events", get(events))
        .route("/feedback", get(feedback))
        .route("/config", get(config))
        .route("/config/{key}", put(set_config))
        .route("/gc", post(gc))
        .route("/reconcile", post(reconcile))
        .fallback(not_found_in_api)
        .layer(read_whole())
        .layer(from_fn(only_with_token));
    let others = Router::new()
        .route("/metrics", get(metrics))
        .route("/ws", get(ws::follow))
        .layer(Extension(followers))
        .layer(from_fn(only_with_token));
    let calls = Router::new()
        .route("/api/call/request_review", post(forwarded::<RequestReview>))
        .route("/api/call/send_feedback", post(forwarded::<SendFeedback>))
        .route("/api/call/create_pull_request", post(forwarded::<CreatePullRequest>))
        .route("/api/call/create_pr", post(forwarded::<CreatePullRequest>))
        .route("/api/call/create_issues", post(forwarded::<CreateIssues>))
        .route("/api/call/{tool}", post(not_found))
        .layer(read_whole())
        .layer(from_fn(only_with_identity));
    let reads = Router::new()
        .route("/api/instances", get(instances))
        .route("/api/instances/{id}", get(details))
        .layer(read_whole())
        .layer(from_fn(only_with_token_or_identity));
    Router::new().merge(calls).merge(reads).nest("/api", api).merge(others)
}

/// Gives every error below `/api/call/` the contract's form, whichever layer refused the request.
pub(crate) async fn state_call_errors(request: Request, next: Next) -> Response {
    let tool = request.uri().path().strip_prefix(CALLS).map(|tool| excerpt(of_alias(tool), LONGEST_TOOL));
    let response = next.run(request).await;
    let Some(tool) = tool.filter(|_| !response.status().is_success()) else { return response };
    let (mut parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, LONGEST_ERROR).await.unwrap_or_default();
    let error = match serde_json::from_slice::<ErrorObject>(&body) {
        Ok(object) => AgentsError::from(object),
        Err(_) => restated(parts.status, &serde_json::from_slice(&body).unwrap_or_default()),
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = serde_json::to_vec(&error.to_object(&tool)).unwrap_or_default();
    Response::from_parts(parts, Body::from(body))
}

/// The name of the tool that an alias stands for.
fn of_alias(tool: &str) -> &str {
    if tool == ALIAS { CreatePullRequest::TOOL } else { tool }
}

/// An error of another form: that of the guard, of a body that does not arrive, or of a route that does not exist.
fn restated(status: StatusCode, body: &Value) -> AgentsError {
    let code = match status {
        StatusCode::UNAUTHORIZED => Code::IdentityRequired,
        StatusCode::FORBIDDEN => Code::PermissionDenied,
        StatusCode::REQUEST_TIMEOUT => Code::Timeout,
        // It was not done, and may be sent again.
        StatusCode::SERVICE_UNAVAILABLE => Code::CoordinatorUnavailable,
        status if status.is_server_error() => Code::InternalError,
        _ => Code::ValidationError,
    };
    let text = |name: &str| body["error"][name].as_str();
    let message = text("message").or(status.canonical_reason()).unwrap_or("the request failed");
    // The guard's messages are words for programs. Others are sentences, which may quote a path.
    let message = if message.contains(' ') { message.to_owned() } else { message.replace('_', " ") };
    let error = AgentsError::new(code, message);
    match text("hint") {
        Some(hint) => error.suggest(hint),
        None => error,
    }
}

/// An error as an answer: the contract's object, which names a tool.
pub(crate) struct ApiError {
    error: AgentsError,
    tool: &'static str,
}

impl From<AgentsError> for ApiError {
    fn from(error: AgentsError) -> ApiError {
        ApiError { error, tool: TOOL }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (status_of(self.error.code), axum::Json(self.error.to_object(self.tool))).into_response()
    }
}

fn status_of(code: Code) -> StatusCode {
    match code {
        Code::ValidationError | Code::AgentNotFound => StatusCode::BAD_REQUEST,
        Code::IdentityRequired => StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::InstanceNotFound => StatusCode::NOT_FOUND,
        Code::InvalidState
        | Code::ReviewLimitExceeded
        | Code::ReviewUnchanged
        | Code::DuplicateFeedback
        | Code::UncommittedChanges
        | Code::NoChanges
        | Code::WorktreeBusy
        | Code::GitLocked => StatusCode::CONFLICT,
        Code::GitError
        | Code::TmuxError
        | Code::GithubUnauthorized
        | Code::GithubForbidden
        | Code::GithubRejected
        | Code::GithubUnavailable => StatusCode::BAD_GATEWAY,
        Code::DatabaseError | Code::FileError | Code::CoordinatorUnavailable => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Code::Timeout => StatusCode::GATEWAY_TIMEOUT,
        Code::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

async fn instances(
    State(served): State<Served>,
    Extension(admitted): Extension<Admitted>,
    parsed: Result<Query<InstanceQuery>, QueryRejection>,
) -> Answer<impl Serialize> {
    let query = valid_query(parsed)?;
    read_tables(&served, move |agents| agents.instances(&query, admitted.identity.as_deref())).await
}

async fn details(
    State(served): State<Served>,
    Extension(admitted): Extension<Admitted>,
    Path(id): Path<String>,
) -> Answer<impl Serialize> {
    let id = instance(&id)?;
    read_tables(&served, move |agents| agents.details(&id, admitted.identity.as_deref())).await
}

async fn events(
    State(served): State<Served>,
    parsed: Result<Query<EventQuery>, QueryRejection>,
) -> Answer<impl Serialize> {
    let query = valid_query(parsed)?;
    read_tables(&served, move |agents| agents.events(&query)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FeedbackQuery {
    instance: Option<String>,
}

async fn feedback(
    State(served): State<Served>,
    parsed: Result<Query<FeedbackQuery>, QueryRejection>,
) -> Answer<impl Serialize> {
    let id = valid_query(parsed)?.instance.as_deref().map(instance).transpose()?;
    read_tables(&served, move |agents| agents.feedback(id.as_ref())).await
}

async fn config(State(served): State<Served>) -> Answer<impl Serialize> {
    read_tables(&served, |agents| agents.config()).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewValue {
    value: Value,
}

async fn set_config(
    State(served): State<Served>,
    Path(key): Path<String>,
    body: Bytes,
) -> Answer<impl Serialize> {
    let value = match json_body::<NewValue>(&body)?.value {
        Value::String(value) => value,
        // A number's digits are what is stored, either way.
        Value::Number(value) => value.to_string(),
        _ => return Err(invalid("value: expected a string or a number").into()),
    };
    read_tables(&served, move |agents| {
        agents.set_config(&key, &value)?;
        Ok(agents.config()?.into_iter().find(|setting| setting.key == key))
    })
    .await
}

async fn start(
    State(served): State<Served>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<impl IntoResponse, ApiError> {
    let request: StartRequest = json_body(&body)?;
    if !request.folder.is_absolute() {
        return Err(invalid("folder: expected an absolute path").into());
    }
    let agents = coordinator(&served, &headers)?;
    let id = agents.start(request).await?.id;
    let shown = read_tables(&served, move |agents| agents.details(&id, None)).await?;
    Ok((StatusCode::CREATED, shown))
}

async fn stop(
    State(served): State<Served>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Answer<impl Serialize> {
    let id = instance(&id)?;
    coordinator(&served, &headers)?.stop(&id).await?;
    read_tables(&served, move |agents| agents.details(&id, None)).await
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AbandonBody {
    reason: Option<String>,
}

async fn abandon(
    State(served): State<Served>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer<impl Serialize> {
    let id = instance(&id)?;
    let reason = if body.is_empty() { None } else { json_body::<AbandonBody>(&body)?.reason };
    coordinator(&served, &headers)?.abandon(&id, reason.as_deref()).await?;
    read_tables(&served, move |agents| agents.details(&id, None)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GcQuery {
    #[serde(default)]
    dry_run: bool,
}

async fn gc(
    State(served): State<Served>,
    headers: HeaderMap,
    parsed: Result<Query<GcQuery>, QueryRejection>,
) -> Answer<impl Serialize> {
    let dry_run = valid_query(parsed)?.dry_run;
    let disposals = coordinator(&served, &headers)?.gc(dry_run).await?;
    Ok(axum::Json(Redacted::new(disposals)))
}

async fn reconcile(State(served): State<Served>, headers: HeaderMap) -> Answer<impl Serialize> {
    let repairs = coordinator(&served, &headers)?.reconcile().await?;
    Ok(axum::Json(Redacted::new(repairs)))
}

/// An agent's call, forwarded by the server of its instance, which has validated it. It is not forwarded again.
async fn forwarded<R: ToolRequest>(
    State(served): State<Served>,
    Extension(admitted): Extension<Admitted>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer<<R as ToolRequest>::Answer> {
    let counted = served.services.metrics.begin(R::TOOL);
    let answer = forwarded_answer::<R>(&served, admitted.identity, &headers, &body).await;
    counted.end(answer.as_ref().err().map(|error| error.code.as_str()));
    answer.map(axum::Json).map_err(|error| ApiError { error, tool: R::TOOL })
}

async fn forwarded_answer<R: ToolRequest>(
    served: &Served,
    identity: Option<String>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<<R as ToolRequest>::Answer, AgentsError> {
    let key = idempotency_key(headers)?;
    let identity = identity.ok_or_else(identity_required)?;
    let agents = agents(served)?;
    let request = match parse_forwarded::<R>(body) {
        Ok(request) => request,
        Err(error) => {
            let input = serde_json::from_slice(body).unwrap_or_default();
            let owner = agents
                .record_refusal(R::TOOL, Some(identity), input, error.clone())
                .await
                .unwrap_or_else(|error| {
                    tracing::warn!(%error, "cannot record a refused call");
                    None
                });
            return Err(AgentsError { instance: owner, ..error });
        }
    };
    agents.perform_forwarded(identity, key, time_left(headers), request).await
}

async fn metrics(State(served): State<Served>) -> Response {
    let services = Arc::clone(&served.services);
    match tokio::task::spawn_blocking(move || services.metrics_text()).await {
        Ok(text) => {
            ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Records a forwarded call without a valid identity in the audit trail, which no answer waits for.
pub(crate) fn record_stranger(served: &Served, path: &str) {
    let tools = [RequestReview::TOOL, SendFeedback::TOOL, CreatePullRequest::TOOL, CreateIssues::TOOL];
    let called = path.strip_prefix(CALLS).map(of_alias);
    let tool = tools.into_iter().find(|tool| called == Some(*tool));
    let (Some(tool), Some(agents)) = (tool, served.services.agents().cloned()) else { return };
    tokio::spawn(async move {
        if let Err(error) = agents.record_refusal(tool, None, Value::Null, identity_required()).await {
            tracing::warn!(%error, "cannot record a refused call");
        }
    });
}

/// The agents of this process.
pub(crate) fn agents(served: &Served) -> Result<Arc<AgentService>, AgentsError> {
    let missing = || {
        AgentsError::new(Code::CoordinatorUnavailable, "agents are not served here")
            .suggest("`tamis serve` serves them")
    };
    served.services.agents().cloned().ok_or_else(missing)
}

/// The same for a request to the coordinator. One that another process forwarded here is not forwarded again.
fn coordinator(served: &Served, headers: &HeaderMap) -> Result<Arc<AgentService>, AgentsError> {
    let agents = agents(served)?;
    if idempotency_key(headers)?.is_some() {
        agents.require_leader()?;
    }
    Ok(agents)
}

/// Reads the tables away from the threads that serve connections.
async fn read_tables<T: Serialize + Send + 'static>(
    served: &Served,
    read: impl FnOnce(&AgentService) -> Result<T, AgentsError> + Send + 'static,
) -> Answer<T> {
    let agents = agents(served)?;
    let read = tokio::task::spawn_blocking(move || read(&agents)).await;
    let panicked = |_| AgentsError::new(Code::InternalError, "the route panicked");
    Ok(axum::Json(read.map_err(panicked)??))
}

fn invalid(message: &str) -> AgentsError {
    AgentsError::new(Code::ValidationError, message)
}

fn instance(id: &str) -> Result<InstanceId, AgentsError> {
    id.parse().map_err(|error: IdError| invalid(&error.to_string()))
}

pub(crate) fn valid_query<T>(parsed: Result<Query<T>, QueryRejection>) -> Result<T, AgentsError> {
    match parsed {
        Ok(Query(query)) => Ok(query),
        Err(rejection) => Err(invalid(&rejection.body_text())),
    }
}

fn json_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, AgentsError> {
    serde_json::from_slice(body).map_err(|error| invalid(&format!("invalid request body: {error}")))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, AgentsError> {
    let Some(key) = headers.get(IDEMPOTENCY_KEY_HEADER) else { return Ok(None) };
    let valid = key.to_str().ok().filter(|key| (1..=LONGEST_KEY).contains(&key.len()));
    valid.map(|key| Some(key.to_owned())).ok_or_else(|| invalid("Tamis-Call: expected 1 to 64 characters"))
}

fn time_left(headers: &HeaderMap) -> Option<Duration> {
    headers.get(TIME_LEFT_HEADER)?.to_str().ok()?.parse().ok().map(Duration::from_millis)
}
