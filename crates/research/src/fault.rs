//! Why a role has no finding. The names are part of the contract: programs look at them.

use serde::{Serialize, Serializer};
use tamis_codebase::Halted;

/// What went wrong, and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    pub kind: FaultKind,
    pub message: String,
}

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The deadline passed.
    Timeout,
    /// Whoever asked no longer wants to know.
    Canceled,
    /// All workers are busy and the queue is full.
    Saturated,
    /// There is no model where one must be.
    ProviderUnavailable,
    /// The model's server failed, or hung up.
    ProviderError,
    /// The model will not answer.
    Refused,
    /// The model's answer is not of the form asked for, and could not be mended.
    InvalidAnswer,
    /// The model used up its turns or tokens without an answer.
    BudgetExhausted,
    /// A defect of ours.
    Internal,
}

impl FaultKind {
    /// `timeout`, `canceled` or `error`, as in the wrapper's `status`.
    pub fn status(self) -> &'static str {
        match self {
            FaultKind::Timeout => "timeout",
            FaultKind::Canceled => "canceled",
            _ => "error",
        }
    }

    /// As in the wrapper's `error.name`.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Timeout => "TimeoutError",
            FaultKind::Canceled => "CanceledError",
            FaultKind::Saturated => "SaturatedError",
            FaultKind::ProviderUnavailable => "ProviderUnavailableError",
            FaultKind::ProviderError => "ProviderError",
            FaultKind::Refused => "ProviderRefusalError",
            FaultKind::InvalidAnswer => "InvalidAnswerError",
            FaultKind::BudgetExhausted => "BudgetExhaustedError",
            FaultKind::Internal => "InternalError",
        }
    }
}

impl Serialize for FaultKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Fault {
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault { kind, message: message.into() }
    }
}

impl From<Halted> for Fault {
    fn from(halted: Halted) -> Fault {
        match halted {
            Halted::OutOfTime => {
                Fault::new(FaultKind::Timeout, "the deadline passed before the work was done")
            }
            Halted::Cancelled => Fault::new(FaultKind::Canceled, "the request was cancelled"),
        }
    }
}
