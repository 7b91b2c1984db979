//! What a failed request to GitHub means.

use std::time::Duration;

use serde_json::Value;
use tamis_http::{HttpError, JsonResponse};

use super::{GithubRepository, GithubToken};
use crate::{GithubError, GithubErrorKind};
use tamis_text::plain::plain_line;

/// Maximum length of GitHub's own message.
const LONGEST_MESSAGE: usize = 600;

/// Whether a write that failed was done all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    NotDone,
    /// It may have been: the answer was lost, or reported an error of the server.
    Unclear,
    /// It was there before.
    Exists,
}

/// A call that failed.
#[derive(Clone, Debug)]
pub struct GithubFailure {
    pub error: Box<GithubError>,
    pub outcome: WriteOutcome,
    /// Whether a retry may help, and after how long, where GitHub names a time.
    pub(super) again: Option<Option<Duration>>,
}

impl GithubFailure {
    /// A read that failed: nothing was changed.
    pub(super) fn of_read(error: GithubError) -> GithubFailure {
        GithubFailure { error: Box::new(error), outcome: WriteOutcome::NotDone, again: None }
    }
}

impl From<GithubFailure> for GithubError {
    fn from(failure: GithubFailure) -> GithubError {
        *failure.error
    }
}

pub(super) fn no_token(host: &str) -> GithubError {
    let message = format!("no token for {host}: GITHUB_TOKEN is not set, and `gh` has none");
    how_to_log_in(GithubError::new(GithubErrorKind::Unauthorized, message), host)
}

fn how_to_log_in(error: GithubError, host: &str) -> GithubError {
    error
        .hint("set GITHUB_TOKEN in the environment of `tamis serve`, and restart it")
        .hint(format!("or run `gh auth login --hostname {host}`"))
}

/// Nothing was sent, since the caller no longer waits.
pub(super) fn out_of_time(repository: &GithubRepository) -> GithubFailure {
    let message = format!("there was no time left to send {} a request", repository.host());
    let error = GithubError::new(GithubErrorKind::Unavailable, message)
        .hint("try again; MCP_TOOL_TIMEOUT (in milliseconds) allows more time");
    GithubFailure { error: Box::new(error), outcome: WriteOutcome::NotDone, again: None }
}

/// No answer at all, or not a whole one.
pub(super) fn of_exchange(
    error: &HttpError,
    repository: &GithubRepository,
    token: &GithubToken,
) -> GithubFailure {
    let outcome = match error {
        HttpError::Connect { .. } => WriteOutcome::NotDone,
        _ => WriteOutcome::Unclear,
    };
    let cause = token.scrub(&plain_line(&error.to_string()));
    let error = GithubError::new(
        GithubErrorKind::Unavailable,
        format!("GitHub ({}) failed: {cause}", repository.host()),
    )
    .hint("try again later");
    GithubFailure { error: Box::new(error), outcome, again: Some(None) }
}

/// An answer that reports success, and lacks what is needed of it.
pub(super) fn unusable(why: &str, repository: &GithubRepository) -> GithubFailure {
    let message = format!("GitHub ({}) gave an answer that cannot be used: {why}", repository.host());
    let error = GithubError::new(GithubErrorKind::Unavailable, message).hint("try again later");
    GithubFailure { error: Box::new(error), outcome: WriteOutcome::Unclear, again: Some(None) }
}

/// An answer with the status of a failure.
pub(super) fn of_answer(
    answer: &JsonResponse,
    repository: &GithubRepository,
    token: &GithubToken,
) -> GithubFailure {
    let host = repository.host();
    let message = message_of(answer, token);
    let (status, headers) = (answer.status, &answer.headers);
    // A rate limit has status 403 too, and then it is not about permission.
    let limited = status == 429
        || status == 403 && (headers.rate_limit_remaining == Some(0) || headers.retry_after.is_some());
    let failure =
        |code, message: String| GithubError { status: Some(status), ..GithubError::new(code, message) };
    let with = |begin: String| if message.is_empty() { begin } else { format!("{begin}: {message}") };
    let (error, outcome) = match status {
        _ if limited => {
            let wait = headers.retry_after.or_else(|| until(headers.rate_limit_reset));
            let wait = wait.map_or("later".to_owned(), |wait| format!("in {} s", wait.as_secs()));
            let message = with(format!("{host} limits requests at the moment ({status})"));
            (
                failure(GithubErrorKind::Unavailable, message).hint(format!("try again {wait}")),
                WriteOutcome::NotDone,
            )
        }
        401 => {
            let message = with(format!("{host} does not accept the token (401)"));
            (how_to_log_in(failure(GithubErrorKind::Unauthorized, message), host), WriteOutcome::NotDone)
        }
        403 | 404 => {
            let message = with(format!(
                "the token has no permission for this in {repository}, or it does not exist ({status})"
            ));
            let error = failure(GithubErrorKind::Forbidden, message).hint(
                "give the token read and write access to pull requests, issues and contents of the repository",
            );
            (error, WriteOutcome::NotDone)
        }
        300..=399 => {
            let message = format!("{repository} has moved ({status})");
            let error = failure(GithubErrorKind::Rejected, message)
                .hint(format!("git remote set-url origin https://{host}/OWNER/NAME.git, with its new name"));
            (error, WriteOutcome::NotDone)
        }
        408 | 500.. => {
            let message = with(format!("{host} answered with status {status}"));
            (failure(GithubErrorKind::Unavailable, message).hint("try again later"), WriteOutcome::Unclear)
        }
        _ => {
            let exists =
                status == 422 && message.to_ascii_lowercase().contains("pull request already exists");
            let outcome = if exists { WriteOutcome::Exists } else { WriteOutcome::NotDone };
            (failure(GithubErrorKind::Rejected, with(format!("{host} refused this ({status})"))), outcome)
        }
    };
    let again = (limited || outcome == WriteOutcome::Unclear).then_some(headers.retry_after);
    GithubFailure { error: Box::new(error), outcome, again }
}

fn until(reset: Option<i64>) -> Option<Duration> {
    let left = reset?.checked_sub(jiff::Timestamp::now().as_second())?;
    u64::try_from(left).ok().map(Duration::from_secs)
}

/// GitHub's own message, and that of each field.
fn message_of(answer: &JsonResponse, token: &GithubToken) -> String {
    let body: Value = answer.json().unwrap_or_default();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut messages: Vec<String> = text(&body["message"]).into_iter().collect();
    for error in body["errors"].as_array().into_iter().flatten() {
        let of_field = || {
            let parts = ["resource", "field", "code"].map(|name| text(&error[name]));
            parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
        };
        messages.push(text(error).or_else(|| text(&error["message"])).unwrap_or_else(of_field));
    }
    token.scrub(&plain_line(&messages.join("; "))).chars().take(LONGEST_MESSAGE).collect()
}
