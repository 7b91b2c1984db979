//! What was written to a file, so that it can be undone: one folder of the data folder for each file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tamis_store::{DataDir, create_private_dir, private_file};

use crate::document::{Entry, Format, Presence};
use crate::{DocumentError, SetupError, SetupPart, SetupScope};

const RECORD: &str = "record.json";
const BACKUP: &str = "before";

/// An entry of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenEntry {
    #[serde(default)]
    pub(crate) part: SetupPart,
    pub(crate) entry: Entry,
    /// The number of tables and arrays around it that were created for it.
    #[serde(alias = "created_tables")]
    pub(crate) created: usize,
}

/// A file that entries are written to.
#[derive(Clone, Debug)]
pub(crate) struct RecordedFile {
    pub(crate) path: PathBuf,
    pub(crate) client: String,
    pub(crate) is_project: bool,
    pub(crate) format: Format,
    pub(crate) created_folders: Vec<PathBuf>,
}

/// What was written to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SetupRecord {
    pub(crate) path: PathBuf,
    pub(crate) client: String,
    pub(crate) is_project: bool,
    pub(crate) format: Format,
    /// In the order in which they were added.
    #[serde(default)]
    pub(crate) entries: Vec<WrittenEntry>,
    /// The only entry of a record that was written before a file could have several; [`read`] moves it to the others.
    #[serde(flatten, skip_serializing)]
    only_entry: Option<WrittenEntry>,
    /// Folders that were created for the file, the innermost first.
    pub(crate) created_folders: Vec<PathBuf>,
    /// SHA-256 of the file as it was written.
    pub(crate) after: String,
    /// The file as it was; none if there was no file. Stored beside the record, byte for byte.
    #[serde(skip)]
    pub(crate) before: Option<String>,
}

impl SetupRecord {
    /// The record of these entries, added to a text; with the file that results.
    pub(crate) fn write(
        file: RecordedFile,
        before: Option<String>,
        entries: Vec<(SetupPart, Entry)>,
    ) -> Result<(SetupRecord, Option<String>), DocumentError> {
        let text = before.clone().unwrap_or_default();
        let mut after = text.clone();
        let mut written = Vec::new();
        for (part, entry) in entries {
            // Counted in the file as it was, so that the last of several entries in a new table removes the table.
            let created = file.format.missing_containers(&text, &entry)?;
            after = file.format.with(&after, &entry)?;
            written.push(WrittenEntry { part, entry, created });
        }
        let after = match (&before, written.is_empty()) {
            (None, true) => None,
            (None, false) if !after.ends_with('\n') => Some(after + "\n"),
            _ => Some(after),
        };
        let record = SetupRecord {
            path: file.path,
            client: file.client,
            is_project: file.is_project,
            format: file.format,
            entries: written,
            only_entry: None,
            created_folders: file.created_folders,
            after: digest(after.as_deref().unwrap_or_default()),
            before,
        };
        Ok((record, after))
    }

    /// What the record says about the file itself.
    pub(crate) fn file(&self) -> RecordedFile {
        RecordedFile {
            path: self.path.clone(),
            client: self.client.clone(),
            is_project: self.is_project,
            format: self.format,
            created_folders: self.created_folders.clone(),
        }
    }

    pub(crate) fn presence(&self, text: &str, entry: &Entry) -> Result<Presence, DocumentError> {
        self.format.presence(text, entry, &self.client)
    }

    /// The entries that the text still has, as they were written.
    pub(crate) fn present(&self, text: &str) -> Result<Vec<&WrittenEntry>, DocumentError> {
        let mut present = Vec::new();
        for written in &self.entries {
            if self.presence(text, &written.entry)? == Presence::Same {
                present.push(written);
            }
        }
        Ok(present)
    }

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

    /// When it was written.
    pub(crate) fn written_at(&self, data: &DataDir) -> Option<SystemTime> {
        fs::metadata(folder_of(data, &self.path).join(RECORD)).and_then(|metadata| metadata.modified()).ok()
    }

    /// Where the copy of the file is.
    pub(crate) fn backup(&self, data: &DataDir) -> Option<PathBuf> {
        self.before.as_ref().map(|_| folder_of(data, &self.path).join(BACKUP))
    }

    pub(crate) fn save(&self, data: &DataDir) -> Result<(), SetupError> {
        let folder = folder_of(data, &self.path);
        let failed = |source| SetupError::Write { path: folder.clone(), source };
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
        fs::remove_dir_all(&folder).map_err(|source| SetupError::Write { path: folder, source })
    }

    /// The file without what was written; none if it is to be deleted. Entries that the user changed stay.
    pub(crate) fn undo(&self, current: &str) -> Result<Option<String>, DocumentError> {
        if digest(current) == self.after {
            return Ok(self.before.clone());
        }
        let mut stages = vec![self.before.clone().unwrap_or_default()];
        for written in &self.entries {
            let text = self.format.with(stages.last().map_or("", String::as_str), &written.entry)?;
            stages.push(text);
        }
        let mut text = current.to_owned();
        for (WrittenEntry { entry, created, .. }, stages) in self.entries.iter().zip(stages.windows(2)).rev()
        {
            if self.presence(&text, entry)? != Presence::Same {
                continue;
            }
            let removed = self.format.without(&text, entry, *created)?;
            let value = self.format.get(&removed, &[])?;
            let flaws = self.format.comma_flaws(&text).max(self.format.comma_flaws(&stages[0]));
            text = match without_inserted(&text, &stages[0], &stages[1]) {
                // Both have the same values; this one has every other byte as it was. If the user added an entry beside this one,
                // a comma may be left that not every client accepts.
                Some(exact)
                    if self.format.get(&exact, &[]).is_ok_and(|found| found == value)
                        && self.format.comma_flaws(&exact) <= flaws =>
                {
                    exact
                }
                _ => removed,
            };
        }
        let is_empty = || match self.format.get(&text, &[]) {
            Ok(Some(value)) => {
                value.as_object().is_some_and(serde_json::Map::is_empty) && !text.contains(['/', '#'])
            }
            Ok(None) => true,
            Err(_) => false,
        };
        Ok((self.before.is_some() || !is_empty()).then_some(text))
    }
}

/// The text without exactly those bytes that turned `before` into `after`, if they are there once.
fn without_inserted(text: &str, before: &str, after: &str) -> Option<String> {
    let start = before.bytes().zip(after.bytes()).take_while(|(left, right)| left == right).count();
    let rest = before.len() - start;
    if !after.is_char_boundary(start) || after.len() < start + rest || !after.ends_with(&before[start..]) {
        return None;
    }
    let inserted = &after[start..after.len() - rest];
    let mut parts = text.split(inserted);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(head), Some(tail), None) if !inserted.is_empty() => Some(format!("{head}{tail}")),
        _ => None,
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
    let failed = |source| SetupError::Read { path: path.clone(), source };
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut record: SetupRecord =
        serde_json::from_slice(&text).map_err(|source| SetupError::Record { path: path.clone(), source })?;
    record.entries.extend(record.only_entry.take());
    record.before = match fs::read_to_string(folder.join(BACKUP)) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    Ok(Some(record))
}
