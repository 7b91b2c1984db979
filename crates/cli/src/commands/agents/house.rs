//! What the commands for agents start with: where things lie, opened as far as each needs.

use std::path::PathBuf;

use tamis_agents::{Archive, Instance, InstanceId, Tmux};
use tamis_config::{Config, Surroundings};
use tamis_store::DataDir;

use crate::error::CliError;
use crate::setup;

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

    fn database(&self) -> PathBuf {
        self.data_dir.state_db()
    }

    /// The tables, made when they are missing.
    pub(super) fn archive(&self) -> Result<Archive, CliError> {
        Ok(Archive::open(&self.database())?)
    }

    /// The tables, if there is a database: whoever only looks need not make one.
    pub(super) fn archive_if_there(&self) -> Result<Option<Archive>, CliError> {
        if !self.database().exists() {
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
}
