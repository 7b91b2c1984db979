//! Branches of instances: listing, restoring, and deleting those without commits of their own.

use std::collections::HashSet;

use super::Repository;
use crate::error::Result;
use crate::names::{BranchName, Commit};

const OURS: &str = "refs/heads/tamis/";

impl Repository {
    /// The instances that have a branch here, by their names.
    pub fn our_branches(&self) -> Result<HashSet<String>> {
        let answer = self.call().args(["for-each-ref", "--format=%(refname)", OURS]).run()?;
        Ok(answer.text().lines().filter_map(|name| name.strip_prefix(OURS)).map(str::to_owned).collect())
    }

    /// Creates a branch again that is gone.
    pub fn restore_branch(&self, branch: &BranchName, at: &Commit) -> Result<()> {
        self.update_reference(&branch.reference(), at, None, "tamis: made again")
    }

    /// Deletes a branch that is still where it began, at a commit that others have. One that is gone, or has moved, is left.
    pub fn drop_unused_branch(&self, branch: &BranchName, began: &Commit) -> Result<bool> {
        match self.branch_tip(branch)? {
            None => Ok(true),
            Some(tip) if tip == *began => {
                self.call().args(["update-ref", "-d", &branch.reference(), began.as_str()]).writes().run()?;
                Ok(true)
            }
            Some(_) => Ok(false),
        }
    }
}
