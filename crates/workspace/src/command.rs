//! The programs that tools run, and what comes of them.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::Command;

use crate::WorkingFolder;
use crate::errors::words;
use crate::running::LARGEST_OUTPUT;

/// A program about to be run: which, with what, and where.
pub struct Shell {
    pub(crate) program: &'static str,
    pub(crate) command: Command,
    folder: String,
}

/// A program that has ended, with all that it wrote.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: ExitStatus,
    pub elapsed: Duration,
}

impl Ended {
    /// None for a death by signal.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }
}

/// Why there is no output.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("cannot start {program} in '{folder}': {}", words(.source))]
    Start { program: &'static str, folder: String, source: io::Error },
    #[error(
        "it wrote over {} MiB and was ended; send what it writes to a file, and read a part of that",
        LARGEST_OUTPUT >> 20
    )]
    TooMuchOutput,
    #[error("its output cannot be read: {}", words(.source))]
    Output { source: io::Error },
    /// Nobody wants to know any more; the program and its group have been ended.
    #[error("cancelled")]
    Cancelled,
}

/// `bash -c COMMAND`.
pub fn bash(command: &str, folder: &WorkingFolder) -> Shell {
    Shell::new("bash", [OsStr::new("-c"), command.as_ref()], folder)
}

/// `grep -rn --color=never -- PATTERN PATH`: after `--` neither can pass for an option.
pub fn grep(pattern: &str, path: &str, folder: &WorkingFolder) -> Shell {
    Shell::new("grep", ["-rn", "--color=never", "--", pattern, path], folder)
}

impl Shell {
    fn new(
        program: &'static str,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
        folder: &WorkingFolder,
    ) -> Shell {
        let folder: &Path = folder.path();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        Shell { program, command, folder: folder.to_string_lossy().into_owned() }
    }

    pub(crate) fn start_error(&self, source: io::Error) -> RunError {
        RunError::Start { program: self.program, folder: self.folder.clone(), source }
    }
}
