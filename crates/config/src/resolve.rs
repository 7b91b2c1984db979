//! Resolving one setting: flag, then variable, then the user's file, then the default; then what the project may change.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::files::File;
use crate::kinds::{Form, Kind, PathList, TextList};
use crate::{ConfigEnvironment, ConfigError, ConfigSource, ProjectRule, Setting, Sourced};

/// Resolves the settings that are declared to it, and collects what there is to report about them.
pub(crate) struct Resolver<'a> {
    pub(crate) environment: &'a ConfigEnvironment,
    pub(crate) user: Option<File>,
    pub(crate) project: Option<File>,
    pub(crate) settings: Vec<Setting>,
    pub(crate) errors: Vec<ConfigError>,
    pub(crate) warnings: Vec<String>,
    /// The last value that came from a flag, as a file would hold it.
    pub(crate) flag_value: Option<toml_edit::Value>,
}

/// The value that the project's file leads to, given the value without it and the project's folder; None when the
/// project may not have it.
type ProjectValue<T> = fn(Option<&T>, T, &Path) -> Option<T>;

/// A setting that is being declared.
pub(crate) struct Declaration<'r, 'a, K: Kind> {
    resolver: &'r mut Resolver<'a>,
    name: &'static str,
    variables: &'static [&'static str],
    kind: K,
    about: &'static str,
    project: ProjectRule,
    project_value: ProjectValue<K::Value>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(environment: &'a ConfigEnvironment) -> Resolver<'a> {
        Resolver {
            environment,
            user: None,
            project: None,
            settings: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            flag_value: None,
        }
    }

    /// Declares a setting: its name in files (`table.key`), its variables (the first that is set counts), its kind, and
    /// what it is about. A project's file may not set it, unless a method of the declaration says so.
    pub(crate) fn setting<K: Kind>(
        &mut self,
        name: &'static str,
        variables: &'static [&'static str],
        kind: K,
        about: &'static str,
    ) -> Declaration<'_, 'a, K> {
        Declaration {
            resolver: self,
            name,
            variables,
            kind,
            about,
            project: ProjectRule::Ignored,
            project_value: |_, _, _| None,
        }
    }
}

impl<K: Kind> Declaration<'_, '_, K>
where
    K::Value: Ord,
{
    /// Lets a project set a smaller value.
    pub(crate) fn project_may_lower(self) -> Self {
        let project_value: ProjectValue<K::Value> = |held, value, _| (Some(&value) <= held).then_some(value);
        Declaration { project: ProjectRule::MayLower, project_value, ..self }
    }
}

impl Declaration<'_, '_, PathList> {
    /// Lets a project set folders that are in those that hold without it.
    pub(crate) fn project_may_narrow(self) -> Self {
        Declaration { project: ProjectRule::MayNarrow, project_value: narrowed, ..self }
    }
}

impl Declaration<'_, '_, TextList> {
    /// Lets a project add to the list.
    pub(crate) fn project_may_add(self) -> Self {
        let project_value: ProjectValue<Vec<String>> =
            |held, value, _| Some(held.into_iter().flatten().cloned().chain(value).collect());
        Declaration { project: ProjectRule::MayAdd, project_value, ..self }
    }
}

/// The project's folders with links followed, if all of them exist and are in the folders that hold.
fn narrowed(held: Option<&Vec<PathBuf>>, value: Vec<PathBuf>, folder: &Path) -> Option<Vec<PathBuf>> {
    let held: Vec<PathBuf> = held.into_iter().flatten().filter_map(|path| path.canonicalize().ok()).collect();
    let is_allowed = |path: &PathBuf| held.iter().any(|root| path.starts_with(root));
    let resolve = |path: PathBuf| folder.join(path).canonicalize().ok().filter(is_allowed);
    let narrowed: Vec<PathBuf> = value.into_iter().map(resolve).collect::<Option<_>>()?;
    (!narrowed.is_empty()).then_some(narrowed)
}

impl<K: Kind> Declaration<'_, '_, K> {
    /// With a default. A relative path in it starts at the working folder.
    pub(crate) fn or(self, default: impl Into<K::Value>) -> Sourced<K::Value> {
        let default = default.into();
        let shown = self.kind.show(&default);
        let rooted = self.kind.rooted(default.clone(), &self.resolver.environment.working_dir);
        let resolved = self.resolve(Some(rooted), Some(shown));
        Sourced {
            value: resolved.value.unwrap_or(default),
            source: resolved.source,
            without_project: resolved.without_project.flatten(),
        }
    }

    /// Without a default.
    pub(crate) fn optional(self) -> Sourced<Option<K::Value>> {
        self.resolve(None, None)
    }

    /// With a default that depends on the environment; `shown` describes it in the reference.
    pub(crate) fn or_else(
        self,
        default: impl FnOnce(&ConfigEnvironment) -> Option<K::Value>,
        shown: &str,
    ) -> Sourced<Option<K::Value>> {
        let default = default(self.resolver.environment);
        self.resolve(default, Some(shown.to_owned()))
    }

    fn resolve(self, default: Option<K::Value>, shown_default: Option<String>) -> Sourced<Option<K::Value>> {
        let found = self.without_project().unwrap_or_else(|error| {
            self.resolver.errors.push(error);
            None
        });
        let (mut value, mut source) = match (found, default) {
            (Some((value, source)), _) => (Some(value), source),
            (None, Some(default)) => (Some(default), ConfigSource::Default),
            (None, None) => (None, ConfigSource::Unset),
        };
        if let (Some(value), ConfigSource::Flag) = (&value, &source) {
            self.resolver.flag_value = Some(self.kind.to_toml(value));
        }
        let mut without_project = None;
        match self.project_value(value.as_ref(), &source) {
            Ok(Some((narrower, file))) => {
                without_project = Some(value.replace(narrower));
                source = ConfigSource::ProjectFile(file);
            }
            Ok(None) => {}
            Err(warning) => self.resolver.warnings.push(warning),
        }
        self.resolver.settings.push(Setting {
            name: self.name,
            variables: self.variables,
            kind: self.kind.description(),
            form: K::FORM,
            default: shown_default,
            project: self.project,
            about: self.about,
            value: value.as_ref().map(|value| self.kind.show(value)),
            source: source.clone(),
        });
        Sourced { value, source, without_project }
    }

    /// What a flag, a variable or the user's file says.
    fn without_project(&self) -> Result<Option<(K::Value, ConfigSource)>, ConfigError> {
        let environment = self.resolver.environment;
        let flag = || {
            let value = environment.flags.get(self.name)?;
            Some((OsString::from(value), ConfigSource::Flag))
        };
        let variable = || {
            self.variables.iter().find_map(|name| {
                let value = if self.kind.accepts_empty() {
                    environment.variables.get(*name)
                } else {
                    environment.variable(name)
                };
                Some((value?.clone(), ConfigSource::Variable(name)))
            })
        };
        let from_file = || {
            let (path, value) = self.resolver.user.as_ref()?.value(self.name)?;
            Some((OsString::from(value), ConfigSource::UserFile(path.to_owned())))
        };
        let Some((value, source)) = flag().or_else(variable).or_else(from_file) else { return Ok(None) };
        // A lossy copy of a path would be another path.
        let text = value
            .into_string()
            .map_err(|value| self.invalid(&value.to_string_lossy(), &source, "must be UTF-8".to_owned()))?;
        let value = self.parse(&text, &source)?;
        // A path in a file means the same from every working folder.
        let folder = match &source {
            ConfigSource::UserFile(file) => file.parent().unwrap_or(&environment.working_dir),
            _ => &environment.working_dir,
        };
        Ok(Some((self.kind.rooted(value, folder), source)))
    }

    /// The project's value and file, where it has a value that it may set; a warning where it may not.
    fn project_value(
        &self,
        held: Option<&K::Value>,
        source: &ConfigSource,
    ) -> Result<Option<(K::Value, PathBuf)>, String> {
        let Some((path, text)) = self.resolver.project.as_ref().and_then(|file| file.value(self.name)) else {
            return Ok(None);
        };
        let file = ConfigSource::ProjectFile(path.to_owned());
        let value = self.parse(text, &file).map_err(|error| format!("{error}; ignored"))?;
        if matches!(source, ConfigSource::Flag | ConfigSource::Variable(_)) {
            return Ok(None);
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        match (self.project_value)(held, value, folder) {
            Some(value) => Ok(Some((value, path.to_owned()))),
            None => {
                let rule = match self.project {
                    ProjectRule::Ignored => "may not set",
                    ProjectRule::MayLower => "may only lower",
                    ProjectRule::MayNarrow => "may only narrow",
                    ProjectRule::MayAdd => "may only add to",
                };
                Err(format!("{}: a project {rule} {}; ignored", path.display(), self.name))
            }
        }
    }

    fn parse(&self, text: &str, source: &ConfigSource) -> Result<K::Value, ConfigError> {
        self.kind.parse(text).map_err(|reason| self.invalid(text, source, reason))
    }

    fn invalid(&self, value: &str, source: &ConfigSource, reason: String) -> ConfigError {
        let value = if K::FORM == Form::Secret { "(secret)" } else { value };
        ConfigError::Invalid { name: self.name, origin: source.to_string(), value: value.to_owned(), reason }
    }
}
