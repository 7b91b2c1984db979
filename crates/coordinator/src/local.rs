//! The coordinator of this process, once it holds the leader lock.

use std::sync::Arc;

use tamis_agents::{AgentsError, Code, Coordinator, Result};
use tokio::sync::watch;

use crate::{CallOptions, CoordinatorApi, CoordinatorRequest};

/// The coordinator of this process.
#[derive(Clone)]
pub struct LocalCoordinator {
    pub(crate) coordinator: Arc<Coordinator>,
    /// Incremented when events may have been written.
    pub(crate) changes: watch::Sender<u64>,
}

impl CoordinatorApi for LocalCoordinator {
    async fn send<R: CoordinatorRequest>(&self, request: R, options: CallOptions) -> Result<R::Answer> {
        let LocalCoordinator { coordinator, changes } = self.clone();
        blocking(move || {
            let outcome = request.perform(&coordinator, &options);
            changes.send_modify(|changes| *changes += 1);
            outcome
        })
        .await
    }
}

/// Runs blocking work away from the threads that serve connections. It runs to its end even if the caller is gone.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    // A panic's own message may quote what was read.
    let panicked = |_| AgentsError::new(Code::InternalError, "the tool panicked");
    tokio::task::spawn_blocking(work).await.map_err(panicked)?
}
