//! The sieve's settings. Their defaults are in the crate `config`.

use std::time::Duration;

use tamis_store::DataDir;

/// The settings of a sieve.
#[derive(Clone, Debug)]
pub struct SieveSettings {
    /// Where originals and the ledger are stored. `None`: there is no store, so nothing is ever cut.
    pub data_dir: Option<DataDir>,
    /// Longer texts, counted in Unicode scalar values, are returned whole.
    pub max_input_chars: usize,
    /// How long an original can be recovered after its last prune.
    pub recovery_ttl: Duration,
    /// Above this size on disk, clean-up removes the originals that expire next.
    pub recovery_max_bytes: u64,
    /// How long the ledger's rows are kept.
    pub ledger_keep: Duration,
}

impl SieveSettings {
    /// No store: nothing is ever cut, but [`crate::Sieve::dry_run`] shows what would be.
    pub fn without_store(max_input_chars: usize) -> SieveSettings {
        SieveSettings {
            data_dir: None,
            max_input_chars,
            recovery_ttl: Duration::ZERO,
            recovery_max_bytes: 0,
            ledger_keep: Duration::ZERO,
        }
    }
}
