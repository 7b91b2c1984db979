//! New connections: directly or through a proxy, plain or encrypted.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use http::{HeaderValue, Uri};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tower_service::Service;

use crate::url::{host_of, is_loopback};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Which proxy a URL is reached through.
#[derive(Clone)]
pub(crate) struct Proxies(Arc<Matcher>);

impl Proxies {
    pub(crate) fn from_environment() -> Proxies {
        Proxies(Arc::new(Matcher::from_env()))
    }

    pub(crate) fn none() -> Proxies {
        Proxies(Arc::new(Matcher::builder().build()))
    }

    #[cfg(test)]
    pub(crate) fn all_through(proxy: &str) -> Proxies {
        Proxies(Arc::new(Matcher::builder().all(proxy.to_owned()).no("direct.example".to_owned()).build()))
    }

    fn for_url(&self, url: &Uri) -> Option<Intercept> {
        self.0.intercept(url).filter(|_| !is_loopback(host_of(url)))
    }

    /// What the request itself must carry: a proxy for plain HTTP sees no CONNECT request before it.
    pub(crate) fn authorization(&self, url: &Uri) -> Option<HeaderValue> {
        self.for_url(url).filter(|_| !is_https(url))?.basic_auth().cloned()
    }
}

/// Makes the connections that the pool keeps.
#[derive(Clone)]
pub(crate) struct Connector {
    proxies: Proxies,
    tcp: HttpConnector,
}

impl Connector {
    pub(crate) fn new(proxies: Proxies) -> Connector {
        let mut tcp = HttpConnector::new();
        // Requests are written whole; waiting to fill a packet only delays them.
        tcp.set_nodelay(true);
        // It is also used for the TCP connection below TLS.
        tcp.enforce_http(false);
        Connector { proxies, tcp }
    }

    async fn connect(mut self, url: Uri) -> Result<Stream, BoxError> {
        let stream = match self.proxies.for_url(&url) {
            None => self.tcp.call(url.clone()).await?,
            Some(proxy) if proxy.uri().scheme_str() != Some("http") => {
                let why = format!("proxy `{}` is not supported: only http:// proxies are", proxy.uri());
                return Err(why.into());
            }
            Some(proxy) if is_https(&url) => {
                let mut tunnel = Tunnel::new(proxy.uri().clone(), self.tcp);
                if let Some(authorization) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(authorization.clone());
                }
                tunnel.call(url.clone()).await?
            }
            Some(proxy) => {
                let stream = self.tcp.call(proxy.uri().clone()).await?;
                return Ok(Stream { io: Box::new(stream), is_proxied: true });
            }
        };
        let io: Box<dyn Io> =
            if is_https(&url) { Box::new(encrypt(stream, &url).await?) } else { Box::new(stream) };
        Ok(Stream { io, is_proxied: false })
    }
}

fn is_https(url: &Uri) -> bool {
    url.scheme_str() == Some("https")
}

async fn encrypt(
    stream: TokioIo<TcpStream>,
    url: &Uri,
) -> Result<TokioIo<tokio_rustls::client::TlsStream<TcpStream>>, BoxError> {
    let name = ServerName::try_from(host_of(url).to_owned())?;
    Ok(TokioIo::new(TlsConnector::from(tls_config()).connect(name, stream.into_inner()).await?))
}

/// Trusts the certificate authorities of the machine, where companies add their own. Read once, when first needed.
fn tls_config() -> Arc<ClientConfig> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    let config = CONFIG.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
    });
    Arc::clone(config)
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        Box::pin(self.clone().connect(url))
    }
}

trait Io: Read + Write + Send + Unpin {}

impl<T: Read + Write + Send + Unpin> Io for T {}

/// A connection, plain or encrypted.
pub(crate) struct Stream {
    io: Box<dyn Io>,
    /// The other end is a proxy that is given whole URLs.
    is_proxied: bool,
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new().proxy(self.is_proxied)
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(task, buffer)
    }
}

impl Write for Stream {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(task, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_excluded_hosts_are_reached_directly() {
        let proxies = Proxies::all_through("http://user:word@proxy.example:3128");
        for (url, proxied) in [
            ("https://api.github.com/", true),
            ("http://model.example/v1", true),
            ("http://10.0.0.1/", true),
            ("http://localhost:1234/v1", false),
            ("http://127.0.0.1:1234/v1", false),
            ("https://127.9.9.9/", false),
            ("http://[::1]:1/", false),
            ("http://direct.example/", false),
            ("https://sub.direct.example/", false),
        ] {
            let url: Uri = url.parse().unwrap();
            assert_eq!(proxies.for_url(&url).is_some(), proxied, "{url}");
            // In a tunnel the proxy gets its password with CONNECT, and the server must not see it.
            assert_eq!(proxies.authorization(&url).is_some(), proxied && !is_https(&url), "{url}");
            assert!(Proxies::none().for_url(&url).is_none(), "{url}");
        }
    }
}
