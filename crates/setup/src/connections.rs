//! What of tamis a client's configuration has now: in every scope that the client reads, whether `tamis setup`, the client's own
//! commands, a plugin or the user wrote it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use crate::client::SERVER;
use crate::document::{Format, runs_hook};
use crate::record::SetupRecord;
use crate::{Setup, SetupClient, SetupEnvironment, SetupError, SetupPart, SetupScope, files};

/// A place where a client starts `tamis mcp` or runs `tamis hook`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    pub scope: ConnectionScope,
    /// The file that says so.
    pub path: PathBuf,
    pub state: ConnectionState,
    /// Whether `tamis setup` wrote it.
    pub is_of_setup: bool,
    /// Whether it has the name that `tamis setup` would give it.
    pub is_named: bool,
    /// The command that removes it, or what to do.
    pub removal: String,
    /// When it was added, as far as is known.
    pub since: Option<SystemTime>,
}

/// Where a connection applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConnectionScope {
    /// For one user in one project.
    Local,
    User,
    Project,
    /// In what a plugin or an extension brings.
    Plugin,
}

/// Whether a client uses a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    Active,
    /// The user has switched it off.
    Off,
    /// The client skips it until the user trusts it.
    Untrusted,
    /// It has the name of tamis, and starts something else.
    Other,
}

/// A table or file that connections are looked for in.
struct Place {
    scope: ConnectionScope,
    path: PathBuf,
    format: Format,
    keys: Vec<String>,
}

impl Place {
    fn new(scope: ConnectionScope, path: PathBuf, keys: &[&str]) -> Place {
        let format =
            if path.extension().is_some_and(|name| name == "toml") { Format::Toml } else { Format::Json };
        Place { scope, path, format, keys: keys.iter().map(|key| (*key).to_owned()).collect() }
    }

    fn read(&self) -> Result<Option<Value>, SetupError> {
        let path = files::resolve(&self.path);
        let Some(text) = files::read(&path)? else { return Ok(None) };
        self.format.get(&text, &self.keys).map_err(|source| SetupError::Document { path, source })
    }
}

impl Setup {
    /// Every place in which the client has this part now. A file that cannot be read is an error beside the others.
    pub fn connections(&self, client: SetupClient, part: SetupPart) -> Vec<Result<Connection, SetupError>> {
        let mut found = match part {
            SetupPart::Mcp => self.servers(client),
            SetupPart::Hooks => self.hooks(client),
        };
        found.extend(self.plugin(client, part).transpose());
        found
    }

    fn servers(&self, client: SetupClient) -> Vec<Result<Connection, SetupError>> {
        let mut found = Vec::new();
        for place in server_places(client, &self.environment) {
            let servers = match place.read() {
                Ok(servers) => servers,
                Err(error) => {
                    found.push(Err(error));
                    continue;
                }
            };
            for (name, entry) in servers.iter().filter_map(Value::as_object).flatten() {
                let is_off = entry["enabled"] == false || entry["disabled"] == true;
                // `tamis serve` has an address instead of a command.
                let is_remote = ["url", "httpUrl", "serverUrl"].iter().any(|key| entry[*key].is_string());
                let is_named = name == SERVER;
                let state = match (starts_server(entry) || (is_named && is_remote), is_named) {
                    (true, _) if is_off => ConnectionState::Off,
                    (true, _) => ConnectionState::Active,
                    (false, true) => ConnectionState::Other,
                    (false, false) => continue,
                };
                let removal = server_removal(client, &place, name);
                let connection = self.connection(client, SetupPart::Mcp, &place, state, removal);
                found.push(Ok(Connection { is_named, ..connection }));
            }
        }
        found
    }

    fn hooks(&self, client: SetupClient) -> Vec<Result<Connection, SetupError>> {
        let mut found = Vec::new();
        for place in hook_places(client, &self.environment) {
            let runs = match place.format {
                Format::Whole => {
                    files::read(&place.path).map(|text| text.is_some_and(|text| is_module(&text)))
                }
                _ => place.read().map(|value| value.is_some_and(|value| runs_hook(&value, client.name()))),
            };
            match runs {
                Err(error) => found.push(Err(error)),
                Ok(false) => {}
                Ok(true) => {
                    let resolved = files::resolve(&place.path);
                    let is_trusted = self
                        .is_trusted(client, &[&place.path, &resolved].map(|path| path.display().to_string()));
                    let state = if is_trusted { ConnectionState::Active } else { ConnectionState::Untrusted };
                    let removal = format!("remove the hooks of tamis from {}", place.path.display());
                    found.push(Ok(self.connection(client, SetupPart::Hooks, &place, state, removal)));
                }
            }
        }
        found
    }

    fn connection(
        &self,
        client: SetupClient,
        part: SetupPart,
        place: &Place,
        state: ConnectionState,
        removal: String,
    ) -> Connection {
        let path = files::resolve(&place.path);
        let is_plain = matches!(place.scope, ConnectionScope::User | ConnectionScope::Project);
        let record = SetupRecord::load(&self.data, &path)
            .ok()
            .flatten()
            .filter(|record| is_plain && record.entries.iter().any(|written| written.part == part));
        let removal = match &record {
            Some(_) => format!("tamis setup {} --remove --only {}", client.name(), part.name()),
            None => removal,
        };
        let since = record.as_ref().and_then(|record| record.written_at(&self.data));
        Connection {
            scope: place.scope,
            path: place.path.clone(),
            state,
            is_of_setup: record.is_some(),
            is_named: false,
            removal,
            since,
        }
    }

    /// Whether the client runs these hooks. Codex stores a hash of each hook that the user trusts, under the name of its source.
    fn is_trusted(&self, client: SetupClient, sources: &[String]) -> bool {
        if client != SetupClient::Codex {
            return true;
        }
        let config = client.settings_folder(&self.environment).join("config.toml");
        let state = Place::new(ConnectionScope::User, config, &["hooks", "state"]).read().ok().flatten();
        state.iter().filter_map(Value::as_object).flatten().any(|(key, hook)| {
            hook["trusted_hash"].is_string()
                && sources
                    .iter()
                    .any(|source| key.strip_prefix(source.as_str()).is_some_and(|rest| rest.starts_with(':')))
        })
    }

    /// The plugin or extension of tamis, if the client has one that brings this part.
    fn plugin(&self, client: SetupClient, part: SetupPart) -> Result<Option<Connection>, SetupError> {
        let environment = &self.environment;
        let folder = client.settings_folder(environment);
        let plugin = |path: PathBuf, state, removal: String, installed: PathBuf| {
            let since = fs::metadata(installed).and_then(|about| about.modified()).ok();
            let scope = ConnectionScope::Plugin;
            Some(Connection { scope, path, state, is_of_setup: false, is_named: false, removal, since })
        };
        match client {
            SetupClient::ClaudeCode => {
                let installed = folder.join("plugins/installed_plugins.json");
                let place = Place::new(ConnectionScope::Plugin, installed.clone(), &["plugins"]);
                let plugins = place.read()?;
                let mut names =
                    plugins.iter().filter_map(Value::as_object).flat_map(|plugins| plugins.keys());
                let Some(name) = names.find(|name| is_plugin_name(name)) else { return Ok(None) };
                // The last of these files that names it decides.
                let mut enabled = None;
                for place in claude_settings(environment, "enabledPlugins") {
                    let named = place.read()?.and_then(|plugins| plugins.get(name).and_then(Value::as_bool));
                    enabled = named.map(|is_on| (is_on, place.scope, place.path)).or(enabled);
                }
                let Some((is_on, scope, path)) = enabled else { return Ok(None) };
                let scope = match scope {
                    ConnectionScope::Local => " --scope local",
                    ConnectionScope::Project => " --scope project",
                    ConnectionScope::User | ConnectionScope::Plugin => "",
                };
                let removal = format!("claude plugin uninstall {name}{scope}");
                let connection = plugin(path, ConnectionState::Active, removal, installed);
                Ok(connection.filter(|_| is_on))
            }
            SetupClient::Codex => {
                let path = folder.join("config.toml");
                let config =
                    Place::new(ConnectionScope::Plugin, path.clone(), &[]).read()?.unwrap_or_default();
                let plugins = config["plugins"].as_object();
                let mut named = plugins.into_iter().flatten().filter(|(name, _)| is_plugin_name(name));
                let Some((name, _)) = named.find(|(_, plugin)| plugin["enabled"] != false) else {
                    return Ok(None);
                };
                if config["features"]["plugins"] == false {
                    return Ok(None);
                }
                let is_trusted =
                    part == SetupPart::Mcp || self.is_trusted(client, std::slice::from_ref(name));
                let state = if is_trusted { ConnectionState::Active } else { ConnectionState::Untrusted };
                let (short, market) = name.split_once('@').unwrap_or((name.as_str(), name.as_str()));
                let installed = folder.join("plugins/cache").join(market).join(short);
                Ok(plugin(path, state, format!("codex plugin remove {name}"), installed))
            }
            SetupClient::Gemini => {
                let extensions = folder.join("extensions");
                let path = extensions.join(SERVER).join("gemini-extension.json");
                let enablement = extensions.join("extension-enablement.json");
                let place = Place::new(ConnectionScope::Plugin, enablement, &[SERVER, "overrides"]);
                if !path.exists()
                    || !is_extension_on(&place.read()?.unwrap_or_default(), &environment.working_dir)
                {
                    return Ok(None);
                }
                let removal = format!("gemini extensions uninstall {SERVER}");
                Ok(plugin(path.clone(), ConnectionState::Active, removal, path))
            }
            SetupClient::OpenCode if part == SetupPart::Hooks => {
                for place in opencode_files(environment, "plugin") {
                    let plugins = place.read()?.unwrap_or_default();
                    // A plugin with options is an array of its name and them.
                    let mut plugins = plugins.as_array().into_iter().flatten();
                    let name = |plugin: &Value| plugin.as_str().or(plugin[0].as_str()).map(str::to_owned);
                    if plugins.any(|plugin| name(plugin).is_some_and(|name| is_own_name(&name))) {
                        let removal = format!("remove tamis from `plugin` in {}", place.path.display());
                        return Ok(plugin(place.path.clone(), ConnectionState::Active, removal, place.path));
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

/// The tables with the servers of a client, in every scope.
fn server_places(client: SetupClient, environment: &SetupEnvironment) -> Vec<Place> {
    let mut places = Vec::new();
    let scopes = [(SetupScope::User, ConnectionScope::User), (SetupScope::Project, ConnectionScope::Project)];
    for (scope, at) in scopes {
        let Some((path, _, entries)) = client.server_file(scope, SERVER, environment) else { continue };
        let Some(table) = entries.first().and_then(|entry| entry.keys.first()) else { continue };
        if client == SetupClient::ClaudeCode && scope == SetupScope::User {
            for folder in environment.project_folders() {
                let folder = folder.display().to_string();
                let keys = ["projects", &folder, "mcpServers"];
                places.push(Place::new(ConnectionScope::Local, path.clone(), &keys));
            }
        }
        places.push(Place::new(at, path.clone(), &[table.as_str()]));
        if let (SetupScope::Project, Ok(name)) = (scope, path.strip_prefix(&environment.project)) {
            for folder in environment.project_folders() {
                places.push(Place::new(at, folder.join(name), &[table.as_str()]));
            }
        }
    }
    if client == SetupClient::OpenCode {
        places.extend(opencode_files(environment, "mcp"));
    }
    without_repeats(places)
}

/// The tables and modules with the hooks of a client, in every scope.
fn hook_places(client: SetupClient, environment: &SetupEnvironment) -> Vec<Place> {
    let folder = client.settings_folder(environment);
    let below = |name: &str, files: &[&str]| -> Vec<Place> {
        let own = files.iter().map(|file| (ConnectionScope::User, folder.join(file)));
        let mut places: Vec<_> = own.collect();
        for project in environment.project_folders() {
            places.extend(files.iter().map(|file| (ConnectionScope::Project, project.join(name).join(file))));
        }
        places.into_iter().map(|(scope, path)| Place::new(scope, path, &["hooks"])).collect()
    };
    without_repeats(match client {
        SetupClient::ClaudeCode => claude_settings(environment, "hooks"),
        SetupClient::Codex => below(".codex", &["hooks.json", "config.toml"]),
        SetupClient::Gemini => below(".gemini", &["settings.json"]),
        SetupClient::OpenCode => opencode_modules(environment),
        _ => Vec::new(),
    })
}

/// A table of Claude Code's settings; what a later file says overrides an earlier one.
fn claude_settings(environment: &SetupEnvironment, table: &str) -> Vec<Place> {
    let folder = SetupClient::ClaudeCode.settings_folder(environment);
    let mut places = vec![Place::new(ConnectionScope::User, folder.join("settings.json"), &[table])];
    for (scope, name) in
        [(ConnectionScope::Project, "settings.json"), (ConnectionScope::Local, "settings.local.json")]
    {
        for project in environment.project_folders().iter().rev() {
            places.push(Place::new(scope, project.join(".claude").join(name), &[table]));
        }
    }
    without_repeats(places)
}

/// The folders that OpenCode reads modules and files of settings from.
fn opencode_folders(environment: &SetupEnvironment) -> Vec<(ConnectionScope, PathBuf)> {
    let user = [
        Some(SetupClient::OpenCode.settings_folder(environment)),
        Some(environment.home.join(".opencode")),
        environment.folder("OPENCODE_CONFIG_DIR"),
    ];
    let user = user.into_iter().flatten().map(|folder| (ConnectionScope::User, folder));
    let projects = environment.project_folders().into_iter();
    user.chain(projects.map(|folder| (ConnectionScope::Project, folder.join(".opencode")))).collect()
}

/// A table in all files of settings that OpenCode merges.
fn opencode_files(environment: &SetupEnvironment, table: &str) -> Vec<Place> {
    let mut folders = opencode_folders(environment);
    folders
        .extend(environment.project_folders().into_iter().map(|folder| (ConnectionScope::Project, folder)));
    let names = ["config.json", "opencode.json", "opencode.jsonc"];
    let in_folders = folders.iter().flat_map(|(scope, folder)| {
        // Projects have no file of the first name.
        let names = if *scope == ConnectionScope::User { &names[..] } else { &names[1..] };
        names.iter().map(move |name| Place::new(*scope, folder.join(name), &[table]))
    });
    let named = environment.folder("OPENCODE_CONFIG");
    let named = named.map(|path| Place::new(ConnectionScope::User, path, &[table]));
    without_repeats(in_folders.chain(named).collect())
}

fn opencode_modules(environment: &SetupEnvironment) -> Vec<Place> {
    let mut places = Vec::new();
    for (scope, folder) in opencode_folders(environment) {
        for name in ["plugin", "plugins"] {
            let entries = fs::read_dir(folder.join(name)).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.retain(|path| {
                path.is_file() && path.extension().is_some_and(|name| name == "js" || name == "ts")
            });
            paths.sort();
            places.extend(
                paths.into_iter().map(|path| Place { format: Format::Whole, ..Place::new(scope, path, &[]) }),
            );
        }
    }
    places
}

/// The home may be the project, and a variable may name a folder that is read anyway.
fn without_repeats(places: Vec<Place>) -> Vec<Place> {
    let mut unique: Vec<Place> = Vec::new();
    for place in places {
        if !unique.iter().any(|other| other.path == place.path && other.keys == place.keys) {
            unique.push(place);
        }
    }
    unique
}

/// Whether a client's entry starts `tamis mcp`, wherever the program is and whatever starts it.
fn starts_server(entry: &Value) -> bool {
    let list = |value: &Value| match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    let line = [list(&entry["command"]), list(&entry["args"])].concat().join(" ");
    let mut words = line.split([' ', '\'', '"']).filter(|word| !word.is_empty());
    words.by_ref().any(is_own_name) && words.any(|word| word == "mcp")
}

/// Whether a path or the name of a package is tamis's, whatever its folder, version and extension.
fn is_own_name(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    // `tamis.js`, `tamis@1`, `tamis-opencode`
    name.strip_prefix(SERVER).is_some_and(|rest| rest.is_empty() || rest.starts_with(['@', '.', '-']))
}

/// The command with which the client itself removes a server.
fn server_removal(client: SetupClient, place: &Place, name: &str) -> String {
    let scope = match place.scope {
        ConnectionScope::Local => "local",
        ConnectionScope::User | ConnectionScope::Plugin => "user",
        ConnectionScope::Project => "project",
    };
    match (client, place.scope) {
        (SetupClient::ClaudeCode, _) => format!("claude mcp remove {name} --scope {scope}"),
        (SetupClient::Gemini, _) => format!("gemini mcp remove {name} --scope {scope}"),
        (SetupClient::Codex, ConnectionScope::User) => format!("codex mcp remove {name}"),
        _ => format!("remove the server `{name}` from {}", place.path.display()),
    }
}

/// Whether a module of OpenCode runs our hook.
fn is_module(text: &str) -> bool {
    text.contains(SERVER) && (text.contains("\"hook\", \"opencode\"") || text.contains("hook opencode"))
}

/// Whether this is our plugin, of any marketplace.
fn is_plugin_name(name: &str) -> bool {
    name.split('@').next() == Some(SERVER)
}

/// Whether Gemini CLI loads an extension in a folder: the last rule that matches decides, and it is on without one.
fn is_extension_on(rules: &Value, folder: &Path) -> bool {
    let mut is_on = true;
    for rule in rules.as_array().into_iter().flatten().filter_map(Value::as_str) {
        let (path, says_on) = match rule.strip_prefix('!') {
            Some(path) => (path, false),
            None => (rule, true),
        };
        let is_match = match path.strip_suffix('*') {
            Some(above) => folder.starts_with(above),
            None => folder == Path::new(path),
        };
        if is_match {
            is_on = says_on;
        }
    }
    is_on
}
