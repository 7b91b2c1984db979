//! Ending a session so that nothing of it goes on: agents start servers and commands, in groups of their own, that do not
//! mind a terminal's end.

use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid};
use tamis_process::{Process, descendants_of};

use super::{Tmux, call};
use crate::{AgentsError, Code, InstanceId, error::Result};

/// How long what is left may take to end: of itself, once its terminal is gone; after SIGTERM; and after SIGKILL.
const STAGES: &[(Option<Signal>, Duration)] = &[
    (None, Duration::from_millis(1000)),
    (Some(Signal::TERM), Duration::from_millis(2000)),
    (Some(Signal::KILL), Duration::from_millis(5000)),
];
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Says in a process's environment which session it belongs to, whatever became of its parents and of tmux.
pub(crate) const SESSION_VARIABLE: &str = "TAMIS_SESSION";

/// The value of [`SESSION_VARIABLE`].
pub(crate) fn mark(tmux: &Tmux, id: &InstanceId) -> String {
    format!("{}/{id}", tmux.server)
}

pub(super) fn end(tmux: &Tmux, id: &InstanceId) -> Result<()> {
    // Before its end: who loses its parent can no longer be found by it. The number of one that is dead may be another's.
    let leader = tmux.session(id)?.filter(|session| session.alive).and_then(|session| session.pane_pid);
    let mark = format!("{SESSION_VARIABLE}={}", mark(tmux, id)).into_bytes();
    let mut members = Members { mark, living: Vec::new() };
    members.look(leader);
    call::kill_session(tmux, id)?;
    for (signal, patience) in STAGES {
        let deadline = Instant::now() + *patience;
        let mut signalled: Vec<Process> = Vec::new();
        loop {
            members.look(None);
            if members.living.is_empty() {
                return Ok(());
            }
            if let Some(signal) = signal {
                // Once: some take the second SIGTERM for impatience, and leave their affairs in disorder.
                for process in members.living.iter().filter(|process| !signalled.contains(process)) {
                    process.signal(*signal);
                }
                signalled.clone_from(&members.living);
            }
            if Instant::now() >= deadline {
                break;
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }
    let left: Vec<String> = members.living.iter().map(|process| process.pid.to_string()).collect();
    let left = left.join(" ");
    Err(AgentsError::new(Code::TmuxError, format!("cannot end processes of {id}: {left}"))
        .suggest(format!("`ps -fp \"{left}\"` shows what they are"))
        .about(id))
}

/// The processes of a session.
struct Members {
    /// What stands in the environment of each, unless it took it out.
    mark: Vec<u8>,
    living: Vec<Process>,
}

impl Members {
    /// Keeps those that live, and adds new ones: all of the terminal's session, those with the mark, and what those
    /// have started.
    fn look(&mut self, leader: Option<i32>) {
        let all = Process::all();
        self.living.retain(Process::is_alive);
        let of_terminal = |process: &Process| {
            leader.is_some_and(|leader| process.pid == leader || process.session == leader)
        };
        let belong = all.iter().filter(|process| of_terminal(process) || process.has_variable(&self.mark));
        let belong: Vec<Process> = belong.copied().chain(self.living.iter().copied()).collect();
        let children = belong.iter().flat_map(|process| descendants_of(process.pid, &all));
        let mut living: Vec<Process> = belong.iter().copied().chain(children).collect();
        living.sort_unstable();
        living.dedup();
        // An agent may have started the coordinator, which ends by itself.
        living.retain(|process| process.pid != getpid().as_raw_nonzero().get());
        self.living = living;
    }
}
