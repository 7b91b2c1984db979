//! A request whose response is read piece by piece as it comes, without a limit of time or size: an event stream, say.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use http_body_util::{BodyExt, Full};
use tokio::sync::{mpsc, oneshot};

use crate::background::{Abortable, Background};
use crate::request::{HttpMethod, broken, half_response, no_response};
use crate::{HttpError, HttpUrl};

/// Pieces that may wait for the reader.
const QUEUED_PIECES: usize = 8;

/// A request with its headers, which may come from a configuration file.
pub struct StreamRequest<'a> {
    pub method: HttpMethod,
    pub url: &'a HttpUrl,
    pub headers: &'a [(String, String)],
    pub body: Vec<u8>,
}

/// A response whose body may never end. Dropping it closes the connection.
pub struct StreamResponse {
    pub status: u16,
    headers: HeaderMap,
    pieces: mpsc::Receiver<Result<Bytes, HttpError>>,
    _reading: Abortable<()>,
}

impl StreamRequest<'_> {
    /// Sends the request and waits for the head of the response. Dropping the future closes the connection.
    pub async fn send(self) -> Result<StreamResponse, HttpError> {
        let background = Background::get().map_err(broken)?;
        let mut request = self.to_http()?;
        if let Some(authorization) = background.proxies.authorization(self.url.uri()) {
            request.headers_mut().insert(header::PROXY_AUTHORIZATION, authorization);
        }
        let (client, host) = (background.client.clone(), self.url.authority().to_owned());
        let (send_head, head) = oneshot::channel();
        let (send_piece, pieces) = mpsc::channel(QUEUED_PIECES);
        let reading = background.spawn(async move {
            let (head, mut body) = match client.request(request).await {
                Ok(response) => response.into_parts(),
                Err(error) => return drop(send_head.send(Err(no_response(error, host)))),
            };
            let mut is_read = send_head.send(Ok(head)).is_ok();
            while is_read && let Some(frame) = body.frame().await {
                let piece = frame.map_err(|error| half_response(error.into(), usize::MAX));
                let piece = piece.map(|frame| frame.into_data().unwrap_or_default());
                is_read = send_piece.send(piece).await.is_ok();
            }
        });
        let head = head.await.unwrap_or_else(|_| Err(broken("the request panicked")))?;
        Ok(StreamResponse { status: head.status.as_u16(), headers: head.headers, pieces, _reading: reading })
    }

    fn to_http(&self) -> Result<Request<Full<Bytes>>, HttpError> {
        let mut request = Request::new(Full::new(Bytes::copy_from_slice(&self.body)));
        *request.method_mut() = self.method.into();
        *request.uri_mut() = self.url.uri().clone();
        for (name, value) in self.headers {
            let name: HeaderName = name.parse().map_err(broken)?;
            request.headers_mut().insert(name, HeaderValue::from_str(value).map_err(broken)?);
        }
        Ok(request)
    }
}

impl StreamResponse {
    /// A header that is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The next piece of the body; none at its end.
    pub async fn next(&mut self) -> Option<Result<Bytes, HttpError>> {
        self.pieces.recv().await
    }
}
