//! No process outlives its caller: a call that is cancelled, a client that leaves or dies, a server that is signalled
//! or killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::{Place, Server, eventually, pids, runs};

/// A shell, a child in the background, and a child of a child, which tell their numbers and stay.
const FAMILY: &str = "sleep 600 & (sleep 600 & echo $! > inner; wait) & \
    until [ -s inner ]; do sleep 0.01; done; echo $$ $(jobs -p) $(cat inner) > pids; wait";

fn family(place: &Place, server: &mut Server) -> (u64, Vec<String>) {
    let id = server.ask("tools/call", json!({"name": "bash", "arguments": {"command": FAMILY}}));
    let pids = pids(&place.path().join("pids"));
    assert_eq!(pids.len(), 4);
    assert!(pids.iter().all(|pid| runs(pid)));
    (id, pids)
}

fn all_end(pids: &[String]) {
    eventually("all have ended", || !pids.iter().any(|pid| runs(pid)));
}

#[test]
fn cancelling_ends_the_command_and_its_group_and_the_session_goes_on() {
    let place = Place::new();
    let mut server = place.serve();
    let (id, pids) = family(&place, &mut server);
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    all_end(&pids);
    // No answer to what was cancelled: the next one is to the next call.
    assert_eq!(server.text("bash", json!({"command": "echo on"})), "on\n");
}

#[test]
fn a_client_that_closes_our_input_gets_what_is_nearly_done_and_leaves_nothing() {
    let place = Place::new();
    let mut server = place.serve();
    let id =
        server.ask("tools/call", json!({"name": "bash", "arguments": {"command": "sleep 0.2; echo done"}}));
    drop(server.child.stdin.take());
    let answer = server.receive();
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(id), &json!("done\n")));
    assert_eq!(server.wait(), Some(0));

    let mut server = place.serve();
    let (_, pids) = family(&place, &mut server);
    drop(server.child.stdin.take());
    assert_eq!(server.wait(), Some(0), "it does not wait for ten minutes");
    all_end(&pids);
}

#[test]
fn a_client_that_dies_leaves_nothing() {
    let place = Place::new();
    // The shell stands for a client: what it started goes on when it is killed.
    let mut client = std::process::Command::new("bash")
        .args(["-c", r#"coproc "$0"; echo "$COPROC_PID"; cat >&${COPROC[1]}"#])
        .arg(env!("CARGO_BIN_EXE_mcp-pruner"))
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("PRUNER_URL", "")
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(client.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let server = line.trim().to_owned();
    let mut input = client.stdin.take().unwrap();
    let params = json!({"protocolVersion": "2025-06-18"});
    let call = json!({"name": "bash", "arguments": {"command": FAMILY}});
    for (id, method, params) in [(1, "initialize", params), (2, "tools/call", call)] {
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .unwrap();
    }
    let mut pids = pids(&place.path().join("pids"));
    client.kill().unwrap();
    client.wait().unwrap();
    pids.push(server);
    all_end(&pids);
}

#[test]
fn a_signal_ends_the_server_and_all_that_it_runs() {
    for signal in ["TERM", "INT"] {
        let place = Place::new();
        let mut server = place.serve();
        let (_, pids) = family(&place, &mut server);
        server.signal(signal);
        assert_eq!(server.wait(), Some(0), "{signal}");
        all_end(&pids);
    }
}

#[test]
fn a_server_that_is_killed_leaves_nothing() {
    let place = Place::new();
    let mut server = place.serve();
    let (_, mut pids) = family(&place, &mut server);
    // And what an earlier call left in the background.
    let left = place.path().join("left");
    let command = "setsid -w true; (trap '' HUP; sleep 600) >/dev/null 2>&1 & echo $! > left";
    server.ask("tools/call", json!({"name": "bash", "arguments": {"command": command}}));
    server.receive();
    pids.extend(crate::server::pids(&left));
    server.signal("KILL");
    server.wait();
    all_end(&pids);
}

#[test]
fn what_a_command_left_in_the_background_ends_with_the_session() {
    let place = Place::new();
    let mut server = place.serve();
    // It holds neither pipe, so it is not waited for.
    let command = "sleep 600 >/dev/null 2>&1 & echo $! > pids; echo started";
    assert_eq!(server.text("bash", json!({"command": command})), "started\n");
    let pids = pids(&place.path().join("pids"));
    assert_eq!(server.text("bash", json!({"command": "echo on"})), "on\n");
    assert!(pids.iter().all(|pid| runs(pid)), "it lives on");
    assert_eq!(server.leave().0, Some(0));
    all_end(&pids);
}

#[test]
fn calls_do_not_wait_for_each_other() {
    let place = Place::new();
    let mut server = place.serve();
    let command = "until [ -e go ]; do sleep 0.01; done; echo slow";
    let slow = server.ask("tools/call", json!({"name": "bash", "arguments": {"command": command}}));
    assert_eq!(server.text("bash", json!({"command": "echo quick"})), "quick\n");
    place.write("go", "");
    let answer = server.receive();
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(slow), &json!("slow\n")));
}

/// Every call tells more than a kilobyte, and a pipe holds 64.
#[test]
fn nobody_need_read_the_diagnostics() {
    let place = Place::new();
    place.write("text.txt", "one\n");
    let (_unread, stderr) = std::io::pipe().unwrap();
    let mut server = Server::start_telling(place.command(), stderr);
    for _ in 0..300 {
        assert_eq!(server.text("read", json!({"file_path": "text.txt"})), "one\n");
    }
    assert_eq!(server.leave().0, Some(0));
}

#[test]
fn reading_what_nobody_writes_does_not_wait() {
    let place = Place::new();
    let made = std::process::Command::new("mkfifo").arg(place.path().join("fifo")).status().unwrap();
    assert!(made.success());
    std::fs::File::create(place.path().join("huge")).unwrap().set_len(1 << 40).unwrap();
    let mut server = place.serve();
    let at = |name: &str| place.path().join(name).display().to_string();
    for (path, said) in [
        ("fifo", format!("Error reading file: '{}' is a FIFO, not a file", at("fifo"))),
        ("/dev/tty", "Error reading file: '/dev/tty' is a character device, not a file".to_owned()),
        // Our own input, which the next request comes through.
        ("/dev/stdin", "Error reading file: '/dev/stdin' is a FIFO, not a file".to_owned()),
        (
            "huge",
            format!(
                "Error reading file: '{}' is larger than 64 MiB; read a part of it with `head`, `tail`, `sed -n` or `grep`",
                at("huge")
            ),
        ),
    ] {
        assert_eq!(server.text("read", json!({"file_path": path, "context_focus_question": "q"})), said);
    }
}

#[test]
fn a_command_that_never_stops_writing_is_ended_and_what_it_wrote_comes_back() {
    let place = Place::new();
    let mut server = place.serve();
    let begun = Instant::now();
    let text = server.text("bash", json!({"command": "echo $$ > pids; echo first; exec yes"}));
    let note = "[output limit: the command wrote more than 256 MiB and was ended; redirect its output to a file and read a \
                part of it]";
    assert!(text.starts_with("first\ny\ny\n"), "{text:.100}");
    let end = &text[text.len() - 300..];
    assert!(end.ends_with(&format!("y\ny\n\n[exit code: null]\n{note}")), "{end}");
    assert_eq!(text.len(), (256 << 20) + "\n[exit code: null]\n".len() + note.len());
    all_end(&pids(&place.path().join("pids")));
    assert!(begun.elapsed() < Duration::from_secs(300));
}

#[test]
fn memory_is_a_small_multiple_of_the_output() {
    const MIB: u64 = 32;
    let place = Place::new();
    let mut server = place.serve();
    let command = format!("head -c {} /dev/zero | tr '\\0' x", MIB << 20);
    let text = server.text("bash", json!({"command": command}));
    assert_eq!(text.len() as u64, MIB << 20);
    let peak = peak_memory(server.child.id());
    assert!(peak < (5 * MIB) << 20, "{} MiB for {MIB} MiB", peak >> 20);
}

/// The most memory that a process ever had.
pub(crate) fn peak_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// Reads a little of an answer, then closes our end of the pipe: the diagnostics.
pub(crate) fn hang_up_while_answering(place: &Place, url: &str, arguments: &Value) -> Vec<String> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut child = place
        .command()
        .env("PRUNER_URL", url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log.reopen().unwrap())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let params = json!({"protocolVersion": "2025-06-18"});
    let call = json!({"name": "read", "arguments": arguments});
    for (id, method, params) in [(1, "initialize", params), (2, "tools/call", call)] {
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .unwrap();
    }
    // More than the answer to the handshake, so that the other one has begun.
    output.read_exact(&mut [0; 8 << 10]).unwrap();
    drop(output);
    child.wait().unwrap();
    drop(input);
    lines(log.path())
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}
