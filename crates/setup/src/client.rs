//! The programs that tamis can be connected to, and where and how each is configured.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tamis_clients::{Client, find_program};

use crate::document::{Entry, Format};
use crate::{files, hooks};

/// The name under which clients list the server.
pub(crate) const SERVER: &str = "tamis";
/// The arguments with which clients start the server.
const SERVER_ARGUMENTS: &[&str] = &["mcp"];

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

/// What is added to a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SetupPart {
    /// The MCP server, for what the agent asks tamis for.
    #[default]
    Mcp,
    /// The hooks, for what the client's own tools print.
    Hooks,
}

impl SetupPart {
    pub const ALL: &'static [SetupPart] = &[SetupPart::Mcp, SetupPart::Hooks];

    /// As users name it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SetupPart::Mcp => "mcp",
            SetupPart::Hooks => "hooks",
        }
    }
}

/// What files and programs are looked for in.
pub struct SetupEnvironment {
    pub home: PathBuf,
    pub project: PathBuf,
    /// The folder that clients are started in: the project or one below it.
    pub working_dir: PathBuf,
    pub variables: BTreeMap<String, OsString>,
}

impl SetupEnvironment {
    pub(crate) fn folder(&self, variable: &str) -> Option<PathBuf> {
        self.variables.get(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// The project, and the folders from there down to the one that clients are started in.
    pub(crate) fn project_folders(&self) -> Vec<PathBuf> {
        let below = self.working_dir.ancestors().take_while(|folder| *folder != self.project);
        let is_below = self.working_dir.starts_with(&self.project);
        let below = below.filter(|_| is_below).map(Path::to_owned);
        below.chain([self.project.clone()]).collect()
    }

    /// The folder of configurations, by the XDG specification.
    fn config_home(&self) -> PathBuf {
        self.folder("XDG_CONFIG_HOME").unwrap_or_else(|| self.home.join(".config"))
    }
}

/// A client's configuration file, and what is added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientFile {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) entries: Vec<(SetupPart, Entry)>,
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

    /// What else the user must do before the client uses what was added.
    pub fn advice(self, scope: SetupScope, part: SetupPart) -> Option<&'static str> {
        match (self, scope, part) {
            (SetupClient::ClaudeCode, SetupScope::Project, SetupPart::Mcp) => {
                Some("Claude Code asks once before it uses a project's servers")
            }
            (SetupClient::ClaudeCode, SetupScope::Project, SetupPart::Hooks) => {
                Some("Claude Code runs a project's hooks only once you trust the folder")
            }
            (SetupClient::Codex, _, SetupPart::Hooks) => {
                Some("Codex skips new hooks without a message: start `codex`, enter `/hooks` and trust them")
            }
            (SetupClient::Codex, SetupScope::Project, SetupPart::Mcp) => {
                Some("Codex reads a project's configuration only once you trust the project")
            }
            (SetupClient::Gemini, _, SetupPart::Mcp) => {
                Some("Gemini CLI starts servers only in folders that you trust")
            }
            (SetupClient::Gemini, SetupScope::Project, SetupPart::Hooks) => {
                Some("Gemini CLI runs a project's hooks only in folders that you trust")
            }
            (SetupClient::VsCode, ..) => Some("VS Code asks once before it starts the server"),
            _ => None,
        }
    }

    /// The client whose hooks tamis can use.
    pub fn hooked_client(self) -> Option<Client> {
        match self {
            SetupClient::ClaudeCode => Some(Client::ClaudeCode),
            SetupClient::Codex => Some(Client::Codex),
            SetupClient::Gemini => Some(Client::Gemini),
            SetupClient::OpenCode => Some(Client::OpenCode),
            SetupClient::Cursor | SetupClient::VsCode | SetupClient::Zed | SetupClient::LmStudio => None,
        }
    }

    /// The setting with which the user has switched off its hooks, and the file that it is in.
    pub fn disabled_hooks(self, environment: &SetupEnvironment) -> Option<(PathBuf, &'static str)> {
        let (file, folder, format, setting, off) = match self {
            SetupClient::ClaudeCode => ("settings.json", ".claude", Format::Json, "disableAllHooks", true),
            SetupClient::Gemini => ("settings.json", ".gemini", Format::Json, "hooksConfig.enabled", false),
            SetupClient::Codex => ("config.toml", ".codex", Format::Toml, "features.hooks", false),
            _ => return None,
        };
        let folders = [self.settings_folder(environment), environment.project.join(folder)];
        let keys: Vec<String> = setting.split('.').map(str::to_owned).collect();
        let path = folders.map(|folder| folder.join(file)).into_iter().find(|path| {
            let text = files::read(&files::resolve(path)).ok().flatten().unwrap_or_default();
            format.get(&text, &keys).ok().flatten() == Some(json!(off))
        })?;
        Some((path, setting))
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
    pub(crate) fn settings_folder(self, environment: &SetupEnvironment) -> PathBuf {
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

    /// The files that connect it to the program that `command` starts; none if it has no such scope.
    pub(crate) fn files(
        self,
        scope: SetupScope,
        parts: &[SetupPart],
        command: &str,
        environment: &SetupEnvironment,
    ) -> Vec<ClientFile> {
        let mut files: Vec<ClientFile> = Vec::new();
        for part in SetupPart::ALL.iter().filter(|part| parts.contains(part)) {
            let file = match part {
                SetupPart::Mcp => self.server_file(scope, command, environment),
                SetupPart::Hooks => self.hook_file(scope, command, environment),
            };
            let Some((path, format, entries)) = file else { continue };
            let entries = entries.into_iter().map(|entry| (*part, entry));
            match files.iter_mut().find(|file| file.path == path) {
                Some(file) => file.entries.extend(entries),
                None => files.push(ClientFile { path, format, entries: entries.collect() }),
            }
        }
        files
    }

    /// The file with its MCP servers, and tamis as one of them.
    pub(crate) fn server_file(
        self,
        scope: SetupScope,
        command: &str,
        environment: &SetupEnvironment,
    ) -> Option<(PathBuf, Format, Vec<Entry>)> {
        let folder = || self.settings_folder(environment);
        let project = |path: &str| environment.project.join(path);
        let (path, servers) = match (self, scope) {
            // The user's servers are not among the settings, but beside the folder; in it, if a variable names the folder.
            (SetupClient::ClaudeCode, SetupScope::User) => {
                let folder =
                    environment.folder("CLAUDE_CONFIG_DIR").unwrap_or_else(|| environment.home.clone());
                (folder.join(".claude.json"), "mcpServers")
            }
            (SetupClient::ClaudeCode, SetupScope::Project) => (project(".mcp.json"), "mcpServers"),
            (SetupClient::Codex, scope) => {
                (self.codex_folder(scope, environment).join("config.toml"), "mcp_servers")
            }
            (SetupClient::Gemini, SetupScope::User) => (folder().join("settings.json"), "mcpServers"),
            (SetupClient::Gemini, SetupScope::Project) => (project(".gemini/settings.json"), "mcpServers"),
            (SetupClient::OpenCode, SetupScope::User) => (existing(&folder(), "opencode"), "mcp"),
            (SetupClient::OpenCode, SetupScope::Project) => {
                (existing(&environment.project, "opencode"), "mcp")
            }
            (SetupClient::Cursor, SetupScope::User) => (folder().join("mcp.json"), "mcpServers"),
            (SetupClient::Cursor, SetupScope::Project) => (project(".cursor/mcp.json"), "mcpServers"),
            (SetupClient::VsCode, SetupScope::User) => (folder().join("mcp.json"), "servers"),
            (SetupClient::VsCode, SetupScope::Project) => (project(".vscode/mcp.json"), "servers"),
            (SetupClient::Zed, SetupScope::User) => (folder().join("settings.json"), "context_servers"),
            (SetupClient::Zed, SetupScope::Project) => (project(".zed/settings.json"), "context_servers"),
            (SetupClient::LmStudio, SetupScope::User) => (folder().join("mcp.json"), "mcpServers"),
            (SetupClient::LmStudio, SetupScope::Project) => return None,
        };
        let format = if self == SetupClient::Codex { Format::Toml } else { Format::Json };
        let entry = Entry {
            keys: vec![servers.to_owned(), SERVER.to_owned()],
            fields: self.server_entry(command, SERVER_ARGUMENTS),
            is_element: false,
        };
        Some((path, format, vec![entry]))
    }

    /// The file with its hooks, and those of tamis.
    pub(crate) fn hook_file(
        self,
        scope: SetupScope,
        command: &str,
        environment: &SetupEnvironment,
    ) -> Option<(PathBuf, Format, Vec<Entry>)> {
        let in_scope = |path: &str, name: &str| match scope {
            SetupScope::User => self.settings_folder(environment).join(name),
            SetupScope::Project => environment.project.join(path).join(name),
        };
        let (path, format) = match self {
            SetupClient::ClaudeCode => (in_scope(".claude", "settings.json"), Format::Json),
            SetupClient::Gemini => (in_scope(".gemini", "settings.json"), Format::Json),
            SetupClient::Codex => {
                let [file, config] = ["hooks.json", "config.toml"]
                    .map(|name| self.codex_folder(scope, environment).join(name));
                // Codex warns at every start if a folder has hooks in both files.
                let is_inline = !file.exists() && has_hooks(&config);
                if is_inline { (config, Format::Toml) } else { (file, Format::Json) }
            }
            SetupClient::OpenCode => {
                let path = in_scope(".opencode", "plugins").join("tamis.js");
                return Some((path, Format::Whole, vec![Entry::whole(hooks::opencode_plugin(command))]));
            }
            SetupClient::Cursor | SetupClient::VsCode | SetupClient::Zed | SetupClient::LmStudio => {
                return None;
            }
        };
        Some((path, format, hooks::entries(self.hooked_client()?, command)))
    }

    fn codex_folder(self, scope: SetupScope, environment: &SetupEnvironment) -> PathBuf {
        match scope {
            SetupScope::User => self.settings_folder(environment),
            SetupScope::Project => environment.project.join(".codex"),
        }
    }

    /// The entry of a server that is started with this command, in the order in which it is written.
    fn server_entry(self, command: &str, arguments: &[&str]) -> Vec<(String, Value)> {
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

/// Whether a configuration of Codex has hooks. What Codex stores about hooks of other files is in tables beside them.
fn has_hooks(config: &Path) -> bool {
    let text = files::read(&files::resolve(config)).ok().flatten().unwrap_or_default();
    let hooks = Format::Toml.get(&text, &["hooks".to_owned()]).ok().flatten();
    hooks.is_some_and(|hooks| hooks.as_object().is_some_and(|events| events.values().any(Value::is_array)))
}
