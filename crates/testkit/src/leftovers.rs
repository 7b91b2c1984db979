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

    /// Waits for all processes with `folder` in their environment to end, then kills those that have not, and tells
    /// their command lines.
    pub(crate) fn end_all(folder: &Path, patience: Duration) -> Vec<String> {
        let deadline = Instant::now() + patience;
        let mut killed = Vec::new();
        // Again until none is found: one that was about to end may have started another.
        while let Some((pid, command_line)) = find(folder) {
            let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).expect("a short time");
            if poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&left)).is_ok_and(|ended| ended == 0) {
                killed.push(command_line);
                let _ = pidfd_send_signal(&process, Signal::KILL);
                let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], None);
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
    use std::process::Command;
    use std::time::Duration;

    use super::end_all;
    use crate::process::Group;

    #[test]
    fn ends_what_a_run_left_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let group = Group::spawn(Command::new("sleep").arg("600").env("RUN", folder.path()));
        assert_eq!(end_all(folder.path(), Duration::ZERO), ["sleep 600 "]);
        assert!(group.wait(Duration::from_secs(60)).is_some());
        assert!(end_all(folder.path(), Duration::ZERO).is_empty());
    }
}
