//! A fixture with a repository, and agents that are commands: real git, real tmux.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tamis_agents::Tmux;

use super::{Fixture, Ran, Server, eventually, finish, runs};

/// A fixture with a repository for agents. Dropping it ends everything that was started.
pub struct AgentFixture {
    pub base: Fixture,
}

impl AgentFixture {
    pub fn new() -> AgentFixture {
        let fixture = AgentFixture { base: Fixture::new() };
        let work = fixture.base.work();
        fixture.git(&work, &["init", "-q", "-b", "main"]);
        std::fs::write(work.join("parser.py"), "def parse(text):\n    return int(text)\n").unwrap();
        fixture.commit(&work, "a parser");
        fixture
    }

    pub fn tamis(&self, arguments: &[&str]) -> Command {
        let mut command = self.base.tamis(arguments);
        command
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("TMUX_TMPDIR", self.base.folder.path())
            // A server in the background must not take the port of another.
            .env("MCP_SERVER_PORT", "0");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        finish(&mut self.tamis(arguments), b"")
    }

    /// What a command prints that succeeds.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
        ran.json()
    }

    pub fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        tamis_testkit::git(folder, arguments)
    }

    pub fn commit(&self, folder: &Path, message: &str) {
        self.git(folder, &["add", "-A"]);
        self.git(folder, &["commit", "-q", "-m", message]);
    }

    /// A server that coordinates. Until it does, starting an agent would start another server.
    pub fn coordinating(&self) -> Server {
        let server = self.serve();
        self.coordinated_by(server.child.id());
        server
    }

    pub fn serve(&self) -> Server {
        Server::start(self.tamis(&["serve", "--port", "0"]))
    }

    /// Starts an agent that only waits.
    pub fn start(&self, more: &[&str]) -> Value {
        let command = ["--json", "--", "sleep", "600"];
        self.json(&[&["agents", "start"], more, &command[..]].concat())
    }

    /// Starts a number of agents, ten at a time, and returns their names.
    pub fn start_many(&self, number: usize) -> Vec<String> {
        let issues: Vec<String> = (1..=number).map(|issue| issue.to_string()).collect();
        let mut ids = Vec::new();
        for issues in issues.chunks(10) {
            let started: Vec<_> = std::thread::scope(|scope| {
                let mut starting = Vec::new();
                for issue in issues {
                    starting.push(scope.spawn(move || self.start(&["--issue", issue])["id"].clone()));
                }
                starting.into_iter().map(|started| started.join().unwrap()).collect()
            });
            let started = started.iter().map(|id| id.as_str().unwrap().to_owned());
            ids.extend(started);
        }
        ids
    }

    /// Who coordinates.
    pub fn coordinator(&self) -> Option<Value> {
        let file = std::fs::read(self.base.data().join("agents/coordinator.json")).ok()?;
        serde_json::from_slice(&file).ok()
    }

    pub fn coordinated_by(&self, pid: u32) {
        eventually("it coordinates", || self.coordinator().is_some_and(|there| there["pid"] == pid));
    }

    /// Ends the server that was started in the background, if there is one.
    pub fn end_background(&self) {
        let pid = self.coordinator().and_then(|there| there["pid"].as_u64()).map(|pid| pid.to_string());
        if let Some(pid) = pid.filter(|pid| is_serve(pid)) {
            let _ = Command::new("sh").args(["-c", &format!("kill {pid}")]).status();
            eventually("the server in the background has ended", || !runs(&pid));
        }
    }

    pub fn identity_of(&self, id: &str) -> PathBuf {
        self.base.data().join("agents/identities").join(id)
    }

    pub fn statuses(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let list = self.json(&["agents", "list", "--json"]);
        list.as_array().unwrap().iter().map(|it| (text(&it["id"]), text(&it["status"]))).collect()
    }
}

impl Drop for AgentFixture {
    fn drop(&mut self) {
        self.end_background();
        if let Ok(tmux) = Tmux::for_data_folder(&self.base.data()) {
            let _ = Command::new("tmux")
                .args(["-L", tmux.server(), "kill-server"])
                .env("TMUX_TMPDIR", self.base.folder.path())
                .stderr(Stdio::null())
                .status();
        }
    }
}

pub fn is_serve(pid: &str) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).contains("tamis\0serve\0")
}
