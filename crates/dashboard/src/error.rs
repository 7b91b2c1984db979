//! Why the page gets no answer.

use serde::Serialize;
use tamis_agents::AgentsError;
use tamis_redact::Redacted;
use tamis_trace::TraceError;

/// What kind of failure it is, which decides the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PageErrorKind {
    /// The request makes no sense.
    Invalid,
    NotFound,
    /// Something that is needed does not answer now.
    Unavailable,
    Failed,
}

/// Why the page gets no answer, in words for its user.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct PageError {
    pub kind: PageErrorKind,
    pub message: Redacted,
    /// What to do about it.
    pub hint: Option<Redacted>,
}

impl PageError {
    pub fn new(kind: PageErrorKind, message: impl Into<Redacted>) -> PageError {
        PageError { kind, message: message.into(), hint: None }
    }

    pub fn hint(self, hint: impl Into<Redacted>) -> PageError {
        PageError { hint: Some(hint.into()), ..self }
    }
}

impl From<TraceError> for PageError {
    fn from(error: TraceError) -> PageError {
        let kind = match error {
            TraceError::NoSuchSession { .. }
            | TraceError::NoSuchEvent { .. }
            | TraceError::Ambiguous { .. } => PageErrorKind::NotFound,
            _ => PageErrorKind::Failed,
        };
        PageError::new(kind, error.to_string())
    }
}

impl From<AgentsError> for PageError {
    fn from(error: AgentsError) -> PageError {
        let failed = PageError::new(PageErrorKind::Failed, error.message);
        match error.suggestions.into_iter().next() {
            Some(hint) => failed.hint(hint),
            None => failed,
        }
    }
}
