//! Load, memory and start-up, for `./test --long`. Prints what it measured; fails on errors, lost ids and growing
//! memory, never on a time.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]
#![allow(clippy::print_stdout, reason = "it prints what it measured")]
#![cfg(target_os = "linux")]

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{Fixture, PATIENCE, module, output, prune_arguments};
use serde_json::{Value, json};

const CLIENTS: usize = 32;
const SPAN: Duration = Duration::from_secs(30);

/// A connection that is kept, as real clients keep theirs.
struct Connection {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    /// A header with the token, or nothing.
    credential: String,
}

impl Connection {
    fn open(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection { stream: BufReader::new(stream), address, credential: String::new() }
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let head = format!(
            "POST /rpc HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n{}Content-Length: {}\r\n\r\n",
            self.address,
            self.credential,
            body.len()
        );
        self.stream.get_mut().write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 200"), "{line}");
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().unwrap();
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        output(&serde_json::from_slice(&body).unwrap())
    }
}

/// Resident memory of a process, in KiB.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[ignore = "takes half a minute: ./test --long runs it"]
fn thirty_two_clients_for_thirty_seconds() {
    let fixture = Fixture::new();
    let server = fixture.serve();
    let (address, process) = (server.address(), server.child.id());
    let texts: Vec<String> =
        (0..64).map(|number| format!("{}# text {number}\n", module().repeat(1 + number % 4))).collect();
    let stop = AtomicBool::new(false);
    let seen = Mutex::new((BTreeSet::new(), Vec::new()));
    let started = Instant::now();
    let mut memory = Vec::new();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (texts, stop, seen) = (&texts, &stop, &seen);
            scope.spawn(move || {
                let mut connection = Connection::open(address);
                let (mut ids, mut times) = (BTreeSet::new(), Vec::new());
                for call in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let number = (client * 7 + call) % texts.len();
                    let begun = Instant::now();
                    let pruned = connection.call("prune_text", &prune_arguments(&texts[number]));
                    times.push(begun.elapsed());
                    assert_eq!(pruned["warnings"], json!([]));
                    let id = pruned["prune_id"].as_str().unwrap().to_owned();
                    let ranges = json!([{"start_line": 1, "end_line": 2}]);
                    let arguments = json!({"prune_id": id, "ranges": ranges, "include_line_numbers": false});
                    assert_eq!(
                        connection.call("recover_text", &arguments)["raw_text"],
                        "import os\nimport sys"
                    );
                    ids.insert((id, number));
                }
                let mut seen = seen.lock().unwrap();
                seen.0.extend(ids);
                seen.1.extend(times);
            });
        }
        while started.elapsed() < SPAN {
            std::thread::sleep(Duration::from_secs(1));
            memory.push(resident(process));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let (ids, mut times) = seen.into_inner().unwrap();
    times.sort();
    let at = |share: f64| times[(times.len() as f64 * share) as usize].as_secs_f64() * 1000.0;
    println!(
        "{} calls in {:.0} s by {CLIENTS} clients: p50 {:.1} ms, p95 {:.1} ms; memory {} MiB after 10 s, {} MiB at the end",
        times.len() * 2,
        started.elapsed().as_secs_f64(),
        at(0.5),
        at(0.95),
        memory[9] / 1024,
        memory[memory.len() - 1] / 1024,
    );
    let mut connection = Connection::open(address);
    for (id, number) in &ids {
        let ranges = json!([{"start_line": 1, "end_line": 1_000_000}]);
        let arguments = json!({"prune_id": id, "ranges": ranges, "include_line_numbers": false});
        assert_eq!(connection.call("recover_text", &arguments)["raw_text"], texts[*number], "no id is lost");
    }
    let late = memory[20..].iter().max().unwrap();
    let early = memory[5..15].iter().max().unwrap();
    assert!(late * 4 <= early * 5, "memory grows: {memory:?} KiB");
    drop(connection);
    drop(server);
    let shown = fixture.run(&["data", "show", "--json"], b"").json();
    assert_eq!(shown["savings"]["calls"], times.len(), "no row is lost");
}

/// What a hostile client does with one connection, until the server ends it.
type Attack = fn(&mut TcpStream) -> std::io::Result<()>;

/// How many hostile clients do what at once.
const ATTACKS: &[(usize, Attack)] = &[
    // Idle.
    (600, wait_for_end),
    // Headers that never end.
    (50, |stream| {
        stream.write_all(b"GET /health HTTP/1.1\r\nX: ")?;
        wait_for_end(stream)
    }),
    // Bodies that are announced and never come.
    (20, |stream| {
        stream.write_all(&head("/rpc", 33_000_000))?;
        wait_for_end(stream)
    }),
    // Bodies that stop before their end.
    (9, |stream| {
        stream.write_all(&head("/rpc", 33_000_000))?;
        let part = [b' '; 64 << 10];
        for _ in 0..500 {
            stream.write_all(&part)?;
        }
        wait_for_end(stream)
    }),
    // Large texts to prune, whose answers are not read.
    (4, |stream| {
        let text: String =
            (0..40_000).map(|line| format!("    value_{line} = compute(request, {line})\n")).collect();
        let params = json!({"name": "prune_text", "arguments": prune_arguments(&text)});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        stream.write_all(&head("/rpc", body.len()))?;
        stream.write_all(body.as_bytes())?;
        // It has begun to answer.
        stream.peek(&mut [0]).map(drop)
    }),
    // A wrong token, with a body.
    (4, |stream| {
        stream.write_all(b"POST /api/gc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer tai_x\r\nContent-Length: 9000000\r\n\r\n")?;
        stream.write_all(&[b' '; 1 << 20])?;
        stream.peek(&mut [0]).map(drop)
    }),
];

fn head(path: &str, length: usize) -> Vec<u8> {
    format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n")
        .into_bytes()
}

/// Ends with an error after a while, so that the client notices its own end.
fn wait_for_end(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut rest = [0; 4096];
    while stream.read(&mut rest)? > 0 {}
    Ok(())
}

/// Attacks until told to stop.
fn attack(address: SocketAddr, attack: Attack, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(address) else { continue };
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
        // Dropped or refused, it comes again.
        let _ = attack(&mut stream);
    }
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: f64| times[(times.len() as f64 * share) as usize].as_secs_f64() * 1000.0;
    format!("p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms of {} calls", at(0.5), at(0.95), at(0.99), times.len())
}

#[test]
#[ignore = "takes a minute: ./test --long runs it"]
fn honest_clients_beside_hostile_ones() {
    let fixture = Fixture::new();
    let server = fixture.serve();
    let (address, process) = (server.address(), server.child.id());
    let credential = format!("Authorization: Bearer {}\r\n", fixture.run(&["token"], b"").stdout.trim());
    let stop = AtomicBool::new(false);
    let (trusted, anonymous) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let mut peak = 0;
    std::thread::scope(|scope| {
        for (count, act) in ATTACKS {
            for _ in 0..*count {
                let builder = std::thread::Builder::new().stack_size(256 << 10);
                builder.spawn_scoped(scope, || attack(address, *act, &stop)).unwrap();
            }
        }
        for client in 0..4 {
            let (stop, times) = (&stop, if client < 2 { &trusted } else { &anonymous });
            let credential = if client < 2 { credential.as_str() } else { "" };
            scope.spawn(move || {
                let text = format!("{}# {client}\n", module());
                while !stop.load(Ordering::Relaxed) {
                    // A new connection each time, as the worst case.
                    let begun = Instant::now();
                    let mut connection = Connection::open(address);
                    connection.credential = credential.to_owned();
                    let pruned = connection.call("prune_text", &prune_arguments(&text));
                    times.lock().unwrap().push(begun.elapsed());
                    assert_eq!(pruned["warnings"], json!([]));
                }
            });
        }
        let started = Instant::now();
        while started.elapsed() < SPAN {
            std::thread::sleep(Duration::from_millis(200));
            peak = peak.max(resident(process));
        }
        stop.store(true, Ordering::Relaxed);
    });
    println!("beside hostile clients, with the token: {}", percentiles(trusted.into_inner().unwrap()));
    println!("beside hostile clients, without: {}", percentiles(anonymous.into_inner().unwrap()));
    let stopped = Instant::now();
    while resident(process) >= 100 << 10 && stopped.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(100));
    }
    println!(
        "memory {} MiB at most, {} MiB {:.1} s after they stopped",
        peak >> 10,
        resident(process) >> 10,
        stopped.elapsed().as_secs_f64()
    );
    assert!(resident(process) < 100 << 10, "memory is given back");
}

#[test]
#[ignore = "a measurement: ./test --long runs it"]
fn start_up_and_memory() {
    let fixture = Fixture::new();
    let mut first_answers: Vec<_> = (0..21)
        .map(|_| {
            let begun = Instant::now();
            let mcp = fixture.mcp();
            let elapsed = begun.elapsed();
            (elapsed, resident(mcp.id()))
        })
        .collect();
    first_answers.sort();
    let (median, memory) = first_answers[10];
    println!(
        "tamis mcp: first answer {:.1} ms after start (median of 21), {} MiB",
        median.as_secs_f64() * 1000.0,
        memory / 1024
    );
    let begun = Instant::now();
    let server = fixture.serve();
    assert_eq!(common::http(server.address(), "GET", "/health", &[], b"").0, 200);
    let elapsed = begun.elapsed();
    let served = resident(server.child.id());
    println!(
        "tamis serve: first answer {:.1} ms after start, {} MiB",
        elapsed.as_secs_f64() * 1000.0,
        served / 1024
    );
    assert!(memory.max(served) < 40 * 1024, "memory before the first call");
}

#[test]
#[ignore = "a measurement: ./test --long runs it"]
fn how_soon_fifty_agents_are_listed() {
    let fixture = common::agents::AgentFixture::new();
    let _server = fixture.coordinating();
    fixture.start_many(50);
    let mut times: Vec<_> = (0..41)
        .map(|_| {
            let begun = Instant::now();
            let output = fixture.tamis(&["agents", "list", "--json"]).output().unwrap();
            let took = begun.elapsed();
            assert!(output.status.success());
            took
        })
        .collect();
    times.sort();
    println!("agents list of 50: median {:?}, slowest {:?}", times[20], times[40]);
}

/// One call after the other on a server. Returns how long each took.
fn call_times(mcp: &mut common::Mcp, calls: usize) -> Vec<Duration> {
    let call = |mcp: &mut common::Mcp| {
        let begun = Instant::now();
        let answer = mcp.request("tools/call", json!({"name": "health", "arguments": {}}));
        assert!(answer["result"].is_object(), "{answer}");
        begun.elapsed()
    };
    (0..calls).map(|_| call(mcp)).collect()
}

#[test]
#[ignore = "a measurement: ./test --long runs it"]
fn what_a_gateway_adds_to_small_results() {
    let fixture = Fixture::new();
    let program = env!("CARGO_BIN_EXE_tamis");
    let server = ["mcp", "--tools", "health"];
    let mut direct = common::Mcp::start(fixture.tamis(&server));
    let mut through = common::Mcp::start(fixture.tamis(&[&["gateway", "--", program], &server[..]].concat()));
    let mut times = [Vec::new(), Vec::new()];
    // In turns, so that what else runs on the machine slows both.
    for _ in 0..20 {
        times[0].extend(call_times(&mut direct, 100));
        times[1].extend(call_times(&mut through, 100));
    }
    let [direct, through] = times.map(|mut times| {
        times.sort_unstable();
        [50, 95].map(|percent| times[times.len() * percent / 100])
    });
    for (index, percent) in [50, 95].into_iter().enumerate() {
        let (without, with) = (direct[index], through[index]);
        let added = with.saturating_sub(without);
        println!("p{percent}: {without:?} directly, {with:?} through a gateway, which adds {added:?}");
    }
}
