//! The programs that tools run, and what comes of them.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, Command};

use crate::errors::words;
use crate::running::LARGEST_OUTPUT;

/// A program about to be run: which, with what, and where.
pub struct Shell {
    program: &'static str,
    arguments: Vec<OsString>,
    folder: PathBuf,
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
    #[error("cannot start {program} in '{folder}': {}", words(.cause))]
    Start { program: &'static str, folder: String, cause: io::Error },
    #[error(
        "it wrote over {} MiB and was ended; send what it writes to a file, and read a part of that",
        LARGEST_OUTPUT >> 20
    )]
    TooMuchOutput,
    #[error("its output cannot be read: {}", words(.cause))]
    Output { cause: io::Error },
    /// Nobody wants to know any more; the program and its group have been ended.
    #[error("cancelled")]
    Cancelled,
}

/// `bash -c COMMAND`.
pub fn bash(command: &str, folder: &Path) -> Shell {
    Shell::new("bash", &["-c", command], folder)
}

/// `grep -rn --color=never -- PATTERN PATH`: after `--` neither can pass for an option.
pub fn grep(pattern: &str, path: &str, folder: &Path) -> Shell {
    Shell::new("grep", &["-rn", "--color=never", "--", pattern, path], folder)
}

impl Shell {
    fn new(program: &'static str, arguments: &[&str], folder: &Path) -> Shell {
        let arguments = arguments.iter().map(OsString::from).collect();
        Shell { program, arguments, folder: folder.to_owned() }
    }

    /// Starts the program with nothing to read, in a group of its own. It dies with the handle, its group does not.
    pub(crate) fn start(&self) -> Result<Child, RunError> {
        let mut command = Command::new(self.program);
        command
            .args(&self.arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command.spawn().map_err(|cause| self.start_error(cause))
    }

    /// Becomes the program, with all that this process has open. Returns only when that fails.
    pub fn take_over(&self) -> RunError {
        let mut command = std::process::Command::new(self.program);
        let cause = command.args(&self.arguments).current_dir(&self.folder).exec();
        self.start_error(cause)
    }

    pub(crate) fn start_error(&self, cause: io::Error) -> RunError {
        let folder = self.folder.to_string_lossy().into_owned();
        RunError::Start { program: self.program, folder, cause }
    }
}
