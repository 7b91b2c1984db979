//! The descendants of this process: its children, and what they started in turn.
//!
//! A process group is not enough: Codex, for one, gives MCP servers groups of their own. On Linux a process that adopts
//! orphans keeps all of them below itself, so that all can be found; elsewhere there is only the group.

use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid};

use crate::processes::{Process, descendants_of};

/// How often to check whether descendants have ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// From now on a process whose parent ends becomes a child of this one.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(getpid())) {
        tracing::warn!("cannot adopt orphans of the agent, which may outlive the run: {error}");
    }
}

/// Ends all descendants: with SIGTERM, and with SIGKILL those that are left after the grace period.
pub fn end_descendants(grace_period: Duration) {
    for signal in [Signal::TERM, Signal::KILL] {
        signal_descendants(signal);
        let deadline = Instant::now() + grace_period;
        while !descendants().is_empty() && Instant::now() < deadline {
            std::thread::sleep(CHECK_INTERVAL);
        }
    }
}

pub(crate) fn signal_descendants(signal: Signal) {
    for process in descendants() {
        process.signal(signal);
    }
}

/// A dead process in between does not hide its children: they were adopted.
fn descendants() -> Vec<Process> {
    descendants_of(getpid().as_raw_nonzero().get(), &Process::all())
}
