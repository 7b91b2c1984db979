//! What a handler is told about the call it answers.

use std::sync::Arc;

use tamis_sieve::Caller;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::Services;
use crate::request::RequestLog;

/// Everything that travels from a door to a handler beside the input.
#[derive(Clone)]
pub struct Context {
    pub caller: Caller,
    pub access: Access,
    /// Cancelled when the caller no longer wants the answer.
    pub cancellation: CancellationToken,
    pub progress: Progress,
    pub request: RequestLog,
    pub services: Arc<Services>,
}

impl Context {
    /// A call with no way to report progress.
    pub fn new(services: Arc<Services>, caller: Caller, access: Access) -> Context {
        Context {
            caller,
            access,
            cancellation: CancellationToken::new(),
            progress: Progress::default(),
            request: RequestLog::default(),
            services,
        }
    }
}

/// What a caller may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// No token was shown: only toolsets that are open.
    Open,
    /// The token was shown, or the caller started this process.
    Full,
}

/// One step forward of a long operation.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressUpdate {
    pub done: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

/// Where a handler reports how far it is. Reports to a door that has no use for them vanish.
#[derive(Clone, Default)]
pub struct Progress(Option<mpsc::UnboundedSender<ProgressUpdate>>);

impl Progress {
    /// A progress whose reports arrive at the receiver.
    pub fn channel() -> (Progress, mpsc::UnboundedReceiver<ProgressUpdate>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Progress(Some(sender)), receiver)
    }

    pub fn report(&self, update: ProgressUpdate) {
        if let Some(sender) = &self.0 {
            // The door may have gone away; then nobody wants to know.
            let _ = sender.send(update);
        }
    }
}
