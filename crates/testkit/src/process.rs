//! Runs a program to its end in a process group of its own, with a time limit.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// A program that has ended.
#[derive(Debug)]
pub struct FinishedProgram {
    /// None when the time limit passed and the whole group was killed.
    pub status: Option<ExitStatus>,
    pub stdout: String,
    pub stderr: String,
}

impl FinishedProgram {
    /// The exit code; none after a signal or the time limit.
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }
}

/// Runs a command with empty standard input, then kills the rest of its process group.
pub fn run_bounded(command: Command, limit: Duration) -> FinishedProgram {
    run_bounded_then(command, limit, || ()).0
}

/// [`run_bounded`], with `look` called after the end and before the rest of the group is killed.
pub(crate) fn run_bounded_then<T>(
    mut command: Command,
    limit: Duration,
    look: impl FnOnce() -> T,
) -> (FinishedProgram, T) {
    // Files, not pipes: a grandchild that escaped the group could hold a pipe open and block the reader forever.
    let mut stdout = tempfile::tempfile().expect("a temporary file");
    let mut stderr = tempfile::tempfile().expect("a temporary file");
    command.stdin(Stdio::null());
    command.stdout(stdout.try_clone().expect("a file handle"));
    command.stderr(stderr.try_clone().expect("a file handle"));
    let group = Group::spawn(&mut command);
    let status = group.wait(limit);
    if status.is_none() {
        group.signal(Signal::KILL);
    }
    let seen = look();
    drop(group);
    (FinishedProgram { status, stdout: contents(&mut stdout), stderr: contents(&mut stderr) }, seen)
}

fn contents(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("a readable temporary file");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A child that leads its own process group. Dropping it kills what is left of the group.
pub(crate) struct Group {
    leader: Pid,
    child: Child,
    ended: Receiver<ExitStatus>,
    watcher: Option<JoinHandle<()>>,
}

impl Group {
    pub(crate) fn spawn(command: &mut Command) -> Self {
        Self::spawn_with(command, |_| ()).0
    }

    /// Spawns, and passes the child to `take` for its pipes before a thread waits for its end.
    pub(crate) fn spawn_with<T>(command: &mut Command, take: impl FnOnce(&mut Child) -> T) -> (Self, T) {
        let spawned = command.process_group(0).spawn();
        let mut child = spawned.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let taken = take(&mut child);
        let leader = Pid::from_child(&child);
        let (send, ended) = channel();
        let watcher = std::thread::spawn(move || {
            let _ = send.send(status_at_end(leader));
        });
        (Self { leader, child, ended, watcher: Some(watcher) }, taken)
    }

    /// The leader's exit status; none if it has not ended in time.
    pub(crate) fn wait(&self, limit: Duration) -> Option<ExitStatus> {
        self.ended.recv_timeout(limit).ok()
    }

    /// Safe at any time: the leader is not reaped before the drop, so its process id cannot be reused.
    pub(crate) fn signal(&self, signal: Signal) {
        // An error means that the group is empty.
        let _ = kill_process_group(self.leader, signal);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        // Returns at once, because the leader has ended.
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
        let _ = self.child.wait();
    }
}

/// Waits for the end of a child without reaping it.
fn status_at_end(child: Pid) -> ExitStatus {
    let waited = retry_on_intr(|| waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
    let ended = waited.expect("a child can be waited for").expect("waited until it ended");
    let raw = match (ended.exit_status(), ended.terminating_signal()) {
        (Some(code), _) => (code & 0xff) << 8,
        (_, signal) => signal.unwrap_or_default(),
    };
    ExitStatus::from_raw(raw)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::time::Instant;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_and_exit_code_are_returned() {
        let finished = run_bounded(shell("echo out; echo err >&2; exit 3"), Duration::from_secs(60));
        let code = finished.code();
        assert_eq!((code, finished.stdout.as_str(), finished.stderr.as_str()), (Some(3), "out\n", "err\n"));
    }

    #[test]
    fn a_program_is_killed_after_the_time_limit() {
        let finished = run_bounded(shell("exec sleep 600"), Duration::from_millis(10));
        assert_eq!(finished.status, None);
    }

    #[test]
    fn a_signal_is_reported_in_the_status() {
        let finished = run_bounded(shell("kill -TERM $$"), Duration::from_secs(60));
        assert_eq!(finished.status.and_then(|status| status.signal()), Some(15));
        assert_eq!(finished.code(), None);
    }

    #[test]
    fn a_leader_that_has_ended_keeps_its_process_id_until_the_drop() {
        let group = Group::spawn(&mut shell("exit 0"));
        assert!(group.wait(Duration::from_secs(60)).is_some());
        // A process that was reaped cannot be signalled.
        assert!(rustix::process::test_kill_process(group.leader).is_ok());
        let leader = group.leader;
        drop(group);
        assert!(rustix::process::test_kill_process(leader).is_err());
    }

    #[test]
    fn a_dropped_group_leaves_no_grandchild() {
        let mut command = shell("sleep 600 & echo started; wait");
        let (group, pipe) =
            Group::spawn_with(command.stdout(Stdio::piped()), |child| child.stdout.take().expect("a pipe"));
        let mut pipe = BufReader::new(pipe);
        let mut line = String::new();
        pipe.read_line(&mut line).expect("a readable pipe");
        assert_eq!(line, "started\n");
        drop(group);
        // The pipe ends when no process holds it; the grandchild would hold it for ten minutes.
        let begun = Instant::now();
        pipe.read_to_string(&mut line).expect("a readable pipe");
        assert!(begun.elapsed() < Duration::from_secs(300));
    }
}
