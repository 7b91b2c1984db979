//! Pull requests.

use crate::error::Result;
use crate::{AgentsError, Call, Code, Coordinator, CreatePullRequest, PullRequestCreated};

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
}
