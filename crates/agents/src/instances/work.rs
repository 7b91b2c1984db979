//! Reads what instances did in their repositories, which any process may. Changes nothing there.

use std::path::Path;
use std::time::Duration;

use tamis_git::{Commit, Git, Head, Patch, Reason, Repository, Worktree};
use tamis_store::DataDir;

use crate::cleanup::disposal::{is_of_worktree, stays_for};
use crate::error::Result;
use crate::{AgentType, AgentsError, Archive, Code, Instance, InstanceId, coordinator};

/// Reads the repositories of instances.
pub struct WorkReader<'a> {
    archive: &'a Archive,
    git: Git,
}

/// What changed on the branch of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkDiff {
    pub from: Commit,
    pub to: Commit,
    pub patch: Patch,
}

/// What abandoning an instance would remove and keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AbandonPreview {
    /// Files with changes that no commit has, but for those that git ignores.
    pub uncommitted: Vec<String>,
    /// Commits that no remote and no branch of the user's has.
    pub unpushed: u64,
    /// Whatever else is nowhere else, in words.
    pub others: Vec<String>,
    /// Whether the worktree and the branch stay because of it.
    pub worktree_stays: bool,
    pub branch_stays: bool,
    /// Files that git ignores, which go with the worktree.
    pub ignored: Vec<String>,
    /// The reference from which a removed worktree or branch can be restored.
    pub undo: String,
}

/// How long each call of git may take for what is only written into the events.
const HEAD_PATIENCE: Duration = Duration::from_secs(1);

/// What is checked out in an instance's worktree, for the audit trail; none where that cannot be read soon.
pub(crate) fn head_of(git: &Git, instance: &Instance) -> Option<Head> {
    let git = git.clone().with_limit(HEAD_PATIENCE);
    Repository::find(&git, &instance.repository).ok()?.head_in(&instance.worktree).ok().flatten()
}

impl<'a> WorkReader<'a> {
    /// `limit` is that of each call of git.
    pub fn new(archive: &'a Archive, data_dir: &DataDir, limit: Duration) -> WorkReader<'a> {
        WorkReader { archive, git: Git::new(coordinator::scratch(data_dir)).with_limit(limit) }
    }

    /// What is checked out in an instance's worktree; none where that cannot be read.
    pub fn head_of(&self, instance: &Instance) -> Option<Head> {
        head_of(&self.git, instance)
    }

    fn repository(&self, folder: &Path) -> Result<Repository> {
        Ok(Repository::find(&self.git, folder)?)
    }

    /// What changed after a review, up to the next one or up to now; for `None`, all that changed since the beginning. Feedback
    /// that arrived as files is left out.
    pub fn diff(&self, id: &InstanceId, after_review: Option<u32>) -> Result<WorkDiff> {
        let details = self.archive.details(id)?;
        let reviewed = |iteration: u32| {
            let mut reviews = details.reviews.iter().filter(|review| review.parent_instance == *id);
            reviews.find(|review| review.review_iteration == iteration).map(|it| it.reviewed_commit.clone())
        };
        let repository = self.repository(&details.instance.repository)?;
        let next = after_review.and_then(|iteration| reviewed(iteration.checked_add(1)?));
        let tip = match next {
            Some(next) => next,
            None => match repository.branch_tip(&details.instance.branch)? {
                Some(tip) => tip,
                None => repository.undo_commit(&details.instance.branch)?.ok_or_else(|| {
                    let message = format!("branch {} is gone", details.instance.branch);
                    AgentsError::new(Code::GitError, message).about(id)
                })?,
            },
        };
        let from = match after_review {
            None => details.instance.base_commit,
            Some(iteration) => reviewed(iteration).ok_or_else(|| {
                let message = format!("{id} has no review {iteration}");
                AgentsError::new(Code::ValidationError, message).about(id)
            })?,
        };
        let notes: Vec<String> = details.feedback.into_iter().map(|feedback| feedback.path).collect();
        let notes: Vec<String> = notes.into_iter().filter(|path| !path.is_empty()).collect();
        let patch = repository.patch(&from, &tip, &notes)?;
        Ok(WorkDiff { from, to: tip, patch })
    }

    /// What abandoning the instance would remove and keep, judged as the clean-up judges it.
    pub fn abandon_preview(&self, id: &InstanceId) -> Result<AbandonPreview> {
        let details = self.archive.details(id)?;
        let instance = details.instance;
        let is_review = instance.agent_type == AgentType::Review;
        let repository = self.repository(&instance.repository)?;
        let keepers: Vec<_> = details
            .reviews
            .iter()
            .filter(|review| review.child_instance == *id)
            .map(|review| review.parent_instance.branch())
            .collect();
        let reasons = repository.prove_disposable(&instance.worktree, &instance.branch, &keepers)?;
        let mut preview =
            AbandonPreview { undo: instance.branch.undo_reference(), ..AbandonPreview::default() };
        for reason in reasons {
            if stays_for(&reason, is_review) {
                preview.worktree_stays |= is_of_worktree(&reason);
                preview.branch_stays = true;
            }
            match reason {
                Reason::Uncommitted(paths) | Reason::Untracked(paths) | Reason::Hidden(paths) => {
                    preview.uncommitted.extend(paths);
                }
                Reason::Unpushed(commits) => preview.unpushed = commits,
                other => preview.others.push(other.to_string()),
            }
        }
        if !preview.worktree_stays {
            let there = repository.worktree_if_there(&instance.worktree)?;
            preview.ignored = there.as_ref().map_or(Ok(Vec::new()), Worktree::ignored)?;
        }
        Ok(preview)
    }
}
