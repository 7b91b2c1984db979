//! The real clients, run without a user: one prompt, a scripted model, one MCP server over stdio.
//!
//! What is specific to one client (its settings, flags and tool names) is in a module of its own.

pub(crate) mod claude_code;
pub(crate) mod codex;
mod fixture;
pub(crate) mod gemini_cli;
mod open_code;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

pub use fixture::{ClientFixture, FixtureRun};

use crate::clients::InstalledClients;
use crate::leftover_processes;
use crate::model::{ModelRequest, ScriptedModel};
use crate::process::{FinishedProgram, run_bounded, run_bounded_then};
use crate::script::{ScriptStep, ToolResult};
use crate::wire::{ToolName, Wire};

/// How long a client may take for a whole run; alone on two cores none needs a tenth of it.
const LIMIT: Duration = Duration::from_secs(180);

/// How long the MCP server may outlive its client.
const PATIENCE: Duration = Duration::from_secs(5);

/// The prompt of every run.
pub const PROMPT: &str = "Follow the script.";

/// A coding agent program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestClient {
    ClaudeCode,
    Codex,
    GeminiCli,
    OpenCode,
}

/// An MCP server that a client starts.
#[derive(Clone, Debug)]
pub struct StdioServer {
    /// The name in the client's settings, from which it makes the names of tools.
    pub name: String,
    pub command: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
}

/// The result of a run.
#[derive(Debug)]
pub struct TestClientRun {
    pub finished: FinishedProgram,
    /// Every request that the model received.
    pub requests: Vec<ModelRequest>,
    /// The results of the script's calls, as the model got them.
    pub results: Vec<ToolResult>,
    /// The panic of a step of the script, if any.
    pub failure: Option<String>,
    /// The command lines of processes that outlived the client and were killed.
    pub left_behind: Vec<String>,
    offered: Vec<ToolName>,
    home: ClientHome,
}

/// Where an agent lives: a home, a repository and the data folder of its server. It may be furnished before a run, and
/// the next run finds what the last one left.
#[derive(Debug)]
pub struct ClientHome {
    folder: TempDir,
    place: Place,
}

/// What the command of a client is made from.
struct Setup<'a> {
    clients: &'a InstalledClients,
    place: &'a Place,
    server: &'a StdioServer,
    /// The address of its model.
    model: &'a str,
}

/// The folders of one run.
#[derive(Debug)]
struct Place {
    home: PathBuf,
    work: PathBuf,
}

impl TestClient {
    /// Runs the agent in a new home until its model has played the script. The server gets a data folder of its own.
    pub fn run(
        self,
        clients: &InstalledClients,
        server: &StdioServer,
        script: Vec<ScriptStep>,
    ) -> TestClientRun {
        self.run_in(ClientHome::new(), clients, server, script)
    }

    /// The same with the client's own tools, after `prepare` has changed the settings in its home, and how it is started. The
    /// client, and so its hooks, have the data folder of the server. The model reports tokens by the size of requests. Claude Code uses no tools but those that it is allowed to.
    pub fn run_with_own_tools(
        self,
        home: ClientHome,
        clients: &InstalledClients,
        server: &StdioServer,
        script: Vec<ScriptStep>,
        prepare: impl FnOnce(&ClientHome, &mut Command),
    ) -> TestClientRun {
        let allow = |home: &ClientHome, command: &mut Command| {
            command.env("TAMIS_DATA_DIR", home.data_folder());
            prepare(home, command);
            // No user is there to trust its hooks.
            if self == Self::Codex {
                command.arg("--dangerously-bypass-hook-trust");
            }
        };
        self.run_prepared(home, clients, server, script, true, allow)
    }

    /// The same in a home that may have seen something before.
    pub fn run_in(
        self,
        home: ClientHome,
        clients: &InstalledClients,
        server: &StdioServer,
        script: Vec<ScriptStep>,
    ) -> TestClientRun {
        self.run_prepared(home, clients, server, script, false, |_, _| {})
    }

    fn run_prepared(
        self,
        home: ClientHome,
        clients: &InstalledClients,
        server: &StdioServer,
        script: Vec<ScriptStep>,
        counts_tokens: bool,
        prepare: impl FnOnce(&ClientHome, &mut Command),
    ) -> TestClientRun {
        let ClientHome { folder, place } = &home;
        let mut server = server.clone();
        server.env.push(("TAMIS_DATA_DIR".to_owned(), path_text(&home.data_folder())));

        let name = server.name.clone();
        let model = ScriptedModel::start(self.wire(), move |tool| self.tool_name(&name, tool), script);
        if counts_tokens {
            model.count_tokens();
        }
        let setup = Setup { clients, place, server: &server, model: &model.url() };
        let mut command = match self {
            Self::ClaudeCode => claude_code::command(setup),
            Self::Codex => codex::command(setup),
            Self::GeminiCli => gemini_cli::command(setup),
            Self::OpenCode => open_code::command(setup),
        };
        command.current_dir(&place.work);
        prepare(&home, &mut command);
        let (finished, left_behind) =
            run_bounded_then(command, LIMIT, || leftover_processes::end_all(folder.path(), PATIENCE));
        TestClientRun {
            finished,
            requests: model.requests(),
            results: model.results(),
            failure: model.failure(),
            left_behind,
            offered: model.offered().into_iter().collect(),
            home,
        }
    }

    /// The wire format that the agent speaks with its model.
    pub fn wire(self) -> Wire {
        match self {
            Self::ClaudeCode => Wire::Anthropic,
            Self::Codex => Wire::Responses,
            Self::GeminiCli => Wire::Gemini,
            Self::OpenCode => Wire::Chat,
        }
    }

    /// How the agent spells a server's tool to its model.
    pub fn tool_name(self, server: &str, tool: &str) -> ToolName {
        match self {
            Self::ClaudeCode => ToolName::plain(format!("mcp__{server}__{tool}")),
            Self::Codex => ToolName { namespace: Some(format!("mcp__{server}")), name: tool.to_owned() },
            Self::GeminiCli => ToolName::plain(format!("mcp_{server}_{tool}")),
            Self::OpenCode => ToolName::plain(format!("{server}_{tool}")),
        }
    }
}

impl TestClientRun {
    /// The results, after checking that the whole script was played, that the client succeeded in time, and that its server
    /// ended with it.
    pub fn expect_results(&self, count: usize) -> &[ToolResult] {
        let played = self.failure.is_none() && self.results.len() == count;
        let ended =
            self.finished.status.is_some_and(|status| status.success()) && self.left_behind.is_empty();
        assert!(
            played && ended,
            "{} of {count} results; script: {:?}; {:?}; left behind: {:?}\ntools offered: {:#?}\nresults: {:#?}\n\
             stdout:\n{}\nstderr:\n{}",
            self.results.len(),
            self.failure,
            self.finished.status,
            self.left_behind,
            self.offered,
            self.results,
            self.finished.stdout,
            self.finished.stderr,
        );
        &self.results
    }

    /// The client's home, with the session logs that it wrote.
    pub fn home(&self) -> PathBuf {
        self.home.path().to_owned()
    }

    /// The repository that it worked in.
    pub fn project(&self) -> PathBuf {
        self.home.project().to_owned()
    }

    /// The home, for another run.
    pub fn into_home(self) -> ClientHome {
        self.home
    }
}

impl ClientHome {
    #[allow(clippy::new_without_default, reason = "it makes folders and a repository")]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = Place::new(folder.path());
        Self { folder, place }
    }

    /// The client's home folder.
    pub fn path(&self) -> &Path {
        &self.place.home
    }

    /// The repository that it works in.
    pub fn project(&self) -> &Path {
        &self.place.work
    }

    /// The data folder of its server.
    pub fn data_folder(&self) -> PathBuf {
        self.folder.path().join("data")
    }
}

impl Place {
    fn new(folder: &Path) -> Self {
        let place = Self { home: folder.join("home"), work: folder.join("work") };
        fs::create_dir(&place.home).expect("a home");
        // Clients ask for trust, or refuse to work, outside a repository.
        let mut git = Command::new("git");
        git.args(["init", "--quiet", "--initial-branch=main"]).arg(&place.work);
        // Without this machine's environment: GIT_DIR, which a hook sets, would create the repository elsewhere.
        git.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        git.env("HOME", &place.home).env("GIT_CONFIG_NOSYSTEM", "1");
        let initialised = run_bounded(git, LIMIT);
        assert_eq!(initialised.code(), Some(0), "git init: {}", initialised.stderr);
        place
    }

    /// Writes a settings file below the home, and returns its path.
    fn write_home(&self, name: &str, contents: &str) -> PathBuf {
        let path = self.home.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for settings");
        fs::write(&path, contents).expect("a file of settings");
        path
    }
}

impl StdioServer {
    fn command_text(&self) -> String {
        path_text(&self.command)
    }

    fn env_json(&self) -> serde_json::Value {
        self.env.iter().map(|(name, value)| (name.clone(), serde_json::json!(value))).collect()
    }
}

/// A path for a settings file, which can only contain text.
fn path_text(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_owned()
}
