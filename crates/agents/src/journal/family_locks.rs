//! Locks of families of instances, within this process.
//!
//! A coding agent and its reviewers are a family, held as one: feedback changes both. Tools wait for a family;
//! the reconciler skips one that is held, since what looks wrong there may be half done.

use std::collections::HashSet;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

use crate::InstanceId;

/// The families that are held.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    held: Mutex<HashSet<InstanceId>>,
    freed: Condvar,
}

/// The lock of a family, until this is dropped.
#[derive(Debug)]
pub(crate) struct Hold<'a> {
    holds: &'a Holds,
    family: InstanceId,
}

impl Holds {
    /// Locks a family. None when it is not free in time.
    pub(crate) fn take(&self, family: &InstanceId, deadline: Instant) -> Option<Hold<'_>> {
        let mut held = self.held.lock();
        while !held.insert(family.clone()) {
            if Instant::now() >= deadline {
                return None;
            }
            self.freed.wait_until(&mut held, deadline);
        }
        Some(Hold { holds: self, family: family.clone() })
    }

    /// Locks a family, if it is free.
    pub(crate) fn try_take(&self, family: &InstanceId) -> Option<Hold<'_>> {
        self.held.lock().insert(family.clone()).then(|| Hold { holds: self, family: family.clone() })
    }

    pub(crate) fn is_held(&self, family: &InstanceId) -> bool {
        self.held.lock().contains(family)
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.holds.held.lock().remove(&self.family);
        self.holds.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::AgentType;

    #[test]
    fn one_at_a_time_has_a_family_and_all_get_it() {
        let (holds, inside, passed) = (Holds::default(), AtomicBool::new(false), AtomicU32::new(0));
        let family = InstanceId::of_worker(AgentType::Coding, "x", 1);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let hold = holds.take(&family, Instant::now() + Duration::from_secs(60)).unwrap();
                    assert!(!inside.swap(true, Ordering::SeqCst));
                    assert!(holds.try_take(&family).is_none());
                    assert!(inside.swap(false, Ordering::SeqCst));
                    passed.fetch_add(1, Ordering::SeqCst);
                    drop(hold);
                });
            }
        });
        assert_eq!(passed.into_inner(), 8);
        let hold = holds.try_take(&family).unwrap();
        assert!(holds.take(&family, Instant::now()).is_none(), "its time is over");
        assert!(holds.try_take(&InstanceId::of_worker(AgentType::Coding, "x", 2)).is_some());
        drop(hold);
        assert!(holds.try_take(&family).is_some());
    }
}
