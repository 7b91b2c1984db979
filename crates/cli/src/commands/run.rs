mod savings;
mod streams;

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis_clients::{
    DEFAULT_PRUNER_URL, McpServer, PROVIDERS, Provider, PrunerSettings, RunOutcome, RunRequest, find_program,
    is_program,
};
use tamis_config::{Config, ConfigEnvironment, is_on};
use tamis_process::Canceller;
use tamis_tools::RemotePruner;

use crate::detached_runtime::DetachedRuntime;
use crate::error::{CliError, CliResult, Kind};
use crate::{escape, input, signals, startup};

/// Signals closer together than this count as one.
const ONCE: Duration = Duration::from_millis(300);

/// Time limit for a pruner's first answer, while the user waits.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// Run a coding agent on a prompt, non-interactively
///
/// Prints the agent's messages to stdout as they arrive, and its tool calls, diagnostics and a summary to stderr. With --pruner,
/// the agent also gets the tools read, grep and bash, which prune with tamis, or with the pruner at PRUNER_URL if that is set:
/// read and grep without confirmation, bash as the agent's permissions allow or with --allow-bash. When the run ends, so does every
/// process that the agent started.
#[derive(Args)]
pub(crate) struct Run {
    /// Agent to run
    #[arg(long, value_parser = PossibleValuesParser::new(PROVIDERS.iter().map(|provider| provider.client().name())))]
    provider: String,
    /// Model for the agent to use [default: the agent's own]
    #[arg(long)]
    model: Option<String>,
    /// Folder for the agent to work in [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// Path of the agent's program [default: found on PATH]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Argument to pass to the agent, as in --agent-arg=--permission-mode=plan; repeatable
    #[arg(long = "agent-arg", value_name = "ARG", allow_hyphen_values = true)]
    agent_args: Vec<String>,
    /// Give the agent the pruner's tools, regardless of the configuration
    #[arg(long, conflicts_with = "no_pruner")]
    pruner: bool,
    /// Do not give the agent the pruner's tools
    #[arg(long)]
    no_pruner: bool,
    /// Let the agent use the pruner's bash without confirmation, outside the agent's sandbox
    #[arg(long)]
    allow_bash: bool,
    /// Print the agent's own JSON events, one per line, instead of its messages
    #[arg(long)]
    json: bool,
    /// Prompt for the agent; read from stdin if omitted or `-`
    prompt: Option<String>,
}

pub(crate) fn run(arguments: Run) -> CliResult {
    let switch = match (arguments.pruner, arguments.no_pruner) {
        (true, _) => Some("true"),
        (_, true) => Some("false"),
        _ => None,
    };
    let environment = ConfigEnvironment::of_process()
        .flag("run.pruner_enabled", switch)
        .flag("run.allow_bash", arguments.allow_bash.then_some("true"));
    // Invalid settings of the pruner disable the pruner, not the run.
    let (config, problem) = startup::load_for_run(&environment)?;
    let provider = tamis_clients::provider_named(&arguments.provider)
        .ok_or_else(|| CliError::usage(format!("unknown provider `{}`", arguments.provider)))?;
    let prompt = prompt(arguments.prompt.as_deref())?;
    let cwd = match &arguments.cwd {
        Some(folder) => working_dir(folder)?,
        None => environment.working_dir.clone(),
    };
    let path_variable = std::env::var_os("PATH");
    let program = match arguments.program {
        Some(named) => named_program(&named, &environment.working_dir, path_variable.as_deref())?,
        None => find_program(provider.client().name(), path_variable.as_deref())
            .ok_or_else(|| missing(provider))?,
    };
    let own_program = std::env::current_exe().map_err(CliError::internal)?;
    let mut minder = Command::new(&own_program);
    minder.arg("__minder");

    let request = RunRequest {
        provider,
        program,
        prompt,
        cwd,
        model: arguments.model,
        agent_args: arguments.agent_args,
        minder,
    };
    let begun = SystemTime::now();
    let settings = pruner_settings(&config, problem, &own_program, &request.cwd);
    let run =
        tamis_clients::PreparedRun::init(request, &settings, Some(&own_program), path_variable.as_deref());
    let wired = run.is_wired();
    let watch = watch_signals();
    let running = run.start().map_err(CliError::failed)?;
    // Fails only if signals cannot be watched.
    let _ = watch.send(running.canceller());
    let mut streams = streams::Streams::new(arguments.json);
    let outcome = running.follow(|output| streams.show(output));

    savings::summarise(provider.client().name(), &outcome, wired, &streams.prune_ids, begun, &config);
    judge(provider, outcome)
}

/// The prompt, from the command line or from stdin.
fn prompt(given: Option<&str>) -> Result<String, CliError> {
    let missing = || {
        CliError::usage("missing prompt")
            .hint("pass one, as in `tamis run --provider claude -- \"fix the parser\"`, or pipe it to stdin")
    };
    let prompt = match given {
        Some(prompt) if prompt != "-" => prompt.to_owned(),
        None if std::io::stdin().is_terminal() => return Err(missing()),
        _ => String::from_utf8(input::stdin()?).map_err(|error| {
            CliError::usage(format_args!("the prompt on stdin is not UTF-8: {}", error.utf8_error()))
        })?,
    };
    if prompt.trim().is_empty() { Err(missing()) } else { Ok(prompt) }
}

/// The contract's variable means the contract's server, with its default address. Otherwise tamis prunes, unless the user named
/// another pruner or another server.
fn pruner_settings(
    config: &Config,
    problem: Option<String>,
    own_program: &Path,
    cwd: &Path,
) -> PrunerSettings {
    let run = &config.run;
    // Also where a flag or another variable enables the pruner too.
    let by_contract = std::env::var("JEEVES_PRUNER_ENABLED").is_ok_and(|text| is_on(&text));
    let of_server = || std::env::var("PRUNER_URL").ok().filter(|_| !by_contract);
    let url = run.pruner_url.value.clone().or_else(of_server);
    let is_own = !by_contract && url.is_none() && run.pruner_path.value.is_none();
    let enabled = run.pruner_enabled.value;
    let own_server = is_own.then(|| own_server(config, own_program, cwd)).flatten();
    let cannot_prune = if enabled && own_server.is_none() { cannot_prune(url.as_deref()) } else { None };
    PrunerSettings {
        enabled,
        url,
        path: run.pruner_path.value.clone(),
        allow_bash: run.allow_bash.value,
        own_server,
        cannot_prune,
        problem,
    }
}

/// `tamis mcp` with the tools of `mcp-pruner` and the one that restores cuts. None where a path is not UTF-8.
fn own_server(config: &Config, program: &Path, cwd: &Path) -> Option<McpServer> {
    let text = |path: &Path| path.to_str().map(str::to_owned);
    // Codex passes nothing of the environment on.
    let env = [("TAMIS_DATA_DIR", text(&config.data_dir())?), ("TAMIS_WORKBENCH_DIR", text(cwd)?)];
    Some(McpServer {
        command: text(program)?,
        args: ["mcp", "--tools", "workbench,recover_text"].map(str::to_owned).to_vec(),
        env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    })
}

/// Why nothing will be pruned at this address.
fn cannot_prune(url: Option<&str>) -> Option<String> {
    let url = url.unwrap_or(DEFAULT_PRUNER_URL);
    if url.is_empty() {
        return Some("the pruner's URL is empty".to_owned());
    }
    // The URL itself stays out of the log: it may have a password.
    let address = match url.parse() {
        Ok(address) => address,
        Err(error) => return Some(format!("the pruner's URL cannot be used: {error}")),
    };
    let pruner = RemotePruner::new(address, ANSWER_LIMIT);
    let runtime = DetachedRuntime::on_this_thread().ok()?;
    let why = runtime.block_on(pruner.check()).err()?;
    Some(format!("{} does not answer as a pruner: {why}", escape::line(url)))
}

fn working_dir(folder: &Path) -> Result<PathBuf, CliError> {
    let found = folder.canonicalize().and_then(|found| found.read_dir().map(|_| found));
    found.map_err(|error| CliError {
        kind: Kind::Usage,
        ..CliError::about_path("work in folder", folder, error)
    })
}

/// Resolves a path, or a name as a shell does.
fn named_program(named: &Path, from: &Path, path_variable: Option<&OsStr>) -> Result<PathBuf, CliError> {
    let path = from.join(named);
    if is_program(&path) {
        return Ok(path);
    }
    let name = named.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let found = (named == Path::new(name)).then(|| find_program(name, path_variable)).flatten();
    found.ok_or_else(|| {
        let what = format!("cannot run `{}`: not an executable file", path.display());
        CliError::failed(anyhow::anyhow!(what))
            .hint(format!("`command -v {name}` shows where your shell finds it"))
    })
}

fn missing(provider: &dyn Provider) -> CliError {
    CliError::failed(anyhow::anyhow!("cannot find `{}` on PATH", provider.client().name())).hint(format!(
        "install {} (`{}`), or name the program with --program",
        provider.client().display_name(),
        provider.client().install_command()
    ))
}

/// Watches for SIGINT and SIGTERM from now on. The first cancels the run whose canceller is sent, the second ends the
/// process.
fn watch_signals() -> mpsc::Sender<Canceller> {
    let (send, canceller) = mpsc::channel::<Canceller>();
    let (watching, watched) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let signals = runtime.and_then(|runtime| {
            let signals = runtime.block_on(async { signals::Signals::install() })?;
            Ok((runtime, signals))
        });
        drop(watching);
        let (runtime, mut signals) = match signals {
            Ok(signals) => signals,
            Err(error) => {
                tracing::warn!(%error, "cannot handle signals; a signal that ends tamis ends the agent too");
                return;
            }
        };
        let Ok(canceller) = canceller.recv() else { return };
        runtime.block_on(async {
            signals.next().await;
            tracing::info!("ending the agent; a second signal ends it immediately");
            canceller.cancel();
            // A signal to the process and its group arrives twice, but is one request.
            tokio::time::sleep(ONCE).await;
            signals::next_signal().await;
            canceller.cancel();
            // A second signal means now, even if the reader of our output has stopped reading.
            std::process::exit(signals::INTERRUPTED);
        });
    });
    // Returns, with an error, once the thread watches and has dropped its end.
    let _ = watched.recv();
    send
}

fn judge(provider: &dyn Provider, outcome: RunOutcome) -> CliResult {
    if let Some(error) = outcome.output_error {
        let error = anyhow::Error::new(error).context("cannot print the output of the agent");
        return Err(CliError::failed(error));
    }
    if outcome.cancelled {
        let error = anyhow::anyhow!("the run was stopped before {} finished", provider.client().name());
        return Err(CliError { kind: Kind::Interrupted, error, hint: None });
    }
    let how = match outcome.code {
        Some(0) if outcome.totals.failure.is_none() => return Ok(()),
        Some(0) => format!("{} reports that it failed", provider.client().name()),
        Some(code) => format!("{} failed with exit code {code}", provider.client().name()),
        None => format!("{} was ended because its minder was killed", provider.client().name()),
    };
    Err(CliError::failed(match outcome.totals.failure {
        Some(why) => anyhow::anyhow!(why).context(how),
        None => anyhow::anyhow!(how),
    }))
}
