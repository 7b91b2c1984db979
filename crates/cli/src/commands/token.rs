use clap::Args;
use tamis_config::ConfigEnvironment;
use tamis_server::ServerToken;
use tamis_store::DataDir;

use crate::error::{CliError, CliResult};
use crate::{print, startup};

/// Print the access token of `tamis serve`
///
/// Clients send it as `Authorization: Bearer <token>` to use every tool. It is created on first use.
#[derive(Args)]
pub(crate) struct TokenCommand {}

pub(crate) fn run(_: TokenCommand) -> CliResult {
    let config = startup::load(&ConfigEnvironment::of_process())?;
    let token = match &config.http.token.value {
        Some(chosen) => ServerToken::chosen(chosen.reveal())?,
        None => {
            let data = DataDir::at(config.data_dir());
            data.create().map_err(CliError::failed)?;
            ServerToken::load_or_create(&data.token())?
        }
    };
    print::line(token.reveal())
}
