//! The state of a worktree: what is checked out, which operation is under way, and what is not committed.

use std::path::Path;

use super::Worktree;
use super::repository::Repository;
use crate::error::{GitError, GitErrorKind, Result};
use crate::names::{BranchName, Commit};

/// What a worktree can be in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitOperation {
    Merge,
    Rebase,
    ApplyingPatches,
    CherryPick,
    Revert,
    Bisect,
}

impl std::fmt::Display for GitOperation {
    /// The name of git's command.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            GitOperation::Merge => "merge",
            GitOperation::Rebase => "rebase",
            GitOperation::ApplyingPatches => "am",
            GitOperation::CherryPick => "cherry-pick",
            GitOperation::Revert => "revert",
            GitOperation::Bisect => "bisect",
        })
    }
}

/// The files that show it, in the worktree's own git folder. The first that exists counts.
const OPERATION_FILES: &[(&str, GitOperation)] = &[
    ("MERGE_HEAD", GitOperation::Merge),
    ("rebase-merge", GitOperation::Rebase),
    ("rebase-apply/applying", GitOperation::ApplyingPatches),
    ("rebase-apply", GitOperation::Rebase),
    ("CHERRY_PICK_HEAD", GitOperation::CherryPick),
    ("REVERT_HEAD", GitOperation::Revert),
    ("sequencer", GitOperation::CherryPick),
    ("BISECT_LOG", GitOperation::Bisect),
];

/// What a worktree has checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckedOut {
    OnBranch(BranchName),
    /// A commit itself is checked out.
    Detached,
    /// The folder is gone, or is no longer a worktree of the repository.
    Vanished,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeState {
    pub checked_out: CheckedOut,
    pub head: Option<Commit>,
    pub operation: Option<GitOperation>,
    /// Tracked files that differ from the commit, staged or not; conflicts too.
    pub modified: Vec<String>,
    pub conflicts: Vec<String>,
    /// Files, and folders of files, that git does not know and does not ignore.
    pub untracked: Vec<String>,
}

impl WorktreeState {
    /// Whether there is nothing in it but what is committed, not counting some paths.
    pub fn is_clean_but_for(&self, paths: &[String]) -> bool {
        self.modified.iter().chain(&self.untracked).all(|path| paths.contains(path))
    }

    pub fn is_clean(&self) -> bool {
        self.is_clean_but_for(&[])
    }

    /// Why nothing can be brought to the branch here, if so.
    pub fn hindrance(&self, branch: &BranchName) -> Option<GitError> {
        let busy = |message: String| GitError::new(GitErrorKind::Busy, message);
        match (&self.checked_out, self.operation) {
            (CheckedOut::Vanished, _) => Some(GitError::new(GitErrorKind::Failed, "the worktree is gone")),
            (_, Some(operation)) => {
                Some(busy(format!("the worktree is in the middle of a {operation}")).hint(format!(
                    "finish it with `git {operation} --continue` or `git {operation} --abort`, and try again"
                )))
            }
            (CheckedOut::Detached, None) => Some(
                busy(format!("the worktree is not on any branch; expected {branch}"))
                    .hint(format!("switch back with `git switch {branch}` and try again")),
            ),
            (CheckedOut::OnBranch(other), None) if other != branch => Some(
                busy(format!("the worktree is on branch {other}; expected {branch}"))
                    .hint(format!("switch back with `git switch {branch}` and try again")),
            ),
            (CheckedOut::OnBranch(_), None) => None,
        }
    }
}

impl Repository {
    /// The state of the worktree at a path.
    pub fn state_of(&self, path: &Path) -> Result<WorktreeState> {
        match self.worktree_if_there(path)? {
            Some(worktree) => worktree.state(),
            None => Ok(WorktreeState {
                checked_out: CheckedOut::Vanished,
                head: None,
                operation: None,
                modified: Vec::new(),
                conflicts: Vec::new(),
                untracked: Vec::new(),
            }),
        }
    }
}

impl Worktree {
    pub fn state(&self) -> Result<WorktreeState> {
        let operation = OPERATION_FILES
            .iter()
            .find(|(sign, _)| self.git_dir().join(sign).exists())
            .map(|(_, operation)| *operation);
        let mut state = WorktreeState {
            checked_out: CheckedOut::Detached,
            head: None,
            operation,
            modified: Vec::new(),
            conflicts: Vec::new(),
            untracked: Vec::new(),
        };
        // Not in submodules: git would run there what their own configuration names.
        let answer = self
            .call()
            .args(["status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--untracked-files=normal"])
            .arg("--ignore-submodules=dirty")
            .run()?;
        for part in answer.parts() {
            let line = String::from_utf8_lossy(part);
            if let Some(commit) = line.strip_prefix("# branch.oid ") {
                state.head = commit.parse().ok();
            } else if let Some(name) = line.strip_prefix("# branch.head ") {
                if let (true, Ok(branch)) = (name != "(detached)", name.parse()) {
                    state.checked_out = CheckedOut::OnBranch(branch);
                }
            } else if let Some(path) = line.strip_prefix("? ") {
                state.untracked.push(path.to_owned());
            } else if let Some(path) = field(&line, "1 ", 8) {
                state.modified.push(path.to_owned());
            } else if let Some(path) = field(&line, "u ", 10) {
                state.modified.push(path.to_owned());
                state.conflicts.push(path.to_owned());
            }
        }
        Ok(state)
    }
}

/// The rest of a line of this kind after the first `fields - 1` fields.
pub(super) fn field<'a>(line: &'a str, kind: &str, fields: usize) -> Option<&'a str> {
    line.strip_prefix(kind)?.splitn(fields, ' ').nth(fields - 1)
}
