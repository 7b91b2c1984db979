use std::io::IsTerminal;

use clap::Args;
use tamis_agents::InstanceId;

use super::data_folder::AgentsFolder;
use crate::error::{CliError, CliResult};

/// Attach this terminal to the tmux session of an agent
///
/// Detach with Ctrl-b d; the agent keeps running.
#[derive(Args)]
pub(crate) struct Attach {
    /// Id of the instance, as in `tamis agents list`
    id: InstanceId,
}

pub(crate) fn run(arguments: &Attach) -> CliResult {
    let id = &arguments.id;
    let folder = AgentsFolder::of_process()?;
    let instance = folder.existing(id)?;
    let session = folder.tmux()?.session(id)?;
    let logs = format!("`tamis agents logs {id}` shows what it did");
    match session {
        Some(session) if session.alive => {}
        Some(session) => {
            let how = session.exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
            return Err(CliError::failed(anyhow::anyhow!("the agent of {id} has ended{how}")).hint(logs));
        }
        None => {
            let why = instance.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            let error = anyhow::anyhow!("{id} is {} and has no session{why}", instance.status);
            return Err(CliError::failed(error).hint(logs));
        }
    }
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        return Err(CliError::usage("cannot attach: not a terminal")
            .hint(format!("`tamis agents logs --follow {id}` follows it in a pipe")));
    }
    let error = folder.tmux()?.attach_command(id).exec();
    Err(CliError::failed(anyhow::Error::new(error).context("cannot run tmux")))
}
