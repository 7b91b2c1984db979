//! The runner's states, from `run:init` to `run:shutdown`. The transitions are data, row for row those of the contract;
//! there are no others, and none leads back.

use std::fmt;

use crate::{Event, PRUNER, ServerStatus};

/// An agent's reason is worth this much of a line: Codex, for one, tells the types of its own insides.
const DETAIL_BYTES: usize = 300;

/// A state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Whether the pruner's server is wired in is being decided.
    Init,
    /// It is not, or did not start: the agent works with its own tools alone.
    PrunerDisabled,
    /// The agent was told to start it.
    PrunerStarting,
    /// The agent can use it.
    PrunerRunning,
    /// It worked once, and counts as gone for the rest of the run.
    PrunerDegraded,
    /// The agent has ended, and all that it started.
    Shutdown,
}

/// What moves a run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEvent {
    DisabledByConfig,
    ConfigResolved,
    ConfigInvalid,
    ServerInitialised,
    ServerNotStarted,
    ServerFailed,
    PhaseEnded,
}

/// A row of the contract's table of transitions.
#[derive(Debug, PartialEq, Eq)]
pub struct Transition {
    pub from: RunState,
    pub event: RunEvent,
    pub to: RunState,
    /// What the diagnostic says.
    pub note: &'static str,
    /// Whether something went wrong: the diagnostic is a warning then.
    pub trouble: bool,
}

const fn row(from: RunState, event: RunEvent, to: RunState, note: &'static str, trouble: bool) -> Transition {
    Transition { from, event, to, note, trouble }
}

/// All transitions.
pub const TRANSITIONS: &[Transition] = {
    use RunEvent::*;
    use RunState::*;
    &[
        row(Init, DisabledByConfig, PrunerDisabled, "the pruner is disabled by config", false),
        row(Init, ConfigResolved, PrunerStarting, "the pruner's server is handed to the agent", false),
        row(Init, ConfigInvalid, PrunerDisabled, "the pruner is enabled, but its config is invalid", true),
        row(PrunerStarting, ServerInitialised, PrunerRunning, "the pruner is available", false),
        row(PrunerStarting, ServerNotStarted, PrunerDisabled, "the pruner's server did not start", true),
        row(PrunerRunning, ServerFailed, PrunerDegraded, "the pruner's server failed during the run", true),
        row(
            PrunerRunning,
            PhaseEnded,
            Shutdown,
            "the agent has ended, and the pruner's server with it",
            false,
        ),
        row(PrunerDisabled, PhaseEnded, Shutdown, "the agent has ended; the pruner was not running", false),
        row(PrunerDegraded, PhaseEnded, Shutdown, "the agent has ended; the pruner had failed before", false),
    ]
};

/// How a run is told of whose agent never spoke of the server: by the same row, but as no failure.
const NEVER_REACHED: Transition = row(
    RunState::PrunerStarting,
    RunEvent::ServerNotStarted,
    RunState::PrunerDisabled,
    "the agent never said that it had reached the pruner's server",
    false,
);

impl RunState {
    /// The contract's name.
    pub fn name(self) -> &'static str {
        match self {
            RunState::Init => "run:init",
            RunState::PrunerDisabled => "run:mcp_pruner_disabled",
            RunState::PrunerStarting => "run:mcp_pruner_starting",
            RunState::PrunerRunning => "run:mcp_pruner_running",
            RunState::PrunerDegraded => "run:mcp_pruner_degraded",
            RunState::Shutdown => "run:shutdown",
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Where a run stands. Every move is a diagnostic in the log.
#[derive(Debug)]
pub struct Lifecycle {
    state: RunState,
}

impl Default for Lifecycle {
    fn default() -> Lifecycle {
        Lifecycle { state: RunState::Init }
    }
}

impl Lifecycle {
    pub fn state(&self) -> RunState {
        self.state
    }

    /// Makes the transition that `event` asks for; none where it means nothing in this state. An agent may report the
    /// same thing many times.
    pub fn apply(&mut self, event: RunEvent, detail: &str) -> Option<&'static Transition> {
        let state = self.state;
        let Some(transition) = TRANSITIONS.iter().find(|row| row.from == state && row.event == event) else {
            tracing::debug!("{state}: {event:?} changes nothing");
            return None;
        };
        self.make(transition, detail);
        Some(transition)
    }

    fn make(&mut self, transition: &Transition, detail: &str) {
        let Transition { from, to, note, trouble, .. } = transition;
        let detail = match shortened(detail) {
            "" => String::new(),
            detail => format!(": {detail}"),
        };
        if *trouble {
            tracing::warn!("{from} -> {to}: {note}{detail}; the run goes on without it");
        } else {
            tracing::info!("{from} -> {to}: {note}{detail}");
        }
        self.state = *to;
    }

    /// What the agent reports of a server may be about the pruner's.
    pub fn observe(&mut self, event: &Event) {
        let Event::McpServer { name, status } = event else { return };
        if name != PRUNER {
            return;
        }
        match status {
            ServerStatus::Connected => self.apply(RunEvent::ServerInitialised, ""),
            // An agent may start servers late, and a call be the first to learn that one did not come up.
            ServerStatus::Failed(why) if self.state == RunState::PrunerStarting => {
                self.apply(RunEvent::ServerNotStarted, why)
            }
            ServerStatus::Failed(why) => self.apply(RunEvent::ServerFailed, why),
        };
    }

    /// The end of the agent, however it came.
    pub fn end(&mut self) {
        if self.state == RunState::PrunerStarting {
            // The contract knows no other way from here to the end. Codex need not have used the server, and no word
            // of its says then whether it could have.
            self.make(&NEVER_REACHED, "");
        }
        self.apply(RunEvent::PhaseEnded, "");
    }
}

/// The first line of a reason, as far as it goes.
fn shortened(detail: &str) -> &str {
    let line = detail.lines().next().unwrap_or_default();
    &line[..line.floor_char_boundary(DETAIL_BYTES)]
}
