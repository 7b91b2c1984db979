//! The index against logs that grow, tear, vanish, are copied, and are not what they seem.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tamis_logs::discovery::LogLocations;
use tamis_logs::event::EventKind;
use tamis_store::DataDir;
use tamis_trace::{SearchRequest, SessionFilter, Trace, TraceError, TraceSearchMode};
use tempfile::TempDir;

const ONE: &str = "11111111-0000-4000-8000-000000000001";
const TWO: &str = "11111111-0000-4000-8000-000000000002";

/// Logs in a folder, and an index beside them.
struct Logs {
    folder: TempDir,
    trace: Trace,
}

impl Logs {
    fn new() -> Logs {
        let folder = tempfile::tempdir().unwrap();
        let trace = Logs::open(folder.path());
        Logs { folder, trace }
    }

    fn open(folder: &Path) -> Trace {
        Trace::new(LogLocations::only(vec![folder.join("logs")]), DataDir::at(folder.join("data")))
    }

    fn path(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join("logs").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn append(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.path(name)).unwrap();
        file.write_all(bytes.as_ref()).unwrap();
    }

    fn refresh(&self) -> tamis_trace::IndexRefresh {
        self.trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap()
    }

    fn found(&self, query: &str, mode: TraceSearchMode) -> Vec<(String, u64)> {
        let search = SearchRequest { query: query.to_owned(), mode, most: 1000, ..SearchRequest::default() };
        let found = self.trace.search(&search, Duration::from_secs(30), &|| false).unwrap();
        found.matches.into_iter().map(|found| (found.place.session, found.place.event)).collect()
    }

    /// Everything that the index holds about all sessions.
    fn contents(trace: &Trace) -> Value {
        let filter = SessionFilter { with_subagents: true, ..SessionFilter::default() };
        let sessions = trace.sessions(&filter, None, 1000).unwrap();
        let contents = sessions.iter().map(|session| {
            let mut events = Vec::new();
            trace
                .events(session, 0, &mut |number, event| {
                    events.push(json!([number, event.at, event.kind().wire_name(), event.payload()]));
                    ControlFlow::Continue(())
                })
                .unwrap();
            json!({
                "id": session.id,
                "parent": session.parent(),
                "tokens": [session.own_tokens, session.inherited.total()],
                "tally": session.summary,
                "turns": trace.turns(session, 0, 10_000).unwrap(),
                "ledger": format!("{:?}", trace.account(session).unwrap().requests()),
                "events": events,
            })
        });
        contents.collect()
    }

    /// The same from a fresh index of the same logs.
    fn contents_rebuilt(&self) -> Value {
        let data = tempfile::tempdir().unwrap();
        let trace =
            Trace::new(LogLocations::only(vec![self.folder.path().join("logs")]), DataDir::at(data.path()));
        trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
        Logs::contents(&trace)
    }
}

/// Reports only where two values differ; they are long.
fn assert_same(one: &Value, other: &Value, when: &str) {
    let (one, other) = (format!("{one:#}"), format!("{other:#}"));
    let difference = one.lines().zip(other.lines()).position(|(one, other)| one != other);
    if let Some(line) = difference {
        let near =
            |text: &str| text.lines().skip(line.saturating_sub(3)).take(7).collect::<Vec<_>>().join("\n");
        panic!("{when}, they differ in line {line}:\n{}\n--\n{}", near(&one), near(&other));
    }
    assert_eq!(one.len(), other.len(), "{when}");
}

fn user(session: &str, second: u32, text: &str) -> String {
    line(json!({
        "type": "user", "sessionId": session, "uuid": format!("u{second}"), "parentUuid": null, "isSidechain": false,
        "cwd": "/home/dev/project", "version": "2.1.0", "timestamp": time(second),
        "message": {"role": "user", "content": text},
    }))
}

fn assistant(session: &str, second: u32, message: &str, content: Value, output: u64) -> String {
    line(json!({
        "type": "assistant", "sessionId": session, "uuid": format!("a{second}"), "parentUuid": "x", "isSidechain": false,
        "cwd": "/home/dev/project", "version": "2.1.0", "timestamp": time(second), "requestId": format!("req_{message}"),
        "message": {
            "id": message, "type": "message", "role": "assistant", "model": "claude-opus-4", "content": [content],
            "usage": {"input_tokens": 10, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1000, "output_tokens": output},
        },
    }))
}

fn call(session: &str, second: u32, id: &str, name: &str, input: Value) -> String {
    assistant(
        session,
        second,
        id,
        json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": name, "input": input}),
        20,
    )
}

fn result(session: &str, second: u32, id: &str, content: Value, failed: bool) -> String {
    line(json!({
        "type": "user", "sessionId": session, "uuid": format!("r{second}"), "parentUuid": "x", "isSidechain": false,
        "cwd": "/home/dev/project", "version": "2.1.0", "timestamp": time(second),
        "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("toolu_{id}"), "content": content, "is_error": failed},
        ]},
    }))
}

fn line(value: Value) -> String {
    format!("{value}\n")
}

fn time(second: u32) -> String {
    format!("2026-01-02T{:02}:{:02}:{:02}.000Z", second / 3600, second / 60 % 60, second % 60)
}

/// A session of some turns, of which each reads a file and says something long.
fn session(id: &str, turns: u32) -> String {
    let mut text = String::new();
    for turn in 0..turns {
        let second = turn * 10;
        let name = format!("{id}-{turn}");
        text +=
            &user(id, second, &format!("Please look at file number {turn}, and tell me of its Überraschung"));
        text += &call(
            id,
            second + 1,
            &name,
            "Read",
            json!({"file_path": format!("/home/dev/project/src/file_{turn}.rs")}),
        );
        text += &result(
            id,
            second + 2,
            &name,
            json!(format!("fn number_{turn}() {{}}\n").repeat(200)),
            turn % 5 == 3,
        );
        let said =
            json!({"type": "text", "text": format!("It has a \"function\" with 日本 in it, number {turn}.")});
        text += &assistant(id, second + 3, &format!("m{name}"), said, 50);
    }
    text
}

#[test]
fn however_a_log_grows_the_index_is_as_if_read_at_once() {
    let text = session(ONE, 60);
    for step in [1_000, 7_777, 100_000, 300_001] {
        let logs = Logs::new();
        for part in text.as_bytes().chunks(step) {
            logs.append(&format!("{ONE}.jsonl"), part);
            let refreshed = logs.refresh();
            assert_eq!((refreshed.logs, refreshed.read), (1, 1));
            if step > 5_000 {
                assert_same(
                    &Logs::contents(&logs.trace),
                    &logs.contents_rebuilt(),
                    &format!("in steps of {step}"),
                );
            }
        }
        assert_same(&Logs::contents(&logs.trace), &logs.contents_rebuilt(), &format!("in steps of {step}"));
        assert_eq!(logs.refresh().read, 0, "nothing is new");
        assert_eq!(logs.found("number_59()", TraceSearchMode::Substring).len(), 1);
    }
}

#[test]
fn only_what_is_new_is_read() {
    let logs = Logs::new();
    let name = format!("{ONE}.jsonl");
    logs.append(&name, session(ONE, 100));
    let first = logs.refresh().bytes;
    assert_eq!(first, fs::metadata(logs.path(&name)).unwrap().len());
    let more = user(ONE, 5000, "one more thing");
    logs.append(&name, &more);
    assert_eq!(logs.refresh().bytes, more.len() as u64);
}

#[test]
fn a_log_that_was_rewritten_is_read_anew() {
    let logs = Logs::new();
    let name = format!("{ONE}.jsonl");
    logs.append(&name, session(ONE, 20));
    logs.refresh();
    // The same length and beginning, another end.
    let text = fs::read_to_string(logs.path(&name)).unwrap();
    let changed = text.replace("number 19.", "number XX.");
    assert_eq!(changed.len(), text.len());
    fs::write(logs.path(&name), &changed).unwrap();
    logs.refresh();
    assert_same(&Logs::contents(&logs.trace), &logs.contents_rebuilt(), "afterwards");
    // Shorter.
    fs::write(logs.path(&name), session(ONE, 3)).unwrap();
    logs.refresh();
    assert_same(&Logs::contents(&logs.trace), &logs.contents_rebuilt(), "afterwards");
    assert!(logs.found("number 19", TraceSearchMode::Substring).is_empty());
    // Gone.
    fs::remove_file(logs.path(&name)).unwrap();
    assert_eq!(logs.refresh().removed, 1);
    assert_eq!(Logs::contents(&logs.trace), json!([]));
}

#[test]
fn the_index_may_be_deleted_or_damaged_at_any_time() {
    let logs = Logs::new();
    logs.append(&format!("{ONE}.jsonl"), session(ONE, 20));
    logs.refresh();
    let contents = Logs::contents(&logs.trace);
    let index = logs.trace.index_path();
    for damage in [None, Some(b"no database".repeat(1000))] {
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{suffix}", index.display()));
        }
        match damage {
            None => fs::remove_file(&index).unwrap(),
            Some(bytes) => fs::write(&index, bytes).unwrap(),
        }
        let trace = Logs::open(logs.folder.path());
        trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
        assert_same(&Logs::contents(&trace), &contents, "afterwards");
    }
}

#[test]
fn an_indexing_that_is_broken_off_is_gone_on_with() {
    let logs = Logs::new();
    for number in 0..30 {
        logs.append(
            &format!("{number}/{}.jsonl", ONE.replace("11111111", &format!("1111{number:04}"))),
            session(ONE, 30),
        );
    }
    let mut steps = 0;
    let broken = logs.trace.refresh(&mut |_| {
        steps += 1;
        if steps == 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(broken, Err(TraceError::Cancelled)), "{broken:?}");
    logs.refresh();
    assert_same(&Logs::contents(&logs.trace), &logs.contents_rebuilt(), "afterwards");
}

#[test]
fn search_finds_in_any_case_by_words_and_by_substring() {
    let logs = Logs::new();
    logs.append(&format!("{ONE}.jsonl"), session(ONE, 30));
    logs.append(
        &format!("{TWO}.jsonl"),
        user(TWO, 3, "a second session about GRÜSSE und Umläute, C:\\path\\to\\it"),
    );
    logs.refresh();
    let count = |query: &str, mode| logs.found(query, mode).len();
    assert_eq!(count("FILE NUMBER 7,", TraceSearchMode::Substring), 1);
    assert_eq!(count("überraschung", TraceSearchMode::Substring), 30);
    assert_eq!(count("ÜBERRASCHUNG", TraceSearchMode::Substring), 30);
    assert_eq!(count("日本", TraceSearchMode::Substring), 30);
    assert_eq!(count("a \"function\" with", TraceSearchMode::Substring), 30);
    assert_eq!(count("src/file_7.rs", TraceSearchMode::Substring), 1);
    assert_eq!(count("\"file_path\":\"/home/dev/project/src/file_7.rs\"", TraceSearchMode::Substring), 1);
    assert_eq!(count("{}\nfn number_7", TraceSearchMode::Substring), 1);
    assert_eq!(count("c:\\PATH\\to", TraceSearchMode::Substring), 1);
    assert_eq!(count("grüsse", TraceSearchMode::Substring), 1);
    assert_eq!(count("numb 7", TraceSearchMode::Words), 0, "words are whole");
    assert_eq!(count("7 file", TraceSearchMode::Words), 1, "in any order");
    assert_eq!(count(r"file_(7|8)\.rs$", TraceSearchMode::Regex), 2);
    assert_eq!(count("no such thing", TraceSearchMode::Substring), 0);
}

#[test]
fn pages_of_a_search_give_each_match_once() {
    let logs = Logs::new();
    for number in 0..7 {
        let id = ONE.replace("11111111", &format!("2222222{number}"));
        logs.append(&format!("{id}.jsonl"), session(&id, 20));
    }
    logs.refresh();
    let all = logs.found("number_1", TraceSearchMode::Substring);
    assert_eq!(all.len(), 7 * 11);
    for most in [1, 2, 3, 10] {
        let mut paged = Vec::new();
        let mut after = None;
        loop {
            let search =
                SearchRequest { query: "number_1".to_owned(), most, after, ..SearchRequest::default() };
            let found = logs.trace.search(&search, Duration::from_secs(30), &|| false).unwrap();
            paged.extend(found.matches.iter().map(|found| (found.place.session.clone(), found.place.event)));
            if !found.more {
                break;
            }
            after = found.matches.last().map(|found| found.place.clone());
        }
        assert_eq!(paged, all, "in pages of {most}");
    }
    let search = SearchRequest {
        query: "number_1".to_owned(),
        kinds: vec![EventKind::User],
        most: 10,
        ..SearchRequest::default()
    };
    assert_eq!(logs.trace.search(&search, Duration::from_secs(30), &|| false).unwrap().matches.len(), 0);
}

#[test]
fn a_torn_last_line_waits_for_its_rest() {
    let logs = Logs::new();
    let name = format!("{ONE}.jsonl");
    let last = user(ONE, 900, "the last words");
    let (torn, rest) = last.split_at(60);
    logs.append(&name, session(ONE, 2) + torn);
    logs.refresh();
    assert_eq!(logs.trace.logs().unwrap()[0].pending, 60);
    assert_eq!(logs.found("the last words", TraceSearchMode::Substring), []);
    logs.append(&name, rest.trim_end());
    logs.refresh();
    assert_eq!(logs.trace.logs().unwrap()[0].pending, 0, "whole, though its line break is missing");
    assert_eq!(logs.found("the last words", TraceSearchMode::Substring).len(), 1);
    logs.append(&name, "\n".to_owned() + &user(ONE, 901, "not the last"));
    logs.refresh();
    assert_eq!(logs.found("the last", TraceSearchMode::Substring).len(), 2);
    assert_same(&Logs::contents(&logs.trace), &logs.contents_rebuilt(), "afterwards");
}

#[test]
fn whatever_stands_in_a_log_is_counted_and_the_rest_is_read() {
    let logs = Logs::new();
    let mut bytes = session(ONE, 1).into_bytes();
    bytes.extend(b"not json\n\xff\xfe invalid\n[1,2]\nnull\n{}\n{\"type\":\"hologram\",\"sessionId\":\"x\",\"uuid\":\"y\"}\n");
    bytes.extend(format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000)).bytes());
    bytes.extend(
        format!("{{\"type\":\"user\",\"message\":{}1{}}}\n", "{\"a\":".repeat(5_000), "}".repeat(5_000))
            .bytes(),
    );
    // The clock jumps back to 1970 and on to a far future.
    bytes.extend(user(ONE, 5, "after the jump").replace("2026-", "1970-").bytes());
    bytes.extend(user(ONE, 6, "far away").replace("2026-", "9999-").bytes());
    bytes.extend(user(ONE, 7, "no time at all").replace("2026-", "x").bytes());
    bytes.extend(user(ONE, 8, "the end").bytes());
    logs.append(&format!("{ONE}.jsonl"), bytes);
    logs.refresh();
    let session = logs.trace.session(ONE).unwrap();
    assert!(session.summary.unrecognised.values().sum::<u64>() >= 7, "{:?}", session.summary.unrecognised);
    for said in ["after the jump", "far away", "no time at all", "the end"] {
        assert_eq!(logs.found(said, TraceSearchMode::Substring).len(), 1, "{said}");
    }
    assert_eq!(session.summary.turns, 5);
}

#[test]
fn a_line_of_two_hundred_megabytes_costs_one_event_and_no_memory() {
    let logs = Logs::new();
    let name = format!("{ONE}.jsonl");
    logs.append(&name, session(ONE, 1));
    for _ in 0..200 {
        logs.append(&name, vec![b'x'; 1 << 20]);
    }
    logs.append(&name, "\n".to_owned() + &user(ONE, 77, "after the long line"));
    logs.refresh();
    let session = logs.trace.session(ONE).unwrap();
    assert_eq!(session.summary.unrecognised, [("unreadable: a line that is too long".to_owned(), 1)].into());
    assert_eq!(logs.found("which is more than", TraceSearchMode::Substring).len(), 1);
    let found = logs.found("after the long line", TraceSearchMode::Substring);
    assert_eq!(found.len(), 1);
    let event = logs.trace.event(&session, found[0].1).unwrap();
    assert_eq!(*event.payload, json!({"text": "after the long line"}));
}

#[test]
fn two_logs_of_one_id_are_both_to_be_had() {
    let logs = Logs::new();
    logs.append(&format!("a/{ONE}.jsonl"), session(ONE, 2));
    logs.append(&format!("b/{ONE}.jsonl"), session(ONE, 2) + &user(ONE, 500, "only in the copy"));
    logs.refresh();
    let sessions = logs.trace.sessions(&SessionFilter::default(), None, 10).unwrap();
    let ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(ids.len(), 2);
    assert_eq!(ids[0], ONE);
    assert!(ids[1].starts_with(&format!("{ONE}~")), "{ids:?}");
    assert_eq!(logs.trace.session(ONE).unwrap().id, ONE);
    let copy = &logs.found("only in the copy", TraceSearchMode::Substring)[0].0;
    assert_eq!(logs.trace.session(copy).unwrap().summary.turns, 3);
    // The requests that both tell of are counted once.
    let total: u64 = sessions.iter().map(|session| session.own_tokens).sum();
    let once = logs.trace.account(&logs.trace.session(ONE).unwrap()).unwrap().total().total();
    assert_eq!((total, once), (once, 2 * (1130 + 1160)));
}

#[test]
fn prefixes_and_short_ids() {
    let logs = Logs::new();
    for id in [ONE, TWO] {
        logs.append(&format!("{id}.jsonl"), session(id, 1));
    }
    logs.refresh();
    assert_eq!(logs.trace.short_id(ONE).unwrap(), ONE);
    match logs.trace.session("1111") {
        Err(TraceError::Ambiguous { prefix, matches, count: 2 }) => {
            assert_eq!((prefix.as_str(), matches), ("1111", vec![ONE.to_owned(), TWO.to_owned()]));
        }
        other => panic!("{other:?}"),
    }
    for unknown in ["", "zz", "%", "1111_", "'; DROP TABLE sessions"] {
        assert!(matches!(logs.trace.session(unknown), Err(TraceError::NoSuchSession { .. })), "{unknown}");
    }
}

#[test]
fn an_ambiguous_prefix_says_how_many_sessions_it_matches() {
    for sessions in [2_u32, 20, 21, 45] {
        let logs = Logs::new();
        for number in 0..sessions {
            let id = format!("{number:08}-0000-4000-8000-000000000001");
            logs.append(&format!("{id}.jsonl"), user(&id, 1, "hello"));
        }
        // One that another prefix begins.
        logs.append(&format!("{ONE}.jsonl"), user(ONE, 1, "hello"));
        logs.refresh();
        let error = logs.trace.session("000000").unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("Session ID prefix '000000' matches {sessions} sessions. Provide more characters.")
        );
        let TraceError::Ambiguous { matches, count, .. } = error else { panic!("{error:?}") };
        assert_eq!((matches.len(), count), (sessions.min(20) as usize, u64::from(sessions)));
    }
}

/// Other names of a file are not other sessions, whichever way they lead to it.
#[cfg(unix)]
#[test]
fn a_log_with_several_names_is_one_session() {
    use std::os::unix::fs::symlink;
    for name in ["a-link.jsonl", "zz-link.jsonl"] {
        let logs = Logs::new();
        let log = format!("{ONE}.jsonl");
        logs.append(&log, session(ONE, 1));
        symlink(logs.path(&log), logs.path(name)).unwrap();
        symlink(name, logs.path("link-to-a-link.jsonl")).unwrap();
        fs::create_dir(logs.path("deeper")).unwrap();
        fs::hard_link(logs.path(&log), logs.path("deeper").join(&log)).unwrap();
        symlink(logs.path("gone.jsonl"), logs.path("broken.jsonl")).unwrap();
        // The only name in this folder of a log elsewhere.
        let elsewhere = logs.folder.path().join("elsewhere.jsonl");
        fs::write(&elsewhere, session(TWO, 1)).unwrap();
        symlink(&elsewhere, logs.path(&format!("{TWO}.jsonl"))).unwrap();
        logs.refresh();
        let sessions = logs.trace.sessions(&SessionFilter::default(), None, 100).unwrap();
        let mut ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
        ids.sort_unstable();
        assert_eq!(ids, [ONE, TWO], "beside {name}");
        let names: Vec<String> = logs.trace.logs().unwrap().into_iter().map(|log| log.source.path).collect();
        assert!(names.iter().all(|name| !name.contains("link")), "a file's own name is shown: {names:?}");
    }
}

/// A folder that is named twice, once by a link to it.
#[cfg(unix)]
#[test]
fn a_folder_with_two_names_is_read_once() {
    let logs = Logs::new();
    logs.append(&format!("{ONE}.jsonl"), session(ONE, 1));
    let (folder, link) = (logs.folder.path().join("logs"), logs.folder.path().join("link"));
    std::os::unix::fs::symlink(&folder, &link).unwrap();
    let locations = LogLocations::only(vec![folder.clone(), link, folder.join(format!("{ONE}.jsonl"))]);
    let trace = Trace::new(locations, DataDir::at(logs.folder.path().join("data")));
    trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(trace.sessions(&SessionFilter::default(), None, 100).unwrap().len(), 1);
}
