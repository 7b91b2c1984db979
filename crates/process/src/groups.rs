//! The process groups that this process started, so that none outlives it.
//!
//! A group is known by its leader's number. As long as the leader has not been collected, the number is ours. Once it
//! has, the number stays taken while others of the group live (a server that a command put in the background), and may
//! become a stranger's when they have ended. A stranger shows by a process of that very number: ours has none any more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process, test_kill_process_group};
use tokio::time::Instant;

use crate::warden::{Note, Warden, WardenProgram};

/// How long what is asked to end may take before it is made to: `git` takes its locks away in that time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// The same when the whole process ends, which somebody waits for.
const PATIENCE_AT_THE_END: Duration = Duration::from_secs(1);

/// How often it is looked whether a group has ended. Only ever used while ending one.
const LOOK: Duration = Duration::from_millis(5);

/// Whether the number of a group is ours beyond doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// The leader has not been collected.
    Led,
    /// The leader is gone, others were left.
    Leaderless,
}

/// Every group that was started here and may still live.
#[derive(Clone)]
pub struct Children(Arc<Mutex<Groups>>);

struct Groups {
    living: HashMap<Pid, Life>,
    warden: Warden,
}

impl Children {
    /// `warden` ends what is left when this process is killed; without one, that is left behind.
    pub fn new(warden: Option<WardenProgram>) -> Children {
        Children(Arc::new(Mutex::new(Groups { living: HashMap::new(), warden: Warden::new(warden) })))
    }

    /// Notes a group that has just been started.
    pub(crate) fn enter(&self, leader: Pid) -> Group {
        self.note(leader, Some(Life::Led));
        Group { leader, life: Life::Led, children: self.clone() }
    }

    /// Asks all groups to end, and makes those that do not.
    pub async fn end_all(&self) {
        let groups: Vec<Group> = {
            let groups = self.lock();
            let group = |(leader, life): (&Pid, &Life)| Group {
                leader: *leader,
                life: *life,
                children: self.clone(),
            };
            groups.living.iter().map(group).collect()
        };
        for group in &groups {
            group.ask_to_end();
        }
        let deadline = Instant::now() + PATIENCE_AT_THE_END;
        for group in groups {
            group.end_by(deadline).await;
        }
    }

    fn note(&self, leader: Pid, life: Option<Life>) {
        let mut groups = self.lock();
        let Groups { living, warden } = &mut *groups;
        match life {
            Some(life) => living.insert(leader, life),
            None => living.remove(&leader),
        };
        // Those left behind end when they like.
        living.retain(|leader, life| *life == Life::Led || lives(*leader, *life));
        warden.tell(Note { leader, life }, living);
    }

    fn lock(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One group.
pub(crate) struct Group {
    leader: Pid,
    life: Life,
    children: Children,
}

impl Group {
    /// To be called as soon as the leader has been collected.
    pub(crate) fn collected(&mut self) {
        self.life = Life::Leaderless;
        let left = lives(self.leader, self.life).then_some(self.life);
        self.children.note(self.leader, left);
    }

    pub(crate) fn ask_to_end(&self) {
        signal(self.leader, self.life, Signal::TERM);
        // One that was stopped would not hear of it.
        signal(self.leader, self.life, Signal::CONT);
    }

    pub(crate) fn kill(&self) {
        signal(self.leader, self.life, Signal::KILL);
    }

    /// Waits for the group to end, and makes it when the time is up.
    pub(crate) async fn end_by(&self, deadline: Instant) {
        while lives(self.leader, self.life) {
            if Instant::now() >= deadline {
                self.kill();
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Whether the number is still our group's.
fn is_ours(leader: Pid, life: Life) -> bool {
    life == Life::Led || test_kill_process(leader) == Err(Errno::SRCH)
}

pub(crate) fn lives(leader: Pid, life: Life) -> bool {
    is_ours(leader, life) && test_kill_process_group(leader).is_ok()
}

pub(crate) fn signal(leader: Pid, life: Life, signal: Signal) {
    if is_ours(leader, life) {
        // An error says that nobody is left.
        let _ = kill_process_group(leader, signal);
    }
}
