//! A data folder with its server, a repository with a remote, and agents that are just commands.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::{Value, json};
use tamis_testkit::{FakeGithub, FakeRepository};

use crate::common::{Fixture, PATIENCE, Server, eventually, finish};
use crate::consistency;

/// What came of a call.
#[derive(Debug)]
pub(crate) enum Answer {
    Done(Value),
    Refused(Value),
    /// The connection broke.
    None,
}

pub(crate) struct FaultFixture {
    base: Fixture,
    /// Locked, since what it says can be heard by one thread only.
    server: Mutex<Option<Server>>,
    /// Where it listens, and its number.
    running: Option<(SocketAddr, u32)>,
    github: FakeGithub,
    /// Commits that must not be lost.
    commits: Vec<String>,
    /// Uncommitted files and their bytes that must not be lost.
    mess: Vec<(PathBuf, Vec<u8>)>,
    pub(crate) tool_timeout_ms: Option<u64>,
    /// What the server's environment has besides.
    pub(crate) variables: Vec<(&'static str, String)>,
    identities: Mutex<BTreeMap<String, String>>,
}

pub(crate) const TOKEN: &str = "dummy-token-of-the-tests";
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl FaultFixture {
    pub(crate) fn new() -> FaultFixture {
        let base = Fixture::new();
        let folder = base.folder.path().to_owned();
        fs::create_dir_all(folder.join("home")).unwrap();
        let git = |arguments: &[&str]| run_git(&folder, &folder, arguments);
        git(&["init", "--quiet", "--initial-branch=main", "project"]);
        git(&["init", "--quiet", "--bare", "--initial-branch=main", "remote.git"]);
        let project = folder.join("project");
        let git = |arguments: &[&str]| run_git(&folder, &project, arguments);
        fs::write(project.join("README.md"), "a project\n").unwrap();
        git(&["add", "README.md"]);
        git(&["-c", "user.name=A", "-c", "user.email=a@b.invalid", "commit", "--quiet", "-m", "Begin"]);
        let bare = folder.join("remote.git");
        git(&["push", "--quiet", bare.to_str().unwrap(), "main"]);
        git(&["remote", "add", "origin", "https://github.com/acme/app.git"]);
        git(&["config", "remote.origin.pushurl", bare.to_str().unwrap()]);
        let github = FakeGithub::start(FakeRepository {
            owner: "acme".to_owned(),
            name: "app".to_owned(),
            token: TOKEN.to_owned(),
            git: Some(bare),
            ..FakeRepository::default()
        });
        FaultFixture {
            base,
            server: Mutex::default(),
            running: None,
            github,
            commits: Vec::new(),
            mess: Vec::new(),
            tool_timeout_ms: None,
            variables: Vec::new(),
            identities: Mutex::default(),
        }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.base.folder.path().to_owned()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.base.data()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder().join("project")
    }

    pub(crate) fn github(&self) -> &FakeGithub {
        &self.github
    }

    pub(crate) fn tamis(&self, arguments: &[&str]) -> Command {
        let mut command = self.base.tamis(arguments);
        command.env("PATH", PATH).env("LANG", "C.UTF-8").current_dir(self.project());
        command
            .env("GITHUB_TOKEN", TOKEN)
            .env("GITHUB_API_URL", self.github.url())
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    pub(crate) fn serve(&mut self, fault: Option<&str>) {
        assert!(self.running.is_none());
        let mut command = self.tamis(&["serve", "--port", "0"]);
        if let Some(fault) = fault {
            command.env("TAMIS_FAULT", fault);
        }
        if let Some(limit) = self.tool_timeout_ms {
            command.env("MCP_TOOL_TIMEOUT", limit.to_string());
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let server = Server::start(command);
        let pid = server.child.id();
        self.running = Some((server.address(), pid));
        *self.server.lock().unwrap() = Some(server);
        // It listens before it coordinates.
        eventually("it coordinates", || self.coordinator_pid() == Some(pid));
    }

    fn coordinator_pid(&self) -> Option<u32> {
        let text = fs::read(self.data().join("agents/coordinator.json")).ok()?;
        serde_json::from_slice::<Value>(&text).ok()?["pid"].as_u64()?.try_into().ok()
    }

    /// Ends the server as a person would, if it lives.
    pub(crate) fn end_server(&mut self) {
        self.running = None;
        *self.server.lock().unwrap() = None;
    }

    /// Kills the server, and leaves what it has started to go on.
    pub(crate) fn kill_server(&self) {
        self.signal_server("KILL");
    }

    pub(crate) fn signal_server(&self, name: &str) {
        signal(name, &self.running.unwrap().1.to_string());
    }

    pub(crate) fn wait_for_death(&self) {
        let stat = format!("/proc/{}/stat", self.running.unwrap().1);
        eventually("the server has died", || {
            fs::read_to_string(&stat).map_or(true, |stat| {
                stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
            })
        });
    }

    /// A request as a person's program sends it.
    pub(crate) fn rest(&self, method: &str, path: &str, body: &Value) -> Answer {
        let token = fs::read_to_string(self.data().join("token")).unwrap();
        self.request(method, path, token.trim(), None, body)
    }

    fn request(&self, method: &str, path: &str, bearer: &str, key: Option<&str>, body: &Value) -> Answer {
        let authorization = format!("Bearer {bearer}");
        let mut headers = vec![("Authorization", authorization.as_str())];
        headers.extend(key.map(|key| ("Tamis-Call", key)));
        let address = self.running.unwrap().0;
        let sent = std::panic::AssertUnwindSafe(|| {
            crate::common::http(address, method, path, &headers, body.to_string().as_bytes())
        });
        let Ok((status, text)) = std::panic::catch_unwind(sent) else { return Answer::None };
        let Ok(value) = serde_json::from_str::<Value>(&text) else { return Answer::None };
        if status < 300 { Answer::Done(value) } else { Answer::Refused(value) }
    }

    pub(crate) fn try_start(&self) -> Answer {
        self.try_start_command(&["sleep", "100000"])
    }

    fn try_start_command(&self, command: &[&str]) -> Answer {
        let request = json!({
            "type": "coding", "issue": 7, "task": "Do it.", "folder": self.project(),
            "choice": {"agent": "command", "args": command}, "base": null,
        });
        self.rest("POST", "/api/instances", &request)
    }

    pub(crate) fn start(&self) -> String {
        self.start_command(&["sleep", "100000"])
    }

    pub(crate) fn start_command(&self, command: &[&str]) -> String {
        match self.try_start_command(command) {
            Answer::Done(instance) => instance["id"].as_str().unwrap().to_owned(),
            other => panic!("it did not start: {other:?}"),
        }
    }

    /// A tool's call with the identity of an instance.
    pub(crate) fn call(&self, id: &str, tool: &str, arguments: &Value, key: &str) -> Answer {
        let bearer = self.identity(id);
        self.request("POST", &format!("/api/call/{tool}"), &bearer, Some(key), arguments)
    }

    /// A tool's call whose answer nothing waits for.
    pub(crate) fn call_in_background(&self, id: &str, tool: &str, arguments: &Value) {
        let (bearer, address, body) = (self.identity(id), self.running.unwrap().0, arguments.to_string());
        let path = format!("/api/call/{tool}");
        std::thread::spawn(move || {
            let headers = [("Authorization", format!("Bearer {bearer}"))];
            let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
            // It may break when the test ends.
            let sent = || crate::common::http(address, "POST", &path, &headers, body.as_bytes());
            let _ = std::panic::catch_unwind(sent);
        });
    }

    /// An instance's token. Its server reads it once, and knows it when the file is gone.
    fn identity(&self, id: &str) -> String {
        let mut known = self.identities.lock().unwrap();
        let known = known.entry(id.to_owned()).or_insert_with(|| {
            let identity = fs::read(self.data().join("agents/identities").join(id)).unwrap();
            let identity: Value = serde_json::from_slice(&identity).unwrap();
            identity["token"].as_str().unwrap().to_owned()
        });
        known.clone()
    }

    pub(crate) fn request_review(&self, id: &str) -> Value {
        match self.call(id, "request_review", &json!({}), "before") {
            Answer::Done(value) => value,
            other => panic!("no review: {other:?}"),
        }
    }

    pub(crate) fn instance(&self, id: &str) -> Value {
        match self.rest("GET", &format!("/api/instances/{id}"), &Value::Null) {
            Answer::Done(value) => value,
            other => panic!("{id}: {other:?}"),
        }
    }

    /// The name that the first review agent of a coding agent has, or will have.
    pub(crate) fn reviewer_of(&self, id: &str) -> String {
        format!("{}-1", id.replace("work-", "review-"))
    }

    pub(crate) fn worktree(&self, id: &str) -> PathBuf {
        self.data().join("agents/worktrees").join(id)
    }

    pub(crate) fn commit(&mut self, id: &str, file: &str, text: &str) {
        let worktree = self.worktree(id);
        fs::write(worktree.join(file), text).unwrap();
        self.git(&worktree, &["add", "--", file]);
        let words = ["-c", "user.name=A", "-c", "user.email=a@b.invalid", "commit", "--quiet", "-m", "Work"];
        self.git(&worktree, &words);
        self.commits.push(self.git(&worktree, &["rev-parse", "HEAD"]));
    }

    /// Staged, unstaged and untracked changes.
    pub(crate) fn make_a_mess(&mut self, id: &str) {
        let worktree = self.worktree(id);
        for (file, text) in
            [("README.md", "changed\n"), ("staged.txt", "staged\n"), ("untracked.txt", "new\n")]
        {
            fs::write(worktree.join(file), text).unwrap();
            self.mess.push((worktree.join(file), text.as_bytes().to_vec()));
        }
        self.git(&worktree, &["add", "--", "staged.txt"]);
    }

    /// A file that git does not know.
    pub(crate) fn leave_untracked(&mut self, id: &str, file: &str) {
        let path = self.worktree(id).join(file);
        fs::write(&path, "nowhere else\n").unwrap();
        self.mess.push((path, b"nowhere else\n".to_vec()));
    }

    pub(crate) fn is_ancestor(&self, commit: &str, id: &str) -> bool {
        let branch = format!("refs/heads/tamis/{id}");
        try_git(&self.folder(), &self.project(), &["merge-base", "--is-ancestor", commit, &branch]).is_ok()
    }

    pub(crate) fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        run_git(&self.folder(), folder, arguments)
    }

    pub(crate) fn tmux(&self, arguments: &[&str]) -> Result<String, String> {
        let sessions =
            tamis_agents::Tmux::for_data_folder(&self.data()).map_err(|error| error.to_string())?;
        let mut command = Command::new("tmux");
        command
            .args(["-L", sessions.server()])
            .args(arguments)
            .env_clear()
            .env("PATH", PATH)
            .env("LANG", "C.UTF-8");
        let ran = finish(&mut command, b"");
        if ran.code == Some(0) { Ok(ran.stdout.trim().to_owned()) } else { Err(ran.stderr) }
    }

    pub(crate) fn kill_tmux(&self) {
        // Perhaps there is none yet.
        if let Ok(pid) = self.tmux(&["display-message", "-p", "#{pid}"]) {
            signal("KILL", &pid);
        }
    }

    pub(crate) fn kill_agent(&self, id: &str) {
        if let Ok(pids) = self.tmux(&["list-panes", "-t", &format!("={id}:"), "-F", "#{pane_pid}"]) {
            for pid in pids.lines() {
                signal("KILL", pid);
            }
        }
    }

    /// Waits until everything agrees: what is cleaned up in the background may take a moment.
    pub(crate) fn expect_consistency(&self, when: &str) {
        let begun = std::time::Instant::now();
        loop {
            let complaints = consistency::complaints(self);
            if complaints.is_empty() {
                break;
            }
            assert!(begun.elapsed() < PATIENCE, "{when}: {complaints:#?}\nlog: {:#?}", self.log());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        for commit in &self.commits {
            let refs = self.git(&self.project(), &["for-each-ref", "--contains", commit]);
            assert!(!refs.is_empty(), "{when}: {commit} is lost");
        }
        for (path, bytes) in &self.mess {
            assert_eq!(&fs::read(path).unwrap_or_default(), bytes, "{when}: {}", path.display());
        }
        self.github.assert_clean();
    }

    fn log(&self) -> Vec<String> {
        self.server.lock().unwrap().as_ref().map(|server| server.log.try_iter().collect()).unwrap_or_default()
    }
}

impl Drop for FaultFixture {
    fn drop(&mut self) {
        self.end_server();
        let _ = self.tmux(&["kill-server"]);
    }
}

pub(crate) fn signal(name: &str, pid: &str) {
    let _ = Command::new("sh").args(["-c", "kill -s \"$1\" \"$2\"", "sh", name, pid]).status();
}

fn try_git(home: &Path, folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).env_clear().env("PATH", PATH);
    command.env("HOME", home.join("home")).env("GIT_CONFIG_NOSYSTEM", "1");
    let ran = finish(&mut command, b"");
    if ran.code == Some(0) { Ok(ran.stdout.trim_end().to_owned()) } else { Err(ran.stderr) }
}

fn run_git(home: &Path, folder: &Path, arguments: &[&str]) -> String {
    try_git(home, folder, arguments).unwrap_or_else(|error| panic!("git {arguments:?}: {error}"))
}
