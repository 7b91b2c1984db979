//! One connection for one request, plain or encrypted.

use std::io;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::{Address, RemoteError};

/// A connection under way. Dropping it hangs up, whatever the other side is about to say.
pub(crate) struct Connection(JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends a request, and gives the answer once its head is there. Its body comes as long as the connection is held.
pub(crate) async fn send(
    address: &Address,
    request: Request<Full<Bytes>>,
) -> Result<(Response<Incoming>, Connection), RemoteError> {
    let failed = |source| RemoteError::Connect { host: address.host_header().to_owned(), source };
    let stream = TcpStream::connect((address.host(), address.port())).await.map_err(failed)?;
    // The request is whole; waiting to fill a packet only delays it.
    stream.set_nodelay(true).map_err(failed)?;
    if !address.secure {
        return exchange(stream, request).await;
    }
    let name =
        ServerName::try_from(address.host().to_owned()).map_err(|error| failed(io::Error::other(error)))?;
    let stream = TlsConnector::from(encryption()).connect(name, stream).await.map_err(failed)?;
    exchange(stream, request).await
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<(Response<Incoming>, Connection), RemoteError> {
    let broken = |error: hyper::Error| {
        if error.is_incomplete_message() {
            RemoteError::CutShort
        } else if error.is_parse() {
            RemoteError::NotHttp(error.into())
        } else {
            RemoteError::Broken(error.into())
        }
    };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // What goes wrong with it shows in the answer.
    let connection = Connection(tokio::spawn(async move { drop(connection.await) }));
    Ok((sender.send_request(request).await.map_err(broken)?, connection))
}

/// Trusts whom the machine trusts, which is where companies put their own authorities. Read once, when first needed.
fn encryption() -> Arc<ClientConfig> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    let config = CONFIG.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
    });
    Arc::clone(config)
}
