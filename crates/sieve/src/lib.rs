//! One way through for every text that may be cut: the engine decides, the original is kept, the cuts are marked,
//! the call is counted.
//!
//! It fails open. Whatever goes wrong, the text comes back whole with a warning; and nothing is cut whose original
//! could not be stored before.

mod db;
mod ids;
mod ledger;
mod marker;
mod passage;
mod recover;
mod recovery;
mod render;
mod request;
mod retention;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use tamis_store::{DataDir, Lock};

use ids::PruneId;
use ledger::{Ledger, RecoveryRow, milliseconds};
use recovery::{Recovery, RecoveryError};
use retention::Sweep;

pub use ledger::Savings;
#[doc(hidden)]
pub use passage::Engine;
pub use recover::{LineRange, RecoverError, Recovered};
pub use render::Annotation;
pub use request::{Caller, PruneRequest, Pruned, Settings, Stats, Warning};
pub use retention::{CleanUp, DataError, Holdings, Purge};

/// Engine, recovery and ledger together. Shared by reference among threads; several processes may use one folder.
pub struct Sieve {
    max_input_chars: usize,
    ledger_keep: Duration,
    store: Option<Store>,
    engine: Engine,
}

struct Store {
    data_dir: DataDir,
    recovery: Recovery,
    ledger: Ledger,
}

impl Sieve {
    /// Cheap: opens nothing, and cannot fail. What is wrong with the folder shows when it is used.
    pub fn new(settings: Settings) -> Sieve {
        Sieve::with_engine(settings, tamis_prune::prune)
    }

    /// A sieve with another engine, for tests of what surrounds it.
    #[doc(hidden)]
    pub fn with_engine(settings: Settings, engine: Engine) -> Sieve {
        let Settings { data_dir, max_input_chars, recovery_ttl, recovery_max_bytes, ledger_keep } = settings;
        let store = data_dir.map(|data_dir| Store {
            recovery: Recovery {
                folder: data_dir.recovery(),
                ttl: recovery_ttl,
                max_bytes: recovery_max_bytes,
            },
            ledger: Ledger::new(data_dir.state_db()),
            data_dir,
        });
        Sieve { max_input_chars, ledger_keep, store, engine }
    }

    /// Gives back lines of the original of `prune_id`, as 1-based inclusive ranges.
    pub fn recover(
        &self,
        prune_id: &str,
        ranges: &[(i64, i64)],
        numbered: bool,
        caller: &Caller,
    ) -> Result<Recovered, RecoverError> {
        let not_found = || RecoverError::NotFound { prune_id: prune_id.to_owned() };
        let store = self.store.as_ref().ok_or_else(not_found)?;
        let id = PruneId::parse(prune_id).ok_or_else(not_found)?;
        let now = SystemTime::now();
        let text = store.recovery.read(&id.text, now).map_err(|error| match error {
            RecoveryError::NotFound => not_found(),
            error => RecoverError::Unavailable { why: error.to_string() },
        })?;
        let recovered = recover::extract(&text, ranges, numbered)?;
        let lines = recovered.ranges.iter().map(|range| range.end_line - range.start_line + 1).sum::<u64>();
        store.ledger.record_recovery(RecoveryRow {
            prune_id: prune_id.to_owned(),
            at_ms: milliseconds(now),
            caller: caller.clone(),
            lines: usize::try_from(lines).unwrap_or(usize::MAX),
            tokens: tamis_text::estimate_tokens(&recovered.raw_text),
        });
        Ok(recovered)
    }

    /// What a prune was for, as long as its original is kept.
    pub fn goal(&self, prune_id: &str) -> Option<String> {
        let id = PruneId::parse(prune_id)?;
        self.store.as_ref()?.recovery.goal(&id, SystemTime::now())
    }

    /// Removes what is past its time or beyond the size allowed, unless another process is doing so.
    pub fn clean_up(&self) -> CleanUp {
        let mut report = CleanUp::default();
        let Some(store) = &self.store else { return report };
        // Nothing was ever written: nothing to clean, and no folder to make for a lock.
        if !store.data_dir.root().exists() {
            return report;
        }
        let _lock = match Lock::try_acquire(&store.data_dir.clean_up_lock()) {
            Ok(Some(lock)) => lock,
            Ok(None) => return CleanUp { skipped: true, ..report },
            Err(error) => return CleanUp { problems: vec![format!("cannot lock: {error}")], ..report },
        };
        let now = SystemTime::now();
        if let Err(error) = store.recovery.expire(now, &mut report) {
            report.problems.push(format!("cannot clean {}: {error}", store.recovery.folder.display()));
        }
        match store.ledger.forget(self.ledger_keep, now) {
            Ok(rows) => report.ledger_rows = rows,
            Err(error) => report.problems.push(error.describe()),
        }
        report
    }

    /// What is held in the data folder. Creates nothing.
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

    /// Erases what is asked, whoever else is cleaning.
    pub fn purge(&self, what: Purge) -> Result<CleanUp, DataError> {
        let mut report = CleanUp::default();
        let Some(store) = &self.store else { return Ok(report) };
        let now = SystemTime::now();
        if what.recovery {
            let sweep = Sweep { older_than: what.older_than, max_bytes: u64::MAX, now };
            store
                .recovery
                .sweep(&sweep, &mut report)
                .map_err(|source| DataError::Io { path: store.recovery.folder.clone(), source })?;
        }
        if what.ledger {
            // Rows on their way would otherwise arrive after the erasing.
            store.ledger.flush(Duration::from_secs(5));
            report.ledger_rows =
                match what.older_than {
                    Some(age) => store.ledger.forget(age, now)?,
                    None => {
                        let (rows, left) = store.ledger.erase()?;
                        report.problems.extend(left.map(|error| {
                            format!("erased rows may still be in the file: {}", error.describe())
                        }));
                        rows
                    }
                };
            if what.older_than.is_none() {
                for path in store.backups() {
                    match fs::remove_file(&path) {
                        Ok(()) => report.backups += 1,
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Err(source) => return Err(DataError::Io { path, source }),
                    }
                }
            }
        }
        Ok(report)
    }

    /// Totals over the ledger, as far as it is written.
    pub fn savings(&self) -> Result<Savings, DataError> {
        Ok(self.store.as_ref().map_or(Ok(Savings::default()), |store| store.ledger.savings())?)
    }

    /// Why calls cannot be counted at present, as far as is known.
    pub fn ledger_problem(&self) -> Option<String> {
        self.store.as_ref()?.ledger.problem()
    }

    /// Writes what the ledger still holds in memory, waiting at most `timeout`. Gives whether nothing is left.
    pub fn close(&self, timeout: Duration) -> bool {
        self.store.as_ref().is_none_or(|store| store.ledger.flush(timeout).pending() == 0)
    }
}

impl Store {
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
