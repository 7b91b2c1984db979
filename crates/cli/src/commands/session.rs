use std::path::PathBuf;

use clap::Args;

use crate::error::{CliError, CliResult};

/// Become the agent of a session, for the coordinator, which starts this itself
#[derive(Args)]
pub(crate) struct Session {
    /// What to become; taken away once it is read
    #[arg(required_unless_present = "log")]
    launch: Option<PathBuf>,
    /// Keep the log of a session instead: what comes on stdin
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
