//! The pipe from tamis to the minder: an order first, then nothing until the run must end.

use std::io::{self, Write};
use std::process::ChildStdin;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::minder::{END, END_AT_ONCE, MinderOrder};

/// Ends a minder's run from any thread. The run ends too when the last clone is dropped.
#[derive(Clone)]
pub struct Canceller {
    lifeline: Arc<Mutex<Lifeline>>,
}

struct Lifeline {
    pipe: ChildStdin,
    cancellations: u32,
}

impl Canceller {
    /// `pipe` is the minder's stdin.
    pub fn new(pipe: ChildStdin) -> Canceller {
        Canceller { lifeline: Arc::new(Mutex::new(Lifeline { pipe, cancellations: 0 })) }
    }

    /// Ends the run with SIGTERM first; the second call ends it at once.
    pub fn cancel(&self) {
        let mut lifeline = self.lifeline.lock();
        lifeline.cancellations += 1;
        let byte = if lifeline.cancellations == 1 { END } else { END_AT_ONCE };
        // It fails when the minder has ended already.
        let _ = lifeline.pipe.write_all(&[byte]);
    }

    pub fn is_cancelled(&self) -> bool {
        self.lifeline.lock().cancellations > 0
    }

    pub fn send_order(&self, order: &MinderOrder) -> io::Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        self.lifeline.lock().pipe.write_all(&line)
    }
}
