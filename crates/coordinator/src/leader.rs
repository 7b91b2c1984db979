//! Election: one process of a data folder holds the leader lock; the others poll for it and take over when it is free.
//! The leader reconciles at its start, every minute, and when an agent has died.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tamis_agents::{Coordinator, InstanceId, LockHolder, Result, lock_holder};

use crate::AgentService;

/// How often a process that waits for the leader lock tries to take it.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(200);

const RECONCILE_INTERVAL: Duration = Duration::from_secs(60);

/// How often to look for agents that died: only that cannot wait for the next reconciliation.
const DEAD_AGENT_POLL_INTERVAL: Duration = Duration::from_secs(2);

/// How soon to try again after a failure.
const FAILURE_RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// A process that only checks whether the lock is held has it for an instant, which must not look like a leader.
const FIRST_ATTEMPTS: u32 = 10;
const FIRST_ATTEMPT_INTERVAL: Duration = Duration::from_millis(5);

/// Whether this process coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leadership {
    Leader,
    /// Another process does, to which every request is forwarded.
    Forwarding(LockHolder),
}

/// Called each time that the leadership changes.
type OnChange = Box<dyn Fn(&Leadership) + Send>;

/// Whether this process is the leader, and the thread that runs for it.
#[derive(Default)]
pub(crate) struct LeaderState {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    coordinator: Option<Arc<Coordinator>>,
    thread: Option<JoinHandle<()>>,
    has_resigned: bool,
}

impl LeaderState {
    pub(crate) fn coordinator(&self) -> Option<Arc<Coordinator>> {
        self.state.lock().coordinator.clone()
    }

    /// Waits, unless the process resigns. False: it has.
    fn wait(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.state.lock();
        while !state.has_resigned {
            if self.changed.wait_until(&mut state, until).timed_out() {
                return !state.has_resigned;
            }
        }
        false
    }
}

impl AgentService {
    /// Coordinates from now on, or as soon as the leader lock is free, until [`AgentService::resign`]. Other processes reach
    /// this one at `url`.
    ///
    /// When this returns, the leader lock is held, unless no process can hold it.
    pub fn lead(
        self: &Arc<Self>,
        url: &str,
        on_change: impl Fn(&Leadership) + Send + 'static,
    ) -> std::io::Result<()> {
        let (service, url) = (Arc::clone(self), url.to_owned());
        let mut state = self.leader.state.lock();
        if state.thread.is_none() && !state.has_resigned {
            let first = self.claim_at_once();
            let thread = thread::Builder::new().name("coordinator".into());
            state.thread = Some(thread.spawn(move || service.run_leader(&url, first, Box::new(on_change)))?);
        }
        Ok(())
    }

    /// None: another process holds the lock, or it fails, which is logged at the next attempt.
    fn claim_at_once(&self) -> Option<Arc<Coordinator>> {
        for attempt in 0..FIRST_ATTEMPTS {
            if attempt > 0 {
                thread::sleep(FIRST_ATTEMPT_INTERVAL);
            }
            match Coordinator::claim(self.settings.coordinator.clone()) {
                Ok(Some(coordinator)) => return Some(coordinator),
                Ok(None) => {}
                Err(_) => return None,
            }
        }
        None
    }

    /// Releases the leader lock, once the calls under way are done.
    pub fn resign(&self) {
        let thread = {
            let mut state = self.leader.state.lock();
            state.has_resigned = true;
            state.coordinator = None;
            self.leader.changed.notify_all();
            state.thread.take()
        };
        if let Some(thread) = thread {
            // A panic there has been reported already.
            let _ = thread.join();
        }
    }

    fn run_leader(&self, url: &str, first: Option<Arc<Coordinator>>, on_change: OnChange) {
        let Some(coordinator) = first.or_else(|| self.await_leader_lock(&on_change)) else { return };
        let mut interval = self.reconcile_now(&coordinator);
        if let Err(error) = coordinator.announce(url) {
            tracing::error!(%error, "cannot announce this coordinator to other processes");
        }
        {
            let mut state = self.leader.state.lock();
            if state.has_resigned {
                return;
            }
            state.coordinator = Some(Arc::clone(&coordinator));
        }
        on_change(&Leadership::Leader);
        let (mut due, mut known_dead) = (Instant::now() + interval, Vec::new());
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if !self.leader.wait(left.min(DEAD_AGENT_POLL_INTERVAL)) {
                return;
            }
            if Instant::now() < due && !has_new_dead(&coordinator, &mut known_dead) {
                continue;
            }
            interval = self.reconcile_now(&coordinator);
            due = Instant::now() + interval;
        }
    }

    /// None: it resigned before.
    fn await_leader_lock(&self, on_change: &OnChange) -> Option<Arc<Coordinator>> {
        let mut reported = None;
        loop {
            let wait = match Coordinator::claim(self.settings.coordinator.clone()) {
                Ok(Some(coordinator)) => return Some(coordinator),
                Ok(None) => {
                    self.report_lock_holder(&mut reported, on_change);
                    LOCK_POLL_INTERVAL
                }
                Err(error) => {
                    tracing::error!(%error, "cannot coordinate the agents of this data folder");
                    FAILURE_RETRY_INTERVAL
                }
            };
            if !self.leader.wait(wait) {
                return None;
            }
        }
    }

    /// Reports each holder once.
    fn report_lock_holder(&self, reported: &mut Option<LockHolder>, on_change: &OnChange) {
        let Some(holder) = lock_holder(&self.settings.coordinator.data_dir) else { return };
        if reported.as_ref() != Some(&holder) {
            on_change(&Leadership::Forwarding(holder.clone()));
            *reported = Some(holder);
        }
    }

    /// Reconciles, and answers when to do it again.
    fn reconcile_now(&self, coordinator: &Coordinator) -> Duration {
        let reconciled = coordinator.reconcile();
        self.notify_followers();
        match reconciled {
            Ok(findings) => {
                for finding in findings {
                    tracing::info!(instance = ?finding.instance, found = finding.found, done = finding.done, "repaired");
                }
                RECONCILE_INTERVAL
            }
            Err(error) => {
                tracing::error!(%error, "cannot reconcile agents");
                FAILURE_RETRY_INTERVAL
            }
        }
    }

    /// Holds the leader lock for as long as `work` takes, after reconciling. None: another process holds it.
    pub fn with_temporary_coordinator<T>(
        &self,
        work: impl FnOnce(&Coordinator) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(coordinator) = Coordinator::claim(self.settings.coordinator.clone())? else {
            return Ok(None);
        };
        self.reconcile_now(&coordinator);
        let outcome = work(&coordinator);
        self.notify_followers();
        outcome.map(Some)
    }
}

/// Whether an agent has died since the last look: one that cannot be handled at once waits for the next reconciliation.
fn has_new_dead(coordinator: &Coordinator, known: &mut Vec<InstanceId>) -> bool {
    let dead = coordinator.dead().unwrap_or_else(|error| {
        tracing::debug!(%error, "cannot list dead agents");
        Vec::new()
    });
    let is_new = dead.iter().any(|id| !known.contains(id));
    *known = dead;
    is_new
}
