//! The tools of agents: each turns its input into a request for the coordinator.

pub(crate) mod create_issues;
pub(crate) mod create_pull_request;
pub(crate) mod request_review;
pub(crate) mod send_feedback;

use serde_json::Value;
use tamis_coordinator::{ToolRequest, identity_required, was_not_done};

use crate::toolset::agents_error;
use crate::{Context, Failure, Services};

/// Sends a request to the coordinator for the agent that called.
async fn call<R: ToolRequest>(context: &Context, request: R) -> Result<<R as ToolRequest>::Answer, Failure> {
    let agents = context.services.agents();
    let agents = agents.ok_or_else(|| Failure::internal("agents are not served here"))?;
    let identity = context.identity.clone().ok_or_else(identity_required)?;
    Ok(agents.call_tool(identity, request).await?)
}

/// The failure with the name of the caller. One that never reached a coordinator is recorded here, as the coordinator does
/// with others.
pub(crate) async fn attribute_failure(
    tool: &'static str,
    failure: Failure,
    identity: Option<String>,
    input: Value,
    services: &Services,
) -> Failure {
    let is_invalid = matches!(failure, Failure::InvalidInput { .. });
    let mut error = match agents_error(failure) {
        Ok(error) => error,
        Err(failure) => return failure,
    };
    // Without a coordinator nobody else records it.
    let was_refused_here = identity.is_none() || is_invalid || was_not_done(&error);
    if error.instance.is_none()
        && let Some(agents) = services.agents().cloned()
    {
        let owner = match identity {
            Some(identity) if !was_refused_here => agents.owner_of(identity).await,
            identity => agents.record_refusal(tool, identity, input, error.clone()).await,
        };
        // The caller's own failure is what matters to it.
        error.instance = owner.unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot record a refused call");
            None
        });
    }
    error.into()
}
