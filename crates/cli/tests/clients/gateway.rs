//! Real servers and the conformance suite, with and without `tamis gateway` in between: both must see the same.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tamis_testkit::{InstalledClients, run_bounded};

use crate::{LIMIT, shared, tamis};

/// A client that records every message of a server. It answers what servers ask for.
struct Recorder {
    child: Child,
    lines: Receiver<String>,
    next_id: u64,
    /// The root that it tells servers, as a URI.
    root: String,
    recorded: Vec<String>,
}

impl Recorder {
    fn start(mut command: Command, folder: &Path) -> Recorder {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("a server");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (send, lines) = channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        let root = format!("file://{}", folder.display());
        let mut recorder = Recorder { child, lines, next_id: 0, root, recorded: Vec::new() };
        let capabilities = json!({"roots": {"listChanged": true}, "sampling": {}, "elicitation": {}});
        let info = json!({"name": "recorder", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
        recorder.request("initialize", &params);
        recorder.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        recorder
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.child.stdin.as_mut().expect("a pipe");
        writeln!(stdin, "{message}").expect("a server that reads");
    }

    /// Sends a request and records everything up to its response.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let line = self.lines.recv_timeout(LIMIT).expect("a message");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            self.recorded.push(line);
            if message.get("method").is_none() && message["id"] == id {
                return message;
            }
            let result = match message["method"].as_str() {
                Some("roots/list") => json!({"roots": [{"uri": self.root, "name": "files"}]}),
                Some("sampling/createMessage") => {
                    json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "sampled"}})
                }
                Some("elicitation/create") => json!({"action": "decline"}),
                _ => continue,
            };
            self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) {
        let meta = json!({"progressToken": format!("token {}", self.next_id)});
        self.request("tools/call", &json!({"name": tool, "arguments": arguments, "_meta": meta}));
    }

    /// Everything that the server sent, sorted: when it sends what answers no request depends on the time.
    fn finish(mut self) -> Vec<String> {
        drop(self.child.stdin.take());
        self.recorded.extend(std::iter::from_fn(|| self.lines.recv_timeout(Duration::from_secs(10)).ok()));
        let _ = self.child.wait();
        self.recorded.sort();
        self.recorded.dedup();
        self.recorded
    }
}

/// The command behind a gateway with its own data folder.
fn behind_gateway(server: &Command, home: &Path) -> Command {
    let mut command = Command::new(tamis());
    command.env_clear().envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("TAMIS_DATA_DIR", home.join("data"));
    command.arg("gateway").arg("--").arg(server.get_program()).args(server.get_args());
    command
}

/// Runs the same requests with and without the gateway. Both must give the same messages, but for the list of tools and
/// results that were pruned; returns how many these were.
fn assert_same(
    server: &str,
    arguments: &[&str],
    files: &dyn Fn(&Path),
    talk: &dyn Fn(&mut Recorder, &Path),
) -> usize {
    let home = tempfile::tempdir().expect("a temporary folder");
    let folder = home.path().canonicalize().expect("a folder").join("files");
    let messages = [false, true].map(|through_gateway| {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        files(&folder);
        let mut command = InstalledClients::installed().server(server, home.path());
        command.env("MEMORY_FILE_PATH", folder.join("memory.jsonl"));
        command.args(arguments.iter().map(|argument| match *argument {
            "FOLDER" => folder.clone().into_os_string(),
            other => OsString::from(other),
        }));
        let command = if through_gateway { behind_gateway(&command, home.path()) } else { command };
        let mut recorder = Recorder::start(command, &folder);
        talk(&mut recorder, &folder);
        recorder.finish()
    });
    let [direct, through] = &messages;
    let without_change = |message: &str| -> Option<Value> {
        let mut message: Value = serde_json::from_str(message).ok()?;
        if let Some(tools) = message["result"]["tools"].as_array_mut() {
            tools.retain(|tool| tool["name"] != "recover_text");
        }
        // The server numbers its requests, and sends some of them when it is their time.
        if message.get("method").is_some() {
            message["id"] = Value::Null;
        }
        Some(message)
    };
    let mut pruned = 0;
    let (mut only_direct, mut only_through): (Vec<&String>, Vec<&String>) = (
        direct.iter().filter(|message| !through.contains(message)).collect(),
        through.iter().filter(|message| !direct.contains(message)).collect(),
    );
    only_through.retain(|message| {
        let value = without_change(message).expect("JSON");
        let place = only_direct.iter().position(|other| {
            let other = without_change(other).expect("JSON");
            let is_pruned =
                value["result"]["content"].to_string().contains("[tamis cut ") && other["id"] == value["id"];
            pruned += usize::from(is_pruned);
            is_pruned || other == value
        });
        place.map(|place| only_direct.remove(place)).is_none()
    });
    assert_eq!((only_direct, only_through), (Vec::new(), Vec::new()));
    assert!(direct.len() > 5, "{direct:?}");
    pruned
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gateway_before_the_everything_server() {
    let pruned = assert_same("mcp-server-everything", &[], &|_| {}, &|client, _| {
        for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "ping"] {
            client.request(method, &json!({}));
        }
        client.request("logging/setLevel", &json!({"level": "debug"}));
        client.call("echo", json!({"message": "h\u{e9}llo \u{1f600}\u{2028}"}));
        client.call("get-sum", json!({"a": 1.5, "b": 2}));
        client.call("get-sum", json!({"a": "wrong"}));
        client.call("get-annotated-message", json!({"messageType": "error", "includeImage": true}));
        client.call("get-tiny-image", json!({}));
        client.call("get-resource-links", json!({"count": 5}));
        client.call("get-structured-content", json!({"location": "Chicago"}));
        client.call("trigger-long-running-operation", json!({"duration": 0.2, "steps": 4}));
        client.call("trigger-sampling-request", json!({"prompt": "p", "maxTokens": 5}));
        client.call("trigger-elicitation-request", json!({}));
        client.call("get-roots-list", json!({}));
        client.call("no-such-tool", json!({}));
        client.request("prompts/get", &json!({"name": "args-prompt", "arguments": {"city": "Paris"}}));
        let argument = json!({"name": "department", "value": "E"});
        client.request(
            "completion/complete",
            &json!({"ref": {"type": "ref/prompt", "name": "completable-prompt"}, "argument": argument}),
        );
        let uri = "demo://resource/static/document/architecture.md";
        for method in ["resources/read", "resources/subscribe", "resources/unsubscribe"] {
            client.request(method, &json!({"uri": uri}));
        }
        client.request("resources/read", &json!({"uri": "demo://none"}));
        client.request("no/such/method", &json!({}));
    });
    assert_eq!(pruned, 0, "none of these results is large");
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gateway_before_the_filesystem_server() {
    let log: String = (0..2000)
        .map(|number| match number {
            1234 => "ERROR payment declined for order 77: card expired\n".to_owned(),
            _ => format!("INFO request {number} was served in {} ms\n", number % 9),
        })
        .collect();
    let files = |folder: &Path| {
        std::fs::write(folder.join("app.log"), &log).expect("a file");
        std::fs::write(folder.join("small.txt"), "one\ntwo\n").expect("a file");
    };
    let pruned = assert_same("mcp-server-filesystem", &["FOLDER"], &files, &|client, folder| {
        client.request("tools/list", &json!({}));
        client.call("list_allowed_directories", json!({}));
        client.call("list_directory", json!({"path": folder}));
        client.call("read_text_file", json!({"path": folder.join("small.txt")}));
        client.call("read_text_file", json!({"path": folder.join("app.log")}));
        client.call("read_text_file", json!({"path": "/etc/passwd"}));
        client.call("write_file", json!({"path": folder.join("new.txt"), "content": "a\nb\n"}));
        let edit = json!([{"oldText": "a", "newText": "c"}]);
        client.call("edit_file", json!({"path": folder.join("new.txt"), "edits": edit}));
        client.call("search_files", json!({"path": folder, "pattern": "*.txt"}));
        client.call("directory_tree", json!({"path": folder}));
    });
    assert_eq!(pruned, 1, "the log");
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gateway_before_the_memory_server() {
    assert_same("mcp-server-memory", &[], &|_| {}, &|client, _| {
        client.request("tools/list", &json!({}));
        let entity = json!({"name": "a", "entityType": "t", "observations": ["o 1", "o \u{e9}"]});
        let other = json!({"name": "b", "entityType": "t", "observations": []});
        client.call("create_entities", json!({"entities": [entity, other]}));
        let relation = json!({"from": "a", "to": "b", "relationType": "knows"});
        client.call("create_relations", json!({"relations": [relation]}));
        client.call("search_nodes", json!({"query": "o 1"}));
        client.call("read_graph", json!({}));
        client.call("delete_entities", json!({"entityNames": ["b"]}));
        client.call("open_nodes", json!({"names": ["a", "none"]}));
    });
}

/// The outcome of every check of the conformance suite, by scenario.
type Checks = BTreeMap<String, Vec<String>>;

/// A server over stdio that `tests/clients/http_bridge.py` serves over HTTP. Ended when dropped.
struct Bridge {
    child: Child,
    url: String,
}

impl Bridge {
    fn start(home: &Path, server: &[&OsStr]) -> Bridge {
        let mut command = InstalledClients::installed().python(home);
        command.env("TAMIS_DATA_DIR", home.join("data")).arg(shared("http_bridge.py")).args(server);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a bridge");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut url).expect("an address");
        Bridge { child, url: url.trim().to_owned() }
    }

    /// Runs the suite.
    fn checks(&self, home: &Path, selection: &[&str]) -> Checks {
        let results = tempfile::tempdir_in(home).expect("a temporary folder");
        let mut command = InstalledClients::installed().tool("conformance", home);
        command.args(["server", "--url", &self.url]).args(selection);
        command.arg("--output-dir").arg(results.path());
        run_bounded(command, LIMIT);
        let mut checks = Checks::new();
        for entry in std::fs::read_dir(results.path()).expect("results") {
            let folder = entry.expect("a folder").path();
            let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
            let scenario = name[..name.len().saturating_sub("-2026-11-16T13-04-40-958Z".len())].to_owned();
            let Ok(json) = std::fs::read(folder.join("checks.json")) else { continue };
            let outcomes: Vec<Value> = serde_json::from_slice(&json).expect("JSON");
            let outcomes = outcomes.iter().map(|check| format!("{} {}", check["id"], check["status"]));
            checks.entry(scenario).or_default().extend(outcomes);
        }
        checks
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Compares the suite's checks of a server with those through a gateway before its command, and before its URL.
fn conforms_the_same(selection: &[&str], at_least: usize) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let python = InstalledClients::installed().python(home.path()).get_program().to_owned();
    let (script, tamis) = (shared("stdio_server.py"), tamis());
    let server = [python.as_os_str(), script.as_os_str()];
    let direct = Bridge::start(home.path(), &server);
    let checks = direct.checks(home.path(), selection);
    let passed = checks.values().flatten().filter(|check| check.ends_with("\"SUCCESS\"")).count();
    assert!(passed >= at_least, "{passed} {checks:#?}");

    let gateway = [tamis.as_os_str(), OsStr::new("gateway"), OsStr::new("--")];
    let before_command = Bridge::start(home.path(), &[&gateway[..], &server[..]].concat());
    assert_same_checks(&before_command.checks(home.path(), selection), &checks);

    let before_url = [tamis.as_os_str(), OsStr::new("gateway"), OsStr::new("--url"), OsStr::new(&direct.url)];
    let before_url = Bridge::start(home.path(), &before_url);
    assert_same_checks(&before_url.checks(home.path(), selection), &checks);
}

fn assert_same_checks(through: &Checks, direct: &Checks) {
    let differs = |scenario: &&String| through.get(*scenario) != direct.get(*scenario);
    if let Some(scenario) = direct.keys().chain(through.keys()).find(differs) {
        assert_eq!(through.get(scenario), direct.get(scenario), "{scenario}");
    }
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gateway_conforms_as_its_server_with_a_handshake() {
    conforms_the_same(&[], 70);
}

#[test]
#[ignore = "needs the real clients: ./test installs them"]
fn gateway_conforms_as_its_server_without() {
    conforms_the_same(&["--requirements", "2026-07-28"], 100);
}
