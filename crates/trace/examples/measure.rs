//! Measures the index on a home folder of logs, as `examples/generate` makes it:
//!
//!     cargo run --release -p tamis-trace --example generate -- HOME --megabytes 1024
//!     cargo run --release -p tamis-trace --example measure -- HOME
//!
//! First index, listing, searches, growing logs, memory; and the same questions by reading all logs each time. The index is
//! in a temporary folder. The last step appends a megabyte to a copy of the largest log, which is removed again.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement prints, and may fail")]

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tamis_logs::discovery::LogLocations;
use tamis_logs::event::EventKind;
use tamis_store::DataDir;
use tamis_trace::{SearchRequest, SessionFilter, Trace, TraceSearchMode};

fn main() {
    let home = PathBuf::from(std::env::args().nth(1).expect("the home folder of the logs"));
    let data = tempfile::tempdir().unwrap();
    let trace = || Trace::new(LogLocations::of_clients(|_| None, Some(&home)), DataDir::at(data.path()));
    let all = trace();

    // Once through the page cache, which is what reading each time has to do at least.
    let (bytes, read) = timed(|| read_all(&home));
    println!("logs                      {:>9.1} MB, read once in {:.0} ms", bytes as f64 / 1e6, ms(read));

    let before = processor_time();
    let (refreshed, first) = timed(|| all.refresh(&mut |_| ControlFlow::Continue(())).unwrap());
    println!(
        "first index               {:>9.0} ms ({} ms of processors), {:.0} MB/s, {} logs, {:.0} MB of memory at most",
        ms(first),
        processor_time() - before,
        refreshed.bytes as f64 / 1e6 / first.as_secs_f64(),
        refreshed.logs,
        peak_memory(),
    );
    let index = fs::metadata(all.index_path()).unwrap().len();
    println!(
        "index                     {:>9.1} MB, {:.1} % of the logs",
        index as f64 / 1e6,
        index as f64 / bytes as f64 * 100.0
    );

    let again = repeated(30, |_| drop(trace().refresh(&mut |_| ControlFlow::Continue(())).unwrap()));
    println!("nothing new, new process  {}", shown(&again));
    let list = repeated(100, |_| {
        let all = trace();
        all.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
        let sessions = all.sessions(&SessionFilter::default(), None, 10).unwrap();
        sessions.iter().for_each(|session| assert!(all.tokens_with_subagents(session).unwrap() < u64::MAX));
    });
    println!("list, new process         {}", shown(&list));
    let list = repeated(100, |_| {
        let sessions = all.sessions(&SessionFilter::default(), None, 10).unwrap();
        sessions.iter().for_each(|session| assert!(all.tokens_with_subagents(session).unwrap() < u64::MAX));
    });
    println!("list, in a server         {}", shown(&list));

    let mut searches = Vec::new();
    for search in questions(&home) {
        let before = processor_time();
        let (found, time) = timed(|| all.search(&search, Duration::from_secs(30), &|| false).unwrap());
        println!(
            "  {:>8.1} ms  ({:>4} ms of processors)  {:>3} found, {:>5} blocks read  {:?} {:?} {:?}",
            ms(time),
            processor_time() - before,
            found.matches.len(),
            found.blocks_read,
            search.mode,
            search.query,
            search.kinds,
        );
        searches.push(time);
    }
    println!("searches                  {}", shown(&searches));
    println!("memory at most            {:>9.0} MB", peak_memory());

    append(&home, &all);
}

/// Needles that were planted, and what people ask for.
fn questions(home: &Path) -> Vec<SearchRequest> {
    let mut questions = Vec::new();
    let mut ask = |query: &str, mode: TraceSearchMode, kinds: &[EventKind]| {
        questions.push(SearchRequest {
            query: query.to_owned(),
            mode,
            kinds: kinds.to_vec(),
            most: 10,
            ..SearchRequest::default()
        });
    };
    let needles = fs::read_to_string(home.join("needles.jsonl")).unwrap_or_default();
    let phrase = |line: &str| {
        let needle: serde_json::Value = serde_json::from_str(line).unwrap();
        needle["phrase"].as_str().unwrap().to_owned()
    };
    let phrases: std::collections::BTreeSet<String> = needles.lines().map(phrase).collect();
    for phrase in &phrases {
        ask(phrase, TraceSearchMode::Substring, &[]);
        ask(phrase, TraceSearchMode::Substring, &[EventKind::ToolResult]);
        ask(phrase, TraceSearchMode::Words, &[]);
    }
    for query in [
        "error",
        "Read",
        "timeout",
        "TODO",
        "src/main.rs",
        "panicked at",
        "fn main",
        "import os",
        "git commit",
        "e",
        "\"command\":",
    ] {
        ask(query, TraceSearchMode::Substring, &[]);
        ask(query, TraceSearchMode::Substring, &[EventKind::ToolCall]);
        ask(query, TraceSearchMode::Words, &[EventKind::ToolResult]);
    }
    for query in [
        "zzqqxyzzy",
        "no such phrase in any log",
        "the error was that it",
        "日本語の",
        "connection refused by peer 42",
    ] {
        ask(query, TraceSearchMode::Substring, &[]);
        ask(query, TraceSearchMode::Words, &[]);
        ask(query, TraceSearchMode::Substring, &[EventKind::Notification]);
    }
    for query in [r"error\[E\d{4}\]", r"fn \w+_test\(", r"exit code: [1-9]", r"\bpanic(ked)? at\b"] {
        ask(query, TraceSearchMode::Regex, &[]);
    }
    questions
}

fn append(home: &Path, all: &Trace) {
    let logs = all.logs().unwrap();
    let largest = logs
        .iter()
        .filter(|log| log.source.path.ends_with(".jsonl"))
        .max_by_key(|log| log.source.stamp.size)
        .unwrap();
    let copy = Path::new(&largest.source.path).with_file_name("0badcafe-0000-4000-8000-000000000000.jsonl");
    let text = fs::read(&largest.source.path).unwrap();
    let cut = text.len() / 2;
    let cut = text[..cut].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    fs::write(&copy, &text[..cut]).unwrap();
    all.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&copy).unwrap();
    let mut at = cut;
    let mut times = Vec::new();
    for _ in 0..8 {
        let end = text[at..(at + 1_000_000).min(text.len())].iter().rposition(|byte| *byte == b'\n');
        let Some(end) = end else { break };
        file.write_all(&text[at..=at + end]).unwrap();
        at += end + 1;
        let (refreshed, time) = timed(|| all.refresh(&mut |_| ControlFlow::Continue(())).unwrap());
        assert_eq!(refreshed.read, 1);
        times.push(time);
    }
    fs::remove_file(&copy).unwrap();
    println!("1 MB appended             {}", shown(&times));
    assert!(home.exists());
}

fn read_all(folder: &Path) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            bytes += read_all(&path);
        } else if path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json") {
            bytes += fs::read(&path).unwrap().len() as u64;
        }
    }
    bytes
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let given = work();
    (given, begun.elapsed())
}

fn repeated(times: usize, mut work: impl FnMut(usize)) -> Vec<Duration> {
    (0..times).map(|number| timed(|| work(number)).1).collect()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn shown(times: &[Duration]) -> String {
    let mut sorted = times.to_vec();
    sorted.sort();
    let at = |share: f64| {
        sorted
            .get(((sorted.len() as f64 * share) as usize).min(sorted.len() - 1))
            .map_or(0.0, |time| ms(*time))
    };
    format!("{:>9.1} ms p50, {:.1} ms p95, {:.1} ms at most, of {}", at(0.5), at(0.95), at(1.0), sorted.len())
}

/// What this process had of all processors, in milliseconds: what a busy machine does not change much.
fn processor_time() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    ticks * 10
}

/// The most memory that this process ever had, in megabytes.
fn peak_memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1000.0
}
