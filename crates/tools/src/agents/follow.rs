//! Events as they come, from whatever process.
//!
//! A follower reads the table by number, so nothing is missed or told twice, and one that is slow costs no memory. What
//! wakes it is a bell, rung by this process after what it did, and by one thread that asks the database every few
//! milliseconds whether anybody wrote. The thread is there only while somebody follows.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use tamis_agents::{AgentsError, Archive, Code, Event};
use tamis_redact::Redacted;
use tokio::sync::watch;

use super::Agents;
use super::errand::blocking;

/// A status change is to be told within 100 ms, and on a busy machine telling takes most of it. Asking costs microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How many events are held at once for one follower.
const AT_ONCE: u32 = 256;

/// One who wants to know what happens.
pub struct Follower {
    agents: Arc<Agents>,
    bell: watch::Receiver<u64>,
    after: i64,
    read: VecDeque<Redacted<Event>>,
}

impl Agents {
    /// Events after this one, as they come. None: those that are new from now on. So it is for one that is not there yet:
    /// whoever asks has seen other tables, and would miss what is to come.
    pub async fn follow(self: &Arc<Self>, after: Option<i64>) -> Result<Follower, AgentsError> {
        let agents = Arc::clone(self);
        blocking(move || {
            let bell = agents.bell.subscribe();
            agents.watch()?;
            let last = agents.archive()?.last_event()?;
            let after = after.map_or(last, |after| after.min(last));
            Ok(Follower { agents, bell, after, read: VecDeque::new() })
        })
        .await
    }

    /// Starts the thread that rings when anybody wrote, unless there is one.
    fn watch(self: &Arc<Self>) -> Result<(), AgentsError> {
        let mut is_watched = self.is_watched.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_watched {
            return Ok(());
        }
        // A connection of its own: what a connection wrote itself does not count for it.
        let archive = Archive::open(&self.settings.coordinator.database)?;
        let agents = Arc::clone(self);
        let spawned = thread::Builder::new().name("events".into()).spawn(move || agents.watch_on(&archive));
        spawned.map_err(|error| AgentsError::new(Code::InternalError, format!("no thread: {error}")))?;
        *is_watched = true;
        Ok(())
    }

    fn watch_on(&self, archive: &Archive) {
        let mut seen = None;
        loop {
            match archive.version() {
                // The first is no change, but what was written before it may not have been read.
                Ok(version) if seen != Some(version) => {
                    seen = Some(version);
                    self.ring();
                }
                Ok(_) => {}
                // Followers find out for themselves whether it can be read.
                Err(error) => {
                    tracing::debug!(%error, "the events cannot be watched");
                    self.ring();
                }
            }
            thread::sleep(LOOK_EVERY);
            let mut is_watched = self.is_watched.lock().unwrap_or_else(PoisonError::into_inner);
            if self.bell.receiver_count() == 0 {
                *is_watched = false;
                return;
            }
        }
    }
}

impl Follower {
    /// The number of the last event that was given.
    pub fn after(&self) -> i64 {
        self.after
    }

    /// The number of the last event that there is.
    pub async fn last_seq(&self) -> Result<i64, AgentsError> {
        let agents = Arc::clone(&self.agents);
        blocking(move || agents.archive()?.last_event()).await
    }

    /// The next event, once it is there. May be dropped and called again.
    pub async fn next(&mut self) -> Result<Redacted<Event>, AgentsError> {
        loop {
            if let Some(event) = self.read.pop_front() {
                self.after = event.seq;
                return Ok(event);
            }
            // Before reading, so that what comes meanwhile rings again.
            self.bell.borrow_and_update();
            let (agents, after) = (Arc::clone(&self.agents), self.after);
            let read = blocking(move || {
                let events = agents.archive()?.events(after, None, AT_ONCE)?;
                Ok(events.into_iter().map(Redacted::new).collect::<VecDeque<_>>())
            });
            self.read = read.await?;
            if self.read.is_empty() && self.bell.changed().await.is_err() {
                return Err(AgentsError::new(Code::InternalError, "the events have ended"));
            }
        }
    }
}
