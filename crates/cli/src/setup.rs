//! From configuration to services: what every command starts with.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tamis_agents::Identity;
use tamis_code_index::{IndexSettings, IndexUse};
use tamis_codebase::{Policy, Roots, WorkingFolder};
use tamis_config::{Config, ConfigError, Key, Source, Surroundings, project_root};
use tamis_coordinator::{AgentService, AgentServiceSettings};
use tamis_http::{BearerSecret, HttpUrl};
use tamis_logs::discovery::LogLocations;
use tamis_process::{ProcessGroups, WardenProgram};
use tamis_research::{Model, ModelSettings, ModelUse, ResearchLimits, ResearchSettings, Researcher, Role};
use tamis_server::ServerToken;
use tamis_sieve::{Sieve, SieveSettings};
use tamis_store::DataDir;
use tamis_tools::{Caller, Pruner, Registry, Research, Services, Sessions, Workbench};
use tamis_trace::{Trace, index_of_named};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::error::{CliError, Kind};
use crate::{diagnostics, print};

/// How often servers ask whether cleaning up is due: more often than it is, so that it is never put off for long.
pub(crate) const CLEAN_UP_CHECK: Duration = Duration::from_secs(5 * 60);
/// How long a command waits, once its answer is out, for its row to be written.
const FLUSH_PATIENCE: Duration = Duration::from_secs(2);

/// More threads than that only get into each other's way.
const MOST_WORKERS: usize = 256;

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
    let settings = SieveSettings {
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
        process_groups: ProcessGroups::new(WardenProgram::this_program()),
        pruner: Pruner::Sieve,
    };
    let program = this_program()?;
    let configs = Arc::new(config.clone());
    let [for_sessions, for_research, for_agents] = [0; 3].map(|_| Arc::clone(&configs));
    let services = Services::new(sieve(config), workbench)
        // A server starts even if the configured logs do not exist, or not yet.
        .with_sessions(move || {
            Sessions::new(Arc::new(trace_of(&for_sessions, for_sessions.paths(Key::TraceLogs))))
        })
        .with_research(move || research(&for_research))
        .with_agents(move || {
            // A process without a usable identity may still use the other tools; `mcp` checks it itself.
            let identity = identity(&for_agents).ok().flatten();
            let settings = AgentServiceSettings { identity, ..agents_settings(&for_agents, program) };
            Arc::new(AgentService::new(settings))
        });
    Ok(Arc::new(services))
}

/// The tables of agents.
pub(crate) fn agents_database(config: &Config) -> PathBuf {
    let named = config.text(Key::AgentsDatabase).map(PathBuf::from);
    named.unwrap_or_else(|| DataDir::at(config.data_dir()).state_db())
}

/// This program, for those of its own processes that it starts.
pub(crate) fn this_program() -> Result<PathBuf, CliError> {
    std::env::current_exe().map_err(CliError::internal)
}

/// What there is to know of agents, from whatever process.
pub(crate) fn agents_settings(config: &Config, program: PathBuf) -> AgentServiceSettings {
    let data_dir = DataDir::at(config.data_dir());
    let token = match config.text(Key::Token) {
        Some(chosen) => Some(chosen.to_owned()),
        // Where it cannot be read, whoever coordinates says that it wants one.
        None => ServerToken::load(&data_dir.token()).ok().flatten().map(|token| token.reveal().to_owned()),
    };
    let coordinator = tamis_agents::CoordinatorSettings {
        data_dir,
        database: agents_database(config),
        program,
        github_token: config.text(Key::GithubToken).map(str::to_owned),
        github_url: config.text(Key::GithubUrl).map(str::to_owned),
        tool_timeout: Duration::from_millis(config.number(Key::ToolTimeoutMs).unwrap_or(u64::MAX)),
    };
    AgentServiceSettings { token, ..AgentServiceSettings::new(coordinator) }
}

/// The identity of the instance that this process was started for, if it was. A file that is named must hold one.
pub(crate) fn identity(config: &Config) -> Result<Option<Identity>, CliError> {
    let named = config.text(Key::AgentsIdentity).map(|path| Identity::load(Path::new(path)));
    named.transpose().map_err(|error| CliError { kind: Kind::Usage, ..error.into() })
}

/// Research for a server. One that cannot look anywhere serves its other tools, and says why when it is asked.
fn research(config: &Config) -> Research {
    match researcher(config, true) {
        Ok(researcher) => Research::new(Arc::new(researcher)),
        Err(error) => {
            let why = format!("{:#}", error.error);
            // Whoever starts a server somewhere need not want research there; whoever names folders does.
            if config.resolved(Key::ResearchRoots).source != Source::Default {
                tracing::warn!("research will not answer: {why}");
            }
            Research::unusable(why)
        }
    }
}

/// The researcher that this configuration asks for. Its folders must be there. One that is there for long makes an index of
/// a large codebase; a short command uses it, and makes one only when it is told to.
pub(crate) fn researcher(config: &Config, stays: bool) -> Result<Researcher, CliError> {
    let refused = |error: &dyn std::fmt::Display| {
        CliError::usage(error).hint("TAMIS_ROOTS, or --root, names the folders of the codebase to look into")
    };
    let policy = || {
        Policy::denying(&config.texts(Key::ResearchDeny))
            .map_err(|error| CliError::usage(format_args!("research.deny: {error}")))
    };
    let roots = Roots::open(&config.paths(Key::ResearchRoots), policy()?).map_err(|error| refused(&error))?;
    let thoughts = config.text(Key::ResearchThoughts).map(|folder| {
        Roots::open(&[PathBuf::from(folder)], policy()?).map_err(|error| {
            CliError::usage(format_args!("research.thoughts: {error}"))
                .hint("TAMIS_THOUGHTS names a folder of notes; unset, there is no role for them")
        })
    });
    let used = match config.text(Key::ResearchIndex) {
        Some("on") => IndexUse::Always,
        Some("off") => IndexUse::Never,
        _ => IndexUse::Large,
    };
    let number = |key| config.number(key).unwrap_or(u64::MAX);
    let count = |key| usize::try_from(number(key)).unwrap_or(usize::MAX);
    let limits = ResearchLimits {
        deadline: Duration::from_millis(number(Key::DefaultDeadlineMs)),
        max_files_read: number(Key::MaxFilesRead),
        max_bytes_read: number(Key::MaxBytesRead),
        max_tokens: number(Key::MaxTokens),
    };
    Ok(Researcher::new(ResearchSettings {
        roots,
        thoughts: thoughts.transpose()?,
        artifacts: artifacts(config),
        limits,
        model: model(config)?.map(Arc::new),
        index: Some(IndexSettings {
            folder: DataDir::at(config.data_dir()).research(),
            used,
            builds: stays || used == IndexUse::Always,
        }),
        workers: count(Key::MaxConcurrentTasks).min(MOST_WORKERS),
        most_waiting: count(Key::MaxQueuedTasks),
    }))
}

/// Where memos and handoffs lie.
pub(crate) fn artifacts(config: &Config) -> PathBuf {
    let named = config.text(Key::ResearchArtifacts).map(PathBuf::from);
    named.unwrap_or_else(|| DataDir::at(config.data_dir()).artifacts())
}

/// The local model that roles may use, if they may.
fn model(config: &Config) -> Result<Option<Model>, CliError> {
    let usage = config.text(Key::ModelUse).unwrap_or_default().parse().unwrap_or_default();
    if usage == ModelUse::Never {
        return Ok(None);
    }
    let address = config.text(Key::ModelUrl).unwrap_or_default().parse::<HttpUrl>().map_err(|error| {
        CliError::usage(format_args!("model.url: {error}"))
            .hint("TAMIS_MODEL_URL is an address such as http://127.0.0.1:1234/v1")
    })?;
    let text = |key| config.text(key).map(str::to_owned);
    let roles = [
        (Role::Locator, Key::ModelLocator),
        (Role::Analyzer, Key::ModelAnalyzer),
        (Role::Patterns, Key::ModelPatterns),
        (Role::Thoughts, Key::ModelThoughts),
    ];
    let settings = ModelSettings {
        key: config.text(Key::ModelKey).and_then(BearerSecret::new),
        name: text(Key::ModelName),
        role_names: roles.into_iter().filter_map(|(role, key)| Some((role, text(key)?))).collect(),
        usage,
        concurrent: usize::try_from(config.number(Key::ModelConcurrent).unwrap_or(1)).unwrap_or(usize::MAX),
        ..ModelSettings::at(address)
    };
    Ok(Some(Model::new(settings)))
}

/// Past sessions: of the agents' own places, or of these files and folders alone, or of those that the configuration names.
/// Logs that are named have an index of their own.
pub(crate) fn trace(config: &Config, only: &[PathBuf]) -> Result<Trace, CliError> {
    let named = if only.is_empty() { config.paths(Key::TraceLogs) } else { only.to_vec() };
    for path in &named {
        // A path that is misspelt would otherwise be an agent that never worked.
        std::fs::metadata(path).map_err(|error| {
            let message = format!("there are no logs at {}", path.display());
            CliError { error: anyhow::Error::new(error).context(message), ..CliError::usage("") }
                .hint("`tamis trace index` says which places are looked at when none is named")
        })?;
    }
    Ok(trace_of(config, named))
}

fn trace_of(config: &Config, named: Vec<PathBuf>) -> Trace {
    let data_dir = DataDir::at(config.data_dir());
    if named.is_empty() {
        let places = LogLocations::of_clients(|name| std::env::var_os(name), std::env::home_dir().as_deref());
        return Trace::new(places, data_dir);
    }
    let named = named.into_iter().map(|path| std::path::absolute(&path).unwrap_or(path)).collect::<Vec<_>>();
    let index = index_of_named(&data_dir, &named);
    Trace::new(LogLocations::only(named), index)
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
