//! Running a program to its end, with everything that it writes.
//!
//! A command has ended when its shell has. What it left in the background lives on, as in a terminal, and may hold the
//! pipes open for days: so what is still in the pipes is read, and then they are not waited for.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::process::Pid;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::command::{Ended, RunError, Shell};
use crate::groups::{Children, Group, PATIENCE};

/// A program that writes more is ended: its output would be held in memory several times on its way to the caller.
pub const LARGEST_OUTPUT: usize = 256 << 20;

/// How much is read at once at least; what a pipe holds.
const CHUNK: usize = 64 << 10;

/// How much a pipe should hold, where the system lets us say: a program that writes much then seldom waits for us.
#[cfg(target_os = "linux")]
const WIDE: usize = 1 << 20;

/// A program that has written this much writes in bulk. Most do so 4 KiB at a time, and waking up for each of them costs
/// both sides more than the reading: so what comes is left to gather for a moment.
const BULK: usize = 1 << 20;
const MOMENT: Duration = Duration::from_millis(1);

/// Once the program has ended, its pipes are given up when nothing came through them for this long … What comes later is
/// lost, be it the end of `> >(sort)`, which bash does not wait for, or what a server says when it starts; so this is long
/// for a machine, and no longer than a person who started something in the background would wait.
const QUIET: Duration = Duration::from_millis(500);

/// … and after this in any case: somebody in the background may go on talking.
const LONGEST_FAREWELL: Duration = Duration::from_secs(2);

impl Children {
    /// Runs a program to its end. Cancelled, or dropped, it ends the program and all of its group.
    pub async fn run(&self, shell: Shell, cancelled: &CancellationToken) -> Result<Ended, RunError> {
        let cancelled = cancelled.child_token();
        let _dropped = cancelled.clone().drop_guard();
        // A task of its own, since ending a group takes time that a dropped future does not have.
        let running = tokio::spawn(run(self.clone(), shell, cancelled));
        running.await.unwrap_or_else(|error| Err(RunError::Output { cause: io::Error::other(error) }))
    }
}

async fn run(children: Children, shell: Shell, cancelled: CancellationToken) -> Result<Ended, RunError> {
    if cancelled.is_cancelled() {
        return Err(RunError::Cancelled);
    }
    let begun = Instant::now();
    let mut child = shell.start()?;
    let Some(leader) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) else {
        return Err(shell.start_error(io::ErrorKind::NotFound.into()));
    };
    let mut group = children.enter(leader);
    let mut pipes = Pipes { stdout: Pipe::new(child.stdout.take()), stderr: Pipe::new(child.stderr.take()) };
    let outcome = tokio::select! {
        outcome = pipes.drain(&mut child, &mut group) => outcome,
        () = cancelled.cancelled() => Err(RunError::Cancelled),
    };
    match outcome {
        Ok(status) => {
            let Pipes { stdout, stderr } = pipes;
            let ended =
                Ended { stdout: stdout.finish(), stderr: stderr.finish(), status, elapsed: begun.elapsed() };
            Ok(ended)
        }
        Err(error) => {
            end(&mut child, &mut group).await;
            Err(error)
        }
    }
}

/// Ends a program and its group, asking first.
async fn end(child: &mut Child, group: &mut Group) {
    let deadline = Instant::now() + PATIENCE;
    group.ask_to_end();
    if child.id().is_some() {
        if tokio::time::timeout_at(deadline, child.wait()).await.is_err() {
            group.kill();
            let _ = child.wait().await;
        }
        group.collected();
    }
    group.end_by(deadline).await;
    group.collected();
}

struct Pipes {
    stdout: Pipe<ChildStdout>,
    stderr: Pipe<ChildStderr>,
}

impl Pipes {
    /// Reads both pipes side by side, so that neither fills up and stops the program, until the program has ended and
    /// so have they, or nobody speaks any more.
    async fn drain(
        &mut self,
        child: &mut Child,
        group: &mut Group,
    ) -> Result<std::process::ExitStatus, RunError> {
        let mut status = None;
        let mut give_up = Instant::now();
        let mut latest = give_up;
        loop {
            if let Some(status) = status
                && self.stdout.closed()
                && self.stderr.closed()
            {
                return Ok(status);
            }
            // In no order: what goes on for ever must not hide the rest.
            let read = tokio::select! {
                read = self.stdout.read(), if !self.stdout.closed() => read,
                read = self.stderr.read(), if !self.stderr.closed() => read,
                ended = child.wait(), if status.is_none() => {
                    status = Some(ended.map_err(|cause| RunError::Output { cause })?);
                    group.collected();
                    give_up = Instant::now() + QUIET;
                    latest = Instant::now() + LONGEST_FAREWELL;
                    continue;
                }
                () = tokio::time::sleep_until(give_up.min(latest)), if status.is_some() => {
                    self.stdout.discard_the_rest();
                    self.stderr.discard_the_rest();
                    continue;
                }
            };
            let read = read.map_err(|cause| RunError::Output { cause })?;
            give_up = Instant::now() + QUIET;
            let written = self.stdout.bytes.len() + self.stderr.bytes.len();
            if written > LARGEST_OUTPUT {
                return Err(RunError::TooMuchOutput);
            }
            if written > BULK && (1..CHUNK).contains(&read) {
                tokio::time::sleep(MOMENT).await;
            }
        }
    }
}

/// One of a program's pipes, and what came through it.
struct Pipe<P> {
    pipe: Option<P>,
    bytes: Vec<u8>,
}

impl<P: AsyncRead + AsFd + Unpin + Send + 'static> Pipe<P> {
    fn new(pipe: Option<P>) -> Pipe<P> {
        #[cfg(target_os = "linux")]
        if let Some(pipe) = &pipe {
            // A user may have only so many wide pipes; narrow ones do as well, more slowly.
            let _ = rustix::pipe::fcntl_setpipe_size(pipe, WIDE);
        }
        Pipe { pipe, bytes: Vec::new() }
    }

    fn closed(&self) -> bool {
        self.pipe.is_none()
    }

    /// How much came; nothing, when nothing more will.
    async fn read(&mut self) -> io::Result<usize> {
        let Some(pipe) = &mut self.pipe else { return Ok(0) };
        self.bytes.reserve(CHUNK);
        let read = pipe.read_buf(&mut self.bytes).await?;
        if read == 0 {
            self.pipe = None;
        }
        Ok(read)
    }

    /// Whoever still holds the pipe could not go on if nobody read it.
    fn discard_the_rest(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            tokio::spawn(async move {
                let mut bytes = vec![0; CHUNK];
                while pipe.read(&mut bytes).await.is_ok_and(|read| read > 0) {}
            });
        }
    }

    fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
