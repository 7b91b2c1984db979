//! One run of a program: bounded in time and in what it writes, with nobody left behind.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::Answer;

/// A list of all the files of a very large repository is a tenth of it.
const LARGEST_OUTPUT: usize = 64 << 20;
/// Of what it says about itself nobody reads more.
const LARGEST_COMPLAINT: usize = 1 << 20;

/// git takes its lock files away when it is asked to end, and cannot when it is killed.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long is waited for something to be said before it is looked whether it has ended: others may hold its pipes.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// More at once than a pipe can hold, for a program in the background that never stops talking.
const MOST_READS: usize = 1024;

#[derive(Debug)]
pub(super) enum Stopped {
    NotStarted(io::Error),
    TimedOut,
    TooMuch,
}

pub(super) fn run(mut command: Command, stdin: Option<&[u8]>, limit: Duration) -> Result<Answer, Stopped> {
    let deadline = Instant::now() + limit;
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.spawn().map_err(Stopped::NotStarted)?;
    if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), stdin) {
        let bytes = bytes.to_vec();
        // Whoever does not read it says why, or does not need it.
        thread::spawn(move || pipe.write_all(&bytes));
    }
    let pipes = Pipe::new(child.stdout.take(), LARGEST_OUTPUT)
        .and_then(|stdout| Ok((stdout, Pipe::new(child.stderr.take(), LARGEST_COMPLAINT)?)));
    let (mut stdout, mut stderr) = pipes.map_err(|error| {
        end(&mut child);
        Stopped::NotStarted(error)
    })?;
    loop {
        // In this order: all that it has written is in the pipes once it has ended, whoever else still holds them. An
        // answer that is not whole must never be taken for one: that nothing was listed would mean that nothing is there.
        let ended = child.try_wait().map_err(Stopped::NotStarted)?;
        stdout.read();
        stderr.read();
        if stdout.overflown {
            end(&mut child);
            return Err(Stopped::TooMuch);
        }
        if let Some(status) = ended {
            let stderr = String::from_utf8_lossy(&stderr.bytes).into_owned();
            return Ok(Answer { code: status.code(), stdout: stdout.bytes, stderr });
        }
        if Instant::now() >= deadline {
            end(&mut child);
            return Err(Stopped::TimedOut);
        }
        await_either(&stdout, &stderr);
    }
}

/// What a program says, read without waiting for it.
struct Pipe {
    /// None once it is closed.
    source: Option<File>,
    bytes: Vec<u8>,
    most: usize,
    /// Whether there was more than is kept.
    overflown: bool,
}

impl Pipe {
    fn new(source: Option<impl Into<OwnedFd>>, most: usize) -> io::Result<Pipe> {
        let source = source.map(|source| File::from(source.into()));
        if let Some(source) = &source {
            rustix::io::ioctl_fionbio(source, true)?;
        }
        Ok(Pipe { source, bytes: Vec::new(), most, overflown: false })
    }

    /// Reads all that is there. What does not fit is thrown away, so that nobody waits for us.
    fn read(&mut self) {
        let mut buffer = [0; 1 << 16];
        for _ in 0..MOST_READS {
            let Some(source) = &mut self.source else { return };
            match source.read(&mut buffer) {
                Ok(0) => self.source = None,
                Ok(count) => {
                    let room = self.most.saturating_sub(self.bytes.len()).min(count);
                    self.bytes.extend_from_slice(&buffer[..room]);
                    self.overflown |= room < count;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.source = None,
            }
        }
    }
}

/// Waits a moment for either to have something to say, or to be closed.
fn await_either(stdout: &Pipe, stderr: &Pipe) {
    let sources = [&stdout.source, &stderr.source].into_iter().flatten();
    let mut polled: Vec<PollFd<'_>> = sources.map(|source| PollFd::new(source, PollFlags::IN)).collect();
    if polled.is_empty() {
        // Both are closed: it is about to be gone.
        thread::sleep(Duration::from_millis(1));
    } else {
        // Interrupted, it is looked again at once.
        let _ = poll(&mut polled, Some(&PAUSE));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Result<Answer, Stopped> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, None, limit)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_a_program_said_is_whole_though_others_hold_its_pipes() {
        let answer = shell("echo said; echo why >&2; sleep 20 & exit 3", LONG).unwrap();
        assert_eq!(
            (answer.code, answer.text(), answer.stderr.as_str()),
            (Some(3), "said".to_owned(), "why\n")
        );
        let answer = shell("head -c 3000000 /dev/zero; sleep 20 &", LONG).unwrap();
        assert_eq!(answer.stdout.len(), 3_000_000);
        let answer = shell("exec 2>&-; echo said; exec >&-; sleep 0.1; exit 4", LONG).unwrap();
        assert_eq!((answer.code, answer.text()), (Some(4), "said".to_owned()));
    }

    #[test]
    fn what_takes_too_long_or_says_too_much_is_ended() {
        assert!(matches!(shell("sleep 1000", Duration::from_millis(50)), Err(Stopped::TimedOut)));
        assert!(matches!(shell("yes", LONG), Err(Stopped::TooMuch)));
        let answer = shell("head -c 2000000 /dev/zero >&2; echo done", LONG).unwrap();
        assert_eq!((answer.text(), answer.stderr.len()), ("done".to_owned(), LARGEST_COMPLAINT));
    }
}
