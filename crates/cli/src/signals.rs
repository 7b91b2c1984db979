//! SIGINT and SIGTERM.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The exit code after a second signal.
pub(crate) const INTERRUPTED: i32 = 130;

/// Cancels `shutdown` at the first SIGINT or SIGTERM, and ends the process at the second.
pub(crate) async fn watch(shutdown: CancellationToken) {
    next_signal().await;
    tracing::info!("shutting down when running requests are done; a second signal exits immediately");
    shutdown.cancel();
    next_signal().await;
    std::process::exit(INTERRUPTED);
}

/// Resolves at the next SIGINT or SIGTERM.
pub(crate) async fn next_signal() {
    let interrupt = tokio::signal::ctrl_c();
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
        }
        Err(error) => {
            tracing::warn!(%error, "cannot watch SIGTERM");
            let _ = interrupt.await;
        }
    }
}

/// A flag that SIGINT or SIGTERM sets. Signals are caught once this returns.
pub(crate) fn flag(runtime: &tokio::runtime::Runtime) -> std::io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let received = Arc::clone(&flag);
    let _within = runtime.enter();
    let mut signals = Signals::install()?;
    runtime.spawn(async move {
        signals.next().await;
        received.store(true, Ordering::Relaxed);
    });
    Ok(flag)
}

/// SIGINT and SIGTERM, caught from the moment of installation, even if [`Signals::next`] is called later.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Must be called in a runtime, which must run for [`Signals::next`] to resolve.
    pub(crate) fn install() -> std::io::Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Resolves when a signal has arrived since the last call.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
