//! What is held, and how it goes again: by age, by size, or because someone asks.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use serde::Serialize;
use tamis_store::Lock;

use crate::originals::eviction::{Which, is_older};
use crate::{Sieve, Store};

/// How often what is past its time is looked for.
const CLEAN_UP_EVERY: Duration = Duration::from_secs(60 * 60);
/// How long erasing waits for rows that are on their way.
const FLUSH_PATIENCE: Duration = Duration::from_secs(5);

/// What went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CleanUp {
    /// Another process is at it; nothing was done here.
    pub skipped: bool,
    pub originals: u64,
    pub goals: u64,
    /// What killed processes left half-written.
    pub temporaries: u64,
    /// What all those files took of the disk.
    pub bytes: u64,
    pub ledger_rows: u64,
    /// Copies of the database made before migrations.
    pub backups: u64,
    /// What should have gone and did not, in words.
    pub problems: Vec<String>,
}

/// What is held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    pub recovery_files: u64,
    /// What originals and goals take of the disk.
    pub recovery_bytes: u64,
    /// When the next original can no longer be recovered; a time that has passed awaits the next clean-up.
    pub recovery_next_expiry: Option<SystemTime>,
    pub ledger_rows: u64,
    /// The database with its journal, and the copies made before migrations.
    pub database_bytes: u64,
    /// What could not be looked at, in words.
    pub problems: Vec<String>,
}

/// What to erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purge {
    pub recovery: bool,
    pub ledger: bool,
    /// Only what is older: originals last pruned, and calls made, longer ago. `None`: all of it.
    pub older_than: Option<Duration>,
}

impl Sieve {
    /// [`Sieve::clean_up`], when nobody did so for an hour. Otherwise one look at one file, so it may be asked often.
    pub fn clean_up_if_due(&self) -> Option<CleanUp> {
        let store = self.store.as_ref()?;
        let last = Lock::last_done(&store.data_dir.clean_up_lock());
        // A time to come is that of a wrong clock.
        let fresh = |last: SystemTime| last.elapsed().is_ok_and(|age| age < CLEAN_UP_EVERY);
        (!last.is_some_and(fresh)).then(|| self.clean_up())
    }

    /// Removes what is past its time or beyond the size allowed, unless another process is doing so.
    pub fn clean_up(&self) -> CleanUp {
        let mut report = CleanUp::default();
        let Some(store) = &self.store else { return report };
        // Nothing was ever written: nothing to clean, and no folder to make for a lock.
        if !store.data_dir.root().exists() {
            return report;
        }
        let path = store.data_dir.clean_up_lock();
        let lock = match Lock::try_acquire(&path) {
            Ok(Some(lock)) => lock,
            Ok(None) => return CleanUp { skipped: true, ..report },
            Err(error) => {
                return CleanUp {
                    problems: vec![format!("cannot lock {}: {error}", path.display())],
                    ..report
                };
            }
        };
        let now = SystemTime::now();
        store.sweep(Which::Expired, store.recovery.max_bytes, now, &mut report);
        store.forget(self.ledger_keep, now, &mut report);
        report.tell("mark", &path, lock.mark_done());
        report
    }

    /// Erases what is asked, whoever else is cleaning. What could not be erased is among the problems.
    pub fn purge(&self, what: Purge) -> CleanUp {
        let mut report = CleanUp::default();
        let Some(store) = &self.store else { return report };
        let now = SystemTime::now();
        if what.recovery {
            let which = what.older_than.map_or(Which::All, Which::OlderThan);
            store.sweep(which, u64::MAX, now, &mut report);
        }
        if what.ledger {
            // Rows on their way would otherwise arrive after the erasing.
            store.ledger.flush(FLUSH_PATIENCE);
            match what.older_than {
                Some(age) => store.forget(age, now, &mut report),
                None => store.erase(&mut report),
            }
        }
        report
    }

    /// What is held in the data folder. Changes nothing.
    pub fn holdings(&self) -> Holdings {
        let mut holdings = Holdings::default();
        let Some(store) = &self.store else { return holdings };
        if let Err(error) = store.recovery.holdings(&mut holdings) {
            holdings.problems.push(format!("cannot look into {}: {error}", store.recovery.folder.display()));
        }
        match store.ledger.count() {
            Ok(rows) => holdings.ledger_rows = rows,
            Err(error) => holdings.problems.push(error.describe()),
        }
        if let Some(problem) = store.ledger.problem().filter(|problem| !holdings.problems.contains(problem)) {
            holdings.problems.push(problem);
        }
        let files = ["", "-wal"].map(|suffix| store.beside_database(suffix));
        let sizes = files.into_iter().chain(store.backups()).filter_map(|path| fs::metadata(path).ok());
        holdings.database_bytes = sizes.map(|metadata| metadata.len()).sum();
        holdings
    }
}

impl Store {
    fn sweep(&self, which: Which, max_bytes: u64, now: SystemTime, report: &mut CleanUp) {
        let swept = self.recovery.sweep(which, max_bytes, now, report);
        report.tell("clean", &self.recovery.folder, swept);
    }

    /// Deletes what the ledger, and its copies, hold of older calls.
    fn forget(&self, age: Duration, now: SystemTime, report: &mut CleanUp) {
        match self.ledger.forget(age, now) {
            Ok(rows) => report.ledger_rows = rows,
            Err(error) => report.problems.push(error.describe()),
        }
        let old = |path: &PathBuf| {
            let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
            modified.is_ok_and(|time| is_older(time, age, now))
        };
        self.backups().into_iter().filter(old).for_each(|path| report.remove_backup(&path));
    }

    /// Deletes the ledger's rows, from its file too, and its copies.
    fn erase(&self, report: &mut CleanUp) {
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

    /// The copies made before migrations. They hold the ledger as it was then.
    fn backups(&self) -> Vec<PathBuf> {
        let is_backup = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("state.db.before-"))
        };
        let Ok(entries) = fs::read_dir(self.data_dir.root()) else { return Vec::new() };
        entries.flatten().map(|entry| entry.path()).filter(is_backup).collect()
    }
}

impl CleanUp {
    fn remove_backup(&mut self, path: &std::path::Path) {
        let removed = match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            removed => removed.map(|()| 1),
        };
        self.backups += self.tell("remove", path, removed).unwrap_or(0);
    }
}
