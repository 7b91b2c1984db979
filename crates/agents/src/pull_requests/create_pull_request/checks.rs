//! Whether there may be a pull request, and is something to pull.

use super::Work;
use crate::error::Result;
use crate::instances::records::Instance;
use crate::{AgentsError, Code, Coordinator, Status, db};
use tamis_git::Commit;

/// Whether the statuses allow it.
pub(super) fn admit(caller: &Instance, subject: &Instance) -> Result<()> {
    let refuse = |instance: &Instance, why: &str| {
        let message = format!("{} is {}, and {why}", instance.id, instance.status);
        AgentsError::new(Code::InvalidState, message).about(&caller.id)
    };
    if caller.id != subject.id {
        if caller.status != Status::Started {
            return Err(refuse(caller, "its review is over"));
        }
        if subject.status != Status::WaitingReview {
            return Err(refuse(subject, "is no longer waiting for a review"));
        }
        return Ok(());
    }
    match subject.status {
        Status::Started | Status::PrCreated | Status::PrClosed => Ok(()),
        Status::WaitingReview => Err(refuse(subject, "its reviewer decides what happens next").suggest(
            "wait: either feedback will be merged into the worktree, or the reviewer will create the pull request",
        )),
        _ => Err(refuse(subject, "can no longer have a pull request")),
    }
}

/// Whether there is something to pull, and all of it is committed.
pub(super) fn check_work(work: &Work<'_>) -> Result<()> {
    let Work { caller, subject, repository, destination, notes, .. } = work;
    let branch = &subject.branch;
    let state = repository.state_of(&subject.worktree)?;
    if let Some(hindrance) = state.hindrance(branch) {
        return Err(AgentsError::from(hindrance).about(&subject.id));
    }
    // What a coding agent has lying about while it waits is not the reviewer's to judge.
    let uncommitted = state.modified.iter().find(|path| !notes.contains(path));
    if let (Some(path), true) = (uncommitted, caller.instance.id == subject.id) {
        let message = format!("{path} has uncommitted changes, which would not be in the pull request");
        return Err(AgentsError::new(Code::UncommittedChanges, message)
            .about(&subject.id)
            .suggest("commit them, or discard them with `git restore`, and try again"));
    }
    let changed = match &state.head {
        Some(tip) => repository.has_changes(&destination.base_commit, tip, notes)?,
        None => false,
    };
    if !changed {
        let message = format!("{branch} has no changes that {} does not have", destination.base);
        return Err(AgentsError::new(Code::NoChanges, message)
            .about(&subject.id)
            .suggest("commit the work and try again"));
    }
    Ok(())
}

impl Coordinator {
    /// Whether a reviewer that approves has seen all that it approves: the commits that it was started for, and those that it has
    /// checked out since.
    pub(super) fn check_reviewed(&self, work: &Work<'_>, tip: &Commit) -> Result<()> {
        let Work { caller, subject, repository, notes, .. } = work;
        let reviewer = &caller.instance;
        let review = self.read(|connection| db::review_by(connection, &reviewer.id))?;
        let Some(review) = review else { return Ok(()) };
        let reviewed = &review.reviewed_commit;
        if !repository.has_changes(reviewed, tip, notes)? {
            return Ok(());
        }
        let has_seen = match repository.head_in(&reviewer.worktree)? {
            Some(head) => repository.is_ancestor(tip, &head.commit)?,
            None => false,
        };
        if has_seen {
            return Ok(());
        }
        let (branch, from, to) = (&subject.branch, reviewed.short(), tip.short());
        let message = format!("{branch} has new commits since {from}, which nobody has reviewed");
        Err(AgentsError::new(Code::InvalidState, message)
            .about(&reviewer.id)
            .suggest(format!("review them first: git diff {from} {to}"))
            .suggest(format!(
                "then check them out (git switch --detach {to}) and call create_pull_request again"
            ))
            .suggest("or send feedback about them with send_feedback")
            .detail("reviewed_commit", reviewed.as_str())
            .detail("branch_commit", tip.as_str()))
    }
}
