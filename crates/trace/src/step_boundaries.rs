//! Where the steps of a turn begin: one rule for the index, which counts them, and for those who read them.
//!
//! A step is what the agent thinks, says and calls between two sets of tool results. What else happens in the turn belongs to
//! the step that is open, or opens the first one. A subagent's conversation inside the session's log has steps of its own.

use serde::{Deserialize, Serialize};
use tamis_logs::event::{EventBody, EventKind, EventStream, LogEvent};
use tamis_logs::usage::Claim;

/// How far a turn's conversations are: the agent's own, and that of a subagent in the same log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StepBoundaries {
    main: Phase,
    sidechain: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    #[default]
    NoStep,
    Open,
    /// A result has come, so the next act begins a step.
    Answered,
}

impl StepBoundaries {
    /// Whether this event, which does not begin a turn, begins a step.
    pub(crate) fn begins_step(&mut self, event: &LogEvent<'_>) -> bool {
        let is_side = event.stream == EventStream::Sidechain;
        let phase = if is_side { &mut self.sidechain } else { &mut self.main };
        let kind = event.kind();
        let is_prompt = is_side && kind.begins_turn();
        let begins = match phase {
            Phase::NoStep => !is_nothing(event),
            Phase::Open => is_prompt,
            Phase::Answered => is_act(kind) || is_prompt,
        };
        if begins {
            *phase = Phase::Open;
        }
        if kind == EventKind::ToolResult {
            *phase = Phase::Answered;
        }
        begins
    }
}

/// Whether the agent does this.
pub(crate) fn is_act(kind: EventKind) -> bool {
    matches!(kind, EventKind::Message | EventKind::Reasoning | EventKind::ToolCall)
}

/// A report of tokens that never counts; clients write some before anything happens.
fn is_nothing(event: &LogEvent<'_>) -> bool {
    let EventBody::TokenUsage(report) = &event.body else { return false };
    report.tokens.is_zero() || matches!(report.claim, Claim::Excluded(_))
}
