//! Retention: what is stored, and how it is removed by age, by size or on request.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use serde::Serialize;
use tamis_store::Lock;

use crate::originals::eviction::{Eviction, is_older};
use crate::{Sieve, Store};

/// How often clean-up is due.
const CLEAN_UP_EVERY: Duration = Duration::from_secs(60 * 60);
/// How often a full store is searched for what can be removed.
const MAKE_ROOM_EVERY: Duration = Duration::from_secs(60);
/// How long a purge waits for queued rows.
const FLUSH_PATIENCE: Duration = Duration::from_secs(5);

/// What a clean-up or a purge removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CleanUpReport {
    /// Another process is cleaning up; nothing was done.
    pub skipped: bool,
    pub originals: u64,
    pub goals: u64,
    /// Temporary files of killed processes.
    pub temporaries: u64,
    /// The disk space of the removed files.
    pub bytes: u64,
    pub ledger_rows: u64,
    /// Copies of the database made before migrations.
    pub backups: u64,
    /// Messages about what could not be removed.
    pub problems: Vec<String>,
}

/// What is stored in the data folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageReport {
    pub recovery_files: u64,
    /// The disk space of originals and goals.
    pub recovery_bytes: u64,
    /// When the next original expires. If that time has passed, the next clean-up removes it.
    pub recovery_next_expiry: Option<SystemTime>,
    pub ledger_rows: u64,
    /// The database with its journal, and the copies made before migrations.
    pub database_bytes: u64,
    /// Messages about what could not be read.
    pub problems: Vec<String>,
}

/// What a purge removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgeRequest {
    pub recovery: bool,
    pub ledger: bool,
    /// Only originals last pruned, and calls made, longer ago than this. `None`: everything.
    pub older_than: Option<Duration>,
}

impl Sieve {
    /// Runs [`Sieve::clean_up`] if no process did so for an hour. Otherwise it only checks the time of one file, so it may be
    /// called often.
    pub fn clean_up_if_due(&self) -> Option<CleanUpReport> {
        self.is_clean_up_due().then(|| self.clean_up())
    }

    /// Whether [`Sieve::clean_up_if_due`] would clean up.
    pub fn is_clean_up_due(&self) -> bool {
        self.store.as_ref().is_some_and(|store| store.was_not_cleaned_for(CLEAN_UP_EVERY))
    }

    /// Removes what has expired or exceeds the size limit, unless another process is doing so.
    pub fn clean_up(&self) -> CleanUpReport {
        self.clean_up_to(|max_bytes| max_bytes)
    }

    /// The same for a full store, of which an eighth is to be free. Returns whether anything was removed; at most once in a
    /// while, because it takes longer than a prune.
    pub(crate) fn make_room(&self) -> bool {
        let is_due = self.store.as_ref().is_some_and(|store| store.was_not_cleaned_for(MAKE_ROOM_EVERY));
        is_due && self.clean_up_to(|max_bytes| max_bytes - max_bytes / 8).originals > 0
    }

    fn clean_up_to(&self, size: impl Fn(u64) -> u64) -> CleanUpReport {
        let mut report = CleanUpReport::default();
        let Some(store) = &self.store else { return report };
        // Nothing was ever written: do not create the folder for the sake of a lock.
        if !store.data_dir.root().exists() {
            return report;
        }
        let path = store.data_dir.clean_up_lock();
        let lock = match Lock::try_acquire(&path) {
            Ok(Some(lock)) => lock,
            Ok(None) => return CleanUpReport { skipped: true, ..report },
            Err(error) => {
                return CleanUpReport {
                    problems: vec![format!("cannot lock {}: {error}", path.display())],
                    ..report
                };
            }
        };
        let now = SystemTime::now();
        store.evict(Eviction::Expired, size(store.recovery.max_bytes), now, &mut report);
        store.delete_older(self.ledger_keep, now, &mut report);
        report.note_failure("mark", &path, lock.mark_done());
        report
    }

    /// Removes what is requested, even while another process cleans up. What could not be removed is among the problems.
    pub fn purge(&self, what: PurgeRequest) -> CleanUpReport {
        let mut report = CleanUpReport::default();
        let Some(store) = &self.store else { return report };
        let now = SystemTime::now();
        if what.recovery {
            let eviction = what.older_than.map_or(Eviction::All, Eviction::OlderThan);
            store.evict(eviction, u64::MAX, now, &mut report);
        }
        if what.ledger {
            // Queued rows would otherwise be written after the purge.
            store.ledger.flush(FLUSH_PATIENCE);
            match what.older_than {
                Some(age) => store.delete_older(age, now, &mut report),
                None => store.erase(&mut report),
            }
        }
        report
    }

    /// What is stored in the data folder. Read-only.
    pub fn storage_report(&self) -> StorageReport {
        let mut report = StorageReport::default();
        let Some(store) = &self.store else { return report };
        if let Err(error) = store.recovery.report(&mut report) {
            report.problems.push(format!("cannot read {}: {error}", store.recovery.folder.display()));
        }
        match store.ledger.count() {
            Ok(rows) => report.ledger_rows = rows,
            Err(error) => report.problems.push(error.describe()),
        }
        if let Some(problem) = store.ledger.problem().filter(|problem| !report.problems.contains(problem)) {
            report.problems.push(problem);
        }
        let files = ["", "-wal"].map(|suffix| store.beside_database(suffix));
        let sizes = files.into_iter().chain(store.backups()).filter_map(|path| fs::metadata(path).ok());
        report.database_bytes = sizes.map(|metadata| metadata.len()).sum();
        report
    }
}

impl Store {
    fn was_not_cleaned_for(&self, time: Duration) -> bool {
        let last = Lock::last_done(&self.data_dir.clean_up_lock());
        // A time in the future comes from a wrong clock.
        !last.is_some_and(|last| last.elapsed().is_ok_and(|age| age < time))
    }

    fn evict(&self, eviction: Eviction, max_bytes: u64, now: SystemTime, report: &mut CleanUpReport) {
        let evicted = self.recovery.evict(eviction, max_bytes, now, report);
        report.note_failure("clean", &self.recovery.folder, evicted);
    }

    /// Deletes older rows of the ledger, and older backups.
    fn delete_older(&self, age: Duration, now: SystemTime, report: &mut CleanUpReport) {
        match self.ledger.delete_older(age, now) {
            Ok(rows) => report.ledger_rows = rows,
            Err(error) => report.problems.push(error.describe()),
        }
        let old = |path: &PathBuf| {
            let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
            modified.is_ok_and(|time| is_older(time, age, now))
        };
        self.backups().into_iter().filter(old).for_each(|path| report.remove_backup(&path));
    }

    /// Deletes all rows of the ledger, compacts its file, and deletes all backups.
    fn erase(&self, report: &mut CleanUpReport) {
        match self.ledger.erase() {
            Ok((rows, left)) => {
                report.ledger_rows = rows;
                let describe = |error: tamis_store::StoreError| {
                    format!("erased rows may still be in the file: {}", error.describe())
                };
                report.problems.extend(left.map(describe));
            }
            Err(error) => report.problems.push(error.describe()),
        }
        self.backups().iter().for_each(|path| report.remove_backup(path));
    }

    fn beside_database(&self, suffix: &str) -> PathBuf {
        let mut path = self.ledger.path().as_os_str().to_owned();
        path.push(suffix);
        PathBuf::from(path)
    }

    /// The backups made before migrations, which hold the ledger of that time.
    fn backups(&self) -> Vec<PathBuf> {
        let is_backup = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("state.db.before-"))
        };
        let Ok(entries) = fs::read_dir(self.data_dir.root()) else { return Vec::new() };
        entries.flatten().map(|entry| entry.path()).filter(is_backup).collect()
    }
}

impl CleanUpReport {
    fn remove_backup(&mut self, path: &std::path::Path) {
        let removed = match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            removed => removed.map(|()| 1),
        };
        self.backups += self.note_failure("remove", path, removed).unwrap_or(0);
    }
}
