//! Settings: flag, then environment, then the project's `.tamis.toml`, then the user's `config.toml`, then the default.
//!
//! [`Config::load`] resolves every setting into a typed group, each value with its source (`config.http.port`).
//! `settings.rs` declares each setting once; [`Config::settings`] lists them for people, and [`set_user_setting`] changes
//! the user's file.
//!
//! A project's file is part of a repository and not trusted: it may lower limits, narrow what research reads, and deny
//! more. Anything else in it is ignored, with a warning.
//!
//! Never: printing, logging, or a secret in a text that is meant for people.

mod edit;
mod environment;
mod files;
mod folders;
mod kinds;
mod resolve;
mod settings;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

pub use edit::{set_user_setting, unset_user_setting};
pub use environment::ConfigEnvironment;
pub use files::project_root;
pub use kinds::{SecretText, is_on};
pub use settings::{
    AgentsConfig, DataConfig, FeatureUse, GithubConfig, HookConfig, HttpConfig, LogConfig, ModelConfig,
    ResearchConfig, RunConfig, SieveConfig, TraceConfig, WorkbenchConfig,
};

use kinds::Form;
use resolve::Resolver;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    Flag,
    Variable(&'static str),
    ProjectFile(PathBuf),
    UserFile(PathBuf),
    Default,
    /// Not set, and without a default.
    Unset,
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    pub value: T,
    pub source: ConfigSource,
    /// The value without the project's file, if that changed it.
    pub without_project: Option<T>,
}

impl<T: Default> Sourced<Option<T>> {
    fn or_default(self) -> Sourced<T> {
        Sourced {
            value: self.value.unwrap_or_default(),
            source: self.source,
            without_project: self.without_project.map(Option::unwrap_or_default),
        }
    }
}

/// What a project's own file, which the authors of the repository control, may do to a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectRule {
    Ignored,
    /// Set a smaller value than what holds without it.
    MayLower,
    /// Set folders in those that hold without it.
    MayNarrow,
    /// Add to the list that holds without it.
    MayAdd,
}

/// A setting as people see it.
#[derive(Clone, Debug)]
pub struct Setting {
    /// As in `config.toml` and `.tamis.toml`: `table.key`.
    pub name: &'static str,
    /// The first one that is set counts: ours, then those of the contracts.
    pub variables: &'static [&'static str],
    /// What its values look like.
    pub kind: String,
    form: Form,
    pub default: Option<String>,
    pub project: ProjectRule,
    pub about: &'static str,
    /// As text; `(set)` for a secret, None when it is unset.
    pub value: Option<String>,
    pub source: ConfigSource,
}

impl Setting {
    /// Every setting with its default, in the order of the reference.
    pub fn all() -> &'static [Setting] {
        static ALL: LazyLock<Vec<Setting>> = LazyLock::new(|| {
            let environment = ConfigEnvironment::empty(Path::new("."));
            let mut resolver = Resolver::new(&environment);
            Config::resolve(&mut resolver);
            resolver.settings
        });
        &ALL
    }

    pub fn named(name: &str) -> Option<&'static Setting> {
        Setting::all().iter().find(|setting| setting.name == name)
    }

    pub fn is_secret(&self) -> bool {
        self.form == Form::Secret
    }

    fn is_switch(&self) -> bool {
        self.form == Form::Switch
    }

    fn is_path_list(&self) -> bool {
        self.form == Form::PathList
    }
}

/// Every setting, resolved.
#[derive(Clone, Debug)]
pub struct Config {
    pub data: DataConfig,
    pub log: LogConfig,
    pub http: HttpConfig,
    pub sieve: SieveConfig,
    pub workbench: WorkbenchConfig,
    pub hook: HookConfig,
    pub run: RunConfig,
    pub trace: TraceConfig,
    pub research: ResearchConfig,
    pub model: ModelConfig,
    pub agents: AgentsConfig,
    pub github: GithubConfig,
    settings: Vec<Setting>,
    /// What was ignored, and why; one sentence each.
    pub warnings: Vec<String>,
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    #[error("invalid value `{value}` for `{name}` from {origin}: {reason}")]
    Invalid { name: &'static str, origin: String, value: String, reason: String },
    #[error("cannot read `{path}`: {reason}")]
    Unreadable { path: PathBuf, reason: String },
    #[error("cannot write `{path}`: {reason}")]
    Unwritable { path: PathBuf, reason: String },
    #[error("unknown setting `{name}` in `{path}`")]
    Unknown { path: PathBuf, name: String },
    #[error("unknown setting `{name}`")]
    UnknownName { name: String },
    #[error("`{path}`, named by TAMIS_CONFIG, does not exist")]
    Missing { path: PathBuf },
    #[error("cannot find a home folder")]
    NoHome,
}

impl ConfigError {
    /// What the reader can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            ConfigError::Invalid { .. } | ConfigError::Unknown { .. } | ConfigError::UnknownName { .. } => {
                "`tamis config --explain` lists every setting and the source of its value"
            }
            ConfigError::Unreadable { .. } | ConfigError::Unwritable { .. } | ConfigError::Missing { .. } => {
                "fix or move the file, or set TAMIS_CONFIG to another file"
            }
            ConfigError::NoHome => "set TAMIS_DATA_DIR to a folder that you own",
        }
    }
}

impl Config {
    /// Resolves every setting. The first value that cannot be used is an error.
    pub fn load(environment: &ConfigEnvironment) -> Result<Config, ConfigError> {
        let (config, errors) = Config::explain(environment);
        errors.into_iter().next().map_or(Ok(config), Err)
    }

    /// Resolves every setting as far as possible: a value that cannot be used counts as unset, and its error is returned.
    pub fn explain(environment: &ConfigEnvironment) -> (Config, Vec<ConfigError>) {
        let mut resolver = Resolver::new(environment);
        resolver.user = files::read_user_file(environment).unwrap_or_else(|error| {
            resolver.errors.push(error);
            None
        });
        // A repository must not be able to keep tamis from starting: errors in its file are warnings.
        resolver.project = files::find_project_file(&environment.working_dir).and_then(|path| {
            files::read_project_file(&path).unwrap_or_else(|error| {
                resolver.warnings.push(format!("{error}; the file is ignored"));
                None
            })
        });
        let mut config = Config::resolve(&mut resolver);
        if config.data.dir.source == ConfigSource::Unset {
            resolver.errors.push(ConfigError::NoHome);
        }
        config.settings = resolver.settings;
        config.warnings = resolver.warnings;
        config.warnings.extend(unknown_variables(environment));
        (config, resolver.errors)
    }

    /// Every group, without what there is to report.
    fn resolve(from: &mut Resolver<'_>) -> Config {
        Config {
            data: DataConfig::resolve(from),
            log: LogConfig::resolve(from),
            http: HttpConfig::resolve(from),
            sieve: SieveConfig::resolve(from),
            workbench: WorkbenchConfig::resolve(from),
            hook: HookConfig::resolve(from),
            run: RunConfig::resolve(from),
            trace: TraceConfig::resolve(from),
            research: ResearchConfig::resolve(from),
            model: ModelConfig::resolve(from),
            agents: AgentsConfig::resolve(from),
            github: GithubConfig::resolve(from),
            settings: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.data.dir.value.clone()
    }

    /// Every setting with its value, in the order of the reference.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }
}

/// Names the pager of the command line, before any setting is known.
pub const PAGER_VARIABLE: &str = "TAMIS_PAGER";

/// A misspelt variable would otherwise do nothing, silently.
fn unknown_variables(environment: &ConfigEnvironment) -> impl Iterator<Item = String> {
    let is_known = |name: &String| {
        [environment::CONFIG_VARIABLE, PAGER_VARIABLE].contains(&name.as_str())
            || Setting::all().iter().any(|setting| setting.variables.contains(&name.as_str()))
    };
    let ours = environment.variables.keys().filter(|name| name.starts_with("TAMIS_"));
    ours.filter(move |name| !is_known(name)).map(|name| format!("`{name}` is not a setting; ignored"))
}

impl std::fmt::Display for ConfigSource {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConfigSource::Flag => write!(out, "the command line"),
            ConfigSource::Variable(name) => write!(out, "{name}"),
            ConfigSource::ProjectFile(path) | ConfigSource::UserFile(path) => {
                write!(out, "{}", path.display())
            }
            ConfigSource::Default => write!(out, "default"),
            ConfigSource::Unset => write!(out, "unset"),
        }
    }
}

#[cfg(test)]
mod tests;
