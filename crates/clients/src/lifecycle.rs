//! The runner's states, from `run:init` to `run:shutdown`. The transitions are data, row by row those of the contract; there
//! are no others, and none leads back.

use std::fmt;

use crate::{ClientEvent, McpServerStatus, PRUNER};

/// How much of a client's reason is logged: Codex, for one, prints its internal types.
const DETAIL_BYTES: usize = 300;

/// A state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It is not decided yet whether the pruner's server is wired in.
    Init,
    /// It is not wired in, or did not start: the client has only its own tools.
    PrunerDisabled,
    /// The client was instructed to start it.
    PrunerStarting,
    /// The client can use it.
    PrunerRunning,
    /// It worked, then failed, and counts as gone for the rest of the run.
    PrunerDegraded,
    /// The client has ended, and everything that it started.
    Shutdown,
}

/// What causes a transition.
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
pub struct RunTransition {
    pub from: RunState,
    pub event: RunEvent,
    pub to: RunState,
    /// The text of the diagnostic.
    pub note: &'static str,
    /// Whether the diagnostic is a warning.
    pub is_warning: bool,
}

const fn row(
    from: RunState,
    event: RunEvent,
    to: RunState,
    note: &'static str,
    is_warning: bool,
) -> RunTransition {
    RunTransition { from, event, to, note, is_warning }
}

/// All transitions.
pub const TRANSITIONS: &[RunTransition] = {
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
            "the agent has ended, and so has the pruner's server",
            false,
        ),
        row(PrunerDisabled, PhaseEnded, Shutdown, "the agent has ended; the pruner was not running", false),
        row(
            PrunerDegraded,
            PhaseEnded,
            Shutdown,
            "the agent has ended; the pruner had failed earlier",
            false,
        ),
    ]
};

/// The same row for a client that never mentioned the server: not a failure.
const NEVER_REACHED: RunTransition = row(
    RunState::PrunerStarting,
    RunEvent::ServerNotStarted,
    RunState::PrunerDisabled,
    "the agent never reported that it had reached the pruner's server",
    false,
);

/// The same row for a server whose pruner does not answer, or that has none: its tools work, and prune nothing.
const WITHOUT_PRUNER: RunTransition = row(
    RunState::PrunerStarting,
    RunEvent::ServerInitialised,
    RunState::PrunerRunning,
    "the pruner's tools work, but nothing will be pruned",
    true,
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

/// The state of a run. Every transition is logged.
#[derive(Debug)]
pub struct RunLifecycle {
    state: RunState,
    /// Why nothing will be pruned although the server can be used.
    cannot_prune: Option<String>,
}

impl Default for RunLifecycle {
    fn default() -> RunLifecycle {
        RunLifecycle { state: RunState::Init, cannot_prune: None }
    }
}

impl RunLifecycle {
    /// Of a run whose server may have no pruner, for this reason.
    pub(crate) fn with_pruner(cannot_prune: Option<String>) -> RunLifecycle {
        RunLifecycle { cannot_prune, ..RunLifecycle::default() }
    }

    pub fn state(&self) -> RunState {
        self.state
    }

    /// Makes the transition for `event`, if this state has one: a client may report the same thing many times.
    pub fn apply(&mut self, event: RunEvent, detail: &str) -> Option<&'static RunTransition> {
        let state = self.state;
        let Some(transition) = TRANSITIONS.iter().find(|row| row.from == state && row.event == event) else {
            tracing::debug!("{state}: {event:?} changes nothing");
            return None;
        };
        self.make(transition, detail);
        Some(transition)
    }

    fn make(&mut self, transition: &RunTransition, detail: &str) {
        let RunTransition { from, to, note, is_warning, .. } = transition;
        let detail = match shortened(detail) {
            "" => String::new(),
            detail => format!(": {detail}"),
        };
        // The tools of a server that cannot prune stay.
        let outcome = if *to == RunState::PrunerRunning { "" } else { "; the run continues without it" };
        if *is_warning {
            tracing::warn!("{from} -> {to}: {note}{detail}{outcome}");
        } else {
            tracing::info!("{from} -> {to}: {note}{detail}");
        }
        self.state = *to;
    }

    /// Follows what the client reports of the pruner's server.
    pub fn observe(&mut self, event: &ClientEvent) {
        let ClientEvent::McpServer { name, status } = event else { return };
        if name != PRUNER {
            return;
        }
        match status {
            McpServerStatus::Connected => match self.cannot_prune.clone() {
                Some(why) if self.state == RunState::PrunerStarting => {
                    self.make(&WITHOUT_PRUNER, &why);
                    None
                }
                _ => self.apply(RunEvent::ServerInitialised, ""),
            },
            // A client may start servers late, so that only a call shows that one did not start.
            McpServerStatus::Failed(why) if self.state == RunState::PrunerStarting => {
                self.apply(RunEvent::ServerNotStarted, why)
            }
            McpServerStatus::Failed(why) => self.apply(RunEvent::ServerFailed, why),
        };
    }

    /// The client has ended, for whatever reason.
    pub fn end(&mut self) {
        if self.state == RunState::PrunerStarting {
            // The contract has no other transition from here to the end. Codex may not have used the server, and then
            // does not report whether it could have.
            self.make(&NEVER_REACHED, "");
        }
        self.apply(RunEvent::PhaseEnded, "");
    }
}

/// The first line of a reason, cut to the limit.
fn shortened(detail: &str) -> &str {
    let line = detail.lines().next().unwrap_or_default();
    &line[..line.floor_char_boundary(DETAIL_BYTES)]
}
