//! What would change for a client, and the change itself.

use std::path::{Path, PathBuf};

use similar::TextDiff;
use tamis_store::DataDir;

use crate::document::Entry;
use crate::record::{SetupRecord, digest};
use crate::{SetupClient, SetupEnvironment, SetupError, SetupScope, files};

/// The name under which clients list the server.
const SERVER: &str = "tamis";
/// Unchanged lines around a change in a diff.
const CONTEXT: usize = 2;

/// Plans and makes changes for one user.
pub struct Setup {
    pub data: DataDir,
    pub environment: SetupEnvironment,
}

/// What there is to do for a client.
#[derive(Debug)]
pub enum SetupStep {
    Change(Box<PlannedChange>),
    /// The file has the entry already.
    Unchanged(PathBuf),
    /// The file has an entry of this name that tamis did not write, or that the user has changed since.
    Foreign(PathBuf),
    /// The client has no configuration of this scope.
    NoSuchScope,
}

/// A change that [`Setup::apply`] makes.
#[derive(Debug)]
pub struct PlannedChange {
    pub client: SetupClient,
    pub scope: SetupScope,
    pub file: FileChange,
    record: SetupRecord,
    is_removal: bool,
}

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
    /// What connects this client to the server that `command` starts.
    pub fn plan(
        &self,
        client: SetupClient,
        scope: SetupScope,
        command: &str,
        arguments: &[&str],
    ) -> Result<SetupStep, SetupError> {
        let Some(file) = client.server_file(scope, &self.environment) else {
            return Ok(SetupStep::NoSuchScope);
        };
        let path = files::resolve(&file.path);
        let current = files::read(&path)?;
        let entry = Entry {
            keys: vec![file.servers.to_owned(), SERVER.to_owned()],
            fields: client.server_entry(command, arguments),
        };
        let failed = |source| SetupError::Document { path: path.clone(), source };
        let found = file.format.get(current.as_deref().unwrap_or_default(), &entry.keys).map_err(failed)?;
        let earlier = SetupRecord::load(&self.data, &path)?;
        match &found {
            Some(value) if *value == entry.value() => return Ok(SetupStep::Unchanged(path)),
            Some(value) if earlier.as_ref().is_none_or(|record| record.entry.value() != *value) => {
                return Ok(SetupStep::Foreign(path));
            }
            _ => {}
        }
        // An entry of an earlier version goes first, so that the copy of the file has none.
        let (before, created_folders) = match (&earlier, &current) {
            (Some(record), Some(text)) => {
                (record.undo(text).map_err(failed)?, record.created_folders.clone())
            }
            _ => (current.clone(), files::missing_folders(&path)),
        };
        let text = before.as_deref().unwrap_or_default();
        let created_tables = file.format.missing_tables(text, &entry.keys).map_err(failed)?;
        let mut after = file.format.with(text, &entry).map_err(failed)?;
        if before.is_none() && !after.ends_with('\n') {
            after.push('\n');
        }
        let record = SetupRecord {
            path: path.clone(),
            client: client.name().to_owned(),
            is_project: scope == SetupScope::Project,
            format: file.format,
            entry,
            created_tables,
            created_folders,
            after: digest(&after),
            before,
        };
        let file = FileChange { path, before: current, after: Some(after) };
        Ok(SetupStep::Change(Box::new(PlannedChange { client, scope, file, record, is_removal: false })))
    }

    /// What undoes everything that was written for these clients in this scope; all clients if none is named, and both scopes
    /// if none is. Of projects, only the current one.
    pub fn plan_removal(
        &self,
        clients: &[SetupClient],
        scope: Option<SetupScope>,
    ) -> Result<Vec<PlannedChange>, SetupError> {
        let mut steps = Vec::new();
        let project = files::resolve(&self.environment.project);
        for record in SetupRecord::all(&self.data)? {
            // A record of a later version may name a client that this one does not know.
            let Some(client) = SetupClient::named(&record.client) else { continue };
            let is_here = !record.is_project || record.path.starts_with(&project);
            if !is_here
                || !(clients.is_empty() || clients.contains(&client))
                || scope.is_some_and(|scope| scope != record.scope())
            {
                continue;
            }
            let before = files::read(&record.path)?;
            let failed = |source| SetupError::Document { path: record.path.clone(), source };
            let after = match &before {
                Some(text) => record.undo(text).map_err(failed)?,
                None => None,
            };
            let file = FileChange { path: record.path.clone(), before, after };
            steps.push(PlannedChange { client, scope: record.scope(), file, record, is_removal: true });
        }
        Ok(steps)
    }

    /// Makes a change. The record comes first, so that nothing is written that cannot be undone.
    pub fn apply(&self, change: &PlannedChange) -> Result<(), SetupError> {
        let (record, file) = (&change.record, &change.file);
        if !change.is_removal {
            record.save(&self.data)?;
        }
        if file.before != file.after {
            let is_private = change.scope == SetupScope::User;
            files::replace(&file.path, file.before.as_deref(), file.after.as_deref(), is_private)?;
        }
        if change.is_removal {
            if file.after.is_none() {
                files::remove_empty(&record.created_folders);
            }
            record.delete(&self.data)?;
        }
        Ok(())
    }

    /// Where the copy of a changed file is stored until the change is undone; none if there was no file.
    pub fn backup(&self, change: &PlannedChange) -> Option<PathBuf> {
        change.record.backup(&self.data)
    }
}

impl PlannedChange {
    /// Whether the file still has an entry of this name afterwards, because the user has changed it.
    pub fn keeps_entry(&self) -> bool {
        let text = self.file.after.as_deref().unwrap_or_default();
        self.is_removal && matches!(self.record.format.get(text, &self.record.entry.keys), Ok(Some(_)))
    }

    pub fn path(&self) -> &Path {
        &self.file.path
    }
}
