//! From configuration to services: what every command starts with.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tamis_config::{Config, ConfigError, Key, Surroundings, project_root};
use tamis_sieve::{Settings, Sieve, Warning};
use tamis_store::DataDir;
use tamis_tools::{Caller, Pruner, Registry, Services, Sessions, Workbench};
use tamis_trace::{Places, Trace, index_of_named};
use tamis_workspace::{Children, WardenProgram, WorkingFolder};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::error::CliError;
use crate::{diagnostics, print};

/// How often servers ask whether cleaning up is due: more often than it is, so that it is never put off for long.
pub(crate) const CLEAN_UP_CHECK: Duration = Duration::from_secs(5 * 60);
/// How long a command waits, once its answer is out, for its row to be written.
const FLUSH_PATIENCE: Duration = Duration::from_secs(2);

/// The configuration of this process, with logging started by it.
pub(crate) fn load(surroundings: &Surroundings) -> Result<Config, CliError> {
    let config = Config::load(surroundings)?;
    announce(&config)?;
    Ok(config)
}

fn announce(config: &Config) -> Result<(), CliError> {
    start_logging(config.text(Key::Log).unwrap_or("info"))?;
    for remark in &config.remarks {
        tracing::warn!("{remark}");
    }
    Ok(())
}

/// The configuration of this process, likewise, when these settings may be unusable: what is wrong with them is told,
/// and they count as unset.
pub(crate) fn load_despite(
    surroundings: &Surroundings,
    lenient: &[Key],
) -> Result<(Config, Option<String>), CliError> {
    let (config, errors) = Config::explain(surroundings);
    let names: Vec<_> = lenient.iter().map(|key| key.setting().name).collect();
    let mut problem = None;
    for error in errors {
        match error {
            ConfigError::Invalid { name, .. } if names.contains(&name) => {
                problem.get_or_insert(error.to_string());
            }
            error => return Err(error.into()),
        }
    }
    announce(&config)?;
    Ok((config, problem))
}

/// A bare level is for our own crates: at `debug` the libraries below log whole requests, and so what people read.
pub(crate) fn start_logging(filter: &str) -> Result<(), CliError> {
    let refuse = || {
        CliError::usage(format!("the log filter {filter:?} is neither a level nor a list of target=level"))
            .hint("the levels are error, warn, info, debug, trace and off")
    };
    // As other programs call them.
    let known = match filter.to_ascii_lowercase().as_str() {
        "warning" => "warn".to_owned(),
        "critical" | "fatal" => "error".to_owned(),
        other => other.to_owned(),
    };
    let targets = match known.parse::<LevelFilter>() {
        Ok(level) => Targets::new()
            .with_default(level.min(LevelFilter::WARN))
            .with_target("rmcp", level.min(LevelFilter::ERROR))
            .with_target("tamis", level),
        // A misspelt level would pass for a target, and silence everything.
        Err(_) if !filter.contains('=') => return Err(refuse()),
        Err(_) => filter.parse::<Targets>().map_err(|_| refuse())?,
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(|| diagnostics::Lines).with_ansi(false);
    // Only a second call in one process can fail, and the first one's logging serves as well.
    let _ = tracing_subscriber::registry().with(targets).with(lines).try_init();
    Ok(())
}

/// The sieve that this configuration asks for.
pub(crate) fn sieve(config: &Config) -> Sieve {
    let number = |key| config.number(key).unwrap_or(u64::MAX);
    let settings = Settings {
        data_dir: Some(DataDir::at(config.data_dir())),
        max_input_chars: usize::try_from(number(Key::MaxInputChars)).unwrap_or(usize::MAX),
        recovery_ttl: Duration::from_secs(number(Key::RecoveryTtlSeconds)),
        recovery_max_bytes: number(Key::RecoveryMaxBytes),
        ledger_keep: Duration::from_secs(number(Key::LedgerKeepDays).saturating_mul(24 * 60 * 60)),
    };
    Sieve::new(settings)
}

/// The services that this configuration asks for.
pub(crate) fn services(config: &Config) -> Result<Arc<Services>, CliError> {
    let workbench = Workbench {
        folder: WorkingFolder::at(config.text(Key::WorkbenchDir).unwrap_or(".")).map_err(CliError::failed)?,
        children: Children::new(WardenProgram::this_program()),
        pruner: Pruner::Sieve,
    };
    let trace = trace(config, &[])?;
    let services = Services::new(sieve(config), workbench).with_sessions(Sessions::new(Arc::new(trace)));
    Ok(Arc::new(services))
}

/// Past sessions: of the agents' own places, or of these files and folders alone, or of those that the configuration names.
/// Logs that are named have an index of their own.
pub(crate) fn trace(config: &Config, only: &[PathBuf]) -> Result<Trace, CliError> {
    let data_dir = DataDir::at(config.data_dir());
    let configured = config.paths(Key::TraceLogs);
    if only.is_empty() && configured.is_empty() {
        let places = Places::of_clients(|name| std::env::var_os(name), std::env::home_dir().as_deref());
        return Ok(Trace::new(places, data_dir));
    }
    if only.is_empty() {
        // A folder that is not there yet must not keep a server from starting.
        let index = index_of_named(&data_dir, &configured);
        return Ok(Trace::new(Places::only(configured), index));
    }
    let paths: Vec<PathBuf> = only
        .iter()
        .map(|path| {
            // A path that is misspelt would otherwise be an agent that never worked.
            std::fs::metadata(path).and_then(|_| std::path::absolute(path)).map_err(|error| {
                let message = format!("there are no logs at {}", path.display());
                CliError { error: anyhow::Error::new(error).context(message), ..CliError::usage("") }
                    .hint("`tamis trace index` says which places are looked at when none is named")
            })
        })
        .collect::<Result<_, _>>()?;
    let index = index_of_named(&data_dir, &paths);
    Ok(Trace::new(Places::only(paths), index))
}

/// What the doors serve: every tool, or those of the named toolsets.
pub(crate) fn registry(toolsets: &[String]) -> Result<Registry, CliError> {
    use tamis_tools::Toolset;

    if toolsets.is_empty() {
        return Ok(Registry::all());
    }
    let known = || Toolset::ALL.iter().map(|toolset| toolset.name()).collect::<Vec<_>>().join(", ");
    let toolsets = toolsets
        .iter()
        .map(|name| {
            Toolset::named(name).ok_or_else(|| {
                CliError::usage(format!("there is no toolset {name:?}"))
                    .hint(format!("the toolsets are: {}", known()))
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Registry::all().only(&toolsets))
}

/// Where the user works, for the ledger.
pub(crate) fn project(surroundings: &Surroundings) -> Option<String> {
    let root = project_root(&surroundings.working_dir);
    (root != Path::new("/")).then(|| root.to_string_lossy().into_owned())
}

/// The person at the terminal.
pub(crate) fn person(surroundings: &Surroundings, command: &str) -> Caller {
    Caller {
        tool: command.to_owned(),
        door: "cli".to_owned(),
        client: Some(format!("tamis/{}", env!("CARGO_PKG_VERSION"))),
        project: project(surroundings),
        ..Caller::default()
    }
}

/// What a command does last, when its answer is out: a row must not end with a short process, and what is past its
/// time should go even where nobody serves.
pub(crate) fn finish(services: &Services) {
    let sieve = &services.sieve;
    let uncounted = sieve.flush(FLUSH_PATIENCE);
    if uncounted > 0 {
        let why = sieve.ledger_problem().unwrap_or_else(|| "the database is busy".to_owned());
        print::note(format_args!("warning: calls that were not counted: {uncounted}, since {why}"));
    }
    clean_up_if_due(sieve);
}

fn clean_up_if_due(sieve: &Sieve) {
    if let Some(done) = sieve.clean_up_if_due() {
        tracing::debug!(?done, "cleaned up");
        for problem in done.problems {
            tracing::warn!("not everything past its time could be removed: {problem}");
        }
    }
}

/// Cleans up whenever it is due, as long as a server runs.
pub(crate) async fn clean_up_now_and_then(services: Arc<Services>, first: Duration) {
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + first, CLEAN_UP_CHECK);
    loop {
        ticks.tick().await;
        let sieve = Arc::clone(&services.sieve);
        // Fails only when the runtime ends.
        let _ = tokio::task::spawn_blocking(move || clean_up_if_due(&sieve)).await;
    }
}

/// Tells a person what `prune` warned about.
pub(crate) fn tell_warnings(warnings: &[Warning]) {
    for warning in warnings {
        let why = match warning {
            Warning::InputTooLarge => {
                "the text is longer than prune.max_input_chars, or has over 250,000 lines, so nothing is cut"
            }
            Warning::Timeout => "it took longer than --timeout-ms, so nothing is cut",
            Warning::ConstraintsUnmet => "the text has fewer lines than --min-keep-lines, so nothing is cut",
            Warning::RecoveryUnavailable => {
                "the original cannot be kept in the data folder, so nothing is cut"
            }
            Warning::InternalError => "the engine failed, so nothing is cut; please report it",
            Warning::LedgerUnavailable => "the call cannot be counted; `tamis data show` says why",
        };
        print::note(format_args!("warning: {} ({why})", warning.code()));
    }
}
