mod savings;
#[cfg(unix)]
mod streams;

use std::io::{IsTerminal, Read};
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis_clients::PROVIDERS;

use crate::error::CliError;

/// Run a coding agent on a prompt, without a person
///
/// What the agent says goes to stdout as it comes; its tool calls, diagnostics and a summary go to stderr. With
/// JEEVES_PRUNER_ENABLED=1, or --pruner, the agent also gets the tools read, grep and bash of `mcp-pruner`. It may use read
/// and grep without asking; bash too with --allow-bash, and else as its own permissions say. All that the agent started
/// ends with the run.
#[derive(Args)]
pub(crate) struct Run {
    /// Which agent
    #[arg(long, value_parser = PossibleValuesParser::new(PROVIDERS.iter().map(|provider| provider.client().name())))]
    provider: String,
    /// The model that the agent should use [default: the agent's choice]
    #[arg(long)]
    model: Option<String>,
    /// Where the agent works [default: here]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// The agent's program [default: the one on PATH]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// An argument for the agent itself, as in --agent-arg=--permission-mode=plan; may be given again
    #[arg(long = "agent-arg", value_name = "ARG", allow_hyphen_values = true)]
    agent_args: Vec<String>,
    /// Wire the pruner's tools in, whatever the configuration says
    #[arg(long, conflicts_with = "no_pruner")]
    pruner: bool,
    /// Leave them out
    #[arg(long)]
    no_pruner: bool,
    /// Let the agent use the pruner's bash without asking, outside of any sandbox of the agent's
    #[arg(long)]
    allow_bash: bool,
    /// Pass on the agent's own reports, one JSON object a line, instead of what it says
    #[arg(long)]
    json: bool,
    /// What to do; - or nothing reads stdin
    prompt: Option<String>,
}

/// The prompt, from the command line or from stdin.
fn prompt(given: Option<&str>) -> Result<String, CliError> {
    let missing = || {
        CliError::usage("there is no prompt")
            .hint("`tamis run --provider claude -- \"what to do\"`, or a pipe into stdin")
    };
    let prompt = match given {
        Some(prompt) if prompt != "-" => prompt.to_owned(),
        None if std::io::stdin().is_terminal() => return Err(missing()),
        _ => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes)?;
            String::from_utf8(bytes).map_err(|error| {
                CliError::usage(format_args!("the prompt on stdin is not UTF-8: {}", error.utf8_error()))
            })?
        }
    };
    if prompt.trim().is_empty() { Err(missing()) } else { Ok(prompt) }
}

#[cfg(not(unix))]
pub(crate) fn unavailable() -> crate::error::CliResult {
    Err(CliError::failed(anyhow::anyhow!(
        "`tamis run` needs Unix: process groups and signals end what an agent started"
    ))
    .hint("`tamis mcp` works here; wire it into the agent itself"))
}

#[cfg(not(unix))]
pub(crate) fn run(arguments: Run) -> crate::error::CliResult {
    prompt(arguments.prompt.as_deref())?;
    unavailable()
}

#[cfg(unix)]
pub(crate) use unix::run;

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::sync::mpsc;
    use std::time::{Duration, SystemTime};

    use anyhow::Context;
    use tamis_clients::{Provider, PrunerSettings, RunOutcome, RunRequest, find_program, is_program};
    use tamis_config::{Config, ConfigEnvironment};
    use tamis_process::Canceller;

    use super::{prompt, savings, streams};
    use crate::error::{CliError, CliResult, Kind};
    use crate::{setup, signals};

    /// Signals that come closer together than this are one.
    const ONCE: Duration = Duration::from_millis(300);

    pub(crate) fn run(arguments: super::Run) -> CliResult {
        let switch = match (arguments.pruner, arguments.no_pruner) {
            (true, _) => Some("true"),
            (_, true) => Some("false"),
            _ => None,
        };
        let environment = ConfigEnvironment::of_process()
            .flag("run.pruner_enabled", switch)
            .flag("run.allow_bash", arguments.allow_bash.then_some("true"));
        // What is wrong with the pruner's settings costs the pruner, not the run.
        let (config, problem) = setup::load_for_run(&environment)?;
        let provider = tamis_clients::provider_named(&arguments.provider)
            .ok_or_else(|| CliError::usage("there is no such provider"))?;
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
        let settings = pruner_settings(&config, problem);
        let run = tamis_clients::PreparedRun::init(
            request,
            &settings,
            Some(&own_program),
            path_variable.as_deref(),
        );
        let wired = run.is_wired();
        let watch = watch_signals();
        let running = run.start().map_err(CliError::failed)?;
        // Gone only if signals cannot be watched.
        let _ = watch.send(running.canceller());
        let mut streams = streams::Streams::new(arguments.json);
        let outcome = running.follow(|output| streams.show(output));

        savings::summarise(provider.client().name(), &outcome, wired, &streams.prune_ids, begun, &config);
        judge(provider, outcome)
    }

    fn pruner_settings(config: &Config, problem: Option<String>) -> PrunerSettings {
        PrunerSettings {
            enabled: config.run.pruner_enabled.value,
            url: config.run.pruner_url.value.clone(),
            path: config.run.pruner_path.value.clone(),
            allow_bash: config.run.allow_bash.value,
            problem,
        }
    }

    fn working_dir(folder: &Path) -> Result<PathBuf, CliError> {
        let found = folder.canonicalize().and_then(|found| found.read_dir().map(|_| found));
        found.with_context(|| format!("the agent cannot work in {}", folder.display())).map_err(|error| {
            CliError {
                kind: Kind::Usage,
                error,
                hint: Some(format!("`ls -ld {}` shows what is there", folder.display())),
            }
        })
    }

    /// A path, or a name as a shell would take it.
    fn named_program(named: &Path, from: &Path, path_variable: Option<&OsStr>) -> Result<PathBuf, CliError> {
        let path = from.join(named);
        if is_program(&path) {
            return Ok(path);
        }
        let name = named.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let found = (named == Path::new(name)).then(|| find_program(name, path_variable)).flatten();
        found.ok_or_else(|| {
            let what = format!("{} is not a program that can be started", path.display());
            CliError::failed(anyhow::anyhow!(what))
                .hint(format!("`command -v {name}` shows where your shell finds it"))
        })
    }

    fn missing(provider: &dyn Provider) -> CliError {
        CliError::failed(anyhow::anyhow!("there is no `{}` on PATH", provider.client().name())).hint(format!(
            "install {} (`{}`), or name the program with --program",
            provider.client().display_name(),
            provider.client().install_command()
        ))
    }

    /// Watches for SIGINT and SIGTERM from now on. The first ends the run that the sender is given, as soon as it is;
    /// the second ends it at once.
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
                    tracing::warn!(%error, "signals cannot be watched; whatever ends tamis ends the agent too");
                    return;
                }
            };
            let Ok(canceller) = canceller.recv() else { return };
            runtime.block_on(async {
                signals.next().await;
                tracing::info!("ending the agent; asked again, at once");
                canceller.cancel();
                // Whoever signals a process and its group asks once, though it comes twice.
                tokio::time::sleep(ONCE).await;
                signals::asked_to_end().await;
                canceller.cancel();
                // Whoever asks twice does not want to wait, not even for a reader of ours that has stopped reading.
                std::process::exit(130);
            });
        });
        // Ends, with an error, when the thread is through with its preparations.
        let _ = watched.recv();
        send
    }

    fn judge(provider: &dyn Provider, outcome: RunOutcome) -> CliResult {
        if let Some(error) = outcome.output_error {
            let error = anyhow::Error::new(error).context("cannot pass on what the agent says");
            return Err(CliError::failed(error));
        }
        if outcome.cancelled {
            let error = anyhow::anyhow!("the run was ended before {} was through", provider.client().name());
            return Err(CliError { kind: Kind::Interrupted, error, hint: None });
        }
        let how = match outcome.code {
            Some(0) if outcome.totals.failure.is_none() => return Ok(()),
            Some(0) => format!("{} reports that it failed", provider.client().name()),
            Some(code) => format!("{} failed with exit code {code}", provider.client().name()),
            None => format!("{} was ended, since its minder was killed", provider.client().name()),
        };
        Err(CliError::failed(match outcome.totals.failure {
            Some(why) => anyhow::anyhow!(why).context(how),
            None => anyhow::anyhow!(how),
        }))
    }
}
