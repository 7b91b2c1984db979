//! A runtime that does not wait for blocked threads when it is dropped.
//!
//! tokio's own waits for every blocking call, so Ctrl-C during a read on a hung file system would have no effect.

use std::ops::Deref;

use tokio::runtime::{Builder, Runtime};

use crate::error::CliError;

pub(crate) struct DetachedRuntime(Option<Runtime>);

impl DetachedRuntime {
    /// Runs tasks only while this thread blocks on one.
    pub(crate) fn on_this_thread() -> Result<DetachedRuntime, CliError> {
        DetachedRuntime::build(&mut Builder::new_current_thread())
    }

    /// Runs tasks on another thread.
    pub(crate) fn with_worker() -> Result<DetachedRuntime, CliError> {
        DetachedRuntime::build(Builder::new_multi_thread().worker_threads(1))
    }

    fn build(builder: &mut Builder) -> Result<DetachedRuntime, CliError> {
        Ok(DetachedRuntime(Some(builder.enable_all().build().map_err(CliError::internal)?)))
    }
}

impl Deref for DetachedRuntime {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("it is taken only when it is dropped")
    }
}

impl Drop for DetachedRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn dropping_it_does_not_wait_for_a_blocked_thread() {
        let runtime = DetachedRuntime::on_this_thread().unwrap();
        let (end, ended) = channel::<()>();
        runtime.spawn_blocking(move || ended.recv());
        drop(runtime);
        drop(end);
    }
}
