use std::sync::Arc;

use clap::Args;
use tamis_config::{Config, ConfigEnvironment};
use tamis_server::{Served, ServerProfile};
use tamis_tools::{Registry, Toolset};

use crate::error::{CliError, CliResult};
use crate::{setup, stdio};

/// Serve one MCP client over stdin and stdout
///
/// This is what a coding agent starts: put `tamis mcp` into its MCP configuration. The toolset `agents` is for agents that
/// `tamis agents start` has started, which have an identity (TAMIS_IDENTITY); its calls go to whichever `tamis serve` coordinates.
#[derive(Args)]
pub(crate) struct Mcp {
    /// Serve only these toolsets
    #[arg(long, value_name = "TOOLSET", value_delimiter = ',')]
    tools: Vec<String>,
}

pub(crate) fn run(arguments: Mcp) -> CliResult {
    let environment = ConfigEnvironment::of_process();
    let config = setup::load(&environment)?;
    let registry = registry(&config, &arguments.tools)?;
    let services = setup::services(&config)?;
    let served = Served {
        registry: Arc::new(registry),
        services: Arc::clone(&services),
        profile: &ServerProfile::TAMIS,
    };
    // Not at once: the client waits for its first answer.
    let clean_up = setup::clean_up_now_and_then(Arc::clone(&services), setup::CLEAN_UP_CHECK);
    let ended = stdio::serve(served, setup::project(&environment), clean_up);
    setup::finish(&services);
    ended
}

/// What is asked for. The tools of agents are for whoever can say which one it is: others are not shown them, and
/// whoever asks for them without is told at once, rather than by every call.
fn registry(config: &Config, toolsets: &[String]) -> Result<Registry, CliError> {
    let registry = setup::registry(toolsets)?;
    if setup::identity(config)?.is_some() {
        return Ok(registry);
    }
    if toolsets.iter().any(|name| Toolset::named(name) == Some(Toolset::Agents)) {
        return Err(CliError::usage(
            "the toolset agents is for agents that tamis has started, and this is none",
        )
        .hint("`tamis agents start` starts one; without `--tools agents` the other tools are served"));
    }
    let others: Vec<_> = Toolset::ALL.iter().copied().filter(|toolset| *toolset != Toolset::Agents).collect();
    Ok(registry.only(&others))
}
