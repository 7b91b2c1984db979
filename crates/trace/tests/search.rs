//! Searching by the index finds what looking at every event finds: no more, no less, and in the same order.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::RngSeed;
use regex::Regex;
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};
use tamis_logs::discovery::LogLocations;
use tamis_logs::event::EventKind;
use tamis_store::DataDir;
use tamis_trace::{SearchRequest, SessionFilter, Trace, TraceSearchMode};

const FRAGMENTS: &[&str] = &[
    "src/main.rs",
    "a\"quoted\"b",
    "back\\slash\\n",
    "日本語",
    "été",
    "ÉTÉ",
    "groß",
    "<tag>",
    "&amp;",
    "[1,2,3]",
    "foo_bar",
    "tab\there",
    "line\nbreak",
    "\u{1b}[31mred",
    "😀",
    "a=b+c'd'",
    "GPT",
    "true,false",
    "[image]",
    "error",
    "Error:",
    "Read",
    "shell",
    "exec_command",
    "12345",
    "-1.5",
    "https://example.org/a/b?c=d",
    "{}",
    "\u{a0}",
    "x",
    "web_search",
    "gpt-5-codex",
];

/// How a program writes JSON.
#[derive(Clone, Copy, Debug)]
struct Writer {
    spaces: bool,
    ascii: bool,
    slashes: bool,
}

impl Writer {
    fn write(self, value: &Value) -> String {
        let mut text = value.to_string();
        if self.spaces {
            let mut bytes = Vec::new();
            value
                .serialize(&mut Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b"")))
                .unwrap();
            text = String::from_utf8(bytes).unwrap().replace('\n', " ");
        }
        if self.slashes {
            text = text.replace('/', "\\/");
        }
        if self.ascii {
            let mut units = [0; 2];
            let escaped = |letter: char| match letter.is_ascii() {
                true => letter.to_string(),
                false => {
                    letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
                }
            };
            text = text.chars().map(escaped).collect();
        }
        text
    }
}

fn claude(kind: u8, text: &str, number: usize) -> Value {
    let user = |content: Value| json!({"type": "user", "message": {"role": "user", "content": content}});
    let said = |content: Value| {
        json!({"type": "assistant", "requestId": format!("r{number}"), "message": {"id": format!("m{number}"), "role": "assistant",
            "model": "claude-opus", "content": [content], "usage": {"input_tokens": 1, "output_tokens": 2}}})
    };
    let mut record = match kind % 10 {
        0 => user(json!(text)),
        1 => user(json!([{"type": "text", "text": text}, {"type": "image", "source": {}}])),
        2 => said(json!({"type": "text", "text": text})),
        3 => said(json!({"type": "thinking", "thinking": text})),
        4 => said(json!({"type": "tool_use", "id": format!("t{number}"), "name": "Read",
            "input": {"path": text, "lines": [1, 2, 3], "deep": {"on": true, "off": [false, null]}}})),
        5 => user(json!([{"type": "tool_result", "tool_use_id": "t1", "content": text, "is_error": true}])),
        6 => user(json!([{"type": "tool_result", "tool_use_id": "t2",
            "content": [{"type": "text", "text": text}, {"type": "image", "source": {}}, {"type": "other", "of": [1, 2]}]}])),
        7 => user(json!(format!("<command-name>/review</command-name><command-args>{text}</command-args>"))),
        8 => json!({"type": "system", "subtype": "informational", "content": text}),
        _ => json!({"type": "summary", "summary": text, "leafUuid": "l"}),
    };
    record["sessionId"] = json!("c1a0de00-0000-4000-8000-000000000001");
    record["uuid"] = json!(format!("u{number}"));
    record["isSidechain"] = json!(kind.is_multiple_of(3));
    record["timestamp"] = json!(format!("2026-01-02T00:{:02}:00Z", number % 60));
    record
}

fn codex(kind: u8, text: &str, number: usize, writer: Writer) -> Value {
    let arguments = writer.write(&json!({"command": ["bash", "-lc", text], "numbers": [1, 2, 3]}));
    let call = format!("call{number}");
    let (kind, payload) = match kind % 10 {
        0 => ("event_msg", json!({"type": "user_message", "message": text})),
        1 => (
            "response_item",
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}),
        ),
        2 => (
            "response_item",
            json!({"type": "function_call", "name": "shell", "arguments": arguments, "call_id": call}),
        ),
        3 => ("response_item", json!({"type": "function_call_output", "call_id": call, "output": text})),
        4 => (
            "response_item",
            json!({"type": "local_shell_call", "call_id": call, "action": {"type": "exec", "command": ["ls", text]}}),
        ),
        5 => {
            ("response_item", json!({"type": "web_search_call", "action": {"type": "search", "query": text}}))
        }
        6 => (
            "event_msg",
            json!({"type": "token_count", "info": {
            "total_token_usage": {"input_tokens": number * 10 + 10, "output_tokens": number + 1},
            "last_token_usage": {"input_tokens": 10, "output_tokens": 1}}}),
        ),
        7 => ("turn_context", json!({"model": "gpt-5-codex", "cwd": "/w"})),
        8 => (
            "event_msg",
            json!({"type": "exec_command_begin", "call_id": call, "command": ["ls", text], "cwd": "/w"}),
        ),
        _ => (
            "response_item",
            json!({"type": "custom_tool_call", "name": "apply_patch", "input": text, "call_id": call}),
        ),
    };
    json!({"timestamp": format!("2026-01-03T00:{:02}:00Z", number % 60), "type": kind, "payload": payload})
}

fn gemini(kind: u8, text: &str, number: usize) -> Value {
    let mut message = match kind % 3 {
        0 => json!({"type": "user", "content": text}),
        1 => {
            json!({"type": "gemini", "content": text, "model": "gemini-3", "tokens": {"input": 5, "output": 1, "total": 6},
            "thoughts": [{"subject": "Plan", "description": text}]})
        }
        _ => {
            json!({"type": "gemini", "content": "", "toolCalls": [{"id": format!("gemini-call-{number}"), "name": "read_file",
            "args": {"path": text, "lines": [1, 2, 3]}, "status": "success", "result": [{"functionResponse":
                {"response": {"output": text}}}]}]})
        }
    };
    message["id"] = json!(format!("m{number}"));
    message["timestamp"] = json!(format!("2026-01-04T00:{:02}:00Z", number % 60));
    message
}

/// What a record is to be made of: its kind, its words, and whether much comes before it.
type Plan = (u8, Vec<&'static str>, bool);

fn text_of((_, fragments, long): &Plan) -> String {
    let text = fragments.join(if fragments.len() % 2 == 0 { " " } else { "" });
    if *long { format!("{} {text}", "some filler that is nowhere else; ".repeat(4000)) } else { text }
}

fn write_logs(folder: &Path, plans: &[Plan], writer: Writer) {
    let lines = |records: Vec<Value>| -> String {
        records.iter().map(|record| writer.write(record) + "\n").collect()
    };
    let numbered = || plans.iter().enumerate();
    let of_claude = lines(numbered().map(|(number, plan)| claude(plan.0, &text_of(plan), number)).collect());
    let meta = json!({"timestamp": "2026-01-03T00:00:00Z", "type": "session_meta", "payload": {"id": "c0de", "cwd": "/w"}});
    let mut of_codex = vec![meta];
    of_codex.extend(numbered().map(|(number, plan)| codex(plan.0, &text_of(plan), number, writer)));
    let of_codex = lines(of_codex);
    let messages: Vec<Value> =
        numbered().map(|(number, plan)| gemini(plan.0, &text_of(plan), number)).collect();
    let of_gemini = json!({"sessionId": "9e31", "projectHash": "ab", "startTime": "2026-01-04T00:00:00Z", "messages": messages});
    fs::write(folder.join("claude.jsonl"), of_claude).unwrap();
    fs::write(folder.join("codex.jsonl"), &of_codex).unwrap();
    fs::write(
        folder.join("old.jsonl.zst"),
        zstd::encode_all(of_codex.replace("c0de", "01d").as_bytes(), 1).unwrap(),
    )
    .unwrap();
    fs::write(folder.join("session-1.json"), writer.write(&of_gemini)).unwrap();
}

fn strings_of(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings_of(item, texts)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            texts.push(name.clone());
            strings_of(value, texts);
        }),
        _ => {}
    }
}

/// The texts of an event, by what it shows of itself.
fn texts_of(payload: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    for name in ["text", "content", "model", "name"] {
        texts.extend(payload[name].as_str().map(str::to_owned));
    }
    if let Some(arguments) = payload.get("arguments") {
        strings_of(arguments, &mut texts);
        texts.push(arguments.to_string());
    }
    texts.extend(payload.get("call_id").and_then(Value::as_str).map(str::to_owned));
    texts
}

/// Every event of every session, in the order of a search.
fn all_events(trace: &Trace) -> Vec<(String, u64, EventKind, Vec<String>)> {
    let filter = SessionFilter { with_subagents: true, ..SessionFilter::default() };
    let mut all = Vec::new();
    for session in trace.sessions(&filter, None, 100).unwrap() {
        trace
            .events(&session, 0, &mut |number, event| {
                all.push((session.id.clone(), number, event.kind(), texts_of(&event.payload())));
                ControlFlow::Continue(())
            })
            .unwrap();
    }
    all
}

fn patterns(query: &str, mode: TraceSearchMode) -> Option<Vec<Regex>> {
    let of_word =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let edge = |letter| if of_word(letter) { r"\b" } else { "" };
    let all: Vec<String> = match mode {
        TraceSearchMode::Substring => vec![regex::escape(query)],
        TraceSearchMode::Words => query
            .split_whitespace()
            .map(|word| {
                let (before, after) = (edge(word.chars().next()), edge(word.chars().next_back()));
                format!("{before}{}{after}", regex::escape(word))
            })
            .collect(),
        TraceSearchMode::Regex => vec![query.to_owned()],
    };
    all.iter().map(|pattern| Regex::new(&format!("(?i){pattern}")).ok()).collect()
}

/// A question that may have an answer: part of what is there, said in some way.
fn query_of(texts: &[String], picks: &[Index; 4], form: u8) -> (String, TraceSearchMode) {
    let part = |from: &Index, length: &Index| {
        let letters: Vec<char> = from.get(texts).chars().collect();
        let from = length.index(letters.len().max(1));
        let part: String = letters.iter().skip(from).take(1 + from * 7 % 11).collect();
        part.trim().to_owned()
    };
    let (one, other) = (part(&picks[0], &picks[1]), part(&picks[2], &picks[3]));
    let (first, second) = (regex::escape(&one), regex::escape(&other));
    match form % 16 {
        0..=3 => (one, TraceSearchMode::Substring),
        4 => (one.to_uppercase(), TraceSearchMode::Substring),
        5 => (FRAGMENTS[picks[0].index(FRAGMENTS.len())].to_owned(), TraceSearchMode::Substring),
        6 => (one, TraceSearchMode::Words),
        7 => (format!("{one} {other}"), TraceSearchMode::Words),
        8 => (first, TraceSearchMode::Regex),
        9 => (format!("(?s){first}.*{second}"), TraceSearchMode::Regex),
        10 => (format!("(?:{first})?{second}"), TraceSearchMode::Regex),
        11 => (format!("{first}|{second}"), TraceSearchMode::Regex),
        12 => (format!("(?:{first}){{0}}{second}"), TraceSearchMode::Regex),
        13 => (format!("(?m)^{first}"), TraceSearchMode::Regex),
        14 => (format!("(?-i){first}(?i)"), TraceSearchMode::Regex),
        _ => (format!("(?x) (?:{second})+ # {first}"), TraceSearchMode::Regex),
    }
}

fn plan() -> impl Strategy<Value = Plan> {
    (any::<u8>(), prop::collection::vec(select(FRAGMENTS), 1..5), prop::bool::weighted(0.15))
}

/// Of a log that is rewritten as a whole, the index knows only the texts of its events.
#[test]
fn call_ids_are_found_in_a_log_that_is_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    write_logs(&logs, &[(2, vec!["x"], false)], Writer { spaces: false, ascii: false, slashes: false });
    let trace = Trace::new(LogLocations::only(vec![logs]), DataDir::at(folder.path().join("data")));
    trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
    let search = SearchRequest { query: "gemini-call-0".to_owned(), most: 10, ..SearchRequest::default() };
    let found = trace.search(&search, Duration::from_secs(60), &|| false).unwrap();
    let kinds: Vec<EventKind> = found.matches.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [EventKind::ToolCall, EventKind::ToolResult]);
}

/// The same cases each time; `PROPTEST_CASES=500` generates new ones.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let rng_seed = if cases.is_some() { RngSeed::Random } else { RngSeed::Fixed(20260101) };
    ProptestConfig {
        cases: cases.unwrap_or(24),
        rng_seed,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_index_finds_what_looking_at_all_finds(
        plans in prop::collection::vec(plan(), 1..14),
        spaces: bool, ascii: bool, slashes: bool,
        questions in prop::collection::vec((any::<[Index; 4]>(), any::<u8>(), prop::option::of(select(EventKind::ALL))), 30),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        fs::create_dir(&logs).unwrap();
        write_logs(&logs, &plans, Writer { spaces, ascii, slashes });
        let trace = Trace::new(LogLocations::only(vec![logs]), DataDir::at(folder.path().join("data")));
        trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
        let events = all_events(&trace);
        let texts: Vec<String> = events.iter().flat_map(|(_, _, _, texts)| texts.clone()).collect();
        for (picks, form, kind) in questions {
            let (query, mode) = query_of(&texts, &picks, form);
            let Some(patterns) = patterns(&query, mode) else { continue };
            if query.trim().is_empty() {
                continue;
            }
            let search = SearchRequest { query: query.clone(), mode, kinds: kind.into_iter().collect(), most: 10_000, ..SearchRequest::default() };
            let found = trace.search(&search, Duration::from_secs(60), &|| false).unwrap();
            let found: Vec<(String, u64)> = found.matches.into_iter().map(|one| (one.place.session, one.place.event)).collect();
            let matches = |texts: &[String]| patterns.iter().all(|pattern| texts.iter().any(|text| pattern.is_match(text)));
            let expected: Vec<(String, u64)> = events
                .iter()
                .filter(|(_, _, of, texts)| kind.is_none_or(|kind| kind == *of) && matches(texts))
                .map(|(session, number, _, _)| (session.clone(), *number))
                .collect();
            prop_assert_eq!(found, expected, "{:?} by {:?} among {:?}", query, mode, kind);
        }
    }
}
