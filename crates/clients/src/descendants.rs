//! Everything that this process started, and what that started in turn.
//!
//! A process group is not enough: Codex, for one, gives MCP servers groups of their own. On Linux whoever adopts
//! orphans keeps all of them below itself, so that all can be found; elsewhere there is only the group.

use rustix::process::{Signal, getpid};

use crate::processes::{Process, below};

/// From now on a process whose parent ends becomes this one's child.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(getpid())) {
        tracing::warn!("orphans of the agent cannot be adopted, and may outlive the run: {error}");
    }
}

/// How many descendants live.
pub(crate) fn count() -> usize {
    descendants().len()
}

/// Sends `signal` to all descendants.
pub(crate) fn signal_all(signal: Signal) {
    for process in descendants() {
        process.signal(signal);
    }
}

/// The dead in between do not part them: their children were adopted.
fn descendants() -> Vec<Process> {
    below(getpid().as_raw_nonzero().get(), &Process::all())
}
