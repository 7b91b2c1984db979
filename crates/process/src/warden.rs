//! The warden: a small process that ends our groups when we are killed.
//!
//! Linux can signal a child at its parent's death, but not the child's children, and only while the thread that
//! started it lives. So a second copy of the program waits at a pipe: it is told of every group that begins and ends,
//! and the pipe's end tells it that we are gone, however that came about. It starts with the first command.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::groups::{Life, lives, signal};

/// The only argument of a program that is to be a warden.
pub const WARDEN_ARGUMENT: &str = "__warden";

/// How long the groups of one who was killed may take to end by themselves.
const PATIENCE: Duration = Duration::from_secs(1);

/// How a warden is started.
#[derive(Clone, Debug)]
pub struct WardenProgram {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
}

impl WardenProgram {
    /// This very program, which must call [`run_warden`] when [`WARDEN_ARGUMENT`] is its first argument.
    pub fn this_program() -> Option<WardenProgram> {
        // The path may name a newer version by now, or nothing; Linux keeps hold of what runs.
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe().ok()?
        };
        Some(WardenProgram { program, arguments: vec![WARDEN_ARGUMENT.into()] })
    }
}

/// What a warden is told: how a group is now. None: it has ended.
pub(crate) struct Note {
    pub(crate) leader: Pid,
    pub(crate) life: Option<Life>,
}

const NOTE_BYTES: usize = 5;

impl Note {
    fn to_bytes(&self) -> [u8; NOTE_BYTES] {
        let life = match self.life {
            Some(Life::Led) => b'+',
            Some(Life::Leaderless) => b'~',
            None => b'-',
        };
        let [a, b, c, d] = self.leader.as_raw_nonzero().get().to_ne_bytes();
        [life, a, b, c, d]
    }

    fn from_bytes([life, a, b, c, d]: [u8; NOTE_BYTES]) -> Option<Note> {
        let life = match life {
            b'+' => Some(Life::Led),
            b'~' => Some(Life::Leaderless),
            _ => None,
        };
        Pid::from_raw(i32::from_ne_bytes([a, b, c, d])).map(|leader| Note { leader, life })
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

    /// Tells of a change. One that has died is replaced, and told of all that live.
    pub(crate) fn tell(&mut self, note: Note, living: &HashMap<Pid, Life>) {
        if self.process.is_some() && self.write(&note.to_bytes()).is_ok() {
            return;
        }
        let Some(program) = self.program.as_ref().filter(|_| !living.is_empty()) else { return };
        match start(program) {
            Ok(process) => {
                self.process = Some(process);
                let all = living.iter().map(|(leader, life)| Note { leader: *leader, life: Some(*life) });
                let all: Vec<u8> = all.flat_map(|note| note.to_bytes()).collect();
                if let Err(error) = self.write(&all) {
                    tracing::warn!(%error, "commands would outlive this process if it were killed");
                }
            }
            Err(error) => {
                tracing::warn!(%error, "commands would outlive this process if it were killed");
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
            // It has nothing left to do, or ends it within its patience.
            let _ = process.wait();
        }
    }
}

/// In a group of its own, so that what is sent to ours does not reach it, and with nothing of ours open.
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

/// Reads notes from stdin to its end, then ends the groups that are left.
pub fn run_warden() {
    let mut input = io::stdin().lock();
    let mut living = HashMap::new();
    let mut bytes = [0; NOTE_BYTES];
    while input.read_exact(&mut bytes).is_ok() {
        if let Some(Note { leader, life }) = Note::from_bytes(bytes) {
            match life {
                Some(life) => living.insert(leader, life),
                None => living.remove(&leader),
            };
        }
    }
    for (leader, life) in &living {
        signal(*leader, *life, Signal::TERM);
        signal(*leader, *life, Signal::CONT);
    }
    let deadline = Instant::now() + PATIENCE;
    for (leader, life) in &living {
        while lives(*leader, *life) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        signal(*leader, *life, Signal::KILL);
    }
}
