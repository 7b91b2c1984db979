//! A pruner that is asked over HTTP, in the contract that swe-pruner's clients speak: `{code, query}` goes out, and the
//! pruned text comes back in `pruned_code`, `content` or `text`.
//!
//! Asking fails often and in many ways, and the caller then goes on with what it has; so every failure is one error
//! value, and none takes longer than the time limit, which holds from the look-up of the name to the last byte.
//!
//! Deliberately missing: redirects, proxies, compression, and connections that are kept. A pruner is close by.

mod answer;
mod connection;
mod url;

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::{BodyExt, Full, Limited};
use serde::Serialize;

pub use url::{PrunerUrl, UrlError};

/// An answer may be this much larger than the question: swe-pruner tells a score for every token.
const ANSWER_PER_QUESTION: usize = 16;

/// What any answer may have, however short the question was …
const SMALLEST_LIMIT: usize = 16 << 20;

/// … and what none may exceed, however long it was: all of it is held in memory.
const LARGEST_LIMIT: usize = 256 << 20;

/// A pruner somewhere else.
#[derive(Clone, Debug)]
pub struct RemotePruner {
    url: PrunerUrl,
    timeout: Duration,
}

/// Why there is no pruned text.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error("no answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    #[error("cannot connect to {host}: {source}")]
    Connect { host: String, source: std::io::Error },
    #[error("the connection failed: {0}")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("it answered with status {0}")]
    Status(u16),
    #[error("its answer has over {0} bytes")]
    TooLarge(usize),
    #[error("its answer is not a JSON object: {0}")]
    NotJson(String),
    #[error("its answer has no text in pruned_code, content or text")]
    NoText,
}

#[derive(Serialize)]
struct Question<'a> {
    code: &'a str,
    query: &'a str,
}

impl RemotePruner {
    pub fn new(url: PrunerUrl, timeout: Duration) -> RemotePruner {
        RemotePruner { url, timeout }
    }

    /// What of `code` the pruner would keep for `query`. Both go out as they are.
    pub async fn prune(&self, code: &str, query: &str) -> Result<String, RemoteError> {
        tokio::time::timeout(self.timeout, self.ask(code, query))
            .await
            .unwrap_or(Err(RemoteError::Timeout(self.timeout)))
    }

    async fn ask(&self, code: &str, query: &str) -> Result<String, RemoteError> {
        let question = serde_json::to_vec(&Question { code, query })
            .map_err(|error| RemoteError::Broken(error.into()))?;
        let limit = largest_answer(question.len());
        let request = Request::builder()
            .method(Method::POST)
            .uri(self.url.path_and_query())
            .header(header::HOST, self.url.host_header())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .header(header::CONNECTION, "close")
            .body(Full::new(Bytes::from(question)))
            .map_err(|error| RemoteError::Broken(error.into()))?;
        let (response, _connection) = connection::send(&self.url, request).await?;
        if !response.status().is_success() {
            return Err(RemoteError::Status(response.status().as_u16()));
        }
        let body = Limited::new(response.into_body(), limit).collect().await.map_err(|error| {
            if error.is::<http_body_util::LengthLimitError>() {
                RemoteError::TooLarge(limit)
            } else {
                RemoteError::Broken(error)
            }
        })?;
        answer::pruned_text(&body.to_bytes())
    }
}

/// How many bytes the answer to a question of this many may have.
fn largest_answer(question: usize) -> usize {
    question.saturating_mul(ANSWER_PER_QUESTION).clamp(SMALLEST_LIMIT, LARGEST_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_bounded_whatever_the_question() {
        for (question, answer) in
            [(0, 16 << 20), (2 << 20, 32 << 20), (200 << 20, 256 << 20), (usize::MAX, 256 << 20)]
        {
            assert_eq!(largest_answer(question), answer, "{question}");
        }
    }
}
