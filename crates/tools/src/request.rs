//! The states of a workbench request, logged step by step.

mod states;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

pub use states::{Event, State, TRANSITIONS, Transition};

use crate::{Failure, Toolset};

/// How the end of a request is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteReport {
    /// The door reports that it has written the answer.
    ByDoor,
    /// The answer counts as written when the door has it.
    Assumed,
}

/// The log of one request, shared by everything that advances it. Only requests of the workbench are logged; for all
/// others it does nothing.
#[derive(Clone)]
pub struct RequestLog {
    entry: Arc<Mutex<Option<Entry>>>,
    write_report: WriteReport,
}

struct Entry {
    number: u64,
    tool: String,
    state: State,
    begun: Instant,
}

impl Default for RequestLog {
    fn default() -> RequestLog {
        RequestLog { entry: Arc::default(), write_report: WriteReport::Assumed }
    }
}

impl RequestLog {
    /// For a door that reports when it has written the answer.
    pub fn written_by_door() -> RequestLog {
        RequestLog { write_report: WriteReport::ByDoor, ..RequestLog::default() }
    }

    /// The request has arrived; it gets its number.
    pub fn received(&self, tool: &str) {
        static REQUESTS: AtomicU64 = AtomicU64::new(1);
        let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
        let tool = tool.to_owned();
        tracing::debug!(request = number, tool, "{}", State::Received.name());
        *self.lock() = Some(Entry { number, tool, state: State::Received, begun: Instant::now() });
    }

    /// The same for a tool of this toolset; only the workbench's requests are logged.
    pub(crate) fn received_by(&self, toolset: Toolset, tool: &str) {
        if toolset == Toolset::Workbench {
            self.received(tool);
            self.step(Event::Accepted);
        }
    }

    /// The request failed.
    pub(crate) fn fail(&self, failure: &Failure) {
        match failure {
            Failure::InvalidInput { .. } | Failure::UnknownTool { .. } => self.step(Event::ArgumentsInvalid),
            Failure::Cancelled => self.step_because(Event::Unhandled, "the caller no longer waits"),
            Failure::Domain { .. }
            | Failure::Stated { .. }
            | Failure::Agents(_)
            | Failure::Internal { .. } => {
                self.step(Event::Unhandled);
            }
        }
    }

    /// Logs a message that never became a call of a tool.
    pub fn refused(event: Event, why: &str) {
        let log = RequestLog::default();
        log.received("?");
        if event != Event::Unreadable {
            log.step(Event::Accepted);
        }
        log.step_because(event, why);
    }

    pub fn step(&self, event: Event) {
        self.step_because(event, "");
    }

    /// A step with its reason, which must not quote what was read.
    pub fn step_because(&self, event: Event, why: &str) {
        let mut entry = self.lock();
        let Some(Entry { number, tool, state, begun }) = &mut *entry else { return };
        let from = *state;
        let to = from.at(event).unwrap_or_else(|| {
            tracing::error!(request = *number, "no transition from {} at {event:?}", from.name());
            State::InternalError
        });
        *state = to;
        let ms = begun.elapsed().as_millis();
        let (from, to, description) = (from.name(), to.name(), event.description());
        let colon = if why.is_empty() { "" } else { ": " };
        tracing::debug!(request = *number, tool, ms, "{from} -> {to} ({description}{colon}{why})");
    }

    /// The answer is with the door.
    pub(crate) fn answered(&self) {
        if self.write_report == WriteReport::Assumed {
            self.written(Ok(()));
        }
    }

    /// The answer has been written, or could not be.
    pub fn written(&self, outcome: Result<(), &str>) {
        if self.state().is_none_or(State::is_final) {
            return;
        }
        match outcome {
            Ok(()) => self.step(Event::Written),
            Err(why) => self.step_because(Event::WriteFailed, why),
        }
    }

    /// The state of the request; None for one that is not logged.
    pub fn state(&self) -> Option<State> {
        self.lock().as_ref().map(|entry| entry.state)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Entry>> {
        self.entry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_not_in_the_table_is_an_internal_error() {
        let log = RequestLog::default();
        log.step(Event::Accepted);
        assert_eq!(log.state(), None, "not logged");
        log.received("read");
        log.step(Event::Pruned);
        assert_eq!(log.state(), Some(State::InternalError));
    }

    #[test]
    fn only_a_door_that_reports_writing_is_waited_for() {
        for (log, state) in
            [(RequestLog::default(), State::Responded), (RequestLog::written_by_door(), State::RespondRaw)]
        {
            log.received("read");
            for event in [
                Event::Accepted,
                Event::ArgumentsValid,
                Event::OperationSucceeded,
                Event::OutputCaptured,
                Event::NoQuestion,
            ] {
                log.step(event);
            }
            log.answered();
            assert_eq!(log.state(), Some(state));
        }
    }
}
