//! Locks: ours, so that our own gits do not meet in one repository, and those that a killed git leaves behind.
//!
//! A lock file that was left behind is moved aside, never deleted, and only when it is proven that no process holds it: it is
//! of the time of our own interrupted operation, no process has it open, and no git works anywhere in the repository.
//! Where that cannot be proven, because the system does not show its processes, it stays.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;

use super::Repository;
use crate::error::{GitError, Result};
use crate::names::BranchName;

/// A lock younger than this may be of a program that closes the file before it moves it into place.
const SETTLED: Duration = Duration::from_secs(2);

/// The lock of the repository with this folder, for this process.
pub(super) fn exclusive(common_dir: &Path) -> Arc<Mutex<()>> {
    static LOCKS: LazyLock<Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>> = LazyLock::new(Mutex::default);
    Arc::clone(LOCKS.lock().entry(common_dir.to_owned()).or_default())
}

impl Repository {
    /// Moves aside the lock files that our own interrupted operation, begun at `since`, left for a worktree and its
    /// branch. Answers where they are now.
    pub fn clear_left_locks(
        &self,
        worktree: &Path,
        branch: &BranchName,
        since: SystemTime,
    ) -> Result<Vec<PathBuf>> {
        let turn = exclusive(self.common_dir());
        let _held = turn.lock();
        let mut folders = vec![self.common_dir().to_owned(), self.folder().to_owned()];
        folders.extend(self.worktrees()?.into_iter().map(|worktree| worktree.path));
        let mut candidates = vec![
            self.common_dir().join(format!("{}.lock", branch.reference())),
            self.common_dir().join("packed-refs.lock"),
        ];
        if let Some(worktree) = self.worktree_if_there(worktree)? {
            let entries = fs::read_dir(worktree.git_dir()).into_iter().flatten().flatten();
            candidates.extend(
                entries
                    .map(|entry| entry.path())
                    .filter(|path| path.extension().is_some_and(|e| e == "lock")),
            );
            folders.push(worktree.git_dir().to_owned());
        }
        let mut moved = Vec::new();
        for lock in candidates {
            if is_left(&lock, since) && is_unheld(&lock, &folders) {
                moved.push(move_aside(&lock, self.common_dir())?);
            }
        }
        Ok(moved)
    }
}

fn is_left(lock: &Path, since: SystemTime) -> bool {
    let Ok(made) = fs::symlink_metadata(lock).and_then(|about| about.modified()) else { return false };
    // Some file systems keep whole seconds only.
    made + Duration::from_secs(1) >= since && made.elapsed().is_ok_and(|age| age >= SETTLED)
}

/// Not beside it, where it could be taken for a branch.
fn move_aside(lock: &Path, common_dir: &Path) -> Result<PathBuf> {
    let stamp = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let name = lock.strip_prefix(common_dir).unwrap_or(lock).to_string_lossy().replace('/', "-");
    let aside = common_dir.join(format!("tamis-left-behind-{stamp}-{name}"));
    fs::rename(lock, &aside).map_err(|error| GitError::file("move aside", lock, &error))?;
    Ok(aside)
}

/// Whether it is proven that no process holds a lock.
fn is_unheld(lock: &Path, folders: &[PathBuf]) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    let mut seen = false;
    for process in processes.flatten() {
        if !process.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let process = process.path();
        seen |= process.file_name().is_some_and(|id| *id == *std::process::id().to_string());
        let opened = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        if opened.filter_map(|file| fs::read_link(file.path()).ok()).any(|file| file == lock) {
            return false;
        }
        let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
        if name.starts_with("git") {
            match fs::read_link(process.join("cwd")) {
                Ok(place) if !folders.iter().any(|folder| place.starts_with(folder)) => {}
                // Gone in the meantime, or a zombie.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                _ => return false,
            }
        }
    }
    seen
}
