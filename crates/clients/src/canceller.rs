//! The lifeline between tamis and the minder: an order first, then nothing until the run is to end.

use std::io::{self, Write};
use std::process::ChildStdin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::minder::{END, END_AT_ONCE, Order};

/// Ends a run from anywhere. When the last of them is gone the run ends too.
#[derive(Clone)]
pub struct Canceller {
    lifeline: Arc<Mutex<Lifeline>>,
}

struct Lifeline {
    pipe: ChildStdin,
    asked: u32,
}

impl Canceller {
    pub(crate) fn new(pipe: ChildStdin) -> Canceller {
        Canceller { lifeline: Arc::new(Mutex::new(Lifeline { pipe, asked: 0 })) }
    }

    /// Ends the run in good order; asked again, at once.
    pub fn cancel(&self) {
        let mut lifeline = self.lock();
        lifeline.asked += 1;
        let byte = if lifeline.asked == 1 { END } else { END_AT_ONCE };
        // A minder that has ended already has done what is asked.
        let _ = lifeline.pipe.write_all(&[byte]);
    }

    pub(crate) fn cancelled(&self) -> bool {
        self.lock().asked > 0
    }

    pub(crate) fn send_order(&self, order: &Order) -> io::Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        self.lock().pipe.write_all(&line)
    }

    fn lock(&self) -> MutexGuard<'_, Lifeline> {
        self.lifeline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
