//! The README's one line for each agent connects it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tamis_testkit::{InstalledClients, run_bounded};

use crate::{LIMIT, tamis};

/// The setup of an agent in the README's table: the last part of its row that is code.
fn setup(agent: &str) -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).expect("the README");
    let row = readme.lines().find(|line| line.starts_with(&format!("| {agent} |"))).expect("a row");
    row.rsplit('`').nth(1).expect("code").to_owned()
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn the_readme_connects_each_agent() {
    let clients = InstalledClients::installed();
    let home = tempfile::tempdir().expect("a home");
    let (bin, project) = (home.path().join("bin"), home.path().join("project"));
    for folder in [&bin, &project] {
        fs::create_dir(folder).expect("a folder");
    }
    symlink(tamis(), bin.join("tamis")).expect("a link");
    let shell = |line: &str| {
        let mut command = clients.beside_tools(Path::new("/bin/sh"), home.path());
        let line = format!("PATH={}:$PATH; {line}", bin.display());
        command.args(["-c", &line]).current_dir(&project);
        let finished = run_bounded(command, LIMIT);
        format!("{}{}", finished.stdout, finished.stderr)
    };
    fs::write(project.join("opencode.json"), setup("OpenCode")).expect("a configuration");
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
        let added = if agent == "OpenCode" { String::new() } else { shell(&setup(agent)) };
        let listed = shell(list);
        assert!(listed.contains(connected), "{agent}: {added}\n{listed}");
    }
}
