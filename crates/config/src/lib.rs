//! Configuration: flag, then environment, then the project's `.tamis.toml`, then the user's `config.toml`, then
//! the default.
//!
//! A project's file comes with somebody's repository and is not trusted: it may lower limits, narrow where research looks,
//! add to what is never read, and nothing else.
//! What it tries beyond that is ignored and told as a remark.

mod files;
mod folders;
mod settings;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use files::project_root;
pub use settings::{Form, FromProject, Key, SETTINGS, Setting};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Flag,
    Variable(&'static str),
    ProjectFile(PathBuf),
    UserFile(PathBuf),
    Default,
    /// Nobody set it, and it has no default.
    Unset,
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    pub value: Option<String>,
    pub source: Source,
}

impl Resolved {
    /// What holds when nobody says anything.
    fn default_of(setting: &Setting, working_dir: &Path) -> Resolved {
        let value = match setting.form {
            Form::Path | Form::PathList => setting.default.and_then(|default| {
                let path: PathBuf = working_dir.join(default).components().collect();
                path.into_os_string().into_string().ok()
            }),
            _ => setting.default.map(str::to_owned),
        };
        let source = if value.is_some() { Source::Default } else { Source::Unset };
        Resolved { value, source }
    }
}

/// What to resolve from: given, so that tests need not touch the process.
pub struct Surroundings {
    pub working_dir: PathBuf,
    pub variables: BTreeMap<String, OsString>,
    pub flags: BTreeMap<Key, String>,
}

impl Surroundings {
    /// Those of this process, with no flags yet.
    pub fn of_process() -> Surroundings {
        Surroundings {
            working_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            variables: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .collect(),
            flags: BTreeMap::new(),
        }
    }

    /// Adds a flag that was given on the command line.
    pub fn flag(mut self, key: Key, value: Option<impl ToString>) -> Surroundings {
        if let Some(value) = value {
            self.flags.insert(key, value.to_string());
        }
        self
    }

    /// A variable that is set to something. Empty counts as unset, as it does for XDG.
    fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name).filter(|value| !value.is_empty())
    }

    /// A variable of a setting, to some of which emptiness means something.
    fn variable_of(&self, setting: &Setting, name: &str) -> Option<&OsString> {
        let may_be_empty = matches!(setting.form, Form::Verbatim | Form::Switch);
        if may_be_empty { self.variables.get(name) } else { self.variable(name) }
    }
}

/// Every setting, resolved.
#[derive(Clone, Debug)]
pub struct Config {
    values: BTreeMap<Key, Resolved>,
    /// What was ignored, and why; one sentence each.
    pub remarks: Vec<String>,
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    #[error("{name} from {origin} is {value:?}, but {complaint}")]
    Invalid { name: &'static str, origin: String, value: String, complaint: String },
    #[error("cannot read {path}: {why}")]
    Unreadable { path: PathBuf, why: String },
    #[error("{path} has the unknown setting {name}")]
    Unknown { path: PathBuf, name: String },
    #[error("TAMIS_CONFIG names {path}, which does not exist")]
    Missing { path: PathBuf },
    #[error("there is no home folder to keep data in")]
    Homeless,
}

impl ConfigError {
    /// What the reader can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            ConfigError::Invalid { .. } | ConfigError::Unknown { .. } => {
                "`tamis config --explain` lists every setting and where its value comes from"
            }
            ConfigError::Unreadable { .. } | ConfigError::Missing { .. } => {
                "mend or move the file; TAMIS_CONFIG names another user configuration"
            }
            ConfigError::Homeless => "set TAMIS_DATA_DIR to a folder that you own",
        }
    }
}

impl Config {
    /// Resolves every setting. The first thing that cannot be used is an error.
    pub fn load(surroundings: &Surroundings) -> Result<Config, ConfigError> {
        let (config, errors) = Config::explain(surroundings);
        errors.into_iter().next().map_or(Ok(config), Err)
    }

    /// Resolves every setting as far as possible: what cannot be used counts as unset, and is told.
    pub fn explain(surroundings: &Surroundings) -> (Config, Vec<ConfigError>) {
        let mut errors = Vec::new();
        let user = files::read_user_file(surroundings).unwrap_or_else(|error| {
            errors.push(error);
            None
        });
        let mut config = Config { values: BTreeMap::new(), remarks: Vec::new() };
        // A repository must not be able to keep tamis from starting: what is wrong in its file is remarked on.
        let project = files::find_project_file(&surroundings.working_dir).and_then(|path| {
            files::read(&path).unwrap_or_else(|error| {
                config.remarks.push(format!("{error}; the file is ignored"));
                None
            })
        });

        for setting in SETTINGS {
            let mut resolved =
                without_project(setting, surroundings, user.as_ref()).unwrap_or_else(|error| {
                    errors.push(error);
                    Resolved::default_of(setting, &surroundings.working_dir)
                });
            if let Some((path, value)) = project.as_ref().and_then(|file| file.value(setting)) {
                config.let_project_narrow(setting, &mut resolved, path, value);
            }
            config.values.insert(setting.key, resolved);
        }
        if let Some(resolved) = config.values.get_mut(&Key::DataDir)
            && resolved.value.is_none()
        {
            match folders::data(surroundings).map(|folder| folder.into_os_string().into_string()) {
                Some(Ok(folder)) => *resolved = Resolved { value: Some(folder), source: Source::Default },
                _ => errors.push(ConfigError::Homeless),
            }
        }
        config.remark_on_unknown_variables(surroundings);
        (config, errors)
    }

    /// A variable with a typing error in its name would otherwise do nothing, and say nothing.
    fn remark_on_unknown_variables(&mut self, surroundings: &Surroundings) {
        let known = |name: &String| {
            name == "TAMIS_CONFIG"
                || SETTINGS.iter().any(|setting| setting.variables.contains(&name.as_str()))
        };
        for name in surroundings.variables.keys().filter(|name| name.starts_with("TAMIS_") && !known(name)) {
            self.remarks.push(format!("{name} is no setting; ignored"));
        }
    }

    /// Takes over a project's value when it is a narrower one, and remarks on it when it is not.
    fn let_project_narrow(
        &mut self,
        setting: &'static Setting,
        resolved: &mut Resolved,
        path: &Path,
        value: &str,
    ) {
        let source = Source::ProjectFile(path.to_owned());
        if let Err(error) = check(setting, value, &source) {
            self.remarks.push(format!("{error}; ignored"));
            return;
        }
        if matches!(resolved.source, Source::Flag | Source::Variable(_)) {
            return;
        }
        let held = resolved.value.as_deref();
        let narrowed = match setting.from_project {
            FromProject::Ignored => Err("may not set"),
            FromProject::MayLower => {
                let number = |text: &str| text.parse::<u64>().ok();
                let lower = number(value) <= held.and_then(number);
                lower.then(|| value.to_owned()).ok_or("may only lower")
            }
            FromProject::MayNarrow => {
                let folder = path.parent().unwrap_or(Path::new("."));
                narrowed_paths(value, folder, held.unwrap_or_default()).ok_or("may only narrow")
            }
            FromProject::MayAdd => {
                Ok(held.map_or_else(|| value.to_owned(), |held| format!("{held},{value}")))
            }
        };
        match narrowed {
            Ok(value) => *resolved = Resolved { value: Some(value), source },
            Err(may) => {
                let remark = format!("{}: a project {may} {}; ignored", path.display(), setting.name);
                self.remarks.push(remark);
            }
        }
    }

    /// How a setting was resolved.
    pub fn resolved(&self, key: Key) -> &Resolved {
        self.values.get(&key).expect("load resolves every row of the table")
    }

    /// The value of a setting that has one.
    pub fn text(&self, key: Key) -> Option<&str> {
        self.resolved(key).value.as_deref()
    }

    /// The value of a [`Form::Count`] or [`Form::Port`] setting that has one.
    pub fn number(&self, key: Key) -> Option<u64> {
        self.text(key).and_then(|value| value.parse().ok())
    }

    /// The paths of a [`Form::PathList`] setting; none when it is unset.
    pub fn paths(&self, key: Key) -> Vec<PathBuf> {
        let list = self.text(key).unwrap_or_default();
        std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect()
    }

    /// The texts of a [`Form::TextList`] setting; none when it is unset.
    pub fn texts(&self, key: Key) -> Vec<String> {
        let mut texts = vec![String::new()];
        let mut depth = 0usize;
        for letter in self.text(key).unwrap_or_default().chars() {
            match letter {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    texts.push(String::new());
                    continue;
                }
                _ => {}
            }
            texts.last_mut().expect("there is always one").push(letter);
        }
        texts.into_iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
    }

    /// The data folder.
    pub fn data_dir(&self) -> PathBuf {
        PathBuf::from(self.text(Key::DataDir).unwrap_or_default())
    }
}

/// Paths from a project's folder as a list of paths, if all of them are there and lie in the paths that hold.
fn narrowed_paths(value: &str, folder: &Path, held: &str) -> Option<String> {
    let held: Vec<PathBuf> =
        std::env::split_paths(held).filter_map(|path| path.canonicalize().ok()).collect();
    let mut narrowed = Vec::new();
    for path in std::env::split_paths(value).filter(|path| !path.as_os_str().is_empty()) {
        // Links are followed before it is judged.
        let path = folder.join(path).canonicalize().ok()?;
        held.iter().any(|root| path.starts_with(root)).then(|| narrowed.push(path))?;
    }
    (!narrowed.is_empty()).then(|| std::env::join_paths(narrowed).ok())??.into_string().ok()
}

/// What holds when the project says nothing.
fn without_project(
    setting: &'static Setting,
    surroundings: &Surroundings,
    user: Option<&files::File>,
) -> Result<Resolved, ConfigError> {
    let flag = surroundings.flags.get(&setting.key).map(|value| (OsString::from(value), Source::Flag));
    let variable = || {
        setting
            .variables
            .iter()
            .find_map(|name| Some((surroundings.variable_of(setting, name)?.clone(), Source::Variable(name))))
    };
    let from_file = || {
        let (path, value) = user?.value(setting)?;
        Some((OsString::from(value), Source::UserFile(path.to_owned())))
    };
    let Some((value, source)) = flag.or_else(variable).or_else(from_file) else {
        return Ok(Resolved::default_of(setting, &surroundings.working_dir));
    };
    // A path that is changed on the way would quietly be another folder.
    let text = |value: OsString| {
        value.into_string().map_err(|value| ConfigError::Invalid {
            name: setting.name,
            origin: source.to_string(),
            value: value.to_string_lossy().into_owned(),
            complaint: "must be UTF-8".to_owned(),
        })
    };
    let value = text(value)?;
    check(setting, &value, &source)?;
    // A path in a file means the same from wherever tamis is started.
    let folder = match &source {
        Source::UserFile(file) => file.parent().unwrap_or(&surroundings.working_dir),
        _ => &surroundings.working_dir,
    };
    let value = match setting.form {
        Form::Path => text(folder.join(value).into_os_string())?,
        Form::PathList => {
            let paths = std::env::split_paths(&value).filter(|path| !path.as_os_str().is_empty());
            let joined = std::env::join_paths(paths.map(|path| folder.join(path)));
            text(joined.map_err(|error| ConfigError::Invalid {
                name: setting.name,
                origin: source.to_string(),
                value,
                complaint: error.to_string(),
            })?)?
        }
        _ => value,
    };
    Ok(Resolved { value: Some(value), source })
}

fn check(setting: &'static Setting, value: &str, source: &Source) -> Result<(), ConfigError> {
    match setting.complaint(value) {
        None => Ok(()),
        Some(complaint) => Err(ConfigError::Invalid {
            name: setting.name,
            origin: source.to_string(),
            value: if setting.form == Form::Secret { "(secret)".into() } else { value.to_owned() },
            complaint,
        }),
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Flag => write!(out, "the command line"),
            Source::Variable(name) => write!(out, "{name}"),
            Source::ProjectFile(path) | Source::UserFile(path) => write!(out, "{}", path.display()),
            Source::Default => write!(out, "default"),
            Source::Unset => write!(out, "unset"),
        }
    }
}

#[cfg(test)]
mod tests;
