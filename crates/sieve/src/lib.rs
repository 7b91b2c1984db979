//! One way through for every text that may be cut: the engine decides, the original is kept, the cuts are marked,
//! the call is counted.
//!
//! It fails open. Whatever goes wrong, the text comes back whole with a warning; and nothing is cut whose original
//! could not be stored before.

mod db;
mod ids;
mod ledger;
mod marker;
mod originals;
mod prune;
mod recover;
mod render;
mod request;
mod retention;
mod shared_files;

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use tamis_store::{DataDir, StoreError};

use ids::PruneId;
use ledger::{Ledger, RecoveryRow, milliseconds};
use originals::{Recovery, RecoveryError};

pub use ledger::{Savings, SavingsOf};
pub use marker::prune_ids_in;
#[doc(hidden)]
pub use prune::Engine;
pub use recover::{LineRange, RecoverError, Recovered, RecoveredFrom};
pub use render::Annotation;
pub use request::{Caller, PruneRequest, Pruned, Settings, Stats, Warning};
pub use retention::{CleanUp, Holdings, Purge};

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
            recovery: Recovery::new(data_dir.recovery(), recovery_ttl, recovery_max_bytes),
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
        let recovered = recover::extract(prune_id, &text, ranges, numbered)?;
        let ranges = &recovered.metadata.ranges;
        let lines = ranges.iter().map(|range| range.end_line - range.start_line + 1).sum::<u64>();
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

    /// Totals over the ledger, as far as it is written.
    pub fn savings(&self) -> Result<Savings, StoreError> {
        self.store.as_ref().map_or(Ok(Savings::default()), |store| store.ledger.savings())
    }

    /// What the prunes of these ids saved since then; `None` where there is no ledger. Creates nothing.
    pub fn savings_of(
        &self,
        prune_ids: &BTreeSet<String>,
        since: SystemTime,
    ) -> Result<Option<SavingsOf>, StoreError> {
        self.store.as_ref().map_or(Ok(None), |store| {
            // Nothing else may stand in the query.
            let ids = prune_ids.iter().filter(|id| PruneId::parse(id).is_some()).cloned().collect();
            store.ledger.savings_of(&ids, since)
        })
    }

    /// Why calls cannot be counted at present, as far as is known.
    pub fn ledger_problem(&self) -> Option<String> {
        self.store.as_ref()?.ledger.problem()
    }

    /// Writes what the ledger still holds in memory, waiting at most `timeout`. Gives how many calls of this sieve
    /// are not in it: lost, or still waiting.
    pub fn flush(&self, timeout: Duration) -> u64 {
        self.store.as_ref().map_or(0, |store| {
            let progress = store.ledger.flush(timeout);
            progress.lost + progress.pending()
        })
    }
}
