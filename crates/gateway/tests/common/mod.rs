//! A gateway in this process, between a client and servers that the test plays, over pipes.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test file uses its part of this")]

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tamis_gateway::{
    GatewayError, GatewayPruning, GatewayServer, GatewaySettings, PrunedTools, ServerConnection,
};
use tamis_process::ProcessGroups;
use tamis_sieve::{Sieve, SieveSettings};
use tamis_store::DataDir;
use tamis_tools::{Services, Workbench};
use tokio_util::sync::CancellationToken;

/// Longer than anything here takes; only so that a test which fails ends.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// One end of the gateway: what it writes to us, line by line, and what we write to it.
pub struct End {
    pub lines: Receiver<Vec<u8>>,
    pub input: Option<PipeWriter>,
}

impl End {
    fn new(from_gateway: PipeReader, to_gateway: PipeWriter) -> End {
        let (send, lines) = channel();
        std::thread::spawn(move || {
            let mut from_gateway = BufReader::new(from_gateway);
            let mut line = Vec::new();
            while from_gateway.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                if send.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        End { lines, input: Some(to_gateway) }
    }

    pub fn write(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    /// The next line, without its newline.
    pub fn read_bytes(&self) -> Vec<u8> {
        let mut line = self.lines.recv_timeout(PATIENCE).expect("a line");
        assert_eq!(line.pop(), Some(b'\n'));
        line
    }

    pub fn read(&self) -> String {
        String::from_utf8(self.read_bytes()).unwrap()
    }

    pub fn read_json(&self) -> Value {
        serde_json::from_str(&self.read()).unwrap()
    }

    pub fn close(&mut self) {
        self.input = None;
    }
}

pub struct Running {
    pub client: End,
    pub servers: Vec<End>,
    pub shutdown: CancellationToken,
    serving: Option<JoinHandle<Result<(), GatewayError>>>,
    _folder: tempfile::TempDir,
}

pub fn pruning() -> GatewayPruning {
    GatewayPruning { threshold: 0.5, min_chars: 2_000, tools: PrunedTools::All, structured: false }
}

pub fn one() -> Running {
    start(&["server"], pruning())
}

/// A gateway before servers of these names.
pub fn start(names: &[&str], pruning: GatewayPruning) -> Running {
    let mut servers = Vec::new();
    let mut ends = Vec::new();
    for name in names {
        let (server_stdin, stdin) = std::io::pipe().unwrap();
        let (stdout, server_stdout) = std::io::pipe().unwrap();
        ends.push(End::new(server_stdin, server_stdout));
        let connection = ServerConnection::Pipes { stdin: Box::new(stdin), stdout: Box::new(stdout) };
        servers.push(GatewayServer { name: (*name).to_owned(), connection });
    }
    start_before(servers, ends, pruning)
}

pub fn start_before(servers: Vec<GatewayServer>, ends: Vec<End>, pruning: GatewayPruning) -> Running {
    let folder = tempfile::tempdir().unwrap();
    let settings = SieveSettings {
        data_dir: Some(DataDir::at(folder.path().join("data"))),
        max_input_chars: 2_000_000,
        recovery_ttl: Duration::from_secs(600),
        recovery_max_bytes: 64 << 20,
        ledger_keep: Duration::from_secs(600),
    };
    let workbench = Workbench { process_groups: ProcessGroups::new(None), ..Workbench::here().unwrap() };
    let services = Arc::new(Services::new(Sieve::new(settings), workbench));
    let (input, to_gateway) = std::io::pipe().unwrap();
    let (from_gateway, output) = std::io::pipe().unwrap();
    let shutdown = CancellationToken::new();
    let stop = shutdown.clone();
    let serving = std::thread::spawn(move || {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let settings = GatewaySettings { servers, pruning, project: None };
        let ended = runtime.block_on(tamis_gateway::serve(settings, services, input, output, stop));
        runtime.shutdown_background();
        ended
    });
    Running {
        client: End::new(from_gateway, to_gateway),
        servers: ends,
        shutdown,
        serving: Some(serving),
        _folder: folder,
    }
}

impl Running {
    /// Sends a line from the client, and returns what the server gets.
    pub fn pass_to_server(&mut self, line: impl AsRef<[u8]>) -> Vec<u8> {
        self.client.write(line);
        self.servers[0].read_bytes()
    }

    /// Sends a line from the server, and returns what the client gets.
    pub fn pass_to_client(&mut self, line: impl AsRef<[u8]>) -> Vec<u8> {
        self.servers[0].write(line);
        self.client.read_bytes()
    }

    /// A request and its response, which both pass the gateway.
    pub fn exchange(&mut self, request: &str, response: &str) -> String {
        assert_eq!(self.pass_to_server(request), request.as_bytes());
        String::from_utf8(self.pass_to_client(response)).unwrap()
    }

    /// Calls `recover_text`, and returns the lines.
    pub fn recover(&mut self, prune_id: &str, first: usize, last: usize) -> String {
        let ranges = json!([{"start_line": first, "end_line": last}]);
        let arguments = json!({"prune_id": prune_id, "ranges": ranges, "include_line_numbers": false});
        let params = json!({"name": "recover_text", "arguments": arguments});
        let request = json!({"jsonrpc": "2.0", "id": "r", "method": "tools/call", "params": params});
        self.client.write(request.to_string());
        let answer = self.client.read_json();
        assert_eq!(answer["id"], "r", "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let recovered: Value = serde_json::from_str(text).unwrap();
        recovered["raw_text"].as_str().unwrap().to_owned()
    }

    /// Waits for the gateway's end.
    pub fn end(&mut self) -> Result<(), GatewayError> {
        self.serving.take().unwrap().join().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shutdown.cancel();
        self.client.close();
        self.servers.iter_mut().for_each(End::close);
        if let Some(serving) = self.serving.take()
            && let Err(panic) = serving.join()
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

/// A log in which a few lines answer the query `payment declined`.
pub fn log() -> String {
    let mut text = String::new();
    for number in 0..300 {
        text.push_str(&format!(
            "2026-01-02T10:{:02}:{:02}Z INFO request {number} served in {} ms\n",
            number / 60,
            number % 60,
            number % 7
        ));
        if number == 150 {
            text.push_str("2026-01-02T10:02:30Z ERROR payment declined: card 4242 expired, order 77\n");
        }
    }
    text
}

pub fn call(id: &str, tool: &str, arguments: &Value) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// Reads everything.
pub fn drain(mut source: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).unwrap();
    bytes
}
