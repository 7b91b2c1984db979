//! When work must stop: cancellation and deadline in one.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// Cancellation and deadline of a call. Long-running work checks it regularly.
#[derive(Clone, Debug)]
pub struct StopSignal {
    cancellation: CancellationToken,
    deadline: Option<Instant>,
}

/// Why work stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    #[error("cancelled")]
    Cancelled,
    #[error("out of time")]
    OutOfTime,
}

impl StopSignal {
    /// Never stops.
    pub fn never() -> StopSignal {
        StopSignal { cancellation: CancellationToken::new(), deadline: None }
    }

    /// Stops when the token is cancelled.
    pub fn on(cancellation: CancellationToken) -> StopSignal {
        StopSignal { cancellation, deadline: None }
    }

    /// Stops at `deadline` too.
    pub fn by(self, deadline: Instant) -> StopSignal {
        let deadline = self.deadline.map_or(deadline, |earlier| earlier.min(deadline));
        StopSignal { deadline: Some(deadline), ..self }
    }

    /// Stops with this one, and can be cancelled on its own.
    pub fn child(&self) -> StopSignal {
        StopSignal { cancellation: self.cancellation.child_token(), deadline: self.deadline }
    }

    pub fn cancel(&self) {
        self.cancellation.cancel();
    }

    pub fn token(&self) -> &CancellationToken {
        &self.cancellation
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The time left; none without a deadline.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    pub fn check(&self) -> Result<(), Stopped> {
        if self.cancellation.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(Stopped::OutOfTime);
        }
        Ok(())
    }

    pub fn is_due(&self) -> bool {
        self.check().is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_for_either_reason_and_reports_which() {
        let stop = StopSignal::never();
        assert_eq!(stop.check(), Ok(()));
        let child = stop.child().by(Instant::now());
        assert_eq!((child.check(), stop.check()), (Err(Stopped::OutOfTime), Ok(())));
        assert_eq!(child.by(Instant::now() + Duration::from_secs(60)).check(), Err(Stopped::OutOfTime));
        let other = stop.child();
        stop.cancel();
        assert_eq!(other.check(), Err(Stopped::Cancelled));
    }
}
