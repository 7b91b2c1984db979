//! The process groups that this process started, so that none outlives it.
//!
//! A group is known by its leader's process id. As long as the leader has not been collected, the id is ours. After that the
//! id stays in use while other processes of the group live (a server that a command put in the background), and may be given
//! to an unrelated process when they have ended. Such a process is recognised by having that very id: in our group no process
//! has it any more.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process, test_kill_process_group};

use crate::warden::{Note, Warden, WardenProgram};

/// How long groups have between SIGTERM and SIGKILL when this process ends, which a person or a client waits for.
const FINAL_GRACE_PERIOD: Duration = Duration::from_secs(1);

/// How often to check whether a group has ended, while ending one.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// Whether the process id of a group's leader is certainly ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leader {
    /// It has not been collected.
    Uncollected,
    /// It is gone, and other processes of the group may live.
    Gone,
}

/// Every process group that was started here and may still live. Cheap to clone.
#[derive(Clone)]
pub struct ProcessGroups(Arc<Mutex<State>>);

struct State {
    living: HashMap<Pid, Leader>,
    warden: Warden,
}

impl ProcessGroups {
    /// `warden` ends the groups when this process is killed; without one they outlive it.
    pub fn new(warden: Option<WardenProgram>) -> ProcessGroups {
        ProcessGroups(Arc::new(Mutex::new(State { living: HashMap::new(), warden: Warden::new(warden) })))
    }

    /// Records a group that has just been started.
    pub(crate) fn enter(&self, pid: Pid) -> ProcessGroup {
        self.record(pid, Some(Leader::Uncollected));
        ProcessGroup { pid, leader: Leader::Uncollected, groups: self.clone() }
    }

    /// Sends SIGTERM to all groups, and SIGKILL to those that do not end.
    pub async fn end_all(&self) {
        let group = |(pid, leader): (&Pid, &Leader)| ProcessGroup {
            pid: *pid,
            leader: *leader,
            groups: self.clone(),
        };
        let groups: Vec<ProcessGroup> = self.0.lock().living.iter().map(group).collect();
        if groups.is_empty() {
            return;
        }
        let ending = on_own_thread(move || {
            groups.iter().for_each(ProcessGroup::terminate);
            let deadline = Instant::now() + FINAL_GRACE_PERIOD;
            groups.iter().for_each(|group| group.end_by(deadline));
        });
        let _ = ending.await;
    }

    fn record(&self, pid: Pid, leader: Option<Leader>) {
        let State { living, warden } = &mut *self.0.lock();
        match leader {
            Some(leader) => living.insert(pid, leader),
            None => living.remove(&pid),
        };
        // Background processes end without notice.
        living.retain(|pid, leader| *leader == Leader::Uncollected || is_alive(*pid, *leader));
        warden.notify(Note { pid, leader }, living);
    }
}

/// One group, by its leader's process id.
pub(crate) struct ProcessGroup {
    pid: Pid,
    leader: Leader,
    groups: ProcessGroups,
}

impl ProcessGroup {
    /// To be called as soon as the leader has been collected.
    pub(crate) fn leader_was_collected(&mut self) {
        self.leader = Leader::Gone;
        let left = is_alive(self.pid, self.leader).then_some(self.leader);
        self.groups.record(self.pid, left);
    }

    pub(crate) fn terminate(&self) {
        signal(self.pid, self.leader, Signal::TERM);
        // A stopped process would not handle it.
        signal(self.pid, self.leader, Signal::CONT);
    }

    pub(crate) fn kill(&self) {
        signal(self.pid, self.leader, Signal::KILL);
    }

    /// Waits for the group to end, and kills it at the deadline.
    pub(crate) fn end_by(&self, deadline: Instant) {
        while is_alive(self.pid, self.leader) {
            if Instant::now() >= deadline {
                self.kill();
                return;
            }
            thread::sleep(CHECK_INTERVAL);
        }
    }
}

/// Whether the id is still our group's.
fn is_ours(pid: Pid, leader: Leader) -> bool {
    leader == Leader::Uncollected || test_kill_process(pid) == Err(Errno::SRCH)
}

pub(crate) fn is_alive(pid: Pid, leader: Leader) -> bool {
    is_ours(pid, leader) && test_kill_process_group(pid).is_ok()
}

pub(crate) fn signal(pid: Pid, leader: Leader, signal: Signal) {
    if is_ours(pid, leader) {
        // It fails only when the group has ended.
        let _ = kill_process_group(pid, signal);
    }
}

/// Runs work that blocks on a thread of its own. It runs to its end even if no caller waits for the result any more.
pub(crate) async fn on_own_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let (send, result) = tokio::sync::oneshot::channel();
    thread::Builder::new().spawn(move || drop(send.send(work())))?;
    result.await.map_err(io::Error::other)
}
