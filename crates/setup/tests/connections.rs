//! Which connections of a client are found: every client and every scope that it reads, by setup, by the client or by hand.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::World;
use tamis_setup::{ConnectionScope, ConnectionState, SetupClient, SetupPart, SetupScope};

use ConnectionScope::{Local, Plugin, Project, User};
use ConnectionState::{Active, Off, Other, Untrusted};
use SetupPart::{Hooks, Mcp};

/// As `claude mcp add` writes it, and others alike.
const SERVER: &str = r#"{"tamis": {"type": "stdio", "command": "tamis", "args": ["mcp"], "env": {}}}"#;
const HOOKS: &str = r#"{"hooks": {"E": [{"hooks": [{"command": "tamis hook CLIENT || true"}]}]}}"#;
const CODEX_HOOKS: &str =
    "[[hooks.PostToolUse]]\n[[hooks.PostToolUse.hooks]]\ncommand = \"tamis hook codex\"\n";
const CODEX_SERVER: &str = "[mcp_servers.tamis]\ncommand = \"tamis\"\nargs = [\"mcp\"]\n";
const OPENCODE_SERVER: &str = r#"{"mcp": {"tamis": {"type": "local", "command": ["tamis", "mcp"]}}}"#;
const OPENCODE_MODULE: &str = r#"spawn("tamis", ["hook", "opencode"])"#;
const ENABLED: &str = r#"{"enabledPlugins": {"tamis@tamis": true}}"#;
const INSTALLED: (&str, &str) =
    ("home/.claude/plugins/installed_plugins.json", r#"{"version": 2, "plugins": {"tamis@tamis": []}}"#);
const EXTENSION: (&str, &str) = ("home/.gemini/extensions/tamis/gemini-extension.json", "{}");
const RULES: &str = "home/.gemini/extensions/extension-enablement.json";

/// The client, the part, the file, its text, and the scope, state and removal that are found.
type Row<'a> = (SetupClient, SetupPart, &'a str, String, ConnectionScope, ConnectionState, &'a str);

fn rows() -> Vec<Row<'static>> {
    use SetupClient::{ClaudeCode, Codex, Cursor, Gemini, LmStudio, OpenCode, VsCode, Zed};
    let servers = |table: &str| format!("{{\"{table}\": {SERVER}}}");
    let claude = || servers("mcpServers");
    let local = |folder: &str| format!("{{\"projects\": {{\"ROOT/{folder}\": {}}}}}", claude());
    let hooks = |client: &str| HOOKS.replace("CLIENT", client);
    let by_hand = "remove the hooks of tamis from FILE";
    let by_hand_server = "remove the server `tamis` from FILE";
    vec![
        (ClaudeCode, Mcp, "home/.claude.json", claude(), User, Active, "claude mcp remove tamis --scope user"),
        (ClaudeCode, Mcp, "home/.claude.json", local("project"), Local, Active, "claude mcp remove tamis --scope local"),
        (ClaudeCode, Mcp, "home/.claude.json", local("project/sub"), Local, Active, "claude mcp remove tamis --scope local"),
        (ClaudeCode, Mcp, "project/.mcp.json", claude(), Project, Active, "claude mcp remove tamis --scope project"),
        (ClaudeCode, Mcp, "project/sub/.mcp.json", claude(), Project, Active, "claude mcp remove tamis --scope project"),
        (ClaudeCode, Mcp, "project/.mcp.json", claude().replace("\"mcp\"]", "\"serve\"]"), Project, Other, "claude mcp remove tamis --scope project"),
        (ClaudeCode, Mcp, "project/.mcp.json", claude().replace("\"tamis\": {", "\"cut\": {"), Project, Active, "claude mcp remove cut --scope project"),
        (ClaudeCode, Hooks, "home/.claude/settings.json", hooks("claude"), User, Active, by_hand),
        (ClaudeCode, Hooks, "project/.claude/settings.json", hooks("claude"), Project, Active, by_hand),
        (ClaudeCode, Hooks, "project/.claude/settings.local.json", hooks("claude"), Local, Active, by_hand),
        (ClaudeCode, Mcp, "home/.claude/settings.json", ENABLED.to_owned(), Plugin, Active, "claude plugin uninstall tamis@tamis"),
        (ClaudeCode, Hooks, "home/.claude/settings.json", ENABLED.to_owned(), Plugin, Active, "claude plugin uninstall tamis@tamis"),
        (ClaudeCode, Hooks, "project/.claude/settings.json", ENABLED.to_owned(), Plugin, Active, "claude plugin uninstall tamis@tamis --scope project"),
        (ClaudeCode, Mcp, "project/.claude/settings.local.json", ENABLED.to_owned(), Plugin, Active, "claude plugin uninstall tamis@tamis --scope local"),
        (Codex, Mcp, "home/.codex/config.toml", CODEX_SERVER.to_owned(), User, Active, "codex mcp remove tamis"),
        (Codex, Mcp, "home/.codex/config.toml", format!("{CODEX_SERVER}enabled = false\n"), User, Off, "codex mcp remove tamis"),
        (Codex, Mcp, "project/.codex/config.toml", CODEX_SERVER.to_owned(), Project, Active, by_hand_server),
        (Codex, Mcp, "project/sub/.codex/config.toml", CODEX_SERVER.to_owned(), Project, Active, by_hand_server),
        (Codex, Hooks, "home/.codex/hooks.json", hooks("codex"), User, Untrusted, by_hand),
        (Codex, Hooks, "home/.codex/config.toml", CODEX_HOOKS.to_owned(), User, Untrusted, by_hand),
        (Codex, Hooks, "home/.codex/config.toml", format!("{CODEX_HOOKS}[hooks.state.\"ROOT/home/.codex/config.toml:post_tool_use:0:0\"]\ntrusted_hash = \"sha256:0\"\n"), User, Active, by_hand),
        (Codex, Hooks, "project/.codex/hooks.json", hooks("codex"), Project, Untrusted, by_hand),
        (Codex, Mcp, "home/.codex/config.toml", "[plugins.\"tamis@tamis\"]\nenabled = true\n".to_owned(), Plugin, Active, "codex plugin remove tamis@tamis"),
        (Codex, Hooks, "home/.codex/config.toml", "[plugins.\"tamis@tamis\"]\nenabled = true\n".to_owned(), Plugin, Untrusted, "codex plugin remove tamis@tamis"),
        (Codex, Hooks, "home/.codex/config.toml", "[plugins.\"tamis@tamis\"]\nenabled = true\n[hooks.state.\"tamis@tamis:hooks/codex.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:0\"\n".to_owned(), Plugin, Active, "codex plugin remove tamis@tamis"),
        (Gemini, Mcp, "home/.gemini/settings.json", claude(), User, Active, "gemini mcp remove tamis --scope user"),
        (Gemini, Mcp, "project/.gemini/settings.json", claude(), Project, Active, "gemini mcp remove tamis --scope project"),
        (Gemini, Mcp, "project/sub/.gemini/settings.json", claude(), Project, Active, "gemini mcp remove tamis --scope project"),
        (Gemini, Hooks, "home/.gemini/settings.json", hooks("gemini"), User, Active, by_hand),
        (Gemini, Hooks, "project/.gemini/settings.json", hooks("gemini"), Project, Active, by_hand),
        (Gemini, Mcp, EXTENSION.0, EXTENSION.1.to_owned(), Plugin, Active, "gemini extensions uninstall tamis"),
        (Gemini, Hooks, EXTENSION.0, EXTENSION.1.to_owned(), Plugin, Active, "gemini extensions uninstall tamis"),
        (OpenCode, Mcp, "home/.config/opencode/config.json", OPENCODE_SERVER.to_owned(), User, Active, by_hand_server),
        (OpenCode, Mcp, "home/.config/opencode/opencode.json", OPENCODE_SERVER.to_owned(), User, Active, by_hand_server),
        (OpenCode, Mcp, "home/.config/opencode/opencode.jsonc", OPENCODE_SERVER.to_owned(), User, Active, by_hand_server),
        (OpenCode, Mcp, "project/opencode.json", OPENCODE_SERVER.to_owned(), Project, Active, by_hand_server),
        (OpenCode, Mcp, "project/sub/opencode.jsonc", OPENCODE_SERVER.to_owned(), Project, Active, by_hand_server),
        (OpenCode, Mcp, "project/.opencode/opencode.json", OPENCODE_SERVER.to_owned(), Project, Active, by_hand_server),
        (OpenCode, Hooks, "home/.config/opencode/plugins/tamis.js", OPENCODE_MODULE.to_owned(), User, Active, by_hand),
        (OpenCode, Hooks, "home/.config/opencode/plugin/own.ts", OPENCODE_MODULE.to_owned(), User, Active, by_hand),
        (OpenCode, Hooks, "project/.opencode/plugin/tamis.js", OPENCODE_MODULE.to_owned(), Project, Active, by_hand),
        (OpenCode, Hooks, "project/opencode.json", r#"{"plugin": ["tamis-opencode"]}"#.to_owned(), Plugin, Active, "remove tamis from `plugin` in FILE"),
        (Cursor, Mcp, "home/.cursor/mcp.json", claude(), User, Active, by_hand_server),
        (Cursor, Mcp, "project/.cursor/mcp.json", claude(), Project, Active, by_hand_server),
        (VsCode, Mcp, "project/.vscode/mcp.json", servers("servers"), Project, Active, by_hand_server),
        (Zed, Mcp, "project/.zed/settings.json", servers("context_servers"), Project, Active, by_hand_server),
        (LmStudio, Mcp, "home/.lmstudio/mcp.json", claude(), User, Active, by_hand_server),
    ]
}

fn world() -> World {
    let mut world = World::new();
    world.write("project/sub/a", "");
    world.setup.environment.working_dir = world.path("project/sub");
    world
}

#[test]
fn a_connection_is_seen_in_every_scope_that_the_client_reads() {
    for (client, part, file, text, scope, state, removal) in rows() {
        let world = world();
        if text.contains("enabledPlugins") {
            world.write(INSTALLED.0, INSTALLED.1);
        }
        let root = world.path("").display().to_string();
        let root = root.trim_end_matches('/');
        world.write(file, &text.replace("ROOT", root));
        let found: Vec<_> = world.setup.connections(client, part).into_iter().map(Result::unwrap).collect();
        let found: Vec<_> = found
            .iter()
            .map(|found| (found.scope, found.path.clone(), found.state, found.removal.as_str()))
            .collect();
        let path = world.path(file);
        let removal = removal.replace("FILE", &path.display().to_string());
        assert_eq!(found, [(scope, path, state, removal.as_str())], "{client:?} {part:?} {file}\n{text}");
    }
}

#[test]
fn what_is_switched_off_or_not_installed_is_not_a_connection() {
    let rows: &[(SetupClient, &[(&str, &str)])] = &[
        (SetupClient::ClaudeCode, &[("home/.claude/settings.json", ENABLED)]),
        (SetupClient::ClaudeCode, &[INSTALLED, ("home/.claude/settings.json", "{}")]),
        (
            SetupClient::ClaudeCode,
            &[
                INSTALLED,
                ("home/.claude/settings.json", ENABLED),
                ("project/.claude/settings.local.json", r#"{"enabledPlugins": {"tamis@tamis": false}}"#),
            ],
        ),
        (SetupClient::Codex, &[("home/.codex/config.toml", "[plugins.\"tamis@tamis\"]\nenabled = false\n")]),
        (
            SetupClient::Codex,
            &[("home/.codex/config.toml", "[features]\nplugins = false\n[plugins.\"tamis@tamis\"]\n")],
        ),
        (
            SetupClient::Gemini,
            &[EXTENSION, (RULES, r#"{"tamis": {"overrides": ["/*", "!ROOT/project/*"]}}"#)],
        ),
        (SetupClient::OpenCode, &[("home/.config/opencode/plugins/other.js", "export {}")]),
    ];
    for (client, files) in rows {
        let world = world();
        let root = world.path("").display().to_string();
        files
            .iter()
            .for_each(|(path, text)| world.write(path, &text.replace("ROOT", root.trim_end_matches('/'))));
        for part in SetupPart::ALL {
            let found = world.setup.connections(*client, *part);
            assert!(found.is_empty(), "{client:?} {part:?}: {found:?}");
        }
    }
    let world = world();
    world.write(EXTENSION.0, EXTENSION.1);
    world.write(RULES, r#"{"tamis": {"overrides": ["!/*", "/*"]}}"#);
    assert_eq!(world.setup.connections(SetupClient::Gemini, Mcp).len(), 1);
}

#[test]
fn what_setup_writes_is_seen_and_gone_after_its_removal() {
    for client in SetupClient::ALL {
        for (scope, at) in [(SetupScope::User, User), (SetupScope::Project, Project)] {
            let world = world();
            let parts = if client.hooked_client().is_some() { SetupPart::ALL } else { &[Mcp] };
            if (*client, scope) == (SetupClient::LmStudio, SetupScope::Project) {
                continue;
            }
            world.add_parts(*client, scope, parts);
            for part in parts {
                let found: Vec<_> =
                    world.setup.connections(*client, *part).into_iter().map(Result::unwrap).collect();
                let [found] = &found[..] else { panic!("{client:?} {scope:?}: {found:?}") };
                let removal = format!("tamis setup {} --remove --only {}", client.name(), part.name());
                assert_eq!((found.scope, found.is_of_setup, &found.removal), (at, true, &removal));
                assert!(found.since.is_some());
            }
            world.remove();
            for part in parts {
                assert!(world.setup.connections(*client, *part).is_empty(), "{client:?} {scope:?} {part:?}");
            }
        }
    }
}
