//! Walking all files of the roots that are part of the codebase, on several threads.
//!
//! What `.gitignore` leaves out is left out, inside a git repository and elsewhere. Links are not followed. Hidden names are
//! skipped unless the policy knows them, and so are names that are not UTF-8, which no answer could contain. Results are
//! sorted, so that they do not depend on the threads.
//!
//! Folders are listed by descriptor. A walk by paths could be led outside by a process that replaces a folder by a link.

use std::sync::Arc;

use ignore::gitignore::Gitignore;
use parking_lot::Mutex;
use rustix::fs::{AtFlags, Dir, FileType};

use crate::ignore_rules::{RuleFiles, Rules, leaves_out, user_rules};
use crate::queue::Queue;
use crate::stamps::{Folder, Stamp};
use crate::threads::on_threads;
use crate::{RootedPath, Roots, StopSignal, Stopped, cores};

/// How much of a file is checked for a NUL byte.
pub(crate) const CHECKED_BYTES: usize = 8 << 10;

/// More threads would wait for the disk, or for each other.
const MAX_THREADS: usize = 12;

/// Files of one folder are queued in batches of this size, so that a large folder is shared between threads.
const BATCH: usize = 64;

/// Whether a file is binary: it has a NUL among its first bytes.
pub fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(CHECKED_BYTES)]).is_some()
}

/// All files, in the order of roots and paths.
pub fn files(roots: &Roots, stop: &StopSignal) -> Result<Vec<RootedPath>, Stopped> {
    let lists = walk(roots, stop, Vec::new, |list: &mut Vec<RootedPath>, place| list.push(place))?;
    let mut all: Vec<RootedPath> = lists.into_iter().flatten().collect();
    all.sort_unstable();
    Ok(all)
}

/// Calls `each` with the bytes of every text file up to the policy's size limit. Each thread has a state of its own; the
/// states are returned in no particular order.
pub fn scan<S: Send>(
    roots: &Roots,
    stop: &StopSignal,
    state: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, RootedPath, &[u8]) + Sync,
) -> Result<Vec<S>, Stopped> {
    let limit = roots.policy().largest_searched;
    let state = || (state(), Vec::new());
    let states = walk(roots, stop, state, |(state, bytes): &mut (S, Vec<u8>), place| {
        // Files that cannot be read are skipped, as by any search.
        if roots.read_found(&place, limit, bytes).is_ok() && !is_binary(bytes) {
            each(state, place, bytes);
        }
    })?;
    Ok(states.into_iter().map(|(state, _)| state).collect())
}

/// One piece of work for a thread.
enum Job {
    Folder { root: usize, path: String, rules: Option<Arc<Rules>> },
    Files { root: usize, paths: Vec<String> },
}

/// Calls `each` with every file, from several threads.
pub(crate) fn walk<S: Send>(
    roots: &Roots,
    stop: &StopSignal,
    state: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, RootedPath) + Sync,
) -> Result<Vec<S>, Stopped> {
    walk_with_folders(roots, stop, state, None::<fn(&mut S, Folder)>, each)
}

/// The same, and notes what it passes over, unless that is hidden: files and folders, the latter with a `/` at the end.
pub(crate) fn walk_noting_left_out<S: Default + Send>(
    roots: &Roots,
    stop: &StopSignal,
    denied: &Mutex<LeftOut>,
    each: impl Fn(&mut S, RootedPath) + Sync,
) -> Result<Vec<S>, Stopped> {
    walk_all(roots, stop, S::default, None::<fn(&mut S, Folder)>, Some(denied), each)
}

/// The same, and calls `folder` with every folder, if it is given.
pub(crate) fn walk_with_folders<S: Send>(
    roots: &Roots,
    stop: &StopSignal,
    state: impl Fn() -> S + Sync,
    folder: Option<impl Fn(&mut S, Folder) + Sync>,
    each: impl Fn(&mut S, RootedPath) + Sync,
) -> Result<Vec<S>, Stopped> {
    walk_all(roots, stop, state, folder, None, each)
}

fn walk_all<S: Send>(
    roots: &Roots,
    stop: &StopSignal,
    state: impl Fn() -> S + Sync,
    folder: Option<impl Fn(&mut S, Folder) + Sync>,
    denied: Option<&Mutex<LeftOut>>,
    each: impl Fn(&mut S, RootedPath) + Sync,
) -> Result<Vec<S>, Stopped> {
    stop.check()?;
    let queue = Queue::new();
    for (root, known) in roots.all().iter().enumerate() {
        queue.push(Job::Folder { root, path: String::new(), rules: Rules::above(known) });
    }
    let stamps = folder.is_some();
    let walker = Walker { roots, stop, queue: &queue, user_rules: user_rules(), stamps, denied };
    let work = || {
        let mut state = state();
        queue.work(|job| {
            let (root, paths) = match job {
                Job::Folder { root, path, rules } => {
                    let (files, listed) = walker.list(root, &path, rules.as_ref());
                    if let (Some(folder), Some(listed)) = (&folder, listed) {
                        folder(&mut state, listed);
                    }
                    (root, files)
                }
                Job::Files { root, paths } => (root, paths),
            };
            for path in paths {
                if stop.is_due() {
                    return false;
                }
                each(&mut state, RootedPath { root, path });
            }
            !stop.is_due()
        });
        state
    };
    let states = on_threads(cores().min(MAX_THREADS), work);
    stop.check()?;
    Ok(states)
}

/// What a walk passes over.
#[derive(Default)]
pub(crate) struct LeftOut {
    /// By the policy.
    pub(crate) denied: Vec<RootedPath>,
    /// Names that are not UTF-8, with what is not replaced.
    pub(crate) unnamed: Vec<RootedPath>,
}

struct Walker<'a> {
    roots: &'a Roots,
    stop: &'a StopSignal,
    queue: &'a Queue<Job>,
    user_rules: Gitignore,
    /// Whether folders are returned with their stamps.
    stamps: bool,
    /// Where to note what the policy denies.
    denied: Option<&'a Mutex<LeftOut>>,
}

impl Walker<'_> {
    /// Queues the folders of a folder, and all but the last batch of its files, which is returned.
    fn list(&self, root: usize, path: &str, above: Option<&Arc<Rules>>) -> (Vec<String>, Option<Folder>) {
        let mut files = Vec::new();
        // A folder that cannot be read, was removed, or has become a link, has no files.
        let closed = || self.stamps.then(|| Folder::closed(self.roots, root, path));
        let Ok(folder) = self.roots.open_folder(root, path) else { return (files, closed()) };
        // The stamp before the names: a change in between is noticed the next time.
        let stamp = self.stamps.then(|| Stamp::of_folder(&folder)).flatten();
        let Ok(mut folder) = Dir::new(folder) else { return (files, closed()) };
        let mut listed = stamp.map(|stamp| Folder::new(root, path, stamp));
        let mut found = RuleFiles::default();
        let mut entries: Vec<(String, bool, bool)> = Vec::new();
        let mut denied: Vec<(String, bool)> = Vec::new();
        let mut unnamed: Vec<String> = Vec::new();
        while let Some(entry) = folder.read() {
            let Ok(entry) = entry else {
                // There may be more names.
                if let Some(listed) = &mut listed {
                    listed.stamp = Stamp::UNSURE;
                }
                break;
            };
            // A folder with a million names takes long.
            if entries.len() % 4096 == 4095 && self.stop.is_due() {
                return (files, None);
            }
            let Ok(name) = entry.file_name().to_str() else {
                let name = entry.file_name().to_string_lossy();
                if self.denied.is_some() && !name.starts_with('.') {
                    let slash = if entry.file_type() == FileType::Directory { "/" } else { "" };
                    unnamed.push(if path.is_empty() {
                        format!("{name}{slash}")
                    } else {
                        format!("{path}/{name}{slash}")
                    });
                }
                continue;
            };
            if name == "." || name == ".." {
                continue;
            }
            let is_hidden = name.starts_with('.') && self.roots.policy().hides(name);
            found.note(name);
            let is_folder = match entry.file_type() {
                FileType::RegularFile => false,
                FileType::Directory => true,
                FileType::Unknown => match is_folder(&folder, name) {
                    Some(is_folder) => is_folder,
                    None => continue,
                },
                _ => continue,
            };
            let full = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            if !self.roots.denies_entry(root, &full) {
                entries.push((full, is_folder, is_hidden));
            } else if self.denied.is_some() && !is_hidden {
                denied.push((full, is_folder));
            }
        }
        let rules = match folder.fd() {
            Ok(folder) => Rules::of(folder, path, found, above),
            Err(_) => above.cloned(),
        };
        if let Some(noted) = self.denied {
            let ignored =
                |full: &str, is_folder| leaves_out(rules.as_deref(), &self.user_rules, full, is_folder);
            denied.retain(|(full, is_folder)| ignored(full, *is_folder) != Some(true));
            let slash = |is_folder| if is_folder { "/" } else { "" };
            let place = |(full, is_folder)| RootedPath { root, path: format!("{full}{}", slash(is_folder)) };
            let mut noted = noted.lock();
            noted.denied.extend(denied.into_iter().map(place));
            noted.unnamed.extend(unnamed.into_iter().map(|path| RootedPath { root, path }));
        }
        for (number, (full, is_folder, is_hidden)) in entries.into_iter().enumerate() {
            if number % 1024 == 1023 && self.stop.is_due() {
                return (Vec::new(), None);
            }
            // A hidden name that a rule includes is part of the codebase.
            if leaves_out(rules.as_deref(), &self.user_rules, &full, is_folder).unwrap_or(is_hidden) {
                continue;
            }
            if !is_folder {
                if let (Some(listed), Ok(folder)) = (&mut listed, folder.fd()) {
                    listed.add_file(folder, &full);
                }
                files.push(full);
                if files.len() == BATCH {
                    self.queue.push(Job::Files { root, paths: std::mem::take(&mut files) });
                }
            } else if !self.is_root(root, &full) {
                self.queue.push(Job::Folder { root, path: full, rules: rules.clone() });
            }
        }
        if let (Some(listed), Ok(folder)) = (&mut listed, folder.fd()) {
            listed.add_rules(folder, found);
        }
        (files, listed)
    }

    /// Whether a folder is itself a root: its files are walked there, and not twice.
    fn is_root(&self, root: usize, path: &str) -> bool {
        let all = self.roots.all();
        all.len() > 1
            && all.iter().any(|other| other.path.strip_prefix(&all[root].path).is_ok_and(|rest| rest == path))
    }
}

/// Whether a name is a folder; none when it is neither folder nor file. For file systems that do not report it in listings.
fn is_folder(folder: &Dir, name: &str) -> Option<bool> {
    let stat = rustix::fs::statat(folder.fd().ok()?, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Some(false),
        FileType::Directory => Some(true),
        _ => None,
    }
}
