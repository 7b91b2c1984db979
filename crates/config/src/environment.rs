//! What settings are resolved from.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::{Setting, folders};

/// Names another user configuration file.
pub(crate) const CONFIG_VARIABLE: &str = "TAMIS_CONFIG";

/// The working folder, the environment's variables and the command line's flags; passed in, so that tests need not touch
/// the process.
pub struct ConfigEnvironment {
    pub working_dir: PathBuf,
    pub variables: BTreeMap<String, OsString>,
    /// By the name of the setting.
    pub flags: BTreeMap<&'static str, String>,
}

impl ConfigEnvironment {
    /// That of this process, with no flags yet.
    pub fn of_process() -> ConfigEnvironment {
        ConfigEnvironment {
            working_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            variables: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .collect(),
            flags: BTreeMap::new(),
        }
    }

    /// No variables, no flags: what is left are the defaults.
    pub(crate) fn empty(working_dir: &Path) -> ConfigEnvironment {
        ConfigEnvironment {
            working_dir: working_dir.to_owned(),
            variables: BTreeMap::new(),
            flags: BTreeMap::new(),
        }
    }

    /// Adds the value of a flag, if it was given, for the setting of that name.
    pub fn flag(mut self, name: &'static str, value: Option<impl ToString>) -> ConfigEnvironment {
        debug_assert!(Setting::named(name).is_some(), "{name} is not a setting");
        if let Some(value) = value {
            self.flags.insert(name, value.to_string());
        }
        self
    }

    /// The user's configuration file, whether it exists or not: the one that TAMIS_CONFIG names, or the platform's.
    pub fn user_file(&self) -> Option<PathBuf> {
        match self.variable(CONFIG_VARIABLE) {
            Some(path) => Some(self.working_dir.join(path)),
            None => folders::config(self).map(|folder| folder.join("config.toml")),
        }
    }

    /// A variable. Empty counts as unset, as the XDG specification has it.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name).filter(|value| !value.is_empty())
    }
}
