//! How many calls a process answers: a bucket of calls that fills up again.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;

use super::failure::rate_limited;
use crate::Failure;

/// Calls a minute, and how many may come at once. An agent that thinks makes five; only one in a loop makes more.
const CALLS_A_MINUTE: u64 = 120;
const REFILL: Duration = Duration::from_millis(60_000 / CALLS_A_MINUTE);

/// The bucket, represented by the time at which it is full.
#[derive(Default)]
pub(crate) struct RateLimit(Mutex<Option<Instant>>);

/// The state of the limit in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RateState {
    pub(crate) limit: u64,
    pub(crate) remaining: u64,
    /// Until all of them may be used again.
    pub(crate) reset_seconds: u64,
}

impl RateLimit {
    /// Takes a call out of the bucket.
    pub(crate) fn take(&self, now: Instant) -> Result<RateState, Failure> {
        let mut full = self.0.lock();
        let missing = full.map_or(Duration::ZERO, |full| full.saturating_duration_since(now)) + REFILL;
        let most = REFILL * CALLS_A_MINUTE as u32;
        if missing > most {
            let wait = (missing - most).as_millis().try_into().unwrap_or(u64::MAX);
            return Err(rate_limited(CALLS_A_MINUTE, wait));
        }
        *full = Some(now + missing);
        Ok(RateState {
            limit: CALLS_A_MINUTE,
            remaining: ((most - missing).as_millis() / REFILL.as_millis()) as u64,
            reset_seconds: missing.as_millis().div_ceil(1000) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bucket_empties_and_fills_again() {
        let (rate, begun) = (RateLimit::default(), Instant::now());
        let first = rate.take(begun).unwrap();
        assert_eq!(first, RateState { limit: 120, remaining: 119, reset_seconds: 1 });
        for _ in 1..CALLS_A_MINUTE {
            rate.take(begun).unwrap();
        }
        let refused = rate.take(begun).unwrap_err();
        let Failure::Stated { code, details, retryable, .. } = refused else { panic!("{refused:?}") };
        assert_eq!((code, retryable, &details["retry_after_ms"]), ("rate_limited", true, &500.into()));
        let later = rate.take(begun + Duration::from_millis(500)).unwrap();
        assert_eq!(later, RateState { limit: 120, remaining: 0, reset_seconds: 60 });
        assert_eq!(rate.take(begun + Duration::from_secs(600)).unwrap().remaining, 119);
    }
}
