//! Logs with the same requests, and logs that were rewritten.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};
use tamis_logs::discovery::LogLocations;
use tamis_store::DataDir;
use tamis_trace::{SessionFilter, Trace, UsageGrouping, erase_indexes};

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn open(folder: &Path) -> Trace {
    let trace = Trace::new(LogLocations::only(vec![folder.join("logs")]), DataDir::at(folder.join("data")));
    refresh(&trace);
    trace
}

fn refresh(trace: &Trace) {
    trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
}

/// A rollout of Codex with this number of requests, each of 110 tokens.
fn rollout(id: &str, requests: u64) -> String {
    let mut records = vec![json!({"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta",
        "payload": {"id": id, "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}})];
    for request in 1..=requests {
        let at = format!("2026-01-01T00:{request:02}:00Z");
        records.push(json!({"timestamp": at, "type": "event_msg", "payload": {"type": "agent_message", "message": format!("{request}")}}));
        records.push(
            json!({"timestamp": at, "type": "event_msg", "payload": {"type": "token_count", "info": {
            "total_token_usage": {"input_tokens": 100 * request, "output_tokens": 10 * request},
            "last_token_usage": {"input_tokens": 100, "output_tokens": 10}}}}),
        );
    }
    lines(&records)
}

/// All that was used, and the sessions there are.
fn used(trace: &Trace) -> (u64, usize) {
    let rows = trace.usage(&SessionFilter::default(), UsageGrouping::Provider).unwrap();
    let sessions = trace.sessions(&SessionFilter::default(), None, 100).unwrap();
    let own: u64 = sessions.iter().map(|session| session.own_tokens).sum();
    let total = rows.values().map(|row| row.tokens.total()).sum();
    assert_eq!(total, own, "what the sessions have themselves is all there is");
    (total, sessions.len())
}

#[test]
fn a_rollout_and_its_copies_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir_all(logs.join("archived")).unwrap();
    let name = "rollout-2026-01-01T00-00-00-0199aaaa.jsonl";
    fs::write(logs.join(name), rollout("0199aaaa", 3)).unwrap();
    assert_eq!(used(&open(folder.path())), (330, 1));
    // A copy that ended before.
    fs::write(logs.join("archived").join(name), rollout("0199aaaa", 2)).unwrap();
    assert_eq!(used(&open(folder.path())), (330, 2));
    // Another session's requests are its own, though they be as large and at the same time.
    fs::write(logs.join("other.jsonl"), rollout("0199bbbb", 3)).unwrap();
    assert_eq!(used(&open(folder.path())), (660, 3));
}

#[test]
fn of_a_rollout_and_its_compressed_twin_the_plain_one_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir_all(&logs).unwrap();
    fs::write(
        logs.join("rollout-1.jsonl.zst"),
        zstd::encode_all(rollout("0199aaaa", 2).as_bytes(), 1).unwrap(),
    )
    .unwrap();
    assert_eq!(used(&open(folder.path())), (220, 1));
    fs::write(logs.join("rollout-1.jsonl"), rollout("0199aaaa", 3)).unwrap();
    assert_eq!(used(&open(folder.path())), (330, 1));
    fs::remove_file(logs.join("rollout-1.jsonl")).unwrap();
    assert_eq!(used(&open(folder.path())), (220, 1));
}

#[test]
fn a_log_that_was_rewritten_in_its_place_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir_all(&logs).unwrap();
    let path = logs.join("log.jsonl");
    let log = |middle: &str| {
        let said = |text: &str| {
            json!({"type": "user", "sessionId": "s", "uuid": "u", "timestamp": "2026-01-01T00:00:00Z",
                "message": {"role": "user", "content": text}})
        };
        // Its two ends, which tell whether a log has only grown, are as they were.
        lines(&[said(&"a".repeat(9000)), said(middle), said(&"b".repeat(9000))])
    };
    fs::write(&path, log("before")).unwrap();
    let trace = open(folder.path());
    let second = || {
        let session = trace.session("s").unwrap();
        trace.event(&session, 1).unwrap().payload["text"].as_str().unwrap().to_owned()
    };
    let snippets = || trace.turns(&trace.session("s").unwrap(), 1, 1).unwrap()[0].preview.to_string();
    assert_eq!((second(), snippets()), ("before".to_owned(), "before".to_owned()));
    // As long, and with the same time: a program that restores a file may set it.
    let time: SystemTime = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, log("behind")).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    refresh(&trace);
    assert_eq!((second(), snippets()), ("behind".to_owned(), "behind".to_owned()));
}

#[test]
fn logs_that_name_each_other_for_parents_and_ids_without_end_are_borne() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir_all(&logs).unwrap();
    let fork = |id: &str, parent: &str| {
        lines(&[
            json!({"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta",
            "payload": {"id": id, "forked_from_id": parent, "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}}),
            json!({"timestamp": "2026-01-01T01:00:00Z", "type": "event_msg", "payload": {"type": "user_message", "message": "hi"}}),
        ])
    };
    fs::write(logs.join("a.jsonl"), fork("one-a", "two-b")).unwrap();
    fs::write(logs.join("b.jsonl"), fork("two-b", "one-a")).unwrap();
    fs::write(logs.join("c.jsonl"), fork("three-c", "three-c")).unwrap();
    fs::write(logs.join("d.jsonl"), fork(&format!("long\u{1b}[2J{}", "x".repeat(1 << 20)), "one-a")).unwrap();
    let trace = open(folder.path());
    let family = |id: &str| {
        let mut ids: Vec<String> =
            trace.family(&trace.session(id).unwrap()).unwrap().into_iter().map(|one| one.id).collect();
        ids.sort();
        ids.iter().map(|id| id.chars().take(5).collect()).collect::<Vec<String>>()
    };
    assert_eq!(family("one-a"), ["long\u{fffd}", "two-b"]);
    assert_eq!(family("two-b"), ["long\u{fffd}", "one-a"]);
    assert_eq!(family("three-c"), Vec::<String>::new());
    assert!(trace.session("long").unwrap().id.len() < 5000);
}

#[test]
fn an_index_that_another_process_removed_and_built_anew_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir_all(&logs).unwrap();
    fs::write(logs.join("b.jsonl"), rollout("0199bbbb", 3)).unwrap();
    let held = open(folder.path());
    assert_eq!(used(&held), (330, 1));
    // The numbers of the logs are others now.
    erase_indexes(&DataDir::at(folder.path().join("data"))).unwrap();
    fs::write(logs.join("a.jsonl"), rollout("0199aaaa", 9)).unwrap();
    assert_eq!(used(&open(folder.path())), (1320, 2));
    fs::write(logs.join("b.jsonl"), rollout("0199bbbb", 4)).unwrap();
    refresh(&held);
    assert_eq!(used(&held), (1430, 2));
    assert_eq!(held.session("0199bbbb").unwrap().own_tokens, 440);
    let verified = held.verify(&mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((verified.logs, verified.differences), (2, vec![]));
}

/// A session that was forked or copied has used what is new in it, and so have its turns and steps.
#[test]
fn the_turns_of_a_session_add_up_to_what_it_counts() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir_all(&logs).unwrap();
    let log = |session: &str, turns: u64| {
        let record = |second: u64, kind: &str, message: Value| {
            json!({"type": kind, "sessionId": session, "uuid": format!("{kind}-{second}"), "cwd": "/w", "version": "2.1.0",
                "timestamp": format!("2026-01-01T00:00:{second:02}Z"), "requestId": format!("r{second}"), "message": message})
        };
        let of_turn = |turn: u64| {
            let answer = |second: u64| {
                record(
                    second,
                    "assistant",
                    json!({"id": format!("m{second}"), "role": "assistant", "model": "claude",
                    "content": [{"type": "text", "text": "ok"}], "usage": {"input_tokens": 100, "output_tokens": 10 + turn}}),
                )
            };
            [
                record(turn * 5, "user", json!({"role": "user", "content": "go"})),
                answer(turn * 5 + 1),
                answer(turn * 5 + 2),
            ]
        };
        let records: Vec<Value> = (0..turns).flat_map(of_turn).collect();
        fs::write(logs.join(format!("{session}.jsonl")), lines(&records)).unwrap();
    };
    let (original, fork) = ("0f0e0d0c-0000-4000-8000-000000000001", "0f0e0d0c-0000-4000-8000-000000000002");
    log(original, 3);
    log(fork, 5);
    let trace = open(folder.path());
    for (id, turns) in [(original, 3), (fork, 5)] {
        let session = trace.session(id).unwrap();
        assert_eq!(session.summary.turns, turns, "{id}");
        let listed: Vec<u64> =
            trace.turns(&session, 0, 10).unwrap().iter().map(|turn| turn.tokens.total()).collect();
        let mut of_steps = vec![0; turns as usize];
        trace
            .steps(&session, 0, 100, &mut |part| {
                if let tamis_trace::TurnPart::Step { turn, step } = part {
                    of_steps[turn as usize] += step.tokens.total();
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        let analysis = trace.analyze(&session, &tamis_trace::AnalysisOptions::default(), &|| false).unwrap();
        let sum: u64 = listed.iter().sum();
        assert_eq!((sum, analysis.summary.tokens.total()), (session.own_tokens, session.own_tokens), "{id}");
        assert_eq!(of_steps, listed, "{id}");
        assert_eq!(analysis.summary.requests, if id == original { 6 } else { 4 });
        let last = trace.turns(&session, turns - 1, 1).unwrap();
        assert_eq!(last[0].tokens.total(), listed[turns as usize - 1], "{id}");
    }
    let inherited = trace.session(fork).unwrap();
    assert_eq!(inherited.own_tokens, 2 * (113 + 114));
}
