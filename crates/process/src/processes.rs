//! Processes that need not be our own children: their parents, whether they live, and signals that cannot reach another
//! process that got the same id.
//!
//! Only Linux lists them, in /proc. Elsewhere none is found.

use std::io;

use rustix::process::{Pid, Signal, kill_process};
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

/// A process as it was found in /proc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    /// The session that it belongs to, by the id of the process that started the session.
    pub session: i32,
    /// In ticks since the machine started, which differs from that of a later process with the same id.
    started: u64,
}

impl Process {
    /// The process with this id. None for one that has ended, even if it has not been collected.
    pub fn find(pid: i32) -> Option<Process> {
        #[cfg(not(target_os = "linux"))]
        return None;
        #[cfg(target_os = "linux")]
        {
            let line = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
            // The name, in brackets, may hold anything, brackets and spaces too.
            let after_name = line.iter().rposition(|byte| *byte == b')')? + 1;
            let fields: Vec<&str> =
                std::str::from_utf8(&line[after_name..]).ok()?.split_whitespace().collect();
            let ended = matches!(*fields.first()?, "Z" | "X" | "x");
            let (parent, session) = (fields.get(1)?.parse().ok()?, fields.get(3)?.parse().ok()?);
            let started = fields.get(19)?.parse().ok()?;
            (!ended).then_some(Process { pid, parent, session, started })
        }
    }

    /// Every living process.
    pub fn all() -> Vec<Process> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| Process::find(entry.file_name().to_str()?.parse().ok()?)).collect()
    }

    pub fn is_alive(&self) -> bool {
        Process::find(self.pid).is_some_and(|now| now.started == self.started)
    }

    /// Sends it a signal, if it is still alive.
    pub fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else { return };
        // The handle first, then the check: the id may have been given to another process in between.
        #[cfg(target_os = "linux")]
        let handle = pidfd_open(pid, PidfdFlags::empty());
        if !self.is_alive() {
            return;
        }
        #[cfg(target_os = "linux")]
        if let Ok(handle) = handle {
            let _ = pidfd_send_signal(&handle, signal);
            return;
        }
        // Some kernels and sandboxes have no handles.
        let _ = kill_process(pid, signal);
    }

    /// Whether it was started with this `NAME=value` in its environment.
    pub fn has_variable(&self, variable: &[u8]) -> bool {
        let environment = std::fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == variable)
    }
}

/// Sends SIGTERM to the process with this id.
pub fn terminate(pid: u32) -> io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(kill_process(pid, Signal::TERM)?)
}

/// Those of `all` that were started by `ancestor`, or by its descendants.
pub fn descendants_of(ancestor: i32, all: &[Process]) -> Vec<Process> {
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        for child in all.iter().filter(|process| process.parent == parent && process.pid != ancestor) {
            if !found.contains(child) {
                parents.push(child.pid);
                found.push(*child);
            }
        }
    }
    found
}
