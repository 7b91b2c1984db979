//! Writes segments: reads files, counts their words and stores the counts.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tamis_codebase::{AccessError, RootedPath, Roots, StopSignal, cores, in_parallel, is_binary};
use tamis_store::Database;

use super::segment::SegmentBuilder;
use super::tree::{Entry, Tree};
use super::{IndexError, db};

/// Each thread holds an unfinished segment, and questions are answered meanwhile.
const MAX_THREADS: usize = 4;

/// Where a file's counts are, by its place in the tree.
pub(super) type Placed = ((usize, usize), Entry);

/// Reads the files without an entry, and writes a segment whenever it is full. Files that cannot be judged now get no entry.
pub(super) fn write_segments(
    database: &Database,
    roots: &Roots,
    known: &Tree,
    added: bool,
    stop: &StopSignal,
) -> Result<Vec<Placed>, IndexError> {
    let missing = known.without_entry();
    let (failed, problem) = (AtomicBool::new(false), Mutex::new(None));
    let work = |missing: &mut dyn Iterator<Item = (usize, &(usize, usize))>| {
        let mut placed: Vec<Placed> = Vec::new();
        let mut builder = SegmentBuilder::default();
        let mut pending: Vec<(usize, usize)> = Vec::new();
        let mut bytes = Vec::new();
        let mut flush = |builder: &mut SegmentBuilder, pending: &mut Vec<(usize, usize)>| {
            let made = std::mem::take(builder).finish();
            match database.write(|transaction| db::put_segment(transaction, &made, added)) {
                Ok(segment) => {
                    let numbered = pending.drain(..).enumerate();
                    placed
                        .extend(numbered.map(|(number, at)| (at, Entry { segment, number: number as u32 })));
                }
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    problem.lock().get_or_insert(error);
                }
            }
        };
        for (_, &(folder, file)) in missing {
            if stop.is_due() || failed.load(Ordering::Relaxed) {
                break;
            }
            let place = known.folders[folder].place(file);
            let Some(is_text) = read(roots, &place, &mut bytes) else { continue };
            builder.add(&place.path, is_text.then_some(bytes.as_slice()));
            pending.push((folder, file));
            if builder.is_full() {
                flush(&mut builder, &mut pending);
            }
        }
        if !pending.is_empty() {
            flush(&mut builder, &mut pending);
        }
        placed
    };
    // Half of the cores, so that the next question does not wait for this.
    let placed = in_parallel(&missing, (cores() / 2).min(MAX_THREADS), work).concat();
    stop.check()?;
    match problem.into_inner() {
        Some(error) => Err(error.into()),
        None => Ok(placed),
    }
}

/// Whether a file is text, which is then in the buffer. None for temporary failures such as too many open files, which would
/// otherwise exclude the file until it changes.
fn read(roots: &Roots, place: &RootedPath, bytes: &mut Vec<u8>) -> Option<bool> {
    match roots.read_into(place, roots.policy().largest_searched, bytes) {
        Ok(()) => Some(!is_binary(bytes)),
        Err(AccessError::TooLarge { .. } | AccessError::Denied { .. }) => Some(false),
        // Permissions have times as contents do.
        Err(AccessError::System { cause, .. }) if cause.kind() == io::ErrorKind::PermissionDenied => {
            Some(false)
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tamis_codebase::Policy;

    use super::*;

    #[test]
    fn only_what_is_certain_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("text"), "text").unwrap();
        fs::write(folder.path().join("binary"), "\0").unwrap();
        fs::File::create(folder.path().join("large")).unwrap().set_len(1 << 30).unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        let roots = Roots::open(&[folder.path().to_owned()], Policy::standard()).unwrap();
        for (name, expected) in [
            ("text", Some(true)),
            ("binary", Some(false)),
            ("large", Some(false)),
            // They were files when they were listed, and may be again.
            ("folder", None),
            ("gone", None),
        ] {
            let place = RootedPath { root: 0, path: name.to_owned() };
            assert_eq!(read(&roots, &place, &mut Vec::new()), expected, "{name}");
        }
    }
}
