//! Any block of a log can be read alone, from the state at its start; and no line makes the reader panic.

use std::fs;

use proptest::prelude::*;
use tamis_logs::readers::LineReader;
use tamis_logs::readers::codex::CodexReader;

use crate::render::{read_into, render};

/// A log read by a new reader for every line, each resumed from the state of the one before.
fn render_in_pieces(log: &str) -> String {
    let mut state = CodexReader::default().state();
    let mut rendered = String::new();
    for (number, line) in log.lines().enumerate() {
        let mut reader = CodexReader::resume(&state).unwrap();
        read_into(&mut reader, number + 1, line, &mut rendered);
        state = reader.state();
    }
    rendered
}

#[test]
fn real_logs_read_the_same_in_pieces_and_with_a_small_state() {
    for entry in fs::read_dir(crate::logs()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let log = fs::read_to_string(&path).unwrap();
            assert_eq!(render_in_pieces(&log), render(&log), "{}", path.display());
            let mut reader = CodexReader::default();
            let largest = log.lines().map(|line| {
                read_into(&mut reader, 0, line, &mut String::new());
                reader.state().len()
            });
            assert!(largest.max().unwrap() < 500, "{}", path.display());
        }
    }
}

#[test]
fn a_state_that_is_none_is_refused() {
    assert!(CodexReader::resume("").is_none());
    assert!(CodexReader::resume("[1]").is_none());
    assert!(CodexReader::resume("{}").is_some());
    // Rings of odd lengths, and letters that are none.
    let mut reader = CodexReader::resume(r#"{"w":"ü","c":"日本日本日本x"}"#).unwrap();
    read_into(&mut reader, 1, r#"{"type":"function_call","call_id":"c","name":"n"}"#, &mut String::new());
    read_into(&mut reader, 2, r#"{"role":"user","content":"x"}"#, &mut String::new());
}

const WORDS: &[&str] = &[
    "type",
    "payload",
    "timestamp",
    "ordinal",
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "token_usage_record",
    "message",
    "role",
    "user",
    "assistant",
    "content",
    "text",
    "input_text",
    "reasoning",
    "summary",
    "function_call",
    "function_call_output",
    "call_id",
    "output",
    "arguments",
    "id",
    "forked_from_id",
    "history_base",
    "subagent_history_start_ordinal",
    "source",
    "subagent",
    "thread_spawn",
    "token_count",
    "info",
    "total_token_usage",
    "last_token_usage",
    "input_tokens",
    "cached_input_tokens",
    "usage",
    "item_completed",
    "item",
    "McpToolCall",
    "CommandExecution",
    "AgentMessage",
    "exit_code",
    "result",
    "Ok",
    "Err",
    "isError",
    "turn_id",
    "thread_id",
    "task_started",
    "01a1de66-33a2-73b1-be7d-f06f31a025e1",
    "01a1de66-3318-7163-9177-bbb9374f5223",
    "2026-11-15T08:50:02.289Z",
    "Exit code: 1",
    "/review it",
    "<environment_context>",
    "thread.started",
    "item.started",
    "item.completed",
    "turn.completed",
    "user_message",
    "agent_message",
    "agent_reasoning",
    "entered_review_mode",
    "exec_command_end",
    "web_search_end",
    "é\"\\\n",
];

fn word() -> impl Strategy<Value = String> {
    proptest::sample::select(WORDS).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        4 => word().prop_map(serde_json::Value::from),
        1 => any::<i64>().prop_map(serde_json::Value::from),
        1 => any::<f32>().prop_map(|number| serde_json::json!(number)),
        1 => any::<bool>().prop_map(serde_json::Value::from),
        1 => Just(serde_json::Value::Null),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            4 => proptest::collection::btree_map(word(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A record of a known type with anything in it, or any JSON, or a torn line, or no JSON.
fn line() -> impl Strategy<Value = String> {
    let record =
        (word(), word(), value(), value(), word()).prop_map(|(kind, inner, mut payload, more, key)| {
            if let Some(payload) = payload.as_object_mut() {
                payload.insert("type".to_owned(), inner.into());
                payload.insert(key, more);
            }
            serde_json::json!({"type": kind, "payload": payload, "timestamp": "2026-11-15T08:50:02.289Z"})
                .to_string()
        });
    prop_oneof![
        6 => record,
        3 => value().prop_map(|value| value.to_string()),
        1 => (value(), any::<usize>()).prop_map(|(value, at)| {
            let text = value.to_string();
            text[..text.floor_char_boundary(at % (text.len() + 1))].to_owned()
        }),
        1 => "\\PC*",
    ]
}

proptest! {
    #[test]
    fn nothing_panics_and_pieces_are_the_whole(lines in proptest::collection::vec(line(), 1..20)) {
        let log = lines.join("\n");
        prop_assert_eq!(render_in_pieces(&log), render(&log));
    }
}
