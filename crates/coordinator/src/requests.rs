//! The requests of a coordinator: those of the user, and the tools of agents.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tamis_agents::{
    AgentCall, AgentsError, Code, Coordinator, CreateIssues, CreatePullRequest, Disposal, FeedbackSent,
    InstanceId, IssuesCreated, PullRequestCreated, Repair, RequestReview, Result, ReviewRequested,
    SendFeedback, StartRequest,
};

use crate::{CallOptions, CoordinatorRequest};

/// A tool of agents. Its request is the body of `POST /api/call/TOOL`.
pub trait ToolRequest: Clone + Send + Sync + Serialize + DeserializeOwned + 'static {
    const TOOL: &'static str;
    type Answer: Serialize + DeserializeOwned + Send + 'static;

    fn perform(&self, coordinator: &Coordinator, call: &AgentCall<'_>) -> Result<Self::Answer>;
}

impl<T: ToolRequest> CoordinatorRequest for T {
    type Answer = T::Answer;

    fn perform(&self, coordinator: &Coordinator, options: &CallOptions) -> Result<T::Answer> {
        let CallOptions { bearer, idempotency_key, deadline, .. } = options;
        let token = bearer.as_deref().unwrap_or_default();
        let call = AgentCall { token, idempotency_key: Some(idempotency_key), deadline: *deadline };
        ToolRequest::perform(self, coordinator, &call)
    }

    fn path(&self) -> String {
        format!("api/call/{}", T::TOOL)
    }
}

macro_rules! tool_requests {
    ($($request:ident => $answer:ident by $tool:ident,)+) => {
        $(impl ToolRequest for $request {
            const TOOL: &'static str = stringify!($tool);
            type Answer = $answer;

            fn perform(&self, coordinator: &Coordinator, call: &AgentCall<'_>) -> Result<$answer> {
                coordinator.$tool(call, self)
            }
        })+
    };
}

tool_requests! {
    RequestReview => ReviewRequested by request_review,
    SendFeedback => FeedbackSent by send_feedback,
    CreatePullRequest => PullRequestCreated by create_pull_request,
    CreateIssues => IssuesCreated by create_issues,
}

/// What of an instance matters in an answer: the rest is in the tables, which every process reads.
#[derive(Serialize, Deserialize)]
pub struct InstanceName {
    pub id: InstanceId,
}

impl CoordinatorRequest for StartRequest {
    type Answer = InstanceName;
    /// A retry would start a second agent.
    const IS_REPEATABLE: bool = false;

    fn perform(&self, coordinator: &Coordinator, options: &CallOptions) -> Result<InstanceName> {
        coordinator.start(self, options.deadline).map(|instance| InstanceName { id: instance.id })
    }

    fn path(&self) -> String {
        "api/instances".to_owned()
    }
}

#[derive(Clone, Serialize)]
pub(crate) struct Stop {
    #[serde(skip)]
    pub(crate) id: InstanceId,
}

impl CoordinatorRequest for Stop {
    type Answer = InstanceName;

    fn perform(&self, coordinator: &Coordinator, _: &CallOptions) -> Result<InstanceName> {
        coordinator.stop(&self.id).map(|instance| InstanceName { id: instance.id })
    }

    fn path(&self) -> String {
        format!("api/instances/{}/stop", self.id)
    }
}

#[derive(Clone, Serialize)]
pub(crate) struct Abandon {
    #[serde(skip)]
    pub(crate) id: InstanceId,
    pub(crate) reason: Option<String>,
}

impl CoordinatorRequest for Abandon {
    type Answer = InstanceName;

    fn perform(&self, coordinator: &Coordinator, _: &CallOptions) -> Result<InstanceName> {
        coordinator.abandon(&self.id, self.reason.as_deref()).map(|instance| InstanceName { id: instance.id })
    }

    fn path(&self) -> String {
        format!("api/instances/{}/abandon", self.id)
    }
}

#[derive(Clone, Serialize)]
pub(crate) struct CollectGarbage {
    #[serde(skip)]
    pub(crate) dry_run: bool,
}

impl CoordinatorRequest for CollectGarbage {
    type Answer = Vec<Disposal>;

    fn perform(&self, coordinator: &Coordinator, _: &CallOptions) -> Result<Vec<Disposal>> {
        coordinator.gc(self.dry_run)
    }

    fn path(&self) -> String {
        format!("api/gc?dry_run={}", self.dry_run)
    }
}

#[derive(Clone, Serialize)]
pub(crate) struct Reconcile {}

impl CoordinatorRequest for Reconcile {
    type Answer = Vec<Repair>;

    fn perform(&self, coordinator: &Coordinator, _: &CallOptions) -> Result<Vec<Repair>> {
        coordinator.reconcile()
    }

    fn path(&self) -> String {
        "api/reconcile".to_owned()
    }
}

/// A tool's request as another process forwarded it.
pub fn parse_forwarded<R: ToolRequest>(body: &[u8]) -> Result<R> {
    let invalid = |error: String| AgentsError::new(Code::ValidationError, bounded(error));
    // In two steps, so that messages name the parameter and not a column.
    let json: Value = serde_json::from_slice(body).map_err(|error| invalid(error.to_string()))?;
    serde_path_to_error::deserialize(json).map_err(|error| invalid(error.to_string()))
}

/// How much of a message about an input is kept, from its beginning and from its end: where, and what is expected.
const BEGINNING: usize = 600;
const END: usize = 300;

/// A message about an input may quote all of it.
pub fn bounded(message: String) -> String {
    let letters = message.chars().count();
    if letters <= BEGINNING + END {
        return message;
    }
    let (beginning, end) = (message.chars().take(BEGINNING), message.chars().skip(letters - END));
    beginning.chain(['…']).chain(end).collect()
}
