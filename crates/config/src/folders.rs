//! The platform's folders for data and configuration.

use std::path::PathBuf;

use crate::ConfigEnvironment;

pub(crate) fn data(environment: &ConfigEnvironment) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return home(environment).map(|home| home.join("Library/Application Support/tamis"));
    }
    if cfg!(windows) {
        return absolute(environment, "LOCALAPPDATA").map(|folder| folder.join("tamis"));
    }
    absolute(environment, "XDG_DATA_HOME")
        .or_else(|| home(environment).map(|home| home.join(".local/share")))
        .map(|folder| folder.join("tamis"))
}

pub(crate) fn config(environment: &ConfigEnvironment) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return data(environment);
    }
    if cfg!(windows) {
        return absolute(environment, "APPDATA").map(|folder| folder.join("tamis"));
    }
    absolute(environment, "XDG_CONFIG_HOME")
        .or_else(|| home(environment).map(|home| home.join(".config")))
        .map(|folder| folder.join("tamis"))
}

fn home(environment: &ConfigEnvironment) -> Option<PathBuf> {
    absolute(environment, "HOME")
}

/// The XDG specification ignores relative paths in its variables.
fn absolute(environment: &ConfigEnvironment, variable: &str) -> Option<PathBuf> {
    environment.variable(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
