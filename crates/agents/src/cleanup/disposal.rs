//! Removing an instance's worktree and branch, where nothing is lost by it.
//!
//! Whatever is removed is held by the instance's undo ref first. A worktree goes when all in it is committed; what a review
//! agent left uncommitted in its own worktree is not its work, and the undo ref is enough for it. A branch goes when others
//! have its commits. Work in a submodule, or in the middle of a merge, cannot be held by a ref, and stays in any case.

use crate::error::Result;
use crate::faults::{Point, reach};
use crate::instances::records::Instance;
use crate::{AgentType, AgentsError, Code, Coordinator, Disposal, db};
use tamis_git::{BranchName, Reason, Removal, Worktree, few};

impl Coordinator {
    /// Removes what can go, or lists it.
    pub(crate) fn dispose(&self, instance: &Instance, dry_run: bool) -> Result<Disposal> {
        let repository = self.repository(&instance.repository)?;
        let branch = &instance.branch;
        let keepers = self.keepers(instance)?;
        let reasons = repository.prove_disposable(&instance.worktree, branch, &keepers)?;
        let is_review = instance.agent_type == AgentType::Review;
        let (in_worktree, on_branch): (Vec<Reason>, Vec<Reason>) =
            reasons.into_iter().filter(|reason| stays_for(reason, is_review)).partition(is_of_worktree);
        let mut disposal =
            Disposal { instance: instance.id.clone(), removed: Vec::new(), kept: Vec::new(), undo: None };
        let worktree = format!("worktree {}", instance.worktree.display());
        if !in_worktree.is_empty() {
            let of_worktree = in_worktree.iter().map(|reason| format!("{worktree} stays: it has {reason}"));
            let of_branch = on_branch.iter().map(|reason| format!("branch {branch} stays: it has {reason}"));
            disposal.kept.extend(of_worktree.chain(of_branch));
            return Ok(disposal);
        }
        let there = repository.worktree_if_there(&instance.worktree)?;
        let ignored = there.as_ref().map_or(Ok(Vec::new()), Worktree::ignored)?;
        let ignored = few(&ignored);
        if !dry_run {
            // Submodules are proven to have nothing that is not elsewhere.
            let inner = match &there {
                Some(worktree) => worktree.snapshot(branch)?.inner,
                None => {
                    repository.hold_branch(branch)?;
                    Vec::new()
                }
            };
            reach(Point::GcHeld);
            if is_review && let Some(lost) = inner.first() {
                disposal.kept.push(format!("{worktree} stays: it contains a separate repository, {lost}"));
                return Ok(disposal);
            }
            let removal = if is_review { Removal::Everything } else { Removal::OnlyClean };
            repository.remove_worktree(&instance.worktree, removal)?;
            reach(Point::GcWorktreeRemoved);
        }
        if there.is_some() {
            let with =
                if ignored.is_empty() { String::new() } else { format!(", with ignored files: {ignored}") };
            disposal.removed.push(format!("{worktree}{with}"));
        }
        if repository.branch_tip(branch)?.is_some() {
            if on_branch.is_empty() {
                if !dry_run {
                    repository.delete_branch(branch)?;
                    reach(Point::GcBranchDeleted);
                }
                disposal.removed.push(format!("branch {branch}"));
            } else {
                let kept = on_branch.iter().map(|reason| format!("branch {branch} stays: it has {reason}"));
                disposal.kept.extend(kept);
            }
        }
        if repository.undo_commit(branch)?.is_some() || (dry_run && !disposal.removed.is_empty()) {
            disposal.undo = Some(branch.undo_reference());
        }
        Ok(disposal)
    }

    /// Branches that hold what they have: for a reviewer, that of the coding agent.
    fn keepers(&self, instance: &Instance) -> Result<Vec<BranchName>> {
        let review = self.read(|connection| db::review_by(connection, &instance.id))?;
        Ok(review.map(|review| review.parent_instance.branch()).into_iter().collect())
    }

    /// Whether the worktree of an instance that is still being made was used.
    pub(crate) fn has_worked(&self, instance: &Instance) -> Result<bool> {
        if !is_there(instance) {
            return Ok(false);
        }
        let began = &instance.base_commit;
        let worktree = self.repository(&instance.repository)?.worktree_if_there(&instance.worktree)?;
        // One that is not filled, or only half, was never used.
        let Some(worktree) = worktree.filter(Worktree::is_filled) else { return Ok(false) };
        let state = worktree.state()?;
        Ok(state.head.as_ref() != Some(began) || state.operation.is_some() || !state.is_clean())
    }

    /// Whether something is there that an undo ref cannot hold: a repository, or work in the middle of something.
    pub(crate) fn cannot_be_held(&self, instance: &Instance) -> Result<bool> {
        if !self.has_worked(instance)? {
            return Ok(false);
        }
        let repository = self.repository(&instance.repository)?;
        let branch = &instance.branch;
        let reasons = repository.prove_disposable(&instance.worktree, branch, &[])?;
        let inner = match repository.worktree_if_there(&instance.worktree)? {
            Some(worktree) => worktree.snapshot(branch)?.inner,
            None => Vec::new(),
        };
        Ok(!inner.is_empty() || reasons.iter().any(|reason| stays_for(reason, true)))
    }

    /// Removes what was made of an instance whose start failed. If its worktree was used all the same, the undo reference
    /// holds the work; what no reference can hold stays, and the repair makes an instance of it.
    pub(crate) fn discard(&self, instance: &Instance) -> Result<()> {
        if !is_there(instance) {
            // Gone, and with it whatever could be discarded there.
            return Ok(());
        }
        if self.cannot_be_held(instance)? {
            let message = format!(
                "{} stays: it contains something that cannot be stored in a ref",
                instance.worktree.display()
            );
            return Err(AgentsError::new(Code::InvalidState, message).about(&instance.id));
        }
        let repository = self.repository(&instance.repository)?;
        let branch = &instance.branch;
        let began = &instance.base_commit;
        let worktree = repository.worktree_if_there(&instance.worktree)?;
        if let (true, Some(worktree)) = (self.has_worked(instance)?, &worktree) {
            worktree.snapshot(branch)?;
        }
        // Held before the worktree is removed: after a crash, the hold proves that the branch is this instance's.
        let has_commits = repository.branch_tip(branch)?.is_some_and(|tip| tip != *began);
        if worktree.is_some() && has_commits && !repository.is_held(branch)? {
            repository.hold_branch(branch)?;
        }
        repository.remove_worktree(&instance.worktree, Removal::Everything)?;
        remove_empty(instance)?;
        // A branch with other commits that had no worktree here was never this instance's.
        if !repository.drop_unused_branch(branch, began)? && repository.is_held(branch)? {
            repository.delete_branch(branch)?;
        }
        Ok(())
    }
}

/// Whether its repository is where it was.
fn is_there(instance: &Instance) -> bool {
    instance.repository.join(".git").exists()
}

/// git may have been killed between making the folder and registering it.
fn remove_empty(instance: &Instance) -> Result<()> {
    match std::fs::remove_dir(&instance.worktree) {
        Err(error) if instance.worktree.exists() => {
            Err(AgentsError::file("remove", &instance.worktree, &error))
        }
        _ => Ok(()),
    }
}

/// Whether something stays for this reason, and is not held well enough by the undo ref.
pub(crate) fn stays_for(reason: &Reason, is_review: bool) -> bool {
    match reason {
        Reason::InProgress(_) | Reason::Submodule(_) | Reason::Unknown => true,
        // Files that git ignores are not part of a reviewer's work.
        Reason::Inner(_)
        | Reason::Uncommitted(_)
        | Reason::Untracked(_)
        | Reason::Hidden(_)
        | Reason::OnlyHere(_)
        | Reason::Stashed(_)
        | Reason::Unpushed(_) => !is_review,
    }
}

/// Commits are still there when the worktree is gone, as long as their branch stays.
pub(crate) fn is_of_worktree(reason: &Reason) -> bool {
    !matches!(reason, Reason::Unpushed(_))
}
