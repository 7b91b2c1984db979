//! REST for agents and their reviews, below `/api`; and what is counted, at `/metrics`.
//!
//! Everything here is for whoever has the server's token, but for `/api/call/{tool}`: there an instance's own server forwards
//! its agent's calls, with the instance's identity. Errors are the contract's object, with a status that fits its code.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tamis_tools::{
    Access, Agents, AgentsError, Code, Context, EventsAsked, InstanceId, InstancesAsked, Reply, StartRequest,
};

use crate::Served;
use crate::guard::{Admitted, only_with_token};
use crate::routes::{caller, not_found};
use crate::ws::{self, Followers};

/// What these routes call themselves where an error names a tool.
const TOOL: &str = "api";

/// A key of a call is no longer than this.
const LONGEST_KEY: usize = 64;

type Answer<T> = Result<axum::Json<T>, ApiError>;

pub(crate) fn routes(followers: Followers) -> Router<Served> {
    let api = Router::new()
        .route("/instances", get(instances).post(start))
        .route("/instances/{id}", get(details))
        .route("/instances/{id}/stop", post(stop))
        .route("/instances/{id}/abandon", post(abandon))
        .route("/events", get(events))
        .route("/feedback", get(feedback))
        .route("/config", get(config))
        .route("/config/{key}", put(set_config))
        .route("/gc", post(gc))
        .route("/reconcile", post(reconcile))
        .fallback(not_found)
        .layer(from_fn(only_with_token));
    let others = Router::new()
        .route("/metrics", get(metrics))
        .route("/ws", get(ws::follow))
        .layer(Extension(followers))
        .layer(from_fn(only_with_token));
    Router::new().route("/api/call/{tool}", post(call)).nest("/api", api).merge(others)
}

/// An error, as these routes tell it.
pub(crate) struct ApiError(AgentsError);

impl From<AgentsError> for ApiError {
    fn from(error: AgentsError) -> ApiError {
        ApiError(error)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (status_of(self.0.code), axum::Json(self.0.to_json(TOOL))).into_response()
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
    asked: Result<Query<InstancesAsked>, QueryRejection>,
) -> Answer<impl Serialize> {
    let asked = query(asked)?;
    look(&served, move |agents| agents.instances(&asked)).await
}

async fn details(State(served): State<Served>, Path(id): Path<String>) -> Answer<impl Serialize> {
    let id = instance(&id)?;
    look(&served, move |agents| agents.details(&id)).await
}

async fn events(
    State(served): State<Served>,
    asked: Result<Query<EventsAsked>, QueryRejection>,
) -> Answer<impl Serialize> {
    let asked = query(asked)?;
    look(&served, move |agents| agents.events(&asked)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FeedbackAsked {
    instance: Option<String>,
}

async fn feedback(
    State(served): State<Served>,
    asked: Result<Query<FeedbackAsked>, QueryRejection>,
) -> Answer<impl Serialize> {
    let id = query(asked)?.instance.as_deref().map(instance).transpose()?;
    look(&served, move |agents| agents.feedback(id.as_ref())).await
}

async fn config(State(served): State<Served>) -> Answer<impl Serialize> {
    look(&served, |agents| agents.config()).await
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
        _ => return Err(invalid("value: a string or a number is expected").into()),
    };
    look(&served, move |agents| {
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
        return Err(invalid("folder: an absolute path is expected").into());
    }
    let agents = coordinating(&served, &headers)?;
    let id = agents.start(request).await?.id;
    let shown = look(&served, move |agents| agents.details(&id)).await?;
    Ok((StatusCode::CREATED, shown))
}

async fn stop(
    State(served): State<Served>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Answer<impl Serialize> {
    let id = instance(&id)?;
    coordinating(&served, &headers)?.stop(&id).await?;
    look(&served, move |agents| agents.details(&id)).await
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Abandoning {
    reason: Option<String>,
}

async fn abandon(
    State(served): State<Served>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer<impl Serialize> {
    let id = instance(&id)?;
    let reason = if body.is_empty() { None } else { json_body::<Abandoning>(&body)?.reason };
    coordinating(&served, &headers)?.abandon(&id, reason.as_deref()).await?;
    look(&served, move |agents| agents.details(&id)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cleaning {
    #[serde(default)]
    dry_run: bool,
}

async fn gc(
    State(served): State<Served>,
    headers: HeaderMap,
    asked: Result<Query<Cleaning>, QueryRejection>,
) -> Answer<impl Serialize> {
    let dry_run = query(asked)?.dry_run;
    Ok(axum::Json(coordinating(&served, &headers)?.gc(dry_run).await?))
}

async fn reconcile(State(served): State<Served>, headers: HeaderMap) -> Answer<impl Serialize> {
    Ok(axum::Json(coordinating(&served, &headers)?.reconcile().await?))
}

/// An agent's call, sent on by the server of its instance.
async fn call(
    State(served): State<Served>,
    Extension(admitted): Extension<Admitted>,
    Path(tool): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let arguments: Value = json_body(&body)?;
    // The other tools need not be reached in this way.
    let mut context = Context::new(Arc::clone(&served.services), caller("forwarded", &headers), Access::None);
    context.identity = admitted.identity;
    context.is_forwarded = true;
    context.call_key = call_key(&headers)?;
    context.time_left = time_left(&headers);
    Ok(match served.registry.call(&tool, arguments, context).await {
        Reply::Text { text, is_error } => {
            let status = if is_error { status_in(&text) } else { StatusCode::OK };
            (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
        }
        Reply::Error(error) => {
            (StatusCode::NOT_FOUND, axum::Json(invalid(&error.message).to_json(&tool))).into_response()
        }
    })
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

/// The agents of this process.
pub(crate) fn agents(served: &Served) -> Result<Arc<Agents>, ApiError> {
    let missing = || {
        AgentsError::new(Code::CoordinatorUnavailable, "agents are not served here")
            .suggest("`tamis serve` serves them")
    };
    Ok(served.services.agents().cloned().ok_or_else(missing)?)
}

/// The same for what is to be done by whoever coordinates. What another process has sent here is not sent on.
fn coordinating(served: &Served, headers: &HeaderMap) -> Result<Arc<Agents>, ApiError> {
    let agents = agents(served)?;
    if call_key(headers)?.is_some() && !agents.is_coordinating() {
        return Err(AgentsError::new(Code::CoordinatorUnavailable, "this process does not coordinate").into());
    }
    Ok(agents)
}

/// What the tables say, read away from the threads that serve connections.
async fn look<T: Serialize + Send + 'static>(
    served: &Served,
    read: impl FnOnce(&Agents) -> Result<T, AgentsError> + Send + 'static,
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
    id.parse().map_err(|error: tamis_tools::IdError| invalid(&error.to_string()))
}

pub(crate) fn query<T>(asked: Result<Query<T>, QueryRejection>) -> Result<T, AgentsError> {
    match asked {
        Ok(Query(asked)) => Ok(asked),
        Err(rejection) => Err(invalid(&rejection.body_text())),
    }
}

fn json_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, AgentsError> {
    serde_json::from_slice(body)
        .map_err(|error| invalid(&format!("the body is not what is expected: {error}")))
}

fn call_key(headers: &HeaderMap) -> Result<Option<String>, AgentsError> {
    let Some(key) = headers.get("tamis-call") else { return Ok(None) };
    let sound = key.to_str().ok().filter(|key| (1..=LONGEST_KEY).contains(&key.len()));
    sound
        .map(|key| Some(key.to_owned()))
        .ok_or_else(|| invalid("Tamis-Call: 1 to 64 characters are expected"))
}

fn time_left(headers: &HeaderMap) -> Option<Duration> {
    headers.get("tamis-time-left-ms")?.to_str().ok()?.parse().ok().map(Duration::from_millis)
}

/// The status that fits an error told in JSON.
fn status_in(text: &str) -> StatusCode {
    #[derive(Deserialize)]
    struct Told {
        code: Code,
    }
    serde_json::from_str::<Told>(text).map_or(StatusCode::INTERNAL_SERVER_ERROR, |told| status_of(told.code))
}
