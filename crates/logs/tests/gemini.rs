//! The reader of Gemini CLI's conversations: logs that the client wrote against a scripted model, and shapes that such
//! runs do not give.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod rendering;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rendering::{compare, render};
use serde_json::json;
use tamis_clients::Client;
use tamis_logs::event::{EventBody, EventKind, EventStream};
use tamis_logs::readers::gemini::read;
use tamis_logs::readers::{ParsedLog, SessionFact, Unrecognised, facts_of_path};
use tamis_logs::usage::{Claim, ExclusionReason, Tokens};

fn logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs/gemini")
}

fn chats() -> PathBuf {
    logs().join("home/.gemini/tmp/project/chats")
}

/// The one file in a folder that is none itself.
fn only_file(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.is_file()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

fn main_log() -> PathBuf {
    only_file(&chats())
}

fn subagent_log() -> PathBuf {
    let mut folders = fs::read_dir(chats()).unwrap().map(|entry| entry.unwrap().path());
    only_file(&folders.find(|path| path.is_dir()).unwrap())
}

fn lines(records: &[serde_json::Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn head() -> serde_json::Value {
    json!({"sessionId": "s1", "projectHash": "p1", "startTime": "2026-03-01T10:00:00.000Z", "kind": "main"})
}

fn user(id: &str, text: &str) -> serde_json::Value {
    json!({"id": id, "timestamp": "2026-03-01T10:00:01.000Z", "type": "user", "content": [{"text": text}]})
}

fn answer(id: &str, text: &str) -> serde_json::Value {
    json!({"id": id, "timestamp": "2026-03-01T10:00:02.000Z", "type": "gemini", "content": text, "model": "gemini-2.5-pro",
        "tokens": {"input": 100, "output": 10, "cached": 60, "thoughts": 5, "tool": 0, "total": 115}})
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

fn text_of(body: &EventBody<'_>) -> String {
    match body {
        EventBody::User(content)
        | EventBody::Message(content)
        | EventBody::Notification(content)
        | EventBody::Compaction(content)
        | EventBody::Reasoning(content)
        | EventBody::Summary(content) => content.to_text().into_owned(),
        EventBody::ToolResult(result) => result.content.to_text().into_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_session_resumed_twice_and_compressed_reads_as_it_happened() {
    let text = fs::read_to_string(main_log()).unwrap();
    let transcript = read(&text).unwrap();
    compare(&logs().join("main.golden"), &render(&transcript));
    // The checkpoints that resuming writes have no tokens, and compressing gives messages new ids. Each request counts
    // once all the same: six, two and two, as the scripted model reported them.
    let reports = kinds(&transcript).into_iter().filter(|kind| *kind == EventKind::TokenUsage).count();
    assert_eq!(reports, 10);
    let turns = kinds(&transcript).into_iter().filter(|kind| kind.begins_turn()).count();
    assert_eq!(turns, 3);
}

fn parent_of(log: &Path) -> Option<String> {
    facts_of_path(Client::Gemini, log).into_iter().find_map(|fact| match fact {
        SessionFact::Parent { id, .. } => Some(id.into_owned()),
        _ => None,
    })
}

fn root_of(log: &Path) -> Option<String> {
    facts_of_path(Client::Gemini, log).into_iter().find_map(|fact| match fact {
        SessionFact::Root(root) => Some(root.into_owned()),
        _ => None,
    })
}

#[test]
fn a_subagents_log_reads_and_its_place_tells_the_parent() {
    let transcript = read(&fs::read_to_string(subagent_log()).unwrap()).unwrap();
    compare(&logs().join("subagent.golden"), &render(&transcript));
    let parent = read(&fs::read_to_string(main_log()).unwrap()).unwrap();
    let Some(SessionFact::Id(id)) = parent.facts.first() else { panic!("{:?}", parent.facts) };
    assert_eq!(parent_of(&subagent_log()).as_deref(), Some(id.as_ref()));
    assert_eq!(parent_of(&main_log()), None);
}

#[test]
fn the_root_is_beside_the_chats_or_in_the_list_of_projects() {
    assert_eq!(root_of(&main_log()).as_deref(), Some("/home/dev/project"));
    assert_eq!(root_of(&subagent_log()).as_deref(), Some("/home/dev/project"));

    let home = tempfile::tempdir().unwrap();
    let chats = home.path().join("tmp/other/chats");
    fs::create_dir_all(&chats).unwrap();
    assert_eq!(root_of(&chats.join("session-1.jsonl")), None);
    fs::write(home.path().join("projects.json"), r#"{"projects": {"/srv/other": "other"}}"#).unwrap();
    assert_eq!(root_of(&chats.join("session-1.jsonl")).as_deref(), Some("/srv/other"));
}

#[test]
fn a_later_version_of_a_message_replaces_the_earlier_and_its_tokens() {
    let mut early = answer("g1", "Hal");
    early["tokens"] = json!(null);
    let mut late = answer("g1", "Half of it");
    late["timestamp"] = json!("2026-03-01T10:09:00.000Z");
    let transcript = read(&lines(&[head(), user("u1", "Hello"), early, late])).unwrap();
    assert_eq!(kinds(&transcript), [EventKind::User, EventKind::Message, EventKind::TokenUsage]);
    assert_eq!(text_of(&transcript.events[1].body), "Half of it");
    assert_eq!(
        used(&transcript),
        Tokens { input: 40, cache_read: 60, cache_creation: 0, output: 15, reasoning: 5 }
    );
    let again =
        read(&lines(&[head(), answer("g1", "a"), json!({"id": "g1", "type": "gemini", "content": "b"})]));
    assert_eq!(used(&again.unwrap()).output, 15, "a version without tokens takes none away");
}

#[test]
fn what_was_rewound_is_no_conversation_but_was_paid_for() {
    let records = [
        head(),
        user("u1", "Hello"),
        answer("g1", "Hi"),
        user("u2", "Delete it all"),
        answer("g2", "Deleted"),
        json!({"$rewindTo": "u2"}),
        user("u3", "Delete nothing"),
        answer("g3", "Fine"),
    ];
    let transcript = read(&lines(&records)).unwrap();
    use EventKind::{Message, Notification, TokenUsage, User};
    let expected = [User, Message, TokenUsage, Notification, TokenUsage, User, Message, TokenUsage];
    assert_eq!(kinds(&transcript), expected);
    assert_eq!(text_of(&transcript.events[3].body), "2 messages were taken back by rewinding");
    assert_eq!(used(&transcript).total(), 3 * 115);
    // As the client has it, an unknown id takes everything back.
    let all =
        read(&lines(&[head(), user("u1", "Hello"), answer("g1", "Hi"), json!({"$rewindTo": "x"})])).unwrap();
    assert_eq!(kinds(&all), [Notification, TokenUsage]);
}

#[test]
fn a_masked_result_does_not_replace_the_one_that_was_seen() {
    let mut call = answer("g1", "");
    call["toolCalls"] = json!([{"id": "c1", "name": "read_file", "args": {"file_path": "a"}, "status": "success",
        "timestamp": "2026-03-01T10:00:03.000Z",
        "result": [{"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "long text"}}}]}]);
    let mut masked = call.clone();
    masked["toolCalls"][0]["result"][0]["functionResponse"]["response"]["output"] = json!("<masked>");
    let transcript = read(&lines(&[head(), call, json!({"$set": {"messages": [masked]}})])).unwrap();
    assert_eq!(kinds(&transcript), [EventKind::ToolCall, EventKind::TokenUsage, EventKind::ToolResult]);
    assert_eq!(text_of(&transcript.events[2].body), "long text");
}

#[test]
fn a_users_prompt_is_distinguished_from_the_clients_text() {
    let typed = json!({"id": "u9", "type": "user", "content": [{"text": "Explain @a.rs"}, {"text": "\n--- Content ---\nfn a() {}"}],
        "displayContent": [{"text": "Explain @a.rs"}]});
    let image = json!({"id": "u8", "type": "user",
        "content": [{"text": "What is this?"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]});
    let records = [
        head(),
        user("u1", "<session_context>\nToday is Sunday.</session_context>"),
        user("u2", "/compress now"),
        user("u3", "/home/dev is my home"),
        user("u4", "<state_snapshot>All of it.</state_snapshot>"),
        user("u5", "Please continue."),
        json!({"id": "i1", "type": "info", "content": "Update available"}),
        json!({"id": "e1", "type": "error", "content": [{"text": "Quota exceeded"}]}),
        typed,
        image,
    ];
    let transcript = read(&lines(&records)).unwrap();
    use EventKind::{Notification, SlashCommand, Summary, User};
    let expected = [
        Notification,
        SlashCommand,
        User,
        Summary,
        Notification,
        Notification,
        Notification,
        User,
        Notification,
        User,
    ];
    assert_eq!(kinds(&transcript), expected);
    assert_eq!(text_of(&transcript.events[7].body), "Explain @a.rs");
    assert_eq!(text_of(&transcript.events[9].body), "What is this?\n[image]");
    assert_eq!(transcript.unrecognised, []);
}

#[test]
fn an_older_document_reads_whole_and_a_broken_one_as_far_as_it_goes() {
    let mut document = head();
    document["summary"] = json!("A greeting");
    document["messages"] = json!([user("u1", "Hello"), answer("g1", "Hi"), user("u2", "Bye")]);
    let text = serde_json::to_string_pretty(&document).unwrap();
    let whole = read(&text).unwrap();
    use EventKind::{Message, TokenUsage, User};
    assert_eq!(kinds(&whole), [User, Message, TokenUsage, User]);
    assert!(whole.facts.contains(&SessionFact::Title("A greeting".into())));
    assert_eq!(whole.unrecognised, []);

    let broken =
        json!({"sessionId": "s1", "startTime": "2026-03-01T10:00:00.000Z", "messages": document["messages"]});
    let broken = broken.to_string();
    // The keys stand in alphabetical order, so the id has to come first here.
    let broken = broken.replacen('{', "{\"sessionId\":\"s1\",\"startTime\":\"2026-03-01T10:00:00.000Z\",", 1);
    let torn = &broken[..broken.find("\"Bye\"").unwrap()];
    let torn = read(torn).unwrap();
    assert_eq!(kinds(&torn), [User, Message, TokenUsage]);
    assert_eq!(torn.unrecognised, [Unrecognised::Unreadable("document ends too early".into())]);
}

#[test]
fn a_torn_last_line_costs_that_line() {
    let text = lines(&[head(), user("u1", "Hello"), answer("g1", "Hi")]);
    let torn = read(&text[..text.len() - 20]).unwrap();
    assert_eq!(kinds(&torn), [EventKind::User]);
    assert_eq!(torn.unrecognised, [Unrecognised::Unreadable("line ends too early".into())]);
}

#[test]
fn what_is_not_understood_is_counted() {
    let records = [
        head(),
        json!({"id": "x1", "type": "hologram", "content": "?"}),
        json!({"id": "x2", "type": "user", "content": [{"smell": "rose"}]}),
        json!({"$set": {"mood": "good"}}),
        json!({"what": 1}),
        json!([1]),
        json!({"id": "x3"}),
    ];
    let transcript = read(&lines(&records)).unwrap();
    let mut unrecognised = transcript.unrecognised;
    unrecognised.sort();
    let expected = [
        Unrecognised::Record("hologram".into()),
        Unrecognised::Record("message without a type".into()),
        Unrecognised::Record("what".into()),
        Unrecognised::Part("content.smell".into()),
        Unrecognised::Part("head.mood".into()),
        Unrecognised::Unreadable("line is not an object".into()),
    ];
    assert_eq!(unrecognised, expected);
}

#[test]
fn failed_tools_are_reported() {
    let result = |id: &str, response: serde_json::Value, status: &str| {
        json!({"id": id, "name": "run_shell_command", "args": {}, "status": status,
            "result": [{"functionResponse": {"id": id, "name": "run_shell_command", "response": response}}]})
    };
    let mut message = answer("g1", "");
    message["toolCalls"] = json!([
        result("c1", json!({"output": "Output: fine\nExit Code: 0"}), "success"),
        result("c2", json!({"output": "Output: (empty)\nExit Code: 2\nProcess Group PGID: 7"}), "success"),
        result("c3", json!({"error": "File not found"}), "error"),
        {"id": "c4", "name": "write_file", "args": {}, "status": "cancelled"},
        {"id": "c5", "name": "write_file", "args": {}, "status": "executing"},
    ]);
    let transcript = read(&lines(&[head(), message])).unwrap();
    let failed: Vec<(String, bool)> = transcript
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolResult(result) => Some((result.id.as_deref().unwrap().to_owned(), result.failed)),
            _ => None,
        })
        .collect();
    let expected = [("c1", false), ("c2", true), ("c3", true), ("c4", true)];
    assert_eq!(failed, expected.map(|(id, failed)| (id.to_owned(), failed)));
}

#[test]
fn other_logs_are_none_of_its_own() {
    let others = [
        "",
        "\n",
        "null",
        "[]",
        "{}",
        "hello",
        r#"[{"sessionId": "s", "messageId": 0, "type": "user", "message": "hi", "timestamp": "2025-07-01T00:00:00Z"}]"#,
        r#"[{"role": "user", "parts": [{"text": "hi"}]}]"#,
        r#"{"history": [{"role": "user", "parts": [{"text": "hi"}]}]}"#,
        "{\"type\":\"user\",\"sessionId\":\"a\",\"uuid\":\"b\",\"message\":{}}\n{\"type\":\"summary\"}",
        "{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"x\"}}\n{\"type\":\"event_msg\"}",
    ];
    for other in others {
        assert!(read(other).is_none(), "{other}");
    }
}

#[test]
fn wrong_types_cost_no_more_than_their_field() {
    let record = json!({"id": "g1", "timestamp": 5, "type": "gemini", "content": 7, "thoughts": "hm", "model": [],
        "tokens": {"input": "x", "output": 3}, "toolCalls": [null, {"name": 3}, {"name": "ok", "args": null, "result": 4}]});
    let transcript = read(&lines(&[head(), record])).unwrap();
    use EventKind::{Message, TokenUsage, ToolCall, ToolResult};
    assert_eq!(kinds(&transcript), [Message, ToolCall, TokenUsage, ToolResult]);
    assert_eq!(used(&transcript).output, 3);
}

#[test]
fn an_empty_report_does_not_count() {
    let mut message = answer("g1", "Hi");
    message["tokens"] = json!({"input": 0, "output": 0, "total": 0});
    let transcript = read(&lines(&[head(), message])).unwrap();
    let claims: Vec<Claim> = transcript
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::TokenUsage(report) => Some(report.claim),
            _ => None,
        })
        .collect();
    assert_eq!(claims, [Claim::Excluded(ExclusionReason::Empty)]);
}

#[test]
fn deep_nesting_is_bounded() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(
        "{}\n{{\"id\":\"u1\",\"type\":\"user\",\"content\":{deep}}}\n{}\n",
        head(),
        user("u2", "Hello")
    );
    let transcript = read(&text).unwrap();
    assert_eq!(kinds(&transcript), [EventKind::User]);
    assert_eq!(transcript.unrecognised.len(), 1);
    assert_eq!(transcript.events[0].stream, EventStream::Main);
}

fn json_like() -> impl Strategy<Value = serde_json::Value> {
    let words = prop_oneof![
        Just("id"),
        Just("type"),
        Just("user"),
        Just("gemini"),
        Just("content"),
        Just("toolCalls"),
        Just("tokens"),
        Just("$set"),
        Just("$rewindTo"),
        Just("messages"),
        Just("sessionId"),
        Just("projectHash"),
        Just("thoughts"),
        Just("text"),
        Just("functionResponse"),
        Just("a"),
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        words.clone().prop_map(|word| json!(word)),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|values| json!(values)),
            prop::collection::vec((words.clone(), inner), 0..6).prop_map(|fields| {
                serde_json::Value::Object(
                    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                )
            }),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(records in prop::collection::vec(json_like(), 0..12), cut in 0usize..400) {
        let mut text = lines(&[head()]);
        text.push_str(&lines(&records));
        text.truncate(text.len().saturating_sub(cut));
        if let Some(transcript) = read(&text) {
            render(&transcript);
        }
    }
}
