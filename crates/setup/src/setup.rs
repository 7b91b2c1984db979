//! What would change for a client, and the change itself.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use similar::TextDiff;
use tamis_store::{DataDir, Lock};

use crate::client::ClientFile;
use crate::document::{Entry, Presence};
use crate::record::{RecordedFile, SetupRecord};
use crate::{SetupClient, SetupEnvironment, SetupError, SetupPart, SetupScope, files};

/// How long a setup waits for another one.
const LOCK_LIMIT: Duration = Duration::from_secs(10);
const LOCK_PAUSE: Duration = Duration::from_millis(20);
/// Unchanged lines around a change in a diff.
const CONTEXT: usize = 2;

/// Plans and makes changes for one user.
pub struct Setup {
    pub data: DataDir,
    pub environment: SetupEnvironment,
}

/// What there is to do for a file of a client.
#[derive(Debug)]
pub enum SetupStep {
    Change(Box<PlannedChange>),
    /// The file has everything already.
    Unchanged(PathBuf),
    /// The file has an entry of tamis that setup did not write, or that the user has changed since; all others are there.
    Foreign(PathBuf),
    /// The client has no configuration of this scope.
    NoSuchScope,
    /// The client has no hooks, and nothing else was requested.
    NoHooks,
}

/// A change that [`Setup::apply`] makes.
#[derive(Debug)]
pub struct PlannedChange {
    pub client: SetupClient,
    pub scope: SetupScope,
    pub file: FileChange,
    /// What the change adds or removes.
    pub parts: Vec<SetupPart>,
    /// What is in the file afterwards.
    record: SetupRecord,
    keeps_entry: bool,
}

/// What undoes the changes to a file of a client.
pub type PlannedRemoval = (SetupClient, Result<PlannedChange, SetupError>);

/// A file before and after a change; none where there is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    pub path: PathBuf,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl FileChange {
    /// The change as a unified diff.
    pub fn diff(&self) -> String {
        let text = |side: &Option<String>| side.clone().unwrap_or_default();
        let name = |side: &Option<String>| match side {
            Some(_) => self.path.display().to_string(),
            None => "/dev/null".to_owned(),
        };
        TextDiff::from_lines(&text(&self.before), &text(&self.after))
            .unified_diff()
            .context_radius(CONTEXT)
            .header(&name(&self.before), &name(&self.after))
            .to_string()
    }
}

impl Setup {
    /// Waits until no other setup runs, and keeps others waiting until the lock is dropped. Changes are planned and applied under it.
    pub fn lock(&self) -> Result<Lock, SetupError> {
        let path = self.data.root().join("setup.lock");
        let failed = |source| SetupError::Write { path: path.clone(), source };
        self.data.create().map_err(failed)?;
        let start = Instant::now();
        loop {
            match Lock::try_acquire(&path).map_err(failed)? {
                Some(lock) => return Ok(lock),
                None if start.elapsed() > LOCK_LIMIT => return Err(SetupError::Busy),
                None => thread::sleep(LOCK_PAUSE),
            }
        }
    }

    /// What connects this client to the program that `command` starts, for each of its files.
    pub fn plan(
        &self,
        client: SetupClient,
        scope: SetupScope,
        parts: &[SetupPart],
        command: &str,
    ) -> Vec<Result<SetupStep, SetupError>> {
        if !parts.contains(&SetupPart::Mcp) && client.hooked_client().is_none() {
            return vec![Ok(SetupStep::NoHooks)];
        }
        let files = client.files(scope, parts, command, &self.environment);
        if files.is_empty() {
            return vec![Ok(SetupStep::NoSuchScope)];
        }
        files.into_iter().map(|file| self.plan_file(client, scope, parts, file)).collect()
    }

    fn plan_file(
        &self,
        client: SetupClient,
        scope: SetupScope,
        parts: &[SetupPart],
        file: ClientFile,
    ) -> Result<SetupStep, SetupError> {
        let path = files::resolve(&file.path);
        let current = files::read(&path)?;
        let failed = |source| SetupError::Document { path: path.clone(), source };
        let earlier = SetupRecord::load(&self.data, &path)?;
        // Entries of an earlier version go first, so that the copy of the file has none.
        let (before, recorded) = match (&earlier, &current) {
            (Some(record), Some(text)) => {
                (record.undo(text).map_err(failed)?, record.present(text).map_err(failed)?)
            }
            _ => (current.clone(), Vec::new()),
        };
        let presence = |text: &Option<String>, entry| {
            file.format.presence(text.as_deref().unwrap_or_default(), entry, client.name()).map_err(failed)
        };
        let (mut added, mut is_complete, mut keeps_entry) = (Vec::new(), true, false);
        for (part, entry) in &file.entries {
            match presence(&before, entry)? {
                Presence::Other => keeps_entry = true,
                Presence::Same => {}
                Presence::Absent => {
                    is_complete &= presence(&current, entry)? == Presence::Same;
                    added.push((*part, entry.clone()));
                }
            }
        }
        let is_wanted = |entry: &Entry| file.entries.iter().any(|(_, wanted)| wanted == entry);
        is_complete &=
            recorded.iter().all(|written| !parts.contains(&written.part) || is_wanted(&written.entry));
        if is_complete {
            return Ok(if keeps_entry { SetupStep::Foreign(path) } else { SetupStep::Unchanged(path) });
        }
        let others = recorded.iter().filter(|written| !parts.contains(&written.part));
        let others = others.map(|written| (written.part, written.entry.clone()));
        let about = RecordedFile {
            path: path.clone(),
            client: client.name().to_owned(),
            is_project: scope == SetupScope::Project,
            format: file.format,
            created_folders: match &earlier {
                Some(record) if current.is_some() => record.created_folders.clone(),
                _ => files::missing_folders(&path),
            },
        };
        let parts = SetupPart::ALL.iter().filter(|part| added.iter().any(|(added, _)| added == *part));
        let parts = parts.copied().collect();
        let entries = others.chain(added).collect();
        let (record, after) = SetupRecord::write(about, before, entries).map_err(failed)?;
        let file = FileChange { path, before: current, after };
        Ok(SetupStep::Change(Box::new(PlannedChange { client, scope, file, parts, record, keeps_entry })))
    }

    /// What undoes these parts of everything that was written for these clients in this scope; all clients if none is named, and
    /// both scopes if none is. Of projects, only the current one. A file that cannot be used does not stop the others.
    pub fn plan_removal(
        &self,
        clients: &[SetupClient],
        scope: Option<SetupScope>,
        parts: &[SetupPart],
    ) -> Result<Vec<PlannedRemoval>, SetupError> {
        let project = files::resolve(&self.environment.project);
        let mut steps = Vec::new();
        for record in SetupRecord::all(&self.data)? {
            // A record of a later version may name a client that this one does not know.
            let Some(client) = SetupClient::named(&record.client) else { continue };
            let is_here = !record.is_project || record.path.starts_with(&project);
            if is_here
                && (clients.is_empty() || clients.contains(&client))
                && scope.is_none_or(|scope| scope == record.scope())
                && record.entries.iter().any(|written| parts.contains(&written.part))
            {
                steps.push((client, plan_file_removal(client, parts, &record)));
            }
        }
        Ok(steps)
    }

    /// Makes a change. The record comes first, so that nothing is written that cannot be undone.
    pub fn apply(&self, change: &PlannedChange) -> Result<(), SetupError> {
        let (record, file) = (&change.record, &change.file);
        let earlier = SetupRecord::load(&self.data, &file.path)?;
        let is_left = !record.entries.is_empty();
        if is_left {
            record.save(&self.data)?;
        }
        if file.before != file.after {
            let is_private = change.scope == SetupScope::User;
            let replaced =
                files::replace(&file.path, file.before.as_deref(), file.after.as_deref(), is_private);
            if let (Err(_), true, Some(earlier)) = (&replaced, is_left, &earlier) {
                // The file is as the earlier record describes it.
                earlier.save(&self.data)?;
            }
            replaced?;
        }
        if file.after.is_none() {
            files::remove_empty(&record.created_folders);
        }
        if !is_left && let Some(earlier) = earlier {
            earlier.delete(&self.data)?;
        }
        Ok(())
    }

    /// Where the copy of a changed file is stored until the change is undone; none if there was no file.
    pub fn backup(&self, change: &PlannedChange) -> Option<PathBuf> {
        change.record.backup(&self.data)
    }
}

/// What undoes these parts of a record. The other parts are written again.
fn plan_file_removal(
    client: SetupClient,
    parts: &[SetupPart],
    record: &SetupRecord,
) -> Result<PlannedChange, SetupError> {
    let failed = |source| SetupError::Document { path: record.path.clone(), source };
    let current = files::read(&record.path)?;
    let (before, present) = match &current {
        Some(text) => (record.undo(text).map_err(failed)?, record.present(text).map_err(failed)?),
        None => (None, Vec::new()),
    };
    let is_removed = |part: &SetupPart| parts.contains(part);
    let mut keeps_entry = false;
    for written in record.entries.iter().filter(|written| is_removed(&written.part)) {
        let text = before.as_deref().unwrap_or_default();
        keeps_entry |= record.presence(text, &written.entry).map_err(failed)? != Presence::Absent;
    }
    let others = present.into_iter().filter(|written| !is_removed(&written.part));
    let others = others.map(|written| (written.part, written.entry.clone())).collect();
    let (rest, after) = SetupRecord::write(record.file(), before, others).map_err(failed)?;
    let file = FileChange { path: record.path.clone(), before: current, after };
    let parts = parts.to_vec();
    Ok(PlannedChange { client, scope: record.scope(), file, parts, record: rest, keeps_entry })
}

impl PlannedChange {
    /// Whether the file has an entry of tamis afterwards that the user wrote or changed.
    pub fn keeps_entry(&self) -> bool {
        self.keeps_entry
    }

    pub fn path(&self) -> &Path {
        &self.file.path
    }
}
