//! Where a repository is: found without git, which would read its configuration to find it.
//!
//! The rules are git's, but stricter where a file of the repository could lead to another one: a linked worktree and its
//! repository have to name each other, and a `.git` file may not name the `.git` of another folder.

use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::Git;
use crate::error::{GitError, GitErrorKind, Result};

/// Longer than any path.
const LARGEST_POINTER: u64 = 16 << 10;

/// A folder with files of a repository, and where git keeps the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    /// What is this worktree's own.
    pub(crate) git_dir: PathBuf,
    /// What all worktrees share.
    pub(crate) common_dir: PathBuf,
}

impl Place {
    /// The worktree that a folder is in.
    pub(crate) fn above(folder: &Path) -> Result<Place> {
        let folder = canonical(folder)?;
        for candidate in folder.ancestors() {
            if candidate.join(".git").symlink_metadata().is_ok() {
                return Place::at(candidate);
            }
            if is_git_dir(candidate, candidate) {
                return Err(GitError::new(
                    GitErrorKind::Failed,
                    format!("`{}` is a bare repository, which has no files", folder.display()),
                )
                .hint("change to one of its worktrees, or create one: git worktree add ../main main"));
            }
        }
        Err(GitError::new(GitErrorKind::Failed, format!("`{}` is not in a git repository", folder.display())).hint(
            "change to a repository, or create one: git init && git add --all && git commit -m \"First commit\"",
        ))
    }

    /// The worktree whose files are in this very folder.
    pub(crate) fn at(folder: &Path) -> Result<Place> {
        let folder = canonical(folder)?;
        let dot_git = folder.join(".git");
        let is_pointer = fs::metadata(&dot_git).is_ok_and(|about| about.is_file());
        let git_dir = if is_pointer {
            let target = read_pointer(&dot_git, "gitdir: ")
                .ok_or_else(|| odd(&folder, "its `.git` is not understood"))?;
            canonical(&folder.join(target)).map_err(|_| odd(&folder, "its `.git` leads nowhere"))?
        } else {
            canonical(&dot_git)?
        };
        let place = Place::of_git_dir(folder, git_dir)?;
        let Place { folder, git_dir, common_dir } = &place;
        if git_dir != common_dir {
            // Either could have been written by another than git.
            let back = read_pointer(&git_dir.join("gitdir"), "").map(|back| git_dir.join(back));
            let back = back.and_then(|back| back.parent()?.canonicalize().ok());
            if git_dir.parent() != Some(&common_dir.join("worktrees")) || back.as_ref() != Some(folder) {
                return Err(odd(folder, "the repository that its `.git` names does not know it")
                    .hint("if it was moved: git worktree repair"));
            }
        } else if is_pointer && git_dir.file_name() == Some(".git".as_ref()) {
            return Err(odd(folder, "its `.git` names the repository of another folder"));
        }
        Ok(place)
    }

    /// A repository by its own folder, with files somewhere.
    pub(crate) fn of_git_dir(folder: PathBuf, git_dir: PathBuf) -> Result<Place> {
        let common_dir = match read_pointer(&git_dir.join("commondir"), "") {
            Some(common) => canonical(&git_dir.join(common))?,
            None => git_dir.clone(),
        };
        if !is_git_dir(&git_dir, &common_dir) {
            return Err(odd(&folder, "its `.git` is not a repository"));
        }
        Ok(Place { folder, git_dir, common_dir })
    }

    /// Refuses a repository of another user, unless `safe.directory` allows it. git checks this only when it searches for the
    /// repository itself; tamis passes it the path.
    pub(crate) fn check_owner(&self, git: &Git) -> Result<()> {
        let us = rustix::process::geteuid().as_raw();
        // `sudo` works in the user's own repositories.
        let sudo = std::env::var("SUDO_UID").ok().and_then(|id| id.parse().ok()).filter(|_| us == 0);
        let is_ours = |path: &Path| {
            fs::symlink_metadata(path).is_ok_and(|about| about.uid() == us || Some(about.uid()) == sudo)
        };
        let parts = [
            &self.folder,
            &self.folder.join(".git"),
            &self.git_dir,
            &self.common_dir,
            &self.common_dir.join("config"),
        ];
        let foreign = parts.into_iter().find(|path| path.symlink_metadata().is_ok() && !is_ours(path));
        let Some(foreign) = foreign else { return Ok(()) };
        let mut allowed = false;
        for entry in git.safe_directories()? {
            allowed = match entry.as_str() {
                "" => false,
                "*" => true,
                prefix if prefix.ends_with("/*") => {
                    allowed || self.folder.starts_with(&prefix[..prefix.len() - 2])
                }
                path => {
                    allowed
                        || [&self.folder, &self.git_dir]
                            .iter()
                            .any(|folder| Path::new(path) == folder.as_path())
                }
            };
        }
        if allowed {
            return Ok(());
        }
        let folder = self.folder.display();
        Err(GitError::new(
            GitErrorKind::Failed,
            format!("{} belongs to another user, so git does not work there", foreign.display()),
        )
        .hint(format!("if you trust it, run: git config --global --add safe.directory '{folder}'")))
    }

    /// Refuses links in the place of what git would write: they lead out of the repository.
    pub(crate) fn check_links(&self) -> Result<()> {
        const SHARED: &[&str] = &[
            "objects/info",
            "objects/pack",
            "refs/heads/tamis",
            "refs/tamis/undo",
            "reftable",
            "worktrees",
            "packed-refs",
        ];
        const OWN: &[&str] = &["index", "logs/HEAD", "refs", "reftable"];
        for path in SHARED {
            refuse_links(&self.common_dir, path)?;
        }
        for path in ["logs/refs/heads/tamis", "logs/refs/tamis/undo"] {
            refuse_links(&self.common_dir, path)?;
        }
        for path in OWN {
            refuse_links(&self.git_dir, path)?;
        }
        let objects = self.common_dir.join("objects");
        for entry in fs::read_dir(&objects).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                return Err(link(&entry.path()));
            }
        }
        Ok(())
    }
}

/// Refuses a path if it, or a folder on the way to it, is a link.
pub(crate) fn refuse_links(base: &Path, path: &str) -> Result<()> {
    let mut full = base.to_owned();
    for part in path.split('/') {
        full.push(part);
        match fs::symlink_metadata(&full) {
            Ok(about) if about.is_symlink() => return Err(link(&full)),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    Ok(())
}

fn link(path: &Path) -> GitError {
    GitError::new(
        GitErrorKind::Failed,
        format!("{} is a link, and git would write to where it leads", path.display()),
    )
    .hint("replace it by what it leads to")
}

fn is_git_dir(git_dir: &Path, common_dir: &Path) -> bool {
    git_dir.join("HEAD").symlink_metadata().is_ok()
        && common_dir.join("objects").is_dir()
        && common_dir.join("refs").is_dir()
}

/// The path that a file consists of, after these words.
fn read_pointer(file: &Path, words: &str) -> Option<PathBuf> {
    let text = read_bounded(file, LARGEST_POINTER).ok()?;
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))?;
    let path = text[..=end].strip_prefix(words.as_bytes())?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(path)))
}

/// The content of a regular file of the repository's, which may be anything.
pub(crate) fn read_bounded(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    // Opening a pipe would wait for its other end.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = fs::File::options().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    if !file.metadata()?.is_file() || file.take(largest + 1).read_to_end(&mut bytes)? as u64 > largest {
        return Err(io::Error::other("it is too large, or not a file"));
    }
    Ok(bytes)
}

fn odd(folder: &Path, why: &str) -> GitError {
    GitError::new(GitErrorKind::Failed, format!("cannot use the repository in {}: {why}", folder.display()))
}

pub(crate) fn canonical(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|error| GitError::file("find", path, &error))
}
