//! A limit on what a flood of refused requests may write.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

const MINUTE: Duration = Duration::from_secs(60);

/// Lets a number of events pass in each minute, and counts the others.
pub(crate) struct PerMinute {
    most: u64,
    window: Mutex<Option<Window>>,
}

struct Window {
    began: Instant,
    events: u64,
}

impl PerMinute {
    pub(crate) const fn new(most: u64) -> PerMinute {
        PerMinute { most, window: Mutex::new(None) }
    }

    /// Whether an event passes; with the number of those that did not pass since the last one that did.
    pub(crate) fn pass(&self, now: Instant) -> Option<u64> {
        let mut window = self.window.lock();
        match window.as_mut().filter(|window| now.duration_since(window.began) < MINUTE) {
            Some(window) => {
                window.events += 1;
                (window.events <= self.most).then_some(0)
            }
            None => {
                let missed = window.as_ref().map_or(0, |window| window.events.saturating_sub(self.most));
                *window = Some(Window { began: now, events: 1 });
                Some(missed)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_writes_little_and_is_counted() {
        let (limit, start) = (PerMinute::new(3), Instant::now());
        let passed: Vec<_> = (0..10).map(|second| limit.pass(start + Duration::from_secs(second))).collect();
        assert_eq!(passed[..3], [Some(0), Some(0), Some(0)]);
        assert!(passed[3..].iter().all(Option::is_none));
        assert_eq!(limit.pass(start + MINUTE), Some(7));
        assert_eq!(limit.pass(start + MINUTE), Some(0));
        assert_eq!(limit.pass(start + 3 * MINUTE), Some(0));
    }
}
