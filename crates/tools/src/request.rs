//! The life of a workbench request, as states that its diagnostics show.
//!
//! The contract draws this machine as a table, and so is it here: what may follow what is data, and a step that the
//! table does not have is a fault of ours, which ends the request as one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::{Failure, Toolset};

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    Received,
    Validating,
    InvalidRequest,
    ExecutingTool,
    ToolError,
    RawOutputReady,
    PruneCheck,
    CallingPruner,
    PrunerErrorFallback,
    RespondRaw,
    RespondPruned,
    Responded,
    InternalError,
}

/// What takes a request further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    Accepted,
    Unreadable,
    ArgumentsInvalid,
    ArgumentsValid,
    OperationFailed,
    OperationSucceeded,
    OutputCaptured,
    NoQuestion,
    PruningDisabled,
    NothingToPrune,
    PruningEligible,
    Pruned,
    PrunerFailed,
    FallbackChosen,
    Written,
    WriteFailed,
    Unhandled,
}

/// One row: in `from`, at `event`, a request goes to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    pub from: State,
    pub event: Event,
    pub to: State,
}

const fn row(from: State, event: Event, to: State) -> Transition {
    Transition { from, event, to }
}

/// Everything that can happen, but for [`Event::Unhandled`], which ends a request wherever it is.
pub const TRANSITIONS: &[Transition] = &[
    row(State::Received, Event::Accepted, State::Validating),
    row(State::Received, Event::Unreadable, State::InvalidRequest),
    row(State::Validating, Event::ArgumentsInvalid, State::InvalidRequest),
    row(State::Validating, Event::ArgumentsValid, State::ExecutingTool),
    row(State::ExecutingTool, Event::OperationFailed, State::ToolError),
    row(State::ExecutingTool, Event::OperationSucceeded, State::RawOutputReady),
    row(State::RawOutputReady, Event::OutputCaptured, State::PruneCheck),
    row(State::PruneCheck, Event::NoQuestion, State::RespondRaw),
    row(State::PruneCheck, Event::PruningDisabled, State::RespondRaw),
    row(State::PruneCheck, Event::NothingToPrune, State::RespondRaw),
    row(State::PruneCheck, Event::PruningEligible, State::CallingPruner),
    row(State::CallingPruner, Event::Pruned, State::RespondPruned),
    row(State::CallingPruner, Event::PrunerFailed, State::PrunerErrorFallback),
    row(State::PrunerErrorFallback, Event::FallbackChosen, State::RespondRaw),
    row(State::RespondRaw, Event::Written, State::Responded),
    row(State::RespondPruned, Event::Written, State::Responded),
    row(State::RespondRaw, Event::WriteFailed, State::InternalError),
    row(State::RespondPruned, Event::WriteFailed, State::InternalError),
];

impl State {
    pub const ALL: [State; 13] = [
        State::Received,
        State::Validating,
        State::InvalidRequest,
        State::ExecutingTool,
        State::ToolError,
        State::RawOutputReady,
        State::PruneCheck,
        State::CallingPruner,
        State::PrunerErrorFallback,
        State::RespondRaw,
        State::RespondPruned,
        State::Responded,
        State::InternalError,
    ];

    /// As the contract and the diagnostics call it.
    pub fn name(self) -> &'static str {
        match self {
            State::Received => "req:received",
            State::Validating => "req:validating",
            State::InvalidRequest => "req:invalid_request",
            State::ExecutingTool => "req:executing_tool",
            State::ToolError => "req:tool_error",
            State::RawOutputReady => "req:raw_output_ready",
            State::PruneCheck => "req:prune_check",
            State::CallingPruner => "req:calling_pruner",
            State::PrunerErrorFallback => "req:pruner_error_fallback",
            State::RespondRaw => "req:respond_raw",
            State::RespondPruned => "req:respond_pruned",
            State::Responded => "req:responded",
            State::InternalError => "req:internal_error",
        }
    }

    /// Whether nothing can follow.
    pub fn is_final(self) -> bool {
        matches!(self, State::InvalidRequest | State::ToolError | State::Responded | State::InternalError)
    }

    /// Where `event` leads from here; None where the table has no such row.
    pub fn at(self, event: Event) -> Option<State> {
        if event == Event::Unhandled {
            return (!self.is_final()).then_some(State::InternalError);
        }
        TRANSITIONS.iter().find(|row| row.from == self && row.event == event).map(|row| row.to)
    }
}

impl Event {
    /// What happened, for the diagnostics.
    pub fn words(self) -> &'static str {
        match self {
            Event::Accepted => "request accepted",
            Event::Unreadable => "request cannot be parsed",
            Event::ArgumentsInvalid => "arguments invalid",
            Event::ArgumentsValid => "arguments valid",
            Event::OperationFailed => "operation failed",
            Event::OperationSucceeded => "operation succeeded",
            Event::OutputCaptured => "output captured",
            Event::NoQuestion => "no context_focus_question",
            Event::PruningDisabled => "pruning disabled",
            Event::NothingToPrune => "nothing that may be pruned",
            Event::PruningEligible => "asking the pruner",
            Event::Pruned => "pruned",
            Event::PrunerFailed => "pruner failed",
            Event::FallbackChosen => "falling back to the raw output",
            Event::Written => "response written",
            Event::WriteFailed => "response could not be written",
            Event::Unhandled => "ended without an answer",
        }
    }
}

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
            Failure::Domain { .. } | Failure::Internal { .. } => self.step(Event::Unhandled),
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
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_state_has_its_rows() {
        for state in State::ALL {
            let leaving = TRANSITIONS.iter().filter(|row| row.from == state).count();
            assert_eq!(leaving == 0, state.is_final(), "{state:?}");
            let entered = TRANSITIONS.iter().any(|row| row.to == state);
            assert_eq!(entered, state != State::Received, "{state:?}");
            let wherever = if state.is_final() { None } else { Some(State::InternalError) };
            assert_eq!(state.at(Event::Unhandled), wherever, "{state:?}");
        }
        let names: BTreeSet<_> = State::ALL.iter().map(|state| state.name()).collect();
        assert_eq!(names.len(), State::ALL.len());
    }

    #[test]
    fn the_table_has_one_way_at_most_for_each_event() {
        let keys: BTreeSet<_> = TRANSITIONS.iter().map(|row| (row.from, row.event)).collect();
        assert_eq!(keys.len(), TRANSITIONS.len());
        for row in TRANSITIONS {
            assert_eq!(row.from.at(row.event), Some(row.to));
            assert!(!row.from.is_final());
        }
    }

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
