//! Being the one that coordinates: waiting for one's turn, repairing what the last one left, and every minute after.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tamis_agents::{AgentsError, Coordinator, whereabouts};

use super::Agents;

/// How often somebody who waits looks whether it is its turn.
const TURN_CHECK: Duration = Duration::from_millis(200);

/// How often what is there is compared with what should be.
const RECONCILE_EVERY: Duration = Duration::from_secs(60);

/// How soon something is tried again that failed.
const RETRY: Duration = Duration::from_secs(5);

/// Whether this process coordinates, and the thread that sees to it.
#[derive(Default)]
pub(super) struct Duty {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    coordinator: Option<Arc<Coordinator>>,
    thread: Option<JoinHandle<()>>,
    is_over: bool,
}

impl Duty {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn coordinator(&self) -> Option<Arc<Coordinator>> {
        self.lock().coordinator.clone()
    }

    /// Waits, but not past the end. False: it is over.
    fn wait(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.lock();
        while !state.is_over {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }
}

impl Agents {
    /// From now on this process coordinates, or does as soon as whoever does is gone; until [`Agents::end`]. Other
    /// processes reach it at `url`.
    pub fn coordinate(self: &Arc<Agents>, url: &str) -> std::io::Result<()> {
        let (agents, url) = (Arc::clone(self), url.to_owned());
        let mut state = self.duty.lock();
        if state.thread.is_none() && !state.is_over {
            let thread = thread::Builder::new().name("coordinator".into());
            state.thread = Some(thread.spawn(move || agents.take_turn(&url))?);
        }
        Ok(())
    }

    /// Coordinates no longer. Whoever waits for its turn has it once the calls that are under way are done.
    pub fn end(&self) {
        let thread = {
            let mut state = self.duty.lock();
            state.is_over = true;
            state.coordinator = None;
            self.duty.changed.notify_all();
            state.thread.take()
        };
        if let Some(thread) = thread {
            // A panic there has been told already.
            let _ = thread.join();
        }
    }

    fn take_turn(&self, url: &str) {
        let Some(coordinator) = self.turn() else { return };
        let coordinator = Arc::new(coordinator);
        let mut next = self.reconcile_as(&coordinator);
        if let Err(error) = coordinator.announce(url) {
            tracing::error!(%error, "other processes cannot be told where this one coordinates");
        }
        {
            let mut state = self.duty.lock();
            if state.is_over {
                return;
            }
            state.coordinator = Some(Arc::clone(&coordinator));
        }
        tracing::info!(url, "coordinates the agents of this data folder");
        while self.duty.wait(next) {
            next = self.reconcile_as(&coordinator);
        }
    }

    /// Waits for it. None: it is over before.
    fn turn(&self) -> Option<Coordinator> {
        let mut told = None;
        loop {
            let wait = match Coordinator::claim(self.settings.coordinator.clone()) {
                Ok(Some(coordinator)) => return Some(coordinator),
                Ok(None) => {
                    self.tell_who_coordinates(&mut told);
                    TURN_CHECK
                }
                Err(error) => {
                    tracing::error!(%error, "cannot coordinate the agents of this data folder");
                    RETRY
                }
            };
            if !self.duty.wait(wait) {
                return None;
            }
        }
    }

    /// Says once of each who it is.
    fn tell_who_coordinates(&self, told: &mut Option<String>) {
        let Some(other) = whereabouts(&self.settings.coordinator.data_dir) else { return };
        if told.as_ref() != Some(&other.url) {
            let (url, pid) = (&other.url, other.pid);
            tracing::info!(url, pid, "another process coordinates agents; their calls are forwarded to it");
            *told = Some(other.url);
        }
    }

    /// Repairs what is amiss, and says when to look again.
    fn reconcile_as(&self, coordinator: &Coordinator) -> Duration {
        let found = coordinator.reconcile();
        self.ring();
        match found {
            Ok(findings) => {
                for finding in findings {
                    tracing::info!(instance = ?finding.instance, found = finding.found, done = finding.done, "repaired");
                }
                RECONCILE_EVERY
            }
            Err(error) => {
                tracing::error!(%error, "agents could not be compared with what is there");
                RETRY
            }
        }
    }

    /// Coordinates for as long as `work` takes, after repairing what is amiss. None: somebody else coordinates.
    pub fn with_temporary_coordinator<T>(
        &self,
        work: impl FnOnce(&Coordinator) -> Result<T, AgentsError>,
    ) -> Result<Option<T>, AgentsError> {
        let Some(coordinator) = Coordinator::claim(self.settings.coordinator.clone())? else {
            return Ok(None);
        };
        self.reconcile_as(&coordinator);
        let outcome = work(&coordinator);
        self.ring();
        outcome.map(Some)
    }
}
