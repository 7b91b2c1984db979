//! The interface to a coordinator: one typed request, one typed answer, wherever it runs.

use std::future::Future;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tamis_agents::{AgentsError, Coordinator, Result};

/// A coordinator: this process's own, another process's, or whichever holds the leader lock.
pub trait CoordinatorApi {
    fn send<R: CoordinatorRequest>(
        &self,
        request: R,
        options: CallOptions,
    ) -> impl Future<Output = Result<R::Answer>> + Send;
}

/// One operation of the coordinator, validated: how it is performed here, and where another process takes it.
pub trait CoordinatorRequest: Clone + Send + Sync + Serialize + 'static {
    type Answer: Serialize + DeserializeOwned + Send + 'static;
    /// Whether it may be sent again when it is unknown whether it was done: its idempotency key, or its nature, sees to it
    /// that it is done once.
    const IS_REPEATABLE: bool = true;

    fn perform(&self, coordinator: &Coordinator, options: &CallOptions) -> Result<Self::Answer, AgentsError>;

    /// The route of the coordinator's server, which takes the request as its body.
    fn path(&self) -> String;
}

/// What travels with a request.
#[derive(Clone)]
pub struct CallOptions {
    /// The caller's token: an instance's identity for the tools of agents, the server's token for the user.
    pub bearer: Option<String>,
    /// The same for every retry, so that what was done is not done twice.
    pub idempotency_key: String,
    /// When the work must be over: a little before the caller stops waiting, so that it still gets the answer.
    pub deadline: Instant,
    /// When the caller stops waiting.
    pub answer_by: Instant,
}
