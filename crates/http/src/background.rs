//! The background thread that all requests run on.
//!
//! A kept connection is driven by a task, and a task lives no longer than its runtime. Some callers build a runtime for one
//! request, so the client has one of its own, which starts with the first request and stays for the life of the process.

use std::sync::OnceLock;
use std::time::Duration;
use std::{io, thread};

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;

use crate::connector::{Connector, Proxies};

/// Shorter than most servers wait before they close an idle connection.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Idle connections that are kept per host; more may be in use.
const IDLE_PER_HOST: usize = 4;

pub(crate) struct Background {
    handle: Handle,
    pub(crate) client: Client<Connector, Full<Bytes>>,
    pub(crate) proxies: Proxies,
}

impl Background {
    /// Reaches hosts through the proxies that the environment names.
    pub(crate) fn get() -> io::Result<&'static Background> {
        static BACKGROUND: OnceLock<Background> = OnceLock::new();
        Background::started(&BACKGROUND, Proxies::from_environment)
    }

    /// Reaches every host directly. It has its own connections, because a pool finds them by host alone.
    pub(crate) fn direct() -> io::Result<&'static Background> {
        static BACKGROUND: OnceLock<Background> = OnceLock::new();
        Background::started(&BACKGROUND, Proxies::none)
    }

    fn started(cell: &OnceLock<Background>, proxies: fn() -> Proxies) -> io::Result<&Background> {
        if let Some(background) = cell.get() {
            return Ok(background);
        }
        let background = Background::start(proxies())?;
        // Of two threads that get here at once, one background thread is left idle.
        Ok(cell.get_or_init(|| background))
    }

    pub(crate) fn start(proxies: Proxies) -> io::Result<Background> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        thread::Builder::new()
            .name("tamis-http".to_owned())
            .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .build(Connector::new(proxies.clone()));
        Ok(Background { handle, client, proxies })
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.handle.block_on(work)
    }

    /// Runs `work` on the background thread. Dropping the result aborts it, which closes its connection.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Abortable<T> {
        Abortable(self.handle.spawn(work))
    }
}

/// A task that is aborted when this is dropped.
pub(crate) struct Abortable<T>(JoinHandle<T>);

impl<T> Abortable<T> {
    /// `None` when the task panicked.
    pub(crate) async fn finish(mut self) -> Option<T> {
        (&mut self.0).await.ok()
    }
}

impl<T> Drop for Abortable<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
