//! Builds the services of a command from the configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tamis_agents::{AgentsError, Archive, Identity};
use tamis_code_index::{IndexSettings, IndexUse};
use tamis_codebase::{Policy, Roots, WorkingFolder};
use tamis_config::{
    Config, ConfigEnvironment, ConfigError, ConfigSource, FeatureUse, RunConfig, Setting, project_root,
};
use tamis_coordinator::{AgentService, AgentServiceSettings};
use tamis_http::{BearerSecret, HttpUrl};
use tamis_logs::discovery::LogLocations;
use tamis_process::{ProcessGroups, WardenProgram};
use tamis_research::{Model, ModelSettings, ModelUse, ResearchLimits, ResearchSettings, Researcher, Role};
use tamis_server::ServerToken;
use tamis_setup::{Setup, SetupEnvironment};
use tamis_sieve::{Sieve, SieveSettings};
use tamis_store::DataDir;
use tamis_tools::{Caller, Pruner, Research, Services, Sessions, Workbench};
use tamis_trace::{Trace, index_of_named};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::error::{CliError, Kind};
use crate::{diagnostics, escape, print};

/// How often servers check whether cleaning up is due: more often than it is, so that it is never late by much.
pub(crate) const CLEAN_UP_CHECK: Duration = Duration::from_secs(5 * 60);
/// Time limit for writing a command's ledger row, after its answer is printed.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of worker threads.
const MAX_WORKERS: usize = 256;

/// Loads the configuration of this process, starts logging, and checks that the data folder can be trusted.
pub(crate) fn load(environment: &ConfigEnvironment) -> Result<Config, CliError> {
    let config = Config::load(environment)?;
    log_warnings(&config)?;
    DataDir::at(config.data_dir()).secure()?;
    Ok(config)
}

/// The same for commands whose text must come back whatever state the data folder is in. Then nothing is cut.
pub(crate) fn load_failing_open(environment: &ConfigEnvironment) -> Result<Config, CliError> {
    let (config, errors) = Config::explain(environment);
    let (without_home, others): (Vec<_>, Vec<_>) =
        errors.into_iter().partition(|error| *error == ConfigError::NoHome);
    if let Some(error) = others.into_iter().next() {
        return Err(error.into());
    }
    log_warnings(&config)?;
    for error in without_home {
        tracing::warn!("{error}, so nothing is cut; {}", error.hint());
    }
    Ok(config)
}

fn log_warnings(config: &Config) -> Result<(), CliError> {
    start_logging(&config.log.filter.value)?;
    for warning in config_warnings(config) {
        tracing::warn!("{warning}");
    }
    Ok(())
}

/// What was ignored in the configuration. A warning may quote a value, which may be an address with a password in it.
pub(crate) fn config_warnings(config: &Config) -> impl Iterator<Item = String> {
    config.warnings.iter().map(|warning| escape::line(warning))
}

/// The same for `tamis run`, whose own settings may be unusable: they then count as unset, and the first error is returned.
pub(crate) fn load_for_run(environment: &ConfigEnvironment) -> Result<(Config, Option<String>), CliError> {
    let (config, errors) = Config::explain(environment);
    let mut problem = None;
    for error in errors {
        match error {
            ConfigError::Invalid { name, .. } if name.starts_with(RunConfig::PREFIX) => {
                problem.get_or_insert(error.to_string());
            }
            error => return Err(error.into()),
        }
    }
    log_warnings(&config)?;
    Ok((config, problem))
}

/// A bare level applies to our own crates: at `debug`, libraries log whole requests, with the texts in them.
pub(crate) fn start_logging(filter: &str) -> Result<(), CliError> {
    let refuse = || {
        CliError::usage(format!("invalid log filter `{filter}`: expected a level, or a list of target=level"))
            .hint("the levels are error, warn, info, debug, trace and off")
    };
    // Names that other programs use.
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
        // A misspelt level would be parsed as a target, and silence everything.
        Err(_) if !filter.contains('=') => return Err(refuse()),
        Err(_) => filter.parse::<Targets>().map_err(|_| refuse())?,
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(|| diagnostics::Lines).with_ansi(false);
    // Fails only if logging is started already.
    let _ = tracing_subscriber::registry().with(targets).with(lines).try_init();
    Ok(())
}

/// The help of a flag that stands for a setting, with the setting's default.
pub(crate) fn help_with_default(help: &str, setting: &str) -> String {
    let default = Setting::named(setting).and_then(|setting| setting.default.as_deref());
    default.map_or_else(|| help.to_owned(), |default| format!("{help} [default: {default}]"))
}

/// The configured sieve. Without a data folder that can be trusted, nothing could be recovered, so it cuts nothing.
pub(crate) fn sieve(config: &Config) -> Sieve {
    let data_dir = DataDir::at(config.data_dir());
    let trusted = config.data.dir.source != ConfigSource::Unset
        && data_dir.secure().inspect_err(|error| tracing::warn!("{}", error.describe())).is_ok();
    Sieve::new(SieveSettings {
        data_dir: trusted.then_some(data_dir),
        max_input_chars: config.sieve.max_input_chars.value,
        recovery_ttl: config.sieve.recovery_ttl.value,
        recovery_max_bytes: config.sieve.recovery_max_bytes.value,
        ledger_keep: config.sieve.ledger_keep.value,
    })
}

/// The configured services.
pub(crate) fn services(config: &Config) -> Result<Arc<Services>, CliError> {
    let workbench = Workbench {
        folder: WorkingFolder::at(config.workbench.dir.value.as_deref().unwrap_or(Path::new(".")))
            .map_err(CliError::failed)?,
        process_groups: ProcessGroups::new(WardenProgram::this_program()),
        pruner: Pruner::Sieve,
        redacts: config.workbench.redact.value,
    };
    let program = this_program()?;
    let configs = Arc::new(config.clone());
    let [for_sessions, for_research, for_agents] = [0; 3].map(|_| Arc::clone(&configs));
    let services = Services::new(sieve(config), workbench)
        // A server starts even if the configured logs do not exist, or not yet.
        .with_sessions(move || {
            Sessions::new(Arc::new(trace_of(&for_sessions, for_sessions.trace.logs.value.clone())))
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

/// The database of agents. A relative path is in the data folder: the server, commands and agents run in different folders and
/// must find the same file.
pub(crate) fn agents_database(config: &Config) -> PathBuf {
    let data_dir = DataDir::at(config.data_dir());
    match &config.agents.database.value {
        Some(path) => data_dir.root().join(path),
        None => data_dir.state_db(),
    }
}

/// Path of this program, to start more processes of it.
pub(crate) fn this_program() -> Result<PathBuf, CliError> {
    std::env::current_exe().map_err(CliError::internal)
}

/// The settings of agents, the same in every process.
pub(crate) fn agents_settings(config: &Config, program: PathBuf) -> AgentServiceSettings {
    let data_dir = DataDir::at(config.data_dir());
    let token = match &config.http.token.value {
        Some(chosen) => Some(chosen.reveal().to_owned()),
        // Without a readable token, the coordinator answers that it needs one.
        None => ServerToken::load(&data_dir.token()).ok().flatten().map(|token| token.reveal().to_owned()),
    };
    let coordinator = tamis_agents::CoordinatorSettings {
        data_dir,
        database: agents_database(config),
        program,
        github_token: config.github.token.value.as_ref().map(|token| token.reveal().to_owned()),
        github_url: config.github.url.value.clone(),
        tool_timeout: config.agents.tool_timeout.value,
    };
    AgentServiceSettings { token, ..AgentServiceSettings::new(coordinator) }
}

/// The identity of the instance that this process belongs to, if any. A configured file must contain one.
pub(crate) fn identity(config: &Config) -> Result<Option<Identity>, CliError> {
    let usage = |error: AgentsError| CliError { kind: Kind::Usage, ..error.into() };
    let Some(file) = config.agents.identity.value.as_deref() else { return Ok(None) };
    let identity = Identity::load(file).map_err(usage)?;
    // Without a database there is nothing to compare with; the coordinator judges every call.
    let database = agents_database(config);
    if database.exists() {
        Archive::open(&database)?.check_identity(&identity).map_err(usage)?;
    }
    Ok(Some(identity))
}

/// Research for a server. Without readable folders the server has its other tools, and research answers with the error.
fn research(config: &Config) -> Research {
    match researcher(config, true) {
        Ok(researcher) => Research::new(Arc::new(researcher)),
        Err(error) => {
            let why = format!("{:#}", error.error);
            // The default folder may not be meant for research; configured folders are.
            if config.research.roots.source != ConfigSource::Default {
                tracing::warn!("research is unavailable: {why}");
            }
            Research::unusable(why)
        }
    }
}

/// The configured researcher. At least one of its folders must exist; answers name the missing ones. A server builds an index of
/// a large codebase; a short command uses the index, and builds one only when it is configured to.
pub(crate) fn researcher(config: &Config, stays: bool) -> Result<Researcher, CliError> {
    let refused = |error: &dyn std::fmt::Display| {
        CliError::usage(error).hint("set the folders of the codebase with `--root` or TAMIS_ROOTS")
    };
    let patterns = deny_patterns(config)?;
    let policy = || Policy::denying(&patterns).map_err(|error| refused(&error));
    // Patterns are relative to the folders that hold without the project's file, which may narrow them.
    let configured = &config.research.roots;
    let outer = configured.without_project.as_ref().unwrap_or(&configured.value);
    if outer.is_empty() {
        return Err(refused(&"no folder to search is configured"));
    }
    let (there, mut missing): (Vec<PathBuf>, Vec<PathBuf>) =
        outer.iter().cloned().partition(|folder| folder.exists());
    // If none exists, the error names the first.
    let there = if there.is_empty() { outer.as_slice() } else { there.as_slice() };
    let mut roots = Roots::open(there, policy()?).map_err(|error| refused(&error))?;
    if configured.without_project.is_some() {
        roots = roots.narrowed(&configured.value).map_err(|error| refused(&error))?;
    }
    let thoughts = config.research.thoughts.value.as_ref();
    missing.extend(thoughts.filter(|folder| !folder.exists()).cloned());
    let thoughts = thoughts.filter(|folder| folder.exists()).map(|folder| {
        Roots::open(std::slice::from_ref(folder), policy()?).map_err(|error| {
            CliError::usage(format_args!("research.thoughts: {error}"))
                .hint("set TAMIS_THOUGHTS to a folder of notes, or unset it")
        })
    });
    let index = match config.research.index.value {
        FeatureUse::Never => None,
        FeatureUse::Auto => Some((IndexUse::Large, stays)),
        FeatureUse::Always => Some((IndexUse::Always, true)),
    };
    let limits = ResearchLimits {
        deadline: config.research.deadline.value,
        max_files_read: config.research.max_files_read.value,
        max_bytes_read: config.research.max_bytes_read.value,
        max_tokens: config.research.max_tokens.value,
    };
    Ok(Researcher::new(ResearchSettings {
        roots,
        thoughts: thoughts.transpose()?,
        artifacts: artifacts(config),
        limits,
        model: model(config)?.map(Arc::new),
        index: index.map(|(used, builds)| IndexSettings {
            folder: DataDir::at(config.data_dir()).research(),
            used,
            builds,
        }),
        workers: config.research.max_concurrent_tasks.value.min(MAX_WORKERS),
        most_waiting: config.research.max_queued_tasks.value,
    })
    .with_missing(missing))
}

/// The patterns that research never reads. One of the user's that is invalid is an error; one of the project's is ignored, so
/// that a repository cannot keep research from working.
fn deny_patterns(config: &Config) -> Result<Vec<String>, CliError> {
    let deny = &config.research.deny;
    let of_user = deny.without_project.as_ref().unwrap_or(&deny.value);
    let mut patterns = of_user.clone();
    Policy::denying(of_user).map_err(|error| CliError::usage(format_args!("research.deny: {error}")))?;
    for pattern in deny.value.iter().skip(of_user.len()) {
        match Policy::denying(std::slice::from_ref(pattern)) {
            Ok(_) => patterns.push(pattern.clone()),
            Err(error) => tracing::warn!("{}: research.deny: {error}; ignored", deny.source),
        }
    }
    Ok(patterns)
}

/// The folder of memos and handoffs.
pub(crate) fn artifacts(config: &Config) -> PathBuf {
    config.research.artifacts.value.clone().unwrap_or_else(|| DataDir::at(config.data_dir()).artifacts())
}

/// The local model for roles, if configured.
fn model(config: &Config) -> Result<Option<Model>, CliError> {
    let usage = match config.model.usage.value {
        FeatureUse::Never => return Ok(None),
        FeatureUse::Auto => ModelUse::Auto,
        FeatureUse::Always => ModelUse::Always,
    };
    let address = config.model.url.value.parse::<HttpUrl>().map_err(|error| {
        CliError::usage(format_args!("model.url: {error}"))
            .hint("set TAMIS_MODEL_URL to a URL such as http://127.0.0.1:1234/v1")
    })?;
    let roles = [
        (Role::Locator, &config.model.locator),
        (Role::Analyzer, &config.model.analyzer),
        (Role::Patterns, &config.model.patterns),
        (Role::Thoughts, &config.model.thoughts),
    ];
    let settings = ModelSettings {
        key: config.model.key.value.as_ref().and_then(|key| BearerSecret::new(key.reveal())),
        name: config.model.name.value.clone(),
        role_names: roles.into_iter().filter_map(|(role, name)| Some((role, name.value.clone()?))).collect(),
        ..ModelSettings::at(address, usage, config.model.concurrent.value)
    };
    Ok(Some(Model::new(settings)))
}

/// Where the clients' own configuration files are.
pub(crate) fn client_setup(config: &Config, environment: &ConfigEnvironment) -> Result<Setup, CliError> {
    let home = environment.variables.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    Ok(Setup {
        data: DataDir::at(config.data_dir()),
        environment: SetupEnvironment {
            home: home.ok_or(ConfigError::NoHome)?,
            project: project_root(&environment.working_dir),
            working_dir: environment.working_dir.clone(),
            variables: environment.variables.clone(),
        },
    })
}

/// Past sessions in these files and folders, or in the configured ones, or in the agents' own. Given logs have a separate
/// index.
pub(crate) fn trace(config: &Config, only: &[PathBuf]) -> Result<Trace, CliError> {
    let named = if only.is_empty() { config.trace.logs.value.clone() } else { only.to_vec() };
    for path in &named {
        // A misspelt path would otherwise look like an agent without sessions.
        std::fs::metadata(path).map_err(|error| {
            let message = format!("cannot read logs at `{}`", path.display());
            CliError { error: anyhow::Error::new(error).context(message), ..CliError::usage("") }
                .hint("`tamis trace index` lists the default folders")
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

/// The user's project, for the ledger.
pub(crate) fn project(environment: &ConfigEnvironment) -> Option<String> {
    let root = project_root(&environment.working_dir);
    (root != Path::new("/")).then(|| root.to_string_lossy().into_owned())
}

/// The caller at the terminal.
pub(crate) fn person(environment: &ConfigEnvironment, command: &str) -> Caller {
    Caller {
        tool: command.to_owned(),
        door: "cli".to_owned(),
        client: Some(format!("tamis/{}", env!("CARGO_PKG_VERSION"))),
        project: project(environment),
        ..Caller::default()
    }
}

/// Ends a command after its answer is printed: writes pending ledger rows, and removes expired data even if no server runs.
pub(crate) fn finish(services: &Services) {
    let sieve = &services.sieve;
    let uncounted = sieve.flush(FLUSH_TIMEOUT);
    if uncounted > 0 {
        let why = sieve.ledger_problem().unwrap_or_else(|| "the database is busy".to_owned());
        print::note(format_args!("warning: {} not counted: {why}", print::count(uncounted, "call")));
    }
    clean_up_if_due(sieve);
}

fn clean_up_if_due(sieve: &Sieve) {
    if let Some(done) = sieve.clean_up_if_due() {
        tracing::debug!(?done, "cleaned up");
        for problem in done.problems {
            tracing::warn!("cannot remove expired data: {problem}");
        }
    }
}

/// Cleans up whenever it is due, while a server runs.
pub(crate) async fn clean_up_now_and_then(services: Arc<Services>, first: Duration) {
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + first, CLEAN_UP_CHECK);
    loop {
        ticks.tick().await;
        let sieve = Arc::clone(&services.sieve);
        // Fails only when the runtime ends.
        let _ = tokio::task::spawn_blocking(move || clean_up_if_due(&sieve)).await;
    }
}
