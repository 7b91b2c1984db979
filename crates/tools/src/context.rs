//! What a handler knows about its call.

use std::sync::Arc;

use tamis_sieve::Caller;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::Services;
use crate::request::RequestLog;

/// Everything that a door passes to a handler besides the input.
#[derive(Clone)]
pub struct Context {
    pub caller: Caller,
    pub access: Access,
    /// The token of an instance's identity, as sent. The coordinator checks it.
    pub identity: Option<String>,
    /// Cancelled when the caller no longer wants the answer.
    pub cancellation: CancellationToken,
    pub progress: Progress,
    pub request: RequestLog,
    pub services: Arc<Services>,
}

impl Context {
    /// A call that reports no progress.
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

    pub fn credentials(&self) -> Credentials {
        Credentials { access: self.access, has_identity: self.identity.is_some() }
    }
}

/// What the caller has presented, which decides which tools it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    pub access: Access,
    /// Whether it has sent the identity of an instance; not whether that is valid.
    pub has_identity: bool,
}

impl Credentials {
    /// Those that open every tool.
    pub const ALL: Credentials = Credentials { access: Access::Full, has_identity: true };
}

impl From<Access> for Credentials {
    fn from(access: Access) -> Credentials {
        Credentials { access, has_identity: false }
    }
}

/// What a caller may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Only the tools that an identity opens: from the network, without the token.
    None,
    /// Without the token: only open toolsets.
    Open,
    /// With the token, or from the process that started this one.
    Full,
}

/// One step forward of a long operation.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressUpdate {
    pub done: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

/// Where a handler reports its progress. Reports are dropped where the door does not use them.
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
            // The door may be gone.
            let _ = sender.send(update);
        }
    }
}
