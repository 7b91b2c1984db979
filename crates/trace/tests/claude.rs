//! The reader of Claude Code's logs: on logs that the real client wrote against a scripted model, on records of its other
//! versions, and on anything at all.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tamis_trace::event::{Body, Event};
use tamis_trace::readers::claude::{ClaudeReader, read_document};
use tamis_trace::readers::{LineReader, Record};
use tamis_trace::usage::Claim;

fn logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs/claude")
}

/// All that a log gives, a line each.
fn rendered(mut reader: ClaudeReader, lines: &str) -> String {
    let mut record = Record::default();
    lines.lines().for_each(|line| reader.read(line, &mut record));
    rendering(&record.facts, &record.events, &record.drift)
}

fn rendering(facts: &[impl std::fmt::Debug], events: &[Event<'_>], drift: &[impl std::fmt::Debug]) -> String {
    let mut text = String::new();
    facts.iter().for_each(|fact| writeln!(text, "{fact:?}").unwrap());
    for (index, event) in events.iter().enumerate() {
        let at = event.at.map_or("-".to_owned(), |at| (at % 100_000_000).to_string());
        write!(text, "{index} {at} {} {:?}", event.stream.name(), event.kind()).unwrap();
        let payload = match &event.body {
            Body::TokenUsage(report) => {
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
    drift.iter().for_each(|drift| writeln!(text, "{drift:?}").unwrap());
    text
}

/// Compares with the file beside the log. `UPDATE_GOLDEN=1` writes what there is, to be looked at.
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
