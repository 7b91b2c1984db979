use std::io::IsTerminal;
use std::sync::Arc;

use clap::Args;
use tamis_config::{Config, ConfigEnvironment};
use tamis_server::{Served, ServerProfile, listed_bytes};
use tamis_tools::{Access, Credentials, Registry, Tool, Toolset};

use crate::error::{CliError, CliResult};
use crate::{print, startup, stdio};

/// Width of the list of tools in the help.
const HELP_WIDTH: usize = 78;

/// Serve one MCP client over stdin and stdout
///
/// Add `tamis mcp` to the MCP configuration of a coding agent, which then starts it. The `agents` toolset is available only to
/// agents started by `tamis agents start`, which have an identity (TAMIS_IDENTITY). Its calls are forwarded to the coordinating
/// `tamis serve`.
#[derive(Args)]
pub(crate) struct Mcp {
    /// Toolsets or tools to serve, separated by commas; `all` for all of them [default: default]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    tools: Vec<String>,
}

pub(crate) fn run(arguments: Mcp) -> CliResult {
    let environment = ConfigEnvironment::of_process();
    let config = startup::load(&environment)?;
    let registry = registry(&config, &arguments.tools)?;
    let has_research = registry.list(Access::Full).any(|tool| tool.toolset == Toolset::Research);
    let services = startup::services(&config)?;
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
            startup::clean_up_now_and_then(services, startup::CLEAN_UP_CHECK).await;
        }
    };
    if std::io::stdin().is_terminal() {
        print::note(
            "waiting for MCP messages on stdin: `tamis mcp` is for coding agents, which start it themselves\n\
             hint: `claude mcp add tamis -- tamis mcp` adds it to Claude Code; Ctrl-D ends it",
        );
    }
    let ended = stdio::serve(served, startup::project(&environment), meanwhile);
    startup::finish(&services);
    ended
}

/// The named tools. Without an identity the agents' tools are left out, and naming them is an error at once instead of one in
/// every call.
fn registry(config: &Config, names: &[String]) -> Result<Registry, CliError> {
    let has_identity = startup::identity(config)?.is_some();
    let choices = names.iter().map(|name| Choice::parse(name)).collect::<Result<Vec<_>, _>>()?;
    if !has_identity && choices.iter().any(Choice::is_for_agents) {
        return Err(CliError::usage("cannot serve toolset `agents`: this process has no agent identity")
            .hint(
                "start an agent with `tamis agents start`, or omit `--tools agents` to serve the other tools",
            ));
    }
    let is_chosen = |tool: &Tool| match choices.as_slice() {
        [] => tool.is_default() || tool.toolset == Toolset::Agents,
        choices => choices.iter().any(|choice| choice.includes(tool)),
    };
    Ok(Registry::all().filter(|tool| (has_identity || tool.toolset != Toolset::Agents) && is_chosen(tool)))
}

/// What a name after `--tools` selects.
enum Choice {
    All,
    Default,
    Set(Toolset),
    One { name: String, toolset: Toolset },
}

impl Choice {
    fn parse(name: &str) -> Result<Choice, CliError> {
        match name {
            "all" => return Ok(Choice::All),
            "default" => return Ok(Choice::Default),
            _ => {}
        }
        if let Some(toolset) = Toolset::named(name) {
            return Ok(Choice::Set(toolset));
        }
        let registry = Registry::all();
        let tool = registry.list(Credentials::ALL).find(|tool| tool.has_name(name));
        tool.map(|tool| Choice::One { name: tool.name.to_owned(), toolset: tool.toolset }).ok_or_else(|| {
            let toolsets = Toolset::ALL.iter().map(|toolset| toolset.name()).collect::<Vec<_>>().join(", ");
            CliError::usage(format_args!("unknown tool or toolset `{name}`"))
                .hint(format!("the toolsets are: default, {toolsets}, all; `tamis tools` lists the tools"))
        })
    }

    fn includes(&self, tool: &Tool) -> bool {
        match self {
            Choice::All => true,
            Choice::Default => tool.is_default(),
            Choice::Set(toolset) => tool.toolset == *toolset,
            Choice::One { name, .. } => tool.name == name,
        }
    }

    fn is_for_agents(&self) -> bool {
        matches!(self, Choice::Set(Toolset::Agents) | Choice::One { toolset: Toolset::Agents, .. })
    }
}

/// The toolsets with their tools and what they cost, for the end of the help.
pub(crate) fn tool_costs() -> String {
    let registry = Registry::all();
    let tools: Vec<_> = registry.list(Credentials::ALL).map(|tool| (tool, listed_bytes(tool))).collect();
    let mut text = String::from("Toolsets, and the bytes that they take in the context of every session:\n");
    let mut row = |name: &str, lists: bool, is_in: &dyn Fn(&Tool) -> bool| {
        let chosen: Vec<_> = tools.iter().filter(|(tool, _)| is_in(tool)).collect();
        // With the commas between them.
        let bytes = chosen.iter().map(|(_, bytes)| bytes + 1).sum::<usize>() - 1 + r#"{"tools":[]}"#.len();
        let mut line = format!("  {name:<9}  {:>6} ", print::grouped(bytes as u64));
        for (index, (tool, bytes)) in chosen.iter().enumerate().filter(|_| lists) {
            let tool = format!(" {} {}", tool.name, print::grouped(*bytes as u64));
            if index > 0 {
                line.push(',');
            }
            if line.len() + tool.len() >= HELP_WIDTH {
                text.push_str(&line);
                line = format!("\n{:20}", "");
            }
            line.push_str(&tool);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    };
    row("default", true, &Tool::is_default);
    for toolset in Toolset::ALL {
        row(toolset.name(), true, &|tool| tool.toolset == *toolset);
    }
    row("all", false, &|tool| tool.toolset != Toolset::Agents);
    text.push_str(
        "\nOnly agents that `tamis agents start` started get `agents`: by default, in `all`, or by name.\n\
         Tool names select single tools, as in `--tools default,locate_in_codebase`.",
    );
    text
}
