//! What the dashboard shows of settings, stored data, clients and the doctor.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tamis_clients::find_program;
use tamis_config::{Config, ConfigEnvironment, ConfigSource, Setting};
use tamis_dashboard::{
    HealthSources, PageCheckFinding, PageCheckup, PageClient, PageClientVersion, PageConfiguration,
    PageConnection, PageError, PageErrorKind, PageSetting, PageStorage, PageStored,
};
use tamis_process::Program;
use tamis_redact::Redacted;
use tamis_setup::{Connection, ConnectionState, Setup, SetupClient, SetupError, SetupPart};
use tamis_store::DataDir;
use tamis_tools::Services;
use tamis_trace::index_files;

use crate::commands::{data, doctor};
use crate::error::CliError;
use crate::startup;

/// How long a client may take to print its version, and how much of it is shown.
const VERSION_LIMIT: Duration = Duration::from_secs(5);
const LONGEST_VERSION: usize = 80;

/// The sources of the dashboard's page of settings and health.
pub(super) fn sources(config: &Config, services: &Arc<Services>) -> Result<HealthSources, CliError> {
    let program = startup::this_program()?;
    let config = Arc::new(config.clone());
    let [of_storage, of_clients, of_doctor] = [0; 3].map(|_| Arc::clone(&config));
    let [for_storage, for_doctor] = [0; 2].map(|_| Arc::clone(services));
    Ok(HealthSources {
        configuration: Box::new(move || configuration(&config, &program)),
        storage: Box::new(move || storage(&of_storage, &for_storage)),
        clients: Box::new(move || clients(&of_clients)),
        doctor: Box::new(move || checkup(&of_doctor, &for_doctor)),
    })
}

fn shown(path: &Path) -> Redacted {
    path.to_string_lossy().into_owned().into()
}

fn configuration(config: &Config, program: &Path) -> PageConfiguration {
    let environment = ConfigEnvironment::of_process();
    let (fresh, _) = Config::explain(&environment);
    let settings = config.settings().iter().map(|setting| {
        let next = fresh.settings().iter().find(|next| next.name == setting.name);
        page_setting(setting, next)
    });
    PageConfiguration {
        program: shown(program),
        data_folder: shown(&config.data_dir()),
        file: environment.user_file().as_deref().map(shown),
        roots: config.research.roots.value.iter().map(|root| shown(root)).collect(),
        settings: settings.collect(),
        warnings: config.warnings.iter().map(|warning| warning.as_str().into()).collect(),
    }
}

fn page_setting(setting: &Setting, next: Option<&Setting>) -> PageSetting {
    // The same command would be used again, so a flag still holds.
    let is_flag = setting.source == ConfigSource::Flag;
    let next = next.filter(|next| next.value != setting.value && !is_flag && !setting.is_secret());
    let source = match setting.source {
        ConfigSource::Flag => "flag",
        ConfigSource::Variable(_) => "variable",
        ConfigSource::ProjectFile(_) => "project",
        ConfigSource::UserFile(_) => "user",
        ConfigSource::Default => "default",
        ConfigSource::Unset => "unset",
    };
    PageSetting {
        name: setting.name,
        about: setting.about,
        kind: setting.kind.clone(),
        value: setting.value.as_deref().map(Redacted::from),
        default: setting.default.clone(),
        source,
        source_name: setting.source.to_string().into(),
        variables: setting.variables,
        after_restart: next.map(|next| next.value.as_deref().unwrap_or("(unset)").into()),
    }
}

fn storage(config: &Config, services: &Services) -> PageStorage {
    let data_dir = DataDir::at(config.data_dir());
    let report = services.sieve.storage_report();
    let index = index_files(&data_dir).unwrap_or_default();
    let index_path = index.first().map_or_else(|| data_dir.root().to_owned(), |(path, _)| path.clone());
    let artifacts = startup::artifacts(config);
    let (memos, memo_bytes) = data::held_in(&artifacts);
    let (_, code_bytes) = data::held_in(&data_dir.research());
    let agents = data_dir.agents();
    let worktrees = std::fs::read_dir(agents.join("worktrees")).map_or(0, |all| all.flatten().count());
    let (_, log_bytes) = data::held_in(&agents.join("logs"));
    let stored = |name, about, (count, unit): (Option<u64>, _), bytes, path: PathBuf, removal| PageStored {
        name,
        about,
        count,
        unit,
        bytes,
        path: shown(&path),
        removal,
    };
    PageStorage {
        items: vec![
            stored(
                "Originals",
                "texts before pruning, from which cuts are recovered",
                (Some(report.recovery_files), "file"),
                Some(report.recovery_bytes),
                data_dir.root().join("recovery"),
                Some("tamis data purge --recovery"),
            ),
            stored(
                "Ledger",
                "one row per prune and recovery, and the rows of agents",
                (Some(report.ledger_rows), "row"),
                Some(report.database_bytes),
                data_dir.state_db(),
                Some("tamis data purge --ledger"),
            ),
            stored(
                "Index of sessions",
                "built from the clients' logs",
                (None, ""),
                Some(index.iter().map(|(_, bytes)| bytes).sum()),
                index_path,
                Some("tamis data purge --trace"),
            ),
            stored(
                "Indexes of codebases",
                "for research in large codebases",
                (None, ""),
                Some(code_bytes),
                data_dir.research(),
                Some("tamis data purge --research"),
            ),
            stored(
                "Memos and handoffs",
                "what research wrote",
                (Some(memos), "file"),
                Some(memo_bytes),
                artifacts,
                None,
            ),
            stored(
                "Logs of agents",
                "the output of their sessions",
                (None, ""),
                Some(log_bytes),
                agents.join("logs"),
                None,
            ),
            // Worktrees can be as large as repositories, so their size is not computed.
            stored(
                "Worktrees of agents",
                "where agents work",
                (Some(worktrees as u64), "worktree"),
                None,
                agents.join("worktrees"),
                Some("tamis agents gc"),
            ),
        ],
        problems: report.problems.into_iter().map(Redacted::from).collect(),
    }
}

fn clients(config: &Config) -> Vec<PageClient> {
    let Ok(setup) = startup::client_setup(config, &ConfigEnvironment::of_process()) else {
        return Vec::new();
    };
    let of = |client: SetupClient| PageClient {
        name: client.name(),
        display_name: client.display_name(),
        is_installed: client.is_installed(&setup.environment),
        mcp: connection(&setup, client, SetupPart::Mcp),
        hooks: client.hooked_client().map(|_| connection(&setup, client, SetupPart::Hooks)),
        setup: format!("tamis setup {}", client.name()),
    };
    SetupClient::ALL.iter().copied().map(of).collect()
}

/// How a client uses a part: the best of its places counts.
fn connection(setup: &Setup, client: SetupClient, part: SetupPart) -> PageConnection {
    let found = setup.connections(client, part);
    let state_of = |place: &Result<Connection, SetupError>| match place {
        Ok(connection) => match connection.state {
            ConnectionState::Active => "active",
            ConnectionState::Untrusted => "untrusted",
            ConnectionState::Off => "off",
            ConnectionState::Other => "other",
        },
        Err(_) => "unreadable",
    };
    let best_first = ["active", "untrusted", "off", "other", "unreadable"];
    let state = best_first.into_iter().find(|state| found.iter().any(|place| state_of(place) == *state));
    let places = found.iter().map(|place| match place {
        Ok(connection) => shown(&connection.path),
        Err(error) => error.to_string().into(),
    });
    PageConnection { state: state.unwrap_or("none"), places: places.collect() }
}

fn checkup(config: &Config, services: &Services) -> Result<PageCheckup, PageError> {
    let environment = ConfigEnvironment::of_process();
    let failed = |error: CliError| PageError::new(PageErrorKind::Failed, format!("{:#}", error.error));
    let trace = match services.sessions() {
        Some(sessions) => Arc::clone(&sessions.trace),
        None => Arc::new(startup::trace(config, &[]).map_err(failed)?),
    };
    // Sessions that cannot be read are among the findings.
    let _ = trace.refresh(&mut |_| ControlFlow::Continue(()));
    let findings = doctor::findings(config, &environment, &trace).map_err(failed)?;
    let findings = findings.into_iter().map(|finding| PageCheckFinding {
        subject: finding.subject.into(),
        verdict: finding.verdict.name(),
        message: finding.message.into(),
        fix: finding.fix.map(Redacted::from),
    });
    Ok(PageCheckup { findings: findings.collect(), versions: versions(&environment) })
}

/// The versions of the clients whose program is on PATH.
fn versions(environment: &ConfigEnvironment) -> Vec<PageClientVersion> {
    let path = environment.variables.get("PATH").map(|path| path.as_os_str());
    let hooked = SetupClient::ALL.iter().filter(|client| client.hooked_client().is_some());
    hooked
        .filter_map(|client| {
            let program = find_program(client.name(), path)?;
            Some(PageClientVersion {
                client: client.name(),
                version: version_of(&program),
                program: shown(&program),
            })
        })
        .collect()
}

fn version_of(program: &Path) -> Option<Redacted> {
    let output = Program::new(program)
        .args(["--version"])
        .inherit_env(|name| !name.as_encoded_bytes().starts_with(b"TAMIS_"))
        .time_limit(VERSION_LIMIT)
        .max_output(64 << 10)
        .run()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(Redacted::from(first).on_one_line().shorten(LONGEST_VERSION))
}
