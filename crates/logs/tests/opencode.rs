//! The reader of OpenCode's sessions: a database that the client wrote against a scripted model, the older storage, and
//! shapes that such runs do not give.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod rendering;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rendering::{compare, render};
use serde_json::{Value, json};
use tamis_logs::event::{EventBody, EventKind};
use tamis_logs::readers::opencode::{OpenCodeError, read, sessions, sessions_of, stores};
use tamis_logs::readers::{ParsedLog, Relation, SessionFact, Unrecognised};
use tamis_logs::usage::{Claim, ExclusionReason, Tokens};
use tamis_store::rusqlite::Connection;

fn logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs/opencode")
}

/// The client's database, made again from what it had in it; the connection is its program's.
fn real(folder: &Path) -> (PathBuf, Connection) {
    let path = folder.join("opencode.db");
    let program = Connection::open(&path).unwrap();
    program.pragma_update(None, "journal_mode", "WAL").unwrap();
    program.execute_batch(&fs::read_to_string(logs().join("opencode.sql")).unwrap()).unwrap();
    (path, program)
}

/// A database of one session, of these messages with their parts.
fn made(folder: &Path, messages: &[(Value, Vec<Value>)]) -> (PathBuf, Connection) {
    let path = folder.join("opencode.db");
    let program = Connection::open(&path).unwrap();
    program.pragma_update(None, "synchronous", "OFF").unwrap();
    program
        .execute_batch(
            "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
                                   revert TEXT, time_created INTEGER, time_updated INTEGER);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
                                time_updated INTEGER, data TEXT);
             INSERT INTO session VALUES ('ses_1', NULL, '/home/dev/project', 'A title', '1.2.0', NULL, 1000, 1000);",
        )
        .unwrap();
    for (number, (message, parts)) in messages.iter().enumerate() {
        let id = format!("msg_{number}");
        let created = 2000 + 10 * number as i64;
        let row = "INSERT INTO message VALUES (?1, 'ses_1', ?2, ?2, ?3)";
        program.execute(row, (&id, created, message.to_string())).unwrap();
        for (place, part) in parts.iter().enumerate() {
            let row = "INSERT INTO part VALUES (?1, ?2, 'ses_1', ?3, ?3, ?4)";
            program
                .execute(row, (format!("prt_{number}_{place:02}"), &id, created, part.to_string()))
                .unwrap();
        }
    }
    (path, program)
}

fn kinds(transcript: &ParsedLog<'_>) -> Vec<EventKind> {
    transcript.events.iter().map(|event| event.kind()).collect()
}

fn used(transcript: &ParsedLog<'_>) -> Tokens {
    let reports = transcript.events.iter().filter_map(|event| match &event.body {
        EventBody::TokenUsage(report) if !matches!(report.claim, Claim::Excluded(_)) => Some(report.tokens),
        _ => None,
    });
    reports.fold(Tokens::default(), Tokens::plus)
}

fn assistant() -> Value {
    json!({"role": "assistant", "modelID": "m", "providerID": "p", "time": {"created": 1}})
}

fn user() -> Value {
    json!({"role": "user", "time": {"created": 1}})
}

fn step(input: u64) -> Value {
    json!({"type": "step-finish", "reason": "stop", "cost": 0,
        "tokens": {"input": input, "output": 3, "reasoning": 2, "total": input + 5, "cache": {"read": 0, "write": 0}}})
}

#[test]
fn the_clients_own_sessions_read_as_they_happened() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = real(folder.path());
    let listed = sessions(&path).unwrap();
    let mut text = String::new();
    for session in &listed {
        text.push_str(&render(&read(&path, &session.id).unwrap()));
        text.push('\n');
    }
    compare(&logs().join("sessions.golden"), &text);

    // The client sums the steps of a session too, with those that a fork has inherited.
    for session in &listed {
        let transcript = read(&path, &session.id).unwrap();
        let all = transcript.events.iter().filter_map(|event| match &event.body {
            EventBody::TokenUsage(report) => Some(report.tokens),
            _ => None,
        });
        let all = all.fold(Tokens::default(), Tokens::plus);
        let sql =
            "SELECT tokens_input, tokens_output + tokens_reasoning, tokens_reasoning, tokens_cache_read,
                          tokens_cache_write FROM session WHERE id = ?1";
        let clients = program
            .query_row(sql, [&session.id], |row| {
                Ok(Tokens {
                    input: row.get(0)?,
                    output: row.get(1)?,
                    reasoning: row.get(2)?,
                    cache_read: row.get(3)?,
                    cache_creation: row.get(4)?,
                })
            })
            .unwrap();
        assert_eq!(all, clients, "{}", session.id);
    }
}

#[test]
fn a_fork_knows_its_parent_and_does_not_count_what_it_inherited() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _program) = real(folder.path());
    let listed = sessions(&path).unwrap();
    let [first, subagent, fork] = listed.as_slice() else { panic!("{listed:?}") };
    let parent = |id: &str| {
        let facts = read(&path, id).unwrap().facts;
        facts.into_iter().find_map(|fact| match fact {
            SessionFact::Parent { id, relation } => Some((id.into_owned(), relation)),
            _ => None,
        })
    };
    assert_eq!(parent(&first.id), None);
    assert_eq!(parent(&subagent.id), Some((first.id.clone(), Relation::Subagent)));
    assert_eq!(parent(&fork.id), Some((first.id.clone(), Relation::Fork)));
    let fork = read(&path, &fork.id).unwrap();
    let inherited = fork.events.iter().filter(|event| {
        matches!(&event.body, EventBody::TokenUsage(report) if report.claim == Claim::Excluded(ExclusionReason::Inherited))
    });
    assert_eq!(inherited.count(), 7);
    assert_eq!(used(&fork).input, 4600 + 50 + 600);
}

#[test]
fn a_stamp_changes_with_its_session_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = real(folder.path());
    let before = sessions(&path).unwrap();
    assert_eq!(before, sessions(&path).unwrap());
    let id = &before[1].id;
    let changes = [
        "UPDATE event_sequence SET seq = seq + 1 WHERE aggregate_id = ?1",
        "UPDATE session SET time_updated = time_updated + 1 WHERE id = ?1",
        "DELETE FROM part WHERE id = (SELECT max(id) FROM part WHERE session_id = ?1)",
        // Without a sequence the rows' own times tell.
        "DELETE FROM event_sequence WHERE aggregate_id = ?1",
        "UPDATE part SET time_updated = time_updated + 100000 WHERE id = (SELECT min(id) FROM part WHERE session_id = ?1)",
    ];
    let mut last = before.clone();
    for change in changes {
        program.execute(change, [id]).unwrap();
        let now = sessions(&path).unwrap();
        assert_ne!(now[1], last[1], "{change}");
        assert_eq!((&now[0], &now[2]), (&before[0], &before[2]), "{change}");
        last = now;
    }
}

#[test]
fn steps_count_and_a_message_only_without_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut message = assistant();
    // The message has its last step's.
    message["tokens"] =
        json!({"input": 20, "output": 3, "reasoning": 2, "total": 25, "cache": {"read": 0, "write": 0}});
    let (path, _program) = made(
        folder.path(),
        &[
            (message.clone(), vec![step(10), step(20)]),
            (message, vec![json!({"type": "text", "text": "Hi"})]),
        ],
    );
    let transcript = read(&path, "ses_1").unwrap();
    assert_eq!(used(&transcript), Tokens { input: 50, output: 15, reasoning: 6, ..Tokens::default() });
}

#[test]
fn every_kind_of_part_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let prompt = vec![
        json!({"type": "text", "text": "Read @a.rs"}),
        json!({"type": "text", "text": "fn a() {}", "synthetic": true}),
        json!({"type": "text", "text": "not for the model", "ignored": true}),
        json!({"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}),
        json!({"type": "agent", "name": "build"}),
    ];
    let command = vec![
        json!({"type": "subtask", "command": "review", "agent": "general", "prompt": "Review it all", "description": "d"}),
    ];
    let answer = vec![
        json!({"type": "step-start"}),
        json!({"type": "reasoning", "text": "Hm", "time": {"start": 2011}}),
        json!({"type": "reasoning", "text": ""}),
        json!({"type": "tool", "tool": "bash", "callID": "c1", "state": {"status": "running", "input": {"command": "sleep 9"}, "time": {"start": 2012}}}),
        json!({"type": "tool", "tool": "bash", "callID": "c2", "state": {"status": "completed", "input": {}, "output": "no", "metadata": {"exit": 1}}}),
        json!({"type": "tool", "tool": "read", "callID": "c3", "state": {"status": "error", "input": {}, "error": "gone"}}),
        json!({"type": "tool", "tool": "read", "callID": "c4", "state": {"status": "completed", "input": {}, "output": "Image read",
            "attachments": [{"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}]}}),
        json!({"type": "tool", "tool": "write", "callID": "c5", "state": {"status": "pending", "input": {}, "raw": "{\"fi"}}),
        json!({"type": "retry", "attempt": 2, "error": {"name": "APIError", "data": {"message": "overloaded"}}}),
        json!({"type": "patch", "hash": "h", "files": ["/a", "/b"]}),
        json!({"type": "snapshot", "snapshot": "s"}),
        json!({"type": "hologram"}),
        json!({"type": "text", "text": "Done"}),
    ];
    let mut failed = assistant();
    failed["error"] = json!({"name": "MessageAbortedError", "data": {"message": "aborted"}});
    let mut summary = assistant();
    summary["summary"] = json!(true);
    let (path, _program) = made(
        folder.path(),
        &[
            (user(), prompt),
            (failed, answer),
            (user(), command),
            (user(), vec![json!({"type": "compaction", "auto": false})]),
            (summary, vec![json!({"type": "text", "text": "So far"})]),
            (json!({"role": "oracle"}), vec![]),
        ],
    );
    let transcript = read(&path, "ses_1").unwrap();
    compare(&logs().join("parts.golden"), &render(&transcript));
    assert_eq!(
        transcript.unrecognised,
        [Unrecognised::Part("part.hologram".into()), Unrecognised::Record("message.oracle".into())]
    );
}

#[test]
fn what_is_reverted_is_no_conversation_but_was_paid_for() {
    let folder = tempfile::tempdir().unwrap();
    let text = |text: &str| json!({"type": "text", "text": text});
    let (path, program) = made(
        folder.path(),
        &[
            (user(), vec![text("One")]),
            (assistant(), vec![text("Eins"), step(10)]),
            (user(), vec![text("Two")]),
            (assistant(), vec![text("Zwei"), step(20)]),
        ],
    );
    program.execute("UPDATE session SET revert = ?1", [json!({"messageID": "msg_2"}).to_string()]).unwrap();
    let transcript = read(&path, "ses_1").unwrap();
    use EventKind::{Message, Notification, TokenUsage, User};
    assert_eq!(kinds(&transcript), [User, Message, TokenUsage, Notification, TokenUsage]);
    assert_eq!(used(&transcript).input, 30);
    let part = json!({"messageID": "msg_3", "partID": "prt_3_01"}).to_string();
    program.execute("UPDATE session SET revert = ?1", [part]).unwrap();
    let kinds_now = kinds(&read(&path, "ses_1").unwrap());
    assert_eq!(kinds_now, [User, Message, TokenUsage, User, Message, Notification, TokenUsage]);
}

#[test]
fn the_next_versions_messages_are_read_where_there_are_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = made(folder.path(), &[]);
    program
        .execute_batch("CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, data TEXT)")
        .unwrap();
    let rows = [
        (
            "user",
            json!({"text": "Hello", "files": [{"uri": "file:///a", "mime": "text/plain", "name": "a"}]}),
        ),
        (
            "assistant",
            json!({"model": {"id": "m", "providerID": "p"}, "agent": "build",
            "tokens": {"input": 5, "output": 6, "reasoning": 7, "cache": {"read": 8, "write": 9}},
            "content": [
                {"type": "reasoning", "id": "r", "text": "Hm"},
                {"type": "text", "id": "t", "text": "Hi"},
                {"type": "tool", "id": "c1", "name": "bash", "time": {"created": 2101, "ran": 2102, "completed": 2103},
                 "state": {"status": "completed", "input": {"command": "ls"}, "content": [{"type": "text", "text": "a.rs"}], "structured": {}}},
                {"type": "tool", "id": "c2", "name": "read", "time": {"created": 2104},
                 "state": {"status": "error", "input": {}, "content": [], "structured": {}, "error": {"type": "unknown", "message": "gone"}}}]}),
        ),
        (
            "shell",
            json!({"callID": "s1", "command": "pwd", "output": "/home", "time": {"created": 1, "completed": 2}}),
        ),
        ("compaction", json!({"reason": "auto", "summary": "So far", "recent": ""})),
        ("system", json!({"text": "Today is Sunday"})),
        ("model-switched", json!({"model": {"id": "n"}})),
        ("telepathy", json!({})),
    ];
    for (place, (kind, data)) in rows.iter().enumerate() {
        let row = "INSERT INTO session_message VALUES (?1, 'ses_1', ?2, ?3, ?4, ?5)";
        let place = place as i64;
        program.execute(row, (format!("msg_{place}"), kind, place, 2100 + place, data.to_string())).unwrap();
    }
    compare(&logs().join("next.golden"), &render(&read(&path, "ses_1").unwrap()));
}

#[test]
fn a_copied_message_is_distinguished_from_one_after_a_clock_change() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = made(folder.path(), &[]);
    let insert = |id: &str, created: i64| {
        let data = assistant().to_string();
        program.execute("INSERT INTO message VALUES (?1, 'ses_1', ?2, ?2, ?3)", (id, created, data)).unwrap();
        let row = "INSERT INTO part VALUES (?1, ?2, 'ses_1', 0, 0, ?3)";
        program.execute(row, (format!("prt_{id}"), id, step(10).to_string())).unwrap();
    };
    program.execute("UPDATE session SET time_created = 5000000", []).unwrap();
    // Ids begin with their time in milliseconds and a counter of three digits, in hexadecimal.
    insert(&format!("msg_{:09x}001abc", 4_000_000), 4_000_000);
    insert(&format!("msg_{:09x}001abc", 5_000_100), 3_000_000);
    let claims: Vec<bool> = read(&path, "ses_1")
        .unwrap()
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::TokenUsage(report) => {
                Some(report.claim == Claim::Excluded(ExclusionReason::Inherited))
            }
            _ => None,
        })
        .collect();
    assert_eq!(claims, [true, false], "the copy, then the other, by their times");
}

/// The same session in the older storage's files.
fn write_storage(storage: &Path) {
    let write = |path: &str, value: Value| {
        let path = storage.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    };
    write(
        "session/proj/ses_old.json",
        json!({"id": "ses_old", "directory": "/home/dev/old", "title": "Old", "version": "1.0.0", "parentID": "ses_top", "time": {"created": 1000, "updated": 3000}}),
    );
    write(
        "message/ses_old/msg_b.json",
        json!({"id": "msg_b", "role": "assistant", "modelID": "m", "time": {"created": 2001, "completed": 2009}}),
    );
    write("message/ses_old/msg_a.json", json!({"id": "msg_a", "role": "user", "time": {"created": 2000}}));
    write("part/msg_a/prt_1.json", json!({"id": "prt_1", "type": "text", "text": "Hello"}));
    write("part/msg_b/prt_2.json", json!({"id": "prt_2", "type": "text", "text": "Hi"}));
    write("part/msg_b/prt_3.json", step(10));
    write(
        "part/prt_4.json",
        json!({"id": "prt_4", "messageID": "msg_b", "type": "reasoning", "text": "flat"}),
    );
    fs::write(storage.join("part/msg_b/prt_9.json"), "{\"type\": \"te").unwrap();
}

#[test]
fn the_older_storage_reads_the_same_way() {
    let folder = tempfile::tempdir().unwrap();
    let storage = folder.path().join("storage");
    write_storage(&storage);
    let listed = sessions(&storage).unwrap();
    assert_eq!(listed.iter().map(|listed| listed.id.as_str()).collect::<Vec<_>>(), ["ses_old"]);
    compare(&logs().join("storage.golden"), &render(&read(&storage, "ses_old").unwrap()));
    fs::write(storage.join("part/msg_b/prt_5.json"), "{}").unwrap();
    assert_ne!(sessions(&storage).unwrap(), listed);
}

#[test]
fn the_oldest_storages_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let storage = folder.path().join("project/home-dev/storage");
    let write = |path: &str, value: Value| {
        let path = storage.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    };
    write(
        "session/info/ses_1.json",
        json!({"id": "ses_1", "title": "First", "version": "0.3.0", "time": {"created": 1000, "updated": 1}}),
    );
    write(
        "session/message/ses_1/msg_1.json",
        json!({"id": "msg_1", "role": "user", "metadata": {"time": {"created": 2000}}, "parts": [{"type": "text", "text": "Hello"}]}),
    );
    write(
        "session/message/ses_1/msg_2.json",
        json!({"id": "msg_2", "role": "assistant",
            "metadata": {"time": {"created": 2001}, "assistant": {"modelID": "m", "tokens": {"input": 5, "output": 6, "reasoning": 0, "cache": {"read": 7, "write": 8}}}},
            "parts": [{"type": "step-start"}, {"type": "tool-invocation", "toolInvocation": {"state": "result", "toolCallId": "c", "toolName": "read", "args": {"a": 1}, "result": "text"}}]}),
    );
    write(
        "session/message/ses_1/msg_3.json",
        json!({"id": "msg_3", "role": "assistant", "time": {"created": 2002}, "path": {"root": "/home/dev"}}),
    );
    write("session/part/ses_1/msg_3/prt_1.json", json!({"type": "text", "text": "Hi"}));
    let stores = stores(folder.path());
    assert_eq!(stores.as_slice(), std::slice::from_ref(&storage));
    compare(&logs().join("oldest.golden"), &render(&read(&storage, "ses_1").unwrap()));
}

#[test]
fn a_session_in_both_is_the_databases() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = made(folder.path(), &[]);
    program.execute("UPDATE session SET id = 'ses_old'", []).unwrap();
    let storage = folder.path().join("storage");
    write_storage(&storage);
    fs::create_dir_all(storage.join("message/ses_lost")).unwrap();
    fs::write(folder.path().join("opencode-dev.db"), "no database at all").unwrap();
    let (found, errors) = sessions_of(&stores(folder.path()));
    let found: Vec<(&Path, &str)> =
        found.iter().map(|(store, listed)| (store.as_path(), listed.id.as_str())).collect();
    assert_eq!(found, [(path.as_path(), "ses_old"), (storage.as_path(), "ses_lost")]);
    assert!(matches!(errors.as_slice(), [OpenCodeError::Database(_)]), "{errors:?}");
}

#[test]
fn other_databases_and_sessions_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = made(folder.path(), &[]);
    assert!(matches!(read(&path, "ses_2"), Err(OpenCodeError::NoSession { .. })));
    program.execute_batch("DROP TABLE part; CREATE VIEW part AS SELECT * FROM message").unwrap();
    assert!(matches!(sessions(&path), Err(OpenCodeError::NotOpenCode { .. })));
    assert!(matches!(read(&path, "ses_1"), Err(OpenCodeError::NotOpenCode { .. })));
    assert!(matches!(sessions(&folder.path().join("none")), Err(OpenCodeError::Database(_))));
    let storage = folder.path().join("storage");
    write_storage(&storage);
    assert!(matches!(read(&storage, "../../etc"), Err(OpenCodeError::NoSession { .. })));
}

#[test]
fn a_damaged_row_costs_that_row() {
    let folder = tempfile::tempdir().unwrap();
    let text = json!({"type": "text", "text": "Hello"});
    let (path, program) = made(folder.path(), &[(user(), vec![text.clone(), text.clone(), text])]);
    program.execute("UPDATE part SET data = '{\"type\": \"te' WHERE id = 'prt_0_00'", []).unwrap();
    program.execute("UPDATE part SET data = x'ff00ff' WHERE id = 'prt_0_01'", []).unwrap();
    program
        .execute("INSERT INTO part VALUES ('prt_x', 'msg_gone', 'ses_1', 'never', NULL, '{}')", [])
        .unwrap();
    let transcript = read(&path, "ses_1").unwrap();
    assert_eq!(kinds(&transcript), [EventKind::User]);
    let expected = [
        Unrecognised::Unreadable("part ends too early".into()),
        Unrecognised::Unreadable("part is not JSON".into()),
        Unrecognised::Record("part without its message".into()),
    ];
    assert_eq!(transcript.unrecognised, expected);
}

fn json_like() -> impl Strategy<Value = Value> {
    let words = prop_oneof![
        Just("type"),
        Just("text"),
        Just("tool"),
        Just("state"),
        Just("status"),
        Just("completed"),
        Just("input"),
        Just("output"),
        Just("tokens"),
        Just("step-finish"),
        Just("role"),
        Just("user"),
        Just("assistant"),
        Just("time"),
        Just("error"),
        Just("cache"),
        Just("summary"),
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        any::<f64>().prop_map(|value| json!(value)),
        words.clone().prop_map(|word| json!(word)),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|values| json!(values)),
            prop::collection::vec((words.clone(), inner), 0..6).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_makes_it_panic(
        messages in prop::collection::vec((json_like(), prop::collection::vec(json_like(), 0..5)), 0..6),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (path, _program) = made(folder.path(), &messages);
        render(&read(&path, "ses_1").unwrap());
    }
}
