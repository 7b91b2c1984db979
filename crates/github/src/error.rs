//! Why GitHub could not be used: a kind for programs, a message and hints for people.

/// What went wrong, as far as a caller decides by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GithubErrorKind {
    /// The remote or the configured address cannot be used.
    Invalid,
    /// There is no token, or it was refused: 401.
    Unauthorized,
    /// 403, and 404 where the token may not see the repository.
    Forbidden,
    /// 422, and any other status that blames the request.
    Rejected,
    /// No answer, half an answer, 429 or 5xx: trying again may help.
    Unavailable,
}

/// A failure. Its texts may quote GitHub, and never the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GithubError {
    pub kind: GithubErrorKind,
    pub message: String,
    /// What can be done about it, each a sentence or a command.
    pub hints: Vec<String>,
    /// The HTTP status, where GitHub answered.
    pub status: Option<u16>,
}

pub(crate) type Result<T, E = GithubError> = std::result::Result<T, E>;

impl GithubError {
    pub(crate) fn new(kind: GithubErrorKind, message: impl Into<String>) -> GithubError {
        GithubError { kind, message: message.into(), hints: Vec::new(), status: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> GithubError {
        self.hints.push(hint.into());
        self
    }
}
