use std::sync::Arc;

use clap::Args;
use tamis_config::Surroundings;
use tamis_server::{Presence, Served};

use crate::error::CliResult;
use crate::{setup, stdio};

/// Serve one MCP client over stdin and stdout
///
/// This is what a coding agent starts: put `tamis mcp` into its MCP configuration.
#[derive(Args)]
pub(crate) struct Mcp {
    /// Serve only these toolsets
    #[arg(long, value_name = "TOOLSET", value_delimiter = ',')]
    tools: Vec<String>,
}

pub(crate) fn run(arguments: Mcp) -> CliResult {
    let surroundings = Surroundings::of_process();
    let config = setup::load(&surroundings)?;
    let services = setup::services(&config)?;
    let served = Served {
        registry: Arc::new(setup::registry(&arguments.tools)?),
        services: Arc::clone(&services),
        presence: &Presence::TAMIS,
    };
    // Not at once: the client waits for its first answer.
    let clean_up = setup::clean_up_now_and_then(Arc::clone(&services), setup::CLEAN_UP_CHECK);
    let ended = stdio::serve(served, setup::project(&surroundings), clean_up);
    setup::finish(&services);
    ended
}
