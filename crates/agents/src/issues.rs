//! Issues, from what a planning agent planned.

use crate::error::Result;
use crate::{AgentsError, Call, Code, Coordinator, CreateIssues, IssuesCreated};

impl Coordinator {
    /// The contract's `create_issues`.
    pub fn create_issues(&self, call: &Call<'_>, input: &CreateIssues) -> Result<IssuesCreated> {
        let _ = (call, input);
        Err(AgentsError::new(Code::InternalError, "not there yet"))
    }
}
