//! Starting coding and planning agents: a worktree, a branch, an identity, a session and a row.

use crate::error::Result;
use std::time::Instant;

use crate::records::Instance;
use crate::{AgentsError, Code, Coordinator, StartRequest};

impl Coordinator {
    /// Starts an agent in a worktree of its own.
    pub fn start(&self, request: &StartRequest, deadline: Instant) -> Result<Instance> {
        let _ = (request, deadline);
        Err(AgentsError::new(Code::InternalError, "not there yet"))
    }
}
