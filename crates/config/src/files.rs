//! Reading `config.toml` and `.tamis.toml`: tables of settings, nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{ConfigError, Form, SETTINGS, Setting, Surroundings, folders};

/// Larger files are no configuration.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A configuration file's settings, as text, by name.
#[derive(Debug)]
pub(crate) struct File {
    path: PathBuf,
    values: BTreeMap<&'static str, String>,
}

impl File {
    pub(crate) fn value(&self, setting: &Setting) -> Option<(&Path, &str)> {
        self.values.get(setting.name).map(|value| (self.path.as_path(), value.as_str()))
    }
}

/// The user's file: the one that TAMIS_CONFIG names, which must be there, or the platform's, which need not.
pub(crate) fn read_user_file(surroundings: &Surroundings) -> Result<Option<File>, ConfigError> {
    match surroundings.variable("TAMIS_CONFIG") {
        Some(path) => {
            let path = surroundings.working_dir.join(path);
            read(&path)?.map(Some).ok_or(ConfigError::Missing { path })
        }
        None => match folders::config(surroundings) {
            Some(folder) => read(&folder.join("config.toml")),
            None => Ok(None),
        },
    }
}

/// The file's settings, or None where there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<File>, ConfigError> {
    let unreadable = |why: String| ConfigError::Unreadable { path: path.to_owned(), why };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
        Ok(about) if !about.is_file() => return Err(unreadable("not a file".into())),
        Ok(about) if about.len() > MAX_FILE_BYTES => return Err(unreadable("over 1 MiB".into())),
        Ok(_) => {}
    }
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    let tables: toml::Table =
        text.parse().map_err(|error: toml::de::Error| unreadable(error.to_string().trim_end().to_owned()))?;

    let mut values = BTreeMap::new();
    for (table, entries) in tables {
        let unknown = |name: String| ConfigError::Unknown { path: path.to_owned(), name };
        let toml::Value::Table(entries) = entries else {
            return Err(unknown(table));
        };
        for (name, value) in entries {
            let name = format!("{table}.{name}");
            let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
                return Err(unknown(name));
            };
            let Some(value) = text_of(value, setting) else {
                return Err(unreadable(format!("{name} must be a text, a number or a list of texts")));
            };
            values.insert(setting.name, value);
        }
    }
    Ok(Some(File { path: path.to_owned(), values }))
}

/// A value as a variable would give it.
fn text_of(value: toml::Value, setting: &Setting) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(yes) if setting.form == Form::Switch => Some(yes.to_string()),
        toml::Value::Array(items) => {
            let texts: Option<Vec<_>> = items.iter().map(|item| item.as_str()).collect();
            match setting.form {
                Form::PathList => std::env::join_paths(texts?).ok()?.into_string().ok(),
                _ => Some(texts?.join(",")),
            }
        }
        _ => None,
    }
}

/// The nearest `.tamis.toml`, from the working directory up to the root of its repository.
pub(crate) fn find_project_file(working_dir: &Path) -> Option<PathBuf> {
    let root = project_root(working_dir);
    working_dir
        .ancestors()
        .take_while(|folder| folder.starts_with(&root))
        .map(|folder| folder.join(".tamis.toml"))
        .find(|path| path.exists())
}

/// The root of the repository that `folder` lies in, or `folder` itself where there is none.
pub fn project_root(folder: &Path) -> PathBuf {
    folder.ancestors().find(|ancestor| ancestor.join(".git").exists()).unwrap_or(folder).to_owned()
}
