//! Listening, serving connections, and ending in good order.

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

use crate::patient::Patient;
use crate::{Exposure, HttpDoor};

/// How long a client may take to send its headers, and leave a connection unused.
const SLOWEST_HEADERS: Duration = Duration::from_secs(60);

/// How long answers that are under way when the server ends may still take.
const FAREWELL: Duration = Duration::from_secs(10);

/// More connections than this wait to be accepted, so that memory stays bounded.
const MOST_CONNECTIONS: usize = 512;

/// An address that is listened on.
pub struct Bound {
    listener: TcpListener,
    pub address: SocketAddr,
    pub exposure: Exposure,
}

/// Why an address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {host}:{port}")]
pub struct ListenError {
    pub host: String,
    pub port: u16,
    pub source: io::Error,
}

/// Listens on an address; port 0 lets the system choose.
pub async fn bind(host: &str, port: u16) -> Result<Bound, ListenError> {
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
    Ok(Bound { listener, address, exposure })
}

/// Serves all listeners until `shutdown`, then finishes what is under way.
pub async fn serve(door: &HttpDoor, bound: Vec<Bound>, shutdown: CancellationToken) {
    let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
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
    if tokio::time::timeout(FAREWELL, door.followers.all_gone()).await.is_err() {
        tracing::warn!("some who follow the events had not gone when the server ended");
    }
    door.last_call.cancel();
}

async fn serve_one(
    listener: TcpListener,
    router: Router,
    connections: Arc<Semaphore>,
    shutdown: CancellationToken,
) {
    // Each connection has a clone of it, so that it is known when all are gone.
    let (alive, mut gone) = mpsc::channel::<Infallible>(1);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            () = shutdown.cancelled() => break,
        };
        let (stream, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: others must close before one can open.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(500)).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(SLOWEST_HEADERS)
            .serve_connection(TokioIo::new(Patient::new(stream)), service)
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
                tracing::debug!(%error, "a connection broke");
            }
            drop((permit, alive));
        });
    }
    drop((listener, alive));
    if tokio::time::timeout(FAREWELL, gone.recv()).await.is_err() {
        tracing::warn!("some requests were still under way when the server ended");
    }
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(connections).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    // Answers are small and whole; waiting to fill a packet only delays them.
    stream.set_nodelay(true)?;
    Ok((stream, permit))
}
