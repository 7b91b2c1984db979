use clap::Args;
use tamis_config::{Key, Surroundings};
use tamis_server::ServerToken;
use tamis_store::DataDir;

use crate::error::{CliError, CliResult};
use crate::{print, setup};

/// Print the token that opens everything `serve` serves
///
/// Made on first use. Send it as `Authorization: Bearer <token>`.
#[derive(Args)]
pub(crate) struct TokenCommand {}

pub(crate) fn run(_: TokenCommand) -> CliResult {
    let config = setup::load(&Surroundings::of_process())?;
    let token = match config.text(Key::Token) {
        Some(chosen) => ServerToken::chosen(chosen)?,
        None => {
            let data = DataDir::at(config.data_dir());
            data.create().map_err(CliError::failed)?;
            ServerToken::load_or_create(&data.token())?
        }
    };
    print::line(token.reveal())
}
