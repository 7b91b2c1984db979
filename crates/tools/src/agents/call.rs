//! The way of every call by an agent.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tamis_agents::{AgentsError, Call, Code, Coordinator};
use tamis_http::{BearerSecret, HttpMethod};

use super::Agents;
use super::errand::{Errand, blocking, nobody_coordinates};
use super::wire::random_key;
use crate::toolset::agents_error;
use crate::{Context, Failure, Services};

/// Makes a tool's call, here or wherever is coordinated.
pub(super) async fn run<I, O>(
    context: &Context,
    tool: &'static str,
    input: I,
    work: impl FnOnce(&Coordinator, &Call<'_>, I) -> Result<O, AgentsError> + Send + 'static,
) -> Result<O, Failure>
where
    I: Serialize + Send + 'static,
    O: DeserializeOwned + Send + 'static,
{
    let agents = served(&context.services)?;
    let token = context.identity.clone().ok_or_else(identity_needed)?;
    let deadline = agents.deadline(context.time_left);
    if context.is_forwarded && !agents.is_coordinating() {
        // Whoever sent it here was told so by somebody who is gone. It looks again.
        return Err(nobody_coordinates("this process does not").into());
    }
    // The same wherever it is done: this process may have become the one that does it when it is tried again.
    let key = context.call_key.clone().map_or_else(random_key, Ok)?;
    let errand = Errand {
        method: HttpMethod::Post,
        path: format!("api/call/{tool}"),
        secret: BearerSecret::new(&token),
        key: key.clone(),
        body: Some(serde_json::to_value(&input).map_err(Failure::internal)?),
        deadline,
        is_repeatable: true,
    };
    let here = move |coordinator: &Coordinator| {
        work(coordinator, &Call { token: &token, key: Some(&key), deadline }, input)
    };
    Ok(agents.run(&errand, here).await?)
}

fn served(services: &Services) -> Result<&Arc<Agents>, Failure> {
    services.agents().ok_or_else(|| Failure::internal("agents are not served here"))
}

/// For whoever is no agent of ours.
pub(crate) fn identity_needed() -> Failure {
    AgentsError::new(
        Code::IdentityRequired,
        "this tool is for agents, and the caller has not shown which it is",
    )
    .suggest("`tamis agents start` starts an agent that may use it")
    .into()
}

/// The failure with the name of the caller, if it is anybody. One that never came to whoever coordinates is written down,
/// as that one does with others.
pub(crate) async fn refused(
    tool: &'static str,
    failure: Failure,
    identity: Option<String>,
    services: &Services,
) -> Failure {
    let never_came = matches!(failure, Failure::InvalidInput { .. });
    let mut error = match agents_error(failure) {
        Ok(error) => error,
        Err(failure) => return failure,
    };
    if error.instance.is_none()
        && let (Some(token), Some(agents)) = (identity, services.agents().cloned())
    {
        let told = error.clone();
        let owner = blocking(move || {
            let archive = agents.archive()?;
            let owner = archive.owner_of(&token)?.map(|instance| instance.id);
            if let (true, Some(owner)) = (never_came, &owner) {
                archive.tell_refusal(tool, owner, &told)?;
                agents.ring();
            }
            Ok(owner)
        });
        // The caller's own failure is what matters to it.
        error.instance = owner.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "a refused call could not be written down");
            None
        });
    }
    error.into()
}
