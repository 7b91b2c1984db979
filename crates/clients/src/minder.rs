//! The minder: a process between tamis and the agent, which sees to it that nothing the agent started outlives the run,
//! even when tamis is killed.
//!
//! It reads an order from its stdin, starts the agent in a process group of its own, and keeps reading. The pipe is
//! its lifeline: a byte asks it to end the run, and the pipe's end says that tamis is gone, which comes to the same.
//! Then, and when the agent ends by itself, all that is left gets SIGTERM, and SIGKILL 2000 ms later. Only when nobody
//! is left, or nothing can be done about it, does the minder end, with the agent's exit code.
//!
//! Should the minder itself be killed, tamis adopts the rest, and does the same.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, setsid, wait};
use serde::{Deserialize, Serialize};

use crate::descendants;

/// How long processes have to end after SIGTERM: the contract's.
pub const TERMINATION_PATIENCE: Duration = Duration::from_millis(2000);
/// How long killed processes may take to be gone; one can be stuck in the kernel, or another user's.
const DEATH_PATIENCE: Duration = Duration::from_secs(5);
/// How often the killed are looked for: they may have had children in the meantime.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Bytes on the lifeline.
pub(crate) const END: u8 = b'e';
pub(crate) const END_AT_ONCE: u8 = b'k';

/// What to start. It comes on stdin, where no list of processes shows it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) prompt: String,
}

/// Why the minder could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum MinderError {
    #[error("the minder got no order: it is started by `tamis run`, not by hand")]
    NoOrder,
    #[error("cannot start {program}")]
    Start { program: String, source: std::io::Error },
}

enum Happening {
    /// Asked to end, or tamis is gone.
    End,
    AtOnce,
    AgentEnded {
        code: u8,
    },
    /// There is no child any more, adopted ones included.
    AllEnded,
}

/// Minds one agent until nothing is left of it. Gives its exit code; 128 and the signal's number for one that was
/// killed.
pub fn run() -> Result<u8, MinderError> {
    // Out of the terminal's reach: Ctrl-C is for tamis, which then ends the run in good order.
    let _ = setsid();
    descendants::adopt_orphans();
    let mut lifeline = BufReader::new(std::io::stdin());
    let mut line = Vec::new();
    let _ = lifeline.read_until(b'\n', &mut line);
    let order: Order = serde_json::from_slice(&line).map_err(|_| MinderError::NoOrder)?;

    let started =
        Command::new(&order.program).args(&order.args).stdin(Stdio::piped()).process_group(0).spawn();
    let mut child =
        started.map_err(|source| MinderError::Start { program: order.program.clone(), source })?;
    let agent = Pid::from_child(&child);
    if let Some(mut stdin) = child.stdin.take() {
        // An agent that does not read its prompt breaks the pipe, which is its affair.
        std::thread::spawn(move || drop(stdin.write_all(order.prompt.as_bytes())));
    }
    let (send, happenings) = channel();
    std::thread::spawn({
        let send = send.clone();
        move || listen(lifeline, &send)
    });
    std::thread::spawn(move || collect(agent, &send));
    Ok(Ending { agent, happenings, code: None }.see_to_it())
}

/// Passes on what tamis wants.
fn listen(mut lifeline: impl Read, send: &Sender<Happening>) {
    let mut byte = [0];
    while let Ok(1) = lifeline.read(&mut byte) {
        let _ = send.send(if byte == [END_AT_ONCE] { Happening::AtOnce } else { Happening::End });
    }
    let _ = send.send(Happening::End);
}

/// Collects every child that ends, the adopted ones too, which would otherwise stay in the table of processes.
fn collect(agent: Pid, send: &Sender<Happening>) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == agent => {
                let code = status.exit_status().or(status.terminating_signal().map(|signal| 128 + signal));
                let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
                let _ = send.send(Happening::AgentEnded { code });
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => {
                let _ = send.send(Happening::AllEnded);
                return;
            }
        }
    }
}

struct Ending {
    agent: Pid,
    happenings: Receiver<Happening>,
    /// The agent's, once it has ended.
    code: Option<u8>,
}

impl Ending {
    fn see_to_it(mut self) -> u8 {
        let mut patience = TERMINATION_PATIENCE;
        match self.happenings.recv() {
            Ok(Happening::AgentEnded { code }) => self.code = Some(code),
            Ok(Happening::AtOnce) => patience = Duration::ZERO,
            _ => {}
        }
        self.signal(Signal::TERM);
        let mut all_ended = self.wait_for_all(patience);
        let deadline = Instant::now() + DEATH_PATIENCE;
        while !all_ended && Instant::now() < deadline {
            self.signal(Signal::KILL);
            all_ended = self.wait_for_all(LOOK_AGAIN);
        }
        self.code.unwrap_or(128 + 9)
    }

    /// To the agent's group, and to whoever left it.
    fn signal(&self, signal: Signal) {
        if self.code.is_none() || cfg!(not(target_os = "linux")) {
            // An error says that nobody is left in it.
            let _ = kill_process_group(self.agent, signal);
        }
        descendants::signal_all(signal);
    }

    /// Waits until nobody is left, but no longer than `limit`, and not at all when asked to end at once.
    fn wait_for_all(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            match self.happenings.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Happening::AgentEnded { code }) => self.code = Some(code),
                Ok(Happening::AllEnded) => return self.group_is_gone(deadline),
                Ok(Happening::End) => {}
                Ok(Happening::AtOnce) | Err(_) => return false,
            }
        }
    }

    /// Where orphans are adopted, there was nobody left to be in the group. Elsewhere they must be asked after.
    fn group_is_gone(&self, deadline: Instant) -> bool {
        if cfg!(target_os = "linux") {
            return true;
        }
        while rustix::process::test_kill_process_group(self.agent).is_ok() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        true
    }
}
