//! The contract's tables for the runner, row by row: states, transitions, errors, crash recovery. The rows are repeated here
//! in the contract's own words, so that the code is not compared with itself.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::cell::RefCell;
use std::io::Write;
use std::sync::Once;

use tamis_clients::{ClientEvent, McpServerStatus, PRUNER, RunEvent, RunLifecycle, RunState, TRANSITIONS};

use RunEvent::*;
use RunState::*;

const STATES: [RunState; 6] = [Init, PrunerDisabled, PrunerStarting, PrunerRunning, PrunerDegraded, Shutdown];
const EVENTS: [RunEvent; 7] = [
    DisabledByConfig,
    ConfigResolved,
    ConfigInvalid,
    ServerInitialised,
    ServerNotStarted,
    ServerFailed,
    PhaseEnded,
];

/// Each state with its name, and events that lead to it. A run begins in the first and ends in the last.
const STATE_ROWS: &[(RunState, &str, &[RunEvent])] = &[
    (Init, "run:init", &[]),
    (PrunerDisabled, "run:mcp_pruner_disabled", &[DisabledByConfig]),
    (PrunerStarting, "run:mcp_pruner_starting", &[ConfigResolved]),
    (PrunerRunning, "run:mcp_pruner_running", &[ConfigResolved, ServerInitialised]),
    (PrunerDegraded, "run:mcp_pruner_degraded", &[ConfigResolved, ServerInitialised, ServerFailed]),
    (Shutdown, "run:shutdown", &[DisabledByConfig, PhaseEnded]),
];

/// State, event, next state, and a word that the diagnostic must contain.
const TRANSITION_ROWS: &[(&str, RunEvent, &str, &str)] = &[
    ("run:init", DisabledByConfig, "run:mcp_pruner_disabled", "disabled by config"),
    ("run:init", ConfigResolved, "run:mcp_pruner_starting", "handed to the agent"),
    ("run:init", ConfigInvalid, "run:mcp_pruner_disabled", "enabled, but its config is invalid"),
    ("run:mcp_pruner_starting", ServerInitialised, "run:mcp_pruner_running", "available"),
    ("run:mcp_pruner_starting", ServerNotStarted, "run:mcp_pruner_disabled", "did not start"),
    ("run:mcp_pruner_running", ServerFailed, "run:mcp_pruner_degraded", "failed during the run"),
    ("run:mcp_pruner_running", PhaseEnded, "run:shutdown", "has ended"),
    ("run:mcp_pruner_disabled", PhaseEnded, "run:shutdown", "not running"),
    ("run:mcp_pruner_degraded", PhaseEnded, "run:shutdown", "has ended"),
];

/// The state, the error, and the next state, in which the run goes on.
const ERROR_ROWS: &[(RunState, RunEvent, RunState)] = &[
    (Init, ConfigInvalid, PrunerDisabled),
    (PrunerStarting, ServerNotStarted, PrunerDisabled),
    (PrunerRunning, ServerFailed, PrunerDegraded),
];

/// The state, what the client reports, and the next state.
fn crash_rows() -> Vec<(RunState, McpServerStatus, RunState)> {
    let failed = || McpServerStatus::Failed("the reason".to_owned());
    vec![
        (PrunerStarting, failed(), PrunerDisabled),
        (PrunerStarting, McpServerStatus::Connected, PrunerRunning),
        (PrunerRunning, failed(), PrunerDegraded),
        (PrunerRunning, McpServerStatus::Connected, PrunerRunning),
        // What failed stays failed for the rest of the run.
        (PrunerDegraded, failed(), PrunerDegraded),
        (PrunerDegraded, McpServerStatus::Connected, PrunerDegraded),
        (PrunerDisabled, failed(), PrunerDisabled),
        (PrunerDisabled, McpServerStatus::Connected, PrunerDisabled),
    ]
}

/// A run in this state.
fn lifecycle_in(state: RunState) -> RunLifecycle {
    listen();
    let (_, _, way) = STATE_ROWS.iter().find(|(row, ..)| *row == state).unwrap();
    let mut lifecycle = RunLifecycle::default();
    for event in *way {
        assert!(lifecycle.apply(*event, "").is_some());
    }
    lifecycle
}

thread_local! {
    static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Writes to the log of the thread that logs.
struct Writer;

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.with_borrow_mut(|log| log.write(bytes))
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// One subscriber for all tests, before anything is logged: `tracing` caches which events have no subscriber, and with one
/// subscriber for each test an event was sometimes missing.
fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| tracing_subscriber::fmt().with_writer(|| Writer).with_ansi(false).init());
}

/// What `work` logs.
fn logged(work: impl FnOnce()) -> String {
    listen();
    LOG.with_borrow_mut(Vec::clear);
    work();
    String::from_utf8(LOG.with_borrow(Vec::clone)).unwrap()
}

#[test]
fn every_state_has_a_name_and_can_be_reached() {
    assert_eq!(STATE_ROWS.iter().map(|(state, ..)| *state).collect::<Vec<_>>(), STATES);
    for (state, name, _) in STATE_ROWS {
        assert_eq!((state.name(), lifecycle_in(*state).state()), (*name, *state));
    }
}

#[test]
fn every_transition_is_made_and_logged_and_there_is_no_other() {
    assert_eq!(TRANSITIONS.len(), TRANSITION_ROWS.len());
    for state in STATES {
        for event in EVENTS {
            let row = TRANSITION_ROWS.iter().find(|(from, on, ..)| *from == state.name() && *on == event);
            let mut lifecycle = lifecycle_in(state);
            let log = logged(|| {
                lifecycle.apply(event, "the detail\nand more");
            });
            match row {
                Some((from, _, to, words)) => {
                    assert_eq!(lifecycle.state().name(), *to);
                    let told = log.lines().collect::<Vec<_>>();
                    assert_eq!(told.len(), 1, "{log}");
                    assert!(told[0].contains(&format!("{from} -> {to}: ")), "{log}");
                    assert!(told[0].contains(words) && told[0].contains(": the detail"), "{log}");
                }
                None => assert_eq!((lifecycle.state(), log.as_str()), (state, ""), "{event:?}"),
            }
        }
    }
}

#[test]
fn nothing_follows_shutdown() {
    assert!(TRANSITIONS.iter().all(|transition| transition.from != Shutdown && transition.to != Init));
}

#[test]
fn every_error_is_logged_as_a_warning_and_the_run_goes_on() {
    for (state, error, recovery) in ERROR_ROWS {
        let mut lifecycle = lifecycle_in(*state);
        let log = logged(|| {
            lifecycle.apply(*error, "the reason");
        });
        assert_eq!(lifecycle.state(), *recovery);
        assert!(log.contains(" WARN ") && log.contains("the reason; the run continues without it"), "{log}");
    }
    let warnings = TRANSITIONS.iter().filter(|transition| transition.is_warning).count();
    assert_eq!(warnings, ERROR_ROWS.len());
}

#[test]
fn every_crash_is_known_from_what_the_client_reports() {
    for (state, status, recovery) in crash_rows() {
        let mut lifecycle = lifecycle_in(state);
        lifecycle.observe(&ClientEvent::McpServer { name: "another".to_owned(), status: status.clone() });
        assert_eq!(lifecycle.state(), state, "another server's fate is not ours");
        lifecycle.observe(&ClientEvent::McpServer { name: PRUNER.to_owned(), status: status.clone() });
        assert_eq!(lifecycle.state(), recovery, "{state} {status:?}");
    }
    // A new run starts in the first state, whatever happened in the last one.
    assert_eq!(RunLifecycle::default().state(), Init);
}

#[test]
fn every_run_ends_by_a_transition_of_the_table() {
    for state in STATES.into_iter().filter(|state| *state != Init) {
        let mut lifecycle = lifecycle_in(state);
        let log = logged(|| lifecycle.end());
        assert_eq!(lifecycle.state(), Shutdown, "{state}");
        let expected: &[&str] = match state {
            PrunerStarting => &[
                "run:mcp_pruner_starting -> run:mcp_pruner_disabled",
                "run:mcp_pruner_disabled -> run:shutdown",
            ],
            Shutdown => &[],
            _ => &[" -> run:shutdown"],
        };
        assert_eq!(log.lines().count(), expected.len(), "{log}");
        for (line, words) in log.lines().zip(expected) {
            assert!(line.contains(words), "{log}");
        }
    }
}
