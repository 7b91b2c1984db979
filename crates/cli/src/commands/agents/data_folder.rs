//! The data folder of agents, opened as far as each command needs.

use std::sync::Arc;
use std::time::Duration;

use tamis_agents::{AgentsError, Archive, Instance, InstanceId, Tmux};
use tamis_config::{Config, ConfigEnvironment};
use tamis_coordinator::{AbsentCoordinator, AgentService, AgentServiceSettings};
use tamis_store::DataDir;

use crate::error::{CliError, CliResult};
use crate::startup;

/// How long to wait for another coordinator when one has just ended, while the user waits.
const ABSENCE_LIMIT: Duration = Duration::from_secs(2);

pub(super) struct AgentsFolder {
    pub(super) config: Config,
    pub(super) data_dir: DataDir,
}

impl AgentsFolder {
    pub(super) fn of_process() -> Result<AgentsFolder, CliError> {
        let config = startup::load(&ConfigEnvironment::of_process())?;
        let data_dir = DataDir::at(config.data_dir());
        Ok(AgentsFolder { config, data_dir })
    }

    /// The tables, made when they are missing.
    pub(super) fn archive(&self) -> Result<Archive, CliError> {
        Ok(Archive::open(&startup::agents_database(&self.config))?)
    }

    /// The tables, if there is a database: reading does not create one.
    pub(super) fn archive_if_there(&self) -> Result<Option<Archive>, CliError> {
        if !startup::agents_database(&self.config).exists() {
            return Ok(None);
        }
        self.archive().map(Some)
    }

    /// An instance that the user names.
    pub(super) fn existing(&self, id: &InstanceId) -> Result<Instance, CliError> {
        Ok(self.archive()?.instance(id)?)
    }

    /// The sessions of this data folder.
    pub(super) fn tmux(&self) -> Result<Tmux, CliError> {
        Ok(Tmux::for_data_folder(self.data_dir.root())?)
    }

    /// Sends a request to the coordinator, or becomes a temporary coordinator if no process is one.
    pub(super) fn with_service<T>(
        &self,
        request: impl AsyncFnOnce(Arc<AgentService>) -> Result<T, AgentsError>,
    ) -> Result<T, CliError> {
        let settings = startup::agents_settings(&self.config, startup::this_program()?);
        let agents = Arc::new(AgentService::new(AgentServiceSettings {
            absent_coordinator: AbsentCoordinator::TakeLock,
            absence_limit: ABSENCE_LIMIT,
            ..settings
        }));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::internal)?;
        Ok(runtime.block_on(request(agents))?)
    }

    /// Runs the same request for several instances: those that it succeeded for, and the last failure.
    pub(super) fn each(
        &self,
        ids: &[InstanceId],
        request: impl AsyncFn(Arc<AgentService>, &InstanceId) -> Result<Instance, AgentsError>,
    ) -> (Vec<Instance>, CliResult) {
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        for id in ids {
            // A misspelt id needs no coordinator.
            let outcome =
                self.existing(id).and_then(|_| self.with_service(async |agents| request(agents, id).await));
            match outcome {
                Ok(instance) => done.push(instance),
                Err(error) => failed.push(error),
            }
        }
        (done, CliError::last_of(failed))
    }
}
