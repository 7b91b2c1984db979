//! The programs that tamis can be connected to, and where and how each is configured.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tamis_clients::find_program;

use crate::document::Format;

/// A program that starts MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupClient {
    ClaudeCode,
    Codex,
    Gemini,
    OpenCode,
    Cursor,
    VsCode,
    Zed,
    LmStudio,
}

/// Where an entry applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupScope {
    /// In all folders of this user.
    User,
    /// In one project, for everyone who works on it.
    Project,
}

/// What files and programs are looked for in.
pub struct SetupEnvironment {
    pub home: PathBuf,
    pub project: PathBuf,
    pub variables: BTreeMap<String, OsString>,
}

impl SetupEnvironment {
    fn folder(&self, variable: &str) -> Option<PathBuf> {
        self.variables.get(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// The folder of configurations, by the XDG specification.
    fn config_home(&self) -> PathBuf {
        self.folder("XDG_CONFIG_HOME").unwrap_or_else(|| self.home.join(".config"))
    }
}

/// A client's configuration file, and where MCP servers are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerFile {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    /// The key that holds all servers by name.
    pub(crate) servers: &'static str,
}

impl SetupClient {
    pub const ALL: &'static [SetupClient] = &[
        SetupClient::ClaudeCode,
        SetupClient::Codex,
        SetupClient::Gemini,
        SetupClient::OpenCode,
        SetupClient::Cursor,
        SetupClient::VsCode,
        SetupClient::Zed,
        SetupClient::LmStudio,
    ];

    /// As users name it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SetupClient::ClaudeCode => "claude",
            SetupClient::Codex => "codex",
            SetupClient::Gemini => "gemini",
            SetupClient::OpenCode => "opencode",
            SetupClient::Cursor => "cursor",
            SetupClient::VsCode => "vscode",
            SetupClient::Zed => "zed",
            SetupClient::LmStudio => "lmstudio",
        }
    }

    pub fn display_name(self) -> &'static str {
        match self {
            SetupClient::ClaudeCode => "Claude Code",
            SetupClient::Codex => "Codex",
            SetupClient::Gemini => "Gemini CLI",
            SetupClient::OpenCode => "OpenCode",
            SetupClient::Cursor => "Cursor",
            SetupClient::VsCode => "VS Code",
            SetupClient::Zed => "Zed",
            SetupClient::LmStudio => "LM Studio",
        }
    }

    pub fn named(name: &str) -> Option<SetupClient> {
        SetupClient::ALL.iter().copied().find(|client| client.name() == name)
    }

    /// What else the user must do before the client uses the entry.
    pub fn advice(self, scope: SetupScope) -> Option<&'static str> {
        match (self, scope) {
            (SetupClient::ClaudeCode, SetupScope::Project) => {
                Some("Claude Code asks once before it uses a project's servers")
            }
            (SetupClient::Codex, SetupScope::Project) => {
                Some("Codex reads a project's configuration only once you trust the project")
            }
            (SetupClient::Gemini, _) => Some("Gemini CLI starts servers only in folders that you trust"),
            (SetupClient::VsCode, _) => Some("VS Code asks once before it starts the server"),
            _ => None,
        }
    }

    /// Whether it is installed: its program is on PATH, or its folder of settings exists.
    pub fn is_installed(self, environment: &SetupEnvironment) -> bool {
        let programs: &[&str] = match self {
            SetupClient::ClaudeCode => &["claude"],
            SetupClient::Codex => &["codex"],
            SetupClient::Gemini => &["gemini"],
            SetupClient::OpenCode => &["opencode"],
            SetupClient::Cursor => &["cursor", "cursor-agent"],
            SetupClient::VsCode => &["code"],
            SetupClient::Zed => &["zed", "zeditor"],
            SetupClient::LmStudio => &["lms"],
        };
        let path = environment.variables.get("PATH");
        programs.iter().any(|name| find_program(name, path.map(OsString::as_os_str)).is_some())
            || self.settings_folder(environment).is_dir()
    }

    /// The folder that the client creates when it first runs.
    fn settings_folder(self, environment: &SetupEnvironment) -> PathBuf {
        let under_home = |folder: &str| environment.home.join(folder);
        match self {
            SetupClient::ClaudeCode => {
                environment.folder("CLAUDE_CONFIG_DIR").unwrap_or_else(|| under_home(".claude"))
            }
            SetupClient::Codex => environment.folder("CODEX_HOME").unwrap_or_else(|| under_home(".codex")),
            SetupClient::Gemini => environment
                .folder("GEMINI_CLI_HOME")
                .unwrap_or_else(|| environment.home.clone())
                .join(".gemini"),
            SetupClient::OpenCode => environment.config_home().join("opencode"),
            SetupClient::Cursor => under_home(".cursor"),
            SetupClient::VsCode if cfg!(target_os = "macos") => {
                under_home("Library/Application Support/Code/User")
            }
            SetupClient::VsCode => environment.config_home().join("Code/User"),
            SetupClient::Zed if cfg!(target_os = "macos") => under_home(".config/zed"),
            SetupClient::Zed => environment.config_home().join("zed"),
            // The folder of versions before it moved is used as long as only that one exists.
            SetupClient::LmStudio => [".lmstudio", ".cache/lm-studio"]
                .map(under_home)
                .into_iter()
                .find(|folder| folder.is_dir())
                .unwrap_or_else(|| under_home(".lmstudio")),
        }
    }

    /// Its configuration file for this scope; none if it has no such scope.
    pub(crate) fn server_file(self, scope: SetupScope, environment: &SetupEnvironment) -> Option<ServerFile> {
        let folder = || self.settings_folder(environment);
        let project = |path: &str| environment.project.join(path);
        let json = |path: PathBuf, servers| ServerFile { path, format: Format::Json, servers };
        Some(match (self, scope) {
            // The user's servers are not among the settings, but beside the folder; in it, if a variable names the folder.
            (SetupClient::ClaudeCode, SetupScope::User) => {
                let folder =
                    environment.folder("CLAUDE_CONFIG_DIR").unwrap_or_else(|| environment.home.clone());
                json(folder.join(".claude.json"), "mcpServers")
            }
            (SetupClient::ClaudeCode, SetupScope::Project) => json(project(".mcp.json"), "mcpServers"),
            (SetupClient::Codex, scope) => ServerFile {
                path: match scope {
                    SetupScope::User => folder().join("config.toml"),
                    SetupScope::Project => project(".codex/config.toml"),
                },
                format: Format::Toml,
                servers: "mcp_servers",
            },
            (SetupClient::Gemini, SetupScope::User) => json(folder().join("settings.json"), "mcpServers"),
            (SetupClient::Gemini, SetupScope::Project) => {
                json(project(".gemini/settings.json"), "mcpServers")
            }
            (SetupClient::OpenCode, SetupScope::User) => json(existing(&folder(), "opencode"), "mcp"),
            (SetupClient::OpenCode, SetupScope::Project) => {
                json(existing(&environment.project, "opencode"), "mcp")
            }
            (SetupClient::Cursor, SetupScope::User) => json(folder().join("mcp.json"), "mcpServers"),
            (SetupClient::Cursor, SetupScope::Project) => json(project(".cursor/mcp.json"), "mcpServers"),
            (SetupClient::VsCode, SetupScope::User) => json(folder().join("mcp.json"), "servers"),
            (SetupClient::VsCode, SetupScope::Project) => json(project(".vscode/mcp.json"), "servers"),
            (SetupClient::Zed, SetupScope::User) => json(folder().join("settings.json"), "context_servers"),
            (SetupClient::Zed, SetupScope::Project) => json(project(".zed/settings.json"), "context_servers"),
            (SetupClient::LmStudio, SetupScope::User) => json(folder().join("mcp.json"), "mcpServers"),
            (SetupClient::LmStudio, SetupScope::Project) => return None,
        })
    }

    /// The entry of a server that is started with this command, in the order in which it is written.
    pub(crate) fn server_entry(self, command: &str, arguments: &[&str]) -> Vec<(String, Value)> {
        let (kind, command, arguments) = match self {
            SetupClient::ClaudeCode | SetupClient::VsCode => {
                (Some(("type", "stdio")), json!(command), Some(arguments))
            }
            SetupClient::OpenCode => {
                let words: Vec<_> = [command].iter().chain(arguments).copied().collect();
                (Some(("type", "local")), json!(words), None)
            }
            // Versions before 2026 read an entry only with its source.
            SetupClient::Zed => (Some(("source", "custom")), json!(command), Some(arguments)),
            SetupClient::Codex | SetupClient::Gemini | SetupClient::Cursor | SetupClient::LmStudio => {
                (None, json!(command), Some(arguments))
            }
        };
        let kind = kind.map(|(key, value)| (key, json!(value)));
        let arguments = arguments.map(|arguments| ("args", json!(arguments)));
        let fields = kind.into_iter().chain([("command", command)]).chain(arguments);
        fields.map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// `NAME.jsonc` if only that one exists, otherwise `NAME.json`.
fn existing(folder: &Path, name: &str) -> PathBuf {
    let [json, jsonc] = ["json", "jsonc"].map(|extension| folder.join(format!("{name}.{extension}")));
    if !json.exists() && jsonc.exists() { jsonc } else { json }
}
