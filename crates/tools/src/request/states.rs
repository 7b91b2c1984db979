//! The contract's state machine of a request, as a table. A step that is not in the table is an internal error and ends
//! the request.

/// The state of a request.
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

/// What advances a request.
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

/// Every transition except [`Event::Unhandled`], which ends a request in any state.
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

    /// Its name in the contract and in the log.
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

    /// Whether it has no next state.
    pub fn is_final(self) -> bool {
        matches!(self, State::InvalidRequest | State::ToolError | State::Responded | State::InternalError)
    }

    /// The state after `event`; None where the table has no such row.
    pub fn at(self, event: Event) -> Option<State> {
        if event == Event::Unhandled {
            return (!self.is_final()).then_some(State::InternalError);
        }
        TRANSITIONS.iter().find(|row| row.from == self && row.event == event).map(|row| row.to)
    }
}

impl Event {
    /// For the log.
    pub fn description(self) -> &'static str {
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
            Event::NothingToPrune => "nothing to prune",
            Event::PruningEligible => "calling the pruner",
            Event::Pruned => "pruned",
            Event::PrunerFailed => "pruner failed",
            Event::FallbackChosen => "falling back to the raw output",
            Event::Written => "response written",
            Event::WriteFailed => "cannot write the response",
            Event::Unhandled => "ended without an answer",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_state_is_entered_and_all_but_final_ones_are_left() {
        for state in State::ALL {
            let leaving = TRANSITIONS.iter().filter(|row| row.from == state).count();
            assert_eq!(leaving == 0, state.is_final(), "{state:?}");
            let entered = TRANSITIONS.iter().any(|row| row.to == state);
            assert_eq!(entered, state != State::Received, "{state:?}");
            let unhandled = if state.is_final() { None } else { Some(State::InternalError) };
            assert_eq!(state.at(Event::Unhandled), unhandled, "{state:?}");
        }
        let names: BTreeSet<_> = State::ALL.iter().map(|state| state.name()).collect();
        assert_eq!(names.len(), State::ALL.len());
    }

    #[test]
    fn the_table_has_at_most_one_row_for_each_state_and_event() {
        let keys: BTreeSet<_> = TRANSITIONS.iter().map(|row| (row.from, row.event)).collect();
        assert_eq!(keys.len(), TRANSITIONS.len());
        for row in TRANSITIONS {
            assert_eq!(row.from.at(row.event), Some(row.to));
            assert!(!row.from.is_final());
        }
    }
}
