//! What the user wants done with agents, from the command line and through REST.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tamis_agents::{
    AgentsError, Code, Coordinator, Disposal, Finding, Instance, InstanceId, StartRequest, whereabouts,
};
use tamis_http::{BearerSecret, HttpMethod};

use super::errand::{Errand, NEXT_LOOK, blocking};
use super::wire::random_key;
use super::{Agents, Vacancy};

/// What of an instance in an answer matters: the rest is in the tables.
#[derive(Deserialize)]
struct Named {
    id: InstanceId,
}

impl Agents {
    /// Starts an agent.
    ///
    /// A relative folder is taken from where this process runs, whoever coordinates.
    pub async fn start(self: &Arc<Self>, mut request: StartRequest) -> Result<Instance, AgentsError> {
        if let Ok(folder) = std::path::absolute(&request.folder) {
            request.folder = folder;
        }
        let body = serde_json::to_value(&request).map_err(|error| internal(&error))?;
        // Once more would be one more.
        let errand = Errand { is_repeatable: false, ..self.errand("api/instances".to_owned(), Some(body))? };
        let deadline = errand.deadline;
        let named = move |coordinator: &Coordinator| {
            coordinator.start(&request, deadline).map(|instance| Named { id: instance.id })
        };
        self.instance_after(errand, named).await
    }

    /// Ends an instance. Its worktree and branch stay.
    pub async fn stop(self: &Arc<Self>, id: &InstanceId) -> Result<Instance, AgentsError> {
        let errand = self.errand(format!("api/instances/{id}/stop"), Some(json!({})))?;
        let id = id.clone();
        self.instance_after(errand, move |coordinator| {
            coordinator.stop(&id).map(|instance| Named { id: instance.id })
        })
        .await
    }

    /// Gives an instance up.
    pub async fn abandon(
        self: &Arc<Self>,
        id: &InstanceId,
        reason: Option<&str>,
    ) -> Result<Instance, AgentsError> {
        let errand = self.errand(format!("api/instances/{id}/abandon"), Some(json!({"reason": reason})))?;
        let (id, reason) = (id.clone(), reason.map(str::to_owned));
        self.instance_after(errand, move |coordinator| {
            coordinator.abandon(&id, reason.as_deref()).map(|instance| Named { id: instance.id })
        })
        .await
    }

    /// Removes what is proven to be of no more use, or tells what would be.
    pub async fn gc(self: &Arc<Self>, dry_run: bool) -> Result<Vec<Disposal>, AgentsError> {
        let errand = self.errand(format!("api/gc?dry_run={dry_run}"), Some(json!({})))?;
        self.wish(errand, move |coordinator| coordinator.gc(dry_run)).await
    }

    /// Finds and repairs what is amiss, at once.
    pub async fn reconcile(self: &Arc<Self>) -> Result<Vec<Finding>, AgentsError> {
        let errand = self.errand("api/reconcile".to_owned(), Some(json!({})))?;
        self.wish(errand, Coordinator::reconcile).await
    }

    /// Sets one of the settings in the tables, which any process may.
    pub fn set_config(&self, key: &str, value: &str) -> Result<(), AgentsError> {
        self.archive()?.set_config(key, value)?;
        self.ring();
        Ok(())
    }

    /// The instance as the tables have it once the errand is done.
    async fn instance_after(
        self: &Arc<Self>,
        errand: Errand,
        here: impl FnOnce(&Coordinator) -> Result<Named, AgentsError> + Send + 'static,
    ) -> Result<Instance, AgentsError> {
        let named = self.wish(errand, here).await?;
        let agents = Arc::clone(self);
        blocking(move || agents.archive()?.instance(&named.id)).await
    }

    /// Runs an errand of the user's, who need not wait for somebody to coordinate.
    async fn wish<T: DeserializeOwned + Send + 'static>(
        self: &Arc<Self>,
        errand: Errand,
        here: impl FnOnce(&Coordinator) -> Result<T, AgentsError> + Send + 'static,
    ) -> Result<T, AgentsError> {
        let mut here = here;
        loop {
            let answers =
                || self.is_coordinating() || whereabouts(&self.settings.coordinator.data_dir).is_some();
            if self.settings.vacancy == Vacancy::Wait || answers() || Instant::now() >= errand.deadline {
                return self.run(&errand, here).await;
            }
            let agents = Arc::clone(self);
            let mut wanted = Some(here);
            let filled = blocking(move || {
                let outcome = agents.with_temporary_coordinator(|coordinator| match wanted.take() {
                    Some(here) => here(coordinator),
                    None => Err(internal(&"it was done already")),
                });
                Ok((outcome?, wanted))
            });
            here = match filled.await? {
                (Some(done), _) => return Ok(done),
                // Another command coordinates for a moment, or a server that does not answer yet.
                (None, Some(here)) => here,
                (None, None) => return Err(internal(&"it came to nothing")),
            };
            tokio::time::sleep(NEXT_LOOK).await;
        }
    }

    fn errand(&self, path: String, body: Option<Value>) -> Result<Errand, AgentsError> {
        Ok(Errand {
            method: HttpMethod::Post,
            path,
            secret: self.settings.token.as_deref().and_then(BearerSecret::new),
            key: random_key()?,
            body,
            deadline: self.deadline(None),
            is_repeatable: true,
        })
    }

    /// When a call that has come now is no longer waited for.
    pub(super) fn deadline(&self, time_left: Option<Duration>) -> Instant {
        let limit = self.settings.coordinator.tool_timeout.min(LONGEST_TIMEOUT);
        Instant::now() + time_left.map_or(limit, |left| left.min(limit))
    }
}

/// Longer time limits are taken as this one: nobody waits longer, and clocks do not overflow.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

fn internal(why: &dyn std::fmt::Display) -> AgentsError {
    AgentsError::new(Code::InternalError, why.to_string())
}
