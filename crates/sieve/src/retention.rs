//! What is held, and how it goes again: by age, by size, or because someone asks.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use serde::Serialize;
use tamis_store::StoreError;

use crate::ids::TextId;
use crate::recovery::{GOAL, ORIGINAL, Recovery, TEMPORARY, is_older, remove_if};

/// A temporary file of this age belongs to a process that was killed.
const STALE: Duration = Duration::from_secs(60 * 60);

/// What went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CleanUp {
    /// Another process is at it; nothing was done here.
    pub skipped: bool,
    pub originals: u64,
    pub goals: u64,
    /// What killed processes left half-written.
    pub temporaries: u64,
    /// Bytes of all those files.
    pub bytes: u64,
    pub ledger_rows: u64,
    /// Copies of the database made before migrations.
    pub backups: u64,
    /// What could not be cleaned, in words.
    pub problems: Vec<String>,
}

/// What is held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    pub recovery_files: u64,
    /// Originals and goals, as they lie on the disk.
    pub recovery_bytes: u64,
    /// When the oldest original was last pruned.
    pub recovery_oldest: Option<SystemTime>,
    pub ledger_rows: u64,
    /// The database with its journal, and the copies made before migrations.
    pub database_bytes: u64,
    /// What could not be looked at, in words.
    pub problems: Vec<String>,
}

/// What to erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purge {
    pub recovery: bool,
    pub ledger: bool,
    /// Only what is older. `None`: all of it.
    pub older_than: Option<Duration>,
}

/// Why erasing or counting failed.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot use {}", path.display())]
    Recovery { path: PathBuf, source: io::Error },
}

impl DataError {
    /// What the reader can do, where there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            DataError::Store(error) => error.hint(),
            DataError::Recovery { .. } => Some("check the owner and permissions of the folder".into()),
        }
    }
}

/// The rules of one round.
pub(crate) struct Sweep {
    /// Originals older than this go; `None`: all of them, and half-written files too.
    pub(crate) older_than: Option<Duration>,
    /// Then the oldest go until no more than this is left.
    pub(crate) max_bytes: u64,
    pub(crate) now: SystemTime,
}

struct Found {
    path: PathBuf,
    modified: SystemTime,
    bytes: u64,
}

/// The files of the folder, by what they are. Anything else is not ours and is left alone.
#[derive(Default)]
struct Survey {
    originals: Vec<(TextId, Found)>,
    goals: HashMap<TextId, Vec<Found>>,
    temporaries: Vec<Found>,
}

impl Recovery {
    fn survey(&self) -> io::Result<Survey> {
        let mut survey = Survey::default();
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(survey),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = entry?.path();
            // Gone since the listing: someone else removed it.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            if !metadata.is_file() {
                continue;
            }
            let (Some(stem), Some(extension)) = (
                path.file_stem().and_then(|stem| stem.to_str()),
                path.extension().and_then(|end| end.to_str()),
            ) else {
                continue;
            };
            let (id, extension) = (stem.get(..16).and_then(TextId::parse), extension.to_owned());
            let whole = stem.len();
            let found = Found { modified: metadata.modified()?, bytes: metadata.len(), path };
            match (extension.as_str(), id) {
                (ORIGINAL, Some(id)) if whole == 16 => survey.originals.push((id, found)),
                (GOAL, Some(id)) if whole == 22 => survey.goals.entry(id).or_default().push(found),
                (TEMPORARY, _) => survey.temporaries.push(found),
                _ => {}
            }
        }
        Ok(survey)
    }

    /// Removes what the rules say. Safe beside processes that write: a file touched since it was looked at stays.
    pub(crate) fn sweep(&self, sweep: &Sweep, report: &mut CleanUp) -> io::Result<()> {
        let Survey { mut originals, goals, temporaries } = self.survey()?;
        let stale = sweep.older_than.map(|_| STALE);
        for found in temporaries {
            if stale.is_none_or(|age| is_older(found.modified, age, sweep.now)) {
                report.temporaries += report.remove(&found)?;
            }
        }
        let size = |id: &TextId, found: &Found| {
            found.bytes + goals.get(id).map_or(0, |goals| goals.iter().map(|goal| goal.bytes).sum())
        };
        let mut left: u64 = originals.iter().map(|(id, found)| size(id, found)).sum();
        originals.sort_by_key(|(_, found)| found.modified);
        let mut kept = HashSet::new();
        for (id, found) in originals {
            let expired = sweep.older_than.is_none_or(|age| is_older(found.modified, age, sweep.now));
            let removed = if expired || left > sweep.max_bytes { report.remove(&found)? } else { 0 };
            report.originals += removed;
            if removed == 1 {
                left -= size(&id, &found);
            } else {
                kept.insert(id);
            }
        }
        for (id, goals) in goals {
            // Looked at again: the original may have come back, or have come after the listing.
            if kept.contains(&id) || self.path(&id).exists() {
                continue;
            }
            for goal in goals {
                report.goals += report.remove(&goal)?;
            }
        }
        Ok(())
    }

    pub(crate) fn expire(&self, now: SystemTime, report: &mut CleanUp) -> io::Result<()> {
        self.sweep(&Sweep { older_than: Some(self.ttl), max_bytes: self.max_bytes, now }, report)
    }

    pub(crate) fn holdings(&self, holdings: &mut Holdings) -> io::Result<()> {
        let survey = self.survey()?;
        holdings.recovery_files = survey.originals.len() as u64;
        holdings.recovery_oldest = survey.originals.iter().map(|(_, found)| found.modified).min();
        let originals = survey.originals.iter().map(|(_, found)| found.bytes);
        let others = survey.goals.values().flatten().chain(&survey.temporaries).map(|found| found.bytes);
        holdings.recovery_bytes = originals.chain(others).sum();
        Ok(())
    }
}

impl CleanUp {
    /// Removes a file unless it changed since; gives 1 when it went.
    fn remove(&mut self, found: &Found) -> io::Result<u64> {
        match remove_if(&found.path, |modified, _| modified == found.modified)? {
            Some(bytes) => {
                self.bytes += bytes;
                Ok(1)
            }
            None => Ok(0),
        }
    }
}
