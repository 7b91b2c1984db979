//! One question and its answer, within a time limit and bounds.

use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};

use crate::{Address, BearerSecret, RemoteError, connection};

/// What is asked.
pub(crate) struct Question<'a> {
    pub(crate) method: Method,
    pub(crate) address: &'a Address,
    /// In place of ours, where there is one of the name.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// JSON.
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) key: Option<&'a BearerSecret>,
    /// How many bytes the answer may have.
    pub(crate) limit: usize,
    /// How many of them are worth reading when it tells of a failure; none when the status is enough.
    pub(crate) failure_limit: usize,
}

impl<'a> Question<'a> {
    /// With a body it is posted, without one it is a look.
    pub(crate) fn new(address: &'a Address, body: Option<Vec<u8>>, limit: usize) -> Question<'a> {
        let method = if body.is_some() { Method::POST } else { Method::GET };
        Question { method, address, headers: Vec::new(), body, key: None, limit, failure_limit: 0 }
    }
}

/// What came back, whole.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// Empty where it tells of a failure and cannot be read: the status says enough.
    pub(crate) body: Bytes,
}

pub(crate) async fn ask(question: Question<'_>, timeout: Duration) -> Result<Answer, RemoteError> {
    tokio::time::timeout(timeout, exchange(question)).await.unwrap_or(Err(RemoteError::Timeout(timeout)))
}

async fn exchange(question: Question<'_>) -> Result<Answer, RemoteError> {
    let Question { address, limit, failure_limit, .. } = question;
    let (response, _connection) = connection::send(address, request(question)?).await?;
    let (head, body) = response.into_parts();
    let (status, headers) = (head.status, head.headers);
    let answer = |body| Answer { status, headers, body };
    if !status.is_success() && failure_limit == 0 {
        return Ok(answer(Bytes::new()));
    }
    if !status.is_success() {
        let body = Limited::new(body, failure_limit).collect().await;
        return Ok(answer(body.map(|body| body.to_bytes()).unwrap_or_default()));
    }
    let body = Limited::new(body, limit).collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() {
            RemoteError::TooLarge(limit)
        } else if is_cut_short(&*error) {
            RemoteError::CutShort
        } else {
            RemoteError::Broken(error)
        }
    })?;
    Ok(answer(body.to_bytes()))
}

fn request(question: Question<'_>) -> Result<Request<Full<Bytes>>, RemoteError> {
    let Question { method, address, headers, body, key, .. } = question;
    let has_body = body.is_some();
    let mut request = Request::builder()
        .method(method)
        .uri(address.path_and_query())
        .body(Full::new(Bytes::from(body.unwrap_or_default())))
        .map_err(|error| RemoteError::Broken(error.into()))?;
    let all = request.headers_mut();
    let host = HeaderValue::from_str(address.host_header());
    all.insert(header::HOST, host.map_err(|error| RemoteError::Broken(error.into()))?);
    all.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    all.insert(header::CONNECTION, HeaderValue::from_static("close"));
    if has_body {
        all.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    for (name, value) in headers {
        all.insert(name, value);
    }
    if let Some(key) = key {
        all.insert(header::AUTHORIZATION, key.header());
    }
    Ok(request)
}

/// Whether the peer hung up before it had said what it had announced.
fn is_cut_short(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| Error::source(*error)).any(|error| {
        error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message)
            || error
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
    })
}
