//! What the server costs beyond the commands themselves. Prints what it measured, beside the bare command in the same
//! run; fails on wrong output, never on a time.

#![allow(clippy::print_stdout, reason = "it prints what it measured")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::ending::peak_memory;
use crate::server::{Place, Server};

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let begun = Instant::now();
    let done = work();
    (begun.elapsed(), done)
}

/// A program run as the server runs it: nothing to read, all that it writes kept.
fn bare(place: &Path, program: &str, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(place).stdin(Stdio::null()).env_clear();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
    command.output().unwrap().stdout
}

/// Medians of calls and bare commands that take turns, in milliseconds.
fn compare(
    server: &mut Server,
    place: &Path,
    times: usize,
    call: (&str, Value),
    command: (&str, &[&str]),
) -> (f64, f64) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let (elapsed, output) = timed(|| bare(place, command.0, command.1));
        theirs.push(elapsed);
        let (elapsed, text) = timed(|| server.text(call.0, call.1.clone()));
        ours.push(elapsed);
        assert_eq!(text, String::from_utf8(output).unwrap());
    }
    (median(ours), median(theirs))
}

#[test]
#[ignore = "a measurement: ./test --long runs it"]
fn what_the_server_costs_beyond_the_command() {
    let place = Place::new();
    place.write("text.txt", "one\ntwo\n");
    let mut server = place.serve();
    let report = |what: &str, (ours, theirs): (f64, f64)| {
        println!("{what}: {ours:.2} ms through the server, {theirs:.2} ms bare, {:+.2} ms", ours - theirs);
    };
    let bash = ("bash", json!({"command": "echo hello"}));
    report(
        "bash, p50 of 300",
        compare(&mut server, place.path(), 300, bash, ("bash", &["-c", "echo hello"])),
    );
    let grep = ("grep", json!({"pattern": "two", "path": "text.txt"}));
    let arguments = ["-rn", "--color=never", "--", "two", "text.txt"];
    report("grep, p50 of 300", compare(&mut server, place.path(), 300, grep, ("grep", &arguments)));

    // A tree of 20,000 files, 200 MB.
    for folder in 0..200 {
        let path = place.path().join(format!("tree/{folder}"));
        std::fs::create_dir_all(&path).unwrap();
        for file in 0..100 {
            let line = format!("folder {folder} file {file} has a line of text like any other\n");
            std::fs::write(path.join(format!("{file}.txt")), line.repeat(180)).unwrap();
        }
    }
    for pattern in ["folder 77 file 7 ", "file [0-9]*5 "] {
        let call = ("grep", json!({"pattern": pattern, "path": "tree"}));
        let text = server.text(call.0, call.1.clone());
        let arguments = ["-rn", "--color=never", "--", pattern, "tree"];
        let figures = compare(&mut server, place.path(), 7, call, ("grep", &arguments));
        let (matches, megabytes) = (text.lines().count(), text.len() as f64 / 1e6);
        report(&format!("grep of 20,000 files, {matches} matches ({megabytes:.1} MB), p50 of 7"), figures);
    }
    println!("memory after that: {} MiB at most", peak_memory(server.child.id()) >> 20);
}

#[test]
#[ignore = "a measurement: ./test --long runs it"]
fn how_long_reading_ten_megabytes_takes() {
    let place = Place::new();
    let line = "    let value = compute(\"a string\", other)?; // with a comment\n";
    let text = line.repeat(10_000_000 / line.len() + 1);
    place.write("large.txt", &text);
    let mut server = place.serve();
    let mut raw = Vec::new();
    for _ in 0..21 {
        // Until the line is there: what a client then makes of the JSON is its own.
        let id = server.ask("tools/call", json!({"name": "read", "arguments": {"file_path": "large.txt"}}));
        let (elapsed, answer) = timed(|| server.receive());
        raw.push(elapsed);
        assert_eq!(
            (&answer["id"], answer["result"]["content"][0]["text"].as_str()),
            (&json!(id), Some(text.as_str()))
        );
    }
    println!(
        "read of {:.1} MB: p50 {:.1} ms with the test's parsing of the answer; memory {} MiB at most",
        text.len() as f64 / 1e6,
        median(raw),
        peak_memory(server.child.id()) >> 20
    );
}

#[test]
#[ignore = "a measurement: ./test --long runs it"]
fn how_soon_it_answers() {
    let place = Place::new();
    let starts = (0..21).map(|_| timed(|| place.serve()).0).collect();
    println!("mcp-pruner: first answer {:.1} ms after start (median of 21)", median(starts));
}
