//! Reading `config.toml` and `.tamis.toml`: tables of settings, nothing else.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::environment::CONFIG_VARIABLE;
use crate::{ConfigEnvironment, ConfigError, Setting};

/// Larger files are refused.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The settings of a configuration file as text, by name.
#[derive(Debug)]
pub(crate) struct File {
    path: PathBuf,
    values: BTreeMap<&'static str, String>,
}

impl File {
    pub(crate) fn value(&self, name: &str) -> Option<(&Path, &str)> {
        self.values.get(name).map(|value| (self.path.as_path(), value.as_str()))
    }
}

/// The user's file: the one that TAMIS_CONFIG names, which must exist, or the platform's, which need not.
pub(crate) fn read_user_file(environment: &ConfigEnvironment) -> Result<Option<File>, ConfigError> {
    let Some(path) = environment.user_file() else { return Ok(None) };
    let file = read(&path)?;
    if file.is_none() && environment.variable(CONFIG_VARIABLE).is_some() {
        return Err(ConfigError::Missing { path });
    }
    Ok(file)
}

/// The user's file, or None where there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<File>, ConfigError> {
    read_with(path, OFlags::empty())
}

/// A project's file. A link is not followed: it could lead to a file with secrets, and what is wrong with a file is printed.
pub(crate) fn read_project_file(path: &Path) -> Result<Option<File>, ConfigError> {
    read_with(path, OFlags::NOFOLLOW)
}

fn read_with(path: &Path, flags: OFlags) -> Result<Option<File>, ConfigError> {
    let unreadable = |reason: String| ConfigError::Unreadable { path: path.to_owned(), reason };
    let failed = |error: std::io::Error| unreadable(error.to_string());
    // Never waits for the writer of a FIFO.
    let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => std::fs::File::from(file),
        // Below a home that is not a folder there is no file either.
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::LOOP) => return Err(unreadable("it is a symbolic link".into())),
        Err(error) => return Err(failed(error.into())),
    };
    let about = file.metadata().map_err(failed)?;
    if !about.is_file() {
        return Err(unreadable("not a file".into()));
    }
    if about.len() > MAX_FILE_BYTES {
        return Err(unreadable("over 1 MiB".into()));
    }
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text).map_err(failed)?;
    let tables: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        // Not the error's own text, which quotes the line: it may hold a token.
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        unreadable(format!("line {line}: {}", error.message()))
    })?;

    let mut values = BTreeMap::new();
    for (table, entries) in tables {
        let unknown = |name: String| ConfigError::Unknown { path: path.to_owned(), name };
        let toml::Value::Table(entries) = entries else {
            return Err(unknown(table));
        };
        for (name, value) in entries {
            let name = format!("{table}.{name}");
            let Some(setting) = Setting::named(&name) else {
                return Err(unknown(name));
            };
            let Some(value) = text_of(value, setting) else {
                return Err(unreadable(format!("{name} must be a string, a number or a list of strings")));
            };
            values.insert(setting.name, value);
        }
    }
    Ok(Some(File { path: path.to_owned(), values }))
}

/// A value as a variable would hold it.
fn text_of(value: toml::Value, setting: &Setting) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(yes) if setting.is_switch() => Some(yes.to_string()),
        toml::Value::Array(items) => {
            let texts: Option<Vec<_>> = items.iter().map(|item| item.as_str()).collect();
            if setting.is_path_list() {
                std::env::join_paths(texts?).ok()?.into_string().ok()
            } else {
                Some(texts?.join(","))
            }
        }
        _ => None,
    }
}

/// The nearest `.tamis.toml`, from the working folder up to the root of its repository.
pub(crate) fn find_project_file(working_dir: &Path) -> Option<PathBuf> {
    let root = project_root(working_dir);
    working_dir
        .ancestors()
        .take_while(|folder| folder.starts_with(&root))
        .map(|folder| folder.join(".tamis.toml"))
        .find(|path| path.symlink_metadata().is_ok())
}

/// The root of the repository that `folder` is in, or `folder` itself outside of a repository.
pub fn project_root(folder: &Path) -> PathBuf {
    folder.ancestors().find(|ancestor| ancestor.join(".git").exists()).unwrap_or(folder).to_owned()
}
