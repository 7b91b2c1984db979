//! Worktrees of a repository: made, listed and removed, many at once.
//!
//! Only the registering is done one at a time; filling a worktree with files is what takes long, and goes side by side.
//! tamis registers a worktree itself, as git's documentation of its folders has it: git would write down the path of the
//! private configuration.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::discovery::{Place, read_bounded, refuse_links};
use super::{Call, Repository, locks};
use crate::error::{GitError, GitErrorKind, Result};
use crate::names::{BranchName, Commit};

/// While another git registers a worktree, its files are empty for an instant, and listing fails with exit code 128.
const LIST_ATTEMPTS: usize = 10;
const LIST_RETRY_PAUSE: Duration = Duration::from_millis(20);

/// More patterns of a sparse checkout are not copied.
const LARGEST_PATTERNS: u64 = 16 << 20;

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
        self.repository.call_at(&self.path, &self.git_dir)
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
            let what = if path.symlink_metadata().is_ok() { "is not understood" } else { "is gone" };
            GitError::new(GitErrorKind::Failed, format!("the worktree {} {what}", path.display()))
                .hint("`tamis agents gc` cleans up what is left of it")
        })
    }

    /// The same; None when it has vanished, or when what is there is not a worktree of this repository.
    pub fn worktree_if_there(&self, path: &Path) -> Result<Option<Worktree>> {
        if path.symlink_metadata().is_ok_and(|about| about.is_symlink()) {
            return Ok(None);
        }
        let Ok(place) = Place::at(path) else { return Ok(None) };
        if place.common_dir != *self.common_dir() {
            return Ok(None);
        }
        place.check_links()?;
        Ok(Some(self.worktree_at(&place)))
    }

    /// A worktree of this repository, by its place.
    pub(super) fn worktree_at(&self, place: &Place) -> Worktree {
        Worktree { repository: self.clone(), path: place.folder.clone(), git_dir: place.git_dir.clone() }
    }

    /// Whether something is at a path that is not understood as a worktree of this repository. An empty folder is nothing.
    pub(super) fn is_unknown(&self, path: &Path) -> Result<bool> {
        let Ok(about) = path.symlink_metadata() else { return Ok(false) };
        let is_empty = about.is_dir() && path.read_dir().is_ok_and(|mut entries| entries.next().is_none());
        Ok(!is_empty && self.worktree_if_there(path)?.is_none())
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
        // git takes the private folder for the main worktree.
        if let Some(main) = worktrees.first_mut() {
            main.bare = self.configuration.is_bare;
            main.path = self.main_folder();
            main.head = None;
            main.branch = self.branch_of_main()?;
        }
        // A branch or commit of zeros stands for none.
        let zeros = |commit: &Commit| commit.as_str().bytes().all(|byte| byte == b'0');
        worktrees
            .iter_mut()
            .for_each(|worktree| worktree.head = worktree.head.take().filter(|head| !zeros(head)));
        Ok(worktrees)
    }

    /// The folder of the main worktree, as git derives it.
    fn main_folder(&self) -> PathBuf {
        let common_dir = self.common_dir();
        common_dir.parent().filter(|_| common_dir.ends_with(".git")).unwrap_or(common_dir).to_owned()
    }

    fn branch_of_main(&self) -> Result<Option<BranchName>> {
        let common_dir = self.common_dir();
        let head =
            self.call_at(common_dir, common_dir).without_files().args(["symbolic-ref", "--quiet", "HEAD"]);
        let name = head.answer()?.text();
        Ok(name.strip_prefix("refs/heads/").and_then(|name| name.parse().ok()))
    }

    fn list_worktrees(&self) -> Result<super::Answer> {
        self.call().args(["worktree", "list", "--porcelain", "-z"]).answer()
    }

    fn registered(&self, path: &Path) -> Result<Option<Registered>> {
        let path = settled(path);
        Ok(self.worktrees()?.into_iter().find(|worktree| !worktree.main && settled(&worktree.path) == path))
    }

    /// Refuses a path or a branch that exists. Interrupted calls are undone before their names are used again, so an existing one
    /// belongs to somebody else.
    pub fn check_free(&self, path: &Path, branch: &BranchName) -> Result<()> {
        if let Some(tip) = self.branch_tip(branch)? {
            return Err(branch_exists(branch, &tip));
        }
        if path.symlink_metadata().is_ok() {
            return Err(taken(path));
        }
        if self.registered(path)?.is_some() {
            let message = format!("git still lists a worktree at `{}`, which is gone", path.display());
            return Err(GitError::new(GitErrorKind::Failed, message)
                .hint("if it was moved: git worktree repair; otherwise: git worktree prune"));
        }
        Ok(())
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
        if let (false, Some(own)) = (path.join(".git").exists(), self.registration(&path)) {
            // Interrupted between the two.
            fs::create_dir_all(&path).map_err(|error| GitError::file("make the folder", &path, &error))?;
            point_to(&path, &own)?;
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
            Some(tip) => return Err(branch_exists(branch, &tip)),
            None => {
                self.update_reference(&branch.reference(), at, None, "tamis: a new instance")?;
                true
            }
        };
        let added = self.write_registration(path, branch);
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

    /// Writes what makes a folder a worktree on a branch, in git's order: while `locked` is there, git does not take it for
    /// one that has vanished.
    fn write_registration(&self, path: &Path, branch: &BranchName) -> Result<()> {
        refuse_links(self.common_dir(), "worktrees")?;
        let worktrees = self.common_dir().join("worktrees");
        let failed = |at: &Path| {
            let at = at.to_owned();
            move |error: std::io::Error| GitError::file("write", &at, &error)
        };
        for folder in [&worktrees, &path.to_owned()] {
            fs::create_dir_all(folder).map_err(failed(folder))?;
        }
        let base = path.file_name().unwrap_or_default().to_owned();
        let numbered = (0..1000).map(|number| {
            let mut name = base.clone();
            if number > 0 {
                name.push(number.to_string());
            }
            worktrees.join(name)
        });
        let mut own = None;
        for folder in numbered {
            match fs::create_dir(&folder) {
                Ok(()) => {
                    own = Some(folder);
                    break;
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(&folder)(error)),
            }
        }
        let Some(own) = own else { return Err(taken(&worktrees)) };
        let write = |name: &str, content: &[u8]| {
            let file = own.join(name);
            let folder = file.parent().unwrap_or(&own);
            fs::create_dir_all(folder).and_then(|()| fs::write(&file, content)).map_err(failed(&file))
        };
        let is_reftable = self.common_dir().join("reftable").is_dir();
        write("locked", b"initializing")?;
        write("commondir", b"../..\n")?;
        if is_reftable {
            write("HEAD", b"ref: refs/heads/.invalid\n")?;
            write("refs/heads", b"this repository uses the reftable format\n")?;
            write("reftable/tables.list", b"")?;
        } else {
            write("HEAD", format!("ref: {}\n", branch.reference()).as_bytes())?;
        }
        if self.configuration.is_on("core", "sparsecheckout") {
            let patterns = self.common_dir().join("info/sparse-checkout");
            if let Ok(patterns) = read_bounded(&patterns, LARGEST_PATTERNS) {
                write("info/sparse-checkout", &patterns)?;
            }
            if self.configuration.has_worktree_config {
                write("config.worktree", &self.configuration.sparse())?;
            }
        }
        // Other gits fail while it is there and empty.
        let (draft, gitdir) = (own.join("gitdir.new"), own.join("gitdir"));
        write("gitdir.new", &[path.join(".git").as_os_str().as_bytes(), b"\n"].concat())?;
        fs::rename(&draft, &gitdir).map_err(failed(&gitdir))?;
        point_to(path, &own)?;
        if is_reftable {
            let reference = branch.reference();
            self.call_at(path, &own).args(["symbolic-ref", "HEAD", &reference]).writes().run()?;
        }
        let locked = own.join("locked");
        fs::remove_file(&locked).map_err(failed(&locked))
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
        if self.is_unknown(&path)? {
            return Err(GitError::new(
                GitErrorKind::Kept,
                format!(
                    "{} stays: it is not understood as a worktree of {}",
                    path.display(),
                    self.folder().display()
                ),
            )
            .hint("if it was moved: git worktree repair"));
        }
        if let (Removal::OnlyClean, Some(worktree)) = (removal, self.worktree_if_there(&path)?) {
            // git would look into submodules, where it would run what their configuration names.
            let mut reasons = Vec::new();
            worktree.reasons(&mut reasons)?;
            if let Some(reason) = reasons.first() {
                let message = format!("{} stays: it has {reason}", path.display());
                return Err(GitError::new(GitErrorKind::Failed, message));
            }
        }
        // An empty folder has nothing to lose, and git does not know what to make of one.
        let _ = fs::remove_dir(&path);
        let call = self.call().args(["worktree", "remove", "--force", "--force"]);
        // git itself writes this while it makes a worktree, and leaves it behind when it is killed.
        let interrupted = there.locked.as_deref() == Some("initializing");
        if let Some(why) = there.locked.as_deref().filter(|_| !interrupted) {
            let why =
                if why.is_empty() { String::new() } else { format!(": {}", super::failure::readable(why)) };
            let place = path.display();
            return Err(GitError::new(GitErrorKind::Kept, format!("{place} stays: it is locked{why}"))
                .hint(format!("if it may be removed: git worktree unlock '{place}'")));
        }
        call.arg("--").arg(&there.path).writes().run()?;
        Ok(Removed::Done)
    }

    /// The folder that belongs to the worktree at a path.
    fn registration(&self, path: &Path) -> Option<PathBuf> {
        let dot_git = path.join(".git");
        let folders = fs::read_dir(self.common_dir().join("worktrees")).into_iter().flatten().flatten();
        folders.map(|entry| entry.path()).find(|folder| {
            let named = read_bounded(&folder.join("gitdir"), LARGEST_PATTERNS).unwrap_or_default();
            named.trim_ascii_end() == dot_git.as_os_str().as_bytes()
        })
    }

    /// Registering that is interrupted early leaves a folder that no command lists or clears: without the worktree's place.
    fn forget_half_registered(&self, path: &Path) {
        const FIRST: &[&str] =
            &["locked", "commondir", "HEAD", "config.worktree", "gitdir.new", "refs", "reftable", "info"];
        let Some(name) = path.file_name() else { return };
        let folder = self.common_dir().join("worktrees").join(name);
        let is_first = |name: &std::ffi::OsStr| FIRST.iter().any(|first| name == *first);
        let about = fs::symlink_metadata(&folder);
        // Anything more, and the folder stays.
        let is_half = about.is_ok_and(|about| about.is_dir())
            && fs::read_dir(&folder).is_ok_and(|mut entries| {
                entries.all(|entry| entry.is_ok_and(|entry| is_first(&entry.file_name())))
            });
        if is_half {
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

/// Writes the file by which git finds a worktree's own folder.
fn point_to(path: &Path, own: &Path) -> Result<()> {
    let file = path.join(".git");
    let pointer = [b"gitdir: ", own.as_os_str().as_bytes(), b"\n"].concat();
    fs::write(&file, pointer).map_err(|error| GitError::file("write", &file, &error))
}

fn branch_exists(branch: &BranchName, tip: &Commit) -> GitError {
    let message = format!("branch {branch} already exists, at {}", tip.short());
    GitError::new(GitErrorKind::Failed, message)
        .hint(format!("inspect it: git log {branch}"))
        .hint(format!("if it is not needed, delete it: git branch -D {branch}"))
}

fn taken(path: &Path) -> GitError {
    GitError::new(GitErrorKind::Failed, format!("`{}` already exists and is something else", path.display()))
        .hint(format!("inspect it: git -C '{}' status", path.display()))
}

/// A path in one spelling, also when its last part is not there.
fn settled(path: &Path) -> PathBuf {
    let parent_settled = || {
        let (parent, name) = (path.parent()?, path.file_name()?);
        Some(parent.canonicalize().ok()?.join(name))
    };
    path.canonicalize().ok().or_else(parent_settled).unwrap_or_else(|| path.to_owned())
}
