//! `GET /health` and `POST /prune`: the two routes that belong to one operation each.

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};
use tamis_tools::{Context, Failure, Reply};

use crate::Served;
use crate::guard::Admitted;
use crate::routes::caller;

/// `GET /health`: the result of the tool `health`.
pub(crate) async fn health(
    State(served): State<Served>,
    Extension(admitted): Extension<Admitted>,
    headers: HeaderMap,
) -> Response {
    let context = Context::new(served.services, caller("http", &headers, &admitted), admitted.access);
    match served.registry.call("health", Value::Null, context).await {
        Reply::Text { text, .. } => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Reply::Error(error) => failed(StatusCode::SERVICE_UNAVAILABLE, &error.message),
    }
}

/// `POST /prune`: swe-pruner's contract. Invalid input is answered with 422, as that service does.
pub(crate) async fn prune(
    State(served): State<Served>,
    Extension(admitted): Extension<Admitted>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let input: Value = match serde_json::from_slice(&body) {
        Ok(input) => input,
        Err(error) => return failed(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
    };
    let context = Context::new(served.services, caller("http", &headers, &admitted), admitted.access);
    // When the client disconnects, this future is dropped, which cancels the call.
    let _gone = context.cancellation.clone().drop_guard();
    match served.registry.route("prune_code", input, context).await {
        Ok(output) => ([(header::CONTENT_TYPE, "application/json")], output).into_response(),
        Err(Failure::InvalidInput { detail, .. }) => failed(StatusCode::UNPROCESSABLE_ENTITY, &detail),
        Err(failure) => {
            tracing::error!(?failure, "/prune failed");
            failed(StatusCode::INTERNAL_SERVER_ERROR, "internal error")
        }
    }
}

fn failed(status: StatusCode, message: &str) -> Response {
    (status, axum::Json(json!({"detail": message, "error_msg": message}))).into_response()
}
