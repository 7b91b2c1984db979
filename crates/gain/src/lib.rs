//! What pruning saved and what it cost, in tokens and in money.
//!
//! Entry points: [`measure`] for what happened, [`reach`] for what would happen, [`balance`] for the arithmetic alone, [`ModelPrices`] for what models cost.
//!
//! The ledger has the size of each cut, and the client's log has the requests that would have carried it: a text is sent again
//! with each request until the context is compacted or the session ends. So a cut saves its size times these requests, and a
//! marker, a recovery, or a call that reads again what was cut costs its size times its own. [`facts`] are what was read from
//! the ledger and the logs; everything after that is arithmetic on them.
//!
//! Must never: clamp a loss at zero, guess how often a text was sent where no log says so, count what the client would have cut
//! by itself, or write anything.

mod balance;
pub mod facts;
mod ledger_rows;
mod losses;
mod prices;
mod reach;
mod report;
mod session_reader;

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use tamis_logs::event::Millis;
use tamis_sieve::Sieve;
use tamis_store::StoreError;
use tamis_trace::{Session, SessionFilter, Trace, TraceError};

use ledger_rows::LedgerRows;
use session_reader::SessionReader;

pub use balance::{GainGrouping, balance};
pub use losses::GainLoss;
pub use prices::{ModelPrices, PriceKind, RequestCost, model_base_name};
pub use reach::{ClientReach, MechanismReach, ReachOptions, ReachReport, ReachVerdict, reach};
pub use report::{GainPart, GainReport, GainSums, UnlinkedRows};

/// A balance is called negative only over this time.
const WEEK_MS: Millis = 7 * 24 * 60 * 60 * 1000;
/// A result is in the log within this time of its row in the ledger.
const SAME_CALL_MS: Millis = 5 * 60 * 1000;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum GainError {
    #[error(transparent)]
    Ledger(#[from] StoreError),
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct GainOptions {
    /// Only cuts, recoveries and calls since then.
    pub since: Millis,
    pub now: Millis,
    pub grouping: GainGrouping,
    /// Tools that are switched off already, as the setting `hook.skip_tools` has them.
    pub skipped_tools: Vec<String>,
}

/// What pruning saved and cost since then, from the ledger and the logs. The trace must be up to date.
pub fn measure(
    trace: &Trace,
    sieve: &Sieve,
    prices: &ModelPrices,
    options: &GainOptions,
) -> Result<GainReport, GainError> {
    let first = options.since.min(options.now - WEEK_MS);
    let after_1970 = Duration::from_millis(u64::try_from(first).unwrap_or(0));
    let (prunes, recoveries) = sieve.ledger_since(SystemTime::UNIX_EPOCH + after_1970)?;
    let mut rows = LedgerRows::new(prunes, recoveries);
    let mut contexts = Vec::new();
    if !rows.is_empty() {
        let original = |prune_id: &str| {
            let mut bytes = Vec::new();
            sieve.write_original(prune_id, &mut bytes).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let filter = SessionFilter { since: Some(first), with_subagents: true, ..SessionFilter::default() };
        let mut sessions = trace.sessions(&filter, None, usize::MAX >> 1)?;
        // A request that several logs report belongs to the first.
        sessions.retain(|session| is_concerned(session, &rows));
        sessions.sort_by_key(|session| session.summary.started);
        let mut counted = HashSet::new();
        for session in &sessions {
            let mut reader = SessionReader::new(session, &mut rows, &mut counted, &original);
            let read = trace.events(session, 0, &mut |_, event| reader.take(event));
            let found = reader.finish();
            match read {
                Ok(()) => contexts.extend(found),
                // Its rows stay without a log.
                Err(TraceError::Log { .. } | TraceError::Changed { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    let mut report = balance(&contexts, prices, options);
    report.unlinked = rows.unlinked(options.since);
    Ok(report)
}

/// Whether a session was active when something was cut or recovered.
fn is_concerned(session: &Session, rows: &LedgerRows) -> bool {
    let summary = &session.summary;
    let first = summary.started.unwrap_or(Millis::MIN).saturating_sub(SAME_CALL_MS);
    let last = summary.ended.unwrap_or(Millis::MAX).saturating_add(SAME_CALL_MS);
    rows.any_within(first, last)
}
