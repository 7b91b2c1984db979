//! Which reports of tokens count.

use std::fs;

use tamis_logs::event::EventBody;
use tamis_logs::readers::codex::CodexReader;
use tamis_logs::readers::{LineReader, ParsedLog};
use tamis_logs::usage::{Claim, Tokens};

use crate::render::render;

const OWN: &str = "01a1de66-33a2-73b1-be7d-f06f31a025e1";
const PARENT: &str = "01a1de66-2d94-7f51-9b7e-e0b5a59e1422";

/// A `token_count` of a total and of the last request, in thousands of input tokens; the output is one each.
fn count(second: u32, total: u32, last: u32) -> String {
    let usage = |thousands: u32| {
        format!(
            r#"{{"input_tokens":{},"cached_input_tokens":0,"output_tokens":{thousands}}}"#,
            thousands * 1000
        )
    };
    format!(
        r#"{{"timestamp":"2026-11-15T09:00:{second:02}.000Z","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{},"last_token_usage":{}}}}}}}"#,
        usage(total),
        usage(last)
    )
}

fn record(kind: &str, time: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-11-15T{time}Z","type":"{kind}","payload":{payload}}}"#)
}

fn meta(id: &str, more: &str) -> String {
    record("session_meta", "09:00:00.000", &format!(r#"{{"id":"{id}"{more}}}"#))
}

fn answer() -> String {
    record("response_item", "09:00:00.500", r#"{"type":"message","role":"assistant","content":"Yes."}"#)
}

/// What each report claims, with the input that it reported.
fn claims(lines: &[String]) -> Vec<String> {
    let rendered = render(&lines.join("\n"));
    assert!(!rendered.contains("drift"), "{rendered}");
    let reports = rendered.lines().filter_map(|line| line.split_once(" tokens ").map(|(_, report)| report));
    reports
        .map(|report| {
            let (input, rest) = report.split_once('+').unwrap();
            format!("{input} {}", rest.rsplit(' ').next().unwrap().split('(').next().unwrap())
                + if rest.contains("Inherited") { " inherited" } else { "" }
                + if rest.contains("Repeated") { " repeated" } else { "" }
                + if rest.contains("Empty") { " empty" } else { "" }
        })
        .collect()
}

#[test]
fn a_repeated_total_does_not_count() {
    let found = claims(&[meta(OWN, ""), count(1, 1, 1), count(2, 1, 1), count(3, 3, 2), count(4, 3, 2)]);
    assert_eq!(found, ["1000 Request", "1000 Excluded repeated", "2000 Request", "2000 Excluded repeated"]);
}

#[test]
fn totals_that_begin_again_count_what_was_used_last() {
    let found = claims(&[meta(OWN, ""), count(1, 8, 8), count(2, 2, 2), count(3, 5, 3)]);
    assert_eq!(found, ["8000 Request", "2000 Request", "3000 Request"]);
}

/// Two programs went on with one session, each with a total of its own.
#[test]
fn totals_of_two_programs_in_one_log() {
    let found = claims(&[meta(OWN, ""), count(1, 10, 10), count(2, 15, 5), count(3, 13, 3), count(4, 20, 5)]);
    assert_eq!(found, ["10000 Request", "5000 Request", "3000 Request", "5000 Request"]);
}

#[test]
fn a_total_alone_counts_by_what_was_added() {
    let total = |thousands: u32| {
        let info = format!(r#"{{"total_token_usage":{{"input_tokens":{thousands}000,"output_tokens":1}}}}"#);
        record("event_msg", "09:00:01.000", &format!(r#"{{"type":"token_count","info":{info}}}"#))
    };
    assert_eq!(
        claims(&[total(3), total(7), total(7), total(2)]),
        ["3000 Once", "4000 Once", "0 Excluded repeated", "2000 Once"]
    );
}

/// After a compaction the last request is an estimate, with no parts; when the window overflowed, the total is one too.
#[test]
fn estimates_do_not_count() {
    let found = claims(&[meta(OWN, ""), count(1, 4, 4), count(2, 4, 0), count(3, 0, 0), count(4, 2, 2)]);
    assert_eq!(found, ["4000 Request", "0 Excluded repeated", "0 Excluded empty", "2000 Request"]);
}

#[test]
fn no_tokens_reported() {
    let null = record("event_msg", "09:00:01.000", r#"{"type":"token_count","info":null,"rate_limits":{}}"#);
    assert_eq!(claims(&[null]), ["0 Excluded empty"]);
}

#[test]
fn cached_and_reasoning_tokens_are_parts() {
    let usage = r#"{"input_tokens":1000,"cached_input_tokens":700,"cache_write_input_tokens":200,"output_tokens":50,"reasoning_output_tokens":20}"#;
    let line = record(
        "event_msg",
        "09:00:01.000",
        &format!(r#"{{"type":"token_count","info":{{"last_token_usage":{usage}}}}}"#),
    );
    assert_eq!(render(&line), "1 main 1794733201000 tokens 100+700+200->50(20) - Once\n");
}

#[test]
fn a_fork_does_not_count_what_it_copied() {
    let turn = |id: &str| {
        record("event_msg", "09:00:00.001", &format!(r#"{{"type":"task_started","turn_id":"{id}"}}"#))
    };
    let lines = [
        meta(OWN, &format!(r#","forked_from_id":"{PARENT}""#)),
        meta(PARENT, ""),
        turn("01a1de66-3318-7163-9177-bbb9374f5223"),
        // A copy that takes long is a copy still.
        count(1, 10, 10),
        count(9, 30, 20),
        turn("01a1de66-33ce-78c1-853d-76fa278085df"),
        count(9, 30, 20),
        answer(),
        count(10, 35, 5),
    ];
    assert_eq!(
        claims(&lines),
        ["10000 Excluded inherited", "20000 Excluded inherited", "20000 Excluded repeated", "5000 Request"]
    );
}

/// In 2025 turns had no ids, and forks did not name their parents.
#[test]
fn an_old_fork_ends_its_copy_with_a_pause() {
    let lines = [meta("child", ""), meta("parent", ""), count(0, 10, 10), count(0, 30, 20), count(5, 36, 6)];
    assert_eq!(claims(&lines), ["10000 Excluded inherited", "20000 Excluded inherited", "6000 Request"]);
    assert!(render(&lines.join("\n")).contains(r#"Parent { id: "parent", relation: Fork }"#));
}

/// Its parent's total is written for the rate limits before the model has answered.
#[test]
fn a_fork_without_a_copy_begins_with_its_parents_total() {
    let more = format!(r#","forked_from_id":"{PARENT}","history_base":{{"thread_id":"{PARENT}"}}"#);
    let lines = [meta(OWN, &more), count(1, 30, 20), answer(), count(2, 35, 5)];
    assert_eq!(claims(&lines), ["20000 Excluded inherited", "5000 Request"]);
    let lines = [meta(OWN, &more), answer(), count(2, 35, 5)];
    assert_eq!(claims(&lines), ["5000 Request"]);
}

#[test]
fn a_recorded_request_counts_and_its_echo_does_not() {
    let used = |thread: &str, response: &str, thousands: u32| {
        let usage = format!(r#"{{"input_tokens":{thousands}000,"output_tokens":{thousands}}}"#);
        let payload = format!(r#"{{"thread_id":"{thread}","response_id":"{response}","usage":{usage}}}"#);
        record("token_usage_record", "09:00:01.000", &payload)
    };
    let lines = [
        meta(OWN, ""),
        used(OWN, "a", 1),
        count(1, 1, 1),
        used(OWN, "b", 2),
        used(OWN, "c", 3),
        count(2, 6, 3),
        used(PARENT, "d", 9),
        // Again without records, as an older version writes it.
        count(3, 10, 4),
    ];
    assert_eq!(
        claims(&lines),
        [
            "1000 Request",
            "1000 Excluded repeated",
            "2000 Request",
            "3000 Request",
            "3000 Excluded repeated",
            "9000 Excluded inherited",
            "4000 Request"
        ]
    );
}

#[test]
fn a_streams_totals_run() {
    let turn = |thousands: u32| {
        format!(r#"{{"type":"turn.completed","usage":{{"input_tokens":{thousands}000,"output_tokens":1}}}}"#)
    };
    let started = |id: &str| format!(r#"{{"type":"thread.started","thread_id":"{id}"}}"#);
    let lines = [started("a"), turn(2), started("a"), turn(5), started("b"), turn(7)];
    assert_eq!(claims(&lines), ["2000 Once", "3000 Once", "7000 Once"]);
}

/// The tokens of a log that count.
fn counted<'a>(lines: impl Iterator<Item = &'a str>) -> Tokens {
    let mut reader = CodexReader::default();
    let mut record = ParsedLog::default();
    lines.for_each(|line| reader.read(line, &mut record));
    let reports = record.events.iter().filter_map(|event| match &event.body {
        EventBody::TokenUsage(report) if !matches!(report.claim, Claim::Excluded(_)) => Some(report.tokens),
        _ => None,
    });
    reports.fold(Tokens::default(), Tokens::plus)
}

/// Versions before 2026's summer write no records of single requests. The totals alone must tell the same.
#[test]
fn real_logs_count_the_same_with_and_without_records_of_requests() {
    let tokens = |input, cache_read, output, reasoning| Tokens {
        input,
        cache_read,
        cache_creation: 0,
        output,
        reasoning,
    };
    let expected = [
        ("paginated", tokens(11_500, 8_400, 673, 98)),
        ("paginated-subagent", tokens(3_100, 1_200, 103, 14)),
        ("paginated-fork", tokens(100, 600, 57, 7)),
        ("legacy", tokens(11_500, 8_400, 673, 98)),
        ("legacy-subagent", tokens(3_100, 1_200, 103, 14)),
        ("legacy-fork", tokens(100, 600, 57, 7)),
    ];
    for (name, expected) in expected {
        let log = fs::read_to_string(crate::logs().join(format!("{name}.jsonl"))).unwrap();
        assert_eq!(counted(log.lines()), expected, "{name}");
        let older = log.lines().filter(|line| !line.contains("token_usage_record"));
        assert_eq!(counted(older), expected, "{name}, without records");
    }
}
