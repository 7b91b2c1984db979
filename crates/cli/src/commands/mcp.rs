use std::sync::Arc;

use clap::Args;
use tamis_config::Surroundings;
use tamis_server::{Served, serve_stdio};
use tokio_util::sync::CancellationToken;

use crate::error::{CliError, CliResult};
use crate::{setup, signals};

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
    let services = setup::services(&config);
    let served =
        Served { registry: Arc::new(setup::registry(&arguments.tools)?), services: Arc::clone(&services) };
    // One client, and pruning has threads of its own: one thread is enough, and starts faster.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::internal)?;
    let ended = runtime.block_on(async {
        // Not at once: the client waits for its first answer.
        tokio::spawn(setup::clean_up_now_and_then(Arc::clone(&services), setup::CLEAN_UP_CHECK));
        let shutdown = CancellationToken::new();
        let project = setup::project(&surroundings);
        let session = serve_stdio(served, project, std::io::stdin(), std::io::stdout(), shutdown.clone());
        tokio::spawn(signals::watch(shutdown));
        session.await
    });
    setup::finish(&services);
    runtime.shutdown_background();
    ended.map_err(CliError::failed)
}
