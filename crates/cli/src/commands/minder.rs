use clap::Args;

use crate::error::CliResult;

/// Mind one agent for `tamis run`, which starts this itself
#[derive(Args)]
pub(crate) struct Minder {}

#[cfg(unix)]
pub(crate) fn run() -> CliResult {
    let code = tamis_process::run_minder().map_err(crate::error::CliError::failed)?;
    // Threads that wait for tamis or for the agent's stdin have nothing left to wait for.
    std::process::exit(i32::from(code))
}

#[cfg(not(unix))]
pub(crate) fn run() -> CliResult {
    super::run::unavailable()
}
