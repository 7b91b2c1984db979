//! Following logs while they are written, and what the index says of itself.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use serde_json::json;
use tamis_clients::Client;
use tamis_logs::discovery::LogLocations;
use tamis_logs::event::EventKind;
use tamis_store::DataDir;
use tamis_store::rusqlite::Connection;
use tamis_trace::accounting::ReportVerdict;
use tamis_trace::{SessionFilter, Trace, UsageGrouping, erase_indexes, index_files, index_of_named};
use tempfile::TempDir;

const ONE: &str = "11111111-0000-4000-8000-000000000001";
const TWO: &str = "22222222-0000-4000-8000-000000000002";

struct Logs {
    folder: TempDir,
    trace: Trace,
}

impl Logs {
    fn new() -> Logs {
        let folder = tempfile::tempdir().unwrap();
        let locations = LogLocations::only(vec![folder.path().join("logs")]);
        let trace = Trace::new(locations, DataDir::at(folder.path().join("data")));
        Logs { folder, trace }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("logs").join(name)
    }

    fn append(&self, name: &str, text: &str) {
        append(&self.path(name), text);
    }

    fn refresh(&self) {
        self.trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
    }
}

fn append(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn user(session: &str, number: u64, text: &str) -> String {
    let record = json!({
        "type": "user", "sessionId": session, "uuid": format!("u{number}"), "cwd": "/work/shop", "version": "2.0.0",
        "timestamp": format!("2026-01-01T10:00:{number:02}.000Z"), "message": {"role": "user", "content": text},
    });
    format!("{record}\n")
}

fn answer(session: &str, number: u64, text: &str, output: u64) -> String {
    let record = json!({
        "type": "assistant", "sessionId": session, "uuid": format!("a{number}"), "cwd": "/work/shop",
        "version": "2.0.0", "timestamp": format!("2026-01-01T10:00:{number:02}.000Z"),
        "requestId": format!("req_{number}"),
        "message": {
            "id": format!("msg_{number}"), "role": "assistant", "model": "claude-opus-4-1",
            "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 10, "output_tokens": output},
        },
    });
    format!("{record}\n")
}

/// The events of one poll.
fn look(watch: &mut tamis_trace::SessionWatch<'_>) -> Vec<(String, u64, EventKind)> {
    let mut events = Vec::new();
    let _ = watch
        .look(&mut |session, index, event| {
            events.push((session.id.clone(), index, event.kind));
            ControlFlow::Continue(())
        })
        .unwrap();
    events
}

#[test]
fn a_look_tells_what_is_new_and_nothing_twice() {
    let logs = Logs::new();
    let one = format!("{ONE}.jsonl");
    logs.append(&one, &user(ONE, 1, "before"));
    let mut watch = logs.trace.watch().unwrap();
    assert_eq!(watch.logs(), 1);
    assert_eq!(look(&mut watch), [], "what was there before is passed over");

    let (first, second) = (user(ONE, 2, "one more"), answer(ONE, 3, "done", 5));
    logs.append(&one, &first);
    // Half a line is none yet.
    logs.append(&one, &second[..40]);
    assert_eq!(look(&mut watch), [(ONE.to_owned(), 1, EventKind::User)]);
    logs.append(&one, &second[40..]);
    let events = look(&mut watch);
    assert_eq!(events[0], (ONE.to_owned(), 2, EventKind::Message));
    assert!(events.iter().any(|(_, _, kind)| *kind == EventKind::TokenUsage), "{events:?}");
    assert_eq!(look(&mut watch), []);

    // A folder and a log that appear later.
    logs.append(&format!("later/{TWO}.jsonl"), &user(TWO, 4, "another"));
    assert_eq!(look(&mut watch), [(TWO.to_owned(), 0, EventKind::User)]);
    fs::remove_file(logs.path(&one)).unwrap();
    assert_eq!(look(&mut watch), []);
    assert_eq!(watch.logs(), 1);
}

#[test]
fn following_goes_on_while_a_log_is_written() {
    const LINES: u64 = 40;
    let logs = Logs::new();
    logs.append(&format!("{ONE}.jsonl"), &user(ONE, 1, "before"));
    let path = logs.path(&format!("{ONE}.jsonl"));
    let mut watch = logs.trace.watch().unwrap();
    let (seen, wait_for_it) = mpsc::channel();
    let writer = std::thread::spawn(move || {
        for number in 2..2 + LINES {
            append(&path, &user(ONE, number % 60, "line"));
            // Some lines come together, and some only when those before have been reported.
            if number % 10 == 0 {
                wait_for_it.recv().unwrap();
            }
        }
    });
    let mut events = Vec::new();
    watch
        .follow(&|| false, &mut |_, index, _| {
            events.push(index);
            if (index + 1) % 10 == 0 {
                let _ = seen.send(());
            }
            if events.len() as u64 == LINES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    writer.join().unwrap();
    assert_eq!(events, (1..=LINES).collect::<Vec<_>>());
    watch.follow(&|| true, &mut |_, _, _| panic!("nothing is new")).unwrap();
}

#[test]
fn an_index_that_grew_is_as_one_built_at_once() {
    let logs = Logs::new();
    for number in 0..50 {
        logs.append(&format!("{ONE}.jsonl"), &user(ONE, number % 60, "say it"));
        logs.append(&format!("{ONE}.jsonl"), &answer(ONE, number % 60, "said", number));
        if number % 7 == 0 {
            logs.refresh();
        }
    }
    logs.refresh();
    let verified = logs.trace.verify(&mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((verified.logs, verified.sessions, verified.changed), (1, 1, 0));
    assert_eq!(verified.differences, []);
    let left: Vec<_> = fs::read_dir(logs.folder.path().join("data"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("verify"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    // A log that is not the one that was indexed is not compared, until it is.
    let path = logs.path(&format!("{ONE}.jsonl"));
    let changed = fs::read_to_string(&path).unwrap().replace("\"output_tokens\":25", "\"output_tokens\":52");
    fs::write(&path, changed).unwrap();
    let verified = logs.trace.verify(&mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((verified.logs, verified.changed), (0, 1));
    logs.refresh();
    let verified = logs.trace.verify(&mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((verified.logs, verified.changed, verified.differences), (1, 0, vec![]));
    // What the index has and the log lacks is reported.
    let index = Connection::open(logs.trace.index_path()).unwrap();
    index.execute("UPDATE sessions SET tokens = tokens + 1", []).unwrap();
    let verified = logs.trace.verify(&mut |_| ControlFlow::Continue(())).unwrap();
    let what: Vec<_> = verified.differences.iter().map(|difference| difference.what).collect();
    assert_eq!(what, ["the session's tokens"]);
}

#[test]
fn nothing_that_is_not_understood_goes_unsaid() {
    let logs = Logs::new();
    let odd = json!({"type": "hologram", "sessionId": ONE, "uuid": "x", "timestamp": "2026-01-01T10:00:00Z"});
    logs.append(&format!("{ONE}.jsonl"), &format!("{}{odd}\n{odd}\nno json\n", user(ONE, 1, "hello")));
    logs.append(
        &format!("{TWO}.jsonl"),
        &format!("{}{}", user(TWO, 1, "hello"), &user(TWO, 2, "torn")[..30]),
    );
    logs.append("notes.json", "{\"what\": \"no log\"}\n");
    logs.append("only-odd.jsonl", &format!("{odd}\n"));
    logs.refresh();
    let report = logs.trace.report().unwrap();
    let claude = report.clients[&Some(Client::ClaudeCode)];
    assert_eq!((claude.logs, claude.sessions, claude.events), (3, 2, 2));
    assert_eq!(report.clients[&None].logs, 1);
    let one = logs.path(&format!("{ONE}.jsonl")).to_str().unwrap().to_owned();
    let counts: Vec<_> = report.unrecognised.iter().map(|entry| (entry.count, entry.logs.clone())).collect();
    assert_eq!(counts, [(2, vec![one.clone().into()]), (1, vec![one.into()])], "{:?}", report.unrecognised);
    assert!(report.unrecognised[0].what.contains("hologram"));
    let names = |logs: &[tamis_trace::IndexedLog]| -> Vec<String> {
        logs.iter().map(|log| log.name().rsplit('/').next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&report.unknown), ["notes.json"]);
    assert_eq!(names(&report.torn), [format!("{TWO}.jsonl")]);
    assert_eq!(names(&report.problems), ["only-odd.jsonl"]);
    let problem = report.problems[0].problem().unwrap();
    assert!(problem.contains("hologram (1)"), "{problem}");
}

#[test]
fn a_fork_uses_the_same_alone_as_among_others() {
    let logs = Logs::new();
    let shared = format!("{}{}", user(ONE, 1, "begin"), answer(ONE, 2, "begun", 100));
    logs.append(&format!("{ONE}.jsonl"), &shared);
    // Copied from its parent: the same requests, the same beginning.
    logs.append(
        &format!("{TWO}.jsonl"),
        &format!("{shared}{}{}", user(TWO, 3, "go on"), answer(TWO, 4, "on", 7)),
    );
    logs.refresh();
    let by_session = |filter: &SessionFilter| -> Vec<(String, u64)> {
        let rows = logs.trace.usage(filter, UsageGrouping::Session).unwrap();
        rows.into_iter().map(|(id, row)| (id, row.tokens.total())).collect()
    };
    let listed: Vec<_> = [ONE, TWO]
        .map(|id| (id.to_owned(), logs.trace.session(id).unwrap().own_tokens))
        .into_iter()
        .collect();
    assert_eq!(listed, [(ONE.to_owned(), 110), (TWO.to_owned(), 17)]);
    assert_eq!(by_session(&SessionFilter::default()), listed);
    let late = SessionFilter { since: Some(1_767_261_603_000), ..SessionFilter::default() };
    assert_eq!(by_session(&late), listed[1..], "requests before it are not counted");
}

#[test]
fn of_logs_that_began_together_the_copy_inherits() {
    // The copy's id comes first, which must not make it the original.
    let (original, copy) = (TWO, ONE);
    let logs = Logs::new();
    let shared = format!("{}{}", user(original, 1, "begin"), answer(original, 2, "begun", 100));
    logs.append(&format!("{original}.jsonl"), &shared);
    logs.append(&format!("{copy}.jsonl"), &format!("{shared}{}", answer(copy, 4, "on", 7)));
    logs.refresh();
    let own = |id: &str| logs.trace.session(id).unwrap().own_tokens;
    assert_eq!((own(original), own(copy)), (110, 17));
    let rows = logs.trace.usage(&SessionFilter::default(), UsageGrouping::Session).unwrap();
    let used = |id: &str| rows[id].tokens.total();
    assert_eq!((used(original), used(copy)), (110, 17));
    let explained = logs.trace.explain_usage(&logs.trace.session(copy).unwrap()).unwrap();
    assert_eq!(explained[0].verdict, ReportVerdict::CountedElsewhere);
}

#[test]
fn a_second_log_of_a_session_takes_no_name_from_the_first() {
    let logs = Logs::new();
    logs.append(&format!("{ONE}.jsonl"), &user(ONE, 1, "hello"));
    logs.append(&format!("backup/{ONE}.jsonl"), &user(ONE, 1, "hello"));
    logs.refresh();
    assert_eq!(logs.trace.short_id(ONE).unwrap(), ONE[..8]);
    assert_eq!(logs.trace.session(&ONE[..8]).unwrap().id, ONE);
    let all = logs.trace.sessions(&SessionFilter::default(), None, 9).unwrap();
    let copy = &all.iter().find(|session| session.id != ONE).unwrap().id;
    assert_eq!(logs.trace.session(&logs.trace.short_id(copy).unwrap()).unwrap().id, *copy);
}

#[test]
fn indexes_of_earlier_versions_are_removed() {
    let logs = Logs::new();
    logs.append(&format!("{ONE}.jsonl"), &user(ONE, 1, "hello"));
    let data = logs.folder.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    let names = ["trace-v1.db", "trace-v1.db-wal", "trace-v99.db", "trace-vault.db", "notes"];
    names.iter().for_each(|name| std::fs::write(data.join(name), "x").unwrap());
    logs.refresh();
    let left: Vec<&str> = names.into_iter().filter(|name| data.join(name).exists()).collect();
    assert_eq!(left, ["trace-v99.db", "trace-vault.db", "notes"]);
}

#[test]
fn indexes_are_found_and_erased() {
    let logs = Logs::new();
    logs.append(&format!("{ONE}.jsonl"), &user(ONE, 1, "hello"));
    logs.refresh();
    let data_dir = DataDir::at(logs.folder.path().join("data"));
    let named = index_of_named(&data_dir, &[logs.path("")]);
    assert_ne!(named.root(), index_of_named(&data_dir, &[logs.path("other")]).root());
    Trace::new(LogLocations::only(vec![logs.path("")]), named)
        .refresh(&mut |_| ControlFlow::Continue(()))
        .unwrap();
    let databases = index_files(&data_dir)
        .unwrap()
        .into_iter()
        .filter(|(path, _)| path.to_str().unwrap().ends_with(".db"));
    assert_eq!(databases.count(), 2);
    assert!(erase_indexes(&data_dir).unwrap() > 0);
    assert_eq!(index_files(&data_dir).unwrap(), []);
    assert_eq!(erase_indexes(&data_dir).unwrap(), 0);
    assert_eq!(erase_indexes(&DataDir::at(logs.folder.path().join("nothing"))).unwrap(), 0);
}
