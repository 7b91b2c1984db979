//! Undo references: everything that is in a worktree, committed beside it, before it goes.
//!
//! `refs/tamis/undo/ID` holds a commit whose tree is the worktree's files, tracked or not but for ignored ones. Its parents
//! are the branch's tip, what was staged if that is something else, what was held before, and the commits that only the
//! worktree's own log still names, such as those before an amendment. `git checkout refs/tamis/undo/ID` restores it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::time::SystemTime;

use super::discovery::Place;
use super::{Repository, Worktree, locks};
use crate::error::{GitError, GitErrorKind, Result};
use crate::names::{BranchName, Commit};

/// Maximum number of commits held that only a reflog names: a rebase makes some, and the thousandth is not missed.
const MOST_LOGGED: usize = 50;

/// What an undo reference holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub reference: String,
    pub commit: Commit,
    /// Repositories inside the worktree, and submodules: git holds a name for them only, so they are not in it.
    pub left_out: Vec<String>,
    /// Those of them that are no submodules.
    pub inner: Vec<String>,
}

impl Repository {
    /// The commit that the undo reference of an instance's branch holds.
    pub fn undo_commit(&self, branch: &BranchName) -> Result<Option<Commit>> {
        self.resolve(&branch.undo_reference())
    }

    /// Holds a branch's tip, for a branch whose worktree is gone.
    pub fn hold_branch(&self, branch: &BranchName) -> Result<Option<Commit>> {
        let Some(tip) = self.branch_tip(branch)? else { return Ok(None) };
        self.hold(branch, vec![tip], None).map(Some)
    }

    /// Whether the undo reference was set when the branch was at its tip: [`hold`](Self::hold_branch) was called for this very
    /// branch.
    pub fn is_held(&self, branch: &BranchName) -> Result<bool> {
        let (Some(tip), Some(undo)) = (self.branch_tip(branch)?, self.undo_commit(branch)?) else {
            return Ok(false);
        };
        Ok(tip == undo || self.resolve(&format!("{undo}^1"))? == Some(tip))
    }

    /// Deletes a branch, if the undo reference holds its tip and no worktree is on it. It may be gone already.
    pub fn delete_branch(&self, branch: &BranchName) -> Result<()> {
        let turn = locks::exclusive(self.common_dir());
        let _held = turn.lock();
        let Some(tip) = self.branch_tip(branch)? else { return Ok(()) };
        let held = match self.undo_commit(branch)? {
            Some(undo) => self.is_ancestor(&tip, &undo)?,
            None => false,
        };
        if !held {
            return Err(GitError::new(
                GitErrorKind::Kept,
                format!(
                    "branch {branch} is kept: {} does not contain its tip {}",
                    branch.undo_reference(),
                    tip.short()
                ),
            ));
        }
        let on_it = self.worktrees()?.into_iter().find(|worktree| worktree.branch.as_ref() == Some(branch));
        if let Some(worktree) = on_it {
            return Err(GitError::new(
                GitErrorKind::Kept,
                format!("branch {branch} is kept: it is checked out in worktree {}", worktree.path.display()),
            ));
        }
        self.call().args(["update-ref", "-d", &branch.reference(), tip.as_str()]).writes().run()?;
        Ok(())
    }

    /// Sets the undo reference to a commit that has all of these behind it, and whatever it held before.
    fn hold(&self, branch: &BranchName, mut commits: Vec<Commit>, tree: Option<&Commit>) -> Result<Commit> {
        let before = self.undo_commit(branch)?;
        if let Some(before) = &before {
            let mut covered = false;
            for commit in &commits {
                covered |= self.is_ancestor(before, commit)?;
            }
            if !covered {
                commits.push(before.clone());
            }
        }
        let mut seen = std::collections::HashSet::new();
        commits.retain(|commit| seen.insert(commit.clone()));
        let held = match (commits.as_slice(), tree) {
            ([only], None) => only.clone(),
            (_, tree) => {
                let first = commits.first().map(Commit::as_str).unwrap_or_default();
                let tree = match tree {
                    Some(tree) => tree.clone(),
                    None => self
                        .call()
                        .args(["rev-parse", "--verify", &format!("{first}^{{tree}}")])
                        .run()?
                        .text()
                        .parse()?,
                };
                let parents: Vec<&Commit> = commits.iter().collect();
                self.commit_tree(&tree, &parents, &format!("What {} left\n", branch.instance()), now())?
            }
        };
        if before.as_ref() != Some(&held) {
            self.update_reference(&branch.undo_reference(), &held, before.as_ref(), "tamis: held for undo")?;
        }
        Ok(held)
    }
}

impl Worktree {
    /// Commits everything that is in the worktree under the instance's undo reference. The worktree, its index and its
    /// branch stay as they are.
    pub fn snapshot(&self, branch: &BranchName) -> Result<Snapshot> {
        let state = self.state()?;
        let tip = self.repository.branch_tip(branch)?;
        let mut commits: Vec<Commit> = tip.iter().chain(&state.head).cloned().collect();
        let Some(first) = commits.first().cloned() else {
            return Err(GitError::new(
                GitErrorKind::Failed,
                format!("neither {branch} nor the worktree has a commit"),
            ));
        };
        let index = self.repository.git.scratch_file("snapshot")?;
        let with_index =
            || self.call().variable("GIT_INDEX_FILE", &index.0).setting("core.splitIndex", "false").writes();
        let own_index = self.git_dir().join("index");
        if own_index.exists() {
            // A copy, because git knows by it which files it need not read.
            std::fs::copy(&own_index, &index.0)
                .map_err(|error| GitError::file("copy", &own_index, &error))?;
        } else {
            with_index().args(["read-tree", first.as_str()]).run()?;
        }
        // With a conflict there is nothing staged but what the merged commits have.
        let staged = with_index().args(["write-tree"]).answer()?;
        let staged: Option<Commit> = staged.text().parse().ok().filter(|_| staged.code == Some(0));
        self.unhide(&index.0)?;
        let left_out = self.inner_repositories()?;
        // git would look into them, where it would run what their configuration names. The copied index cannot have others.
        let submodules = self.submodules_in(&index.0)?;
        let mut pathspecs = b":(top)\0".to_vec();
        let paths = submodules.iter().map(|path| path.as_os_str().as_bytes());
        for path in left_out.iter().map(Vec::as_slice).chain(paths) {
            pathspecs.extend_from_slice(b":(top,exclude,literal)");
            pathspecs.extend_from_slice(path);
            pathspecs.push(0);
        }
        with_index()
            .args(["add", "--all", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"])
            .setting("core.safecrlf", "false")
            .stdin(pathspecs)
            .run()?;
        for path in &submodules {
            let place = Place::at(&self.path().join(path));
            let inner = place.and_then(|place| Repository::open(&self.repository.git, place));
            if let Some(head) = inner.and_then(|inner| inner.resolve("HEAD")).ok().flatten() {
                let mut entry = OsString::from(format!("160000,{head},"));
                entry.push(path);
                with_index().args(["update-index", "--add", "--cacheinfo"]).arg(entry).run()?;
            }
        }
        let files: Commit = with_index().args(["write-tree"]).run()?.text().parse()?;
        let committed = self.tree_of(&first)?;
        if let Some(staged) = staged.filter(|staged| *staged != files && *staged != committed) {
            commits.push(self.repository.commit_tree(
                &staged,
                &[&first],
                &format!("What {} had staged\n", branch.instance()),
                now(),
            )?);
        }
        for name in self.own_references()? {
            // A reference may name something that is not a commit.
            commits.extend(self.repository.resolve(&name)?);
        }
        commits.extend(self.only_logged(&commits)?);
        let commit =
            self.repository.hold(branch, commits, Some(&files).filter(|files| **files != committed))?;
        let inner: Vec<String> = left_out
            .iter()
            .map(|path| String::from_utf8_lossy(path).trim_end_matches('/').to_owned())
            .collect();
        let mut left_out = inner.clone();
        left_out.extend(submodules.iter().map(|path| path.to_string_lossy().into_owned()));
        Ok(Snapshot { reference: branch.undo_reference(), commit, left_out, inner })
    }

    fn tree_of(&self, commit: &Commit) -> Result<Commit> {
        self.call().args(["rev-parse", "--verify", &format!("{commit}^{{tree}}")]).run()?.text().parse()
    }

    /// Files can be marked so that git does not look at them.
    fn unhide(&self, index: &std::path::Path) -> Result<()> {
        let hidden = self.hidden_paths()?;
        if hidden.is_empty() {
            return Ok(());
        }
        for mark in ["--no-assume-unchanged", "--no-skip-worktree"] {
            let there = hidden.iter().filter(|path| self.join(path).symlink_metadata().is_ok());
            let paths: Vec<u8> = there.flat_map(|path| path.iter().chain(&[0])).copied().collect();
            self.call()
                .variable("GIT_INDEX_FILE", index)
                .writes()
                .args(["update-index", mark, "-z", "--stdin"])
                .stdin(paths)
                .run()?;
        }
        Ok(())
    }

    /// Untracked folders that are repositories of their own.
    fn inner_repositories(&self) -> Result<Vec<Vec<u8>>> {
        let answer = self
            .call()
            .args(["ls-files", "-z", "--others", "--exclude-standard", "--full-name", "--", ":(top)"])
            .run()?;
        Ok(answer.parts().filter(|path| path.ends_with(b"/")).map(<[u8]>::to_vec).collect())
    }

    /// Commits that nothing names but the worktree's own log, the latest first.
    fn only_logged(&self, known: &[Commit]) -> Result<Vec<Commit>> {
        let log =
            self.call().args(["rev-list", "--walk-reflogs", "--max-count=500", "HEAD", "--"]).answer()?;
        let mut logged: Vec<String> = log.text().lines().map(str::to_owned).collect();
        logged.retain(|line| line.parse::<Commit>().is_ok());
        logged.dedup();
        if log.code != Some(0) || logged.is_empty() {
            return Ok(Vec::new());
        }
        let mut input = logged.join("\n");
        input.push('\n');
        input.extend(known.iter().map(|commit| format!("^{commit}\n")));
        let lost = self
            .call()
            // Options on its input are not understood by every git that can do the rest.
            .args(["rev-list", "--topo-order", "--parents", "--ignore-missing", "--stdin"])
            .args(["--not", "--branches", "--remotes", "--tags"])
            .stdin(input)
            .run()?
            .text();
        let mut behind = std::collections::HashSet::new();
        let mut heads = Vec::new();
        for line in lost.lines() {
            let mut names = line.split(' ');
            let Some(name) = names.next() else { continue };
            if !behind.contains(name) && heads.len() < MOST_LOGGED {
                heads.push(name.parse()?);
            }
            behind.extend(names);
        }
        Ok(heads)
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(0)
}
