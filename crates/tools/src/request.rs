//! The life of a workbench request, told step by step in the diagnostics.

mod states;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

pub use states::{Event, State, TRANSITIONS, Transition};

use crate::{Failure, Toolset};

/// Who says that a request has been answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    /// The door, once the answer has been written.
    ToldByDoor,
    /// Nobody: it counts as written when the door has it.
    Assumed,
}

/// The log of one request, held by whoever can take it further. Only requests of the workbench have a life here;
/// for all others it stays asleep and says nothing.
#[derive(Clone)]
pub struct RequestLog {
    life: Arc<Mutex<Option<Life>>>,
    writing: Writing,
}

struct Life {
    number: u64,
    tool: String,
    state: State,
    begun: Instant,
}

impl Default for RequestLog {
    fn default() -> RequestLog {
        RequestLog { life: Arc::default(), writing: Writing::Assumed }
    }
}

impl RequestLog {
    /// For a door that tells when it has written the answer.
    pub fn written_by_door() -> RequestLog {
        RequestLog { writing: Writing::ToldByDoor, ..RequestLog::default() }
    }

    /// The request is there: it gets its number.
    pub fn received(&self, tool: &str) {
        static REQUESTS: AtomicU64 = AtomicU64::new(1);
        let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
        let tool = tool.to_owned();
        tracing::debug!(request = number, tool, "{}", State::Received.name());
        *self.lock() = Some(Life { number, tool, state: State::Received, begun: Instant::now() });
    }

    /// The same for a tool of this toolset; only the workbench's requests have a life.
    pub(crate) fn received_by(&self, toolset: Toolset, tool: &str) {
        if toolset == Toolset::Workbench {
            self.received(tool);
            self.step(Event::Accepted);
        }
    }

    /// It came to nothing.
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

    /// Something that never became a call of a tool.
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
        let mut life = self.lock();
        let Some(Life { number, tool, state, begun }) = &mut *life else { return };
        let from = *state;
        let to = from.at(event).unwrap_or_else(|| {
            tracing::error!(request = *number, "no way from {} at {event:?}", from.name());
            State::InternalError
        });
        *state = to;
        let ms = begun.elapsed().as_millis();
        let (from, to, words) = (from.name(), to.name(), event.words());
        let colon = if why.is_empty() { "" } else { ": " };
        tracing::debug!(request = *number, tool, ms, "{from} -> {to} ({words}{colon}{why})");
    }

    /// The answer is with the door.
    pub(crate) fn answered(&self) {
        if self.writing == Writing::Assumed {
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

    /// Where the request is; None for one that has no life here.
    pub fn state(&self) -> Option<State> {
        self.lock().as_ref().map(|life| life.state)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Life>> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_the_table_does_not_have_is_our_fault() {
        let log = RequestLog::default();
        log.step(Event::Accepted);
        assert_eq!(log.state(), None, "asleep");
        log.received("read");
        log.step(Event::Pruned);
        assert_eq!(log.state(), Some(State::InternalError));
    }

    #[test]
    fn only_a_door_that_tells_is_waited_for() {
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
