//! What an instance consists of outside of the database: a worktree on a branch, an identity, a prompt, a session. Made for
//! agents that are started and for reviewers alike, and taken back when one does not come to be.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use tamis_store::private_file;

use crate::error::Result;
use crate::faults::{Point, reach};
use crate::instances::records::Instance;
use crate::journal::operations::in_time;
use crate::launch::session_file::SessionFiles;
use crate::{AgentsError, Code, Coordinator, Identity, InstanceId};
use tamis_git::Repository;

/// What is to be made.
pub(crate) struct Equipment<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) identity: &'a Identity,
    pub(crate) prompt: &'a str,
    /// Passed when the worktree, the identity and the session are there.
    pub(crate) points: [Point; 3],
}

impl Coordinator {
    /// Refuses a name of which something is there already: what a call did not make, its undoing must not remove.
    /// Belongs before the row, which says that everything of this name is the instance's.
    pub(crate) fn check_free(&self, repository: &Repository, id: &InstanceId) -> Result<()> {
        repository.check_free(&self.places.worktree(id), &id.branch())?;
        if self.tmux.session(id)?.is_some() {
            return Err(AgentsError::new(Code::TmuxError, format!("session {id} already exists"))
                .suggest("a session without an instance is ended within a minute; try again then"));
        }
        for path in self.files(id) {
            if path.symlink_metadata().is_ok() {
                let message = format!("{} already exists", path.display());
                return Err(AgentsError::new(Code::FileError, message)
                    .suggest("a file without an instance is removed within a minute; try again then"));
            }
        }
        Ok(())
    }

    /// What an agent reads of its own: what lets it act as this instance, and what it was started with.
    fn files(&self, id: &InstanceId) -> [PathBuf; 4] {
        [self.places.identity(id), self.places.launch(id), self.places.prompt(id), self.places.state(id)]
    }

    /// Makes it all, as long as there is time for the tool.
    pub(crate) fn equip(
        &self,
        repository: &Repository,
        equipment: &Equipment<'_>,
        deadline: Instant,
        tool: &str,
    ) -> Result<()> {
        let in_time = || in_time(deadline, tool);
        let Equipment { instance, identity, prompt, points: [added, written, created] } = equipment;
        let id = &instance.id;
        in_time()?;
        repository.add_worktree(&instance.worktree, &instance.branch, &instance.base_commit)?;
        reach(*added);
        in_time()?;
        identity.write(&self.places.identity(id))?;
        write_private(&self.places.prompt(id), prompt.as_bytes())?;
        reach(*written);
        in_time()?;
        let launch = self.launch_of(repository, instance, prompt)?;
        let (file, log) = (self.places.launch(id), self.places.log(id));
        let files = SessionFiles { tamis: &self.settings.program, launch: &file, log: &log };
        launch.start(&self.tmux, id, files)?;
        reach(*created);
        in_time()
    }

    /// Whether all of it is there, and its agent runs.
    pub(crate) fn is_equipped(&self, instance: &Instance) -> Result<bool> {
        let runs = self.tmux.session(&instance.id)?.is_some_and(|session| session.alive);
        Ok(runs && instance.worktree.is_dir() && self.places.identity(&instance.id).is_file())
    }

    /// Removes whatever there is of it. If the worktree was used all the same, the work is kept under
    /// the undo ref.
    pub(crate) fn dismantle(&self, instance: &Instance) -> Result<()> {
        self.tmux.end(&instance.id)?;
        self.remove_files(&instance.id)?;
        self.discard(instance)
    }

    /// Removes what lets an agent act as this instance.
    pub(crate) fn remove_files(&self, id: &InstanceId) -> Result<()> {
        let [identity, launch, prompt, state] = self.files(id);
        let files: Vec<_> =
            [identity, launch, prompt].into_iter().flat_map(|path| [draft_of(&path), path]).collect();
        let removals = files.iter().map(|path| (path, fs::remove_file(path)));
        for (path, removed) in removals.chain([(&state, fs::remove_dir_all(&state))]) {
            match removed {
                Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                    return Err(AgentsError::file("remove", path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Writes a file that only its owner reads, at once and in the place of whatever an attempt may have left there, which may
/// be a link.
pub(crate) fn write_private(path: &Path, contents: &[u8]) -> Result<()> {
    let draft = draft_of(path);
    let write = || {
        let _ = fs::remove_file(&draft);
        private_file().write(true).create_new(true).open(&draft)?.write_all(contents)?;
        fs::rename(&draft, path)
    };
    write().map_err(|error| AgentsError::file("write", path, &error))
}

fn draft_of(path: &Path) -> PathBuf {
    path.with_extension("new")
}
