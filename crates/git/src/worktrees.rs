//! Worktrees of a repository: made, listed and removed, many at once.
//!
//! Only the registering is done one at a time; filling a worktree with files is what takes long, and goes side by side.
//! A worktree is registered empty and filled in a second step: only then can git report which programs its configuration
//! would run there.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Call, Repository, locks};
use crate::error::{GitError, GitErrorKind, Result};
use crate::names::{BranchName, Commit};

/// While another git registers a worktree, its files are empty for an instant, and listing fails with exit code 128.
const LIST_ATTEMPTS: usize = 10;
const LIST_RETRY_PAUSE: Duration = Duration::from_millis(20);

/// A linked worktree of a repository that is there.
#[derive(Clone, Debug)]
pub struct Worktree {
    pub(super) repository: Repository,
    path: PathBuf,
    git_dir: PathBuf,
}

/// What the repository knows of a worktree, which may be gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registered {
    pub path: PathBuf,
    pub head: Option<Commit>,
    pub branch: Option<BranchName>,
    pub main: bool,
    pub bare: bool,
    /// The reason why it is locked, as the user gave it to `git worktree lock`.
    pub locked: Option<String>,
}

/// What may be lost when a worktree is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Nothing: a worktree with changes or untracked files stays.
    OnlyClean,
    /// Everything in it: it is in an undo reference, or the worktree was never used.
    Everything,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    Done,
    /// The repository knows of no such worktree. If the folder is there, it is as it was.
    NotRegistered,
}

impl Worktree {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder in which git keeps what is this worktree's only.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Whether it has got its files: git writes the index once they are there.
    pub fn is_filled(&self) -> bool {
        self.git_dir.join("index").exists()
    }

    pub(super) fn call(&self) -> Call<'_> {
        self.repository.call_in(&self.path)
    }

    #[cfg(test)]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }
}

impl Repository {
    /// A linked worktree that is there, and is of this repository.
    pub fn worktree(&self, path: &Path) -> Result<Worktree> {
        self.worktree_if_there(path)?.ok_or_else(|| {
            GitError::new(GitErrorKind::Failed, format!("the worktree {} is gone", path.display()))
                .hint("`tamis agents gc` clears up what was left of it")
        })
    }

    /// The same; None when it has vanished.
    pub fn worktree_if_there(&self, path: &Path) -> Result<Option<Worktree>> {
        let Ok(path) = path.canonicalize() else { return Ok(None) };
        let answer = self
            .call_in(&path)
            .args(["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"])
            .answer()?;
        let text = answer.text();
        let lines: Vec<&str> = text.lines().collect();
        let canonical = |text: &str| Path::new(text).canonicalize().ok();
        if answer.code == Some(0)
            && let [toplevel, git_dir, common_dir] = lines.as_slice()
            && canonical(toplevel).as_deref() == Some(&path)
            && canonical(common_dir).as_deref() == Some(self.common_dir())
            && let Some(git_dir) = canonical(git_dir)
        {
            return Ok(Some(Worktree { repository: self.clone(), path, git_dir }));
        }
        Ok(None)
    }

    pub fn worktrees(&self) -> Result<Vec<Registered>> {
        let mut listed = self.list_worktrees()?;
        for _ in 1..LIST_ATTEMPTS {
            if listed.code != Some(128) {
                break;
            }
            std::thread::sleep(LIST_RETRY_PAUSE);
            listed = self.list_worktrees()?;
        }
        let listed = if listed.code == Some(129) {
            // Before git 2.36 there was no `-z`.
            let mut lines = self.call().args(["worktree", "list", "--porcelain"]).run()?;
            lines.stdout.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = 0);
            lines
        } else if listed.code == Some(0) {
            listed
        } else {
            return Err(super::failure::of("git worktree list", &listed.stderr, listed.code));
        };
        let mut worktrees: Vec<Registered> = Vec::new();
        for part in listed.parts() {
            if let Some(path) = part.strip_prefix(b"worktree ") {
                let main = worktrees.is_empty();
                let path = PathBuf::from(std::ffi::OsStr::from_bytes(path));
                worktrees.push(Registered { path, main, ..Registered::default() });
                continue;
            }
            let Some(worktree) = worktrees.last_mut() else { continue };
            let line = String::from_utf8_lossy(part);
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("HEAD", commit) => worktree.head = commit.parse().ok(),
                ("branch", name) => {
                    worktree.branch = name.strip_prefix("refs/heads/").and_then(|name| name.parse().ok());
                }
                ("bare", _) => worktree.bare = true,
                ("locked", why) => worktree.locked = Some(why.to_owned()),
                _ => {}
            }
        }
        // A branch or commit of zeros stands for none.
        let zeros = |commit: &Commit| commit.as_str().bytes().all(|byte| byte == b'0');
        worktrees
            .iter_mut()
            .for_each(|worktree| worktree.head = worktree.head.take().filter(|head| !zeros(head)));
        Ok(worktrees)
    }

    fn list_worktrees(&self) -> Result<super::Answer> {
        self.call().args(["worktree", "list", "--porcelain", "-z"]).answer()
    }

    fn registered(&self, path: &Path) -> Result<Option<Registered>> {
        let path = settled(path);
        Ok(self.worktrees()?.into_iter().find(|worktree| !worktree.main && settled(&worktree.path) == path))
    }

    /// Makes a worktree on a new branch at a commit. What an interrupted call left is finished, if it is of that branch
    /// and that commit.
    pub fn add_worktree(&self, path: &Path, branch: &BranchName, at: &Commit) -> Result<Worktree> {
        let path = settled(path);
        if path.starts_with(self.folder()) || path.starts_with(self.common_dir()) {
            return Err(GitError::new(
                GitErrorKind::Invalid,
                format!("the worktree {} would be inside the repository", path.display()),
            )
            .hint("keep tamis's data outside the repository: set TAMIS_DATA_DIR"));
        }
        let registering = locks::exclusive(self.common_dir());
        let held = registering.lock();
        match self.registered(&path)? {
            Some(there) if there.branch.as_ref() == Some(branch) && there.head.as_ref() == Some(at) => {}
            Some(_) => return Err(taken(&path)),
            None => self.register(&path, branch, at)?,
        }
        drop(held);
        let worktree = self.worktree(&path)?;
        if !worktree.is_filled() {
            // Nothing can be lost: the folder is new, or left by a call that was interrupted before the worktree was used.
            worktree.call().args(["reset", "--hard", "--quiet", "--no-recurse-submodules"]).writes().run()?;
        }
        Ok(worktree)
    }

    fn register(&self, path: &Path, branch: &BranchName, at: &Commit) -> Result<()> {
        if path.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(taken(path));
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .map_err(|error| GitError::file("make the folder", parent, &error))?;
        }
        let made = match self.branch_tip(branch)? {
            Some(tip) if tip == *at => false,
            Some(tip) => {
                return Err(GitError::new(
                    GitErrorKind::Failed,
                    format!("the branch {branch} is there already, at {}", tip.short()),
                )
                .hint(format!("look at it: git log {branch}"))
                .hint(format!("if it is not needed: git branch -D {branch}")));
            }
            None => {
                self.update_reference(&branch.reference(), at, None, "tamis: a new instance")?;
                true
            }
        };
        let added = self
            .call()
            .args(["worktree", "add", "--quiet", "--no-checkout", "--no-guess-remote", "--"])
            .arg(path)
            .arg(branch.as_str())
            .writes()
            .run();
        if let Err(error) = added {
            if made {
                // It was at a commit that others have: nothing is lost with it, and nothing is won if this fails too.
                let _ =
                    self.call().args(["update-ref", "-d", &branch.reference(), at.as_str()]).writes().run();
            }
            return Err(error);
        }
        Ok(())
    }

    /// Removes one worktree, or what is left of one whose folder has vanished. Its branch stays.
    pub fn remove_worktree(&self, path: &Path, removal: Removal) -> Result<Removed> {
        let path = settled(path);
        let registering = locks::exclusive(self.common_dir());
        let _held = registering.lock();
        let Some(there) = self.registered(&path)? else {
            self.forget_half_registered(&path);
            return Ok(Removed::NotRegistered);
        };
        let mut call = self.call().args(["worktree", "remove"]);
        // git itself writes this while it makes a worktree, and leaves it behind when it is killed.
        let interrupted = there.locked.as_deref() == Some("initializing");
        if let Some(why) = there.locked.as_deref().filter(|_| !interrupted) {
            let why =
                if why.is_empty() { String::new() } else { format!(": {}", super::failure::readable(why)) };
            let place = path.display();
            return Err(GitError::new(GitErrorKind::Kept, format!("{place} stays: it is locked{why}"))
                .hint(format!("if it may go: git worktree unlock '{place}'")));
        }
        call = match (removal, path.exists()) {
            (Removal::Everything, true) => call.args(["--force", "--force"]),
            (_, false) if interrupted => call.args(["--force", "--force"]),
            (_, false) => call.arg("--force"),
            (Removal::OnlyClean, true) => call,
        };
        call.arg("--").arg(&there.path).writes().run()?;
        Ok(Removed::Done)
    }

    /// A git that is killed early leaves a folder that no command lists or clears: without the worktree's place.
    fn forget_half_registered(&self, path: &Path) {
        let Some(name) = path.file_name() else { return };
        let folder = self.common_dir().join("worktrees").join(name);
        if folder.is_dir() && !folder.join("gitdir").exists() && !folder.join("index").exists() {
            // Only what git puts there first; anything more, and the folder stays.
            let _ = std::fs::remove_file(folder.join("locked"));
            let _ = std::fs::remove_dir(&folder);
        }
    }
}

fn taken(path: &Path) -> GitError {
    GitError::new(GitErrorKind::Failed, format!("{} is there already, and is something else", path.display()))
        .hint(format!("look at it: git -C '{}' status", path.display()))
}

/// A path in one spelling, also when its last part is not there.
fn settled(path: &Path) -> PathBuf {
    let parent_settled = || {
        let (parent, name) = (path.parent()?, path.file_name()?);
        Some(parent.canonicalize().ok()?.join(name))
    };
    path.canonicalize().ok().or_else(parent_settled).unwrap_or_else(|| path.to_owned())
}
