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
    /// The token of an instance's identity, as it was shown. Whoever coordinates judges it.
    pub identity: Option<String>,
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
            identity: None,
            cancellation: CancellationToken::new(),
            progress: Progress::default(),
            request: RequestLog::default(),
            services,
        }
    }

    /// What the caller has shown.
    pub fn shown(&self) -> Shown {
        Shown { access: self.access, has_identity: self.identity.is_some() }
    }
}

/// What a caller has shown, which decides what it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    pub access: Access,
    /// Whether it says which instance it is.
    pub has_identity: bool,
}

impl Shown {
    /// All that there is to be shown.
    pub const EVERYTHING: Shown = Shown { access: Access::Full, has_identity: true };
}

impl From<Access> for Shown {
    fn from(access: Access) -> Shown {
        Shown { access, has_identity: false }
    }
}

/// What a caller may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Nothing but what an identity opens: from the network, without the token.
    None,
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
