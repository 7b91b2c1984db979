//! The reconciler: compares the tables with the worktrees and sessions that exist, and repairs the difference.
//!
//! One family of instances after the other, each held meanwhile; one that a tool works on is left for the next time. What
//! goes wrong with one does not keep the others from being looked at. Nothing that could be work is deleted here:
//! worktrees go only where that is proven to lose nothing, and unknown folders are reported.

mod family;
mod retention;
mod strays;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use tamis_store::rusqlite;

use crate::error::Result;
use crate::instances::records::{Instance, Phase};
use crate::launch::tmux::TmuxSession;
use crate::{AgentsError, Coordinator, InstanceId, Repair, db};
pub(crate) use strays::names_in;

/// What is done about what cannot be repaired now.
const LATER: &str = "tamis tries again in a minute";

/// What exists at one time, to see quickly that nothing is wrong. Whatever looks wrong is checked again
/// while its family is held.
struct Sight {
    sessions: HashMap<InstanceId, TmuxSession>,
    /// Branches of instances, by repository; None when the repository cannot be read.
    branches: HashMap<PathBuf, Option<HashSet<String>>>,
}

impl Coordinator {
    /// Finds and repairs whatever died, vanished or was left behind. At the beginning, and every minute.
    pub fn reconcile(&self) -> Result<Vec<Repair>> {
        let _one_at_a_time = self.reconciling.lock();
        let mut findings = Vec::new();
        let families = self.read(db::families_to_look_after)?;
        let sight = self.look(&families)?;
        for family in &families {
            let Some(_hold) = self.holds.try_take(family) else { continue };
            match self.look_after(family, &sight, &mut findings) {
                Ok(()) => {}
                Err(error) => findings.extend(self.trouble(family, &error)),
            }
        }
        if let Err(error) = self.clear_strays(&mut findings) {
            findings.extend(self.report(None, error.message, LATER.to_owned()));
        }
        if let Err(error) = self.forget_the_past() {
            findings.extend(self.report(None, error.message, LATER.to_owned()));
        }
        Ok(findings)
    }

    /// Instances that should be at work, and whose agent has ended or whose session is gone. Families that are
    /// locked are left out, as they may be about to end. Quick: one query to the database, and one to tmux if any is at work.
    pub fn dead(&self) -> Result<Vec<InstanceId>> {
        let watched = self.read(|connection| {
            let instances = db::instances(connection, false)?.into_iter().filter(is_watched);
            instances
                .map(|it| Ok((db::family(connection, &it.id)?, it.id)))
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        if watched.is_empty() {
            return Ok(Vec::new());
        }
        let sessions = self.tmux.sessions()?;
        let lives = |id: &InstanceId| sessions.iter().any(|session| session.id == *id && session.alive);
        let dead = watched.into_iter().filter(|(family, id)| !lives(id) && !self.holds.is_held(family));
        Ok(dead.map(|(_, id)| id).collect())
    }

    fn look(&self, families: &BTreeSet<InstanceId>) -> Result<Sight> {
        let sessions = if families.is_empty() { Vec::new() } else { self.tmux.sessions()? };
        let instances = self.read(|connection| db::instances(connection, false))?;
        let watched = instances.iter().filter(|instance| is_watched(instance));
        let repositories: BTreeSet<PathBuf> = watched.map(|instance| instance.repository.clone()).collect();
        let branches = repositories.into_iter().map(|folder| {
            let names = self.repository(&folder).and_then(|repository| repository.our_branches());
            (folder, names.ok())
        });
        let branches = branches.collect();
        let sessions = sessions.into_iter().map(|session| (session.id.clone(), session)).collect();
        Ok(Sight { sessions, branches })
    }

    /// Something that cannot be repaired now. It is reported each time, and recorded in the events once.
    fn trouble(&self, instance: &InstanceId, error: &AgentsError) -> Option<Repair> {
        let (found, done) = (error.message.clone(), LATER.to_owned());
        tracing::warn!("cannot reconcile {instance}: {found}");
        self.report(Some(instance), found, done)
    }

    /// Reports what stays as it is: in the events the first time, to the caller every time.
    fn report(&self, instance: Option<&InstanceId>, found: String, done: String) -> Option<Repair> {
        let new = self.reported.lock().insert(format!("{instance:?} {found}"));
        if new && let Ok(finding) = self.record_repair(instance, found.clone(), done.clone()) {
            return Some(finding);
        }
        Some(Repair { instance: instance.cloned(), found, done })
    }
}

/// Whether its session and its worktree should be there.
fn is_watched(instance: &Instance) -> bool {
    instance.phase == Phase::Ready && instance.status.is_live()
}
