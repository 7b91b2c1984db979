//! Proof that a worktree and its branch can go without anything being lost.
//!
//! An empty list of reasons is the proof. What git ignores is not counted, as in every other use of git, but for repositories
//! with work of their own; and neither are commits that only a log names: the undo reference holds those.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::discovery::Place;
use super::state::{CheckedOut, GitOperation, WorktreeState};
use super::{Repository, Worktree};
use crate::error::Result;
use crate::names::{BranchName, Commit};

/// Maximum depth of submodules within submodules.
const DEEPEST: usize = 8;

/// Why a worktree or branch cannot go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    Uncommitted(Vec<String>),
    Untracked(Vec<String>),
    /// Changed, and git does not show it.
    Hidden(Vec<String>),
    /// What is there is not understood as a worktree of the repository.
    Unknown,
    /// Commits that no remote, tag or branch of the user's has.
    Unpushed(u64),
    /// Commits that only the worktree itself names, by its head or references of its own.
    OnlyHere(u64),
    Stashed(u64),
    InProgress(GitOperation),
    /// A submodule with changes, or with commits that its remote does not have.
    Submodule(String),
    /// A repository with the same, where git ignores what there is.
    Inner(String),
}

/// The first of some paths.
pub fn few(paths: &[String]) -> String {
    let shown: Vec<&str> = paths.iter().take(5).map(String::as_str).collect();
    let more = if paths.len() > 5 { format!(" and {} more", paths.len() - 5) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Uncommitted(paths) => write!(out, "uncommitted changes: {}", few(paths)),
            Reason::Untracked(paths) => write!(out, "untracked files: {}", few(paths)),
            Reason::Hidden(paths) => {
                write!(out, "changes that git is configured not to show: {}", few(paths))
            }
            Reason::Unknown => write!(out, "files, and is not understood as a worktree of its repository"),
            Reason::Unpushed(1) => write!(out, "a commit that no remote and no other branch has"),
            Reason::Unpushed(count) => write!(out, "{count} commits that no remote and no other branch has"),
            Reason::OnlyHere(1) => write!(out, "a commit that is not on any branch"),
            Reason::OnlyHere(count) => write!(out, "{count} commits that are not on any branch"),
            Reason::Stashed(1) => write!(out, "a stash made on the branch"),
            Reason::Stashed(count) => write!(out, "{count} stashes made on the branch"),
            Reason::InProgress(operation) => write!(out, "a {operation} in progress"),
            Reason::Submodule(path) => write!(out, "submodule {path} has work that exists nowhere else"),
            Reason::Inner(path) => {
                write!(out, "a separate repository, {path}, with work that exists nowhere else")
            }
        }
    }
}

impl Repository {
    /// Why a branch, and its worktree if it is there, cannot go. `keepers` are branches that stay, and hold what they have.
    pub fn prove_disposable(
        &self,
        worktree: &Path,
        branch: &BranchName,
        keepers: &[BranchName],
    ) -> Result<Vec<Reason>> {
        let mut reasons = Vec::new();
        match self.worktree_if_there(worktree)? {
            Some(worktree) => worktree.reasons(&mut reasons)?,
            None if self.is_unknown(worktree)? => reasons.push(Reason::Unknown),
            None => {}
        }
        if let Some(tip) = self.branch_tip(branch)? {
            let mut call =
                self.call().args(["rev-list", "--count", tip.as_str(), "--not", "--remotes", "--tags"]);
            call = call.args(["--exclude=tamis/*", "--branches"]);
            for keeper in keepers.iter().filter(|keeper| *keeper != branch) {
                call = call.args(self.branch_tip(keeper)?.iter().map(Commit::as_str));
            }
            let count = call.arg("--").run()?.text().parse().unwrap_or(u64::MAX);
            if count > 0 {
                reasons.push(Reason::Unpushed(count));
            }
        }
        let stashed = self.stashes_of(branch)?;
        if stashed > 0 {
            reasons.push(Reason::Stashed(stashed));
        }
        Ok(reasons)
    }

    fn stashes_of(&self, branch: &BranchName) -> Result<u64> {
        if self.resolve("refs/stash")?.is_none() {
            return Ok(0);
        }
        let answer = self
            .call()
            .args([
                "log",
                "--walk-reflogs",
                "-z",
                "--format=%gs",
                "--no-show-signature",
                "--no-patch",
                "refs/stash",
                "--",
            ])
            .run()?;
        let (made, named) = (format!("WIP on {branch}: "), format!("On {branch}: "));
        let ours = answer.parts().filter(|subject| {
            let subject = String::from_utf8_lossy(subject);
            subject.starts_with(&made) || subject.starts_with(&named)
        });
        Ok(ours.count() as u64)
    }
}

impl Worktree {
    pub(super) fn join(&self, path: &[u8]) -> PathBuf {
        self.path().join(OsStr::from_bytes(path))
    }

    pub(super) fn reasons(&self, reasons: &mut Vec<Reason>) -> Result<()> {
        let state = self.state()?;
        if let Some(operation) = state.operation {
            reasons.push(Reason::InProgress(operation));
        }
        let hidden = self.hidden_changes(&state)?;
        if !state.modified.is_empty() {
            reasons.push(Reason::Uncommitted(state.modified));
        }
        if !state.untracked.is_empty() {
            reasons.push(Reason::Untracked(state.untracked));
        }
        if !hidden.is_empty() {
            reasons.push(Reason::Hidden(hidden));
        }
        let mut only_here = Vec::new();
        if state.checked_out == CheckedOut::Detached {
            only_here.extend(state.head.map(|head| head.as_str().to_owned()));
        }
        only_here.extend(self.own_references()?);
        if !only_here.is_empty() {
            let call = self.call().args(["rev-list", "--count"]).args(&only_here);
            let count = call.args(["--not", "--branches", "--remotes", "--tags", "--"]).run()?.text();
            let count = count.parse().unwrap_or(u64::MAX);
            if count > 0 {
                reasons.push(Reason::OnlyHere(count));
            }
        }
        for path in self.submodules()? {
            if self.submodule_has_work(&self.path().join(&path), 0)? {
                reasons.push(Reason::Submodule(path.to_string_lossy().into_owned()));
            }
        }
        reasons.extend(self.inner_work()?.into_iter().map(Reason::Inner));
        // Submodules that are not checked out any more have their commits there still.
        for folder in inner_git_dirs(&self.git_dir().join("modules"), 0) {
            if self.git_dir_has_work(&folder)? {
                let name =
                    folder.strip_prefix(self.git_dir()).unwrap_or(&folder).to_string_lossy().into_owned();
                reasons.push(Reason::Submodule(name));
            }
        }
        Ok(())
    }

    /// Files and folders that git ignores.
    pub fn ignored(&self) -> Result<Vec<String>> {
        let ignored = self.ignored_paths()?;
        Ok(ignored.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }

    fn ignored_paths(&self) -> Result<Vec<Vec<u8>>> {
        let answer = self
            .call()
            .args(["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"])
            .args(["--full-name", "--", ":(top)"])
            .run()?;
        Ok(answer.parts().map(<[u8]>::to_vec).collect())
    }

    /// Repositories in ignored folders that have work of their own: clones that an agent has worked in.
    fn inner_work(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for path in self.ignored_paths()?.iter().filter(|path| path.ends_with(b"/")) {
            find_repositories(&self.join(path), &mut found);
        }
        // One that git cannot make sense of is not proven to have none.
        found.retain(|folder| self.submodule_has_work(folder, 0).unwrap_or(true));
        let name = |folder: &PathBuf| {
            folder.strip_prefix(self.path()).unwrap_or(folder).to_string_lossy().into_owned()
        };
        Ok(found.iter().map(name).collect())
    }

    /// Files that are marked so that git does not look at them.
    pub(super) fn hidden_paths(&self) -> Result<Vec<Vec<u8>>> {
        let answer = self.call().args(["ls-files", "-v", "-z", "--full-name", "--", ":(top)"]).run()?;
        let hidden = answer.parts().filter(|line| line[0] == b'S' || line[0].is_ascii_lowercase());
        Ok(hidden.filter_map(|line| line.get(2..)).map(<[u8]>::to_vec).collect())
    }

    /// Files that differ from the commit, or are not in it, though git does not show it. Every file is read and compared, with
    /// an index that has nothing but the commit: so neither marks, nor caches, nor times of files count.
    fn hidden_changes(&self, state: &WorktreeState) -> Result<Vec<String>> {
        let index = self.repository.git.scratch_file("proof")?;
        let call = || self.call().variable("GIT_INDEX_FILE", &index.0);
        match &state.head {
            Some(head) => call().args(["read-tree", head.as_str()]).writes().run()?,
            None => call().args(["read-tree", "--empty"]).writes().run()?,
        };
        let answer = call()
            .args(["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=normal"])
            .arg("--ignore-submodules=all")
            .run()?;
        let mut hidden = Vec::new();
        for part in answer.parts() {
            let line = String::from_utf8_lossy(part);
            let path = line.strip_prefix("? ").or_else(|| super::state::field(&line, "1 ", 8));
            let Some(path) = path else { continue };
            let is_shown = |shown: &String| shown == path || (path.ends_with('/') && shown.starts_with(path));
            // What was deleted cannot be lost, and a sparse checkout has not all files.
            if !line.starts_with("1 .D") && !state.modified.iter().chain(&state.untracked).any(is_shown) {
                hidden.push(path.to_owned());
            }
        }
        Ok(hidden)
    }

    /// Paths with something that no commit has, as far as git does not ignore it.
    fn unsaved(&self) -> Result<Vec<String>> {
        let state = self.state()?;
        let mut paths = self.hidden_changes(&state)?;
        paths.extend(state.modified);
        paths.extend(state.untracked);
        Ok(paths)
    }

    /// The submodules that are checked out.
    pub(super) fn submodules(&self) -> Result<Vec<PathBuf>> {
        self.submodules_in(&self.git_dir().join("index"))
    }

    /// Those that an index has.
    pub(super) fn submodules_in(&self, index: &Path) -> Result<Vec<PathBuf>> {
        let call = self.call().variable("GIT_INDEX_FILE", index);
        let answer = call.args(["ls-files", "-s", "-z", "--full-name", "--", ":(top)"]).run()?;
        let links = answer.parts().filter(|line| line.starts_with(b"160000 "));
        let paths = links.filter_map(|line| line.splitn(2, |byte| *byte == b'\t').nth(1));
        let paths = paths.map(|path| PathBuf::from(OsStr::from_bytes(path)));
        Ok(paths.filter(|path| self.path().join(path).join(".git").exists()).collect())
    }

    /// What the worktree's own references name, which go with it.
    pub(super) fn own_references(&self) -> Result<Vec<String>> {
        let own =
            ["for-each-ref", "--format=%(objectname)", "refs/worktree", "refs/bisect", "refs/rewritten"];
        Ok(self.call().args(own).run()?.text().lines().map(str::to_owned).collect())
    }

    /// Whether a submodule has changes, or commits that its remotes do not have. It is a repository of its own, with its own
    /// configuration; one that is not understood is not proven to have none.
    fn submodule_has_work(&self, folder: &Path, depth: usize) -> Result<bool> {
        let Ok(place) = Place::at(folder) else { return Ok(true) };
        let Ok(inner) = Repository::open(&self.repository.git, place) else { return Ok(true) };
        let worktree = inner.worktree_at(&inner.place);
        if depth == DEEPEST || !worktree.unsaved()?.is_empty() || inner.has_own_commits()? {
            return Ok(true);
        }
        for path in worktree.submodules()? {
            if self.submodule_has_work(&folder.join(path), depth + 1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a submodule that is not checked out has commits of its own.
    fn git_dir_has_work(&self, git_dir: &Path) -> Result<bool> {
        let Ok(place) = Place::of_git_dir(git_dir.to_owned(), git_dir.to_owned()) else { return Ok(true) };
        let Ok(inner) = Repository::open(&self.repository.git, place) else { return Ok(true) };
        inner.has_own_commits()
    }
}

impl Repository {
    /// Whether there are commits that no remote or tag has.
    fn has_own_commits(&self) -> Result<bool> {
        let answer = self
            .call()
            .without_files()
            .args(["rev-list", "--count", "--all", "HEAD", "--not", "--remotes", "--tags", "--"])
            .answer()?;
        Ok(answer.code != Some(0) || answer.text() != "0")
    }
}

/// Repositories in a folder, itself included, but for those inside others.
fn find_repositories(folder: &Path, found: &mut Vec<PathBuf>) {
    if folder.join(".git").exists() {
        found.push(folder.to_owned());
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find_repositories(&entry.path(), found);
        }
    }
}

/// Folders of git's below this one. A submodule's name may have slashes.
fn inner_git_dirs(folder: &Path, depth: usize) -> Vec<PathBuf> {
    if depth > DEEPEST {
        return Vec::new();
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if path.join("HEAD").is_file() && path.join("objects").is_dir() {
            found.extend(inner_git_dirs(&path.join("modules"), depth + 1));
            found.push(path);
        } else {
            found.extend(inner_git_dirs(&path, depth + 1));
        }
    }
    found
}
