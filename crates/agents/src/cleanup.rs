//! Ending instances, and removing what is proven to be of no more use.

use crate::error::Result;
use crate::records::Instance;
use crate::{AgentsError, Code, Coordinator, Disposal, InstanceId};

impl Coordinator {
    /// Ends an instance. Its worktree and branch stay.
    pub fn stop(&self, id: &InstanceId) -> Result<Instance> {
        let _ = id;
        Err(AgentsError::new(Code::InternalError, "not there yet"))
    }

    /// Gives an instance up: ends it, and removes its worktree once nothing in it can be lost.
    pub fn abandon(&self, id: &InstanceId, reason: Option<&str>) -> Result<Instance> {
        let _ = (id, reason);
        Err(AgentsError::new(Code::InternalError, "not there yet"))
    }

    /// Removes worktrees and branches of instances that are over, where it is proven that nothing is lost.
    pub fn gc(&self, dry_run: bool) -> Result<Vec<Disposal>> {
        let _ = dry_run;
        Err(AgentsError::new(Code::InternalError, "not there yet"))
    }
}
