//! Being asked to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

/// Cancels `shutdown` at the first SIGINT or SIGTERM. At the second the process ends at once: whoever asks twice does
/// not want to wait.
pub(crate) async fn watch(shutdown: CancellationToken) {
    asked_to_end().await;
    tracing::info!("ending after what is under way; asked again, at once");
    shutdown.cancel();
    asked_to_end().await;
    std::process::exit(130);
}

/// Resolves at the next SIGINT or SIGTERM.
pub(crate) async fn asked_to_end() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = interrupt => {}
                    _ = terminate.recv() => {}
                }
            }
            Err(error) => {
                tracing::warn!(%error, "SIGTERM will not be noticed");
                let _ = interrupt.await;
            }
        }
    }
    #[cfg(not(unix))]
    {
        let _ = interrupt.await;
    }
}

/// Turns true at SIGINT or SIGTERM, for whoever looks now and then. They are noticed once this returns.
pub(crate) fn flag(runtime: &tokio::runtime::Runtime) -> std::io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&flag);
    #[cfg(unix)]
    let next = {
        let _within = runtime.enter();
        let mut signals = Signals::install()?;
        async move { signals.next().await }
    };
    #[cfg(not(unix))]
    let next = asked_to_end();
    runtime.spawn(async move {
        next.await;
        asked.store(true, Ordering::Relaxed);
    });
    Ok(flag)
}

/// SIGINT and SIGTERM, noticed from the moment on when this is installed, though they be asked after later.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// In a runtime, which must be driven for [`Signals::next`] to learn of them.
    pub(crate) fn install() -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Resolves when there was, or is, one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
