//! Why a role has no finding. The names are part of the contract.

use tamis_codebase::Stopped;

/// The error of a role.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RoleError {
    pub kind: RoleErrorKind,
    pub message: String,
}

/// Kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleErrorKind {
    /// The deadline passed.
    Timeout,
    /// The caller cancelled the request.
    Canceled,
    /// All workers are busy and the queue is full.
    Saturated,
    /// There is no model, and one is required.
    ProviderUnavailable,
    /// The model's server failed, or hung up.
    ProviderError,
    /// The conversation is too long for the model.
    ContextTooLong,
    /// The model will not answer.
    Refused,
    /// The model's answer has the wrong form, and a retry did not fix it.
    InvalidAnswer,
    /// The model used up its turns or tokens without an answer.
    BudgetExhausted,
    /// A bug.
    Internal,
}

impl RoleErrorKind {
    /// `timeout`, `canceled` or `error`, as in the wrapper's `status`.
    pub fn status(self) -> &'static str {
        match self {
            RoleErrorKind::Timeout => "timeout",
            RoleErrorKind::Canceled => "canceled",
            _ => "error",
        }
    }

    /// As in the wrapper's `error.name`.
    pub fn name(self) -> &'static str {
        match self {
            RoleErrorKind::Timeout => "TimeoutError",
            RoleErrorKind::Canceled => "CanceledError",
            RoleErrorKind::Saturated => "SaturatedError",
            RoleErrorKind::ProviderUnavailable => "ProviderUnavailableError",
            RoleErrorKind::ProviderError | RoleErrorKind::ContextTooLong => "ProviderError",
            RoleErrorKind::Refused => "ProviderRefusalError",
            RoleErrorKind::InvalidAnswer => "InvalidAnswerError",
            RoleErrorKind::BudgetExhausted => "BudgetExhaustedError",
            RoleErrorKind::Internal => "InternalError",
        }
    }
}

impl RoleError {
    pub fn new(kind: RoleErrorKind, message: impl Into<String>) -> RoleError {
        RoleError { kind, message: message.into() }
    }
}

impl From<Stopped> for RoleError {
    fn from(stopped: Stopped) -> RoleError {
        match stopped {
            Stopped::OutOfTime => {
                RoleError::new(RoleErrorKind::Timeout, "the deadline passed before the work was done")
            }
            Stopped::Cancelled => RoleError::new(RoleErrorKind::Canceled, "the request was cancelled"),
        }
    }
}
