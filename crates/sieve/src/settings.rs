//! The sieve's settings and their defaults.

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

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Default for SieveSettings {
    fn default() -> SieveSettings {
        SieveSettings {
            data_dir: None,
            max_input_chars: 2_000_000,
            recovery_ttl: 7 * DAY,
            recovery_max_bytes: 1 << 30,
            ledger_keep: 90 * DAY,
        }
    }
}
