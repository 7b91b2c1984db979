//! `tamis gateway` as a client starts it.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]
#![cfg(target_os = "linux")]

mod common;

use std::io::Write;
use std::process::Stdio;

use common::{FAMILY, Fixture, Mcp, Ran, all_end, family, finish, module, prune_id};
use serde_json::{Value, json};

const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

impl Fixture {
    /// Runs a gateway before a shell script, with this input.
    fn gateway(&self, script: &str, input: &str) -> Ran {
        let mut command = self.tamis(&["gateway", "--", "sh", "-c", script]);
        finish(command.env("PATH", "/usr/bin:/bin"), input.as_bytes())
    }
}

#[test]
fn what_a_server_writes_reaches_the_client_and_its_stderr_too() {
    let fixture = Fixture::new();
    let script = r#"echo "starting" >&2; echo banner; read -r line; echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"; cat > /dev/null"#;
    let ran = fixture.gateway(script, PING);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "banner\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n")
    );
    assert!(ran.stderr.contains("starting\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("a line that is no message"), "{}", ran.stderr);
}

#[test]
fn the_end_of_a_server_is_an_error_that_names_its_status() {
    let fixture = Fixture::new();
    for (script, how) in [
        ("read -r line; exit 3", "ended with exit status 3"),
        ("read -r line; kill -9 $$", "was ended by signal 9"),
    ] {
        let mut command = fixture.tamis(&["gateway", "--", "sh", "-c", script]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(PING.as_bytes()).unwrap();
        // The client does not close its end.
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["error"]["message"], format!("the MCP server `sh` {how}"));
        assert_eq!(output.status.code(), Some(1));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(&format!("error: the MCP server `sh` {how}")), "{stderr}");
    }
}

#[test]
fn a_server_and_all_that_it_started_end_with_the_gateway() {
    let fixture = Fixture::new();
    let mut command = fixture.tamis(&["gateway", "--", "bash", "-c", FAMILY]);
    let mut child = command.env("PATH", "/usr/bin:/bin").stdin(Stdio::piped()).spawn().unwrap();
    let pids = family(&fixture.work());
    // It does not end when its stdin closes, so it is ended.
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    all_end(&pids);

    std::fs::remove_file(fixture.work().join("pids")).unwrap();
    let mut command = fixture.tamis(&["gateway", "--", "bash", "-c", FAMILY]);
    let mut child = command.env("PATH", "/usr/bin:/bin").stdin(Stdio::piped()).spawn().unwrap();
    let pids = family(&fixture.work());
    child.kill().unwrap();
    child.wait().unwrap();
    all_end(&pids);
}

#[test]
fn wrong_usage_is_explained() {
    let fixture = Fixture::new();
    let file = fixture.work().join("servers.json");
    std::fs::write(&file, "{}").unwrap();
    for (arguments, code, message) in [
        (&["gateway"][..], 2, "required arguments were not provided"),
        (&["gateway", "--", "no-such-program"], 1, "cannot start the MCP server `no-such-program`"),
        (&["gateway", "--url", "ftp://x"], 2, "it does not begin with `http://`"),
        (&["gateway", "--url", "http://127.0.0.1:1", "--header", "nonsense"], 2, "a header has no colon"),
        (
            &["gateway", "--url", "http://127.0.0.1:1", "--header", "A: ${UNSET}"],
            2,
            "the variable `UNSET` is not set",
        ),
        (&["gateway", "--config", "none.json"], 1, "cannot read `none.json`"),
        (&["gateway", "--config", "servers.json"], 2, "no servers"),
        (&["gateway", "--tools", "a", "--except", "b", "--", "x"], 2, "cannot be used with"),
    ] {
        let ran = fixture.run(arguments, b"");
        assert_eq!(ran.code, Some(code), "{arguments:?} {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{arguments:?} {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

/// The workbench of tamis is a server whose results are large, too.
fn behind_gateway(fixture: &Fixture, options: &[&str]) -> Mcp {
    std::fs::write(fixture.work().join("module.py"), module()).unwrap();
    let program = env!("CARGO_BIN_EXE_tamis");
    let arguments = [&["gateway"], options, &["--", program, "mcp", "--tools", "workbench"]].concat();
    let mut command = fixture.tamis(&arguments);
    command.env("PATH", "/usr/bin:/bin");
    Mcp::start(command)
}

#[test]
fn a_large_result_is_pruned_for_the_query_and_can_be_recovered() {
    let fixture = Fixture::new();
    let mut mcp = behind_gateway(&fixture, &[]);
    let tools = mcp.request("tools/list", json!({}));
    let names: Vec<_> =
        tools["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["read", "bash", "grep", "recover_text"]);
    let arguments = json!({"command": "cat module.py # how does cache_17 fill the cache?"});
    let answer = mcp.request("tools/call", json!({"name": "bash", "arguments": arguments}));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.len() < module().len() / 2 && text.contains("cache_step_17_3"), "{text}");
    let arguments = json!({"prune_id": prune_id(text), "ranges": [{"start_line": 1, "end_line": 2}], "include_line_numbers": false});
    let recovered = mcp.request("tools/call", json!({"name": "recover_text", "arguments": arguments}));
    assert!(recovered["result"]["content"][0]["text"].as_str().unwrap().contains("import os"), "{recovered}");
    assert_eq!(mcp.leave(), Some(0));
    // `tamis recover` finds it as well, with the tool that it came from.
    let listed = fixture.run(&["recover", "--list", "--json"], b"").json();
    assert_eq!((&listed[0]["tool"], &listed[0]["client"]), (&json!("bash"), &json!("test-client/1")));
}

#[test]
fn servers_of_a_configuration_share_a_gateway() {
    let fixture = Fixture::new();
    std::fs::write(fixture.work().join("module.py"), module()).unwrap();
    let program = env!("CARGO_BIN_EXE_tamis");
    let servers = json!({"mcpServers": {
        "bench": {"command": program, "args": ["mcp", "--tools", "workbench"], "env": {"TAMIS_LOG": "${LEVEL:-warn}"}},
        "prune": {"command": program, "args": ["mcp", "--tools", "health"]},
        "off": {"command": "no-such-program", "disabled": true},
    }});
    std::fs::write(fixture.work().join("servers.json"), servers.to_string()).unwrap();
    let mut command = fixture.tamis(&["gateway", "--config", "servers.json", "--except", "bench__read"]);
    command.env("PATH", "/usr/bin:/bin");
    let mut mcp = Mcp::start(command);
    let tools = mcp.request("tools/list", json!({}));
    let names: Vec<_> =
        tools["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["bench__read", "bench__bash", "bench__grep", "prune__health", "recover_text"]);
    let read =
        mcp.request("tools/call", json!({"name": "bench__read", "arguments": {"file_path": "module.py"}}));
    assert_eq!(read["result"]["content"][0]["text"], module());
    let health = mcp.request("tools/call", json!({"name": "prune__health", "arguments": {}}));
    assert!(health["result"].is_object(), "{health}");
    assert_eq!(mcp.leave(), Some(0));
}

#[test]
fn a_server_over_http_is_reached_by_its_url() {
    let fixture = Fixture::new();
    let server = fixture.serve();
    let url = format!("http://{}/mcp", server.address());
    let mut mcp = Mcp::start(fixture.tamis(&["gateway", "--url", &url]));
    let health = mcp.request("tools/call", json!({"name": "health", "arguments": {}}));
    assert!(health["result"].is_object(), "{health}");
    assert_eq!(mcp.leave(), Some(0));
}
