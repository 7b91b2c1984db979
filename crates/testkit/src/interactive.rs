//! A home for clients in a terminal, set up as if they had been used before: they ask nothing at their start, and use models
//! on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::agent::{TestClient, claude_code, codex, gemini_cli};
use crate::clients::InstalledClients;
use crate::leftover_processes;

/// A home folder and its environment. Dropping it ends every process with the folder in its environment, tmux included.
pub struct InteractiveHome {
    folder: TempDir,
    home: PathBuf,
    environment: Vec<(String, String)>,
}

impl InteractiveHome {
    /// A home with the installed clients on its PATH, none of them set up yet.
    pub fn new(clients: &InstalledClients) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = folder.path().canonicalize().expect("a folder").join("home");
        fs::create_dir(&home).expect("a home");
        let environment = [
            ("HOME", home.to_str().expect("a path in UTF-8")),
            ("PATH", &clients.path()),
            ("LANG", "C.UTF-8"),
            ("SHELL", "/bin/sh"),
            ("TERM", "xterm-256color"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { folder, home, environment }
    }

    /// Sets `agent` up with its model at `model` and with trust in `repository`. Can be repeated; OpenCode is not supported.
    #[must_use]
    pub fn with(mut self, agent: TestClient, model: &str, repository: &Path) -> Self {
        match agent {
            TestClient::ClaudeCode => {
                let variables = claude_code::environment(model);
                let key = variables.iter().find(|(name, _)| *name == "ANTHROPIC_API_KEY").expect("a key").1;
                self.write(".claude.json", &claude_settings(key, repository).to_string());
                self.set(&variables);
            }
            TestClient::Codex => {
                self.write(".codex/config.toml", &codex::model_settings(model));
                self.set(&[codex::MODEL_KEY]);
            }
            TestClient::GeminiCli => {
                self.write(".gemini/settings.json", &gemini_cli::own_settings().to_string());
                self.set(&gemini_cli::environment(model));
            }
            // In a terminal it fetches packages first, and without a network does nothing else for minutes.
            TestClient::OpenCode => panic!("{agent:?} is not supported in a terminal"),
        }
        self
    }

    /// The home folder.
    pub fn path(&self) -> &Path {
        &self.home
    }

    /// A folder beside the home.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.home.with_file_name(name)
    }

    /// The whole environment of the clients, without this machine's.
    pub fn environment(&self) -> impl Iterator<Item = (&str, &str)> {
        self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    fn set(&mut self, variables: &[(&str, &str)]) {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.environment.extend(variables);
    }

    fn write(&self, name: &str, contents: &str) {
        let path = self.home.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for settings");
        fs::write(path, contents).expect("a file of settings");
    }
}

impl Drop for InteractiveHome {
    fn drop(&mut self) {
        leftover_processes::end_all(self.folder.path(), Duration::ZERO);
    }
}

/// Settings after a first start, with the key approved (by its last characters) and the repository and all its worktrees
/// trusted.
fn claude_settings(key: &str, repository: &Path) -> Value {
    let repository = repository.canonicalize().expect("a repository");
    let repository = repository.to_str().expect("a path in UTF-8");
    let end = &key[key.len().saturating_sub(20)..];
    json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [end], "rejected": []},
        "projects": {repository: {"hasTrustDialogAccepted": true}},
    })
}
