//! Finds and ends the processes that a run left.
//!
//! Killing the client's process group is not enough: Codex, for one, starts MCP servers in groups of their own. All processes
//! of a run have its temporary folder in their environment, which Linux shows in /proc. Elsewhere nothing is searched.

#[cfg(target_os = "linux")]
pub(crate) use linux::end_all;

#[cfg(not(target_os = "linux"))]
pub(crate) fn end_all(_folder: &std::path::Path, _grace: std::time::Duration) -> Vec<String> {
    Vec::new()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    /// How long a killed process may take to end, and all of them together after `grace`.
    const KILL_TIMEOUT: Duration = Duration::from_secs(10);

    /// Gives all processes with `folder` in their environment time to end, kills the others, and returns the command lines of
    /// those.
    pub(crate) fn end_all(folder: &Path, grace: Duration) -> Vec<String> {
        let deadline = Instant::now() + grace;
        let mut killed = Vec::new();
        // Repeated until none is found, because one that ended may have started another. But not forever: a process may be
        // out of reach (no file descriptors left, another user's) or stuck in the kernel.
        while let Some((pid, command_line)) =
            find(folder).filter(|_| Instant::now() < deadline + KILL_TIMEOUT)
        {
            let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            };
            let ends_within = |limit: Duration| {
                let limit = Timespec::try_from(limit).expect("a short time");
                poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit)).is_ok_and(|ended| ended > 0)
            };
            if !ends_within(deadline.saturating_duration_since(Instant::now())) {
                killed.push(command_line);
                let _ = pidfd_send_signal(&process, Signal::KILL);
                ends_within(KILL_TIMEOUT);
            }
        }
        killed
    }

    /// A living process with `folder` in its environment, and its command line.
    fn find(folder: &Path) -> Option<(Pid, String)> {
        let needle = folder.as_os_str().as_encoded_bytes();
        fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            // Empty for a zombie.
            let environment = fs::read(entry.path().join("environ")).ok()?;
            environment.windows(needle.len()).any(|window| window == needle).then_some(())?;
            let command_line = fs::read(entry.path().join("cmdline")).ok()?;
            Some((pid, String::from_utf8_lossy(&command_line).replace('\0', " ")))
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::end_all;
    use crate::process::Group;

    #[test]
    fn processes_with_the_folder_in_their_environment_are_killed() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("cat");
        command.env("RUN", folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let (group, (mut input, output)) = Group::spawn_with(&mut command, |child| {
            (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"))
        });
        // A spawn returns before /proc shows the program's environment, so wait for its first output.
        writeln!(input, "there?").expect("a pipe");
        BufReader::new(output).read_line(&mut String::new()).expect("an echo");
        assert_eq!(end_all(folder.path(), Duration::ZERO), ["cat "]);
        assert!(group.wait(Duration::from_secs(60)).is_some());
        assert!(end_all(folder.path(), Duration::ZERO).is_empty());
    }
}
