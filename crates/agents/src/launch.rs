//! What runs in a session: written to a file that only its owner reads, and read by `tamis __session`, which becomes it.
//!
//! The file has the whole environment, so the agent gets that of whoever coordinates now, and not of whoever once started
//! the tmux server. Keys to models may be in it; so the session takes the file away as soon as it has read it.

mod log;
mod stored;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tmux::{SESSION_VARIABLE, Tmux, mark};
use crate::{AgentsError, Code, InstanceId, error::Result};

pub use log::keep_log;

/// The hidden command that runs in every session, and the one that keeps its log.
pub const SESSION_COMMAND: &str = "__session";
pub const LOG_FLAG: &str = "--log";

/// What no agent gets to see of the coordinator's environment: tokens that are not theirs, who another agent is, and what
/// would lead their git and tmux elsewhere.
const WITHHELD: &[&str] = &[
    "GH_ENTERPRISE_TOKEN",
    "GH_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GITHUB_TOKEN",
    "TAMIS_FAULT",
    "TAMIS_GITHUB_TOKEN",
    "TAMIS_IDENTITY",
    "TAMIS_INSTANCE",
    "TAMIS_PROMPT_FILE",
    "TAMIS_TOKEN",
];
const WITHHELD_PREFIXES: &[&str] = &["GIT_", "TMUX"];

/// Set for what runs in a terminal of tmux, whatever the coordinator's was.
const TERMINAL: (&str, &str) = ("TERM", "screen-256color");

/// Variables and their values.
pub type Environment = BTreeMap<OsString, OsString>;

/// A program with all that it is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    /// All of it: what is not here is not set.
    pub env: Environment,
}

/// A session's files.
#[derive(Clone, Copy, Debug)]
pub struct SessionFiles<'a> {
    /// This program, which runs in the session and keeps its log.
    pub tamis: &'a Path,
    /// `D/agents/launch/<id>.json`.
    pub launch: &'a Path,
    /// `D/agents/logs/<id>.log`.
    pub log: &'a Path,
}

/// What an agent gets of a coordinator's environment.
pub fn agent_environment(own: impl IntoIterator<Item = (OsString, OsString)>) -> Environment {
    let mut env: Environment = own.into_iter().filter(|(name, _)| !is_withheld(name)).collect();
    env.insert(TERMINAL.0.into(), TERMINAL.1.into());
    env
}

fn is_withheld(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    WITHHELD.iter().any(|withheld| name == *withheld)
        || WITHHELD_PREFIXES.iter().any(|prefix| bytes.starts_with(prefix.as_bytes()))
}

impl Launch {
    /// Starts it in a new session. When that fails the file is gone again.
    pub fn start(&self, tmux: &Tmux, id: &InstanceId, files: SessionFiles<'_>) -> Result<()> {
        let mut launch = self.clone();
        launch.env.insert(SESSION_VARIABLE.into(), mark(tmux, id).into());
        launch.write(files.launch)?;
        make_folder_of(files.log)?;
        let command = [files.tamis.as_os_str(), OsStr::new(SESSION_COMMAND), files.launch.as_os_str()];
        let [tamis, session, _] = command;
        let log = [tamis, session, OsStr::new(LOG_FLAG), files.log.as_os_str()];
        let created = tmux.create(id, &command.map(OsStr::to_owned), &log.map(OsStr::to_owned));
        if created.is_err() {
            let _ = fs::remove_file(files.launch);
        }
        created
    }

    fn write(&self, path: &Path) -> Result<()> {
        make_folder_of(path)?;
        let failed = |error: std::io::Error| AgentsError::file("write", path, &error);
        // One that is left of an earlier try may be somebody's link.
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
        file.write_all(&stored::to_json(self)).map_err(failed)
    }
}

fn make_folder_of(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| AgentsError::file("make the folder", folder, &error))
}

/// What `tamis __session FILE` does: becomes the program that the file tells of. Comes back only when that fails.
pub fn run_session(file: &Path) -> Result<Infallible> {
    let bytes = fs::read(file).map_err(|error| AgentsError::file("read", file, &error))?;
    let launch = stored::from_json(&bytes).ok_or_else(|| {
        AgentsError::new(Code::FileError, format!("{} is no launch file", file.display()))
            .suggest("the coordinator writes it, and starts this itself: `tamis agents start`")
    })?;
    fs::remove_file(file).map_err(|error| AgentsError::file("remove", file, &error))?;
    let mut command = Command::new(&launch.program);
    command.args(&launch.args).env_clear().envs(&launch.env).current_dir(&launch.cwd);
    let error = command.exec();
    let (program, cwd) = (launch.program.display(), launch.cwd.display());
    Err(AgentsError::new(Code::AgentNotFound, format!("cannot start {program} in {cwd}: {error}")))
}
