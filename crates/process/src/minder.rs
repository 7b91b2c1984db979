//! The minder: the parent process of an agent in `tamis run`. Nothing that the agent started outlives the run, even when
//! tamis is killed.
//!
//! It reads an order from its stdin, starts the agent in a process group of its own, and keeps reading: a byte means that the
//! run must end, and so does the end of the pipe, which means that tamis is gone. Then, and when the agent ends by itself,
//! all processes that are left get SIGTERM, and SIGKILL 2000 ms later. The minder ends when no process is left, or none that
//! it can end, with the agent's exit code.
//!
//! When the minder itself is killed, tamis adopts its children and ends them ([`end_descendants`](crate::end_descendants)).

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, setsid, wait};
use serde::{Deserialize, Serialize};

use crate::descendants::{adopt_orphans, signal_descendants};

/// How long processes have between SIGTERM and SIGKILL, by contract.
pub const TERMINATION_GRACE_PERIOD: Duration = Duration::from_millis(2000);
/// How long killed processes may take to end; one can be stuck in the kernel, or belong to another user.
const KILL_LIMIT: Duration = Duration::from_secs(5);
/// How often SIGKILL is repeated: processes may have started children in the meantime.
const KILL_INTERVAL: Duration = Duration::from_millis(20);

/// Bytes that tamis sends.
pub(crate) const END: u8 = b'e';
pub(crate) const END_AT_ONCE: u8 = b'k';

/// What to start. It is sent through stdin, since a command line can be seen in the list of processes.
#[derive(Serialize, Deserialize)]
pub struct MinderOrder {
    pub program: String,
    pub args: Vec<String>,
    /// Written to the program's stdin.
    pub stdin: String,
}

/// Why the minder started no program.
#[derive(Debug, thiserror::Error)]
pub enum MinderError {
    #[error("the minder received no launch request: it is started by `tamis run`, not by hand")]
    NoOrder,
    #[error("cannot start {program}")]
    Start { program: String, source: std::io::Error },
}

enum Event {
    /// Tamis ends the run, or is gone.
    End,
    EndAtOnce,
    AgentEnded {
        code: u8,
    },
    /// No child is left, adopted ones included.
    AllEnded,
}

/// The minder's main: runs one agent until no process of it is left. Returns its exit code; 128 and the signal's number for
/// one that was killed.
pub fn run_minder() -> Result<u8, MinderError> {
    // In a session of its own, so that Ctrl-C reaches tamis alone, which then ends the run.
    let _ = setsid();
    adopt_orphans();
    let mut input = BufReader::new(std::io::stdin());
    let mut line = Vec::new();
    let _ = input.read_until(b'\n', &mut line);
    let order: MinderOrder = serde_json::from_slice(&line).map_err(|_| MinderError::NoOrder)?;

    let started =
        Command::new(&order.program).args(&order.args).stdin(Stdio::piped()).process_group(0).spawn();
    let mut child =
        started.map_err(|source| MinderError::Start { program: order.program.clone(), source })?;
    let agent = Pid::from_child(&child);
    if let Some(mut stdin) = child.stdin.take() {
        // It fails when the agent does not read its prompt.
        std::thread::spawn(move || drop(stdin.write_all(order.stdin.as_bytes())));
    }
    let (send, events) = channel();
    std::thread::spawn({
        let send = send.clone();
        move || listen(input, &send)
    });
    std::thread::spawn(move || collect(agent, &send));
    Ok(Minded { agent, events, code: None }.run())
}

/// Passes on what tamis sends.
fn listen(mut input: impl Read, send: &Sender<Event>) {
    let mut byte = [0];
    while let Ok(1) = input.read(&mut byte) {
        let _ = send.send(if byte == [END_AT_ONCE] { Event::EndAtOnce } else { Event::End });
    }
    let _ = send.send(Event::End);
}

/// Collects every child that ends, the adopted ones too, which would otherwise stay as zombies.
fn collect(agent: Pid, send: &Sender<Event>) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == agent => {
                let code = status.exit_status().or(status.terminating_signal().map(|signal| 128 + signal));
                let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
                let _ = send.send(Event::AgentEnded { code });
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => {
                let _ = send.send(Event::AllEnded);
                return;
            }
        }
    }
}

struct Minded {
    agent: Pid,
    events: Receiver<Event>,
    /// The agent's, once it has ended.
    code: Option<u8>,
}

impl Minded {
    fn run(mut self) -> u8 {
        let mut grace_period = TERMINATION_GRACE_PERIOD;
        match self.events.recv() {
            Ok(Event::AgentEnded { code }) => self.code = Some(code),
            Ok(Event::EndAtOnce) => grace_period = Duration::ZERO,
            _ => {}
        }
        self.signal(Signal::TERM);
        let mut all_ended = self.wait_for_all(grace_period);
        let deadline = Instant::now() + KILL_LIMIT;
        while !all_ended && Instant::now() < deadline {
            self.signal(Signal::KILL);
            all_ended = self.wait_for_all(KILL_INTERVAL);
        }
        self.code.unwrap_or(128 + 9)
    }

    /// To the agent's group, and to processes that left it.
    fn signal(&self, signal: Signal) {
        if self.code.is_none() || cfg!(not(target_os = "linux")) {
            // It fails when the group has ended.
            let _ = kill_process_group(self.agent, signal);
        }
        signal_descendants(signal);
    }

    /// Waits until no process is left, but no longer than `limit`, and not at all when the run must end at once.
    fn wait_for_all(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Event::AgentEnded { code }) => self.code = Some(code),
                Ok(Event::AllEnded) => return self.group_is_gone(deadline),
                Ok(Event::End) => {}
                Ok(Event::EndAtOnce) | Err(_) => return false,
            }
        }
    }

    /// Where orphans are adopted, no process is left in the group. Elsewhere the group is checked.
    fn group_is_gone(&self, deadline: Instant) -> bool {
        if cfg!(target_os = "linux") {
            return true;
        }
        while rustix::process::test_kill_process_group(self.agent).is_ok() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(KILL_INTERVAL);
        }
        true
    }
}
