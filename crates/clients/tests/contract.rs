//! The contract's tables for the runner, row by row: states, transitions, errors, crash recovery. What the rows say is
//! spelled out here again, in the contract's own words, so that the code cannot agree with itself alone.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::cell::RefCell;
use std::io::Write;
use std::sync::Once;

use tamis_clients::{Event, Lifecycle, PRUNER, RunEvent, RunState, ServerStatus, TRANSITIONS};

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

/// Each state with its name, and a way that leads to it. A run begins in the first and ends in the last.
const STATE_ROWS: &[(RunState, &str, &[RunEvent])] = &[
    (Init, "run:init", &[]),
    (PrunerDisabled, "run:mcp_pruner_disabled", &[DisabledByConfig]),
    (PrunerStarting, "run:mcp_pruner_starting", &[ConfigResolved]),
    (PrunerRunning, "run:mcp_pruner_running", &[ConfigResolved, ServerInitialised]),
    (PrunerDegraded, "run:mcp_pruner_degraded", &[ConfigResolved, ServerInitialised, ServerFailed]),
    (Shutdown, "run:shutdown", &[DisabledByConfig, PhaseEnded]),
];

/// From, what happens, to; and what the diagnostic must speak of.
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

/// The state, the error, and the state to recover in: the run goes on in all of them.
const ERROR_ROWS: &[(RunState, RunEvent, RunState)] = &[
    (Init, ConfigInvalid, PrunerDisabled),
    (PrunerStarting, ServerNotStarted, PrunerDisabled),
    (PrunerRunning, ServerFailed, PrunerDegraded),
];

/// What the agent reports, in which state, and where that leads.
fn crash_rows() -> Vec<(RunState, ServerStatus, RunState)> {
    let failed = || ServerStatus::Failed("the reason".to_owned());
    vec![
        (PrunerStarting, failed(), PrunerDisabled),
        (PrunerStarting, ServerStatus::Connected, PrunerRunning),
        (PrunerRunning, failed(), PrunerDegraded),
        (PrunerRunning, ServerStatus::Connected, PrunerRunning),
        // What has failed stays so for the rest of the run.
        (PrunerDegraded, failed(), PrunerDegraded),
        (PrunerDegraded, ServerStatus::Connected, PrunerDegraded),
        (PrunerDisabled, failed(), PrunerDisabled),
        (PrunerDisabled, ServerStatus::Connected, PrunerDisabled),
    ]
}

/// A run in this state.
fn lifecycle_in(state: RunState) -> Lifecycle {
    listen();
    let (_, _, way) = STATE_ROWS.iter().find(|(row, ..)| *row == state).unwrap();
    let mut lifecycle = Lifecycle::default();
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

/// One subscriber for all tests, before anything is logged: `tracing` remembers which events nobody listens to, and with a
/// listener for each test it now and then remembered one test's silence in another.
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
fn every_state_has_its_name_and_a_way_to_it() {
    assert_eq!(STATE_ROWS.iter().map(|(state, ..)| *state).collect::<Vec<_>>(), STATES);
    for (state, name, _) in STATE_ROWS {
        assert_eq!((state.name(), lifecycle_in(*state).state()), (*name, *state));
    }
}

#[test]
fn every_transition_is_made_and_told_and_there_is_no_other() {
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
fn the_end_is_the_end() {
    assert!(TRANSITIONS.iter().all(|transition| transition.from != Shutdown && transition.to != Init));
}

#[test]
fn every_error_is_told_as_a_warning_and_the_run_goes_on() {
    for (state, error, recovery) in ERROR_ROWS {
        let mut lifecycle = lifecycle_in(*state);
        let log = logged(|| {
            lifecycle.apply(*error, "the reason");
        });
        assert_eq!(lifecycle.state(), *recovery);
        assert!(log.contains(" WARN ") && log.contains("the reason; the run goes on without it"), "{log}");
    }
    let troubles = TRANSITIONS.iter().filter(|transition| transition.trouble).count();
    assert_eq!(troubles, ERROR_ROWS.len());
}

#[test]
fn every_crash_is_known_from_what_the_agent_reports() {
    for (state, status, recovery) in crash_rows() {
        let mut lifecycle = lifecycle_in(state);
        lifecycle.observe(&Event::McpServer { name: "another".to_owned(), status: status.clone() });
        assert_eq!(lifecycle.state(), state, "another server's fate is not ours");
        lifecycle.observe(&Event::McpServer { name: PRUNER.to_owned(), status: status.clone() });
        assert_eq!(lifecycle.state(), recovery, "{state} {status:?}");
    }
    // A fresh run begins anew, whatever became of the last one.
    assert_eq!(Lifecycle::default().state(), Init);
}

#[test]
fn whatever_happened_the_run_comes_to_its_end_by_the_table() {
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
