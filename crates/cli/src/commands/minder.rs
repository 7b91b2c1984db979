use clap::Args;

use crate::error::{CliError, CliResult};

/// Run one agent as its parent process; started by `tamis run` only
#[derive(Args)]
pub(crate) struct Minder {}

pub(crate) fn run() -> CliResult {
    let code = tamis_process::run_minder().map_err(CliError::failed)?;
    // `exit` ends the threads that still wait for tamis or for the agent's stdin.
    std::process::exit(i32::from(code))
}
