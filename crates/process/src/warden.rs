//! The warden: a small process that ends our process groups when we are killed.
//!
//! Linux can signal a child at its parent's death, but not the child's children, and only while the thread that
//! started it lives. So a second copy of the program reads from a pipe: we write to it when a group starts and ends, and
//! the end of the pipe means that we are gone, for whatever reason. It is started with the first command.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::groups::{CHECK_INTERVAL, Leader, is_alive, signal};

/// The only argument of a program that runs as the warden.
pub const WARDEN_ARGUMENT: &str = "__warden";

/// How long groups have between SIGTERM and SIGKILL.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// How a warden is started.
#[derive(Clone, Debug)]
pub struct WardenProgram {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
}

impl WardenProgram {
    /// This program, which must call [`run_warden`] when [`WARDEN_ARGUMENT`] is its first argument.
    pub fn this_program() -> Option<WardenProgram> {
        // The path may name a newer version by now, or nothing; Linux keeps the file that runs.
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe().ok()?
        };
        Some(WardenProgram { program, arguments: vec![WARDEN_ARGUMENT.into()] })
    }
}

/// A message to the warden: the state of a group. Without a leader it has ended.
pub(crate) struct Note {
    pub(crate) pid: Pid,
    pub(crate) leader: Option<Leader>,
}

const NOTE_BYTES: usize = 5;

impl Note {
    fn to_bytes(&self) -> [u8; NOTE_BYTES] {
        let state = match self.leader {
            Some(Leader::Uncollected) => b'+',
            Some(Leader::Gone) => b'~',
            None => b'-',
        };
        let [a, b, c, d] = self.pid.as_raw_nonzero().get().to_ne_bytes();
        [state, a, b, c, d]
    }

    fn from_bytes([state, a, b, c, d]: [u8; NOTE_BYTES]) -> Option<Note> {
        let leader = match state {
            b'+' => Some(Leader::Uncollected),
            b'~' => Some(Leader::Gone),
            _ => None,
        };
        Pid::from_raw(i32::from_ne_bytes([a, b, c, d])).map(|pid| Note { pid, leader })
    }
}

/// Our end of the pipe.
pub(crate) struct Warden {
    program: Option<WardenProgram>,
    process: Option<Child>,
}

impl Warden {
    pub(crate) fn new(program: Option<WardenProgram>) -> Warden {
        Warden { program, process: None }
    }

    /// Reports a change. A warden that has died is replaced, and gets all groups that live.
    pub(crate) fn notify(&mut self, note: Note, living: &HashMap<Pid, Leader>) {
        if self.process.is_some() && self.write(&note.to_bytes()).is_ok() {
            return;
        }
        let Some(program) = self.program.as_ref().filter(|_| !living.is_empty()) else { return };
        match start(program) {
            Ok(process) => {
                self.process = Some(process);
                let all = living.iter().map(|(pid, leader)| Note { pid: *pid, leader: Some(*leader) });
                let all: Vec<u8> = all.flat_map(|note| note.to_bytes()).collect();
                if let Err(error) = self.write(&all) {
                    tracing::warn!(%error, "commands will outlive this process if it is killed");
                }
            }
            Err(error) => {
                tracing::warn!(%error, "commands will outlive this process if it is killed");
                self.program = None;
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let pipe = self.process.as_mut().and_then(|process| process.stdin.as_mut());
        pipe.ok_or(io::ErrorKind::BrokenPipe)?.write_all(bytes)
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            drop(process.stdin.take());
            // It ends at once, or after its grace period.
            let _ = process.wait();
        }
    }
}

/// In a group of its own, so that signals to ours do not reach it, and with none of our open files.
fn start(program: &WardenProgram) -> io::Result<Child> {
    Command::new(&program.program)
        .args(&program.arguments)
        .arg0("tamis-warden")
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

/// The warden's main: reads notes from stdin to its end, then ends the groups that are left.
pub fn run_warden() {
    let mut input = io::stdin().lock();
    let mut living = HashMap::new();
    let mut bytes = [0; NOTE_BYTES];
    while input.read_exact(&mut bytes).is_ok() {
        if let Some(Note { pid, leader }) = Note::from_bytes(bytes) {
            match leader {
                Some(leader) => living.insert(pid, leader),
                None => living.remove(&pid),
            };
        }
    }
    for (pid, leader) in &living {
        signal(*pid, *leader, Signal::TERM);
        signal(*pid, *leader, Signal::CONT);
    }
    let deadline = Instant::now() + GRACE_PERIOD;
    for (pid, leader) in &living {
        while is_alive(*pid, *leader) && Instant::now() < deadline {
            std::thread::sleep(CHECK_INTERVAL);
        }
        signal(*pid, *leader, Signal::KILL);
    }
}
