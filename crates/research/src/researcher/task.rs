//! A running role, and progress reports.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

use super::ResearchProgress;
use crate::{Role, RoleError, RoleTiming, TaskHandle};

/// A running role.
pub(super) struct RunningTask<T> {
    pub(super) role: Role,
    ticket: Result<TaskHandle<T>, RoleError>,
    started_at: i64,
    begun: Instant,
    ended: Arc<Mutex<Option<Instant>>>,
}

impl<T> RunningTask<T> {
    /// Submits a task, which drops its guard when it ends.
    pub(super) fn begin(
        role: Role,
        number: usize,
        over: &Sender<usize>,
        submit: impl FnOnce(CompletionGuard) -> Result<TaskHandle<T>, RoleError>,
    ) -> RunningTask<T> {
        let ended = Arc::new(Mutex::new(None));
        let (started_at, begun) = (now(), Instant::now());
        let ticket = submit(CompletionGuard { number, ended: Arc::clone(&ended), over: over.clone() });
        RunningTask { role, ticket, started_at, begun, ended }
    }

    pub(super) fn rejected(role: Role, error: RoleError) -> RunningTask<T> {
        let ended = Arc::new(Mutex::new(Some(Instant::now())));
        RunningTask { role, ticket: Err(error), started_at: now(), begun: Instant::now(), ended }
    }

    pub(super) fn is_spawned(&self) -> bool {
        self.ticket.is_ok()
    }

    pub(super) fn wait(self) -> (Result<T, RoleError>, RoleTiming) {
        let result = self.ticket.and_then(TaskHandle::wait);
        let ended = *self.ended.lock();
        let elapsed = ended.unwrap_or_else(Instant::now).saturating_duration_since(self.begun);
        (result, RoleTiming { started_at: self.started_at, elapsed_ms: milliseconds(elapsed) })
    }
}

/// Signals the end of a task, even if it panics.
pub(super) struct CompletionGuard {
    number: usize,
    ended: Arc<Mutex<Option<Instant>>>,
    over: Sender<usize>,
}

impl Drop for CompletionGuard {
    fn drop(&mut self) {
        *self.ended.lock() = Some(Instant::now());
        // The caller may have stopped waiting.
        let _ = self.over.send(self.number);
    }
}

/// Reports progress.
pub(super) struct ProgressReporter<'a> {
    progress: &'a (dyn Fn(ResearchProgress) + Sync),
    done: u64,
    pub(super) total: u64,
}

impl<'a> ProgressReporter<'a> {
    pub(super) fn new(progress: &'a (dyn Fn(ResearchProgress) + Sync)) -> ProgressReporter<'a> {
        ProgressReporter { progress, done: 0, total: 0 }
    }

    pub(super) fn report(&mut self, message: String) {
        self.done += 1;
        (self.progress)(ResearchProgress { done: self.done, total: self.total.max(self.done), message });
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
