//! `tamis setup`: what it prints and writes, and that it can be undone.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::{Fixture, Ran, finish};

/// The program, on PATH, with a home that has folders of Codex and Gemini CLI.
fn world() -> Fixture {
    let fixture = Fixture::new();
    for folder in ["bin", "home/.codex", "home/.gemini"] {
        fs::create_dir_all(fixture.folder.path().join(folder)).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_tamis"), fixture.folder.path().join("bin/tamis")).unwrap();
    fixture
}

fn run(fixture: &Fixture, arguments: &[&str]) -> Ran {
    let mut command = fixture.tamis(&[&["setup"], arguments].concat());
    finish(command.env("PATH", fixture.folder.path().join("bin")), b"")
}

fn read(fixture: &Fixture, name: &str) -> String {
    fs::read_to_string(fixture.folder.path().join(name)).unwrap_or_else(|_| "(none)".to_owned())
}

#[test]
fn installed_clients_are_connected_and_disconnected() {
    let fixture = world();
    let folder = fixture.folder.path().canonicalize().unwrap();
    let settings = "{\n  // mine\n  \"theme\": \"dark\"\n}\n";
    fs::write(folder.join("home/.gemini/settings.json"), settings).unwrap();
    let program = folder.join("bin/tamis");

    let planned = run(&fixture, &["--only", "mcp", "--dry-run"]);
    assert_eq!(planned.code, Some(0), "{}", planned.stderr);
    assert_eq!(read(&fixture, "home/.codex/config.toml"), "(none)");
    assert_eq!(read(&fixture, "home/.gemini/settings.json"), settings);

    let changed = run(&fixture, &["--only", "mcp"]);
    assert_eq!(changed.code, Some(0), "{}", changed.stderr);
    assert_eq!(changed.stdout, planned.stdout);
    let expected = format!(
        "--- /dev/null\n+++ {0}/home/.codex/config.toml\n@@ -0,0 +1,3 @@\n+[mcp_servers.tamis]\n+command = \"{1}\"\n+args = [\"mcp\"]\n\
         --- {0}/home/.gemini/settings.json\n+++ {0}/home/.gemini/settings.json\n@@ -1,4 +1,10 @@\n {{\n   // mine\n-  \"theme\": \"dark\"\n\
         +  \"theme\": \"dark\",\n+  \"mcpServers\": {{\n+    \"tamis\": {{\n+      \"command\": \"{1}\",\n+      \"args\": [\"mcp\"]\n+    }}\n+  }}\n }}\n",
        folder.display(),
        program.display()
    );
    assert_eq!(changed.stdout, expected);
    assert!(changed.stderr.contains("Gemini CLI: connected in "), "{}", changed.stderr);

    let again = run(&fixture, &["--only", "mcp", "--json"]);
    let statuses = again.json();
    assert_eq!(
        (statuses[0]["client"].as_str(), statuses[0]["status"].as_str()),
        (Some("codex"), Some("unchanged"))
    );
    assert_eq!(statuses[1]["status"], "unchanged");

    let removed = run(&fixture, &["--remove"]);
    assert_eq!(removed.code, Some(0), "{}", removed.stderr);
    assert_eq!(read(&fixture, "home/.codex/config.toml"), "(none)");
    assert_eq!(read(&fixture, "home/.gemini/settings.json"), settings);
    let nothing = run(&fixture, &["--remove"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(0), ""));
}

/// The clients of a list of outcomes, with their statuses and the files below the fixture's folder.
fn outcomes(fixture: &Fixture, ran: &Ran) -> Vec<String> {
    let folder = fixture.folder.path().canonicalize().unwrap();
    let json = ran.json();
    let row = |outcome: &serde_json::Value| {
        let path = outcome["path"].as_str().unwrap_or("-");
        let path = path.strip_prefix(&format!("{}/", folder.display())).unwrap_or(path);
        format!("{} {} {path}", outcome["client"].as_str().unwrap(), outcome["status"].as_str().unwrap())
    };
    json.as_array().unwrap().iter().map(row).collect()
}

#[test]
fn hooks_are_set_up_with_the_servers_and_every_file_is_listed() {
    let fixture = world();
    let clients = ["claude", "codex", "gemini", "opencode", "cursor"];
    let files = [
        "claude X home/.claude.json",
        "claude X home/.claude/settings.json",
        "codex X home/.codex/config.toml",
        "codex X home/.codex/hooks.json",
        "gemini X home/.gemini/settings.json",
        "opencode X home/.config/opencode/opencode.json",
        "opencode X home/.config/opencode/plugins/tamis.js",
        "cursor X home/.cursor/mcp.json",
    ];
    let expected = |status: &str| files.map(|file| file.replace('X', status)).to_vec();
    for (arguments, status) in
        [(&["--dry-run", "--json"] as &[_], "planned"), (&["--json"], "changed"), (&["--json"], "unchanged")]
    {
        let ran = run(&fixture, &[&clients, arguments].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(outcomes(&fixture, &ran), expected(status));
        let diffs = ran.json().as_array().unwrap().iter().all(|outcome| outcome["diff"].is_string());
        assert_eq!(diffs, status != "unchanged");
    }
    let program = fixture.folder.path().canonicalize().unwrap().join("bin/tamis");
    let command = format!("if [ -x '{0}' ]; then '{0}' hook codex || true; fi", program.display());
    assert!(read(&fixture, "home/.codex/hooks.json").contains(&command));

    let none = run(&fixture, &["cursor", "zed", "--only", "hooks", "--json"]);
    assert_eq!(outcomes(&fixture, &none), ["cursor unsupported -", "zed unsupported -"]);

    let removed = run(&fixture, &["--remove", "--only", "hooks", "--json"]);
    let mut listed = outcomes(&fixture, &removed);
    listed.sort();
    let mut hooks = [1, 3, 4, 6].map(|index| files[index].replace('X', "changed"));
    hooks.sort();
    assert_eq!(listed, hooks);
    assert!(read(&fixture, "home/.gemini/settings.json").contains("mcpServers"));
    assert_eq!(run(&fixture, &["--remove"]).code, Some(0));
    for file in files {
        let name = file.rsplit(' ').next().unwrap();
        assert_eq!(read(&fixture, name), "(none)", "{name}");
    }
}

#[test]
fn the_next_step_in_the_client_is_said() {
    let fixture = world();
    let ran = run(&fixture, &["codex"]);
    assert!(ran.stderr.contains("enter `/hooks` and trust them"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("switches them off"), "{}", ran.stderr);
    let settings = fixture.folder.path().join("home/.gemini/settings.json");
    fs::write(settings, "{ \"hooksConfig\": { \"enabled\": false } }").unwrap();
    let ran = run(&fixture, &["gemini"]);
    assert!(ran.stderr.contains("`hooksConfig.enabled` in "), "{}", ran.stderr);
}

#[test]
fn setups_at_the_same_time_write_one_entry_that_can_be_removed() {
    let fixture = world();
    let path = fixture.folder.path().join("home/.gemini/settings.json");
    fs::write(&path, "{ /* mine */ }\n").unwrap();
    let start = |_| {
        let mut command = fixture.tamis(&["setup", "gemini", "codex", "--json"]);
        command.env("PATH", fixture.folder.path().join("bin"));
        std::thread::spawn(move || finish(&mut command, b""))
    };
    let ran: Vec<_> = (0..4).map(start).collect::<Vec<_>>();
    for ran in ran {
        let ran = ran.join().unwrap();
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    assert_eq!(read(&fixture, "home/.gemini/settings.json").matches("hook gemini").count(), 2);
    assert_eq!(run(&fixture, &["--remove"]).code, Some(0));
    assert_eq!(read(&fixture, "home/.gemini/settings.json"), "{ /* mine */ }\n");
    assert_eq!(read(&fixture, "home/.codex/hooks.json"), "(none)");
}

#[test]
fn a_projects_files_name_no_path_of_this_machine() {
    let fixture = world();
    let changed = run(&fixture, &["claude", "vscode", "lmstudio", "--project"]);
    assert_eq!(changed.code, Some(0), "{}", changed.stderr);
    assert!(read(&fixture, "work/.mcp.json").contains("\"command\": \"tamis\""));
    assert!(read(&fixture, "work/.vscode/mcp.json").contains("\"command\": \"tamis\""));
    assert!(changed.stderr.contains("LM Studio: has no configuration for a project"), "{}", changed.stderr);
    assert_eq!(run(&fixture, &["--remove", "--project"]).code, Some(0));
    assert_eq!(read(&fixture, "work/.mcp.json"), "(none)");
    assert!(!fixture.work().join(".vscode").exists());
}

#[test]
fn one_file_that_cannot_be_used_does_not_stop_the_others() {
    let fixture = world();
    let path = fixture.folder.path().join("home/.gemini/settings.json");
    fs::write(&path, "{ \"theme\": ").unwrap();
    let changed = run(&fixture, &[]);
    assert_eq!(changed.code, Some(1));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ \"theme\": ");
    assert!(read(&fixture, "home/.codex/config.toml").contains("tamis"));
    assert!(changed.stderr.contains("error: Gemini CLI was not changed"), "{}", changed.stderr);
    assert!(changed.stderr.contains("tamis setup gemini"), "{}", changed.stderr);
}

#[test]
fn no_file_of_a_client_is_written_if_another_one_cannot_be_used() {
    for (client, broken, others) in [
        ("claude", "home/.claude/settings.json", &["home/.claude.json"][..]),
        ("claude", "home/.claude.json", &["home/.claude/settings.json"]),
        ("codex", "home/.codex/config.toml", &["home/.codex/hooks.json"]),
        ("codex", "home/.codex/hooks.json", &["home/.codex/config.toml"]),
        ("opencode", "home/.config/opencode/opencode.json", &["home/.config/opencode/plugins/tamis.js"]),
    ] {
        let fixture = world();
        let path = fixture.folder.path().join(broken);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "{ [").unwrap();
        let ran = run(&fixture, &[client]);
        assert_eq!(ran.code, Some(1), "{client} {broken}");
        assert!(ran.stderr.contains(" was not changed"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("connected in"), "{}", ran.stderr);
        others.iter().for_each(|other| assert_eq!(read(&fixture, other), "(none)", "{client} {broken}"));
        assert_eq!(read(&fixture, broken), "{ [");
    }
}

#[test]
fn nothing_is_added_beside_a_server_that_is_there_unless_a_scope_is_named() {
    let server = "{\"mcpServers\": {\"tamis\": {\"command\": \"tamis\", \"args\": [\"mcp\"]}}}";
    let fixture = world();
    let work = fixture.work().canonicalize().unwrap();
    let local = format!("{{\"projects\": {{\"{}\": {server}}}}}", work.display());
    fs::write(fixture.folder.path().join("home/.claude.json"), &local).unwrap();
    fs::create_dir_all(work.join(".gemini")).unwrap();
    fs::write(work.join(".gemini/settings.json"), server).unwrap();
    let ran = run(&fixture, &["claude", "gemini", "--only", "mcp"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("already connected in ").count(), 2, "{}", ran.stderr);
    assert_eq!(read(&fixture, "home/.claude.json"), local);
    assert_eq!(read(&fixture, "home/.gemini/settings.json"), "(none)");
    let ran = run(&fixture, &["claude", "gemini", "--only", "mcp", "--user"]);
    assert_eq!(ran.stderr.matches(": connected in ").count(), 2, "{}", ran.stderr);
}

#[test]
fn nothing_is_added_beside_a_server_of_another_name() {
    let server = "{\"mcpServers\": {\"my-tamis\": {\"command\": \"/opt/bin/tamis\", \"args\": [\"mcp\"]}}}";
    let fixture = world();
    fs::write(fixture.folder.path().join("home/.gemini/settings.json"), server).unwrap();
    let ran = run(&fixture, &["gemini", "--only", "mcp"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("already connected in "), "{}", ran.stderr);
    assert_eq!(read(&fixture, "home/.gemini/settings.json"), server);
    // A program whose name only contains `tamis` is another program.
    let other = server.replace("tamis", "artamis");
    fs::write(fixture.folder.path().join("home/.gemini/settings.json"), other).unwrap();
    let ran = run(&fixture, &["gemini", "--only", "mcp"]);
    assert!(ran.stderr.contains(": connected in "), "{}", ran.stderr);
}

#[test]
fn the_error_about_an_unknown_client_names_the_server() {
    let ran = run(&world(), &["emacs"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("any other MCP client can start `tamis mcp`"), "{}", ran.stderr);
}

#[test]
fn secrets_near_a_change_are_not_printed() {
    let fixture = world();
    let key = format!("sk-ant-api03-{}", "a1B2c3D4e5F6g7H8".repeat(6));
    fs::write(
        fixture.folder.path().join("home/.gemini/settings.json"),
        format!("{{\n  \"apiKey\": \"{key}\"\n}}\n"),
    )
    .unwrap();
    for arguments in [&["--dry-run"] as &[_], &["--dry-run", "--json"], &[]] {
        let ran = run(&fixture, arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(&key), "{}", ran.stdout);
    }
    assert!(read(&fixture, "home/.gemini/settings.json").contains(&key));
}

#[test]
fn without_a_client_it_says_which_ones_it_knows() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.folder.path().join("home")).unwrap();
    let ran = run(&fixture, &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("Claude Code, Codex, Gemini CLI, OpenCode"), "{}", ran.stderr);
}

#[test]
fn the_doctor_says_what_is_not_connected_and_how_to_connect_it() {
    let fixture = world();
    let doctor = |arguments: &[&str]| {
        let mut command = fixture.tamis(&[&["doctor"], arguments].concat());
        finish(command.env("PATH", fixture.folder.path().join("bin")), b"")
    };
    let before = doctor(&[]);
    assert_eq!(before.code, Some(0), "{}{}", before.stdout, before.stderr);
    assert!(
        before
            .stdout
            .contains("note     Codex: hooks not configured\n         fix: tamis setup codex --only hooks\n"),
        "{}",
        before.stdout
    );
    assert!(!before.stdout.contains("Claude Code"), "{}", before.stdout);
    assert_eq!(run(&fixture, &[]).code, Some(0));
    let findings = doctor(&["--json"]).json();
    let verdicts: Vec<_> =
        findings.as_array().unwrap().iter().map(|finding| finding["verdict"].clone()).collect();
    // The program, the data folder, and for each client its server, its hooks and whether they run; Codex skips new hooks.
    let mut expected = ["fine"; 9];
    expected[4] = "note";
    assert_eq!(verdicts, expected, "{findings}");
    assert_eq!(findings[4]["fix"], "start `codex`, enter `/hooks` and trust them");
    fs::write(fixture.folder.path().join("home/.codex/config.toml"), "[").unwrap();
    let broken = doctor(&[]);
    assert_eq!(broken.code, Some(1), "{}", broken.stdout);
    assert!(broken.stderr.contains("found 1 problem"), "{}", broken.stderr);
}

/// The program as a client runs it: what comes in is JSON, and whatever goes wrong, it prints nothing and succeeds.
#[test]
fn a_hook_succeeds_and_prints_nothing_if_it_has_nothing_to_say() {
    let fixture = world();
    for (client, input) in [
        ("claude", ""),
        ("claude", "{"),
        (
            "codex",
            "{\"hook_event_name\": \"PostToolUse\", \"tool_name\": \"Bash\", \"tool_response\": \"short\"}",
        ),
        ("gemini", "\u{0}"),
        ("opencode", "[[[[[[[[["),
    ] {
        let ran = finish(&mut fixture.tamis(&["hook", client]), input.as_bytes());
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (Some(0), "", ""),
            "{client}: {input}"
        );
    }
    // A marker is refused also where nothing can be stored.
    let call = "{\"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Write\", \
                \"tool_input\": {\"file_path\": \"a\", \"content\": \"[tamis 4-9: tests]\"}}";
    let mut command = fixture.tamis(&["hook", "claude"]);
    let ran = finish(
        command.env("TAMIS_DATA_DIR", "/dev/null/x").env("TAMIS_HOOK_DEADLINE_MS", "60000"),
        call.as_bytes(),
    );
    assert!(ran.stdout.contains("\"permissionDecision\":\"deny\""), "{}{}", ran.stdout, ran.stderr);
}
