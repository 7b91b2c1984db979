use std::path::PathBuf;

use clap::Args;

use crate::error::{CliError, CliResult};

/// Become the agent of a session; started by the coordinator only
#[derive(Args)]
pub(crate) struct Session {
    /// File that describes the agent; deleted once read
    #[arg(required_unless_present = "log")]
    launch: Option<PathBuf>,
    /// Write stdin to this log of a session instead
    #[arg(long, conflicts_with = "launch")]
    log: Option<PathBuf>,
}

pub(crate) fn run(arguments: Session) -> CliResult {
    if let Some(log) = arguments.log {
        return tamis_agents::keep_log(&log, std::io::stdin()).map_err(CliError::failed);
    }
    let Some(launch) = arguments.launch else { return Ok(()) };
    match tamis_agents::run_session(&launch).map_err(CliError::failed)? {}
}
