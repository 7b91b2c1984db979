//! The README's one line for each agent connects it, and so does `tamis setup`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tamis_testkit::{InstalledClients, run_bounded};

use crate::{LIMIT, tamis};

/// The setup of an agent in the README's table: the last part of its row that is code.
fn setup(agent: &str) -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).expect("the README");
    let row = readme.lines().find(|line| line.starts_with(&format!("| {agent} |"))).expect("a row");
    row.rsplit('`').nth(1).expect("code").to_owned()
}

/// A home with a project, where `tamis` and the clients are on PATH.
struct Home {
    clients: InstalledClients,
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Home {
        let home =
            Home { clients: InstalledClients::installed(), folder: tempfile::tempdir().expect("a home") };
        let bin = home.folder.path().join("bin");
        for folder in [&bin, &home.project().join(".git")] {
            fs::create_dir_all(folder).expect("a folder");
        }
        symlink(tamis(), bin.join("tamis")).expect("a link");
        home
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// What a line of shell in the project prints.
    fn shell(&self, line: &str) -> String {
        let home = self.folder.path();
        let mut command = self.clients.beside_tools(Path::new("/bin/sh"), home);
        let line = format!("PATH={}/bin:$PATH; {line}", home.display());
        command.args(["-c", &line]).current_dir(self.project());
        let finished = run_bounded(command, LIMIT);
        format!("{}{}", finished.stdout, finished.stderr)
    }
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn the_readme_connects_each_agent() {
    let home = Home::new();
    fs::write(home.project().join("opencode.json"), setup("OpenCode")).expect("a configuration");
    // Gemini CLI starts servers only in folders that its user trusts.
    for (agent, list, connected) in [
        ("Claude Code", "claude mcp list", "tamis: tamis mcp - ✔ Connected"),
        ("Codex", "codex mcp list", "tamis  tamis    mcp"),
        (
            "Gemini CLI",
            "GEMINI_CLI_TRUST_WORKSPACE=true gemini mcp list",
            "tamis: tamis mcp (stdio) - Connected",
        ),
        ("OpenCode", "opencode mcp list", "connected"),
    ] {
        let added = if agent == "OpenCode" { String::new() } else { home.shell(&setup(agent)) };
        let listed = home.shell(list);
        assert!(listed.contains(connected), "{agent}: {added}\n{listed}");
    }
}

/// Every file below a folder, with its bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap_or_default());
        }
    }
    found
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn setup_connects_each_agent_and_its_removal_leaves_nothing() {
    for scope in ["--user", "--project"] {
        let home = Home::new();
        let folder = home.folder.path();
        // Codex reads a project's configuration only if the user trusts the project.
        if scope == "--project" {
            let trusted = format!(
                "[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
                home.project().canonicalize().expect("a path").display()
            );
            fs::create_dir(folder.join(".codex")).expect("a folder");
            fs::write(folder.join(".codex/config.toml"), trusted).expect("a configuration");
        }
        let before = files(folder);
        let said = home.shell(&format!("tamis setup {scope} claude codex gemini opencode"));
        let written: Vec<PathBuf> = files(folder)
            .into_keys()
            .filter(|path| !before.contains_key(path) && !path.starts_with(folder.join(".local")))
            .collect();
        for (list, connected) in [
            ("claude mcp list", "mcp - "),
            ("codex mcp list", "mcp"),
            ("GEMINI_CLI_TRUST_WORKSPACE=true gemini mcp list", "(stdio) - Connected"),
            ("opencode mcp list", "connected"),
        ] {
            let listed = home.shell(list);
            assert!(
                listed.contains("tamis") && listed.contains(connected),
                "{scope} {list}: {said}\n{listed}"
            );
        }
        let said = home.shell("tamis setup --remove");
        for path in written {
            // Claude Code and OpenCode add entries of their own to these files.
            if path.ends_with(".claude.json") || path.ends_with("opencode.json") {
                assert!(!fs::read_to_string(&path).unwrap_or_default().contains("tamis"), "{said}");
            } else {
                assert!(!path.exists(), "{scope}: {} is left: {said}", path.display());
            }
        }
        for (path, bytes) in before {
            assert_eq!(fs::read(&path).unwrap_or_default(), bytes, "{}", path.display());
        }
    }
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn each_agent_installs_the_plugin_folder_by_its_own_command() {
    let home = Home::new();
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin").canonicalize().expect("a folder");
    let plugin = plugin.display();
    for (install, list, connected, remove) in [
        (
            format!("claude plugin marketplace add '{plugin}' && claude plugin install tamis@tamis"),
            "claude mcp list",
            "plugin:tamis:tamis: tamis mcp - ✔ Connected",
            "claude plugin uninstall tamis@tamis",
        ),
        (
            format!("codex plugin marketplace add '{plugin}' && codex plugin add tamis@tamis"),
            "codex mcp list",
            "tamis  tamis    mcp",
            "codex plugin remove tamis@tamis",
        ),
        (
            // The answer is for the question whether the folder is trusted.
            format!("echo y | gemini extensions install '{plugin}' --consent"),
            "GEMINI_CLI_TRUST_WORKSPACE=true gemini mcp list",
            "tamis (from tamis): tamis mcp (stdio) - Connected",
            "gemini extensions uninstall tamis",
        ),
    ] {
        let installed = home.shell(&install);
        let listed = home.shell(list);
        assert!(listed.contains(connected), "{install}: {installed}\n{listed}");
        let removed = home.shell(remove);
        let listed = home.shell(list);
        assert!(!listed.contains("tamis mcp") && !listed.contains("tamis    mcp"), "{removed}\n{listed}");
    }
}
