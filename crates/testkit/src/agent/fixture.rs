//! A home, a repository and a scripted model for a client that another program starts. That program can be watched,
//! interrupted, and checked for what it left.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use super::{LIMIT, PATIENCE, Place, TestClient, claude_code, codex};
use crate::clients::InstalledClients;
use crate::leftover_processes;
use crate::model::ScriptedModel;
use crate::process::{FinishedProgram, Group};
use crate::script::ScriptStep;

/// A client's home, repository and model.
pub struct ClientFixture {
    pub model: ScriptedModel,
    agent: TestClient,
    clients: InstalledClients,
    folder: TempDir,
    place: Place,
}

/// A running program. Dropping it kills it.
pub struct FixtureRun<'a> {
    fixture: &'a ClientFixture,
    group: Group,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl TestClient {
    /// Prepares a fixture for the client. Its model plays `script` with tools of the MCP server `server`.
    ///
    /// For Claude Code and Codex, which `tamis run` starts.
    pub fn fixture(self, clients: InstalledClients, server: &str, script: Vec<ScriptStep>) -> ClientFixture {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = Place::new(folder.path());
        let name = server.to_owned();
        let model = ScriptedModel::start(self.wire(), move |tool| self.tool_name(&name, tool), script);
        if self == Self::Codex {
            place.write_home(".codex/config.toml", &codex::model_settings(&model.url()));
        }
        ClientFixture { model, agent: self, clients, folder, place }
    }
}

impl ClientFixture {
    /// The repository that the client works in.
    pub fn work(&self) -> &Path {
        &self.place.work
    }

    /// A folder for the program's own data. It does not exist yet.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// `program` in the repository, with the client on its PATH and without this machine's settings.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = self.clients.beside_tools(program, &self.place.home);
        command.env("TAMIS_DATA_DIR", self.data()).current_dir(self.work());
        match self.agent {
            TestClient::ClaudeCode => command.envs(claude_code::environment(&self.model.url())),
            TestClient::Codex => command.env(codex::MODEL_KEY.0, codex::MODEL_KEY.1),
            TestClient::GeminiCli | TestClient::OpenCode => panic!("{:?} has no fixture", self.agent),
        };
        command
    }

    /// Starts a command in a process group of its own, with empty standard input.
    pub fn start(&self, mut command: Command) -> FixtureRun<'_> {
        // Files, not pipes: a process that escapes could hold a pipe open and block the reader forever.
        let [stdout, stderr] = ["stdout", "stderr"].map(|name| self.folder.path().join(name));
        command.stdin(Stdio::null());
        command.stdout(File::create(&stdout).expect("a file"));
        command.stderr(File::create(&stderr).expect("a file"));
        FixtureRun { fixture: self, group: Group::spawn(&mut command), stdout, stderr }
    }

    /// Runs a command to its end: its output, and the command lines of the processes that it left.
    pub fn run(&self, command: Command) -> (FinishedProgram, Vec<String>) {
        self.start(command).finish()
    }
}

impl FixtureRun<'_> {
    /// Waits until the program has written this to stderr.
    pub fn expect_on_stderr(&self, words: &str) {
        let deadline = Instant::now() + LIMIT;
        loop {
            // Opened by its path, so that the program's file position does not move.
            let bytes = fs::read(&self.stderr).unwrap_or_default();
            let stderr = String::from_utf8_lossy(&bytes);
            if stderr.contains(words) {
                return;
            }
            assert!(Instant::now() < deadline, "{words:?} is not in {stderr}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// SIGTERM, as from a service manager.
    pub fn terminate(&self) {
        self.group.signal(Signal::TERM);
    }

    /// SIGINT, as from the terminal.
    pub fn interrupt(&self) {
        self.group.signal(Signal::INT);
    }

    /// SIGKILL, which cannot be handled.
    pub fn kill(&self) {
        self.group.signal(Signal::KILL);
    }

    /// Waits for the end: the program's output, and the command lines of the processes that it left, which are killed.
    pub fn finish(self) -> (FinishedProgram, Vec<String>) {
        let status = self.group.wait(LIMIT);
        if status.is_none() {
            self.group.signal(Signal::KILL);
        }
        let left_behind = leftover_processes::end_all(self.fixture.folder.path(), PATIENCE);
        let [stdout, stderr] = [&self.stdout, &self.stderr].map(|path| {
            let bytes = fs::read(path).expect("a readable file");
            String::from_utf8_lossy(&bytes).into_owned()
        });
        (FinishedProgram { status, stdout, stderr }, left_behind)
    }
}
