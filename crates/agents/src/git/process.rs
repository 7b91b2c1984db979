//! One run of a program: bounded in time and in what it writes, with nobody left behind.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::Answer;

/// A list of all the files of a very large repository is a tenth of it.
const LARGEST_OUTPUT: u64 = 64 << 20;
/// Of what it says about itself, the end counts; nobody reads more.
const LARGEST_COMPLAINT: u64 = 1 << 20;

/// git takes its lock files away when it is asked to end, and cannot when it is killed.
const FAREWELL: Duration = Duration::from_secs(2);
/// What somebody in the background, who still holds the pipes, has to say is not waited for any longer than this.
const AFTERMATH: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) enum Stopped {
    NotStarted(io::Error),
    TimedOut,
    TooMuch,
}

enum Pipe {
    Stdout(Vec<u8>, bool),
    Stderr(Vec<u8>),
}

pub(super) fn run(mut command: Command, stdin: Option<&[u8]>, limit: Duration) -> Result<Answer, Stopped> {
    let begun = Instant::now();
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.spawn().map_err(Stopped::NotStarted)?;
    let (sender, receiver) = mpsc::channel();
    if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), stdin) {
        let bytes = bytes.to_vec();
        // Whoever does not read it says why, or does not need it.
        thread::spawn(move || pipe.write_all(&bytes));
    }
    if let Some(pipe) = child.stdout.take() {
        let sender = sender.clone();
        thread::spawn(move || {
            let (bytes, whole) = drain(pipe, LARGEST_OUTPUT);
            sender.send(Pipe::Stdout(bytes, whole))
        });
    }
    if let Some(pipe) = child.stderr.take() {
        let sender = sender.clone();
        thread::spawn(move || sender.send(Pipe::Stderr(drain(pipe, LARGEST_COMPLAINT).0)));
    }
    drop(sender);

    let deadline = begun + limit;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut ended = None;
    let mut open = 2;
    loop {
        if ended.is_none() {
            ended = child.try_wait().map_err(Stopped::NotStarted)?.map(|status| (status, Instant::now()));
        }
        if let Some((status, since)) = ended
            && (open == 0 || since.elapsed() > AFTERMATH)
        {
            let stderr = String::from_utf8_lossy(&stderr).into_owned();
            return Ok(Answer { code: status.code(), stdout, stderr });
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() && ended.is_none() {
            end(&mut child);
            return Err(Stopped::TimedOut);
        }
        if open == 0 {
            // Both pipes are closed: it is about to be gone.
            thread::sleep(Duration::from_millis(1));
            continue;
        }
        match receiver.recv_timeout(Duration::from_millis(20)) {
            Ok(Pipe::Stdout(bytes, whole)) => {
                if !whole {
                    end(&mut child);
                    return Err(Stopped::TooMuch);
                }
                stdout = bytes;
                open -= 1;
            }
            Ok(Pipe::Stderr(bytes)) => {
                stderr = bytes;
                open -= 1;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => open = 0,
        }
    }
}

/// Reads to the end, or to a bound: then whether it was all, and the rest is thrown away so that nobody waits for us.
fn drain(mut pipe: impl Read, most: u64) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let _ = pipe.by_ref().take(most).read_to_end(&mut bytes);
    let rest =
        if (bytes.len() as u64) < most { 0 } else { io::copy(&mut pipe, &mut io::sink()).unwrap_or(0) };
    (bytes, rest == 0)
}

/// Ends a program and all that it started: politely, and then not.
fn end(child: &mut Child) {
    let Some(group) = Pid::from_raw(child.id().cast_signed()) else { return };
    // They fail only when nobody is left.
    let _ = kill_process_group(group, Signal::TERM);
    let asked = Instant::now();
    while asked.elapsed() < FAREWELL && matches!(child.try_wait(), Ok(None)) {
        thread::sleep(Duration::from_millis(5));
    }
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
}
