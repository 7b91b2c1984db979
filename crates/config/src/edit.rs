//! Changing the user's configuration file, with its comments and its order kept.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, TableLike};

use crate::resolve::Resolver;
use crate::{Config, ConfigEnvironment, ConfigError, Setting, files};

/// Writes a setting to the user's file, creating the file if needed, and returns its path. The value is checked first;
/// relative paths start at the working folder.
pub fn set_user_setting(
    environment: &ConfigEnvironment,
    name: &str,
    value: &str,
) -> Result<PathBuf, ConfigError> {
    let setting = Setting::named(name).ok_or_else(|| ConfigError::UnknownName { name: name.to_owned() })?;
    let value = parse(environment, setting, value)?;
    edit(environment, |document, failed| {
        let (table, key) = setting.name.split_once('.').unwrap_or(("", setting.name));
        let table: &mut dyn TableLike = document
            .entry(table)
            .or_insert_with(toml_edit::table)
            .as_table_like_mut()
            .ok_or_else(|| failed(format!("`{table}` is not a table")))?;
        match table.get_mut(key).and_then(Item::as_value_mut) {
            Some(old) => {
                let decor = old.decor().clone();
                *old = value;
                *old.decor_mut() = decor;
            }
            None => {
                table.insert(key, Item::Value(value));
            }
        }
        Ok(())
    })
}

/// Removes a setting from the user's file, and returns the file's path; none if the file does not set it.
pub fn unset_user_setting(
    environment: &ConfigEnvironment,
    name: &str,
) -> Result<Option<PathBuf>, ConfigError> {
    let setting = Setting::named(name).ok_or_else(|| ConfigError::UnknownName { name: name.to_owned() })?;
    if !environment.user_file().ok_or(ConfigError::NoHome)?.exists() {
        return Ok(None);
    }
    let mut was_set = false;
    let path = edit(environment, |document, _| {
        let (table, key) = setting.name.split_once('.').unwrap_or(("", setting.name));
        let table = document.get_mut(table).and_then(Item::as_table_like_mut);
        was_set = table.and_then(|table| table.remove(key)).is_some();
        Ok(())
    })?;
    Ok(was_set.then_some(path))
}

/// Changes the user's file, and returns its path. `change` also gets how to report why it failed.
fn edit(
    environment: &ConfigEnvironment,
    change: impl FnOnce(&mut DocumentMut, &dyn Fn(String) -> ConfigError) -> Result<(), ConfigError>,
) -> Result<PathBuf, ConfigError> {
    let path = environment.user_file().ok_or(ConfigError::NoHome)?;
    // A dotfile manager may have made it a link, which stays one.
    let path = path.canonicalize().unwrap_or(path);
    let failed = |reason: String| ConfigError::Unwritable { path: path.clone(), reason };
    let folder = path.parent().unwrap_or(Path::new("."));
    let _lock = lock(folder).map_err(|error| failed(error.to_string()))?;
    // A file that cannot be used is fixed by hand first, not rewritten.
    files::read(&path)?;
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error.to_string())),
    };
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| failed(error.message().to_owned()))?;
    change(&mut document, &failed)?;
    write(folder, &path, &document.to_string()).map_err(|error| failed(error.to_string()))?;
    Ok(path)
}

/// The value as a file holds it.
fn parse(
    environment: &ConfigEnvironment,
    setting: &Setting,
    value: &str,
) -> Result<toml_edit::Value, ConfigError> {
    let probe = ConfigEnvironment::empty(&environment.working_dir).flag(setting.name, Some(value));
    let mut resolver = Resolver::new(&probe);
    Config::resolve(&mut resolver);
    let invalid = |error: &ConfigError| matches!(error, ConfigError::Invalid { .. });
    match (resolver.errors.into_iter().find(invalid), resolver.flag_value) {
        (None, Some(value)) => Ok(value),
        (error, _) => Err(error.unwrap_or(ConfigError::UnknownName { name: setting.name.to_owned() })),
    }
}

/// Creates the folder and locks it until the result is dropped, so that concurrent changes are made one after the other. The
/// file itself cannot be locked, because each change replaces it. Some network file systems cannot lock a folder; a change there
/// is made without a lock.
fn lock(folder: &Path) -> std::io::Result<File> {
    std::fs::create_dir_all(folder)?;
    let opened = File::open(folder)?;
    let _ = opened.lock();
    Ok(opened)
}

/// Replaces the file in one step: it is either the old one or the new one. It may hold secrets, so a new file is private.
fn write(folder: &Path, path: &Path, text: &str) -> std::io::Result<()> {
    let draft = folder.join(format!(".config.toml.{}.new", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut file| {
        if let Ok(about) = std::fs::metadata(path) {
            file.set_permissions(about.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| std::fs::rename(&draft, path));
    if replaced.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    replaced
}
