//! The one HTTP client: GitHub, the chat model, a remote pruner and the coordinator are all reached through it.
//!
//! Entry points: an [`HttpUrl`], a [`JsonRequest`] to it and its [`JsonResponse`]; a [`BearerSecret`] that no output shows.
//! Requests run on one background thread, so connections are kept between callers that have short-lived runtimes or none.
//! hyper-util's pool and proxy rules do the work: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` hold, except for
//! loopback addresses, which never go through a proxy.
//!
//! A [`StreamRequest`] is for responses that are read as they come, which only its caller limits.
//!
//! It must never exceed the time limit (from the DNS lookup to the last byte) or the size limit, follow a redirect (the
//! secret would go along), repeat a request that may have been processed, or decide what a status means.
//!
//! Why hyper-util's client: the server builds hyper-util anyway, so compared with connection code of our own (which had
//! neither proxies nor kept connections) it costs 1 package, 14 s of processor time in a release build and 0.3 MB of
//! binary. reqwest costs 32 packages, 22 s and 1.0 MB. ureq blocks, so a cancelled call could not close its connection.

mod background;
mod connector;
mod request;
mod secret;
mod stream;
mod url;

use std::time::Duration;

pub use request::{HttpMethod, JsonRequest, JsonResponse, ResponseHeaders, block_on};
pub use secret::BearerSecret;
pub use stream::{StreamRequest, StreamResponse};
pub use url::{HttpUrl, HttpUrlError};

/// Why there is no response, or none that can be used.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("no response within {} ms", .0.as_millis())]
    Timeout(Duration),
    #[error("cannot connect to `{host}`: {source}")]
    Connect { host: String, source: std::io::Error },
    #[error("the connection failed: {0}")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the response was cut short")]
    CutShort,
    #[error("the response is not HTTP: {0}")]
    NotHttp(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the response is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the response is not JSON: {0}")]
    NotJson(String),
}
