use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tamis_config::ConfigEnvironment;
use tamis_gateway::{
    GatewayError, GatewayPruning, GatewayServer, GatewaySettings, PrunedTools, ServerConnection,
};
use tamis_http::HttpUrl;
use tamis_sieve::PruneOptions;
use tokio_util::sync::CancellationToken;

use crate::detached_runtime::DetachedRuntime;
use crate::error::{CliError, CliResult};
use crate::operation::share;
use crate::{diagnostics, print, signals, startup};

/// Put any MCP server behind tamis
///
/// In the configuration of a client, write `tamis gateway -- COMMAND` where the server's COMMAND was. The gateway starts the
/// server and passes every message on unchanged, in both directions, except for two: large text results of tools are pruned
/// for what the call asks for, and the list of tools gets `recover_text`, which restores what was cut. Errors and other
/// content stay as they are.
///
/// With --config, one gateway stands before several servers. The names of their tools then begin with the server's name and
/// two underscores.
#[derive(Args)]
pub(crate) struct Gateway {
    /// URL of a server over streamable HTTP, instead of COMMAND
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "config"])]
    url: Option<HttpUrl>,
    /// Header for every request to --url, as in `Authorization: Bearer ${TOKEN}`; `${NAME}` is a variable
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "url")]
    headers: Vec<String>,
    /// File that lists servers under `mcpServers`, as clients write it
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    config: Option<PathBuf>,
    /// Prune only results of these tools, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "except")]
    tools: Vec<String>,
    /// Prune results of all tools except these, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    except: Vec<String>,
    /// Minimum number of characters of a text to prune it
    #[arg(long, value_name = "CHARS", default_value_t = DEFAULT_MIN_CHARS)]
    min_chars: usize,
    /// Cut lines that score below this, 0 to 1; a higher threshold cuts more. For calls without a query, half of it holds
    #[arg(long, value_name = "SCORE", default_value_t = f64::from(PruneOptions::default().threshold), value_parser = share)]
    threshold: f64,
    /// Also prune long strings in `structuredContent`, which some clients show the model instead of the text; programs that
    /// read it find markers in them
    #[arg(long)]
    structured: bool,
    /// Command that starts the server, and its arguments
    #[arg(value_name = "COMMAND", last = true, required_unless_present_any = ["url", "config"])]
    command: Vec<String>,
}

/// About 1,000 tokens: in shorter texts there is less to cut than the markers and a recovery cost.
const DEFAULT_MIN_CHARS: usize = 4_000;

pub(crate) fn run(arguments: Gateway) -> CliResult {
    let servers = servers(&arguments)?;
    let environment = ConfigEnvironment::of_process();
    let config = startup::load_failing_open(&environment)?;
    let services = startup::services(&config)?;
    let settings =
        GatewaySettings { servers, pruning: pruning(&arguments), project: startup::project(&environment) };
    if std::io::stdin().is_terminal() {
        print::note(
            "waiting for MCP messages on stdin: `tamis gateway` is for coding agents, which start it themselves; \
             Ctrl-D ends it",
        );
    }
    diagnostics::detach();
    // One thread for signals and HTTP, while this one waits; messages over stdio and pruning have threads of their own.
    let runtime = DetachedRuntime::with_worker()?;
    let ended = runtime.block_on(async {
        tokio::spawn(startup::clean_up_now_and_then(Arc::clone(&services), startup::CLEAN_UP_CHECK));
        let shutdown = CancellationToken::new();
        tokio::spawn(signals::watch(shutdown.clone()));
        tamis_gateway::serve(settings, Arc::clone(&services), std::io::stdin(), std::io::stdout(), shutdown)
            .await
    });
    startup::finish(&services);
    ended.map_err(explain)
}

fn pruning(arguments: &Gateway) -> GatewayPruning {
    let set = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    let tools = match (&arguments.tools[..], &arguments.except[..]) {
        ([], []) => PrunedTools::All,
        ([], except) => PrunedTools::Except(set(except)),
        (only, _) => PrunedTools::Only(set(only)),
    };
    GatewayPruning {
        threshold: arguments.threshold as f32,
        min_chars: arguments.min_chars,
        tools,
        structured: arguments.structured,
    }
}

fn servers(arguments: &Gateway) -> Result<Vec<GatewayServer>, CliError> {
    let variable = |name: &str| std::env::var(name).ok();
    if let Some(file) = &arguments.config {
        let json = std::fs::read_to_string(file).map_err(|error| CliError::unreadable(file, error))?;
        return GatewayServer::list(&json, variable).map_err(|error| {
            let message = format!("cannot use `{}`: {error}", file.display());
            CliError::usage(message).hint("the file has the form of a client's `mcpServers`")
        });
    }
    let (name, connection) = match &arguments.url {
        Some(url) => {
            let headers = arguments.headers.iter().map(|header| header_of(header, variable));
            let headers = headers.collect::<Result<_, _>>()?;
            (url.host().to_owned(), ServerConnection::Url { url: url.clone(), headers })
        }
        None => {
            let (program, args) =
                arguments.command.split_first().ok_or_else(|| CliError::usage("no command"))?;
            let (program, args) = (program.clone(), args.to_vec());
            (program.clone(), ServerConnection::Program { program, args, env: Vec::new(), folder: None })
        }
    };
    Ok(vec![GatewayServer { name, connection }])
}

fn header_of(header: &str, variable: impl Fn(&str) -> Option<String>) -> Result<(String, String), CliError> {
    let (name, value) = header.split_once(':').ok_or_else(|| {
        CliError::usage("a header has no colon")
            .hint("write it as `--header 'Authorization: Bearer ${TOKEN}'`")
    })?;
    let value = tamis_gateway::expand_variables(value.trim(), variable)
        .map_err(|name| CliError::usage(format_args!("the variable `{name}` is not set")))?;
    Ok((name.trim().to_owned(), value))
}

fn explain(error: GatewayError) -> CliError {
    let hint = match &error {
        GatewayError::Start { .. } => Some("check the command after `--`, or in the configuration"),
        GatewayError::ServerEnded { .. } => Some("the server's own messages are above, on stderr"),
        GatewayError::Thread(_) => None,
    };
    CliError { hint: hint.map(str::to_owned), ..CliError::failed(error) }
}
