//! The platform's folders for data and configuration.

use std::path::PathBuf;

use crate::Surroundings;

pub(crate) fn data(surroundings: &Surroundings) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return home(surroundings).map(|home| home.join("Library/Application Support/tamis"));
    }
    if cfg!(windows) {
        return absolute(surroundings, "LOCALAPPDATA").map(|folder| folder.join("tamis"));
    }
    absolute(surroundings, "XDG_DATA_HOME")
        .or_else(|| home(surroundings).map(|home| home.join(".local/share")))
        .map(|folder| folder.join("tamis"))
}

pub(crate) fn config(surroundings: &Surroundings) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return data(surroundings);
    }
    if cfg!(windows) {
        return absolute(surroundings, "APPDATA").map(|folder| folder.join("tamis"));
    }
    absolute(surroundings, "XDG_CONFIG_HOME")
        .or_else(|| home(surroundings).map(|home| home.join(".config")))
        .map(|folder| folder.join("tamis"))
}

fn home(surroundings: &Surroundings) -> Option<PathBuf> {
    absolute(surroundings, "HOME")
}

/// XDG says that relative paths in its variables are to be ignored.
fn absolute(surroundings: &Surroundings, variable: &str) -> Option<PathBuf> {
    surroundings.variable(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
