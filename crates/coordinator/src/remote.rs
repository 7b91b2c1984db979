//! The coordinator of another process, over HTTP.

use std::time::Instant;

use serde_json::Value;
use tamis_agents::{AgentsError, Code, ErrorObject, LockHolder, Result};
use tamis_http::{BearerSecret, HttpError, HttpMethod, HttpUrl, JsonRequest};

use crate::{CallOptions, CoordinatorApi, CoordinatorRequest};

/// The header of a forwarded call's idempotency key. A process that gets it does not forward the call again.
pub const IDEMPOTENCY_KEY_HEADER: &str = "tamis-call";
/// The header with the time that the caller still waits, in milliseconds.
pub const TIME_LEFT_HEADER: &str = "tamis-time-left-ms";

/// Answers are a few lines; a clean-up's may have a few for every instance.
const LARGEST_ANSWER: usize = 16 << 20;

/// The detail of an error after which the request may have been done all the same.
const UNKNOWN_OUTCOME: &str = "outcome_unknown";

/// Whether no coordinator got the request, so that the next one may be sent it.
pub fn was_not_done(error: &AgentsError) -> bool {
    error.code == Code::CoordinatorUnavailable && !error.details.contains_key(UNKNOWN_OUTCOME)
}

/// The process that holds the leader lock, and answers over HTTP.
pub struct RemoteCoordinator {
    holder: LockHolder,
}

impl RemoteCoordinator {
    pub fn new(holder: LockHolder) -> RemoteCoordinator {
        RemoteCoordinator { holder }
    }
}

impl CoordinatorApi for RemoteCoordinator {
    /// Sends it once. `COORDINATOR_UNAVAILABLE` means that another attempt, perhaps with another process, may succeed.
    async fn send<R: CoordinatorRequest>(&self, request: R, options: CallOptions) -> Result<R::Answer> {
        let url = &self.holder.url;
        let route = url.parse::<HttpUrl>().and_then(|url| url.join(&request.path()));
        let route = route.map_err(|error| unavailable(format!("cannot use the URL `{url}`: {error}")))?;
        let body = serde_json::to_string(&request)
            .map_err(|error| AgentsError::new(Code::InternalError, error.to_string()))?;
        let left = options.deadline.saturating_duration_since(Instant::now());
        let left_ms = left.as_millis().to_string();
        let headers = [
            (IDEMPOTENCY_KEY_HEADER, options.idempotency_key.as_str()),
            (TIME_LEFT_HEADER, left_ms.as_str()),
        ];
        let secret = options.bearer.as_deref().and_then(BearerSecret::new);
        let forwarded = JsonRequest {
            method: HttpMethod::Post,
            url: &route,
            headers: &headers,
            secret: secret.as_ref(),
            body: Some(body),
            max_bytes: LARGEST_ANSWER,
            max_failure_bytes: LARGEST_ANSWER,
        };
        let limit = options.answer_by.saturating_duration_since(Instant::now());
        match forwarded.send_directly(limit).await {
            Ok(answer) => match answer.status {
                200..300 => answer.json::<Value>().ok().map_or_else(
                    || Err(self.not_a_coordinator(answer.status)),
                    |body| serde_json::from_value(body).map_err(unreadable),
                ),
                status => Err(self.failure(status, answer.json::<ErrorObject>().ok())),
            },
            Err(HttpError::Timeout(_)) => {
                Err(timed_out(&format!("the coordinator at {url} does not respond")))
            }
            Err(error @ (HttpError::Broken(_) | HttpError::CutShort)) => {
                Err(outcome_unknown(&format!("the coordinator at {url} went away: {error}")))
            }
            Err(error) => Err(unavailable(format!("the coordinator at {url} does not respond: {error}"))),
        }
    }
}

impl RemoteCoordinator {
    fn failure(&self, status: u16, error: Option<ErrorObject>) -> AgentsError {
        match (status, error) {
            (_, Some(error)) => error.into(),
            (401, None) => AgentsError::new(
                Code::PermissionDenied,
                format!("the coordinator at {} requires its token", self.holder.url),
            )
            .suggest("`tamis token` prints it; TAMIS_TOKEN must be the same for both"),
            (status, None) => self.not_a_coordinator(status),
        }
    }

    fn not_a_coordinator(&self, status: u16) -> AgentsError {
        unavailable(format!("the server at {} is not a coordinator: status {status}", self.holder.url))
    }
}

pub(crate) fn unavailable(why: String) -> AgentsError {
    AgentsError::new(Code::CoordinatorUnavailable, why)
}

fn outcome_unknown(why: &str) -> AgentsError {
    unavailable(format!("unknown whether it was done: {why}"))
        .suggest("`tamis agents list` shows what exists")
        .detail(UNKNOWN_OUTCOME, true)
}

pub(crate) fn timed_out(why: &str) -> AgentsError {
    AgentsError::new(Code::Timeout, format!("no response in time: {why}"))
        .suggest("`tamis agents show` reports its progress")
}

fn unreadable(error: serde_json::Error) -> AgentsError {
    AgentsError::new(Code::InternalError, format!("cannot parse the coordinator's answer: {error}"))
        .suggest("use the same version of tamis for both: `tamis --version`")
}
