//! Everything that this process started, and what that started in turn.
//!
//! A process group is not enough: Codex, for one, gives MCP servers groups of their own. On Linux whoever adopts
//! orphans keeps all of them below itself, so that all can be found; elsewhere there is only the group.

#[cfg(target_os = "linux")]
pub(crate) use linux::{adopt_orphans, count, signal_all};

#[cfg(not(target_os = "linux"))]
pub(crate) fn adopt_orphans() {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn signal_all(_signal: rustix::process::Signal) {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn count() -> usize {
    0
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;

    use rustix::process::{
        Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal, set_child_subreaper,
    };

    /// From now on a process whose parent ends becomes this one's child.
    pub(crate) fn adopt_orphans() {
        if let Err(error) = set_child_subreaper(Some(getpid())) {
            tracing::warn!("orphans of the agent cannot be adopted, and may outlive the run: {error}");
        }
    }

    /// How many descendants live.
    pub(crate) fn count() -> usize {
        descendants(getpid()).len()
    }

    /// Sends `signal` to all descendants.
    pub(crate) fn signal_all(signal: Signal) {
        for process in descendants(getpid()) {
            // The handle first, then a second look: a number may have become another's in between.
            let handle = pidfd_open(process.pid, PidfdFlags::empty());
            if Process::read(process.pid).is_none_or(|now| now.started != process.started) {
                continue;
            }
            let _ = match handle {
                Ok(handle) => pidfd_send_signal(&handle, signal),
                // Kernels and sandboxes that have no handles.
                Err(_) => kill_process(process.pid, signal),
            };
        }
    }

    struct Process {
        pid: Pid,
        parent: i32,
        /// In ticks since the machine started.
        started: u64,
    }

    impl Process {
        /// None for one that has ended, even if nobody has collected it yet.
        fn read(pid: Pid) -> Option<Process> {
            let line = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
            // The name, in brackets, may hold anything, brackets and spaces too.
            let after_name = line.iter().rposition(|byte| *byte == b')')? + 1;
            let fields: Vec<&str> =
                std::str::from_utf8(&line[after_name..]).ok()?.split_whitespace().collect();
            let ended = matches!(*fields.first()?, "Z" | "X" | "x");
            let (parent, started) = (fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?);
            (!ended).then_some(Process { pid, parent, started })
        }
    }

    /// The living below `ancestor`, whose dead in between do not part them: their children were adopted.
    fn descendants(ancestor: Pid) -> Vec<Process> {
        let mut by_parent: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
        let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = numbers.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
        for process in numbers.filter_map(Process::read) {
            by_parent.entry(process.parent).or_default().push(process);
        }
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut parents = vec![ancestor.as_raw_nonzero().get()];
        while let Some(parent) = parents.pop().filter(|parent| seen.insert(*parent)) {
            for child in by_parent.remove(&parent).into_iter().flatten() {
                parents.push(child.pid.as_raw_nonzero().get());
                found.push(child);
            }
        }
        found
    }
}
