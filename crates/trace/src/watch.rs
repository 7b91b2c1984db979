//! Following sessions while they are written.
//!
//! Logs are polled rather than watched through the system's notifications: folders appear later, network folders and
//! containers give no notices, and a look costs a `stat` for each log. How often is measured by what a look costs, so that
//! following never takes more than a small part of a core.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tamis_logs::event::LogEvent;

use crate::db;
use crate::error::TraceError;
use crate::event_details::EventDetails;
use crate::session::Session;
use crate::trace::{Generation, Trace};

/// The time between two looks at the logs, unless looking itself takes long.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);
/// Looking takes at most one part in this many of the time.
const SHARE: u32 = 20;
/// How often a wait checks whether to end.
const ASKED_EVERY: Duration = Duration::from_millis(50);

/// Called with a new event, its number and its session.
pub type OnEvent<'v> = dyn FnMut(&Session, u64, &EventDetails) -> ControlFlow<()> + 'v;

/// The same with the event as the log has it, which is not redacted.
pub type OnLogEvent<'v> = dyn FnMut(&Session, u64, &LogEvent<'_>) -> ControlFlow<()> + 'v;

/// Follows sessions, and knows how far each was visited.
pub struct SessionWatch<'t> {
    trace: &'t Trace,
    logs: HashMap<i64, Visited>,
    /// The state of the index at the last look. While it stays, no log needs to be compared.
    seen: Option<Generation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Visited {
    read_to: u64,
    changed: i64,
    events: u64,
}

impl Trace {
    /// Begins to follow: what the logs have by now is passed over.
    pub fn watch(&self) -> Result<SessionWatch<'_>, TraceError> {
        self.refresh(&mut |_| ControlFlow::Continue(()))?;
        let mut watch = SessionWatch { trace: self, logs: HashMap::new(), seen: None };
        let _ = watch.visit_new(None)?;
        Ok(watch)
    }
}

impl SessionWatch<'_> {
    /// How many logs are followed by now.
    pub fn logs(&self) -> usize {
        self.logs.len()
    }

    /// Looks once and visits what is new since the last look. Of a document that was rewritten, the events beyond the former
    /// number are visited, since nothing else is known of it.
    pub fn look(&mut self, visit: &mut OnEvent<'_>) -> Result<ControlFlow<()>, TraceError> {
        self.look_at_log(&mut |session, number, event| visit(session, number, &EventDetails::of(event)))
    }

    fn look_at_log(&mut self, visit: &mut OnLogEvent<'_>) -> Result<ControlFlow<()>, TraceError> {
        self.trace.refresh(&mut |_| ControlFlow::Continue(()))?;
        self.visit_new(Some(visit))
    }

    /// Looks repeatedly until `visit` breaks or `ended` returns true.
    pub fn follow(&mut self, ended: &dyn Fn() -> bool, visit: &mut OnEvent<'_>) -> Result<(), TraceError> {
        let mut shown = |session: &Session, number, event: &LogEvent<'_>| {
            visit(session, number, &EventDetails::of(event))
        };
        self.follow_log(ended, &mut shown, &mut || {})
    }

    /// The same with events as the logs have them. `looked` is called after each look.
    pub fn follow_log(
        &mut self,
        ended: &dyn Fn() -> bool,
        visit: &mut OnLogEvent<'_>,
        looked: &mut dyn FnMut(),
    ) -> Result<(), TraceError> {
        loop {
            let begun = Instant::now();
            if self.look_at_log(visit)?.is_break() {
                return Ok(());
            }
            looked();
            let pause = BETWEEN_LOOKS.max(begun.elapsed() * SHARE);
            let waiting = Instant::now();
            while let Some(left) = pause.checked_sub(waiting.elapsed()) {
                if ended() {
                    return Ok(());
                }
                std::thread::sleep(left.min(ASKED_EVERY));
            }
        }
    }

    fn visit_new(&mut self, mut visit: Option<&mut OnLogEvent<'_>>) -> Result<ControlFlow<()>, TraceError> {
        let generation = self.trace.generation()?;
        if self.seen == Some(generation) {
            return Ok(ControlFlow::Continue(()));
        }
        let database = self.trace.database()?;
        let rows = database.read(db::logs)?;
        let mut logs = HashMap::with_capacity(rows.len());
        let mut flow = ControlFlow::Continue(());
        for row in rows {
            let before = self.logs.get(&row.id).copied();
            let same = |visited: Visited| {
                visited.read_to == row.read_to && visited.changed == row.source.stamp.changed
            };
            if let Some(visited) = before.filter(|visited| same(*visited)) {
                logs.insert(row.id, visited);
                continue;
            }
            let session = database.read(|connection| db::session_of_log(connection, row.id))?;
            let events = session.as_ref().map_or(0, |session| session.summary.events);
            if let (Some(session), Some(visit)) = (&session, &mut visit) {
                let from = before.map_or(0, |visited| visited.events);
                if flow.is_continue() && from < events {
                    flow = self.visit_from(session, from, visit)?;
                }
            }
            logs.insert(row.id, Visited { read_to: row.read_to, changed: row.source.stamp.changed, events });
        }
        self.logs = logs;
        self.seen = Some(generation);
        Ok(flow)
    }

    fn visit_from(
        &self,
        session: &Session,
        from: u64,
        visit: &mut OnLogEvent<'_>,
    ) -> Result<ControlFlow<()>, TraceError> {
        let mut flow = ControlFlow::Continue(());
        let visited = self.trace.events(session, from, &mut |number, event| {
            flow = visit(session, number, event);
            flow
        });
        match visited {
            // It went away between the two looks at it.
            Err(TraceError::Log { .. } | TraceError::NoSuchSession { .. }) => Ok(flow),
            visited => visited.map(|()| flow),
        }
    }
}
