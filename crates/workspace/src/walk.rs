//! Every file of the roots that a person would look at, by as many threads as there are cores.
//!
//! What `.gitignore` leaves out is left out, inside of a git repository and elsewhere; links are not followed; names with a
//! dot are passed by unless they tell something. What comes of it is put in order, so that it does not depend on threads.

use std::path::Path;
use std::sync::Mutex;

use ignore::{WalkBuilder, WalkState};

use crate::{Halt, Halted, Place, Roots};

/// As much of a file as it takes to tell that it is not text.
const TELLING_BYTES: usize = 8 << 10;

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
        if roots.read_into(&place, limit, bytes).is_ok() && !is_binary(bytes) {
            each(state, place, bytes);
        }
    })?;
    Ok(states.into_iter().map(|(state, _)| state).collect())
}

/// Calls `each` with every file, from several threads.
pub(crate) fn walk<S: Send>(
    roots: &Roots,
    halt: &Halt,
    state: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, Place) + Sync,
) -> Result<Vec<S>, Halted> {
    /// Gives its state back when its thread is done.
    struct Worker<'a, S> {
        state: Option<S>,
        done: &'a Mutex<Vec<S>>,
    }
    impl<S> Drop for Worker<'_, S> {
        fn drop(&mut self) {
            let mut done = self.done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            done.extend(self.state.take());
        }
    }

    let done = Mutex::new(Vec::new());
    for root in 0..roots.len() {
        halt.check()?;
        let folder = roots.folder(root);
        builder(roots, folder).build_parallel().run(|| {
            let mut worker = Worker { state: Some(state()), done: &done };
            let (each, halt) = (&each, &halt);
            Box::new(move |entry| {
                if halt.is_due() {
                    return WalkState::Quit;
                }
                let Ok(entry) = entry else { return WalkState::Continue };
                if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                    return WalkState::Continue;
                }
                let relative = entry.path().strip_prefix(folder).ok().and_then(Path::to_str);
                if let (Some(path), Some(state)) = (relative, worker.state.as_mut()) {
                    each(state, Place { root, path: path.to_owned() });
                }
                WalkState::Continue
            })
        });
    }
    halt.check()?;
    Ok(done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

fn builder(roots: &Roots, folder: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(folder);
    let (roots, root) = (roots.clone(), folder.to_owned());
    builder
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .threads(std::thread::available_parallelism().map_or(1, |cores| cores.get()))
        .filter_entry(move |entry| {
            let policy = roots.policy();
            let Ok(relative) = entry.path().strip_prefix(&root) else { return false };
            if relative.as_os_str().is_empty() {
                return true;
            }
            !entry.file_name().to_str().is_some_and(|name| policy.hides(name)) && !policy.denies(relative)
        });
    builder
}
