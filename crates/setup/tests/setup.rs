//! Entries in clients' configuration files: what is written, and that it can be undone.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use common::{World, bare};
use proptest::prelude::*;
use tamis_setup::{Setup, SetupClient, SetupEnvironment, SetupError, SetupPart, SetupScope, SetupStep};

/// Each client and scope, the file, and its whole text where there was none.
const WRITTEN: &[(SetupClient, SetupScope, &str, &str)] = &[
    (
        SetupClient::ClaudeCode,
        SetupScope::User,
        "home/.claude.json",
        r#"{
  "mcpServers": {
    "tamis": {
      "type": "stdio",
      "command": "tamis",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
    (
        SetupClient::ClaudeCode,
        SetupScope::Project,
        "project/.mcp.json",
        r#"{
  "mcpServers": {
    "tamis": {
      "type": "stdio",
      "command": "tamis",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
    (
        SetupClient::Codex,
        SetupScope::User,
        "home/.codex/config.toml",
        "[mcp_servers.tamis]\ncommand = \"tamis\"\nargs = [\"mcp\"]\n",
    ),
    (
        SetupClient::Codex,
        SetupScope::Project,
        "project/.codex/config.toml",
        "[mcp_servers.tamis]\ncommand = \"tamis\"\nargs = [\"mcp\"]\n",
    ),
    (
        SetupClient::Gemini,
        SetupScope::User,
        "home/.gemini/settings.json",
        r#"{
  "mcpServers": {
    "tamis": {
      "command": "tamis",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
    (
        SetupClient::OpenCode,
        SetupScope::User,
        "home/.config/opencode/opencode.json",
        r#"{
  "mcp": {
    "tamis": {
      "type": "local",
      "command": ["tamis", "mcp"]
    }
  }
}
"#,
    ),
    (
        SetupClient::Cursor,
        SetupScope::Project,
        "project/.cursor/mcp.json",
        r#"{
  "mcpServers": {
    "tamis": {
      "command": "tamis",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
    (
        SetupClient::VsCode,
        SetupScope::Project,
        "project/.vscode/mcp.json",
        r#"{
  "servers": {
    "tamis": {
      "type": "stdio",
      "command": "tamis",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
    (
        SetupClient::Zed,
        SetupScope::User,
        "home/.config/zed/settings.json",
        r#"{
  "context_servers": {
    "tamis": {
      "source": "custom",
      "command": "tamis",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
    (
        SetupClient::LmStudio,
        SetupScope::User,
        "home/.lmstudio/mcp.json",
        r#"{
  "mcpServers": {
    "tamis": {
      "command": "tamis",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
];

#[test]
fn new_files_have_the_entry_alone_and_are_deleted_again() {
    for (client, scope, file, text) in WRITTEN {
        let world = World::new();
        let before = world.files();
        world.add(*client, *scope);
        assert_eq!(world.read(file), *text, "{client:?}");
        let mode = fs::metadata(world.path(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077 == 0, *scope == SetupScope::User, "{client:?}: {mode:o}");
        assert!(matches!(world.plan(*client, *scope, "tamis").unwrap(), SetupStep::Unchanged(_)));
        assert!(!world.remove());
        assert_eq!(world.files(), before, "{client:?}");
        assert!(fs::read_dir(world.path("data/setup")).unwrap().next().is_none());
    }
}

#[test]
fn every_client_has_a_file_of_its_own() {
    let world = World::new();
    for client in SetupClient::ALL {
        world.add(*client, SetupScope::User);
        let step = world.plan(*client, SetupScope::Project, "tamis").unwrap();
        assert_eq!(matches!(step, SetupStep::NoSuchScope), *client == SetupClient::LmStudio);
        assert_eq!(SetupClient::named(client.name()), Some(*client));
    }
    let files = world.files().values().flatten().count();
    assert_eq!(files, SetupClient::ALL.len());
}

/// Texts of a JSON file, as people and programs write them.
const JSON: &[&str] = &[
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "\n",
    "// nothing yet\n",
    "{\"a\":1}",
    "{\"a\":1,\"mcpServers\":{}}",
    "{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}",
    "{\n  \"a\": 1\n}\n",
    "{\n    \"a\": 1,\n    \"b\": [1, 2]\n}\n",
    "{\n\t\"a\": 1\n}\n",
    "{\r\n  \"a\": 1\r\n}\r\n",
    "\u{feff}{\n  \"a\": 1\n}\n",
    "{\n  // why\n  \"a\": 1, // because\n  /* b */ \"b\": {},\n}\n",
    "{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\", \"args\": [] }\n  },\n  \"z\": true\n}\n",
    "{\n  \"mcpServers\": {\n    // none\n  }\n}\n",
    "{\n  \"mcpServers\": {\n    \"other\": {},\n  },\n}\n",
    "{\"text\": \"a \\\"quoted\\\" // no comment\", \"unicode\": \"\u{e9}\\u00e9\"}\n",
];

/// Texts of a TOML file.
const TOML: &[&str] = &[
    "",
    "\n",
    "# nothing yet\n",
    "model = \"x\"\n",
    "model = \"x\"",
    "model = \"x\" # why\n\n# the end\n",
    "[a]\nb = 1\n",
    "[a]\r\nb = 1\r\n",
    "[mcp_servers.other]\ncommand = \"x\"\n",
    "[mcp_servers.other]\ncommand = \"x\"\n\n[mcp_servers.other.env]\nA = \"1\"\n\n[z]\n# last\n",
    "[mcp_servers]\n",
    "mcp_servers = {}\n",
    "mcp_servers = { other = { command = \"x\" } }\nz = 1\n",
    "mcp_servers.other.command = \"x\"\n[z]\ny = 1\n",
    "[[profiles]]\nname = \"a\"\n\n[[profiles]]\nname = \"b\"\n",
];

#[test]
fn what_was_there_stays_and_comes_back_byte_for_byte() {
    let files = JSON.iter().map(|text| (SetupClient::Gemini, "home/.gemini/settings.json", *text));
    let more = TOML.iter().map(|text| (SetupClient::Codex, "home/.codex/config.toml", *text));
    for (client, file, text) in files.chain(more) {
        let world = World::new();
        world.write(file, text);
        let before = world.files();
        world.add(client, SetupScope::User);
        let added = world.read(file);
        for line in text.lines().map(bare) {
            let words = line.trim_end_matches([',', '}']);
            assert!(bare(&added).contains(words), "{text:?} became {added:?}");
        }
        assert_eq!(added.contains("\r\n"), text.contains("\r\n"), "{text:?} became {added:?}");
        assert!(!added.replace("\r\n", "").contains('\r'));
        assert!(matches!(world.plan(client, SetupScope::User, "tamis").unwrap(), SetupStep::Unchanged(_)));
        assert!(!world.remove());
        assert_eq!(world.files(), before, "{text:?}");
    }
}

/// What a user may change between setup and removal: the file before, a change, and the file after the removal.
#[test]
fn what_the_user_changed_meanwhile_stays() {
    type Edit = fn(&str) -> String;
    let json = "home/.gemini/settings.json";
    let toml = "home/.codex/config.toml";
    let rows: &[(SetupClient, &str, &str, Edit, &str)] = &[
        (
            SetupClient::Gemini,
            json,
            "{\n  \"a\": 1\n}\n",
            |text| text.replace("\"a\": 1", "\"a\": 2"),
            "{\n  \"a\": 2\n}\n",
        ),
        (
            SetupClient::Gemini,
            json,
            "{\n  \"a\": 1\n}\n",
            |text| text.replace("{\n  \"a\"", "{\n  // mine\n  \"a\""),
            "{\n  // mine\n  \"a\": 1\n}\n",
        ),
        (
            SetupClient::Gemini,
            json,
            "{\n  \"a\": 1\n}\n",
            |text| text.trim_end().trim_end_matches('}').trim_end().to_owned() + ",\n  \"z\": 3\n}\n",
            "{\n  \"a\": 1,\n  \"z\": 3\n}\n",
        ),
        (
            SetupClient::Gemini,
            json,
            "{\n  \"a\": 1\n}\n",
            |text| text.replace("\"mcpServers\": {", "\"mcpServers\": {\n    \"other\": {},"),
            "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"other\": {}\n  }\n}\n",
        ),
        (
            SetupClient::Codex,
            toml,
            "model = \"x\"\n",
            |text| text.replace("\"x\"", "\"y\" # mine"),
            "model = \"y\" # mine\n",
        ),
        (
            SetupClient::Codex,
            toml,
            "model = \"x\"\n",
            |text| text.to_owned() + "\n# mine\n[other]\na = 1\n",
            "model = \"x\"\n\n# mine\n[other]\na = 1\n",
        ),
        (
            SetupClient::Codex,
            toml,
            "",
            |text| text.to_owned() + "\n[mcp_servers.other]\ncommand = \"x\"\n",
            "\n[mcp_servers.other]\ncommand = \"x\"\n",
        ),
    ];
    for (client, file, text, edit, expected) in rows {
        let world = World::new();
        world.write(file, text);
        world.add(*client, SetupScope::User);
        let edited = edit(&world.read(file));
        assert_ne!(edited, world.read(file), "the edit of {text:?} changes something");
        world.write(file, &edited);
        assert!(!world.remove());
        assert_eq!(world.read(file), *expected, "{edited:?}");
    }
}

#[test]
fn an_entry_that_tamis_did_not_write_is_left_alone() {
    let world = World::new();
    let text = "{\"mcpServers\": {\"tamis\": {\"command\": \"/opt/tamis\", \"args\": [\"mcp\", \"--tools\", \"all\"]}}}";
    world.write("home/.gemini/settings.json", text);
    assert!(matches!(
        world.plan(SetupClient::Gemini, SetupScope::User, "tamis").unwrap(),
        SetupStep::Foreign(_)
    ));
    assert!(world.setup.plan_removal(&[], None, SetupPart::ALL).unwrap().is_empty());
}

#[test]
fn an_entry_that_the_user_changed_is_left_alone() {
    let world = World::new();
    world.add(SetupClient::Gemini, SetupScope::User);
    let file = "home/.gemini/settings.json";
    let edited = world.read(file).replace("[\"mcp\"]", "[\"mcp\", \"--tools\", \"all\"]");
    world.write(file, &edited);
    assert!(matches!(
        world.plan(SetupClient::Gemini, SetupScope::User, "tamis").unwrap(),
        SetupStep::Foreign(_)
    ));
    assert!(world.remove());
    assert_eq!(world.read(file), edited);
}

#[test]
fn another_command_replaces_the_entry_and_the_first_file_comes_back() {
    let world = World::new();
    let (file, text) = ("home/.codex/config.toml", "model = \"x\"\n");
    world.write(file, text);
    world.add(SetupClient::Codex, SetupScope::User);
    match world.plan(SetupClient::Codex, SetupScope::User, "/opt/tamis").unwrap() {
        SetupStep::Change(change) => world.setup.apply(&change).unwrap(),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        world.read(file),
        "model = \"x\"\n\n[mcp_servers.tamis]\ncommand = \"/opt/tamis\"\nargs = [\"mcp\"]\n"
    );
    world.remove();
    assert_eq!(world.read(file), text);
}

#[test]
fn files_that_cannot_be_used_are_not_touched() {
    let rows: &[(SetupClient, &str, &[u8])] = &[
        (SetupClient::Gemini, "home/.gemini/settings.json", b"{\"a\": "),
        (SetupClient::Gemini, "home/.gemini/settings.json", b"[1]"),
        (SetupClient::Gemini, "home/.gemini/settings.json", b"{\"mcpServers\": []}"),
        (SetupClient::Gemini, "home/.gemini/settings.json", b"{\"a\": \"\xff\"}"),
        (SetupClient::Codex, "home/.codex/config.toml", b"a = "),
        (SetupClient::Codex, "home/.codex/config.toml", b"mcp_servers = 1\n"),
    ];
    for (client, file, bytes) in rows {
        let world = World::new();
        world.write(file, "");
        fs::write(world.path(file), bytes).unwrap();
        let failed = world.plan(*client, SetupScope::User, "tamis");
        assert!(matches!(failed, Err(SetupError::Document { .. })), "{failed:?}");
        assert_eq!(fs::read(world.path(file)).unwrap(), *bytes);
    }
    let world = World::new();
    fs::create_dir_all(world.path("home/.gemini/settings.json")).unwrap();
    let failed = world.plan(SetupClient::Gemini, SetupScope::User, "tamis");
    assert!(matches!(failed, Err(SetupError::NotAFile { .. })), "{failed:?}");
}

/// What a configuration file may be other than a file: how it is made, and whether setup works.
#[test]
fn unusual_files_are_used_or_refused_and_never_replaced() {
    type Make = fn(&World);
    let rows: &[(&str, Make, Option<&str>)] = &[
        ("a link to a file", |world| link(world, "home/real.json", "{}", FILE), None),
        (
            "a link to a file that does not exist",
            |world| symlink(world.path("home/real.json"), world.path(FILE)).unwrap(),
            None,
        ),
        (
            "a link to a link to a file in a folder that does not exist",
            |world| {
                symlink("other.json", world.path(FILE)).unwrap();
                symlink("../dotfiles/gemini/settings.json", world.path("home/.gemini/other.json")).unwrap();
            },
            None,
        ),
        (
            "a folder that is a link to a folder that does not exist",
            |world| {
                fs::remove_dir(world.path("home/.gemini")).unwrap();
                symlink("dotfiles/gemini", world.path("home/.gemini")).unwrap();
            },
            None,
        ),
        ("an empty file", |world| world.write(FILE, ""), None),
        (
            "a link to itself",
            |world| symlink("settings.json", world.path(FILE)).unwrap(),
            Some("cannot read"),
        ),
        ("a folder", |world| fs::create_dir(world.path(FILE)).unwrap(), Some("not a regular file")),
        (
            "an endless device",
            |world| symlink("/dev/zero", world.path(FILE)).unwrap(),
            Some("not a regular file"),
        ),
        (
            "a pipe",
            |world| {
                let made = std::process::Command::new("mkfifo").arg(world.path(FILE)).status().unwrap();
                assert!(made.success());
            },
            Some("not a regular file"),
        ),
        (
            "a huge file",
            |world| {
                fs::File::create(world.path(FILE)).unwrap().set_len(1 << 40).unwrap();
            },
            Some("larger than 32 MiB"),
        ),
        ("deep nesting", |world| world.write(FILE, &"[".repeat(1 << 20)), Some("cannot use")),
        (
            "deep nesting in a table",
            |world| world.write(FILE, &"{\"a\":".repeat(1 << 20)),
            Some("cannot use"),
        ),
    ];
    for (name, make, refused) in rows {
        let world = World::new();
        fs::create_dir(world.path("home/.gemini")).unwrap();
        make(&world);
        let list = || entries(&world.path("home"));
        let before = list();
        match (
            world.setup.plan(SetupClient::Gemini, SetupScope::User, SetupPart::ALL, "tamis").remove(0),
            refused,
        ) {
            (Ok(SetupStep::Change(change)), None) => {
                world.setup.apply(&change).unwrap();
                assert!(world.read(FILE).contains("hook gemini"), "{name}");
                let again = world.plan(SetupClient::Gemini, SetupScope::User, "tamis").unwrap();
                assert!(matches!(again, SetupStep::Unchanged(_)), "{name}: {again:?}");
                assert!(!world.remove(), "{name}");
            }
            (Err(error), Some(message)) => assert!(error.to_string().contains(message), "{name}: {error}"),
            (other, _) => panic!("{name}: {other:?}"),
        }
        assert_eq!(list(), before, "{name}");
    }
}

const FILE: &str = "home/.gemini/settings.json";

/// Everything below a folder that is not a folder: its path, its type and size, and where a link leads.
fn entries(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, about) = (entry.path(), entry.metadata().unwrap());
        if about.is_dir() {
            found.extend(entries(&path));
        } else {
            found.push(format!(
                "{path:?} {:?} {} {:?}",
                about.file_type(),
                about.len(),
                fs::read_link(&path).ok()
            ));
        }
    }
    found.sort();
    found
}

fn link(world: &World, target: &str, text: &str, path: &str) {
    world.write(target, text);
    symlink(world.path(target), world.path(path)).unwrap();
}

#[test]
fn a_file_that_cannot_be_used_does_not_stop_the_removal_from_others() {
    let world = World::new();
    world.add(SetupClient::Gemini, SetupScope::User);
    world.add(SetupClient::Codex, SetupScope::User);
    world.write(FILE, "{ broken");
    let planned = world.setup.plan_removal(&[], None, SetupPart::ALL).unwrap();
    let usable: Vec<_> = planned.iter().map(|(client, change)| (*client, change.is_ok())).collect();
    assert_eq!(usable, [(SetupClient::Codex, true), (SetupClient::Gemini, false)]);
}

#[test]
fn a_home_that_is_a_link_has_one_record_for_each_file() {
    let mut world = World::new();
    symlink(world.path("home"), world.path("link")).unwrap();
    world.setup.environment.home = world.path("project").join("../link");
    world.add(SetupClient::Gemini, SetupScope::User);
    match world.plan(SetupClient::Gemini, SetupScope::User, "/opt/tamis").unwrap() {
        SetupStep::Change(change) => world.setup.apply(&change).unwrap(),
        other => panic!("{other:?}"),
    }
    assert!(!world.remove());
    assert!(world.files().is_empty());
}

#[test]
fn a_change_that_fails_leaves_the_record_of_the_one_before() {
    let world = World::new();
    world.write(FILE, "{}");
    world.add(SetupClient::Gemini, SetupScope::User);
    let SetupStep::Change(change) = world.plan(SetupClient::Gemini, SetupScope::User, "/opt/tamis").unwrap()
    else {
        panic!("nothing to change")
    };
    let edited = world.read(FILE).replacen('{', "{ \"new\": 1, ", 1);
    world.write(FILE, &edited);
    assert!(matches!(world.setup.apply(&change), Err(SetupError::Raced { .. })));
    assert_eq!(world.read(FILE), edited);
    assert!(!world.remove());
    assert_eq!(bare(&world.read(FILE)), "{\"new\":1}");
}

#[test]
fn a_file_that_changes_meanwhile_is_not_replaced() {
    let world = World::new();
    let file = "home/.gemini/settings.json";
    world.write(file, "{}");
    let SetupStep::Change(change) = world.plan(SetupClient::Gemini, SetupScope::User, "tamis").unwrap()
    else {
        panic!("nothing to change")
    };
    world.write(file, "{\"new\": 1}");
    assert!(matches!(world.setup.apply(&change), Err(SetupError::Raced { .. })));
    assert_eq!(world.read(file), "{\"new\": 1}");
    // What was recorded before is undone as well: there is nothing in the file to remove.
    world.remove();
    assert_eq!(world.read(file), "{\"new\": 1}");
    let names = fs::read_dir(world.path("home/.gemini")).unwrap().flatten().map(|entry| entry.file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["settings.json"]);
}

#[test]
fn links_and_permissions_stay() {
    let world = World::new();
    world.write("home/dotfiles/gemini.json", "{}\n");
    fs::set_permissions(world.path("home/dotfiles/gemini.json"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(world.path("home/.gemini")).unwrap();
    let link = world.path("home/.gemini/settings.json");
    symlink(Path::new("../dotfiles/gemini.json"), &link).unwrap();
    world.add(SetupClient::Gemini, SetupScope::User);
    assert!(world.read("home/dotfiles/gemini.json").contains("tamis"));
    let mode = fs::metadata(&link).unwrap().permissions().mode() & 0o777;
    assert_eq!((fs::symlink_metadata(&link).unwrap().is_symlink(), mode), (true, 0o640));
    world.remove();
    assert_eq!(world.read("home/dotfiles/gemini.json"), "{}\n");
}

#[test]
fn removal_keeps_to_the_clients_the_scope_and_the_project_that_are_named() {
    let world = World::new();
    world.add(SetupClient::Gemini, SetupScope::User);
    world.add(SetupClient::Gemini, SetupScope::Project);
    world.add(SetupClient::Codex, SetupScope::Project);
    let planned = |clients: &[SetupClient], scope| {
        world.setup.plan_removal(clients, scope, SetupPart::ALL).unwrap().len()
    };
    assert_eq!(planned(&[], None), 3);
    assert_eq!(planned(&[SetupClient::Gemini], None), 2);
    assert_eq!(planned(&[SetupClient::Gemini], Some(SetupScope::Project)), 1);
    assert_eq!(planned(&[], Some(SetupScope::User)), 1);
    let elsewhere = Setup {
        data: world.setup.data.clone(),
        environment: SetupEnvironment {
            home: world.path("home"),
            project: world.path("home"),
            working_dir: world.path("home"),
            variables: BTreeMap::new(),
        },
    };
    assert_eq!(elsewhere.plan_removal(&[], None, SetupPart::ALL).unwrap().len(), 1);
}

#[test]
fn variables_of_clients_say_where_their_files_are() {
    let rows = [
        (SetupClient::ClaudeCode, "CLAUDE_CONFIG_DIR", "project/c", "project/c/.claude.json"),
        (SetupClient::Codex, "CODEX_HOME", "project/c", "project/c/config.toml"),
        (SetupClient::Gemini, "GEMINI_CLI_HOME", "project/c", "project/c/.gemini/settings.json"),
        (SetupClient::OpenCode, "XDG_CONFIG_HOME", "project/c", "project/c/opencode/opencode.json"),
    ];
    for (client, variable, value, file) in rows {
        let mut world = World::new();
        let value = world.path(value).into_os_string();
        world.setup.environment.variables.insert(variable.to_owned(), value);
        world.add(client, SetupScope::User);
        assert!(world.path(file).is_file(), "{client:?}");
    }
    let world = World::new();
    world.write("home/.config/opencode/opencode.jsonc", "{ /* mine */ }");
    world.add(SetupClient::OpenCode, SetupScope::User);
    assert!(world.read("home/.config/opencode/opencode.jsonc").contains("tamis"));
}

#[test]
fn clients_are_found_by_their_programs_and_folders() {
    let mut world = World::new();
    let found = |world: &World| -> Vec<&str> {
        let installed =
            SetupClient::ALL.iter().filter(|client| client.is_installed(&world.setup.environment));
        installed.map(|client| client.name()).collect()
    };
    assert_eq!(found(&world), [] as [&str; 0]);
    world.write("home/bin/codex", "");
    world.write("home/bin/gemini", "");
    fs::set_permissions(world.path("home/bin/codex"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(world.path("home/.cursor")).unwrap();
    let bin = world.path("home/bin").into_os_string();
    world.setup.environment.variables.insert("PATH".to_owned(), bin);
    // A file that cannot be executed is no program.
    assert_eq!(found(&world), ["codex", "cursor"]);
}

/// JSON as people write it: comments, blank lines, trailing commas.
fn object(depth: u32) -> BoxedStrategy<String> {
    let blank = prop_oneof![
        Just(""),
        Just(" "),
        Just("\n"),
        Just("\n  "),
        Just(" // note\n"),
        Just(" /* note */ "),
        Just("\n\n\t")
    ];
    let leaf = prop_oneof![Just("1".to_owned()), Just("\"x, // y\"".to_owned()), Just("[1, 2]".to_owned())];
    let value = if depth == 0 { leaf.boxed() } else { prop_oneof![leaf, object(depth - 1)].boxed() };
    let member = (blank.clone(), prop_oneof![Just("a"), Just("b"), Just("mcpServers"), Just("other")], value)
        .prop_filter("servers are an object", |(_, key, value)| {
            *key != "mcpServers" || value.starts_with('{')
        });
    (proptest::collection::vec(member, 0..4), blank, any::<bool>())
        .prop_map(|(members, blank, comma)| {
            let mut names: Vec<&str> = Vec::new();
            let mut text = String::new();
            for (gap, key, value) in &members {
                if names.contains(key) {
                    continue;
                }
                text += &format!("{}{gap}\"{key}\": {value}", if names.is_empty() { "" } else { "," });
                names.push(*key);
            }
            let comma = if comma && !names.is_empty() { "," } else { "" };
            format!("{{{text}{comma}{blank}}}")
        })
        .boxed()
}

proptest! {
    /// Whatever the file was: it comes back. With a further change of the user, only the entry and blanks are gone.
    #[test]
    fn every_json_file_comes_back(text in object(2)) {
        let world = World::new();
        let file = "home/.gemini/settings.json";
        world.write(file, &text);
        world.add(SetupClient::Gemini, SetupScope::User);
        let added = world.read(file);
        prop_assert_eq!(added.matches("note").count(), text.matches("note").count());
        world.remove();
        prop_assert_eq!(world.read(file), text.clone());

        world.add(SetupClient::Gemini, SetupScope::User);
        world.write(file, &format!("// user's\n{}", world.read(file)));
        world.remove();
        prop_assert_eq!(bare(&world.read(file)), bare(&format!("// user's\n{text}")));
    }
}
