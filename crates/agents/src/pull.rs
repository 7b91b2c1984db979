//! Pull requests.

use crate::error::Result;
use crate::records::{Operation, OperationState};
use crate::{
    AgentsError, Call, Code, Coordinator, CreatePullRequest, Finding, InstanceId, PullRequestCreated, db,
};

impl Coordinator {
    /// The contract's `create_pull_request`.
    pub fn create_pull_request(
        &self,
        call: &Call<'_>,
        input: &CreatePullRequest,
    ) -> Result<PullRequestCreated> {
        let _ = (call, input);
        Err(AgentsError::new(Code::InternalError, "not there yet"))
    }

    /// After a crash: finishes the pull request or takes it back, and tells which.
    pub(crate) fn repair_pull(&self, operation: &Operation) -> Result<String> {
        self.archive
            .database
            .write(|connection| db::end_operation(connection, operation.id, OperationState::Undone, None))?;
        Ok("it is undone".to_owned())
    }

    /// Asks now and then whether the pull request of a family's head was merged or closed. The family is held.
    pub(crate) fn follow_pull_request(&self, family: &InstanceId, findings: &mut Vec<Finding>) -> Result<()> {
        let _ = (family, findings);
        Ok(())
    }
}
