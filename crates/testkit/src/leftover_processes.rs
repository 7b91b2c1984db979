//! Finding the processes that a run left behind.
//!
//! Killing the agent's process group is not enough: Codex, for one, puts MCP servers in groups of their own. What all
//! of a run's processes share is its temporary folder, which stands in their environment, and Linux shows it in /proc.
//! Elsewhere nothing is looked for, and a server ends as it should, when its input closes.

#[cfg(target_os = "linux")]
pub(crate) use linux::end_all;

#[cfg(not(target_os = "linux"))]
pub(crate) fn end_all(_folder: &std::path::Path, _patience: std::time::Duration) -> Vec<String> {
    Vec::new()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    /// How long a killed process may take to be gone; and all of them together beyond their patience.
    const DEATH: Duration = Duration::from_secs(10);

    /// Waits for all processes with `folder` in their environment to end, then kills those that have not, and tells
    /// their command lines.
    pub(crate) fn end_all(folder: &Path, patience: Duration) -> Vec<String> {
        let deadline = Instant::now() + patience;
        let mut killed = Vec::new();
        // Again until none is found: one that was about to end may have started another. But not for ever: one may
        // be out of reach (no handles left, another user's) or unable to die (stuck in the kernel).
        while let Some((pid, command_line)) = find(folder).filter(|_| Instant::now() < deadline + DEATH) {
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
                ends_within(DEATH);
            }
        }
        killed
    }

    /// A living process with `folder` in its environment, and its command line.
    fn find(folder: &Path) -> Option<(Pid, String)> {
        let needle = folder.as_os_str().as_encoded_bytes();
        fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            // Empty for one that has ended and only waits to be collected.
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
    fn ends_what_a_run_left_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("cat");
        command.env("RUN", folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let (group, (mut input, output)) = Group::spawn_with(&mut command, |child| {
            (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"))
        });
        // Linux lets go of whoever started a program before it shows the program's environment.
        writeln!(input, "there?").expect("a pipe");
        BufReader::new(output).read_line(&mut String::new()).expect("an echo");
        assert_eq!(end_all(folder.path(), Duration::ZERO), ["cat "]);
        assert!(group.wait(Duration::from_secs(60)).is_some());
        assert!(end_all(folder.path(), Duration::ZERO).is_empty());
    }
}
