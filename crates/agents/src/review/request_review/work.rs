//! What there is to review: commits, all of the work, and not the same as before.

use crate::error::Result;
use crate::instances::records::Instance;
use crate::{AgentsError, Code, InstanceId};
use tamis_git::{Commit, Repository, ReviewNote};

/// What there is to review.
pub(super) struct Work {
    pub(super) commit: Commit,
    pub(super) identity: String,
}

/// What is committed on the coding agent's branch and can be reviewed.
pub(super) fn work(repository: &Repository, coding: &Instance, notes: &[ReviewNote]) -> Result<Work> {
    let branch = &coding.branch;
    let state = repository.state_of(&coding.worktree)?;
    if let Some(hindrance) = state.hindrance(branch) {
        return Err(AgentsError::from(hindrance).about(&coding.id));
    }
    if let Some(first) = state.modified.first() {
        let message = match state.modified.len() {
            1 => format!("{first} has changes that are not committed"),
            more => format!("{first} and {} other files have changes that are not committed", more - 1),
        };
        return Err(AgentsError::new(Code::UncommittedChanges, message).about(&coding.id).suggest(
            "commit them, or put them back with `git restore`, and call again: a review is of commits",
        ));
    }
    let nothing = || {
        let message = format!("{branch} has no change beyond the commit that it began at");
        AgentsError::new(Code::NoChanges, message)
            .about(&coding.id)
            .suggest("commit the work, and call again")
    };
    let base = &coding.base_commit;
    let commit = state.head.ok_or_else(nothing)?;
    let notes: Vec<String> = notes.iter().map(|note| note.path.clone()).collect();
    if !repository.has_changes(base, &commit, &notes)? {
        return Err(nothing());
    }
    let identity = repository.work_identity(base, &commit, &notes)?.0;
    Ok(Work { commit, identity })
}

pub(super) fn unchanged(id: &InstanceId) -> AgentsError {
    AgentsError::new(
        Code::ReviewUnchanged,
        format!("nothing has changed in {id}'s work since the last review"),
    )
    .about(id)
    .suggest("do what REVIEW_FEEDBACK.md asks for, commit it, and call again")
    .suggest(
        "or create a pull request with create_pull_request, and explain there why nothing is to be changed",
    )
}
