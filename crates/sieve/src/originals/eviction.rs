//! Eviction of originals: one pass over the folder that removes what has expired, exceeds the size limit or is purged.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use crate::ids::{PruneId, TextId};
use crate::originals::{GOAL, ORIGINAL, OriginalStore};
use crate::retention::{CleanUpReport, StorageReport};
use crate::shared_files::{FileVersion, Removal, TEMPORARY, changed, occupied, remove, set_time};

/// A temporary file of this age belongs to a process that was killed.
const STALE: Duration = Duration::from_secs(60 * 60);

/// Which originals are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eviction {
    /// Those that have expired, then those in the second half of their retention, the next to expire first, until the size
    /// limit is met. The others stay: a flood of new originals must not break earlier promises.
    Expired,
    /// Those that were last pruned longer ago than this.
    OlderThan(Duration),
    /// All, temporary files included. Files that stay are reported.
    All,
}

struct StoredFile {
    path: PathBuf,
    /// Its modification time is its expiry.
    version: FileVersion,
    /// When it was last written or refreshed.
    changed: Option<SystemTime>,
    bytes: u64,
}

/// The files of the folder by type. Other files are not ours and are ignored.
#[derive(Default)]
struct FolderListing {
    originals: Vec<(TextId, StoredFile)>,
    goals: HashMap<TextId, Vec<StoredFile>>,
    temporaries: Vec<StoredFile>,
    /// Messages about files that could not be read.
    problems: Vec<String>,
}

impl FolderListing {
    fn add(&mut self, path: PathBuf) -> io::Result<()> {
        let metadata = fs::symlink_metadata(&path)?;
        if !metadata.is_file() {
            return Ok(());
        }
        let found = StoredFile {
            version: FileVersion::of(&metadata)?,
            changed: changed(&metadata),
            bytes: occupied(&metadata),
            path,
        };
        let name = |part: Option<&std::ffi::OsStr>| part.and_then(|part| part.to_str()).map(str::to_owned);
        let stem = name(found.path.file_stem()).unwrap_or_default();
        match name(found.path.extension()).as_deref() {
            Some(ORIGINAL) => self.originals.extend(TextId::parse(&stem).map(|id| (id, found))),
            Some(GOAL) => {
                if let Some(id) = PruneId::from_stem(&stem) {
                    self.goals.entry(id.text).or_default().push(found);
                }
            }
            Some(TEMPORARY) => self.temporaries.push(found),
            _ => {}
        }
        Ok(())
    }
}

impl OriginalStore {
    fn listing(&self) -> io::Result<FolderListing> {
        let mut listing = FolderListing::default();
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listing),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = entry?.path();
            match listing.add(path.clone()) {
                // Another process removed it since the listing.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    listing.problems.push(format!("cannot inspect {}: {error}", path.display()));
                }
                _ => {}
            }
        }
        Ok(listing)
    }

    /// Removes originals. Safe while other processes write: a file that changed since it was listed stays.
    pub(crate) fn evict(
        &self,
        eviction: Eviction,
        max_bytes: u64,
        now: SystemTime,
        report: &mut CleanUpReport,
    ) -> io::Result<()> {
        let known = self.size.known()?;
        let FolderListing { mut originals, goals, temporaries, problems } = self.listing()?;
        report.problems.extend(problems);
        for found in temporaries {
            // A temporary file may have its expiry as modification time already.
            let touched =
                found.changed.map_or(found.version.modified, |time| time.min(found.version.modified));
            if eviction == Eviction::All || is_older(touched, STALE, now) {
                report.temporaries += u64::from(report.remove(&found, eviction) == Some(Removal::Removed));
            }
        }
        let size = |id: &TextId, found: &StoredFile| {
            found.bytes + goals.get(id).map_or(0, |goals| goals.iter().map(|goal| goal.bytes).sum())
        };
        let mut left: u64 = originals.iter().map(|(id, found)| size(id, found)).sum();
        // An expiry beyond our own does not make a file more valuable than others.
        originals.sort_by_key(|(_, found)| found.version.modified.min(self.expiry(now)));
        let mut kept = HashSet::new();
        for (id, found) in originals {
            let goes = match eviction {
                Eviction::Expired => {
                    let may_go = found.version.modified < now + self.ttl / 2;
                    found.version.modified < now || (left > max_bytes && may_go)
                }
                Eviction::OlderThan(age) => is_older(self.last_pruned(&found), age, now),
                Eviction::All => true,
            };
            match goes.then(|| report.remove(&found, eviction)).flatten() {
                Some(removal @ (Removal::Removed | Removal::Gone)) => {
                    report.originals += u64::from(removal == Removal::Removed);
                    left -= size(&id, &found);
                }
                _ => {
                    if eviction == Eviction::Expired && self.is_implausible(found.version.modified, now) {
                        let corrected = set_time(&found.path, &found.version, self.expiry(now));
                        report.note_failure("correct the time of", &found.path, corrected);
                    }
                    kept.insert(id);
                }
            }
        }
        for (id, goals) in goals {
            // Checked again: the original may have been written after the listing.
            if kept.contains(&id) || self.path(&id).exists() {
                continue;
            }
            for goal in goals {
                report.goals += u64::from(report.remove(&goal, eviction) == Some(Removal::Removed));
            }
        }
        // Where nothing was ever stored, nothing is created.
        if known.is_some() || left > 0 { self.size.set(left, known) } else { Ok(()) }
    }

    /// The disk space of all originals and goals.
    pub(crate) fn size(&self) -> io::Result<u64> {
        if let Some(size) = self.size.known()? {
            return Ok(size);
        }
        let listing = self.listing()?;
        let originals = listing.originals.iter().map(|(_, found)| found.bytes);
        let size = originals.chain(listing.goals.values().flatten().map(|goal| goal.bytes)).sum();
        if size > 0 {
            self.size.set(size, None)?;
        }
        Ok(size)
    }

    /// When the original was last pruned: the system's change time, otherwise derived from the expiry.
    fn last_pruned(&self, found: &StoredFile) -> SystemTime {
        found.changed.unwrap_or_else(|| found.version.modified - self.ttl)
    }

    pub(crate) fn report(&self, report: &mut StorageReport) -> io::Result<()> {
        let listing = self.listing()?;
        report.problems.extend(listing.problems);
        report.recovery_files = listing.originals.len() as u64;
        report.recovery_next_expiry = listing.originals.iter().map(|(_, found)| found.version.modified).min();
        let originals = listing.originals.iter().map(|(_, found)| found.bytes);
        let others = listing.goals.values().flatten().chain(&listing.temporaries).map(|found| found.bytes);
        report.recovery_bytes = originals.chain(others).sum();
        Ok(())
    }
}

impl CleanUpReport {
    /// Removes a file unless it changed. A file that cannot be removed is reported, and does not stop the eviction.
    fn remove(&mut self, found: &StoredFile, eviction: Eviction) -> Option<Removal> {
        let removal = self.note_failure("remove", &found.path, remove(&found.path, &found.version))?;
        match removal {
            Removal::Removed => self.bytes += found.bytes,
            Removal::InUse if eviction == Eviction::All => {
                self.problems.push(format!("{} is in use", found.path.display()));
            }
            _ => {}
        }
        Some(removal)
    }

    pub(crate) fn note_failure<T>(&mut self, what: &str, path: &Path, outcome: io::Result<T>) -> Option<T> {
        outcome.map_err(|error| self.problems.push(format!("cannot {what} {}: {error}", path.display()))).ok()
    }
}

/// Whether `time` is more than `age` before `now`. A time in the future is not.
pub(crate) fn is_older(time: SystemTime, age: Duration, now: SystemTime) -> bool {
    now.duration_since(time).is_ok_and(|found| found > age)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;
    use crate::ids::PruneId;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// The race that matters: clean-up finds a file expired while a prune of the same text relies on it.
    #[test]
    fn a_refreshed_original_is_never_removed_for_its_old_expiry() {
        let folder = tempfile::tempdir().unwrap();
        let recovery = OriginalStore::new(folder.path().join("recovery"), DAY, u64::MAX);
        let done = AtomicBool::new(false);
        let write = |writer: u8| {
            let text = format!("text {writer}");
            let id = PruneId::parse(&format!("prn_{}aaaaaa", TextId::of(text.as_bytes()).as_str())).unwrap();
            for round in 0..3000 {
                recovery.store(&id, &text, "why", false).unwrap();
                let read = recovery.read(&id.text, SystemTime::now());
                assert_eq!(read.unwrap_or_else(|error| panic!("round {round}: {error}")), text);
                assert_eq!(recovery.goal(&id, SystemTime::now()).as_deref(), Some("why"), "round {round}");
                if let Ok(file) = File::open(recovery.path(&id.text)) {
                    file.set_modified(SystemTime::now() - DAY).unwrap();
                }
            }
        };
        let clean = || {
            let mut report = CleanUpReport::default();
            while !done.load(Ordering::Relaxed) {
                recovery.evict(Eviction::Expired, u64::MAX, SystemTime::now(), &mut report).unwrap();
            }
            assert_eq!(report.problems, [""; 0]);
            report.originals
        };
        let removed = thread::scope(|scope| {
            let cleaners = [scope.spawn(clean), scope.spawn(clean)];
            let write = &write;
            let writers = [0, 1].map(|writer| scope.spawn(move || write(writer)));
            let outcomes = writers.map(|writer| writer.join());
            done.store(true, Ordering::Relaxed);
            let removed = cleaners.map(|cleaner| cleaner.join().unwrap()).iter().sum::<u64>();
            outcomes.into_iter().for_each(|outcome| outcome.unwrap());
            removed
        });
        assert!(removed > 0, "clean-up had something to do");
    }

    #[test]
    fn age_is_counted_from_the_last_prune_whatever_the_expiry() {
        let folder = tempfile::tempdir().unwrap();
        let [short, long] =
            [1, 30].map(|days| OriginalStore::new(folder.path().to_owned(), days * DAY, u64::MAX));
        let store = |recovery: &OriginalStore, text: &str| {
            let id = PruneId::parse(&format!("prn_{}aaaaaa", TextId::of(text.as_bytes()).as_str())).unwrap();
            recovery.store(&id, text, "", false).unwrap();
        };
        store(&short, "one day");
        store(&long, "thirty days");
        let removed = |recovery: &OriginalStore, later: Duration| {
            let mut report = CleanUpReport::default();
            let now = SystemTime::now() + later;
            recovery.evict(Eviction::OlderThan(2 * DAY), u64::MAX, now, &mut report).unwrap();
            (report.originals, report.problems)
        };
        assert_eq!(removed(&short, DAY), (0, vec![]));
        assert_eq!(removed(&long, DAY), (0, vec![]));
        assert_eq!(removed(&short, 3 * DAY), (2, vec![]));
    }
}
