//! Sessions, files and folders without an instance that is alive.

use std::collections::HashMap;
use std::fs;

use super::is_watched;
use crate::error::Result;
use crate::instances::records::{Instance, Phase};
use crate::{AgentsError, Coordinator, InstanceId, Repair, db};

impl Coordinator {
    pub(super) fn clear_strays(&self, findings: &mut Vec<Repair>) -> Result<()> {
        // Sessions and files first, then rows: whatever is there has its row by then.
        let sessions = self.tmux.sessions()?;
        let files = self.ids_of_files()?;
        let worktrees = names_in(&self.places.worktrees())?;
        let rows = self.read(|connection| db::instances(connection, true))?;
        let rows: HashMap<&str, &Instance> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
        // One that is being made, or whose family is locked, is left alone.
        let over = |id: &str| {
            rows.get(id)
                .is_none_or(|row| !is_watched(row) && !matches!(row.phase, Phase::Preparing | Phase::Ending))
        };
        for session in sessions.iter().filter(|session| over(session.id.as_str())) {
            let Some(_hold) = self.hold_for_stray(&session.id)? else { continue };
            // Its instance may have ended it after the sessions were listed.
            if !self.tmux.sessions()?.iter().any(|running| running.id == session.id) {
                continue;
            }
            self.tmux.end(&session.id)?;
            let found = format!("session {} was running without a live instance", session.id);
            findings.push(self.record_repair(Some(&session.id), found, "it is ended".to_owned())?);
        }
        for id in files.iter().filter(|id| over(id.as_str())) {
            let Some(_hold) = self.hold_for_stray(id)? else { continue };
            self.remove_files(id)?;
            let found = format!("files of {id} were left behind after it ended");
            findings.push(self.record_repair(Some(id), found, "they are removed".to_owned())?);
        }
        for name in worktrees.iter().filter(|name| !rows.contains_key(name.as_str())) {
            let folder = self.places.worktrees().join(name);
            let found = format!("{} does not belong to any instance", folder.display());
            let done = format!("it stays; if it is not needed, remove it: rm -r '{}'", folder.display());
            findings.extend(self.report(None, found, done));
        }
        Ok(())
    }

    /// The instances of which there are files.
    pub(crate) fn ids_of_files(&self) -> Result<Vec<InstanceId>> {
        let mut ids: Vec<InstanceId> = Vec::new();
        for folder in
            [self.places.identities(), self.places.launches(), self.places.prompts(), self.places.states()]
        {
            ids.extend(names_in(&folder)?.iter().filter_map(|name| id_of(name)));
        }
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// Holds an instance's family, and looks whether there is still nothing to be alive.
    fn hold_for_stray(&self, id: &InstanceId) -> Result<Option<crate::journal::family_locks::Hold<'_>>> {
        let family = self.read(|connection| db::family(connection, id))?;
        let Some(hold) = self.holds.try_take(&family) else { return Ok(None) };
        let row = self.read(|connection| db::instance(connection, id))?;
        let over = row.is_none_or(|row| {
            matches!(row.phase, Phase::Kept | Phase::Gone)
                || (row.phase == Phase::Ready && !row.status.is_live())
        });
        Ok(over.then_some(hold))
    }
}

pub(crate) fn names_in(folder: &std::path::Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).map_err(|error| AgentsError::file("read", folder, &error))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Whose file this is: `<id>`, `<id>.json`, `<id>.md`, or a draft of one.
pub(super) fn id_of(name: &str) -> Option<InstanceId> {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    stem.parse().ok()
}
