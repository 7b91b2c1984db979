//! The `git` program on repositories that may be hostile: no program of the repository runs, and no uncommitted byte is lost.
//!
//! A repository is not trusted. git never reads its configuration: tamis does, keeps what an allow-list knows to be harmless
//! (`keys`), and starts git on a private copy of that (`view`). Hooks do not run, not even those of a local remote. The user's own
//! configuration applies, so that git-lfs works where it is installed for the user.
//!
//! Entry points: [`Git`] is how git runs, [`Repository::find`] the start of everything else; [`Worktree`] for worktrees,
//! review notes and undo references; [`BranchName`] and [`Commit`] are valid wherever there is one.
//!
//! Never: a merge of contents (only a file of notes is ever brought to a branch), a forced push, a change to a file that the
//! user changed. Files change in two ways: a new worktree is filled, and a branch is fast-forwarded where it is checked out.

mod address;
mod branches;
mod changes;
mod config;
mod discovery;
mod disposal;
mod error;
mod failure;
mod keys;
mod locks;
mod names;
mod notes;
mod patch;
mod push;
mod repository;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;
mod trees;
mod trust;
mod view;
mod worktrees;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tamis_process::{Program, ProgramError};
use tamis_store::create_private_dir;

use error::Result;

pub use changes::ChangeSummary;
pub use disposal::{Reason, few};
pub use error::{GitError, GitErrorKind};
pub use names::{BranchName, Commit};
pub use notes::{Delivery, Notes, ReviewNote};
pub use patch::{FilePatch, Patch, PatchHunk, PatchKind, PatchLine};
pub use push::Credential;
pub use repository::{Head, Remote, Repository};
pub use worktrees::{Removal, Worktree};

#[cfg(test)]
use {
    push::Pushed,
    state::{CheckedOut, GitOperation},
    worktrees::Removed,
};

/// Long for a disk and for a network.
const LIMIT: Duration = Duration::from_secs(120);

/// A list of all the files of a very large repository is a tenth of it.
const MAX_OUTPUT: usize = 64 << 20;
/// More of git's messages is not read.
const MAX_STDERR: usize = 1 << 20;

/// How long to wait for another git that holds a lock, in total and each time (in milliseconds).
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
const LOCK_PAUSES: [u64; 6] = [5, 10, 25, 50, 100, 200];
const LONGEST_LOCK_PAUSE: Duration = Duration::from_millis(250);

/// How git is run: the program, its time limit, its environment, and the folder of temporary files.
#[derive(Clone, Debug)]
pub struct Git {
    program: OsString,
    limit: Duration,
    deadline: Option<Instant>,
    scratch: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl Git {
    /// `scratch` is a folder for temporary files, created at need.
    pub fn new(scratch: impl Into<PathBuf>) -> Git {
        Git {
            program: "git".into(),
            limit: LIMIT,
            deadline: None,
            scratch: scratch.into(),
            environment: Vec::new(),
        }
    }

    #[cfg(test)]
    pub fn with_program(mut self, program: impl Into<OsString>) -> Git {
        self.program = program.into();
        self
    }

    /// The time limit of one call, up to the maximum.
    pub fn with_limit(mut self, limit: Duration) -> Git {
        self.limit = limit.min(LIMIT);
        self
    }

    /// The same git for a caller that waits until then.
    pub fn until(&self, deadline: Instant) -> Git {
        Git { deadline: Some(deadline), ..self.clone() }
    }

    /// The time limit of the next call.
    fn time_left(&self) -> Duration {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        left.map_or(self.limit, |left| left.min(self.limit))
    }

    /// A variable that each git gets besides those of our environment that it inherits.
    #[cfg(test)]
    pub fn with_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Git {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Removes what a process that was killed left in the scratch folder. No other git may be at work there.
    pub fn clear_scratch(&self) -> Result<()> {
        match std::fs::remove_dir_all(&self.scratch) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(GitError::file("remove", &self.scratch, &error))
            }
            _ => Ok(()),
        }
    }

    /// A new path in the scratch folder.
    fn scratch_path(&self, what: &str) -> Result<PathBuf> {
        create_private_dir(&self.scratch)
            .map_err(|error| GitError::file("make the folder", &self.scratch, &error))?;
        let mut random = [0; 8];
        getrandom::fill(&mut random)
            .map_err(|error| GitError::new(GitErrorKind::Failed, format!("no random bytes: {error}")))?;
        Ok(self.scratch.join(format!("{what}-{:016x}", u64::from_ne_bytes(random))))
    }

    /// A file name for a temporary index, and a folder that has it.
    fn scratch_file(&self, what: &str) -> Result<ScratchFile> {
        self.scratch_path(what).map(ScratchFile)
    }

    /// The folders of other users that this one trusts: `safe.directory` of the user's own configuration.
    fn safe_directories(&self) -> Result<Vec<String>> {
        create_private_dir(&self.scratch)
            .map_err(|error| GitError::file("make the folder", &self.scratch, &error))?;
        let mut folders = Vec::new();
        for scope in ["--system", "--global"] {
            let answer = self
                .at(&self.scratch, None, Path::new("/dev/null"))
                .args(["config", scope, "--includes", "--type=path", "--null", "--get-all", "safe.directory"])
                .answer()?;
            folders.extend(
                answer.stdout.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned()),
            );
            folders.pop();
        }
        Ok(folders)
    }

    /// A call in a folder. `git_dir` is what belongs to the folder, `common_dir` what has the configuration.
    fn at(&self, folder: &Path, git_dir: Option<&Path>, common_dir: &Path) -> Call<'_> {
        Call {
            git: self,
            folder: folder.to_owned(),
            git_dir: git_dir.map(Path::to_owned),
            common_dir: common_dir.to_owned(),
            has_files: true,
            arguments: Vec::new(),
            variables: Vec::new(),
            settings: Vec::new(),
            stdin: None,
            intent: Intent::Reads,
        }
    }
}

/// A temporary file, removed when dropped.
#[derive(Debug)]
struct ScratchFile(PathBuf);

impl Drop for ScratchFile {
    fn drop(&mut self) {
        // It may never have been made, and a killed git may have left its lock.
        let _ = std::fs::remove_file(&self.0);
        let mut lock = self.0.clone().into_os_string();
        lock.push(".lock");
        let _ = std::fs::remove_file(lock);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Intent {
    /// Takes no lock, not even to note what it found about the files.
    Reads,
    Writes,
    /// Pushes: the remote takes all of it or nothing.
    Sends,
}

/// One call of git, in a folder of a repository.
#[derive(Debug)]
struct Call<'a> {
    git: &'a Git,
    folder: PathBuf,
    /// None for a call that is in no repository.
    git_dir: Option<PathBuf>,
    common_dir: PathBuf,
    has_files: bool,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    settings: Vec<(&'static str, &'static str)>,
    stdin: Option<Vec<u8>>,
    intent: Intent,
}

/// What git wrote, and its exit code.
#[derive(Debug)]
struct Answer {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
}

impl Answer {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches('\n').to_owned()
    }

    /// The parts of an answer to a call with `-z`.
    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.stdout.split(|byte| *byte == 0).filter(|part| !part.is_empty())
    }
}

impl Call<'_> {
    fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.into(), value.as_ref().to_owned()));
        self
    }

    fn setting(mut self, key: &'static str, value: &'static str) -> Self {
        self.settings.push((key, value));
        self
    }

    fn writes(mut self) -> Self {
        self.intent = Intent::Writes;
        self
    }

    fn sends(mut self) -> Self {
        self.intent = Intent::Sends;
        self
    }

    /// With another private configuration.
    fn with_view(mut self, view: &view::View) -> Self {
        self.common_dir = view.path().to_owned();
        self
    }

    /// In the folder of a repository itself.
    fn without_files(mut self) -> Self {
        self.has_files = false;
        self
    }

    /// Runs it; every exit code but 0 is a failure.
    fn run(self) -> Result<Answer> {
        let call = self.verb();
        let answer = self.answer()?;
        if answer.code == Some(0) { Ok(answer) } else { Err(failure::of(&call, &answer.stderr, answer.code)) }
    }

    /// Runs it for an exit code of 0 or 1.
    fn succeeds(self) -> Result<bool> {
        let call = self.verb();
        let answer = self.answer()?;
        match answer.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            code => Err(failure::of(&call, &answer.stderr, code)),
        }
    }

    /// Runs it, whatever its exit code. A lock is waited for, and is a failure when it stays.
    fn answer(self) -> Result<Answer> {
        let begun = Instant::now();
        let mut pauses = LOCK_PAUSES.into_iter();
        loop {
            let answer = self.once()?;
            if answer.code == Some(0) || failure::lock_file(&answer.stderr).is_none() {
                return Ok(answer);
            }
            if begun.elapsed() > LOCK_PATIENCE || self.git.time_left() < LONGEST_LOCK_PAUSE {
                return Err(failure::of(&self.verb(), &answer.stderr, answer.code));
            }
            std::thread::sleep(pauses.next().map_or(LONGEST_LOCK_PAUSE, Duration::from_millis));
        }
    }

    fn verb(&self) -> String {
        let words = self.arguments.iter().take(2).map(|word| word.to_string_lossy());
        let words: Vec<_> =
            words.enumerate().filter(|(at, word)| *at == 0 || !word.starts_with('-')).collect();
        match words.as_slice() {
            [(_, verb), (_, object)] if verb == "worktree" => format!("git worktree {object}"),
            [(_, verb), ..] => format!("git {verb}"),
            [] => "git".to_owned(),
        }
    }

    fn once(&self) -> Result<Answer> {
        if !self.folder.is_dir() {
            return Err(GitError::new(
                GitErrorKind::Failed,
                format!("folder `{}` does not exist", self.folder.display()),
            ));
        }
        let mut program = Program::new(&self.git.program)
            .args(&self.arguments)
            .folder(&self.folder)
            .inherit_env(trust::is_inherited)
            .envs(trust::VARIABLES.iter().copied())
            .env("GIT_DIR", self.git_dir.as_deref().unwrap_or(Path::new("/dev/null")))
            .env("GIT_COMMON_DIR", &self.common_dir);
        if self.has_files {
            program = program.env("GIT_WORK_TREE", &self.folder);
        }
        if self.intent == Intent::Reads {
            program = program.env("GIT_OPTIONAL_LOCKS", "0");
        }
        program = program
            .envs(self.git.environment.iter().map(|(name, value)| (name, value)))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (number, (key, value)) in self.settings.iter().enumerate() {
            program = program
                .env(format!("GIT_CONFIG_KEY_{number}"), key)
                .env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        if let Some(bytes) = &self.stdin {
            program = program.stdin(bytes.clone());
        }
        // Half a change would have to be repaired, so one that has begun is not ended because its caller waits no longer.
        let limit = if self.intent == Intent::Writes { self.git.limit } else { self.git.time_left() };
        let output = program.time_limit(limit).max_output(MAX_OUTPUT).max_stderr(MAX_STDERR).run();
        let output = output.map_err(|error| match error {
            ProgramError::Start { cause, .. } if cause.kind() == std::io::ErrorKind::NotFound => {
                GitError::new(GitErrorKind::Failed, format!("cannot find program {:?}", self.git.program))
                    .hint("install git, and check that `git --version` works")
            }
            ProgramError::TimedOut { .. } => GitError::new(
                GitErrorKind::TimedOut,
                format!("{} took longer than {:.1} s and was ended", self.verb(), limit.as_secs_f32()),
            ),
            ProgramError::TooMuchOutput { .. } => {
                GitError::new(GitErrorKind::TooMuchOutput, format!("{} wrote too much output", self.verb()))
            }
            ProgramError::Start { cause: error, .. } | ProgramError::Output { cause: error } => {
                GitError::new(GitErrorKind::Failed, format!("cannot start {}: {error}", self.verb()))
            }
            // Nothing cancels a blocking run.
            ProgramError::Cancelled { .. } => {
                GitError::new(GitErrorKind::Failed, format!("{} was cancelled", self.verb()))
            }
        })?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok(Answer { code: output.code(), stdout: output.stdout, stderr })
    }
}

/// For the fuzz target `git_config`.
#[cfg(fuzzing)]
pub mod fuzzing {
    use crate::address::RemoteAddress;
    use crate::config::{ConfigEntry, parse, render};

    /// What is kept of a configuration file, as git would read it; none when it is refused.
    pub fn kept(bytes: &[u8]) -> Option<Vec<u8>> {
        let entries = parse(bytes).ok()?;
        Some(render(entries.iter().filter(|entry| ConfigEntry::is_kept(entry))))
    }

    /// Judges the address of a remote.
    pub fn judge_address(url: &str) {
        let _ = RemoteAddress::parse(url);
    }
}
