//! The `tamis` program with a data folder of its own, in a clean environment.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test file uses its part of this")]

pub mod agents;
pub mod terminal;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

/// Longer than anything here takes; only so that a test which fails ends.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Fixture {
    pub folder: tempfile::TempDir,
}

impl Fixture {
    pub fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("work/.git")).unwrap();
        Fixture { folder }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub fn tamis(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tamis"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("TAMIS_DATA_DIR", self.data())
            // No model is looked for, whatever runs on this machine.
            .env("TAMIS_MODEL_USE", "never")
            .current_dir(self.work());
        command
    }

    /// Runs a command to its end with this on its stdin.
    pub fn run(&self, arguments: &[&str], input: &[u8]) -> Ran {
        finish(&mut self.tamis(arguments), input)
    }

    pub fn serve(&self) -> Server {
        Server::start(self.tamis(&["serve", "--port", "0"]))
    }

    /// With every tool.
    pub fn mcp(&self) -> Mcp {
        Mcp::start(self.tamis(&["mcp", "--tools", "all"]))
    }
}

pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{}{}", self.stdout, self.stderr))
    }
}

pub fn finish(command: &mut Command, input: &[u8]) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program that reads nothing breaks the pipe, which is its right.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran {
        code: status.code(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

/// `tamis serve` on a port of the system's choice. Ended by SIGTERM when dropped.
pub struct Server {
    pub child: Child,
    pub addresses: Vec<SocketAddr>,
    /// What it says after it has started.
    pub log: mpsc::Receiver<String>,
}

impl Server {
    pub fn start(command: Command) -> Server {
        Server::start_with(command, 1)
    }

    pub fn start_with(mut command: Command, listeners: usize) -> Server {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut addresses = Vec::new();
        let mut said = Vec::new();
        while addresses.len() < listeners {
            let line = lines.next().unwrap_or_else(|| panic!("it did not start: {said:?}")).unwrap();
            if let Some((_, address)) = line.split_once("listens on http://") {
                addresses.push(address.parse().unwrap());
            }
            said.push(line);
        }
        let (sender, log) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Server { child, addresses, log }
    }

    pub fn address(&self) -> SocketAddr {
        self.addresses[0]
    }

    pub fn signal(&self, name: &str) {
        // The shell's own `kill`: the program of that name is not everywhere.
        let kill = format!("kill -s {name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    pub fn post(&self, path: &str, body: &str) -> (u16, String) {
        http(self.address(), "POST", path, &[], body.as_bytes())
    }

    pub fn rpc(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let (status, answer) = self.post("/rpc", &body);
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(&answer).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.signal("TERM");
            let _ = self.child.wait();
        }
    }
}

/// One request on a connection of its own: status and body.
pub fn http(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    read_response(&mut stream)
}

pub fn read_response(stream: &mut impl Read) -> (u16, String) {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no response: {text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    (status, if chunked { unchunked(body) } else { body.to_owned() })
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.push_str(&rest[..size]);
        body = rest.get(size + 2..).unwrap_or_default();
    }
    whole
}

/// `tamis mcp`, after its handshake.
pub struct Mcp {
    child: Child,
    lines: mpsc::Receiver<String>,
    next_id: u64,
}

impl Mcp {
    pub fn start(mut command: Command) -> Mcp {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut mcp = Mcp { child, lines, next_id: 0 };
        let client = json!({"name": "test-client", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        assert!(mcp.request("initialize", params)["result"].is_object());
        mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        mcp
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let line = self.lines.recv_timeout(PATIENCE).expect("an answer");
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id);
        answer
    }

    /// Closes its stdin and waits for its end.
    pub fn leave(mut self) -> Option<i32> {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().code()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A module of forty functions, of which one is about caches.
pub fn module() -> String {
    let mut text = String::from("import os\nimport sys\n\n\n");
    for index in 0..40 {
        let topic = if index == 17 { "cache" } else { "widget" };
        text.push_str(&format!("def {topic}_{index}(request, value):\n"));
        for step in 0..12 {
            text.push_str(&format!("    value = {topic}_step_{index}_{step}(request, value)\n"));
        }
        text.push_str("    return value\n\n\n");
    }
    text
}

/// The prune id in the first marker of a pruned text.
pub fn prune_id(text: &str) -> &str {
    let (_, rest) = text.split_once(" tamis recover ").unwrap_or_else(|| panic!("nothing was cut: {text}"));
    rest.split(' ').next().unwrap()
}

pub fn prune_arguments(text: &str) -> Value {
    json!({
        "text": text,
        "goal_hint": "how does cache_17 fill the cache",
        "source_type": "code",
        "options": {
            "max_prune_ratio": 0.9,
            "min_keep_lines": 5,
            "timeout_ms": 60000,
            "annotate_lines": false,
            "include_markers": true,
        },
    })
}

/// The JSON in a tool result's text.
pub fn output(answer: &Value) -> Value {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    serde_json::from_str(text).unwrap()
}

/// A shell, a child in the background, and a child of a child, which tell their numbers in `pids` and stay.
pub const FAMILY: &str = "sleep 600 & (sleep 600 & echo $! > inner; wait) & \
    until [ -s inner ]; do sleep 0.01; done; echo $$ $(jobs -p) $(cat inner) > pids; wait";

/// The numbers of a [`FAMILY`] that runs in this folder.
pub fn family(folder: &std::path::Path) -> Vec<String> {
    let read = || std::fs::read_to_string(folder.join("pids")).unwrap_or_default();
    eventually("the command has begun", || read().ends_with('\n'));
    let pids: Vec<_> = read().split_whitespace().map(str::to_owned).collect();
    assert!(pids.len() == 4 && pids.iter().all(|pid| runs(pid)), "{pids:?}");
    pids
}

/// Waits until none of these processes runs.
pub fn all_end(pids: &[String]) {
    eventually("all have ended", || !pids.iter().any(|pid| runs(pid)));
}

/// Whether a process runs; one that has ended and waits to be collected does not.
pub fn runs(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X'])))
}

pub fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "still not so: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
