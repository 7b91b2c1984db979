//! Waiting for what another process does.

use std::time::{Duration, Instant};

/// How long anything that must come may take; no test passes because it is over.
const PATIENCE: Duration = Duration::from_secs(300);

/// Waits until there is something.
#[track_caller]
pub fn await_some<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it does not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}
