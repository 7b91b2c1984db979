//! What is reported. Every count of tokens is a size times the requests that carried it, unless it says otherwise.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tamis_logs::event::Millis;

use crate::losses::GainLoss;

/// What pruning saved and cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GainReport {
    /// Milliseconds since 1970.
    pub since: Millis,
    pub by: &'static str,
    pub rows: BTreeMap<String, GainSums>,
    pub total: GainSums,
    /// The net tokens of each day in UTC, by the time of the requests.
    pub net_tokens_by_day: BTreeMap<String, i64>,
    pub unlinked: UnlinkedRows,
    /// Clients and tools whose balance was negative in the last seven days.
    pub losses: Vec<GainLoss>,
    pub rules: &'static [&'static str],
}

/// Sums over effects and requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GainSums {
    /// Results that were cut.
    pub results_cut: u64,
    pub recoveries: u64,
    /// Calls that read again what was cut.
    pub rereads: u64,
    /// What was cut, counted once each: no request carried it.
    pub size_cut: u64,
    pub cut: GainPart,
    pub markers: GainPart,
    pub recovered: GainPart,
    pub reread: GainPart,
    /// `cut` less the other three. Negative where pruning cost more than it saved.
    pub net_tokens: i64,
    /// The same in USD, as far as models have prices; none if none has.
    pub net_usd: Option<f64>,
    /// Dates of the prices.
    pub prices_as_of: BTreeSet<String>,
    /// Tokens that have no price, by model.
    pub unpriced_tokens: BTreeMap<String, u64>,
}

/// One part of the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct GainPart {
    pub tokens: u64,
    /// Of these, the tokens that requests read from the cache.
    pub cached_tokens: u64,
    pub usd: f64,
}

/// Rows of the ledger that are in no log: nobody knows how many requests carried them, so they are in no other figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnlinkedRows {
    pub prunes: u64,
    /// What these cut, once each, markers already subtracted.
    pub size_saved: u64,
    /// Of these prunes, those whose call is in a log, with a result that was not pruned: the client did not use the reply.
    pub not_shown: u64,
    pub recoveries: u64,
    pub size_recovered: u64,
}

impl GainSums {
    /// Whether some of it has no price.
    pub fn is_partly_priced(&self) -> bool {
        !self.unpriced_tokens.is_empty()
    }

    /// Whether it cost more than it saved: in money where all of it has a price, else in tokens.
    pub fn is_loss(&self) -> bool {
        match self.net_usd.filter(|_| !self.is_partly_priced()) {
            Some(usd) if usd != 0.0 => usd < 0.0,
            _ => self.net_tokens < 0,
        }
    }
}
