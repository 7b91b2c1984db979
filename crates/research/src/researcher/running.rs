//! A role at work, as whoever waits for it sees it.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::Progress;
use crate::{Fault, Role, Ticket, Timing};

/// A role at work.
pub(super) struct Running<T> {
    pub(super) role: Role,
    ticket: Result<Ticket<T>, Fault>,
    started_at: i64,
    begun: Instant,
    ended: Arc<Mutex<Option<Instant>>>,
}

impl<T> Running<T> {
    /// Submits a task that drops its ending when it is over.
    pub(super) fn begin(
        role: Role,
        number: usize,
        over: &Sender<usize>,
        submit: impl FnOnce(Ending) -> Result<Ticket<T>, Fault>,
    ) -> Running<T> {
        let ended = Arc::new(Mutex::new(None));
        let (started_at, begun) = (now(), Instant::now());
        let ticket = submit(Ending { number, ended: Arc::clone(&ended), over: over.clone() });
        Running { role, ticket, started_at, begun, ended }
    }

    pub(super) fn turned_away(role: Role, fault: Fault) -> Running<T> {
        let ended = Arc::new(Mutex::new(Some(Instant::now())));
        Running { role, ticket: Err(fault), started_at: now(), begun: Instant::now(), ended }
    }

    pub(super) fn is_spawned(&self) -> bool {
        self.ticket.is_ok()
    }

    pub(super) fn wait(self) -> (Result<T, Fault>, Timing) {
        let result = self.ticket.and_then(Ticket::wait);
        let ended = *self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = ended.unwrap_or_else(Instant::now).saturating_duration_since(self.begun);
        (result, Timing { started_at: self.started_at, elapsed_ms: milliseconds(elapsed) })
    }
}

/// Tells that a task is over, by whatever way it ends.
pub(super) struct Ending {
    number: usize,
    ended: Arc<Mutex<Option<Instant>>>,
    over: Sender<usize>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        // Whoever asked may have left.
        let _ = self.over.send(self.number);
    }
}

/// What is told while it works.
pub(super) struct Steps<'a> {
    progress: &'a (dyn Fn(Progress) + Sync),
    done: u64,
    pub(super) total: u64,
}

impl<'a> Steps<'a> {
    pub(super) fn new(progress: &'a (dyn Fn(Progress) + Sync)) -> Steps<'a> {
        Steps { progress, done: 0, total: 0 }
    }

    pub(super) fn tell(&mut self, message: String) {
        self.done += 1;
        (self.progress)(Progress { done: self.done, total: self.total.max(self.done), message });
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
