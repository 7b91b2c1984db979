//! The reader of Claude Code's logs: on logs that the real client wrote against a scripted model, on records of its other
//! versions, and on anything at all.
//!
//! The logs under `logs/claude` are of Claude Code 2.1.325, run with `-p` and `--resume` (6e19…), forked (e442…), in a
//! terminal (3d81…, 2908…), branched (1c1c…) and cleared (e309…), and what it printed as stream-json. Paths were replaced,
//! and long texts and most of what the client tells itself cut.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tamis_logs::event::{EventBody, LogEvent};
use tamis_logs::readers::claude::{ClaudeReader, read_document};
use tamis_logs::readers::{LineReader, ParsedLog};
use tamis_logs::usage::Claim;

fn logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs/claude")
}

/// All that a log gives, a line each.
fn rendered(mut reader: ClaudeReader, lines: &str) -> String {
    let mut record = ParsedLog::default();
    lines.lines().for_each(|line| reader.read(line, &mut record));
    rendering(&record.facts, &record.events, &record.unrecognised)
}

fn rendering(
    facts: &[impl std::fmt::Debug],
    events: &[LogEvent<'_>],
    unrecognised: &[impl std::fmt::Debug],
) -> String {
    let mut text = String::new();
    facts.iter().for_each(|fact| writeln!(text, "{fact:?}").unwrap());
    for (index, event) in events.iter().enumerate() {
        let at = event.at.map_or("-".to_owned(), |at| (at % 100_000_000).to_string());
        write!(text, "{index} {at} {} {:?}", event.stream.name(), event.kind()).unwrap();
        let payload = match &event.body {
            EventBody::TokenUsage(report) => {
                let claim = match report.claim {
                    Claim::Request(_) => "request".to_owned(),
                    claim => format!("{claim:?}"),
                };
                format!(" {:?} {} {claim}", report.tokens, report.model.as_deref().unwrap_or("-"))
            }
            _ => format!(" {}", event.payload()),
        };
        writeln!(text, "{}", payload.chars().take(240).collect::<String>()).unwrap();
    }
    unrecognised.iter().for_each(|unrecognised| writeln!(text, "{unrecognised:?}").unwrap());
    text
}

/// Compares with the file beside the log. `UPDATE_GOLDEN=1` writes the actual values, to be reviewed.
fn golden(path: &str) {
    let log = logs().join(path);
    let lines = std::fs::read_to_string(&log).unwrap();
    let stem = log.file_stem().unwrap().to_str().unwrap();
    let given = rendered(ClaudeReader::of_file(stem), &lines);
    let golden = log.with_extension("txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &given).unwrap();
    }
    assert_eq!(given, std::fs::read_to_string(&golden).unwrap(), "{path}");
}

#[test]
fn a_session_without_a_terminal_is_read_whole() {
    golden("6e190b0e-1444-4d7a-a82b-3469ccf8c19e.jsonl");
}

#[test]
fn a_subagent_is_a_session_of_its_own() {
    golden("6e190b0e-1444-4d7a-a82b-3469ccf8c19e/subagents/agent-a7c4559c72e8e1662.jsonl");
}

#[test]
fn a_session_in_a_terminal_is_read_whole() {
    golden("3d8119a0-51a4-4bfe-88e6-0b2c62970b7e.jsonl");
}

#[test]
fn a_branch_names_its_parent() {
    golden("1c1c3965-9ee1-4b5c-9bfb-8c7959671d97.jsonl");
}

#[test]
fn a_fork_claims_the_requests_of_its_original() {
    golden("e442e2d4-73fd-444c-866a-17e87ccde080.jsonl");
}

#[test]
fn words_typed_while_the_agent_works_are_a_persons() {
    golden("2908fcd2-8dde-4080-8827-1cf70148e694.jsonl");
}

#[test]
fn a_session_after_clear_is_a_new_one() {
    golden("e30913ba-4439-4746-8b07-846a8812787e.jsonl");
}

#[test]
fn a_transcript_of_stream_json_is_read_and_its_results_complete_the_usage() {
    golden("stream.jsonl");
}

/// A record of the main conversation, without what all of them have.
fn read(lines: &[&str]) -> String {
    rendered(ClaudeReader::new(), &lines.join("\n"))
}

#[test]
fn of_user_messages_only_a_persons_words_begin_a_turn() {
    let said = |text: &str| serde_json::json!({"type": "user", "message": {"content": text}}).to_string();
    let lines = [
        said("Hello"),
        said("<b>bold</b> is mine"),
        said("<system-reminder>be kind</system-reminder>"),
        said("<system-reminder>be kind</system-reminder>\nWhat now?"),
        said("[Request interrupted by user for tool use]"),
        said("<command-name>/init</command-name>\n<command-message>init</command-message>\n<command-args></command-args>"),
        said("<command-message>The \"pdf\" skill is loading</command-message>\n<command-name>pdf</command-name>"),
        said("<user-memory-input>no tabs</user-memory-input>"),
        said("This session is being continued from a previous conversation that ran out of context."),
        r#"{"type":"user","isMeta":true,"message":{"content":[{"type":"text","text":"Base folder"},{"type":"image"}]}}"#.into(),
        r#"{"type":"user","isCompactSummary":true,"message":{"content":"What was said"}}"#.into(),
        r#"{"type":"user","origin":{"kind":"hook"},"message":{"content":"of a hook"}}"#.into(),
        r#"{"type":"user","message":{"content":[{"type":"text","text":"See"},{"type":"image","source":{"data":"eA=="}}]}}"#.into(),
        r#"{"type":"user","message":{"content":[{"type":"text","text":"<ide_opened_file>a.rs</ide_opened_file>"},{"type":"text","text":"Fix it"}]}}"#.into(),
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"no"}]},{"type":"text","text":"[Request interrupted by user]"}]}}"#.into(),
        r#"{"type":"queue-operation","operation":"remove","content":"and quickly"}"#.into(),
        r#"{"type":"attachment","attachment":{"type":"queued_command","commandMode":"task-notification","prompt":"done"}}"#.into(),
        r#"{"type":"attachment","attachment":{"type":"queued_command","commandMode":"prompt","prompt":[{"type":"text","text":"wait"}]}}"#.into(),
        r#"{"type":"queue-operation","operation":"remove","content":"wait"}"#.into(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(
        read(&lines),
        r##"0 - main User {"text":"Hello"}
1 - main User {"text":"<b>bold</b> is mine"}
2 - main Notification {"text":"<system-reminder>be kind</system-reminder>"}
3 - main User {"text":"<system-reminder>be kind</system-reminder>\nWhat now?"}
4 - main Notification {"text":"[Request interrupted by user for tool use]"}
5 - main SlashCommand {"command":"/init","text":"/init"}
6 - main Notification {"text":"<command-message>The \"pdf\" skill is loading</command-message>\n<command-name>pdf</command-name>"}
7 - main SlashCommand {"command":"#","text":"# no tabs"}
8 - main Summary {"text":"This session is being continued from a previous conversation that ran out of context."}
9 - main Notification {"text":"Base folder"}
10 - main Notification {"text":"[image]"}
11 - main Summary {"text":"What was said"}
12 - main Notification {"text":"of a hook"}
13 - main User {"text":"See\n[image]"}
14 - main Notification {"text":"<ide_opened_file>a.rs</ide_opened_file>"}
15 - main User {"text":"Fix it"}
16 - main ToolResult {"call_id":"t1","content":"no","is_error":true}
17 - main Notification {"text":"[Request interrupted by user]"}
18 - main User {"text":"and quickly"}
19 - main Notification {"text":"done"}
20 - main User {"text":"wait"}
"##
    );
}

#[test]
fn a_prompt_is_known_where_one_request_is_reported_and_its_cache_was_not_edited() {
    let prompt = |usage: &str| {
        let line = format!(
            r#"{{"type":"assistant","requestId":"r","message":{{"id":"m","model":"opus","content":[],"usage":{usage}}}}}"#
        );
        let mut record = ParsedLog::default();
        ClaudeReader::default().read(&line, &mut record);
        record.events.iter().find_map(|event| match &event.body {
            EventBody::TokenUsage(report) => report.prompt.map(|prompt| (prompt.all, prompt.cached)),
            _ => None,
        })
    };
    for (usage, expected) in [
        (
            r#"{"input_tokens":3,"cache_read_input_tokens":50000,"cache_creation_input_tokens":97,"output_tokens":5}"#,
            Some((50_100, 50_000)),
        ),
        (
            r#"{"input_tokens":3,"output_tokens":5,"iterations":[{"type":"message","input_tokens":3}]}"#,
            Some((3, 0)),
        ),
        (
            r#"{"input_tokens":3,"output_tokens":5,"iterations":[{"type":"message"},{"type":"compaction"}]}"#,
            None,
        ),
        (
            r#"{"input_tokens":3,"cache_read_input_tokens":50000,"cache_deleted_input_tokens":22000,"output_tokens":5}"#,
            None,
        ),
    ] {
        assert_eq!(prompt(usage), expected, "{usage}");
    }
}

#[test]
fn usage_is_what_was_billed_and_repeats_claim_the_same_request() {
    let lines = [
        r#"{"type":"assistant","requestId":"r1","message":{"id":"m1","model":"opus","content":[{"type":"thinking","thinking":""}],"usage":{"input_tokens":3,"output_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":6}}}}"#,
        r#"{"type":"assistant","requestId":"r1","message":{"id":"m1","model":"opus","content":"Done","usage":{"input_tokens":3,"output_tokens":90,"cache_creation_input_tokens":11,"output_tokens_details":{"thinking_tokens":40},"iterations":[{"type":"message","input_tokens":3,"output_tokens":90},{"type":"compaction","input_tokens":1000,"output_tokens":10}]}}}"#,
        r#"{"type":"assistant","message":{"id":"m2","content":[],"usage":{"input_tokens":"7","output_tokens":2.0}}}"#,
        r#"{"type":"assistant","message":{"content":[],"usage":{"output_tokens":2}}}"#,
        r#"{"message":{"role":"assistant","id":"m3","usage":{"output_tokens":4}},"requestId":"r3"}"#,
        r#"{"type":"assistant","isApiErrorMessage":true,"message":{"id":"m4","model":"<synthetic>","content":[{"type":"text","text":"API Error"}],"usage":{"output_tokens":0}}}"#,
    ];
    assert_eq!(
        read(&lines),
        r#"0 - main Reasoning {"text":"[withheld]"}
1 - main TokenUsage Tokens { input: 3, cache_read: 0, cache_creation: 11, output: 1, reasoning: 0 } opus request
2 - main Message {"text":"Done"}
3 - main TokenUsage Tokens { input: 1003, cache_read: 0, cache_creation: 11, output: 100, reasoning: 40 } opus request
4 - main TokenUsage Tokens { input: 0, cache_read: 0, cache_creation: 0, output: 2, reasoning: 0 } - request
5 - main TokenUsage Tokens { input: 0, cache_read: 0, cache_creation: 0, output: 2, reasoning: 0 } - Once
6 - main TokenUsage Tokens { input: 0, cache_read: 0, cache_creation: 0, output: 4, reasoning: 0 } - request
7 - main Notification {"text":"API Error"}
8 - main TokenUsage Tokens { input: 0, cache_read: 0, cache_creation: 0, output: 0, reasoning: 0 } <synthetic> Excluded(Empty)
"#
    );
    let mut record = ParsedLog::default();
    let mut reader = ClaudeReader::new();
    lines.iter().for_each(|line| reader.read(line, &mut record));
    let claims: Vec<Claim> = record
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::TokenUsage(report) => Some(report.claim),
            _ => None,
        })
        .collect();
    assert_eq!(claims[0], claims[1], "one request");
    assert_ne!(claims[0], claims[2], "two requests");
    // Claims are kept in an index, so the hash is the same for ever.
    assert_eq!(claims[0], Claim::Request(CLAIM_OF_M1_R1));
}

/// FNV-1a over `m1`, 0xff, `r1`, 0xff.
const CLAIM_OF_M1_R1: u64 = {
    let bytes = *b"m1\xffr1\xff";
    let (mut hash, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
};

#[test]
fn parts_of_messages_and_notices_are_distinguished() {
    let assistant = |part: &str| format!(r#"{{"type":"assistant","message":{{"content":[{part}]}}}}"#);
    let lines = [
        assistant(r#"{"type":"mcp_tool_use","id":"c1","name":"x","input":{"a":1}}"#),
        assistant(r#"{"type":"web_search_tool_result","tool_use_id":"c1","content":{"type":"web_search_tool_result_error","error_code":"x"}}"#),
        assistant(r#"{"type":"compaction","content":"so far"}"#),
        assistant(r#"{"type":"hologram"}, 7"#),
        r#"{"type":"system","subtype":"local_command","content":"<command-name>/cost</command-name><command-args></command-args>"}"#.into(),
        r#"{"type":"system","subtype":"api_error","level":"error","error":{"status":529}}"#.into(),
        r#"{"type":"system","subtype":"turn_duration","durationMs":5}"#.into(),
        r#"{"type":"system","subtype":"stop_hook_summary","hookErrors":["it broke"]}"#.into(),
        r#"{"type":"system","subtype":"away_summary","content":"You left"}"#.into(),
        r#"{"type":"system","subtype":"novelty"}"#.into(),
        r#"{"type":"attachment","attachment":{"type":"hook_success","content":"","stdout":"{}","stderr":""}}"#.into(),
        r#"{"type":"attachment","attachment":{"type":"novelty"}}"#.into(),
        r#"{"type":"pr-link","prUrl":"https://example.invalid/1"}"#.into(),
        r#"{"type":"tool_use","name":"bash","input":{"command":"ls"}}"#.into(),
        r#"{"type":"tool_result","output":"a"}"#.into(),
        r#"{"type":"novelty"}"#.into(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(
        read(&lines),
        r#"0 - main ToolCall {"arguments":{"a":1},"call_id":"c1","name":"x"}
1 - main ToolResult {"call_id":"c1","content":"{\"error_code\":\"x\",\"type\":\"web_search_tool_result_error\"}","is_error":true}
2 - main Summary {"text":"so far"}
3 - main SlashCommand {"command":"/cost","text":"/cost"}
4 - main Notification {"text":"{\"status\":529}"}
5 - main Notification {"text":"it broke"}
6 - main Summary {"text":"You left"}
7 - main Notification {"text":"https://example.invalid/1"}
8 - main ToolCall {"arguments":{"command":"ls"},"name":"bash"}
9 - main ToolResult {"content":"a","is_error":false}
Part("assistant.content.hologram")
Part("assistant.content.(no object)")
Part("system.novelty")
Part("attachment.novelty")
Record("novelty")
"#
    );
}

#[test]
fn wrong_types_lose_a_field_and_not_the_record() {
    let lines = [
        r#"{"type":"user","type":"user","sessionId":5,"cwd":["x"],"timestamp":1705315200,"version":null,"isMeta":"yes","message":{"content":"Still \ud83d here"},"message":{"content":"Still here","extra":{}}}"#,
        r#"{"type":"user","message":"words","timestamp":-9223372036854775808}"#,
        r#"{"type":"assistant","message":{"content":7,"usage":[]}}"#,
        r#"{"type":"custom-title","customTitle":{}}"#,
        r#"{"type":"user","message":{"content":"cut o"#,
        r#"{"type":"user"} {"type":"user"}"#,
        "[1]",
        "",
    ];
    assert_eq!(
        read(&lines),
        r#"Started(1705315200000)
0 15200000 main User {"text":"Still here"}
Part("user.message")
Part("assistant.content")
Part("title")
Unreadable("ends in the middle of a record")
Unreadable("not JSON")
Unreadable("not a JSON object")
"#
    );
}

#[test]
fn a_name_by_a_person_outlasts_those_of_the_model_and_summaries_at_the_head_are_of_others() {
    let lines = [
        r#"{"type":"summary","summary":"Another session"}"#,
        r#"{"type":"user","message":{"content":"Hello"}}"#,
        r#"{"type":"summary","summary":"Greetings"}"#,
        r#"{"type":"ai-title","aiTitle":"A greeting"}"#,
        r#"{"type":"custom-title","customTitle":"Mine"}"#,
        r#"{"type":"ai-title","aiTitle":"A long greeting"}"#,
    ];
    assert_eq!(
        read(&lines),
        r#"Title("Greetings")
Title("A greeting")
Title("Mine")
0 - main Summary {"text":"Another session"}
1 - main User {"text":"Hello"}
2 - main Summary {"text":"Greetings"}
"#
    );
}

#[test]
fn sidechains_are_streams_and_the_files_name_is_the_id() {
    let inline = r#"{"type":"user","sessionId":"s1","isSidechain":true,"message":{"content":"Count"}}"#;
    let own =
        r#"{"type":"user","sessionId":"s1","agentId":"a1","isSidechain":true,"message":{"content":"Count"}}"#;
    assert_eq!(read(&[inline, own]).lines().filter(|line| line.contains("sidechain")).count(), 2);
    assert_eq!(
        read(&[own]),
        r#"Id("agent-a1")
Parent { id: "s1", relation: Subagent }
0 - subagent User {"text":"Count"}
"#
    );
    let copied = r#"{"type":"user","sessionId":"s1","message":{"content":"Hello"}}"#;
    let name = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f";
    assert_eq!(
        rendered(ClaudeReader::of_file(name), copied),
        format!(
            "Id({name:?})\nParent {{ id: \"s1\", relation: Fork }}\n0 - main User {{\"text\":\"Hello\"}}\n"
        )
    );
}

#[test]
fn an_exported_session_is_read_as_a_document() {
    let document = r#"{"loglines": [
        {"type": "user", "sessionId": "s1", "message": {"content": "Hello"}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "Good day"}]}},
        {"type": "novelty"}, 5
    ]}"#;
    let transcript = read_document(document).unwrap();
    assert_eq!(
        rendering(&transcript.facts, &transcript.events, &transcript.unrecognised),
        r#"Id("s1")
0 - main User {"text":"Hello"}
1 - main Message {"text":"Good day"}
Record("novelty")
Unreadable("not a JSON object")
"#
    );
    assert!(read_document(r#"{"loglines": 1}"#).is_none());
    assert!(read_document(r#"{"messages": []}"#).is_none());
    assert!(read_document("[").is_none());
}

#[test]
fn deep_nesting_is_no_obstacle() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let line = format!(
        r#"{{"type":"assistant","x":{deep},"message":{{"content":[{{"type":"tool_use","name":"n","input":{deep}}}]}}}}"#
    );
    let mut record = ParsedLog::default();
    ClaudeReader::new().read(&line, &mut record);
    assert_eq!((record.events.len(), record.unrecognised.len()), (1, 0));
}

/// Something like a record: known keys and kinds, with values of any type.
fn line() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "user",
        "assistant",
        "system",
        "attachment",
        "summary",
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "s1",
        "agent-a1",
        "result",
        "queue-operation",
        "remove",
        "<command-name>/x</command-name>",
        "<system-reminder>x",
        "2026-01-02T03:04:05Z",
        "custom-title",
        "ai-title",
        "progress",
        "queued_command",
        "hook_success",
        "é\u{0}\"\\",
    ]);
    let key = prop::sample::select(vec![
        "type",
        "subtype",
        "message",
        "content",
        "usage",
        "sessionId",
        "session_id",
        "agentId",
        "isSidechain",
        "id",
        "attachment",
        "operation",
        "summary",
        "timestamp",
        "role",
        "input",
        "text",
        "isMeta",
        "forkedFrom",
        "cwd",
        "customTitle",
        "aiTitle",
        "prompt",
        "output_tokens",
        "iterations",
        "parent_tool_use_id",
        "is_error",
        "result",
    ]);
    let leaf = prop_oneof![
        word.prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
    ];
    let value = leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::vec((key.clone(), inner), 0..8).prop_map(|fields| {
                serde_json::Value::Object(
                    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
                )
            }),
        ]
    });
    (value, any::<prop::sample::Index>(), 0..8u8).prop_map(|(value, at, torn)| {
        let mut text = value.to_string();
        if torn == 0 {
            let mut cut = at.index(text.len() + 1);
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            text.truncate(cut);
        }
        text
    })
}

proptest! {
    /// Whatever stands in a log, each line is read alone, and a reader that goes on from any line's state gives the same.
    #[test]
    fn reading_on_from_any_line_gives_the_same(lines in prop::collection::vec(line(), 0..12), named in any::<bool>()) {
        let stem = if named { "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f" } else { "log" };
        let mut through = ClaudeReader::of_file(stem);
        for line in &lines {
            let state = through.state();
            prop_assert!(state.len() < 400, "{state}");
            let mut resumed = ClaudeReader::resume(&state).unwrap();
            let (mut first, mut second) = (ParsedLog::default(), ParsedLog::default());
            through.read(line, &mut first);
            resumed.read(line, &mut second);
            prop_assert_eq!(
                rendering(&first.facts, &first.events, &first.unrecognised),
                rendering(&second.facts, &second.events, &second.unrecognised)
            );
            prop_assert_eq!(through.state(), resumed.state());
        }
    }
}
