//! Listening, serving connections and shutting down gracefully.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::write_timeout::WriteTimeout;
use crate::{Exposure, HttpDoor};

/// How long a client may take to send its headers, or leave a connection idle.
const HEADER_TIMEOUT: Duration = Duration::from_secs(60);

/// How long running requests may take after the server was told to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Further connections wait to be accepted, so that memory stays bounded.
const MAX_CONNECTIONS: usize = 512;

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

/// Binds an address; with port 0 the system chooses the port.
pub async fn bind(host: &str, port: u16) -> Result<BoundListener, ListenError> {
    let failed = |source| ListenError { host: host.to_owned(), port, source };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address = (host, port)
        .to_socket_addrs()
        .map_err(failed)?
        .next()
        .ok_or_else(|| failed(io::ErrorKind::AddrNotAvailable.into()))?;
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let exposure = if address.ip().is_loopback() { Exposure::Loopback } else { Exposure::Network };
    Ok(BoundListener { listener, address, exposure })
}

/// Serves all listeners until `shutdown`, then finishes running requests.
pub async fn serve(door: &HttpDoor, bound: Vec<BoundListener>, shutdown: CancellationToken) {
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut listeners = tokio::task::JoinSet::new();
    for bound in bound {
        let router = door.router(bound.exposure);
        listeners.spawn(serve_one(bound.listener, router, Arc::clone(&connections), shutdown.clone()));
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
    connections: Arc<Semaphore>,
    shutdown: CancellationToken,
) {
    // Each connection holds a clone of the sender, so the channel closes when all have ended.
    let (alive, mut gone) = mpsc::channel::<Infallible>(1);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            () = shutdown.cancelled() => break,
        };
        let (stream, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Most likely out of file descriptors: others must close first.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(500)).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .serve_connection(TokioIo::new(WriteTimeout::new(stream)), service)
            .with_upgrades();
        let (alive, shutdown) = (alive.clone(), shutdown.clone());
        tokio::spawn(async move {
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = &mut connection => ended,
                () = shutdown.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection failed");
            }
            drop((permit, alive));
        });
    }
    drop((listener, alive));
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, gone.recv()).await.is_err() {
        tracing::warn!("some requests were still running when the server ended");
    }
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(connections).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    // Answers are written whole; waiting to fill a packet only delays them.
    stream.set_nodelay(true)?;
    Ok((stream, permit))
}
