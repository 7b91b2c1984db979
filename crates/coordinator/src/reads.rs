//! Reading the tables, which any process may. Secrets that tasks and feedback quote are redacted before they leave.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tamis_agents::{
    AgentEvent, AgentsError, Code, ConfigValue, Feedback, Instance, InstanceDetails, InstanceId, Result,
    Status,
};
use tamis_redact::Redacted;

use crate::{AgentService, identity_required};

/// Maximum and default number of events in a page.
const MOST_EVENTS: u32 = 1000;
const DEFAULT_EVENTS: u32 = 200;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceQuery {
    pub status: Option<String>,
    #[serde(rename = "type")]
    pub agent_type: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventQuery {
    /// The last event that the caller has.
    #[serde(default)]
    pub after: i64,
    pub instance: Option<String>,
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Serialize)]
pub struct EventPage {
    pub events: Vec<Redacted<AgentEvent>>,
    /// The number of the last event in the table.
    pub last_seq: i64,
}

impl AgentService {
    /// The instances, oldest first: all for the user, those of its repository for the instance with this identity.
    pub fn instances(
        &self,
        query: &InstanceQuery,
        identity: Option<&str>,
    ) -> Result<Vec<Redacted<Instance>>> {
        let status =
            query.status.as_deref().map(|word| word.parse().map_err(|error| invalid("status", &error)));
        let status = status.transpose()?;
        let agent_type =
            query.agent_type.as_deref().map(|word| word.parse().map_err(|error| invalid("type", &error)));
        let agent_type = agent_type.transpose()?;
        let visible = self.visible_repository(identity)?;
        let mut instances = self.archive()?.instances()?;
        instances.retain(|instance| {
            visible.as_ref().is_none_or(|repository| instance.repository == *repository)
                && status.is_none_or(|status| instance.status == status)
                && agent_type.is_none_or(|agent_type| instance.agent_type == agent_type)
        });
        Ok(instances.into_iter().map(Redacted::new).collect())
    }

    /// An instance with its reviews and feedback. For an instance, those of other repositories do not exist.
    pub fn details(&self, id: &InstanceId, identity: Option<&str>) -> Result<Redacted<InstanceDetails>> {
        let archive = self.archive()?;
        let details = archive.details(id)?;
        match self.visible_repository(identity)? {
            Some(repository) if details.instance.repository != repository => Err(archive.no_instance(id)),
            _ => Ok(Redacted::new(details)),
        }
    }

    /// The repository whose instances the caller may see; none for the user, who may see all.
    fn visible_repository(&self, identity: Option<&str>) -> Result<Option<PathBuf>> {
        let Some(identity) = identity else { return Ok(None) };
        let owner = self.archive()?.owner_of(identity)?.ok_or_else(identity_required)?;
        Ok(Some(owner.repository))
    }

    /// Events after one that the caller has, in order.
    pub fn events(&self, query: &EventQuery) -> Result<EventPage> {
        let instance = query.instance.as_deref().map(parse_id).transpose()?;
        let archive = self.archive()?;
        let limit = query.limit.unwrap_or(DEFAULT_EVENTS).clamp(1, MOST_EVENTS);
        // Read first, so that it is never past an event that is not in the page.
        let last_seq = archive.last_event()?;
        let events = archive.events(query.after, instance.as_ref(), limit)?;
        let events: Vec<_> = events.into_iter().map(Redacted::new).collect();
        let last_seq = events.last().map_or(last_seq, |event| event.seq.max(last_seq));
        Ok(EventPage { events, last_seq })
    }

    /// Feedback to or by an instance, or all of it.
    pub fn feedback(&self, instance: Option<&InstanceId>) -> Result<Vec<Redacted<Feedback>>> {
        Ok(self.archive()?.feedback(instance)?.into_iter().map(Redacted::new).collect())
    }

    /// The number of instances by status, and of events.
    pub fn counts(&self) -> Result<(Vec<(Status, u64)>, i64)> {
        let archive = self.archive()?;
        Ok((archive.count_by_status()?, archive.last_event()?))
    }

    /// The settings in the tables.
    pub fn config(&self) -> Result<Vec<ConfigValue>> {
        self.archive()?.config()
    }
}

fn parse_id(text: &str) -> Result<InstanceId> {
    text.parse().map_err(|error| invalid("instance", &error))
}

fn invalid(parameter: &str, why: &dyn std::fmt::Display) -> AgentsError {
    AgentsError::new(Code::ValidationError, format!("{parameter}: {why}")).detail("parameter", parameter)
}
