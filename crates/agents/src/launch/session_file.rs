//! What runs in a session: written to a file that only its owner reads, and read by `tamis __session`, which becomes it.
//!
//! The file has the whole environment, so the agent gets that of the current coordinator, and not that of the process that once started
//! the tmux server. Keys to models may be in it; so the session takes the file away as soon as it has read it.

mod log;
mod stored;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tamis_clients::{InteractiveAgent, InteractiveOptions, find_program, is_program};
use tamis_store::create_private_dir;

use crate::launch::preparation::write_private;
use crate::launch::tmux::{SESSION_VARIABLE, Tmux, mark};
use crate::{AgentsError, Code, InstanceId, error::Result};

pub use log::keep_log;

/// The hidden command that runs in every session, and the one that keeps its log.
pub(crate) const SESSION_COMMAND: &str = "__session";
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
    "TAMIS_MODEL_KEY",
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
    /// An agent with its screen. Writes the files that it needs.
    pub fn of_agent(
        agent: &InteractiveAgent,
        options: &InteractiveOptions,
        env: Environment,
    ) -> Result<Launch> {
        let program = agent_program(agent, &env)?;
        let interactive = agent.interactive(options);
        for (path, contents) in &interactive.files {
            write_own(path, contents.as_bytes())?;
        }
        for (link, target) in &interactive.links {
            make_folder_of(link)?;
            // Left by an earlier attempt.
            let _ = fs::remove_file(link);
            let made = std::os::unix::fs::symlink(target, link);
            made.map_err(|error| AgentsError::file("make the link", link, &error))?;
        }
        let mut env = env;
        env.extend(interactive.env.into_iter().map(|(name, value)| (name.into(), value.into())));
        let args = interactive.args.into_iter().map(OsString::from).collect();
        Ok(Launch { program, args, cwd: options.worktree.clone(), env })
    }

    /// A command of the user's in the place of an agent. Its program is found on PATH, or named by its whole path: what a
    /// relative one begins from is not known here.
    pub fn of_command(command: &[String], cwd: &Path, env: Environment) -> Result<Launch> {
        let Some((name, args)) = command.split_first().filter(|(name, _)| !name.is_empty()) else {
            return Err(AgentsError::new(Code::ValidationError, "there is no command after `--`").suggest(
                "name the program and its arguments: `tamis agents start --task \"…\" -- my-agent --flag`",
            ));
        };
        let found = if name.contains('/') {
            Some(PathBuf::from(name)).filter(|path| path.is_absolute() && is_program(path))
        } else {
            find_program(name, path_in(&env))
        };
        let program = found.ok_or_else(|| {
            AgentsError::new(Code::AgentNotFound, format!("cannot find program `{name}`"))
                .suggest("name a program on PATH, or give its full path")
        })?;
        Ok(Launch { program, args: args.iter().map(OsString::from).collect(), cwd: cwd.to_owned(), env })
    }

    /// Starts it in a new session. When that fails the file is gone again.
    pub fn start(&self, tmux: &Tmux, id: &InstanceId, files: SessionFiles<'_>) -> Result<()> {
        let mut launch = self.clone();
        launch.env.insert(SESSION_VARIABLE.into(), mark(tmux, id).into());
        write_own(files.launch, &stored::to_json(&launch))?;
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
}

/// The program of a known agent.
pub(crate) fn agent_program(agent: &InteractiveAgent, env: &Environment) -> Result<PathBuf> {
    let client = agent.client;
    find_program(client.name(), path_in(env)).ok_or_else(|| {
        AgentsError::new(Code::AgentNotFound, format!("cannot find {:?} on PATH", client.name()))
            .suggest(format!("install {}: `{}`", client.display_name(), client.install_command()))
            .suggest("or choose another agent with `--agent`, or a command after `--`")
    })
}

fn path_in(env: &Environment) -> Option<&OsStr> {
    env.get(OsStr::new("PATH")).map(OsString::as_os_str)
}

/// Writes a file for its owner alone, in a folder that need not be there yet.
fn write_own(path: &Path, contents: &[u8]) -> Result<()> {
    make_folder_of(path)?;
    write_private(path, contents)
}

fn make_folder_of(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    create_private_dir(folder).map_err(|error| AgentsError::file("make the folder", folder, &error))
}

/// What `tamis __session FILE` does: replaces itself by the program that the file names. Returns only when that fails.
pub fn run_session(file: &Path) -> Result<Infallible> {
    let bytes = fs::read(file).map_err(|error| AgentsError::file("read", file, &error))?;
    let launch = stored::from_json(&bytes).ok_or_else(|| {
        AgentsError::new(Code::FileError, format!("`{}` is not a launch file", file.display()))
            .suggest("the coordinator writes it and runs this command itself; use `tamis agents start`")
    })?;
    fs::remove_file(file).map_err(|error| AgentsError::file("remove", file, &error))?;
    let mut command = Command::new(&launch.program);
    command.args(&launch.args).env_clear().envs(&launch.env).current_dir(&launch.cwd);
    let error = command.exec();
    let (program, cwd) = (launch.program.display(), launch.cwd.display());
    Err(AgentsError::new(Code::AgentNotFound, format!("cannot start {program} in {cwd}: {error}")))
}
