//! Bad input, bad luck and bad disks: a clear answer, and the server lives on.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, SystemTime};

use common::{Fixture, PATIENCE, eventually, finish, http, module, output, prune_arguments, read_response};
use serde_json::{Value, json};
use tamis_store::rusqlite::Connection;

fn prune(server: &common::Server, text: &str) -> Value {
    output(&server.rpc("tools/call", json!({"name": "prune_text", "arguments": prune_arguments(text)})))
}

#[test]
fn a_request_that_is_under_way_is_finished_at_sigterm_and_sigint() {
    for signal in ["TERM", "INT"] {
        let fixture = Fixture::new();
        let mut server = fixture.serve();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let body = json!({"query": "cache_17", "code": module()}).to_string();
        let (early, late) = body.split_at(body.len() / 2);
        let head = format!(
            "POST /prune HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{early}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // The server has the connection once it has answered a later one.
        assert_eq!(http(server.address(), "GET", "/health", &[], b"").0, 200);
        server.signal(signal);
        while !server.log.recv_timeout(PATIENCE).expect("it says that it ends").contains("shutting down") {}
        stream.write_all(late.as_bytes()).unwrap();
        let (status, answer) = read_response(&mut stream);
        assert_eq!(status, 200, "{answer}");
        assert!(server.child.wait().unwrap().success());
        let id = serde_json::from_str::<Value>(&answer).unwrap()["prune_id"].as_str().unwrap().to_owned();
        assert_eq!(fixture.run(&["recover", &id], b"").stdout, module());
        let shown = fixture.run(&["data", "show", "--json"], b"").json();
        assert_eq!(shown["savings"]["calls"], 1, "its row was written");
    }
}

#[test]
fn bad_requests_do_not_take_the_server_down() {
    let fixture = Fixture::new();
    let server = fixture.serve();
    let address = server.address();
    for bytes in [
        &b"GET"[..],
        b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
        b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(bytes).unwrap();
        drop(stream);
    }
    let over = 33 << 20;
    let (status, answer) = http(address, "POST", "/rpc", &[], &vec![b' '; over]);
    assert_eq!(status, 413, "{answer}");
    assert!(answer.contains("input_too_large"));
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let (status, answer) = server
        .post("/rpc", &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{deep}}}}}"#));
    assert_eq!((status, answer.contains("-32602")), (200, true), "{answer}");
    assert_eq!(server.post("/prune", &format!(r#"{{"query":"","code":{deep}}}"#)).0, 422);
    assert!((400..500).contains(&server.post("/mcp", &deep).0));
    assert_eq!(http(address, "POST", "/rpc", &[], b"\"\xff\xfe\"").0, 200);
    assert_eq!(http(address, "GET", "/health", &[], b"").0, 200);
}

#[test]
fn too_long_a_text_comes_back_whole_and_recoverable() {
    let fixture = Fixture::new();
    let mut command = fixture.tamis(&["serve", "--port", "0"]);
    command.env("MCP_PRUNER_MAX_INPUT_CHARS", "1000");
    let server = common::Server::start(command);
    let text = module();
    let pruned = prune(&server, &text);
    assert_eq!(pruned["pruned_text"], text);
    assert_eq!(pruned["warnings"], json!(["input_too_large"]));
    assert_eq!(pruned["stats"]["used_fallback"], true);
    let id = pruned["prune_id"].as_str().unwrap();
    assert_eq!(fixture.run(&["recover", id], b"").stdout, text);
    // Characters count, not bytes.
    let wide = prune(&server, &"é\n".repeat(500));
    assert_eq!(wide["warnings"], json!([]));
}

#[test]
fn where_nothing_can_be_kept_nothing_is_cut() {
    let fixture = Fixture::new();
    std::fs::write(fixture.data(), "a file where the folder should be").unwrap();
    let server = fixture.serve();
    let pruned = prune(&server, &module());
    assert_eq!(pruned["pruned_text"], module());
    assert_eq!(pruned["stats"]["used_fallback"], true);
    assert_eq!(pruned["warnings"][0], "recovery_unavailable");
    assert_eq!(http(server.address(), "GET", "/health", &[], b"").0, 200);
    let ran = fixture.run(&["prune", "--goal", "cache_17"], module().as_bytes());
    assert_eq!((ran.code, ran.stdout), (Some(0), module()));
    assert!(ran.stderr.contains("warning: recovery_unavailable"), "{}", ran.stderr);
    let shown = fixture.run(&["data", "show"], b"");
    assert_eq!(shown.code, Some(0));
    assert!(shown.stderr.contains("warning: "), "{}", shown.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_cuts_nothing() {
    // A file-size limit of 0 makes every write fail, as a full disk does.
    let fixture = Fixture::new();
    let mut command = std::process::Command::new("bash");
    command
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 0; exec \"$0\" prune --goal cache_17",
            env!("CARGO_BIN_EXE_tamis"),
        ])
        .env_clear()
        .env("TAMIS_DATA_DIR", fixture.data());
    let ran = finish(&mut command, module().as_bytes());
    assert_eq!((ran.code, ran.stdout), (Some(0), module()), "{}", ran.stderr);
    assert!(ran.stderr.contains("warning: recovery_unavailable"), "{}", ran.stderr);
}

#[test]
fn a_corrupt_database_stops_the_counting_only() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.data()).unwrap();
    std::fs::write(
        fixture.data().join("state.db"),
        "this is no database, but long enough to look at".repeat(100),
    )
    .unwrap();
    let server = fixture.serve();
    let first = prune(&server, &module());
    assert!(first["stats"]["pruned_lines"].as_u64().unwrap() > 0);
    let id = first["prune_id"].as_str().unwrap();
    assert_eq!(fixture.run(&["recover", id], b"").stdout, module());
    let shown = fixture.run(&["data", "show"], b"");
    assert!(shown.stderr.contains("state.db"), "{}", shown.stderr);
    let database = std::fs::read_to_string(fixture.data().join("state.db")).unwrap();
    assert!(database.starts_with("this is no database"), "it is left alone");
}

/// Lets all originals expire that long ago.
fn expire(fixture: &Fixture) {
    for entry in std::fs::read_dir(fixture.data().join("recovery")).unwrap() {
        set_time(&entry.unwrap().path(), SystemTime::now() - Duration::from_secs(60));
    }
}

fn set_time(path: &Path, time: SystemTime) {
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn expired_ids_are_not_found() {
    let fixture = Fixture::new();
    let pruned = fixture.run(&["prune", "--goal", "x", "--json"], b"text\n").json();
    let id = pruned["prune_id"].as_str().unwrap();
    // The time limit of an original holds, whatever later processes are configured with.
    let mut command = fixture.tamis(&["recover", id]);
    command.env("MCP_PRUNER_PRUNE_ID_TTL_S", "1");
    assert_eq!(finish(&mut command, b"").stdout, "text\n");
    expire(&fixture);
    let ran = fixture.run(&["recover", id], b"");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("has expired"), "{}", ran.stderr);
}

#[test]
fn a_project_cannot_have_the_originals_of_others_removed() {
    let fixture = Fixture::new();
    let pruned = fixture.run(&["prune", "--goal", "x", "--json"], b"text\n").json();
    std::fs::write(fixture.work().join(".tamis.toml"), "[recovery]\nttl_s = 1\nmax_bytes = 0\n").unwrap();
    let lock = fixture.data().join("clean-up.lock");
    set_time(&lock, SystemTime::now() - Duration::from_secs(7200));
    assert_eq!(fixture.mcp().leave(), Some(0));
    assert!(lock.metadata().unwrap().modified().unwrap().elapsed().unwrap() < Duration::from_secs(3600));
    assert_eq!(fixture.run(&["recover", pruned["prune_id"].as_str().unwrap()], b"").stdout, "text\n");
}

#[test]
fn what_has_expired_goes_where_nobody_serves() {
    let fixture = Fixture::new();
    fixture.run(&["prune", "--goal", "x"], b"text\n");
    expire(&fixture);
    let originals = || fixture.run(&["data", "show", "--json"], b"").json()["recovery"]["originals"].clone();
    fixture.run(&["prune", "--goal", "x"], b"other\n");
    assert_eq!(originals(), 2, "cleaned up just before");
    set_time(&fixture.data().join("clean-up.lock"), SystemTime::now() - Duration::from_secs(7200));
    assert_eq!(fixture.run(&["prune", "--goal", "x"], b"other\n").stderr.matches("warning").count(), 0);
    assert_eq!(originals(), 1);
}

#[test]
fn a_locked_database_costs_a_warning() {
    let fixture = Fixture::new();
    fixture.run(&["prune", "--goal", "x"], b"text\n");
    let connection = Connection::open(fixture.data().join("state.db")).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let ran = fixture.run(&["prune", "--goal", "x"], b"text\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "text\n"));
    let warning = "warning: 1 call not counted: ";
    assert!(ran.stderr.starts_with("kept ") && ran.stderr.contains(warning), "{}", ran.stderr);
}

/// It gives up coordination before it counts its last calls, which takes a while where the database is locked.
#[cfg(target_os = "linux")]
#[test]
fn a_server_that_was_stopped_is_gone_when_the_command_says_so() {
    let fixture = Fixture::new();
    let server = fixture.serve();
    prune(&server, "text");
    let pid = server.child.id().to_string();
    let coordinator = fixture.data().join("agents/coordinator.json");
    eventually("it coordinates", || coordinator.exists());
    let connection = Connection::open(fixture.data().join("state.db")).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    prune(&server, "more text");
    let stopped = fixture.run(&["serve", "--stop"], b"");
    assert!(!common::runs(&pid), "{}", stopped.stderr);
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    assert!(stopped.stderr.starts_with("stopped the server at http://"), "{}", stopped.stderr);
}

#[test]
fn an_incomplete_purge_fails_and_says_what_is_left() {
    let fixture = Fixture::new();
    fixture.run(&["prune", "--goal", "x"], b"text\n");
    let folder = fixture.data().join("recovery");
    let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let held = files.find(|path| path.extension().is_some_and(|end| end == "zst")).unwrap();
    let reader = std::fs::File::open(&held).unwrap();
    reader.lock_shared().unwrap();
    let ran = fixture.run(&["data", "purge", "--yes"], b"");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("erased 0 originals (0 bytes) and 1 ledger row\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("warning: {} is in use\n", held.display())), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("error: cannot erase everything\n"), "{}", ran.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_made_cuts_nothing() {
    let fixture = Fixture::new();
    let mut command = fixture.tamis(&["prune", "--goal", "cache_17"]);
    // Where not even root makes one.
    command.env("TAMIS_DATA_DIR", "/proc/tamis");
    let ran = finish(&mut command, module().as_bytes());
    assert_eq!((ran.code, ran.stdout), (Some(0), module()));
    assert!(ran.stderr.contains("warning: recovery_unavailable"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("busy"), "{}", ran.stderr);
    let mut command = fixture.tamis(&["recover", "prn_aaaaaaaaaaaaaaaabbbbbb"]);
    let ran = finish(command.env("TAMIS_DATA_DIR", "/proc/tamis"), b"");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("error: cannot open the data folder `/proc/tamis`\n"), "{}", ran.stderr);
}

#[test]
fn many_processes_share_one_folder() {
    let fixture = Fixture::new();
    let text = module();
    let ids: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let (fixture, text) = (&fixture, &text);
                scope.spawn(move || {
                    let mut mcp = fixture.mcp();
                    let ids: Vec<_> = (0..8)
                        .map(|call| {
                            // Every second text is shared by all threads.
                            let text = if call % 2 == 0 {
                                text.clone()
                            } else {
                                format!("{text}# {thread} {call}\n")
                            };
                            let params = json!({"name": "prune_text", "arguments": prune_arguments(&text)});
                            let pruned = output(&mcp.request("tools/call", params));
                            assert_eq!(pruned["warnings"], json!([]));
                            (pruned["prune_id"].as_str().unwrap().to_owned(), text)
                        })
                        .collect();
                    assert_eq!(mcp.leave(), Some(0));
                    ids
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for (id, text) in &ids {
        assert_eq!(&fixture.run(&["recover", id], b"").stdout, text);
    }
    let shown = fixture.run(&["data", "show", "--json"], b"").json();
    assert_eq!(shown["savings"]["calls"], 32, "no row is lost");
    assert_eq!(shown["problems"], json!([]));
}

#[test]
fn a_data_folder_that_another_user_can_write_to_is_refused_and_text_comes_back_whole() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new();
    let data = fixture.data();
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("token"), "a-token-that-another-user-knows").unwrap();
    let plant = |mode: u32| {
        std::fs::set_permissions(&data, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    plant(0o777);
    for command in [
        &["serve", "--port", "0"][..],
        &["mcp"],
        &["token"],
        &["data", "show"],
        &["trace", "sessions"],
        &["agents", "list"],
    ] {
        let ran = fixture.run(command, b"");
        assert_eq!(ran.code, Some(1), "{command:?}: {}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stderr.contains("other users can write to it (mode 0777)"),
            "{command:?}: {}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains("hint: ") && ran.stderr.contains("chmod go-w"),
            "{command:?}: {}",
            ran.stderr
        );
    }
    let log: String = (0..2_000).map(|number| format!("line {number} of a log\n")).collect();
    let pruned = fixture.run(&["prune", "--goal", "find the error"], log.as_bytes());
    assert_eq!((pruned.code, pruned.stdout == log), (Some(0), true), "{}", pruned.stderr);
    assert!(pruned.stderr.contains("other users can write to it"), "{}", pruned.stderr);
    // Nothing was written into it, and its mode is the user's to change.
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 1);
    plant(0o755);
    assert_eq!(fixture.run(&["token"], b"").code, Some(0));
    assert_eq!(std::fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o700);
}
