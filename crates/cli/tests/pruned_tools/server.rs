//! `mcp-pruner` as a client sees it, with its diagnostics.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than anything here takes; only so that a test which fails ends.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Where the server works.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, contents).unwrap();
        path
    }

    /// The program in a clean environment, in this folder, asking no pruner.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-pruner"));
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C.UTF-8")
            .env("PRUNER_URL", "")
            .env("PRUNER_TIMEOUT_MS", "30000")
            .current_dir(self.path());
        command
    }

    pub(crate) fn serve(&self) -> Server {
        Server::start(self.command())
    }

    /// The same, asking the pruner at `url`.
    pub(crate) fn serve_with(&self, url: &str) -> Server {
        let mut command = self.command();
        command.env("PRUNER_URL", url);
        Server::start(command)
    }
}

pub(crate) struct Server {
    pub(crate) child: Child,
    answers: mpsc::Receiver<Value>,
    log: Arc<Mutex<Vec<String>>>,
    logging: Option<JoinHandle<()>>,
    next_id: u64,
    /// How many requests the diagnostics must tell of.
    told_of: usize,
}

impl Server {
    /// Starts the program and shakes hands.
    pub(crate) fn start(command: Command) -> Server {
        let mut server = Server::start_silent(command);
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        assert!(server.request("initialize", params)["result"].is_object());
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    pub(crate) fn start_silent(command: Command) -> Server {
        Server::start_telling(command, Stdio::piped())
    }

    /// Diagnostics go to the given stderr, and are kept here only if it is our pipe.
    pub(crate) fn start_telling(mut command: Command, stderr: impl Into<Stdio>) -> Server {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let (sender, answers) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            // Whatever is on stdout is the protocol's, or the test fails here.
            for line in stdout.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let log = Arc::new(Mutex::new(Vec::new()));
        let logging = child.stderr.take().map(|stderr| {
            let kept = Arc::clone(&log);
            std::thread::spawn(move || {
                let lines = BufReader::new(stderr).lines().map_while(Result::ok);
                lines.for_each(|line| kept.lock().unwrap().push(line));
            })
        });
        Server { child, answers, log, logging, next_id: 0, told_of: 0 }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends what is refused before it is looked at, and gives the answer.
    pub(crate) fn refused(&mut self, line: &str) -> Value {
        self.told_of += 1;
        self.send_line(line);
        self.receive()
    }

    pub(crate) fn receive(&self) -> Value {
        self.answers.recv_timeout(PATIENCE).expect("an answer")
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Sends a request and does not wait.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        self.told_of += usize::from(method == "tools/call");
        self.send(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}));
        self.next_id
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The text of a result that has nothing else in it.
    pub(crate) fn text(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(answer["result"], json!({"content": [{"type": "text", "text": text}]}), "nothing else");
        text.to_owned()
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// Waits for a line of the diagnostics.
    pub(crate) fn wait_for_log(&self, what: &str, is_it: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            if let Some(line) = self.log().into_iter().find(|line| is_it(line)) {
                return line;
            }
            assert!(begun.elapsed() < PATIENCE, "no {what} in {:#?}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The way of each request through its states, by its number. Waits until all have ended.
    pub(crate) fn ways(&self) -> BTreeMap<u64, Vec<String>> {
        let begun = Instant::now();
        loop {
            let ways = ways(&self.log());
            let ended = |way: &Vec<String>| FINAL.contains(&way.last().unwrap().as_str());
            if ways.len() >= self.told_of && ways.values().all(ended) {
                return ways;
            }
            assert!(begun.elapsed() < PATIENCE, "not ended: {ways:#?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn last_way(&self) -> Vec<String> {
        self.ways().into_values().next_back().unwrap()
    }

    /// Closes its input and waits for its end: exit code and diagnostics.
    pub(crate) fn leave(mut self) -> (Option<i32>, Vec<String>) {
        drop(self.child.stdin.take());
        let code = self.wait();
        if let Some(logging) = self.logging.take() {
            logging.join().unwrap();
        }
        (code, self.log())
    }

    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -s {name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // A test that fails may have a server that hangs.
        if std::thread::panicking() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

pub(crate) const FINAL: [&str; 4] =
    ["req:invalid_request", "req:tool_error", "req:responded", "req:internal_error"];

/// Reads the states out of the diagnostics.
pub(crate) fn ways(log: &[String]) -> BTreeMap<u64, Vec<String>> {
    let mut ways: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for line in log {
        let Some((_, number)) = line.split_once("request=") else { continue };
        let Some((_, said)) = line.split_once("tamis_tools::request: ") else { continue };
        let number = number.split(' ').next().unwrap().parse().unwrap();
        let way = ways.entry(number).or_default();
        match said.split_once(" -> ") {
            Some((from, rest)) => {
                assert_eq!(way.last().unwrap(), from, "{log:#?}");
                way.push(rest.split(' ').next().unwrap().to_owned());
            }
            None => way.push(said.split(' ').next().unwrap().to_owned()),
        }
    }
    ways
}

/// Whether a process runs; one that has ended and waits to be collected does not.
pub(crate) fn runs(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X'])))
}

pub(crate) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "still not so: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The process numbers that a command wrote into a file, once it has.
pub(crate) fn pids(path: &Path) -> Vec<String> {
    let read = || std::fs::read_to_string(path).unwrap_or_default();
    eventually("the command has begun", || read().ends_with('\n'));
    read().split_whitespace().map(str::to_owned).collect()
}
