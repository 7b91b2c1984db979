//! One JSON request and its response, within a time limit and a size limit.
//!
//! What a 404 or a 307 means is for the caller to decide.

use std::error::Error;
use std::time::Duration;
use std::{fmt, io};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper_util::client::legacy;
use serde::de::DeserializeOwned;

use crate::background::Background;
use crate::{BearerSecret, HttpError, HttpUrl};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    Get,
    Post,
    Delete,
}

/// A request. Its secret is in no text that is made of it.
#[derive(Clone, Debug)]
pub struct JsonRequest<'a> {
    pub method: HttpMethod,
    pub url: &'a HttpUrl,
    /// These replace the headers that every request has (`Accept`, say), or come in addition.
    pub headers: &'a [(&'static str, &'a str)],
    pub secret: Option<&'a BearerSecret>,
    /// JSON text.
    pub body: Option<String>,
    /// Maximum size of the response's body, in bytes.
    pub max_bytes: usize,
    /// Maximum size of the body of a response that is not a success; 0 when the status is enough.
    pub max_failure_bytes: usize,
}

#[derive(Clone, PartialEq, Eq)]
pub struct JsonResponse {
    pub status: u16,
    pub headers: ResponseHeaders,
    /// Empty when the response is not a success and its body could not be read to the end: the status is enough then.
    pub body: Bytes,
}

/// The headers that callers use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseHeaders {
    /// From a number of seconds; dates, which JSON APIs do not send, are ignored.
    pub retry_after: Option<Duration>,
    pub rate_limit_remaining: Option<u64>,
    /// In seconds since 1970.
    pub rate_limit_reset: Option<i64>,
}

impl<'a> JsonRequest<'a> {
    /// A POST with this JSON text as its body, or a GET without one.
    pub fn new(url: &'a HttpUrl, body: Option<String>, max_bytes: usize) -> JsonRequest<'a> {
        let method = if body.is_some() { HttpMethod::Post } else { HttpMethod::Get };
        JsonRequest { method, url, headers: &[], secret: None, body, max_bytes, max_failure_bytes: 0 }
    }

    /// Sends the request and reads the whole response. Dropping the future closes the connection.
    pub async fn send(&self, timeout: Duration) -> Result<JsonResponse, HttpError> {
        self.send_with(Background::get().map_err(broken)?, timeout).await
    }

    /// [`JsonRequest::send`], but never through a proxy: for a tamis process, whose token no proxy should see.
    pub async fn send_directly(&self, timeout: Duration) -> Result<JsonResponse, HttpError> {
        self.send_with(Background::direct().map_err(broken)?, timeout).await
    }

    /// [`JsonRequest::send`] for threads outside of an async runtime.
    pub fn send_blocking(&self, timeout: Duration) -> Result<JsonResponse, HttpError> {
        block_on(self.send(timeout)).flatten()
    }

    async fn send_with(&self, background: &Background, timeout: Duration) -> Result<JsonResponse, HttpError> {
        let mut request = self.to_http()?;
        if let Some(authorization) = background.proxies.authorization(self.url.uri()) {
            request.headers_mut().insert(header::PROXY_AUTHORIZATION, authorization);
        }
        let (max_bytes, max_failure_bytes) = (self.max_bytes, self.max_failure_bytes);
        let (client, host) = (background.client.clone(), self.url.authority().to_owned());
        let exchange = async move {
            let response = client.request(request).await.map_err(|error| no_response(error, host))?;
            let (head, body) = response.into_parts();
            let body = if head.status.is_success() {
                Limited::new(body, max_bytes)
                    .collect()
                    .await
                    .map_err(|error| half_response(error, max_bytes))?
                    .to_bytes()
            } else if max_failure_bytes == 0 {
                Bytes::new()
            } else {
                let body = Limited::new(body, max_failure_bytes).collect().await;
                body.map(|body| body.to_bytes()).unwrap_or_default()
            };
            Ok(JsonResponse {
                status: head.status.as_u16(),
                headers: ResponseHeaders::read(&head.headers),
                body,
            })
        };
        let work = async move {
            tokio::time::timeout(timeout, exchange).await.unwrap_or(Err(HttpError::Timeout(timeout)))
        };
        let result = background.spawn(work).finish().await;
        result.unwrap_or_else(|| Err(broken("the request panicked")))
    }

    fn to_http(&self) -> Result<Request<Full<Bytes>>, HttpError> {
        let body = Bytes::from(self.body.clone().unwrap_or_default());
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = self.method.into();
        *request.uri_mut() = self.url.uri().clone();
        let headers = request.headers_mut();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        if self.body.is_some() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        for (name, value) in self.headers {
            let name: HeaderName = name.parse().map_err(broken)?;
            headers.insert(name, HeaderValue::from_str(value).map_err(broken)?);
        }
        if let Some(secret) = self.secret {
            headers.insert(header::AUTHORIZATION, secret.header());
        }
        Ok(request)
    }
}

/// Waits for a future that sends requests, from a thread outside of an async runtime.
pub fn block_on<T>(work: impl Future<Output = T>) -> Result<T, HttpError> {
    Ok(Background::get().map_err(broken)?.block_on(work))
}

pub(crate) fn broken(error: impl Into<Box<dyn Error + Send + Sync>>) -> HttpError {
    HttpError::Broken(error.into())
}

pub(crate) fn no_response(error: legacy::Error, host: String) -> HttpError {
    let found = |test: fn(&hyper::Error) -> bool| {
        causes(&error).find(|cause| cause.downcast_ref::<hyper::Error>().is_some_and(test))
    };
    // The outermost error has no detail.
    let cause = || causes(&error).nth(1).unwrap_or(&error).to_string();
    if error.is_connect() {
        let io = causes(&error).find_map(|cause| cause.downcast_ref::<io::Error>());
        let source = io.map(|io| io::Error::new(io.kind(), io.to_string()));
        HttpError::Connect { host, source: source.unwrap_or_else(|| io::Error::other(cause())) }
    } else if found(hyper::Error::is_incomplete_message).is_some() {
        HttpError::CutShort
    } else if let Some(cause) = found(hyper::Error::is_parse) {
        HttpError::NotHttp(cause.to_string().into())
    } else {
        broken(cause())
    }
}

pub(crate) fn half_response(error: Box<dyn Error + Send + Sync>, max_bytes: usize) -> HttpError {
    let was_cut = |cause: &(dyn Error + 'static)| {
        cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message)
            || cause
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
    };
    if error.is::<LengthLimitError>() {
        HttpError::TooLarge(max_bytes)
    } else if causes(&*error).any(was_cut) {
        HttpError::CutShort
    } else {
        HttpError::Broken(error)
    }
}

/// The error and its causes, outermost first.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| Error::source(*error))
}

impl JsonResponse {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        serde_json::from_slice(&self.body).map_err(|error| HttpError::NotJson(error.to_string()))
    }
}

/// Without the body, which may hold anything.
impl fmt::Debug for JsonResponse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let JsonResponse { status, headers, body } = self;
        write!(out, "JsonResponse {{ status: {status}, headers: {headers:?}, body: {} bytes }}", body.len())
    }
}

impl ResponseHeaders {
    fn read(headers: &HeaderMap) -> ResponseHeaders {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        ResponseHeaders {
            retry_after: text("retry-after").and_then(|text| text.parse().ok()).map(Duration::from_secs),
            rate_limit_remaining: text("x-ratelimit-remaining").and_then(|text| text.parse().ok()),
            rate_limit_reset: text("x-ratelimit-reset").and_then(|text| text.parse().ok()),
        }
    }
}

impl From<HttpMethod> for Method {
    fn from(method: HttpMethod) -> Method {
        match method {
            HttpMethod::Get => Method::GET,
            HttpMethod::Post => Method::POST,
            HttpMethod::Delete => Method::DELETE,
        }
    }
}

#[cfg(test)]
mod tests;
