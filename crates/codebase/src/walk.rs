//! Every file of the roots that a person would look at, by as many threads as there are cores.
//!
//! What `.gitignore` leaves out is left out, inside of a git repository and elsewhere; links are not followed; names with a
//! dot are passed by unless they tell something, and names that are not UTF-8 since no answer could tell them. What comes of
//! it is put in order, so that it does not depend on threads.
//!
//! Folders are listed by their descriptors. A walk by paths would list whatever stands there when it comes by, and be led
//! outside by whoever puts a link in a folder's place in time.

use std::sync::Arc;

use ignore::gitignore::Gitignore;
use rustix::fs::{AtFlags, Dir, FileType};

use crate::queue::Queue;
use crate::rules::{Found, Rules, leaves_out, personal};
use crate::tree::{Folder, Stamp};
use crate::{Halt, Halted, Place, Roots, cores, on_threads};

/// As much of a file as it takes to tell that it is not text.
const TELLING_BYTES: usize = 8 << 10;

/// More threads than that wait for the disk, or for each other.
const MOST_THREADS: usize = 12;

/// Files of one folder are handed on in lots of that many, so that a large folder is not one thread's alone.
const LOT: usize = 64;

/// Whether bytes are no text: they have a NUL among the first.
pub fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(TELLING_BYTES)]).is_some()
}

/// All files, in the order of roots and paths.
pub fn files(roots: &Roots, halt: &Halt) -> Result<Vec<Place>, Halted> {
    let lists = walk(roots, halt, Vec::new, |list: &mut Vec<Place>, place| list.push(place))?;
    let mut all: Vec<Place> = lists.into_iter().flatten().collect();
    all.sort_unstable();
    Ok(all)
}

/// Calls `each` with the bytes of every text file of bearable size. Each thread has a state of its own, and all of them
/// come back in no order.
pub fn scan<S: Send>(
    roots: &Roots,
    halt: &Halt,
    state: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, Place, &[u8]) + Sync,
) -> Result<Vec<S>, Halted> {
    let limit = roots.policy().largest_searched;
    let state = || (state(), Vec::new());
    let states = walk(roots, halt, state, |(state, bytes): &mut (S, Vec<u8>), place| {
        // What cannot be read is passed by, as any search does; what is asked for by name is told of elsewhere.
        if roots.read_found(&place, limit, bytes).is_ok() && !is_binary(bytes) {
            each(state, place, bytes);
        }
    })?;
    Ok(states.into_iter().map(|(state, _)| state).collect())
}

/// What a thread takes on at a time.
enum Job {
    Folder { root: usize, path: String, rules: Option<Arc<Rules>> },
    Files { root: usize, paths: Vec<String> },
}

/// Calls `each` with every file, from several threads.
pub(crate) fn walk<S: Send>(
    roots: &Roots,
    halt: &Halt,
    state: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, Place) + Sync,
) -> Result<Vec<S>, Halted> {
    walk_with_folders(roots, halt, state, None::<fn(&mut S, Folder)>, each)
}

/// The same, and `folder` with every folder, if it is there.
pub(crate) fn walk_with_folders<S: Send>(
    roots: &Roots,
    halt: &Halt,
    state: impl Fn() -> S + Sync,
    folder: Option<impl Fn(&mut S, Folder) + Sync>,
    each: impl Fn(&mut S, Place) + Sync,
) -> Result<Vec<S>, Halted> {
    halt.check()?;
    let queue = Queue::new();
    for (root, known) in roots.all().iter().enumerate() {
        queue.push(Job::Folder { root, path: String::new(), rules: Rules::above(known) });
    }
    let walker = Walker { roots, halt, queue: &queue, personal: personal(), stamps: folder.is_some() };
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
                if halt.is_due() {
                    return false;
                }
                each(&mut state, Place { root, path });
            }
            !halt.is_due()
        });
        state
    };
    let states = on_threads(cores().min(MOST_THREADS), work);
    halt.check()?;
    Ok(states)
}

struct Walker<'a> {
    roots: &'a Roots,
    halt: &'a Halt,
    queue: &'a Queue<Job>,
    personal: Gitignore,
    /// Whether somebody wants to know the folders with what tells whether they have changed.
    stamps: bool,
}

impl Walker<'_> {
    /// Hands on the folders of a folder, and all but the last lot of its files, which come back.
    fn list(&self, root: usize, path: &str, above: Option<&Arc<Rules>>) -> (Vec<String>, Option<Folder>) {
        let mut files = Vec::new();
        // A folder that cannot be read, or is gone, or has become a link, has no files.
        let closed = || self.stamps.then(|| Folder::closed(self.roots, root, path));
        let Ok(folder) = self.roots.open_folder(root, path) else { return (files, closed()) };
        // First the stamp, then the names: what changes between is noticed the next time.
        let stamp = self.stamps.then(|| Stamp::of_folder(&folder)).flatten();
        let Ok(mut folder) = Dir::new(folder) else { return (files, closed()) };
        let mut listed = stamp.map(|stamp| Folder::new(root, path, stamp));
        let mut found = Found::default();
        let mut entries: Vec<(String, bool, bool)> = Vec::new();
        while let Some(entry) = folder.read() {
            let Ok(entry) = entry else {
                // There may be more: what is known of it is not all.
                if let Some(listed) = &mut listed {
                    listed.stamp = Stamp::UNSURE;
                }
                break;
            };
            // A folder of a million names takes long by itself.
            if entries.len() % 4096 == 4095 && self.halt.is_due() {
                return (files, None);
            }
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            let is_hidden = name.starts_with('.') && self.roots.policy().hides(name);
            found.note(name);
            let is_folder = match entry.file_type() {
                FileType::RegularFile => false,
                FileType::Directory => true,
                FileType::Unknown => match kind_of(&folder, name) {
                    Some(is_folder) => is_folder,
                    None => continue,
                },
                _ => continue,
            };
            let full = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            if !self.roots.policy().denies_last(&full) {
                entries.push((full, is_folder, is_hidden));
            }
        }
        let rules = match folder.fd() {
            Ok(folder) => Rules::of(folder, path, found, above),
            Err(_) => above.cloned(),
        };
        for (number, (full, is_folder, is_hidden)) in entries.into_iter().enumerate() {
            if number % 1024 == 1023 && self.halt.is_due() {
                return (Vec::new(), None);
            }
            // A name with a dot that rules let in on purpose is part of the codebase.
            if leaves_out(rules.as_deref(), &self.personal, &full, is_folder).unwrap_or(is_hidden) {
                continue;
            }
            if !is_folder {
                if let (Some(listed), Ok(folder)) = (&mut listed, folder.fd()) {
                    listed.add_file(folder, &full);
                }
                files.push(full);
                if files.len() == LOT {
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

    /// Whether a folder is a root of its own right: its files are found there, and nowhere twice.
    fn is_root(&self, root: usize, path: &str) -> bool {
        let all = self.roots.all();
        all.len() > 1
            && all.iter().any(|other| other.path.strip_prefix(&all[root].path).is_ok_and(|rest| rest == path))
    }
}

/// Whether it is a folder; none when it is neither folder nor file. For filesystems whose lists do not tell.
fn kind_of(folder: &Dir, name: &str) -> Option<bool> {
    let stat = rustix::fs::statat(folder.fd().ok()?, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Some(false),
        FileType::Directory => Some(true),
        _ => None,
    }
}
