//! What the commands for agents start with: where things lie, opened as far as each needs.

use std::sync::Arc;
use std::time::Duration;

use tamis_agents::{AgentsError, Archive, Instance, InstanceId, Tmux};
use tamis_config::{Config, Surroundings};
use tamis_coordinator::{AbsentCoordinator, AgentService, AgentServiceSettings};
use tamis_store::DataDir;

use crate::error::{CliError, CliResult};
use crate::{print, setup};

/// How long nobody may coordinate where just now somebody did, while a person waits. Whoever takes over does so at once.
const ABSENCE_LIMIT: Duration = Duration::from_secs(2);

pub(super) struct House {
    pub(super) config: Config,
    pub(super) data_dir: DataDir,
}

impl House {
    pub(super) fn of_process() -> Result<House, CliError> {
        let config = setup::load(&Surroundings::of_process())?;
        let data_dir = DataDir::at(config.data_dir());
        Ok(House { config, data_dir })
    }

    /// The tables, made when they are missing.
    pub(super) fn archive(&self) -> Result<Archive, CliError> {
        Ok(Archive::open(&setup::agents_database(&self.config))?)
    }

    /// The tables, if there is a database: whoever only looks need not make one.
    pub(super) fn archive_if_there(&self) -> Result<Option<Archive>, CliError> {
        if !setup::agents_database(&self.config).exists() {
            return Ok(None);
        }
        self.archive().map(Some)
    }

    /// An instance that somebody names.
    pub(super) fn existing(&self, id: &InstanceId) -> Result<Instance, CliError> {
        Ok(self.archive()?.instance(id)?)
    }

    /// The sessions of this data folder.
    pub(super) fn tmux(&self) -> Result<Tmux, CliError> {
        Ok(Tmux::for_data_folder(self.data_dir.root())?)
    }

    /// Asks whoever coordinates; this process does, for as long as it takes, when nobody else does.
    pub(super) fn ask<T>(
        &self,
        wish: impl AsyncFnOnce(Arc<AgentService>) -> Result<T, AgentsError>,
    ) -> Result<T, CliError> {
        let settings = setup::agents_settings(&self.config, setup::this_program()?);
        let agents = Arc::new(AgentService::new(AgentServiceSettings {
            absent_coordinator: AbsentCoordinator::TakeLock,
            absence_limit: ABSENCE_LIMIT,
            ..settings
        }));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::internal)?;
        Ok(runtime.block_on(wish(agents))?)
    }

    /// Asks the same of several, one after the other: those that it was done with, and whether it failed for any.
    pub(super) fn each(
        &self,
        ids: &[InstanceId],
        wish: impl AsyncFn(Arc<AgentService>, &InstanceId) -> Result<Instance, AgentsError>,
    ) -> (Vec<Instance>, CliResult) {
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        for id in ids {
            // Nobody need coordinate to learn of a misspelt name.
            let asked = self.existing(id).and_then(|_| self.ask(async |agents| wish(agents, id).await));
            match asked {
                Ok(instance) => done.push(instance),
                Err(error) => failed.push(error),
            }
        }
        let last = failed.pop();
        failed.iter().for_each(print::error);
        (done, last.map_or(Ok(()), Err))
    }
}
