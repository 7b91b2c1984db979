//! Ending instances, and removing what is proven to be of no more use.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cleanup::ending::end_rows;
use crate::error::Result;
use crate::faults::{Point, reach};
use crate::instances::records::{Instance, Phase, ReviewOutcome};
use crate::{AgentType, AgentsError, Code, Coordinator, Disposal, InstanceId, Status, db};
use tamis_git::{GitError, Removal, Repository};

/// How long an agent whose own call ended it gets to read the answer.
const GRACE: Duration = Duration::from_secs(2);

/// How long a person waits for an instance that is busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// Parts why an instance ended from why its worktree stays.
const KEPT: &str = " (kept: ";

const STOP: &str = "stop";
const ABANDON: &str = "abandon";

impl Coordinator {
    /// Ends an instance. Its worktree and branch stay.
    pub fn stop(&self, id: &InstanceId) -> Result<Instance> {
        self.finish_off(id, Status::Terminated, "stopped by the user", STOP)
    }

    /// Gives an instance up: ends it, and removes its worktree once nothing in it can be lost.
    pub fn abandon(&self, id: &InstanceId, reason: Option<&str>) -> Result<Instance> {
        self.finish_off(id, Status::Abandoned, reason.unwrap_or("abandoned by the user"), ABANDON)
    }

    fn finish_off(&self, id: &InstanceId, status: Status, reason: &str, tool: &str) -> Result<Instance> {
        self.archive.instance(id)?;
        let _hold = self.hold(id, Instant::now() + PATIENCE, tool)?;
        // What was interrupted before may have been undone altogether.
        let instance = self.archive.instance(id)?;
        if !instance.status.may_become(status) {
            let message = format!("{id} has already ended: it is {}", instance.status);
            return Err(AgentsError::new(Code::InvalidState, message)
                .about(id)
                .suggest("`tamis agents gc` removes what is no longer needed"));
        }
        self.write(|connection| {
            end_rows(connection, &instance, status, ReviewOutcome::Ended, reason, Some(tool))
        })?;
        self.notify_freed(&instance);
        match self.clean_up_family(id) {
            // Another process uses the worktree: the instance is over, and the rest is done in a minute.
            Err(error) if matches!(error.code, Code::GitLocked | Code::Timeout) => {
                tracing::warn!("{id} will be cleaned up later: {error}");
            }
            cleaned => cleaned?,
        }
        self.archive.instance(id)
    }

    /// Removes worktrees and branches of instances that are over, where it is proven that nothing is lost.
    pub fn gc(&self, dry_run: bool) -> Result<Vec<Disposal>> {
        let mut disposals = Vec::new();
        let mut branches: HashMap<PathBuf, HashSet<String>> = HashMap::new();
        for instance in self.archive.instances()? {
            if instance.status.is_live() {
                continue;
            }
            let of_repository = branches.entry(instance.repository.clone()).or_insert_with(|| {
                let names =
                    self.repository(&instance.repository).and_then(|repository| repository.our_branches());
                names.unwrap_or_default()
            });
            if instance.phase == Phase::Gone && !of_repository.contains(instance.id.as_str()) {
                continue;
            }
            let family = self.read(|connection| db::family(connection, &instance.id))?;
            let Some(_hold) = self.holds.try_take(&family) else {
                let kept = vec!["it is busy".to_owned()];
                disposals.push(Disposal { instance: instance.id, removed: Vec::new(), kept, undo: None });
                continue;
            };
            // It may have come back to life: a pull request that was closed can be opened again.
            let instance = self.archive.instance(&instance.id)?;
            if !instance.status.is_live() {
                disposals.push(self.collect(&instance, dry_run));
            }
        }
        Ok(disposals)
    }

    /// Removes what can go of an instance that is over. A failure is the reason why something stays.
    fn collect(&self, instance: &Instance, dry_run: bool) -> Disposal {
        let attempt = || {
            if dry_run {
                return self.dispose(instance, true);
            }
            self.tmux.end(&instance.id)?;
            self.remove_files(&instance.id)?;
            let disposal = self.dispose(instance, false)?;
            self.set_end_phase(instance, &disposal.kept)?;
            reach(Point::GcRecorded);
            Ok(disposal)
        };
        attempt().unwrap_or_else(|error| kept(instance, error.message))
    }

    /// Ends the sessions of a family's members that are over, and removes what can go.
    pub(crate) fn clean_up_family(&self, member: &InstanceId) -> Result<()> {
        let family = self.read(|connection| db::family(connection, member))?;
        let mut trouble = Ok(());
        for instance in self.members(&family)? {
            if instance.phase == Phase::Ending && !self.is_leaving(&instance.id) {
                trouble = trouble.and(self.finish_ending(&instance).map(drop));
            }
        }
        trouble
    }

    /// The same without a caller that waits: what fails is tried again by the next reconciliation.
    pub(crate) fn clean_up_soon(&self, member: &InstanceId) {
        if let Err(error) = self.clean_up_family(member) {
            tracing::warn!("the family of {member} will be cleaned up later: {error}");
        }
    }

    /// Ends an instance whose row has a final status. The worktree stays if it was stopped, or if its agent died.
    pub(crate) fn finish_ending(&self, instance: &Instance) -> Result<Disposal> {
        let id = &instance.id;
        self.tmux.end(id)?;
        reach(Point::FeedbackSessionEnded);
        self.remove_files(id)?;
        let disposable = instance.agent_type == AgentType::Review || instance.status == Status::Abandoned;
        let disposed = if disposable {
            self.dispose(instance, false)
        } else if instance.worktree.exists() {
            Ok(kept(instance, format!("worktree {} stays", instance.worktree.display())))
        } else {
            let forgotten = self
                .repository(&instance.repository)
                .and_then(|repository| repository.remove_worktree(&instance.worktree, Removal::OnlyClean));
            match forgotten {
                Ok(_) => Ok(kept(instance, format!("branch {} stays", instance.branch))),
                Err(error) => Err(error.into()),
            }
        };
        let disposal = match disposed {
            // Another git is at work there; the next attempt may succeed.
            Err(error) if error.code == Code::GitLocked => return Err(error),
            // What takes too long now, such as holding huge files, would do so every minute. A person may ask for it.
            Err(error) => kept(instance, error.message),
            Ok(disposal) => disposal,
        };
        let why = if disposable { &disposal.kept[..] } else { &[] };
        self.set_end_phase(instance, why)?;
        reach(Point::FeedbackCleanedUp);
        Ok(disposal)
    }

    /// Records what is left of an instance, and why it stays where it could have gone.
    fn set_end_phase(&self, instance: &Instance, why: &[String]) -> Result<()> {
        let phase = if instance.worktree.exists() { Phase::Kept } else { Phase::Gone };
        self.write(|connection| {
            let reason = instance.reason.as_deref().unwrap_or_default();
            let ended = reason.split(KEPT).next().unwrap_or_default();
            if phase == Phase::Kept && !why.is_empty() {
                let reason = format!("{ended}{KEPT}{})", why.join("; "));
                db::set_reason(connection, &instance.id, reason.trim_start())?;
            } else if ended != reason {
                db::set_reason(connection, &instance.id, ended)?;
            }
            Ok(db::set_phase(connection, &instance.id, phase)?)
        })
    }

    /// Cleans up after instances of a family that their own call has ended, once they had time to read its answer. To be
    /// called while the family is held.
    pub(crate) fn let_go(&self, family: &InstanceId) {
        let attempt = || {
            let family = self.read(|connection| db::family(connection, family))?;
            let mut members = self.members(&family)?;
            members.retain(|member| member.phase == Phase::Ending);
            Ok::<_, AgentsError>((family, members))
        };
        let Ok((family, members)) = attempt() else { return };
        if members.is_empty() {
            return;
        }
        let ids: Vec<InstanceId> = members.into_iter().map(|member| member.id).collect();
        self.leaving.lock().extend(ids.iter().cloned());
        // A coordinator that ends meanwhile leaves this to the next one.
        let coordinator = self.this.clone();
        let leaving = ids.clone();
        let clean_up = move || {
            std::thread::sleep(GRACE);
            let Some(coordinator) = coordinator.upgrade() else { return };
            // From here on the reconciler may do it as well.
            coordinator.leave(&leaving);
            let Some(_hold) = coordinator.holds.take(&family, Instant::now() + PATIENCE) else { return };
            coordinator.clean_up_soon(&family);
        };
        let spawned = std::thread::Builder::new().name("tamis-let-go".to_owned()).spawn(clean_up);
        if let Err(error) = spawned {
            self.leave(&ids);
            tracing::warn!("cannot start a thread to clean up, so the next reconciliation does it: {error}");
        }
    }

    /// They have had their time.
    fn leave(&self, ids: &[InstanceId]) {
        self.leaving.lock().retain(|id| !ids.contains(id));
    }

    /// Whether it is still reading its last answer.
    pub(crate) fn is_leaving(&self, id: &InstanceId) -> bool {
        self.leaving.lock().contains(id)
    }

    pub(crate) fn repository(&self, folder: &Path) -> Result<Repository, GitError> {
        Repository::find(&self.git, folder)
    }

    /// The same for a caller that waits until then.
    pub(crate) fn repository_until(&self, folder: &Path, deadline: Instant) -> Result<Repository, GitError> {
        Repository::find(&self.git.until(deadline), folder)
    }
}

fn kept(instance: &Instance, why: String) -> Disposal {
    Disposal { instance: instance.id.clone(), removed: Vec::new(), kept: vec![why], undo: None }
}
