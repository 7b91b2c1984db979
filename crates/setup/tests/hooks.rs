//! Hooks in clients' configuration files: what is written, beside hooks of others, and that it can be undone.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use common::{World, bare};
use proptest::prelude::*;
use serde_json::{Value, json};
use tamis_setup::{SetupClient, SetupPart, SetupScope, SetupStep};

const HOOKS: &[SetupPart] = &[SetupPart::Hooks];
const MCP: &[SetupPart] = &[SetupPart::Mcp];
const CLAUDE: &str = "home/.claude/settings.json";
const CODEX: &str = "home/.codex/hooks.json";
const CODEX_CONFIG: &str = "home/.codex/config.toml";
const GEMINI: &str = "home/.gemini/settings.json";
const OPENCODE: &str = "home/.config/opencode/plugins/tamis.js";

/// Clients, scopes, and the file with the hooks.
const FILES: &[(SetupClient, SetupScope, &str)] = &[
    (SetupClient::ClaudeCode, SetupScope::User, CLAUDE),
    (SetupClient::ClaudeCode, SetupScope::Project, "project/.claude/settings.json"),
    (SetupClient::Codex, SetupScope::User, CODEX),
    (SetupClient::Codex, SetupScope::Project, "project/.codex/hooks.json"),
    (SetupClient::Gemini, SetupScope::User, GEMINI),
    (SetupClient::Gemini, SetupScope::Project, "project/.gemini/settings.json"),
    (SetupClient::OpenCode, SetupScope::User, OPENCODE),
    (SetupClient::OpenCode, SetupScope::Project, "project/.opencode/plugins/tamis.js"),
];

/// JSON with comments and trailing commas, as a value.
fn parsed(text: &str) -> Value {
    let text = text.trim_start_matches('\u{feff}');
    let root = jsonc_parser::cst::CstRootNode::parse(text, &jsonc_parser::ParseOptions::default());
    root.unwrap().to_serde_value().unwrap()
}

fn hook(client: &str, matcher: &str, timeout: u64) -> Value {
    let command = format!("if command -v tamis >/dev/null 2>&1; then tamis hook {client} || true; fi");
    let mut hook = json!({ "type": "command", "command": command, "timeout": timeout });
    if client == "gemini" {
        hook["name"] = json!("tamis");
    }
    json!({ "matcher": matcher, "hooks": [hook] })
}

fn claude_hooks() -> [Value; 2] {
    [hook("claude", "Bash|Read|Grep", 5), hook("claude", "Write|Edit|MultiEdit|NotebookEdit", 5)]
}

#[test]
fn each_client_gets_its_own_form() {
    let [after, before] = claude_hooks();
    let claude = json!({ "hooks": { "PostToolUse": [after], "PreToolUse": [before] } });
    let codex = json!({ "hooks": {
        "PostToolUse": [hook("codex", "^Bash$", 5)],
        "PreToolUse": [hook("codex", "^(Bash|apply_patch|Edit|Write)$", 5)],
    } });
    let read = "run_shell_command|read_file|read_many_files|grep_search|search_file_content";
    let gemini = json!({ "hooks": {
        "AfterTool": [hook("gemini", read, 5000)],
        "BeforeTool": [hook("gemini", "write_file|replace", 5000)],
    } });
    for (client, scope, file) in FILES {
        let world = World::new();
        let before = world.files();
        world.add_parts(*client, *scope, HOOKS);
        let text = world.read(file);
        match client {
            SetupClient::ClaudeCode => assert_eq!(parsed(&text), claude),
            SetupClient::Codex => assert_eq!(parsed(&text), codex),
            SetupClient::Gemini => assert_eq!(parsed(&text), gemini),
            _ => assert!(text.contains("const TAMIS = \"tamis\"\n") && text.contains("tool.execute.after")),
        }
        assert_eq!(world.files().values().flatten().count(), 1, "{client:?}: one file");
        let again = world.steps(*client, *scope, HOOKS, "tamis");
        assert!(matches!(&again[..], [SetupStep::Unchanged(_)]), "{again:?}");
        assert!(!world.remove());
        assert_eq!(world.files(), before, "{client:?}");
        assert!(fs::read_dir(world.path("data/setup")).unwrap().next().is_none());
    }
}

#[test]
fn clients_without_hooks_say_so() {
    let world = World::new();
    for client in SetupClient::ALL.iter().filter(|client| client.hooked_client().is_none()) {
        let steps = world.steps(*client, SetupScope::User, HOOKS, "tamis");
        assert!(matches!(&steps[..], [SetupStep::NoHooks]), "{client:?}");
        let steps = world.steps(*client, SetupScope::User, SetupPart::ALL, "tamis");
        assert!(matches!(&steps[..], [SetupStep::Change(_)]), "{client:?}");
    }
}

#[test]
fn hooks_that_are_switched_off_are_noticed() {
    let rows = [
        (SetupClient::ClaudeCode, CLAUDE, "{ \"disableAllHooks\": true } // why", Some("disableAllHooks")),
        (SetupClient::ClaudeCode, CLAUDE, "{ \"disableAllHooks\": false }", None),
        (
            SetupClient::ClaudeCode,
            "project/.claude/settings.json",
            "{ \"disableAllHooks\": true }",
            Some("disableAllHooks"),
        ),
        (
            SetupClient::Gemini,
            GEMINI,
            "{ \"hooksConfig\": { \"enabled\": false } }",
            Some("hooksConfig.enabled"),
        ),
        (SetupClient::Gemini, GEMINI, "{ \"hooksConfig\": [] }", None),
        (SetupClient::Codex, CODEX_CONFIG, "[features]\nhooks = false\n", Some("features.hooks")),
        (SetupClient::Codex, CODEX_CONFIG, "broken = ", None),
        (SetupClient::OpenCode, OPENCODE, "", None),
    ];
    for (client, file, text, setting) in rows {
        let world = World::new();
        world.write(file, text);
        let found = client.disabled_hooks(&world.setup.environment);
        assert_eq!(found, setting.map(|setting| (world.path(file), setting)), "{text}");
    }
}

/// Settings with hooks of others, as people and programs write them.
const JSON: &[&str] = &[
    "{}",
    "{\n}\n",
    "// nothing yet\n",
    "{\"hooks\":{}}",
    "{\"hooks\":{\"PostToolUse\":[]}}\n",
    "{\"hooks\":{\"PostToolUse\":[{\"matcher\":\"*\",\"hooks\":[]}],\"Stop\":[]},\"model\":\"x\"}",
    "{\n  \"hooks\": {\n    \"PostToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"mine\" }] }\n    ]\n  }\n}\n",
    "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t// mine\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [] }, // the first\n\t\t\t{ \"hooks\": [] },\n\t\t],\n\t},\n}\n",
    "{\r\n  \"hooks\": {\r\n    \"PostToolUse\": [\r\n      {}\r\n    ]\r\n  }\r\n}\r\n",
    "\u{feff}{\n  \"hooks\": { \"PostToolUse\": [ /* none */ ] }\n}\n",
    "{\n  \"env\": { \"A\": \"1\" },\n  \"hooks\": {\n    // all of them\n  },\n  \"z\": [1, 2]\n}\n",
];

/// Configurations of Codex with hooks.
const TOML: &[&str] = &[
    "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n",
    "model = \"x\"\n\n[[hooks.PostToolUse]]\nmatcher = \"^Bash$\"\n\n[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = \"mine\" # why\n\n[z]\n# last\ny = 1\n",
    "[[hooks.PreToolUse]]\r\nmatcher = \"a\"\r\nhooks = []\r\n\r\n[[hooks.PreToolUse]]\r\nmatcher = \"b\"\r\nhooks = []\r\n",
    "[hooks]\nPostToolUse = [{ matcher = \"a\", hooks = [] }]\n\n[hooks.state]\nx = 1\n",
    "[hooks]\nPostToolUse = [\n  # mine\n  { matcher = \"a\", hooks = [] },\n]\n",
    "hooks = { Stop = [] }\nmodel = \"x\"\n",
    "hooks.Stop = []\n\n[z]\ny = 1\n",
];

#[test]
fn hooks_of_others_stay_and_the_file_comes_back_byte_for_byte() {
    let json = JSON.iter().map(|text| (SetupClient::ClaudeCode, CLAUDE, *text));
    let toml = TOML.iter().map(|text| (SetupClient::Codex, CODEX_CONFIG, *text));
    for (client, file, text) in json.chain(toml) {
        let world = World::new();
        world.write(file, text);
        let before = world.files();
        world.add_parts(client, SetupScope::User, HOOKS);
        let added = world.read(file);
        assert_eq!(added.matches("hook claude").count() + added.matches("hook codex").count(), 2, "{added}");
        assert!(contains_in_order(&added, &bare(text)), "{text:?} became {added:?}");
        assert_eq!(added.contains("\r\n"), text.contains("\r\n"), "{text:?} became {added:?}");
        let again = world.steps(client, SetupScope::User, HOOKS, "tamis");
        assert!(matches!(&again[..], [SetupStep::Unchanged(_)]), "{added}: {again:?}");
        assert!(!world.remove());
        assert_eq!(world.files(), before, "{text:?}");
    }
}

/// Whether the letters are a subsequence of the text.
fn contains_in_order(text: &str, letters: &str) -> bool {
    let mut rest = text.chars();
    letters.chars().all(|letter| rest.any(|other| other == letter))
}

#[test]
fn hooks_of_codex_are_written_where_its_hooks_are() {
    let rows = [
        (None, None, CODEX),
        (Some("model = \"x\"\n"), None, CODEX),
        // What Codex stores about hooks of other files.
        (Some("[hooks.state.\"/x/hooks.json:pre:0\"]\ntrusted_hash = \"1\"\n"), None, CODEX),
        (Some("[[hooks.Stop]]\nhooks = []\n"), None, CODEX_CONFIG),
        (Some("[[hooks.Stop]]\nhooks = []\n"), Some("{}"), CODEX),
        (Some("broken = "), None, CODEX),
    ];
    for (config, hooks, expected) in rows {
        let world = World::new();
        let files = [(CODEX_CONFIG, config), (CODEX, hooks)];
        files.iter().for_each(|(file, text)| text.iter().for_each(|text| world.write(file, text)));
        world.add_parts(SetupClient::Codex, SetupScope::User, HOOKS);
        assert!(world.read(expected).contains("tamis hook codex"), "{config:?} {hooks:?}");
        let again = world.steps(SetupClient::Codex, SetupScope::User, HOOKS, "tamis");
        assert!(matches!(&again[..], [SetupStep::Unchanged(_)]), "{again:?}");
        world.remove();
        for (file, text) in files {
            assert_eq!(world.path(file).exists().then(|| world.read(file)).as_deref(), text);
        }
    }
}

/// A change of the user: the file before, the change, and the file's value after the removal.
#[test]
fn removal_takes_exactly_what_was_added_whatever_else_changed() {
    type Edit = fn(&str) -> String;
    let own = "{\n  \"hooks\": {\n    \"PostToolUse\": [\n      { \"matcher\": \"a\", \"hooks\": [] }\n    ]\n  }\n}\n";
    let a = json!({ "matcher": "a", "hooks": [] });
    let b = json!({ "matcher": "b", "hooks": [] });
    let rows: &[(&str, Edit, Value)] = &[
        // An element before and one after.
        (
            own,
            |text| text.replacen('[', "[\n      { \"matcher\": \"b\", \"hooks\": [] },", 1),
            json!({ "hooks": { "PostToolUse": [b, a] } }),
        ),
        (
            "{}",
            |text| {
                text.replacen(
                    "],\n    \"PreToolUse",
                    ", { \"matcher\": \"b\", \"hooks\": [] }],\n    \"PreToolUse",
                    1,
                )
            },
            json!({ "hooks": { "PostToolUse": [b] } }),
        ),
        // Another event in the table that was created.
        (
            "{}",
            |text| text.replacen("\"hooks\": {", "\"hooks\": {\n    \"Stop\": [],", 1),
            json!({ "hooks": { "Stop": [] } }),
        ),
        // A client that writes its settings anew, in its own order and layout.
        (own, |text| parsed(text).to_string(), json!({ "hooks": { "PostToolUse": [a] } })),
        ("{\"a\": 1}", |text| serde_json::to_string_pretty(&parsed(text)).unwrap(), json!({ "a": 1 })),
        // The element before is gone.
        (
            own,
            |text| text.replacen("{ \"matcher\": \"a\", \"hooks\": [] },", "", 1),
            json!({ "hooks": { "PostToolUse": [] } }),
        ),
        // One of ours is gone.
        (
            own,
            |text| {
                let mut value = parsed(text);
                value["hooks"]["PostToolUse"].as_array_mut().unwrap().pop();
                value.to_string()
            },
            json!({ "hooks": { "PostToolUse": [a] } }),
        ),
        // The first of them is gone with its array.
        (
            "{}",
            |text| {
                let mut value = parsed(text);
                value["hooks"].as_object_mut().unwrap().remove("PostToolUse");
                value.to_string()
            },
            json!({}),
        ),
        // A user's comment in an array that was created.
        (
            "{}",
            |text| text.replacen("\"PreToolUse\": [", "\"PreToolUse\": [\n      // mine\n", 1),
            json!({ "hooks": { "PreToolUse": [] } }),
        ),
    ];
    for (text, edit, expected) in rows {
        let world = World::new();
        world.write(CLAUDE, text);
        world.add_parts(SetupClient::ClaudeCode, SetupScope::User, HOOKS);
        let edited = edit(&world.read(CLAUDE));
        assert_ne!(edited, world.read(CLAUDE), "the edit of {text:?} changes something");
        world.write(CLAUDE, &edited);
        assert!(!world.remove(), "{edited}");
        let left = world.read(CLAUDE);
        assert_eq!(parsed(&left), *expected, "{edited} became {left}");
        assert_eq!(left.matches("// mine").count(), edited.matches("// mine").count());
    }
    // The same in TOML, byte for byte.
    let world = World::new();
    let text = "[[hooks.Stop]]\nhooks = []\n";
    world.write(CODEX_CONFIG, text);
    world.add_parts(SetupClient::Codex, SetupScope::User, SetupPart::ALL);
    let more = "\n[[hooks.PostToolUse]]\n# mine\nmatcher = \"b\"\nhooks = []\n";
    world.write(CODEX_CONFIG, &(world.read(CODEX_CONFIG) + more));
    assert!(!world.remove());
    assert_eq!(world.read(CODEX_CONFIG), format!("{text}{more}"));
}

#[test]
fn a_hook_that_the_user_changed_stays_and_none_is_added_beside_it() {
    for (client, file) in [(SetupClient::ClaudeCode, CLAUDE), (SetupClient::Gemini, GEMINI)] {
        let world = World::new();
        world.write(file, "{\n  \"a\": 1\n}\n");
        world.add_parts(client, SetupScope::User, SetupPart::ALL);
        let (name, changed) = if client == SetupClient::Gemini {
            ("write_file|replace", "replace")
        } else {
            ("Bash|Read|Grep", "Bash")
        };
        let edited = world.read(file).replace(name, changed);
        world.write(file, &edited);
        let steps = world.steps(client, SetupScope::User, SetupPart::ALL, "tamis");
        assert!(matches!(steps.last(), Some(SetupStep::Foreign(_))), "{steps:?}");
        // The others follow a new command.
        let steps = world.steps(client, SetupScope::User, SetupPart::ALL, "/opt/tamis");
        let Some(SetupStep::Change(change)) = steps.last() else { panic!("{steps:?}") };
        assert!(change.keeps_entry());
        assert_eq!(
            change.file.after.as_ref().unwrap().matches(&format!(" hook {}", client.name())).count(),
            2
        );
        assert!(world.remove());
        let left = parsed(&world.read(file));
        assert_eq!(left["a"], 1);
        let hooks = left["hooks"].as_object().unwrap();
        assert_eq!(hooks.len(), 1, "{left}");
        assert!(hooks.values().all(|hooks| hooks[0]["matcher"] == changed), "{left}");
        assert!(left.get("mcpServers").is_none(), "{left}");
    }
}

#[test]
fn a_plugin_that_the_user_wrote_or_changed_stays() {
    let world = World::new();
    world.write(OPENCODE, "// mine\n");
    let steps = world.steps(SetupClient::OpenCode, SetupScope::User, HOOKS, "tamis");
    assert!(matches!(&steps[..], [SetupStep::Foreign(_)]), "{steps:?}");
    let world = World::new();
    world.add_parts(SetupClient::OpenCode, SetupScope::User, HOOKS);
    let edited = world.read(OPENCODE) + "// mine\n";
    world.write(OPENCODE, &edited);
    assert!(world.remove());
    assert_eq!(world.read(OPENCODE), edited);
}

#[test]
fn a_new_command_replaces_the_hooks_and_the_plugin() {
    for (client, scope, file) in FILES {
        let world = World::new();
        world.add_parts(*client, *scope, HOOKS);
        let mut steps = world.steps(*client, *scope, HOOKS, "/opt/it's/tamis");
        let Some(SetupStep::Change(change)) = steps.pop() else { panic!("{steps:?}") };
        world.setup.apply(&change).unwrap();
        let text = world.read(file);
        assert!(text.contains("/opt/it") && !text.contains("command -v"), "{text}");
        assert!(!world.remove());
        assert!(world.files().is_empty());
    }
}

#[test]
fn servers_and_hooks_are_added_and_removed_apart() {
    let (client, text) = (SetupClient::Gemini, "{\n  // mine\n  \"hooks\": { \"AfterTool\": [{}] }\n}\n");
    for first in [MCP, HOOKS] {
        let second = if first == MCP { HOOKS } else { MCP };
        let world = World::new();
        world.write(GEMINI, text);
        world.add_parts(client, SetupScope::User, first);
        let only_first = world.read(GEMINI);
        assert_eq!(only_first.contains("mcpServers"), first == MCP);
        world.add_parts(client, SetupScope::User, second);
        let both = world.read(GEMINI);
        assert!(both.contains("mcpServers") && both.matches("hook gemini").count() == 2, "{both}");
        for parts in [first, second, SetupPart::ALL] {
            let steps = world.steps(client, SetupScope::User, parts, "tamis");
            assert!(matches!(&steps[..], [SetupStep::Unchanged(_)]), "{steps:?}");
        }
        assert!(!world.remove_parts(second));
        assert_eq!(world.read(GEMINI), only_first);
        assert!(world.setup.plan_removal(&[], None, second).unwrap().is_empty());
        assert!(!world.remove_parts(first));
        assert_eq!(world.read(GEMINI), text);
        assert!(fs::read_dir(world.path("data/setup")).unwrap().next().is_none());
    }
}

/// A record of the version that had one entry for each file.
#[test]
fn records_of_earlier_versions_are_undone() {
    let before = "{\n  \"a\": 1\n}\n";
    let after = "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"tamis\": {\n      \"command\": \"tamis\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n";
    for is_edited in [false, true] {
        let world = World::new();
        world.write(GEMINI, before);
        world.add_parts(SetupClient::Gemini, SetupScope::User, MCP);
        assert_eq!(world.read(GEMINI), after);
        let folder = fs::read_dir(world.path("data/setup")).unwrap().next().unwrap().unwrap().path();
        let mut record: Value =
            serde_json::from_slice(&fs::read(folder.join("record.json")).unwrap()).unwrap();
        let fields = record.as_object_mut().unwrap();
        let digest = fields["after"].clone();
        fields.clear();
        fields.extend([
            ("path".to_owned(), json!(world.path(GEMINI))),
            ("client".to_owned(), json!("gemini")),
            ("is_project".to_owned(), json!(false)),
            ("format".to_owned(), json!("json")),
            (
                "entry".to_owned(),
                json!({ "keys": ["mcpServers", "tamis"], "fields": [["command", "tamis"], ["args", ["mcp"]]] }),
            ),
            ("created_tables".to_owned(), json!(1)),
            ("created_folders".to_owned(), json!([])),
            ("after".to_owned(), digest),
        ]);
        fs::write(folder.join("record.json"), record.to_string()).unwrap();
        if is_edited {
            world.write(GEMINI, &after.replace("\"a\": 1", "\"a\": 2"));
        } else {
            // Hooks are added to what that version wrote.
            world.add_parts(SetupClient::Gemini, SetupScope::User, SetupPart::ALL);
            assert!(world.read(GEMINI).contains("hook gemini"));
        }
        assert!(!world.remove());
        assert_eq!(world.read(GEMINI), before.replace('1', if is_edited { "2" } else { "1" }));
    }
}

/// The command of the first hook, run by a shell; its output.
fn run_hook(world: &World) -> (Option<i32>, String) {
    let hooks = parsed(&world.read(CLAUDE));
    let command = hooks["hooks"]["PostToolUse"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).stdin(Stdio::null()).env("PATH", "/usr/bin:/bin");
    let ran = shell.output().unwrap();
    assert!(ran.stderr.is_empty(), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
    (ran.status.code(), String::from_utf8(ran.stdout).unwrap())
}

#[test]
fn the_command_finds_the_program_at_any_path_and_does_nothing_without_it() {
    for name in
        ["tamis", "my tamis", "it's tamis", "a\"b", "$HOME", "`x`", "back\\slash", "two\nlines", "-n", "é"]
    {
        let world = World::new();
        let program = world.path("home").join(name);
        let mut steps =
            world.steps(SetupClient::ClaudeCode, SetupScope::User, HOOKS, program.to_str().unwrap());
        let Some(SetupStep::Change(change)) = steps.pop() else { panic!("{steps:?}") };
        world.setup.apply(&change).unwrap();
        assert_eq!(run_hook(&world), (Some(0), String::new()), "{name}");
        fs::write(&program, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
        assert_eq!(run_hook(&world), (Some(0), String::new()), "{name} cannot be executed");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(run_hook(&world), (Some(0), "hook claude\n".to_owned()), "{name}");
    }
    let world = World::new();
    world.add_parts(SetupClient::ClaudeCode, SetupScope::User, HOOKS);
    assert_eq!(run_hook(&world), (Some(0), String::new()));
}

/// Settings with hooks in any layout: comments, blank lines, trailing commas.
fn settings() -> impl Strategy<Value = String> {
    let blank = || {
        prop_oneof![
            Just(""),
            Just(" "),
            Just("\n"),
            Just("\n    "),
            Just(" // note\n"),
            Just(" /* note */ "),
            Just("\r\n\t")
        ]
    };
    let element = prop_oneof![
        Just("{}"),
        Just("{\"matcher\": \"Bash\", \"hooks\": []}"),
        Just("{ \"hooks\": [{\"type\": \"command\", \"command\": \"x, // y\"}] }"),
        Just("{\n  \"matcher\": \"*\", // note\n  \"hooks\": [],\n}"),
    ];
    let array = (proptest::collection::vec((blank(), element, blank()), 0..3), blank(), any::<bool>())
        .prop_map(|(elements, blank, comma)| {
            let comma = if comma && !elements.is_empty() { "," } else { "" };
            let elements: Vec<_> =
                elements.iter().map(|(before, element, after)| format!("{before}{element}{after}")).collect();
            format!("[{}{comma}{blank}]", elements.join(","))
        });
    let event = prop_oneof![Just("PostToolUse"), Just("PreToolUse"), Just("Stop")];
    let events = proptest::collection::btree_map(event, (blank(), array, blank()), 0..3).prop_map(|events| {
        let events: Vec<_> = events
            .iter()
            .map(|(event, (before, array, after))| format!("{before}\"{event}\":{after}{array}"))
            .collect();
        events.join(",")
    });
    (proptest::option::of((events, blank())), blank(), blank()).prop_map(|(hooks, first, last)| match hooks {
        Some((events, blank)) => format!("{{{first}\"hooks\": {{{events}{blank}}}{last}, \"z\": 1}}"),
        None => format!("{{{first}\"z\": 1{last}}}"),
    })
}

/// Adds an element of the user's to the array of an event, before all others.
fn with_element(text: &str, event: &str) -> Option<String> {
    let name = text.find(&format!("\"{event}\""))?;
    let start = name + text[name..].find('[')? + 1;
    let comma = if parsed(text)["hooks"][event].as_array()?.is_empty() { "" } else { "," };
    Some(format!("{}{{\"matcher\": \"mine\"}}{comma}{}", &text[..start], &text[start..]))
}

/// A comma inside of the user's element says nothing about the array around it.
#[test]
fn no_comma_is_left_where_there_was_none() {
    for text in [
        "{\"hooks\": {\"PostToolUse\":[{\n  \"matcher\": \"*\", // note\n  \"hooks\": [],\n}\n\n]}, \"z\": 1}",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      1,\n    ]\n  }\n}\n",
        "{\n  \"a\": [\n    1,\n  ]\n}\n",
        "{\n  \"a\": [\n    1\n  ],\n}\n",
        "{\n  \"hooks\": {\n    \"PostToolUse\": [\n      1,\n    ],\n  },\n}\n",
    ] {
        let world = World::new();
        world.write(CLAUDE, text);
        world.add_parts(SetupClient::ClaudeCode, SetupScope::User, HOOKS);
        world.write(CLAUDE, &format!("// user's\n{}", world.read(CLAUDE)));
        assert!(!world.remove());
        assert_eq!(bare(&world.read(CLAUDE)), bare(&format!("// user's\n{text}")));
    }
}

proptest! {
    /// Whatever the settings were, they come back, and what the user adds meanwhile stays.
    #[test]
    fn all_settings_come_back(text in settings(), event in prop_oneof![Just("PostToolUse"), Just("PreToolUse")]) {
        let world = World::new();
        world.write(CLAUDE, &text);
        world.add_parts(SetupClient::ClaudeCode, SetupScope::User, HOOKS);
        let added = world.read(CLAUDE);
        prop_assert_eq!(added.matches("note").count(), text.matches("note").count());
        let mut expected = parsed(&text);
        for (event, hook) in ["PostToolUse", "PreToolUse"].into_iter().zip(claude_hooks()) {
            match expected["hooks"][event].as_array_mut() {
                Some(elements) => elements.push(hook),
                None => expected["hooks"][event] = json!([hook]),
            }
        }
        prop_assert_eq!(parsed(&added), expected);
        prop_assert!(!world.remove());
        prop_assert_eq!(world.read(CLAUDE), text.clone());

        // A comment before everything.
        world.add_parts(SetupClient::ClaudeCode, SetupScope::User, HOOKS);
        world.write(CLAUDE, &format!("// user's\n{}", world.read(CLAUDE)));
        prop_assert!(!world.remove());
        prop_assert_eq!(bare(&world.read(CLAUDE)), bare(&format!("// user's\n{text}")));

        // An element before ours.
        world.write(CLAUDE, &text);
        world.add_parts(SetupClient::ClaudeCode, SetupScope::User, HOOKS);
        let edited = with_element(&world.read(CLAUDE), event).unwrap();
        world.write(CLAUDE, &edited);
        prop_assert!(!world.remove());
        let left = world.read(CLAUDE);
        let mut expected = parsed(&text);
        match expected["hooks"][event].as_array_mut() {
            Some(elements) => elements.insert(0, json!({ "matcher": "mine" })),
            None => expected["hooks"][event] = json!([{ "matcher": "mine" }]),
        }
        prop_assert_eq!(parsed(&left), expected, "{} became {}", edited, left);
        prop_assert_eq!(left.matches("note").count(), text.matches("note").count());
    }
}

/// The plugin folder has the hooks and servers that setup writes for a project.
#[test]
fn the_plugin_folder_has_the_same_hooks_and_server() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin");
    let plugin = |name: &str| parsed(&fs::read_to_string(folder.join(name)).unwrap());
    for (client, file, name, manifest) in [
        (
            SetupClient::ClaudeCode,
            "project/.claude/settings.json",
            "hooks/claude.json",
            ".claude-plugin/plugin.json",
        ),
        (SetupClient::Codex, "project/.codex/hooks.json", "hooks/codex.json", ".codex-plugin/plugin.json"),
        (SetupClient::Gemini, "project/.gemini/settings.json", "hooks/hooks.json", "gemini-extension.json"),
    ] {
        let world = World::new();
        world.add_parts(client, SetupScope::Project, HOOKS);
        assert_eq!(plugin(name), parsed(&world.read(file)), "{client:?}");
        let manifest = plugin(manifest);
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"), "{client:?}");
        if client != SetupClient::Gemini {
            assert_eq!(manifest["hooks"], format!("./{name}"), "{client:?}");
        }
    }
    let world = World::new();
    world.add_parts(SetupClient::Gemini, SetupScope::Project, MCP);
    let servers = &parsed(&world.read("project/.gemini/settings.json"))["mcpServers"];
    assert_eq!(plugin(".mcp.json")["mcpServers"], *servers);
    assert_eq!(plugin("gemini-extension.json")["mcpServers"], *servers);
}

/// A configuration of Codex in any layout: hooks as arrays of tables or inline, comments, blank lines, both kinds of line ends.
fn configuration() -> impl Strategy<Value = String> {
    let gap = || prop_oneof![Just(""), Just("\n"), Just("# note\n"), Just("\n\n  # note\n\n")];
    let table = prop_oneof![
        Just("[z]\ny = 1 # note\n"),
        Just("[mcp_servers.other]\ncommand = \"x\"\n"),
        Just("[[hooks.Stop]]\nhooks = []\n"),
        Just(
            "[[hooks.PostToolUse]]\nmatcher = \"a\"\n\n[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = \"x\" # note\n"
        ),
        Just("[[hooks.PreToolUse]]\n  matcher = 'b'\n  hooks = [ { command = \"y\" }, ] # note\n"),
        Just("[hooks.state.\"/x:0\"]\ntrusted_hash = \"1\"\n"),
    ];
    let first = prop_oneof![
        Just(""),
        Just("model = \"x\"\n"),
        Just("hooks = { Stop = [{ hooks = [] }] }\n"),
        Just("hooks.PostToolUse = [\n  { matcher = \"a\" }, # note\n]\n"),
    ];
    (first, proptest::collection::vec((gap(), table), 0..5), gap(), any::<bool>()).prop_map(
        |(first, tables, last, is_windows)| {
            let mut text = first.to_owned();
            for (gap, table) in tables {
                // A table that is not in an array may be there once, and hooks have one form in a file.
                let header = table.lines().next().unwrap();
                let is_twice = !header.starts_with("[[") && text.contains(header);
                let is_other_form = first.starts_with("hooks") && table.contains("hooks.");
                if !is_twice && !is_other_form {
                    text += gap;
                    text += table;
                }
            }
            text += last;
            if is_windows { text.replace('\n', "\r\n") } else { text }
        },
    )
}

proptest! {
    /// Whatever the configuration was, it comes back, and what the user adds meanwhile stays.
    #[test]
    fn all_configurations_come_back(text in configuration()) {
        for edit in [None, Some("# user's\n"), Some("first = 1\n")] {
            let world = World::new();
            world.write(CODEX_CONFIG, &text);
            world.add_parts(SetupClient::Codex, SetupScope::User, SetupPart::ALL);
            let added = world.read(CODEX_CONFIG);
            prop_assert!(contains_in_order(&added, &text), "{} became {}", text, added);
            let edit = edit.unwrap_or_default();
            world.write(CODEX_CONFIG, &format!("{edit}{added}"));
            prop_assert!(!world.remove());
            prop_assert_eq!(world.read(CODEX_CONFIG), format!("{edit}{text}"), "{} was added", added);
        }
    }
}
