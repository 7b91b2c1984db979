//! Running a program to its end: bounded in time and in what it writes, and with its process group ended when it is cut
//! short.
//!
//! One loop around `poll` on the calling thread serves both entry points: [`Program::run`] calls it, and
//! [`ProcessGroups::run`] gives it a thread of its own. An async loop on top of tokio was tried first; git, which is started
//! many times by code that blocks, would then need a runtime or a second loop.

use std::io::{self, PipeReader, Write};
use std::mem::take;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;
use tokio_util::sync::CancellationToken;

use crate::groups::{ProcessGroup, ProcessGroups, on_own_thread};
use crate::pipe::{CHUNK, Pipe};
use crate::{Program, ProgramError, ProgramOutput};

/// How long a process group has between SIGTERM and SIGKILL: git removes its lock files in that time.
const GRACE_PERIOD: Duration = Duration::from_secs(2);

/// A program that has written this much writes in bulk. Most do so 4 KiB at a time, and waking up for each of them costs
/// both sides more than the reading: so output is left to gather for a moment.
const BULK: usize = 1 << 20;
const BULK_PAUSE: Duration = Duration::from_millis(1);

/// How often to check whether a program has ended, where the system has no handle to wait for.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// The same when it has closed its pipes, and is about to end.
const SHORT_CHECK_INTERVAL: Duration = Duration::from_millis(1);

impl Program {
    /// Runs the program to its end, blocking this thread.
    pub fn run(self) -> Result<ProgramOutput, ProgramError> {
        run(&ProcessGroups::new(None), self, None)
    }
}

impl ProcessGroups {
    /// Runs a program to its end. When this is cancelled, or dropped, the program and all of its group are ended.
    pub async fn run(
        &self,
        program: Program,
        cancelled: &CancellationToken,
    ) -> Result<ProgramOutput, ProgramError> {
        if cancelled.is_cancelled() {
            return Err(ProgramError::Cancelled { stdout: Vec::new(), stderr: Vec::new() });
        }
        let groups = self.clone();
        // The thread that runs the program is cancelled when our end of this pipe is closed.
        let (cancellation, alive) = io::pipe().map_err(|cause| ProgramError::Output { cause })?;
        let running = on_own_thread(move || run(&groups, program, Some(cancellation)));
        tokio::pin!(running);
        let ended = tokio::select! {
            ended = &mut running => ended,
            () = cancelled.cancelled() => {
                drop(alive);
                running.await
            }
        };
        ended.unwrap_or_else(|cause| Err(ProgramError::Output { cause }))
    }
}

fn run(
    groups: &ProcessGroups,
    mut program: Program,
    cancellation: Option<PipeReader>,
) -> Result<ProgramOutput, ProgramError> {
    let begun = Instant::now();
    let mut child = program.spawn()?;
    let mut group = groups.enter(Pid::from_child(&child));
    if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), program.stdin.take()) {
        // A program that does not read all of it does not need it, or reports why.
        thread::spawn(move || pipe.write_all(&bytes));
    }
    let mut run = match Run::new(&program, &mut child, begun, cancellation) {
        Ok(run) => run,
        Err(cause) => {
            group.kill();
            let _ = child.wait();
            group.leader_was_collected();
            return Err(ProgramError::Output { cause });
        }
    };
    let end = run.follow(&mut child, &mut group);
    let (mut stdout, mut stderr) = (take(&mut run.stdout.bytes), take(&mut run.stderr.bytes));
    if !matches!(end, Ok(End::Exited(_))) {
        run.end(&mut child, &mut group);
    }
    let (status, output_limit) = match end? {
        End::Exited(status) => (status, None),
        End::Cancelled if program.keeps_partial_output => {
            return Err(ProgramError::Cancelled { stdout, stderr });
        }
        End::Cancelled => {
            return Err(ProgramError::Cancelled { stdout: Vec::new(), stderr: Vec::new() });
        }
        End::WroteTooMuch if !program.keeps_partial_output => {
            return Err(ProgramError::TooMuchOutput { limit: program.max_output });
        }
        End::WroteTooMuch => {
            cut(&mut stdout, &mut stderr, program.max_output);
            // It has been collected, so this returns at once.
            let status = child.wait().map_err(|cause| ProgramError::Output { cause })?;
            (status, Some(program.max_output))
        }
    };
    Ok(ProgramOutput { stdout, stderr, status, elapsed: begun.elapsed(), output_limit })
}

/// Cuts both to `limit` bytes together. The longer one is cut, so that a few words on stderr survive a flood on stdout.
fn cut(stdout: &mut Vec<u8>, stderr: &mut Vec<u8>, limit: usize) {
    stdout.truncate(limit);
    stderr.truncate(limit);
    let excess = (stdout.len() + stderr.len()).saturating_sub(limit);
    let longer = if stdout.len() >= stderr.len() { stdout } else { stderr };
    longer.truncate(longer.len() - excess);
}

/// How a program came to its end.
enum End {
    Exited(ExitStatus),
    /// It is still running.
    WroteTooMuch,
    /// The same.
    Cancelled,
}

struct Run<'a> {
    program: &'a Program,
    stdout: Pipe,
    stderr: Pipe,
    /// Becomes readable when the program ends; none where the system has no such handle.
    exit: Option<OwnedFd>,
    /// Closed by the caller when the run is cancelled.
    cancellation: Option<PipeReader>,
    deadline: Option<Instant>,
}

impl<'a> Run<'a> {
    fn new(
        program: &'a Program,
        child: &mut Child,
        begun: Instant,
        cancellation: Option<PipeReader>,
    ) -> io::Result<Run<'a>> {
        Ok(Run {
            program,
            stdout: Pipe::new(child.stdout.take())?,
            stderr: Pipe::new(child.stderr.take())?,
            exit: exit_handle(child),
            cancellation,
            deadline: program.time_limit.map(|limit| begun + limit),
        })
    }

    /// Reads both pipes, so that neither fills up and stops the program, until it has ended.
    fn follow(&mut self, child: &mut Child, group: &mut ProcessGroup) -> Result<End, ProgramError> {
        let failed = |cause| ProgramError::Output { cause };
        let limit = self.program.max_output;
        let mut ended = None;
        loop {
            // In this order: all that the program has written is in the pipes once it has ended.
            if ended.is_none()
                && let Some(status) = child.try_wait().map_err(failed)?
            {
                group.leader_was_collected();
                self.exit = None;
                ended = Some(status);
            }
            let read = self.stdout.read(limit).map_err(failed)? + self.stderr.read(limit).map_err(failed)?;
            self.stderr.bytes.truncate(self.program.max_stderr);
            let written = self.stdout.bytes.len() + self.stderr.bytes.len();
            if written > limit {
                return Ok(End::WroteTooMuch);
            }
            if let Some(status) = ended
                && self.is_output_complete()
            {
                return Ok(End::Exited(status));
            }
            if let (Some(deadline), Some(limit)) = (self.deadline, self.program.time_limit)
                && Instant::now() >= deadline
            {
                return Err(ProgramError::TimedOut { limit });
            }
            if written > BULK && (1..CHUNK).contains(&read) {
                thread::sleep(BULK_PAUSE);
            }
            if self.wait(self.deadline, ended.is_some()) == Wake::Cancelled {
                return Ok(End::Cancelled);
            }
        }
    }

    fn has_closed_pipes(&self) -> bool {
        self.stdout.is_closed() && self.stderr.is_closed()
    }

    /// Whether nothing more is waited for once the program has ended.
    fn is_output_complete(&self) -> bool {
        !self.program.waits_for_pipes || self.has_closed_pipes()
    }

    /// Waits for output, for the program's end, for a cancellation, or until the time is up.
    fn wait(&self, until: Option<Instant>, has_ended: bool) -> Wake {
        let mut limit = until.map(|until| until.saturating_duration_since(Instant::now()));
        if self.exit.is_none() && !has_ended {
            let interval = if self.has_closed_pipes() { SHORT_CHECK_INTERVAL } else { CHECK_INTERVAL };
            limit = Some(limit.map_or(interval, |limit| limit.min(interval)));
        }
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let pipes = [&self.stdout, &self.stderr].into_iter().filter_map(Pipe::source).map(AsFd::as_fd);
        let exit = self.exit.as_ref().map(AsFd::as_fd);
        let cancellation = self.cancellation.as_ref().map(AsFd::as_fd);
        let mut polled: Vec<PollFd<'_>> = cancellation
            .into_iter()
            .chain(exit)
            .chain(pipes)
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        // When it is interrupted, the caller looks again at once.
        let _ = poll(&mut polled, limit.as_ref());
        let is_cancelled = cancellation.is_some() && !polled[0].revents().is_empty();
        if is_cancelled { Wake::Cancelled } else { Wake::Other }
    }

    /// Ends the program and its group, with SIGTERM first. The pipes are read meanwhile: bash reports the command that was
    /// terminated, and would be killed by a closed pipe before it cleans up.
    fn end(&mut self, child: &mut Child, group: &mut ProcessGroup) {
        let deadline = Instant::now() + GRACE_PERIOD;
        group.terminate();
        while matches!(child.try_wait(), Ok(None)) {
            if Instant::now() >= deadline {
                group.kill();
                let _ = child.wait();
                break;
            }
            for pipe in [&mut self.stdout, &mut self.stderr] {
                pipe.bytes.clear();
                let _ = pipe.read(CHUNK);
            }
            thread::sleep(crate::groups::CHECK_INTERVAL);
        }
        group.leader_was_collected();
        group.end_by(deadline);
        group.leader_was_collected();
    }
}

#[derive(PartialEq, Eq)]
enum Wake {
    Cancelled,
    Other,
}

#[cfg(target_os = "linux")]
fn exit_handle(child: &Child) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_handle(_child: &Child) -> Option<OwnedFd> {
    None
}
