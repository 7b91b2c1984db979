//! What can go wrong, in the contract's form: a code, a message, whom it concerns, and what to do.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tamis_git::{GitError, GitErrorKind};
use tamis_github::{GithubError, GithubErrorKind};
use tamis_store::{StoreError, rusqlite};

use crate::InstanceId;
use crate::kinds::words;

words! {
    /// The contract's codes. They are for programs, and do not change.
    Code {
        /// The input does not say what it must.
        ValidationError = "VALIDATION_ERROR",
        /// No token, or nobody's.
        IdentityRequired = "IDENTITY_REQUIRED",
        /// Not for an agent of this type, or not for this instance.
        PermissionDenied = "PERMISSION_DENIED",
        InstanceNotFound = "INSTANCE_NOT_FOUND",
        /// The instance's status does not allow it.
        InvalidState = "INVALID_STATE",
        ReviewLimitExceeded = "REVIEW_LIMIT_EXCEEDED",
        /// Nothing has changed since the last review.
        ReviewUnchanged = "REVIEW_UNCHANGED",
        /// The same feedback was given before.
        DuplicateFeedback = "DUPLICATE_FEEDBACK",
        UncommittedChanges = "UNCOMMITTED_CHANGES",
        /// There is nothing to review, or to ask to pull.
        NoChanges = "NO_CHANGES",
        /// The worktree is in the middle of a merge, a rebase or the like, or on another branch.
        WorktreeBusy = "WORKTREE_BUSY",
        GitError = "GIT_ERROR",
        /// Another git holds a lock, or left one behind.
        GitLocked = "GIT_LOCKED",
        TmuxError = "TMUX_ERROR",
        /// The agent's program is not there.
        AgentNotFound = "AGENT_NOT_FOUND",
        /// There is no token, or it was refused: 401.
        GithubUnauthorized = "GITHUB_UNAUTHORIZED",
        /// 403, and 404 where the token may not see the repository.
        GithubForbidden = "GITHUB_FORBIDDEN",
        /// 422, and whatever else is said to be wrong with the request.
        GithubRejected = "GITHUB_REJECTED",
        /// No answer, half an answer, 429 or 5xx: trying again may help.
        GithubUnavailable = "GITHUB_UNAVAILABLE",
        DatabaseError = "DATABASE_ERROR",
        /// A file could not be read or written: a full disk, say.
        FileError = "FILE_ERROR",
        Timeout = "TIMEOUT",
        /// Nobody coordinates.
        CoordinatorUnavailable = "COORDINATOR_UNAVAILABLE",
        InternalError = "INTERNAL_ERROR",
    }
}

/// A failure. Its texts may quote what a program said, and never a token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct AgentsError {
    pub code: Code,
    pub message: String,
    /// What can be done about it, each a sentence or a command.
    pub suggestions: Vec<String>,
    pub instance: Option<InstanceId>,
    /// What else the contract puts beside them, such as `current_iteration`.
    pub details: Map<String, Value>,
}

pub type Result<T, E = AgentsError> = std::result::Result<T, E>;

impl AgentsError {
    pub fn new(code: Code, message: impl Into<String>) -> AgentsError {
        let message = message.into();
        AgentsError { code, message, suggestions: Vec::new(), instance: None, details: Map::new() }
    }

    pub fn suggest(mut self, suggestion: impl Into<String>) -> AgentsError {
        self.suggestions.push(suggestion.into());
        self
    }

    pub fn about(mut self, instance: &InstanceId) -> AgentsError {
        self.instance = Some(instance.clone());
        self
    }

    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> AgentsError {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(doing: &str, path: &std::path::Path, error: &std::io::Error) -> AgentsError {
        let failed = AgentsError::new(Code::FileError, format!("cannot {doing} {}: {error}", path.display()));
        if error.kind() == std::io::ErrorKind::StorageFull {
            return failed.suggest("make room on the disk, and call again: nothing was changed");
        }
        failed
    }

    /// The contract's object. `error` has the code too, as its example shows.
    pub fn to_json(&self, tool: &str) -> Value {
        let mut object = Map::from_iter([
            ("code".to_owned(), json!(self.code)),
            ("error".to_owned(), json!(self.code)),
            ("message".to_owned(), json!(self.message)),
            ("instance_id".to_owned(), json!(self.instance)),
            ("tool_name".to_owned(), json!(tool)),
            ("suggestions".to_owned(), json!(self.suggestions)),
        ]);
        object.extend(self.details.clone());
        Value::Object(object)
    }
}

impl From<GitError> for AgentsError {
    fn from(error: GitError) -> AgentsError {
        let code = match error.kind {
            GitErrorKind::Failed => Code::GitError,
            GitErrorKind::Locked => Code::GitLocked,
            GitErrorKind::TimedOut => Code::Timeout,
            GitErrorKind::File => Code::FileError,
            GitErrorKind::Invalid => Code::ValidationError,
            GitErrorKind::Busy => Code::WorktreeBusy,
            GitErrorKind::UncommittedChanges => Code::UncommittedChanges,
            GitErrorKind::Kept => Code::InvalidState,
        };
        AgentsError { suggestions: error.hints, ..AgentsError::new(code, error.message) }
    }
}

impl From<GithubError> for AgentsError {
    fn from(error: GithubError) -> AgentsError {
        let code = match error.kind {
            GithubErrorKind::Invalid => Code::ValidationError,
            GithubErrorKind::Unauthorized => Code::GithubUnauthorized,
            GithubErrorKind::Forbidden => Code::GithubForbidden,
            GithubErrorKind::Rejected => Code::GithubRejected,
            GithubErrorKind::Unavailable => Code::GithubUnavailable,
        };
        let failed = AgentsError { suggestions: error.hints, ..AgentsError::new(code, error.message) };
        match error.status {
            Some(status) => failed.detail("github_status", status),
            None => failed,
        }
    }
}

impl From<StoreError> for AgentsError {
    fn from(error: StoreError) -> AgentsError {
        AgentsError::new(Code::DatabaseError, error.to_string())
            .suggest("`tamis data show` says what is wrong with the database")
    }
}

impl From<rusqlite::Error> for AgentsError {
    fn from(error: rusqlite::Error) -> AgentsError {
        AgentsError::new(Code::DatabaseError, format!("the database failed: {error}"))
            .suggest("`tamis data show` says what is wrong with the database")
    }
}
