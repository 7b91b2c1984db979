//! A program to run: what is started, with what, where, and within which limits.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::errno_text;

/// The output limit of a [`Program`] unless it sets another: the output is held in memory several times on its way to a
/// caller.
const DEFAULT_MAX_OUTPUT: usize = 256 << 20;

/// A program with its options. It inherits the environment and the working folder, reads an empty stdin, and may take any
/// time, unless configured otherwise.
pub struct Program {
    command: Command,
    pub(crate) stdin: Option<Vec<u8>>,
    inherits_stdin: bool,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) max_output: usize,
    pub(crate) max_stderr: usize,
    /// Whether what was read comes back when the program is ended for writing too much.
    pub(crate) keeps_partial_output: bool,
    /// Whether the run goes on until processes that the program left in the background have closed its pipes. Otherwise the
    /// output is what the program wrote itself.
    pub(crate) waits_for_pipes: bool,
}

/// A program that has ended, with all that it wrote.
#[derive(Debug, PartialEq, Eq)]
pub struct ProgramOutput {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: ExitStatus,
    pub elapsed: Duration,
    /// Set when the program was ended because it had written this many bytes. The rest of its output is missing.
    pub output_limit: Option<usize>,
}

impl ProgramOutput {
    /// None for a death by signal.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }
}

/// Why there is no output. An incomplete output could be taken for a whole one, so it is returned only for
/// [`Program::bash`] and [`Program::grep`], with [`ProgramOutput::output_limit`]. The program and its process group have been
/// ended.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("cannot start {program}{}: {}", in_folder(.folder), errno_text(.cause))]
    Start { program: String, folder: Option<PathBuf>, cause: io::Error },
    #[error(
        "it wrote more than {} MiB and was ended; redirect its output to a file and read a part of it",
        .limit >> 20
    )]
    TooMuchOutput { limit: usize },
    #[error("it took longer than {} s and was ended", .limit.as_secs_f64())]
    TimedOut { limit: Duration },
    #[error("cannot read its output: {}", errno_text(.cause))]
    Output { cause: io::Error },
    #[error("cancelled")]
    Cancelled {
        /// What [`Program::bash`] and [`Program::grep`] had written.
        stdout: Vec<u8>,
        stderr: Vec<u8>,
    },
}

fn in_folder(folder: &Option<PathBuf>) -> String {
    folder.as_ref().map(|folder| format!(" in '{}'", folder.display())).unwrap_or_default()
}

impl Program {
    pub fn new(program: impl AsRef<OsStr>) -> Program {
        Program {
            command: Command::new(program),
            stdin: None,
            inherits_stdin: false,
            time_limit: None,
            max_output: DEFAULT_MAX_OUTPUT,
            max_stderr: usize::MAX,
            keeps_partial_output: false,
            waits_for_pipes: false,
        }
    }

    /// `bash -c -- COMMAND`, until it and the background jobs that hold its output have ended. After `--` a command that begins with
    /// a dash cannot be read as an option.
    pub fn bash(command: &str, folder: &Path) -> Program {
        let program = Program::new("bash").args(["-c", "--", command]).folder(folder);
        Program { keeps_partial_output: true, waits_for_pipes: true, ..program }
    }

    /// `grep -rn --color=never -- PATTERN PATH`: after `--` neither can be read as an option.
    pub fn grep(pattern: &str, path: &str, folder: &Path) -> Program {
        let args = ["-rn", "--color=never", "--", pattern, path];
        Program { keeps_partial_output: true, ..Program::new("grep").args(args).folder(folder) }
    }

    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Program {
        self.command.args(args);
        self
    }

    #[must_use]
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Program {
        self.command.current_dir(folder);
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Program {
        self.command.env(name, value);
        self
    }

    /// Sets several variables.
    #[must_use]
    pub fn envs(
        mut self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> Program {
        self.command.envs(variables);
        self
    }

    /// Inherits only those variables whose names are allowed. Undoes every [`env`](Program::env) before it.
    #[must_use]
    pub fn inherit_env(mut self, is_allowed: impl Fn(&OsStr) -> bool) -> Program {
        self.command.env_clear();
        self.command.envs(std::env::vars_os().filter(|(name, _)| is_allowed(name)));
        self
    }

    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Program {
        self.stdin = Some(bytes.into());
        self
    }

    /// Lets the program read this process's stdin.
    #[must_use]
    pub fn inherit_stdin(mut self) -> Program {
        self.inherits_stdin = true;
        self
    }

    /// Ends the program after this time.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Program {
        self.time_limit = Some(limit);
        self
    }

    /// Ends the program when it has written more bytes than this.
    #[must_use]
    pub fn max_output(mut self, bytes: usize) -> Program {
        self.max_output = bytes;
        self
    }

    /// Keeps only the first bytes of stderr. More than that is not an error.
    #[must_use]
    pub fn max_stderr(mut self, bytes: usize) -> Program {
        self.max_stderr = bytes;
        self
    }

    /// Replaces this process by the program, which gets all open files. Returns only when that fails.
    pub fn exec(mut self) -> ProgramError {
        let cause = self.command.exec();
        self.start_error(cause)
    }

    pub(crate) fn spawn(&mut self) -> Result<Child, ProgramError> {
        self.command
            .stdin(match self.stdin {
                Some(_) => Stdio::piped(),
                None if self.inherits_stdin => Stdio::inherit(),
                None => Stdio::null(),
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        self.command.spawn().map_err(|cause| self.start_error(cause))
    }

    /// With pipes to its stdin and from its stdout, and this process's stderr.
    pub(crate) fn spawn_with_pipes(&mut self) -> Result<Child, ProgramError> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).process_group(0);
        self.command.spawn().map_err(|cause| self.start_error(cause))
    }

    fn start_error(&self, cause: io::Error) -> ProgramError {
        let program = self.command.get_program().to_string_lossy().into_owned();
        ProgramError::Start { program, folder: self.command.get_current_dir().map(Path::to_owned), cause }
    }
}
