//! The sieve: every text that may be cut goes through it. It runs the engine, stores the original, writes the markers and
//! records the call.
//!
//! Entry points: [`Sieve::prune`], [`Sieve::recover`], [`Sieve::clean_up_if_due`], [`Sieve::storage_report`]; [`Sieve::calls`] and
//! [`Sieve::prune_record`] for what was done, [`Sieve::trial`] for what would be.
//!
//! Never cuts a text whose original it could not store, and never fails a prune: on any problem the text is returned whole
//! with a warning. Never rewrites a kept line. The ledger holds counts and names, never a text or a goal.

mod cut_list;
mod db;
mod history;
mod ids;
mod large;
mod ledger;
mod marker;
mod originals;
mod pasted;
mod prune;
mod recover;
mod render;
mod request;
mod retention;
mod settings;
mod shared_files;
mod trial;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use tamis_store::{DataDir, StoreError};

use cut_list::write_ranges;
use ids::PruneId;
use ledger::{Ledger, RecoveryRow, milliseconds};
use originals::spool::text_of;
use originals::{OriginalError, OriginalStore};

pub use cut_list::LedgerCut;
pub use history::{
    CallFilter, CallOutcome, CallPage, CallSpan, CallSummary, LedgerCall, OriginalLines, PruneRecord,
    PruneRecovery, RepeatedCut,
};
pub use large::{LargePruneRequest, LargePruned};
pub use ledger::{LedgerPosition, LedgerPrune, LedgerRecovery, LedgerTotals, PruneSavings, RecentPrune};
pub use marker::{MarkerForm, is_marker, prune_ids_in};
pub use pasted::{LineRanges, PastedCuts, PastedError};
#[doc(hidden)]
pub use prune::Engine;
pub use prune::UnrecordedPrune;
pub use recover::{LineRange, RecoverError, RecoveredMetadata, RecoveredText};
pub use render::CutAnnotation;
pub use request::{Caller, PruneOptions, PruneRequest, PruneStats, PruneWarning, Pruned};
pub use retention::{CleanUpReport, PurgeRequest, StorageReport};
pub use settings::SieveSettings;
pub use trial::{PruneTrial, TrialResult};

/// Engine, recovery and ledger together. Threads share it by reference; several processes may use one data folder.
pub struct Sieve {
    max_input_chars: usize,
    ledger_keep: Duration,
    store: Option<Store>,
    engine: Engine,
}

struct Store {
    data_dir: DataDir,
    recovery: OriginalStore,
    ledger: Ledger,
}

impl Sieve {
    /// Opens nothing and cannot fail. Problems with the data folder show when it is used.
    pub fn new(settings: SieveSettings) -> Sieve {
        Sieve::with_engine(settings, tamis_prune::prune)
    }

    /// A sieve with another engine, for tests.
    #[doc(hidden)]
    pub fn with_engine(settings: SieveSettings, engine: Engine) -> Sieve {
        let SieveSettings { data_dir, max_input_chars, recovery_ttl, recovery_max_bytes, ledger_keep } =
            settings;
        let store = data_dir.map(|data_dir| Store {
            recovery: OriginalStore::new(data_dir.recovery(), recovery_ttl, recovery_max_bytes),
            ledger: Ledger::new(data_dir.state_db()),
            data_dir,
        });
        Sieve { max_input_chars, ledger_keep, store, engine }
    }

    /// Recovers lines of the original of `prune_id`, or of the only id that begins so, by 1-based inclusive ranges.
    pub fn recover(
        &self,
        prune_id: &str,
        ranges: &[(i64, i64)],
        numbered: bool,
        caller: &Caller,
    ) -> Result<RecoveredText, RecoverError> {
        let not_found = || RecoverError::NotFound { prune_id: prune_id.to_owned() };
        let store = self.store.as_ref().ok_or_else(not_found)?;
        let now = SystemTime::now();
        let id = self.resolve(store, prune_id, caller)?;
        let failed = |error| match error {
            OriginalError::NotFound => not_found(),
            error => RecoverError::Unavailable { why: error.to_string() },
        };
        let recovered = match store.recovery.read(&id.text, now) {
            Ok(text) => recover::extract(prune_id, &text, ranges, numbered)?,
            Err(OriginalError::TooLarge(_)) => {
                let file = store.recovery.open(&id.text, now).map_err(failed)?;
                let read = text_of(&file).map(io::BufReader::new);
                let extracted =
                    read.and_then(|text| recover::extract_streamed(prune_id, text, ranges, numbered));
                extracted.map_err(|error| failed(error.into()))??
            }
            Err(error) => return Err(failed(error)),
        };
        let ranges = &recovered.metadata.ranges;
        let lines = ranges.iter().map(|range| range.end_line - range.start_line + 1).sum::<u64>();
        store.ledger.record_recovery(RecoveryRow {
            prune_id: id.to_string(),
            at_ms: milliseconds(now),
            caller: caller.clone(),
            lines: usize::try_from(lines).unwrap_or(usize::MAX),
            tokens: tamis_text::estimate_tokens(&recovered.raw_text),
            ranges: write_ranges(ranges.iter().map(|range| (range.start_line, range.end_line))),
        });
        Ok(recovered)
    }

    /// The prune id that is given, or the only one that begins so.
    fn resolve(&self, store: &Store, prune_id: &str, caller: &Caller) -> Result<PruneId, RecoverError> {
        if let Some(id) = PruneId::parse(prune_id) {
            return Ok(id);
        }
        let not_found = RecoverError::NotFound { prune_id: prune_id.to_owned() };
        // The beginning of an id can be guessed, so it is no proof that a caller has seen the text.
        if caller.is_anonymous {
            return Err(not_found);
        }
        match store.recovery.find(prune_id, SystemTime::now()).as_deref() {
            Ok([id]) => Ok(id.clone()),
            Ok([]) => Err(not_found),
            Ok(several) => {
                Err(RecoverError::Ambiguous { prune_id: prune_id.to_owned(), count: several.len() })
            }
            Err(error) => Err(RecoverError::Unavailable { why: error.to_string() }),
        }
    }

    /// Writes a whole original of any size, byte for byte.
    pub fn write_original(&self, prune_id: &str, output: &mut dyn Write) -> Result<(), RecoverError> {
        let not_found = || RecoverError::NotFound { prune_id: prune_id.to_owned() };
        let store = self.store.as_ref().ok_or_else(not_found)?;
        let id = self.resolve(store, prune_id, &Caller::default())?;
        let unavailable = |error: io::Error| RecoverError::Unavailable { why: error.to_string() };
        let file = match store.recovery.open(&id.text, SystemTime::now()) {
            Err(OriginalError::NotFound) => return Err(not_found()),
            opened => opened.map_err(|error| RecoverError::Unavailable { why: error.to_string() })?,
        };
        io::copy(&mut text_of(&file).map_err(unavailable)?, output).map_err(unavailable)?;
        Ok(())
    }

    /// Whether the original of a prune is kept.
    pub fn is_recoverable(&self, prune_id: &str) -> bool {
        let id = PruneId::parse(prune_id);
        let is_kept = |store: &Store, id: PruneId| store.recovery.is_kept(&id.text, SystemTime::now());
        self.store.as_ref().zip(id).is_some_and(|(store, id)| is_kept(store, id))
    }

    /// The goal of a prune, while its original is kept.
    pub fn goal(&self, prune_id: &str) -> Option<String> {
        let id = PruneId::parse(prune_id)?;
        self.store.as_ref()?.recovery.goal(&id, SystemTime::now())
    }

    /// The latest prunes that cut something and whose originals are kept, the last first, with their goals.
    pub fn recent_prunes(&self, limit: usize) -> Result<Vec<RecentPrune>, StoreError> {
        let Some(store) = &self.store else { return Ok(Vec::new()) };
        let now = SystemTime::now();
        let mut kept = Vec::new();
        // Originals expire long before the ledger's rows, the oldest first.
        for mut prune in store.ledger.recent_prunes(limit)? {
            let Some(id) = PruneId::parse(&prune.prune_id) else { continue };
            let text = store.recovery.read(&id.text, now);
            if !matches!(text, Ok(_) | Err(OriginalError::TooLarge(_))) {
                continue;
            }
            // The ledger counts as the contract does: with the empty line after the last newline, which nearly every large
            // text has.
            if text.map_or(true, |text| text.ends_with('\n')) {
                prune.lines_before = prune.lines_before.saturating_sub(1);
                prune.lines_after = prune.lines_after.saturating_sub(1);
            }
            prune.goal = store.recovery.goal(&id, now);
            kept.push(prune);
        }
        Ok(kept)
    }

    /// The recent prunes with these cuts, 1-based and inclusive, the last first: one for each text. Also those whose cuts were
    /// not kept, since they may have them.
    pub fn recent_prunes_of(&self, cuts: &[(i64, i64)]) -> Result<Vec<RecentPrune>, StoreError> {
        const LOOKED_AT: usize = 50;
        let mut found: Vec<RecentPrune> = Vec::new();
        let mut texts = Vec::new();
        for prune in self.recent_prunes(LOOKED_AT)? {
            let made = self.prune_record(&prune.prune_id)?.cuts;
            let is_made = |(first, last): &(i64, i64)| {
                let is = |cut: &LedgerCut| (cut.first_line as i64, cut.last_line as i64) == (*first, *last);
                made.as_ref().is_none_or(|made| made.iter().any(is))
            };
            let text = PruneId::parse(&prune.prune_id).map(|id| id.text);
            if cuts.iter().all(is_made) && !texts.contains(&text) {
                texts.push(text);
                found.push(prune);
            }
        }
        Ok(found)
    }

    /// Totals over the ledger, without rows that are still queued.
    pub fn ledger_totals(&self) -> Result<LedgerTotals, StoreError> {
        self.store.as_ref().map_or(Ok(LedgerTotals::default()), |store| store.ledger.totals())
    }

    /// The prunes that cut something and the recoveries since then, the earliest first.
    pub fn ledger_since(
        &self,
        since: SystemTime,
    ) -> Result<(Vec<LedgerPrune>, Vec<LedgerRecovery>), StoreError> {
        self.store.as_ref().map_or_else(|| Ok(Default::default()), |store| store.ledger.since(since))
    }

    /// What the prunes of these ids saved since then. `None` if there is no ledger; none is created.
    pub fn savings_of_prunes(
        &self,
        prune_ids: &BTreeSet<String>,
        since: SystemTime,
    ) -> Result<Option<PruneSavings>, StoreError> {
        self.store.as_ref().map_or(Ok(None), |store| {
            // Only valid ids may go into the query.
            let ids = prune_ids.iter().filter(|id| PruneId::parse(id).is_some()).cloned().collect();
            store.ledger.savings_of_prunes(&ids, since)
        })
    }

    /// Why rows cannot be written at present, if that is known.
    pub fn ledger_problem(&self) -> Option<String> {
        self.store.as_ref()?.ledger.problem()
    }

    /// Writes the queued rows of the ledger, waiting at most `timeout`. Returns how many rows are not written: lost, or still
    /// queued.
    pub fn flush(&self, timeout: Duration) -> u64 {
        self.store.as_ref().map_or(0, |store| {
            let progress = store.ledger.flush(timeout);
            progress.lost + progress.pending()
        })
    }
}
