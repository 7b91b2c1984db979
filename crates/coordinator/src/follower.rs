//! Events as they are written, by any process.
//!
//! A follower reads the table by sequence number, so it misses nothing, gets nothing twice, and a slow one costs no memory.
//! It is woken by this process after its own writes, and by one thread that polls the database for writes of others. The
//! thread runs only while there are followers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tamis_agents::{AgentEvent, AgentsError, Archive, Code, Result};
use tamis_redact::Redacted;
use tokio::sync::watch;

use crate::AgentService;
use crate::local::blocking;

/// A status change must be sent within 100 ms, most of which a busy machine needs for sending. A poll costs microseconds.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum number of events held for one follower.
const BATCH: u32 = 256;

/// Reads events in order, waiting for new ones.
pub struct EventFollower {
    service: Arc<AgentService>,
    changes: watch::Receiver<u64>,
    after: i64,
    batch: VecDeque<Redacted<AgentEvent>>,
}

impl AgentService {
    /// Events after this sequence number, as they come; None, or one that does not exist yet: new events only. A caller
    /// with a number from the future has seen other tables, and would miss later events.
    pub async fn follow(self: &Arc<Self>, after: Option<i64>) -> Result<EventFollower> {
        let service = Arc::clone(self);
        blocking(move || {
            let changes = service.changes.subscribe();
            service.watch()?;
            let last = service.archive()?.last_event()?;
            let after = after.map_or(last, |after| after.min(last));
            Ok(EventFollower { service, changes, after, batch: VecDeque::new() })
        })
        .await
    }

    /// Starts the thread that polls for writes of other processes, unless it runs.
    fn watch(self: &Arc<Self>) -> Result<()> {
        let mut is_watched = self.is_watched.lock();
        if *is_watched {
            return Ok(());
        }
        // A connection of its own: a connection does not see its own writes as changes.
        let archive = Archive::open(&self.settings.coordinator.database)?;
        let service = Arc::clone(self);
        let spawned =
            thread::Builder::new().name("events".into()).spawn(move || service.poll_changes(&archive));
        spawned.map_err(|error| {
            AgentsError::new(Code::InternalError, format!("cannot start a thread: {error}"))
        })?;
        *is_watched = true;
        Ok(())
    }

    fn poll_changes(&self, archive: &Archive) {
        let mut seen = None;
        loop {
            match archive.version() {
                // The first one is not a change, but what was written before it may not have been read.
                Ok(version) if seen != Some(version) => {
                    seen = Some(version);
                    self.notify_followers();
                }
                Ok(_) => {}
                // Followers find out for themselves whether the table can be read.
                Err(error) => {
                    tracing::debug!(%error, "cannot poll for events");
                    self.notify_followers();
                }
            }
            thread::sleep(POLL_INTERVAL);
            let mut is_watched = self.is_watched.lock();
            if self.changes.receiver_count() == 0 {
                *is_watched = false;
                return;
            }
        }
    }
}

impl EventFollower {
    /// The sequence number of the last event that was returned.
    pub fn after(&self) -> i64 {
        self.after
    }

    /// The sequence number of the last event in the table.
    pub async fn last_seq(&self) -> Result<i64> {
        let service = Arc::clone(&self.service);
        blocking(move || service.archive()?.last_event()).await
    }

    /// The next event, once it is there. Cancel-safe.
    pub async fn next(&mut self) -> Result<Redacted<AgentEvent>> {
        loop {
            if let Some(event) = self.batch.pop_front() {
                self.after = event.seq;
                return Ok(event);
            }
            // Before reading, so that a write meanwhile wakes it again.
            self.changes.borrow_and_update();
            let (service, after) = (Arc::clone(&self.service), self.after);
            let read = blocking(move || {
                let events = service.archive()?.events(after, None, BATCH)?;
                Ok(events.into_iter().map(Redacted::new).collect::<VecDeque<_>>())
            });
            self.batch = read.await?;
            if self.batch.is_empty() && self.changes.changed().await.is_err() {
                return Err(AgentsError::new(Code::InternalError, "there are no more events"));
            }
        }
    }
}
