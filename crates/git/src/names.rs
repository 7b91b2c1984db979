//! Commits and branches, as git names them: sound wherever there is one, and never an option.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{GitError, GitErrorKind};

/// What the names of instances' branches begin with.
const INSTANCES: &str = "tamis/";

/// The full name of a commit, a tree or a file's content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Commit(String);

/// A branch, without `refs/heads/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

impl Commit {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl BranchName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its full name: `refs/heads/…`.
    pub fn reference(&self) -> String {
        format!("refs/heads/{}", self.0)
    }

    /// The branch of an instance: `tamis/NAME`.
    pub fn of_instance(name: &str) -> Result<BranchName, GitError> {
        format!("{INSTANCES}{name}").parse()
    }

    /// Whether it is an instance's, by its name.
    pub fn is_ours(&self) -> bool {
        self.0.starts_with(INSTANCES)
    }

    /// The name of the instance that the branch belongs to.
    pub(crate) fn instance(&self) -> &str {
        self.0.strip_prefix(INSTANCES).unwrap_or(&self.0)
    }

    /// The reference that holds what the instance left, for undo.
    pub fn undo_reference(&self) -> String {
        format!("refs/tamis/undo/{}", self.instance())
    }
}

/// git's own rules for branches.
fn is_branch(name: &str) -> bool {
    let special = |letter: char| letter.is_ascii_control() || " ~^:?*[\\".contains(letter);
    let sound = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name.len() <= 200
        && name != "@"
        && name != "HEAD"
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(special)
        && name.split('/').all(sound)
}

impl FromStr for Commit {
    type Err = GitError;

    fn from_str(text: &str) -> Result<Commit, GitError> {
        let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if matches!(text.len(), 40 | 64) && text.bytes().all(hex) {
            return Ok(Commit(text.to_owned()));
        }
        let start: String = text.chars().take(80).collect();
        Err(GitError::new(
            GitErrorKind::Invalid,
            format!("`{}` is not a full commit id", start.escape_debug()),
        ))
    }
}

impl FromStr for BranchName {
    type Err = GitError;

    fn from_str(text: &str) -> Result<BranchName, GitError> {
        if is_branch(text) {
            return Ok(BranchName(text.to_owned()));
        }
        let start: String = text.chars().take(80).collect();
        Err(GitError::new(
            GitErrorKind::Invalid,
            format!("`{}` is not a valid branch name", start.escape_debug()),
        )
        .hint("`git branch --list` lists the branches"))
    }
}

impl TryFrom<String> for Commit {
    type Error = GitError;

    fn try_from(text: String) -> Result<Commit, GitError> {
        text.parse()
    }
}

impl TryFrom<String> for BranchName {
    type Error = GitError;

    fn try_from(text: String) -> Result<BranchName, GitError> {
        text.parse()
    }
}

impl From<Commit> for String {
    fn from(commit: Commit) -> String {
        commit.0
    }
}

impl From<BranchName> for String {
    fn from(branch: BranchName) -> String {
        branch.0
    }
}

impl Deref for Commit {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Deref for BranchName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Commit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
