//! Being the one that coordinates: waiting for one's turn, repairing what the last one left, and every minute after.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tamis_agents::{AgentsError, Coordinator, InstanceId, Whereabouts, whereabouts};

use super::Agents;

/// How often somebody who waits looks whether it is its turn.
const TURN_CHECK: Duration = Duration::from_millis(200);

/// How often what is there is compared with what should be.
const RECONCILE_EVERY: Duration = Duration::from_secs(60);

/// How often it is looked whether an agent has died meanwhile, which is all that cannot wait.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How soon something is tried again that failed.
const RETRY: Duration = Duration::from_secs(5);

/// Somebody who only asks whether anybody coordinates is in the way for an instant; that is not somebody who does.
const FIRST_TRIES: u32 = 10;
const NEXT_TRY: Duration = Duration::from_millis(5);

/// What a process does about agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    Coordinates,
    /// Another does, to whom everything is sent on.
    Forwards(Whereabouts),
}

/// Told each time when it changes.
type Tell = Box<dyn Fn(&Standing) + Send>;

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
    /// processes reach it at `url`. `tell` is told which it is.
    ///
    /// When this returns, [`is_coordinated`](tamis_agents::is_coordinated) is true, unless nobody can.
    pub fn coordinate(
        self: &Arc<Agents>,
        url: &str,
        tell: impl Fn(&Standing) + Send + 'static,
    ) -> std::io::Result<()> {
        let (agents, url) = (Arc::clone(self), url.to_owned());
        let mut state = self.duty.lock();
        if state.thread.is_none() && !state.is_over {
            let first = self.claim_at_once();
            let thread = thread::Builder::new().name("coordinator".into());
            state.thread = Some(thread.spawn(move || agents.take_turn(&url, first, Box::new(tell)))?);
        }
        Ok(())
    }

    /// None: somebody else coordinates, or it fails, which is told when it is tried again.
    fn claim_at_once(&self) -> Option<Coordinator> {
        for attempt in 0..FIRST_TRIES {
            if attempt > 0 {
                thread::sleep(NEXT_TRY);
            }
            match Coordinator::claim(self.settings.coordinator.clone()) {
                Ok(Some(coordinator)) => return Some(coordinator),
                Ok(None) => {}
                Err(_) => return None,
            }
        }
        None
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

    fn take_turn(&self, url: &str, first: Option<Coordinator>, tell: Tell) {
        let Some(coordinator) = first.or_else(|| self.turn(&tell)) else { return };
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
        tell(&Standing::Coordinates);
        let (mut due, mut known) = (Instant::now() + next, Vec::new());
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if !self.duty.wait(left.min(LOOK_EVERY)) {
                return;
            }
            if Instant::now() < due && !has_new_dead(&coordinator, &mut known) {
                continue;
            }
            next = self.reconcile_as(&coordinator);
            due = Instant::now() + next;
        }
    }

    /// Waits for it. None: it is over before.
    fn turn(&self, tell: &Tell) -> Option<Coordinator> {
        let mut told = None;
        loop {
            let wait = match Coordinator::claim(self.settings.coordinator.clone()) {
                Ok(Some(coordinator)) => return Some(coordinator),
                Ok(None) => {
                    self.tell_who_coordinates(&mut told, tell);
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
    fn tell_who_coordinates(&self, told: &mut Option<Whereabouts>, tell: &Tell) {
        let Some(other) = whereabouts(&self.settings.coordinator.data_dir) else { return };
        if told.as_ref() != Some(&other) {
            tell(&Standing::Forwards(other.clone()));
            *told = Some(other);
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

/// Whether an agent is dead that was not the last time: one that cannot be seen to at once waits for its minute.
fn has_new_dead(coordinator: &Coordinator, known: &mut Vec<InstanceId>) -> bool {
    let dead = coordinator.dead().unwrap_or_else(|error| {
        tracing::debug!(%error, "it cannot be told which agents live");
        Vec::new()
    });
    let is_new = dead.iter().any(|id| !known.contains(id));
    *known = dead;
    is_new
}
