//! What was written to a file, so that it can be undone: one folder of the data folder for each file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tamis_store::{DataDir, create_private_dir, private_file};

use crate::document::{Entry, Format};
use crate::{DocumentError, SetupError, SetupScope};

const RECORD: &str = "record.json";
const BACKUP: &str = "before";

/// What was written to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SetupRecord {
    pub(crate) path: PathBuf,
    pub(crate) client: String,
    pub(crate) is_project: bool,
    pub(crate) format: Format,
    pub(crate) entry: Entry,
    /// The number of tables that were created around the entry.
    pub(crate) created_tables: usize,
    /// Folders that were created for the file, the innermost first.
    pub(crate) created_folders: Vec<PathBuf>,
    /// SHA-256 of the file as it was written.
    pub(crate) after: String,
    /// The file as it was; none if there was no file. Stored beside the record, byte for byte.
    #[serde(skip)]
    pub(crate) before: Option<String>,
}

impl SetupRecord {
    pub(crate) fn scope(&self) -> SetupScope {
        if self.is_project { SetupScope::Project } else { SetupScope::User }
    }

    pub(crate) fn load(data: &DataDir, path: &Path) -> Result<Option<SetupRecord>, SetupError> {
        read(&folder_of(data, path))
    }

    /// All records, in the order of their paths.
    pub(crate) fn all(data: &DataDir) -> Result<Vec<SetupRecord>, SetupError> {
        let mut records = Vec::new();
        for entry in fs::read_dir(data.setup()).into_iter().flatten().flatten() {
            records.extend(read(&entry.path())?);
        }
        records.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(records)
    }

    /// Where the copy of the file is.
    pub(crate) fn backup(&self, data: &DataDir) -> Option<PathBuf> {
        self.before.as_ref().map(|_| folder_of(data, &self.path).join(BACKUP))
    }

    pub(crate) fn save(&self, data: &DataDir) -> Result<(), SetupError> {
        let folder = folder_of(data, &self.path);
        let failed = |source| SetupError::Io { path: folder.clone(), source };
        create_private_dir(&folder).map_err(failed)?;
        let write = |name: &str, bytes: &[u8]| {
            let draft = folder.join(format!("{name}.new"));
            let mut file = private_file().write(true).create(true).truncate(true).open(&draft)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&draft, folder.join(name))
        };
        match &self.before {
            Some(text) => write(BACKUP, text.as_bytes()).map_err(failed)?,
            // That of an earlier record for the same file.
            None => match fs::remove_file(folder.join(BACKUP)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            },
        }
        let text = serde_json::to_vec_pretty(self)
            .map_err(|source| SetupError::Record { path: folder.join(RECORD), source })?;
        write(RECORD, &text).map_err(failed)
    }

    pub(crate) fn delete(&self, data: &DataDir) -> Result<(), SetupError> {
        let folder = folder_of(data, &self.path);
        fs::remove_dir_all(&folder).map_err(|source| SetupError::Io { path: folder, source })
    }

    /// The file without what was written; none if it is to be deleted. The text stays as it is where the user changed the entry.
    pub(crate) fn undo(&self, current: &str) -> Result<Option<String>, DocumentError> {
        if digest(current) == self.after {
            return Ok(self.before.clone());
        }
        if self.format.get(current, &self.entry.keys)? != Some(self.entry.value()) {
            return Ok(Some(current.to_owned()));
        }
        let removed = self.format.without(current, &self.entry.keys, self.created_tables)?;
        let text = match self.without_inserted(current)? {
            // Both say the same; this one has every other byte as it was.
            Some(text) if self.format.get(&text, &[])? == self.format.get(&removed, &[])? => text,
            _ => removed,
        };
        let is_empty = || match self.format.get(&text, &[]) {
            Ok(Some(value)) => {
                value.as_object().is_some_and(serde_json::Map::is_empty) && !text.contains(['/', '#'])
            }
            Ok(None) => true,
            Err(_) => false,
        };
        Ok((self.before.is_some() || !is_empty()).then_some(text))
    }

    /// The text without exactly those bytes that the entry added to the file, if they are there once.
    fn without_inserted(&self, current: &str) -> Result<Option<String>, DocumentError> {
        let before = self.before.as_deref().unwrap_or_default();
        let after = self.format.with(before, &self.entry)?;
        let start = before.bytes().zip(after.bytes()).take_while(|(left, right)| left == right).count();
        let rest = before.len() - start;
        if !after.is_char_boundary(start) || !after.ends_with(&before[start..]) || after.len() < start + rest
        {
            return Ok(None);
        }
        let inserted = &after[start..after.len() - rest];
        let mut parts = current.split(inserted);
        Ok(match (parts.next(), parts.next(), parts.next()) {
            (Some(head), Some(tail), None) if !inserted.is_empty() => Some(format!("{head}{tail}")),
            _ => None,
        })
    }
}

pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn folder_of(data: &DataDir, path: &Path) -> PathBuf {
    data.setup().join(&digest(&path.to_string_lossy())[..16])
}

fn read(folder: &Path) -> Result<Option<SetupRecord>, SetupError> {
    let path = folder.join(RECORD);
    let failed = |source| SetupError::Io { path: path.clone(), source };
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut record: SetupRecord =
        serde_json::from_slice(&text).map_err(|source| SetupError::Record { path: path.clone(), source })?;
    record.before = match fs::read_to_string(folder.join(BACKUP)) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    Ok(Some(record))
}
