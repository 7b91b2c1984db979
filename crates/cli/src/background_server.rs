//! Starts `tamis serve` in the background for commands that need it, when no coordinator is running.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use tamis_agents::{LockHolder, is_leader_lock_held, lock_holder};
use tamis_config::Config;
use tamis_store::{DataDir, Lock, create_private_dir, private_file};

use crate::commands::serve::START_LOCK;
use crate::error::CliError;
use crate::progress::Spinner;
use crate::{escape, startup};

/// Time limit until it answers. It reconciles first, which takes longer with many agents.
const TIME_LIMIT: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// A log of this size is rotated.
const LONGEST_LOG: u64 = 4 << 20;
/// Maximum number of lines of its log shown when it does not start.
const LAST_LINES: usize = 5;

/// The coordinator, and whether this call started it because no server was running.
pub(crate) fn coordinator(config: &Config) -> Result<(LockHolder, bool), CliError> {
    let data_dir = DataDir::at(config.data_dir());
    if let Some(there) = lock_holder(&data_dir) {
        return Ok((there, false));
    }
    let spinner = Spinner::new();
    spinner.set_text("starting `tamis serve`".to_owned());
    let deadline = Instant::now() + TIME_LIMIT;
    let Some(_one_at_a_time) = turn(&data_dir, deadline)? else {
        return Err(late(&data_dir));
    };
    // One may have been started while this process waited for the lock, or be reconciling.
    loop {
        if let Some(there) = lock_holder(&data_dir) {
            return Ok((there, false));
        }
        if !is_leader_lock_held(&data_dir) {
            break;
        }
        if Instant::now() >= deadline {
            return Err(late(&data_dir));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    // The default port first, since clients look there. If it is taken, any other.
    for port in [None, Some(0)] {
        let mut server = start(config, &data_dir, port)?;
        match await_answer(&data_dir, &mut server, deadline)? {
            Awaited::Answers(there) => return Ok((there, true)),
            Awaited::Late => return Err(late(&data_dir)),
            Awaited::Ended(_) if port.is_none() => {}
            Awaited::Ended(status) => {
                let error = anyhow!("`tamis serve` ended with {status}{}", last_lines(&data_dir));
                return Err(CliError::failed(error).hint("`tamis serve` in another terminal shows why"));
            }
        }
    }
    Err(late(&data_dir))
}

enum Awaited {
    Answers(LockHolder),
    Ended(ExitStatus),
    Late,
}

fn await_answer(data_dir: &DataDir, server: &mut Child, deadline: Instant) -> Result<Awaited, CliError> {
    loop {
        if let Some(there) = lock_holder(data_dir) {
            return Ok(Awaited::Answers(there));
        }
        if let Some(status) = server.try_wait()? {
            return Ok(Awaited::Ended(status));
        }
        if Instant::now() >= deadline {
            return Ok(Awaited::Late);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// One process at a time starts a server: two that are started would both stay.
fn turn(data_dir: &DataDir, deadline: Instant) -> Result<Option<Lock>, CliError> {
    let folder = data_dir.agents();
    create_private_dir(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))
        .map_err(CliError::failed)?;
    let path = folder.join(START_LOCK);
    loop {
        let lock = Lock::try_acquire(&path).with_context(|| format!("cannot lock {}", path.display()));
        match lock.map_err(CliError::failed)? {
            Some(lock) => return Ok(Some(lock)),
            None if Instant::now() >= deadline => return Ok(None),
            None => std::thread::sleep(LOOK_AGAIN),
        }
    }
}

/// Starts it so that it stays when this terminal goes: in a process group of its own, and with nothing of it open.
fn start(config: &Config, data_dir: &DataDir, port: Option<u16>) -> Result<Child, CliError> {
    let path = log_path(data_dir);
    let log = open_log(&path)
        .with_context(|| format!("cannot write {}", path.display()))
        .map_err(CliError::failed)?;
    let mut command = Command::new(startup::this_program()?);
    command.arg("serve");
    if let Some(port) = port {
        command.args(["--port", &port.to_string()]);
    }
    // Where it was started may be a worktree that is removed one day. So relative paths are passed in full.
    command.current_dir(data_dir.root());
    command.env("TAMIS_DATA_DIR", config.data_dir());
    command.env("TAMIS_AGENTS_DATABASE", startup::agents_database(config));
    let errors = log.try_clone()?;
    command.stdin(Stdio::null()).stdout(log).stderr(errors).process_group(0);
    command.spawn().context("cannot start `tamis serve`").map_err(CliError::failed)
}

fn log_path(data_dir: &DataDir) -> PathBuf {
    data_dir.agents().join("serve.log")
}

fn open_log(path: &PathBuf) -> io::Result<File> {
    if fs::metadata(path).is_ok_and(|about| about.len() >= LONGEST_LOG) {
        fs::rename(path, path.with_extension("log.1"))?;
    }
    private_file().append(true).create(true).open(path)
}

/// The last lines of the server's log.
fn last_lines(data_dir: &DataDir) -> String {
    let log = fs::read(log_path(data_dir)).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let lines: Vec<&str> = log.lines().collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    last.iter().map(|line| format!("\n  {}", escape::line(line))).collect()
}

fn late(data_dir: &DataDir) -> CliError {
    let error = anyhow!("`tamis serve` does not respond after {} seconds", TIME_LIMIT.as_secs());
    CliError::failed(error).hint(format!("{} is its log", log_path(data_dir).display()))
}
