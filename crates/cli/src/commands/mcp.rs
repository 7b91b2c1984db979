use std::sync::Arc;

use clap::Args;
use tamis_config::{Config, ConfigEnvironment};
use tamis_server::{Served, ServerProfile};
use tamis_tools::{Access, Registry, Toolset};

use crate::error::{CliError, CliResult};
use crate::{setup, stdio};

/// Serve one MCP client over stdin and stdout
///
/// Add `tamis mcp` to the MCP configuration of a coding agent, which then starts it. The `agents` toolset is available only to
/// agents started by `tamis agents start`, which have an identity (TAMIS_IDENTITY). Its calls are forwarded to the coordinating
/// `tamis serve`.
#[derive(Args)]
pub(crate) struct Mcp {
    /// Serve only these toolsets, separated by commas
    #[arg(long, value_name = "TOOLSET", value_delimiter = ',')]
    tools: Vec<String>,
}

pub(crate) fn run(arguments: Mcp) -> CliResult {
    let environment = ConfigEnvironment::of_process();
    let config = setup::load(&environment)?;
    let registry = registry(&config, &arguments.tools)?;
    let has_research = registry.list(Access::Full).any(|tool| tool.toolset == Toolset::Research);
    let services = setup::services(&config)?;
    let served = Served {
        registry: Arc::new(registry),
        services: Arc::clone(&services),
        profile: &ServerProfile::TAMIS,
    };
    let meanwhile = {
        let services = Arc::clone(&services);
        async move {
            if has_research {
                // Folders that cannot be researched are reported now, not by the first question.
                let services = Arc::clone(&services);
                tokio::task::spawn_blocking(move || services.research().is_some());
            }
            // Later, because the client waits for its first answer.
            setup::clean_up_now_and_then(services, setup::CLEAN_UP_CHECK).await;
        }
    };
    let ended = stdio::serve(served, setup::project(&environment), meanwhile);
    setup::finish(&services);
    ended
}

/// The requested toolsets. Without an identity the agents' tools are left out, and requesting them is an error at once
/// instead of one in every call.
fn registry(config: &Config, toolsets: &[String]) -> Result<Registry, CliError> {
    let registry = setup::registry(toolsets)?;
    if setup::identity(config)?.is_some() {
        return Ok(registry);
    }
    if toolsets.iter().any(|name| Toolset::named(name) == Some(Toolset::Agents)) {
        return Err(CliError::usage("cannot serve toolset `agents`: this process has no agent identity")
            .hint(
                "start an agent with `tamis agents start`, or omit `--tools agents` to serve the other tools",
            ));
    }
    let others: Vec<_> = Toolset::ALL.iter().copied().filter(|toolset| *toolset != Toolset::Agents).collect();
    Ok(registry.only(&others))
}
