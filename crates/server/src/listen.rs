//! Listening, serving connections and shutting down gracefully.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::connection_io::ConnectionIo;
use crate::connections::Connections;
use crate::{Exposure, HttpDoor};

/// How long a connection may wait for a request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum size of a request's head. Bodies are read in pieces of this size.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// How long running requests may take after shutdown has begun.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections that may wait to be accepted. When these are too many, the system drops a connection's first packet, which
/// its client sends again after a second.
const BACKLOG: u32 = 4096;

/// A bound address.
pub struct BoundListener {
    listener: TcpListener,
    pub address: SocketAddr,
    pub exposure: Exposure,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot listen on `{host}:{port}`")]
pub struct ListenError {
    pub host: String,
    pub port: u16,
    pub source: io::Error,
}

/// Descriptors that a server may need: connections have places for most of them.
const DESCRIPTORS: u64 = 4096;

/// Raises the limit of open descriptors, which is 1,024 or less by default, as far as the system allows.
fn allow_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.map_or(DESCRIPTORS, |most| most.min(DESCRIPTORS));
    if limit.current.is_some_and(|current| current < allowed)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), ..limit })
    {
        tracing::debug!(%error, "cannot raise the limit of open descriptors");
    }
}

/// Binds an address; with port 0 the system chooses the port.
pub async fn bind(host: &str, port: u16) -> Result<BoundListener, ListenError> {
    allow_descriptors();
    let failed = |source| ListenError { host: host.to_owned(), port, source };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address = (host, port)
        .to_socket_addrs()
        .map_err(failed)?
        .next()
        .ok_or_else(|| failed(io::ErrorKind::AddrNotAvailable.into()))?;
    let listener = listen(address).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let exposure = if address.ip().is_loopback() { Exposure::Loopback } else { Exposure::Network };
    Ok(BoundListener { listener, address, exposure })
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // The port of a server that has just ended can be bound again.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves all listeners until `shutdown`, then finishes running requests.
pub async fn serve(door: &HttpDoor, bound: Vec<BoundListener>, shutdown: CancellationToken) {
    let mut listeners = tokio::task::JoinSet::new();
    for bound in bound {
        let router = door.router(bound.exposure);
        listeners.spawn(serve_one(bound.listener, router, door.connections.clone(), shutdown.clone()));
    }
    let (follower_end, ending) = (door.followers.clone(), shutdown.clone());
    tokio::spawn(async move {
        ending.cancelled().await;
        follower_end.end();
    });
    listeners.join_all().await;
    door.followers.end();
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, door.followers.all_gone()).await.is_err() {
        tracing::warn!("some WebSocket clients were still connected when the server ended");
    }
    door.rmcp_shutdown.cancel();
}

async fn serve_one(
    listener: TcpListener,
    router: Router,
    connections: Connections,
    shutdown: CancellationToken,
) {
    // Each connection holds a clone of the sender, so the channel closes when all have ended.
    let (alive, mut gone) = mpsc::channel::<Infallible>(1);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener) => accepted,
            () = shutdown.cancelled() => break,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                // Most likely out of file descriptors: others must close first.
                tracing::warn!(%error, "cannot accept a connection");
                connections.drop_idle();
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let place = connections.open().await;
        let io = TokioIo::new(ConnectionIo::new(stream, place.clone()));
        let (router, holder) = (router.clone(), place.clone());
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            holder.begin();
            request.extensions_mut().insert(holder.clone());
            let (answer, holder) = (router.clone().oneshot(request), holder.clone());
            async move { answer.await.map(|answer| holder.answer(answer)) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(IDLE_TIMEOUT)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(io, service)
            .with_upgrades();
        let (alive, shutdown) = (alive.clone(), shutdown.clone());
        tokio::spawn(async move {
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = &mut connection => ended,
                () = place.dropped() => Ok(()),
                () = shutdown.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.as_mut().await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection failed");
            }
            drop(alive);
        });
    }
    drop((listener, alive));
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, gone.recv()).await.is_err() {
        tracing::warn!("some requests were still running when the server ended");
    }
}

async fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    let (stream, _) = listener.accept().await?;
    // Answers are written whole; waiting to fill a packet only delays them.
    stream.set_nodelay(true)?;
    Ok(stream)
}
