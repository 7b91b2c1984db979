//! Errors in the form of the contract: a code, a message, the instance, and suggestions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tamis_git::{GitError, GitErrorKind};
use tamis_github::{GithubError, GithubErrorKind};
use tamis_store::{StoreError, rusqlite};

use crate::InstanceId;
use crate::instances::kinds::words;

words! {
    /// The contract's codes. They are for programs, and do not change.
    Code {
        /// The input is invalid.
        ValidationError = "VALIDATION_ERROR",
        /// No token, or one of no instance.
        IdentityRequired = "IDENTITY_REQUIRED",
        /// Not for an agent of this type, or not for this instance.
        PermissionDenied = "PERMISSION_DENIED",
        InstanceNotFound = "INSTANCE_NOT_FOUND",
        /// The instance's status does not allow it.
        InvalidState = "INVALID_STATE",
        ReviewLimitExceeded = "REVIEW_LIMIT_EXCEEDED",
        /// Nothing has changed since the last review.
        ReviewUnchanged = "REVIEW_UNCHANGED",
        /// The same feedback on the same work was given before.
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
        /// 422, and any other status that blames the request.
        GithubRejected = "GITHUB_REJECTED",
        /// No answer, half an answer, 429 or 5xx: trying again may help.
        GithubUnavailable = "GITHUB_UNAVAILABLE",
        DatabaseError = "DATABASE_ERROR",
        /// A file could not be read or written: a full disk, for example.
        FileError = "FILE_ERROR",
        Timeout = "TIMEOUT",
        /// No process coordinates.
        CoordinatorUnavailable = "COORDINATOR_UNAVAILABLE",
        InternalError = "INTERNAL_ERROR",
    }
}

/// A failure. Its texts may quote the output of a program, and never a token.
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
            return failed.suggest("free up disk space and try again; nothing was changed");
        }
        failed
    }

    /// The contract's object, which names the tool that failed.
    pub fn to_object(&self, tool: &str) -> ErrorObject {
        let AgentsError { code, message, suggestions, instance, details } = self.clone();
        ErrorObject {
            code,
            error: Some(code),
            message,
            instance_id: instance,
            tool_name: tool.to_owned(),
            suggestions,
            details,
        }
    }
}

/// The contract's error object, as callers see it and as processes send it to each other. `error` has the code too, as the
/// contract's example shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorObject {
    pub code: Code,
    #[serde(default)]
    error: Option<Code>,
    pub message: String,
    #[serde(default)]
    pub instance_id: Option<InstanceId>,
    #[serde(default)]
    pub tool_name: String,
    #[serde(default)]
    pub suggestions: Vec<String>,
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

impl From<ErrorObject> for AgentsError {
    fn from(object: ErrorObject) -> AgentsError {
        let ErrorObject { code, message, instance_id, suggestions, details, .. } = object;
        AgentsError { code, message, suggestions, instance: instance_id, details }
    }
}

impl From<GitError> for AgentsError {
    fn from(error: GitError) -> AgentsError {
        let code = match error.kind {
            GitErrorKind::Failed | GitErrorKind::TooMuchOutput => Code::GitError,
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
            .suggest("`tamis data show` reports the state of the database")
    }
}

impl From<rusqlite::Error> for AgentsError {
    fn from(error: rusqlite::Error) -> AgentsError {
        AgentsError::new(Code::DatabaseError, format!("the database failed: {error}"))
            .suggest("`tamis data show` reports the state of the database")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_is_the_same_after_serialisation() {
        let error = AgentsError::new(Code::ReviewLimitExceeded, "Maximum review iterations (3) reached")
            .suggest("a")
            .suggest("b")
            .about(&"work-123-a1".parse().unwrap())
            .detail("current_iteration", 3);
        let read =
            |object: &Value| serde_json::from_value::<ErrorObject>(object.clone()).map(AgentsError::from);
        let object = serde_json::to_value(error.to_object("request_review")).unwrap();
        assert_eq!(
            object,
            json!({
                "code": "REVIEW_LIMIT_EXCEEDED",
                "error": "REVIEW_LIMIT_EXCEEDED",
                "message": "Maximum review iterations (3) reached",
                "instance_id": "work-123-a1",
                "tool_name": "request_review",
                "suggestions": ["a", "b"],
                "current_iteration": 3,
            })
        );
        assert_eq!(read(&object).unwrap(), error);
        let bare = AgentsError::new(Code::Timeout, "late");
        assert_eq!(read(&json!(bare.to_object("x"))).unwrap(), bare);
        for other in [
            json!({"error": {"code": "wrong_token", "message": "wrong_token"}}),
            json!({"code": "NO_SUCH", "message": ""}),
            json!({"code": "TIMEOUT"}),
            json!([]),
            json!("TIMEOUT"),
        ] {
            assert!(read(&other).is_err(), "{other}");
        }
    }
}
