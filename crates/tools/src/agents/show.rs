//! What is known of agents, as it may be shown: without the secrets that tasks and feedback may quote.

use serde::{Deserialize, Serialize};
use tamis_agents::{AgentsError, Code, ConfigValue, Details, Event, Feedback, Instance, InstanceId, Status};
use tamis_redact::Redacted;

use super::Agents;
use crate::metrics::{head, line};

/// Events that are given at once, however many were asked for.
const MOST_EVENTS: u32 = 1000;
const EVENTS: u32 = 200;

/// Which instances.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstancesAsked {
    pub status: Option<String>,
    #[serde(rename = "type")]
    pub agent_type: Option<String>,
}

/// Which events.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventsAsked {
    /// The last one that is known already.
    #[serde(default)]
    pub after: i64,
    pub instance: Option<String>,
    pub limit: Option<u32>,
}

/// Events, and the number of the last that there is.
#[derive(Clone, Debug, Serialize)]
pub struct EventsShown {
    pub events: Vec<Redacted<Event>>,
    pub last_seq: i64,
}

impl Agents {
    /// The instances, oldest first.
    pub fn instances(&self, asked: &InstancesAsked) -> Result<Vec<Redacted<Instance>>, AgentsError> {
        let status =
            asked.status.as_deref().map(|word| word.parse().map_err(|error| wrong("status", &error)));
        let status = status.transpose()?;
        let agent_type =
            asked.agent_type.as_deref().map(|word| word.parse().map_err(|error| wrong("type", &error)));
        let agent_type = agent_type.transpose()?;
        let mut instances = self.archive()?.instances()?;
        instances.retain(|instance| {
            status.is_none_or(|status| instance.status == status)
                && agent_type.is_none_or(|agent_type| instance.agent_type == agent_type)
        });
        Ok(instances.into_iter().map(Redacted::new).collect())
    }

    /// All that is known of one.
    pub fn details(&self, id: &InstanceId) -> Result<Redacted<Details>, AgentsError> {
        Ok(Redacted::new(self.archive()?.details(id)?))
    }

    /// Events after one that is known, in order.
    pub fn events(&self, asked: &EventsAsked) -> Result<EventsShown, AgentsError> {
        let instance = asked.instance.as_deref().map(parse_id).transpose()?;
        let archive = self.archive()?;
        let most = asked.limit.unwrap_or(EVENTS).clamp(1, MOST_EVENTS);
        // Read first, so that it is never past an event that is not given.
        let last_seq = archive.last_event()?;
        let events = archive.events(asked.after, instance.as_ref(), most)?;
        let events: Vec<_> = events.into_iter().map(Redacted::new).collect();
        let last_seq = events.last().map_or(last_seq, |event| event.seq.max(last_seq));
        Ok(EventsShown { events, last_seq })
    }

    /// What reviewers said, to or by an instance, or all of it.
    pub fn feedback(&self, instance: Option<&InstanceId>) -> Result<Vec<Redacted<Feedback>>, AgentsError> {
        Ok(self.archive()?.feedback(instance)?.into_iter().map(Redacted::new).collect())
    }

    /// How many there are of each status, what has happened, and who coordinates, as Prometheus reads it.
    pub(crate) fn render_metrics(&self, text: &mut String) {
        let coordinating = u8::from(self.is_coordinating());
        head(text, "tamis_agents_coordinating", "gauge", "Whether this process coordinates agents.");
        line(text, "tamis_agents_coordinating", &[], coordinating);
        let counted = || {
            let archive = self.archive()?;
            Ok::<_, AgentsError>((archive.count_by_status()?, archive.last_event()?))
        };
        // Without the tables there is nothing to tell of them; the tools' own counts are told all the same.
        let Ok((counts, last_event)) = counted() else { return };
        head(text, "tamis_agents_instances", "gauge", "Instances by status.");
        for status in Status::ALL {
            let count = counts.iter().find(|(counted, _)| counted == status).map_or(0, |(_, count)| *count);
            line(text, "tamis_agents_instances", &[("status", status.as_str())], count);
        }
        head(text, "tamis_agents_events_total", "counter", "Events of agents.");
        line(text, "tamis_agents_events_total", &[], last_event);
    }

    /// The settings in the tables.
    pub fn config(&self) -> Result<Vec<ConfigValue>, AgentsError> {
        self.archive()?.config()
    }
}

/// The instance of this name.
fn parse_id(text: &str) -> Result<InstanceId, AgentsError> {
    text.parse().map_err(|error| wrong("instance", &error))
}

fn wrong(parameter: &str, why: &dyn std::fmt::Display) -> AgentsError {
    AgentsError::new(Code::ValidationError, format!("{parameter}: {why}")).detail("parameter", parameter)
}
