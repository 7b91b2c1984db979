//! Reading the tables, and the settings in them, which any process may.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use tamis_git::Head;
use tamis_store::Database;

use crate::error::Result;
use crate::instances::records::{AgentEvent, Feedback, Instance, Review};
use crate::instances::user_config::{self, USER_SETTINGS};
use crate::journal::audit::{Failed, Strangers, audited, record_failure};
use crate::{AgentsError, Code, Identity, InstanceId, Status, db, instances::identity};

/// The tables, opened.
pub struct Archive {
    pub(crate) database: Database,
    pub(crate) strangers: Strangers,
}

/// An instance with its reviews and feedback.
#[derive(Clone, Debug, Serialize)]
pub struct InstanceDetails {
    #[serde(flatten)]
    pub instance: Instance,
    /// Reviews of its work; for a review agent, the one that it is for.
    pub reviews: Vec<Review>,
    /// Feedback to it, or by it.
    pub feedback: Vec<Feedback>,
}

/// A setting with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigValue {
    pub key: &'static str,
    pub value: String,
    pub default: &'static str,
    pub about: &'static str,
}

impl Archive {
    pub fn open(database: &Path) -> Result<Archive> {
        let database = Database::open(database, db::COMPONENTS)?;
        Ok(Archive { database, strangers: Strangers::default() })
    }

    /// Every instance that came to be, oldest first.
    pub fn instances(&self) -> Result<Vec<Instance>> {
        Ok(self.database.read(|connection| db::instances(connection, false))?)
    }

    /// How many of them there are of each status that any has.
    pub fn count_by_status(&self) -> Result<Vec<(Status, u64)>> {
        Ok(self.database.read(db::count_by_status)?)
    }

    pub fn instance(&self, id: &InstanceId) -> Result<Instance> {
        let found = self.database.read(|connection| db::instance(connection, id))?;
        found.ok_or_else(|| self.no_instance(id))
    }

    /// The error for an instance that does not exist, or not for the caller.
    pub fn no_instance(&self, id: &InstanceId) -> AgentsError {
        AgentsError::new(Code::InstanceNotFound, format!("there is no instance `{id}`"))
            .about(id)
            .suggest("`tamis agents list` lists the instances")
    }

    /// The instance that has this token.
    pub fn owner_of(&self, token: &str) -> Result<Option<Instance>> {
        let hash = identity::hash_of(token);
        Ok(self.database.read(|connection| db::instance_by_identity(connection, &hash))?)
    }

    /// Records a call that was refused before a coordinator got it: by an instance, or by an unknown caller.
    pub fn record_refusal(
        &self,
        tool: &str,
        instance: Option<&Instance>,
        head: Option<&Head>,
        input: &Value,
        error: &AgentsError,
    ) -> Result<()> {
        if instance.is_none() && !self.strangers.admit(tool) {
            return Ok(());
        }
        let input = audited(input);
        let by = Failed { instance: instance.map(|instance| &instance.id), head };
        let record = |connection: &_| record_failure(connection, tool, by, &input, error, None);
        Ok(self.database.write(|transaction| record(transaction))?)
    }

    /// Refuses an identity file that names another instance than its token belongs to.
    pub fn check_identity(&self, identity: &Identity) -> Result<()> {
        let owner = self.owner_of(identity.reveal())?.map(|instance| instance.id);
        if owner.as_ref() == Some(&identity.instance) {
            return Ok(());
        }
        let whose = owner.map_or("no instance".to_owned(), |owner| owner.to_string());
        let message = format!("the identity names {}, but its token belongs to {whose}", identity.instance);
        Err(AgentsError::new(Code::IdentityRequired, message)
            .suggest("`tamis agents start` starts an agent with an identity of its own"))
    }

    /// A number that another connection's commit changes, whatever it wrote and in whatever process.
    pub fn version(&self) -> Result<i64> {
        Ok(self.database.read(db::data_version)?)
    }

    pub fn details(&self, id: &InstanceId) -> Result<InstanceDetails> {
        let instance = self.instance(id)?;
        let reviews = self.database.read(|connection| {
            let mut reviews = db::reviews_of(connection, id)?;
            reviews.extend(db::review_by(connection, id)?);
            Ok(reviews)
        })?;
        Ok(InstanceDetails { instance, reviews, feedback: self.feedback(Some(id))? })
    }

    /// Events after this one, in order.
    pub fn events(&self, after: i64, instance: Option<&InstanceId>, most: u32) -> Result<Vec<AgentEvent>> {
        Ok(self.database.read(|connection| db::events_after(connection, after, instance, most))?)
    }

    /// The last events of an instance, latest first: those before this one, or the very last.
    pub fn events_before(
        &self,
        before: Option<i64>,
        instance: &InstanceId,
        most: u32,
    ) -> Result<Vec<AgentEvent>> {
        let before = before.unwrap_or(i64::MAX);
        Ok(self.database.read(|connection| db::events_before(connection, before, instance, most))?)
    }

    /// The number of the last event; 0 before the first.
    pub fn last_event(&self) -> Result<i64> {
        Ok(self.database.read(db::last_event)?)
    }

    /// Feedback given to or by an instance, or all.
    pub fn feedback(&self, instance: Option<&InstanceId>) -> Result<Vec<Feedback>> {
        Ok(self.database.read(|connection| db::feedback_for(connection, instance))?)
    }

    pub fn config(&self) -> Result<Vec<ConfigValue>> {
        let values = self.database.read(|connection| {
            USER_SETTINGS.iter().map(|setting| user_config::value_of(connection, setting)).collect()
        });
        let values: Vec<String> = values?;
        let settings = USER_SETTINGS.iter().zip(values);
        let shown = settings.map(|(setting, value)| ConfigValue {
            key: setting.key,
            value,
            default: setting.default,
            about: setting.about,
        });
        Ok(shown.collect())
    }

    pub fn set_config(&self, key: &str, value: &str) -> Result<()> {
        self.database.write_or(|connection| user_config::set(connection, key, value))
    }
}
