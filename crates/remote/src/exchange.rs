//! One question and its answer, within a time limit and bounds.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};

use crate::chat::ModelKey;
use crate::{Address, RemoteError, connection};

/// What is asked. With a body it is posted, without one it is a look.
pub(crate) struct Question<'a> {
    pub(crate) address: &'a Address,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) key: Option<&'a ModelKey>,
    /// How many bytes the answer may have.
    pub(crate) limit: usize,
    /// How many of them are worth reading when it tells of a failure; none when the status is enough.
    pub(crate) failure_limit: usize,
}

/// What came back, whole.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// Empty where it tells of a failure and cannot be read: the status says enough.
    pub(crate) body: Bytes,
}

pub(crate) async fn ask(question: Question<'_>, timeout: Duration) -> Result<Answer, RemoteError> {
    tokio::time::timeout(timeout, exchange(question)).await.unwrap_or(Err(RemoteError::Timeout(timeout)))
}

async fn exchange(question: Question<'_>) -> Result<Answer, RemoteError> {
    let Question { address, body, key, limit, failure_limit } = question;
    let mut request = Request::builder()
        .method(if body.is_some() { Method::POST } else { Method::GET })
        .uri(address.path_and_query())
        .header(header::HOST, address.host_header())
        .header(header::ACCEPT, "application/json")
        .header(header::CONNECTION, "close");
    if body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    if let Some(key) = key {
        request = request.header(header::AUTHORIZATION, key.header());
    }
    let request = request
        .body(Full::new(Bytes::from(body.unwrap_or_default())))
        .map_err(|error| RemoteError::Broken(error.into()))?;
    let (response, _connection) = connection::send(address, request).await?;
    let status = response.status();
    if !status.is_success() && failure_limit == 0 {
        return Ok(Answer { status, body: Bytes::new() });
    }
    if !status.is_success() {
        let body = Limited::new(response.into_body(), failure_limit).collect().await;
        return Ok(Answer { status, body: body.map(|body| body.to_bytes()).unwrap_or_default() });
    }
    let body = Limited::new(response.into_body(), limit).collect().await.map_err(|error| {
        if error.is::<http_body_util::LengthLimitError>() {
            RemoteError::TooLarge(limit)
        } else {
            RemoteError::Broken(error)
        }
    })?;
    Ok(Answer { status, body: body.to_bytes() })
}
