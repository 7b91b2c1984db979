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
            1 => format!("{first} has uncommitted changes"),
            more => format!("{first} and {} other files have uncommitted changes", more - 1),
        };
        return Err(AgentsError::new(Code::UncommittedChanges, message).about(&coding.id).suggest(
            "commit them, or discard them with `git restore`, and try again: only commits are reviewed",
        ));
    }
    let nothing = || {
        let message = format!("{branch} has no changes since the commit that it started from");
        AgentsError::new(Code::NoChanges, message).about(&coding.id).suggest("commit the work and try again")
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

/// `asked`: the last review asked a question.
pub(super) fn unchanged(id: &InstanceId, asked: bool) -> AgentsError {
    let message = format!("nothing has changed in {id}'s work since the last review");
    let mut error = AgentsError::new(Code::ReviewUnchanged, message).about(id);
    if asked {
        error = error.suggest("answer the reviewer's question in completion_message, and try again");
    }
    error.suggest("address REVIEW_FEEDBACK.md, commit, and try again").suggest(
        "or create a pull request with create_pull_request, and explain there why nothing needs to change",
    )
}
