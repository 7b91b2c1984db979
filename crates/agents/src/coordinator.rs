//! The coordinator of a data folder: its state, the leader lock, and the files beside the database.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tamis_git::Git;
use tamis_store::rusqlite::{self, Connection};
use tamis_store::{DataDir, Lock, create_private_dir};

use crate::error::Result;
use crate::instances::records::Instance;
use crate::journal::family_locks::Holds;
use crate::launch::preparation::write_private;
use crate::pull_requests::create_pull_request::Following;
use crate::{AgentsError, Archive, Code, InstanceId, Tmux};

/// Settings of a coordinator.
#[derive(Clone)]
pub struct CoordinatorSettings {
    pub data_dir: DataDir,
    /// The database, which need not be in the data folder.
    pub database: PathBuf,
    /// This program, for the sessions and servers of agents.
    pub program: PathBuf,
    /// A token for GitHub, when the user gave one.
    pub github_token: Option<String>,
    /// Where GitHub's API is, when it is not where the remote's host has it.
    pub github_url: Option<String>,
    /// How long a tool may take.
    pub tool_timeout: Duration,
}

/// The coordinator of a data folder, as long as it holds the lock.
pub struct Coordinator {
    pub(crate) settings: CoordinatorSettings,
    pub(crate) archive: Archive,
    pub(crate) places: Places,
    pub(crate) git: Git,
    pub(crate) tmux: Tmux,
    pub(crate) holds: Holds,
    /// Instances that are over and get a moment to read the answer that ended them.
    pub(crate) leaving: Mutex<HashSet<InstanceId>>,
    /// One reconciliation at a time.
    pub(crate) reconciling: Mutex<()>,
    /// Findings that were reported once, and stay as they are.
    pub(crate) reported: Mutex<HashSet<String>>,
    /// When the state of pull requests was read from GitHub.
    pub(crate) following: Mutex<Following>,
    /// When retention was last applied.
    pub(crate) forgotten: Mutex<Option<Instant>>,
    /// For a thread that works later, unless the leader lock is released by then.
    pub(crate) this: Weak<Coordinator>,
    _lock: Lock,
}

/// The process that holds the leader lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// `http://127.0.0.1:3001`.
    pub url: String,
    pub pid: u32,
}

/// The files beside the database.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    root: PathBuf,
}

impl Coordinator {
    /// Takes the leader lock. None: another process holds it. The caller reconciles first.
    pub fn claim(settings: CoordinatorSettings) -> Result<Option<Arc<Coordinator>>> {
        let places = Places::of(&settings.data_dir);
        places.create()?;
        let path = places.lock();
        let lock = Lock::try_acquire(&path).map_err(|error| AgentsError::file("lock", &path, &error))?;
        let Some(lock) = lock else { return Ok(None) };
        // Left by the last holder: another program may have its address by now, and must not be sent tokens.
        let _ = fs::remove_file(places.lock_holder());
        let archive = Archive::open(&settings.database)?;
        let git = Git::new(places.scratch()).with_limit(settings.tool_timeout);
        // Left by a holder of the lock that was killed.
        git.clear_scratch()?;
        let tmux = Tmux::for_data_folder(settings.data_dir.root())?;
        Ok(Some(Arc::new_cyclic(|this| Coordinator {
            settings,
            archive,
            places,
            git,
            tmux,
            holds: Holds::default(),
            leaving: Mutex::default(),
            reconciling: Mutex::default(),
            reported: Mutex::default(),
            following: Mutex::default(),
            forgotten: Mutex::default(),
            this: this.clone(),
            _lock: lock,
        })))
    }

    /// Publishes the address of this coordinator for other processes.
    pub fn announce(&self, url: &str) -> Result<()> {
        let lock_holder = LockHolder { url: url.to_owned(), pid: std::process::id() };
        let path = self.places.lock_holder();
        let text = serde_json::to_string(&lock_holder).expect("a URL and a number are JSON");
        write_private(&path, text.as_bytes())
    }

    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Runs a query on the tables.
    pub(crate) fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        Ok(self.archive.database.read(query)?)
    }

    /// Changes the tables, in one transaction that an error rolls back.
    pub(crate) fn write<T>(&self, change: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.archive.database.write_or(|transaction| change(transaction))
    }

    /// Whose token this is.
    pub(crate) fn identify(&self, token: &str) -> Result<Instance> {
        self.archive.owner_of(token)?.ok_or_else(|| {
            AgentsError::new(Code::IdentityRequired, "the caller is not a known instance")
                .suggest("these tools are for agents started by `tamis agents start`")
        })
    }
}

/// The process that holds the leader lock of this folder, once it has published its address. None when the lock is free:
/// another program may have the port by now, and must not be sent tokens.
pub fn lock_holder(data_dir: &DataDir) -> Option<LockHolder> {
    if !is_leader_lock_held(data_dir) {
        return None;
    }
    serde_json::from_slice(&fs::read(Places::of(data_dir).lock_holder()).ok()?).ok()
}

/// Whether a process holds the leader lock of this folder, even one that does not serve requests.
pub fn is_leader_lock_held(data_dir: &DataDir) -> bool {
    Lock::is_held(&Places::of(data_dir).lock()).unwrap_or(false)
}

/// Whether what runs in an instance's session is its agent by now: it takes its file away when it becomes it.
pub fn has_begun(data_dir: &DataDir, id: &InstanceId) -> bool {
    !Places::of(data_dir).launch(id).exists()
}

/// The log that is kept of an instance's session.
pub fn log_file(data_dir: &DataDir, id: &crate::InstanceId) -> PathBuf {
    Places::of(data_dir).log(id)
}

/// The folder of git's temporary files. A process that takes the leader lock empties it, and a reader that is at work then fails
/// once.
pub(crate) fn scratch(data_dir: &DataDir) -> PathBuf {
    Places::of(data_dir).scratch()
}

impl Places {
    fn of(data_dir: &DataDir) -> Places {
        Places { root: data_dir.agents() }
    }

    fn create(&self) -> Result<()> {
        for folder in ["worktrees", "identities", "launch", "prompts", "sessions", "logs"] {
            let path = self.root.join(folder);
            create_private_dir(&path).map_err(|error| AgentsError::file("make", &path, &error))?;
        }
        Ok(())
    }

    fn lock(&self) -> PathBuf {
        self.root.join("coordinator.lock")
    }

    fn lock_holder(&self) -> PathBuf {
        self.root.join("coordinator.json")
    }

    fn scratch(&self) -> PathBuf {
        self.root.join("scratch")
    }

    pub(crate) fn worktrees(&self) -> PathBuf {
        self.root.join("worktrees")
    }

    pub(crate) fn worktree(&self, id: &InstanceId) -> PathBuf {
        self.worktrees().join(id.as_str())
    }

    pub(crate) fn identities(&self) -> PathBuf {
        self.root.join("identities")
    }

    pub(crate) fn launches(&self) -> PathBuf {
        self.root.join("launch")
    }

    pub(crate) fn prompts(&self) -> PathBuf {
        self.root.join("prompts")
    }

    pub(crate) fn identity(&self, id: &InstanceId) -> PathBuf {
        self.identities().join(id.as_str())
    }

    pub(crate) fn launch(&self, id: &InstanceId) -> PathBuf {
        self.launches().join(format!("{id}.json"))
    }

    pub(crate) fn prompt(&self, id: &InstanceId) -> PathBuf {
        self.prompts().join(format!("{id}.md"))
    }

    /// The folder of files for one kind of agent.
    pub(crate) fn state(&self, id: &InstanceId) -> PathBuf {
        self.states().join(id.as_str())
    }

    pub(crate) fn states(&self) -> PathBuf {
        self.root.join("sessions")
    }

    pub(crate) fn log(&self, id: &InstanceId) -> PathBuf {
        self.logs().join(format!("{id}.log"))
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }
}
