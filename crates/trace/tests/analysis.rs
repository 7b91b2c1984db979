//! Analyses of small sessions, as whole values.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod session;

use std::ops::ControlFlow;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tamis_logs::discovery::LogLocations;
use tamis_logs::event::EventKind;
use tamis_store::DataDir;
use tamis_trace::{AnalysisOptions, Lens, SearchRequest, SessionAnalysis, Trace, TraceError};

use session::{Log, Opened, Write};

fn with_loops() -> AnalysisOptions {
    AnalysisOptions { loops: true, more_lenses: true, ..AnalysisOptions::default() }
}

fn analysis(log: &Log, options: &AnalysisOptions) -> SessionAnalysis {
    let Opened { trace, session, folder: _folder } = log.open();
    trace.analyze(&session, options, &|| false).unwrap()
}

/// Severity, lens, turn, event and message of each insight.
fn insights(log: &Log) -> Vec<String> {
    let render = |insight: &tamis_trace::Insight| {
        let tamis_trace::Insight { turn_index, severity, lens, message, event_index, .. } = insight;
        format!("{severity:?} {lens:?} {turn_index}/{event_index} {message}")
    };
    analysis(log, &with_loops()).insights.iter().map(render).collect()
}

#[test]
fn an_analysis_has_the_contracts_shape() {
    let mut log = Log::default();
    log.user("run the tests").call("Bash", json!({"command": "cargo test"})).fails("error: no such command");
    log.spends(10, 90, 20).says("It failed.");
    let analysis = serde_json::to_value(analysis(&log, &AnalysisOptions::default())).unwrap();
    let expected = json!({
        "score": 96,
        "deductions": [{"lens": "Failures", "what": "failed calls that nothing put right", "count": 1, "points": 4}],
        "insights": [{"turn_index": 0, "severity": "Warning", "lens": "Failures", "event_index": 2,
            "message": "1 of 1 tool call failed and was never put right: Bash cargo test"}],
        "insights_left_out": {"critical": 0, "warning": 0, "info": 0},
        "lenses": ["Failures", "TokenUsage"],
        "summary": {
            "event_counts": {"assistant_messages": 2, "tool_calls": 1, "tool_results": 1, "user_messages": 1,
                "slash_commands": 0, "reasoning": 0, "token_usage": 1, "notifications": 0, "summaries": 0},
            "turns": 1, "sessions": 1, "failed_tool_calls": 1, "declined_tool_calls": 0,
            "tokens": {"input": 10, "cache_read": 90, "cache_creation": 0, "output": 20, "reasoning": 0},
            "requests": 1, "output_per_mille": 166, "largest_context": 100, "compactions": 0,
        },
    });
    assert_eq!(analysis, expected);
}

#[test]
fn a_cancelled_analysis_ends_at_the_next_event() {
    let mut log = Log::default();
    for _ in 0..50 {
        log.user("go on").says("I do.");
    }
    let Opened { trace, session, folder: _folder } = log.open();
    for most in [0, 1, 7] {
        let checks = std::cell::Cell::new(0);
        let broken_off = || checks.replace(checks.get() + 1) == most;
        let ended = trace.analyze(&session, &AnalysisOptions::default(), &broken_off);
        assert!(matches!(ended, Err(TraceError::Cancelled)), "{ended:?}");
        assert_eq!(checks.get(), most + 1, "not checked again, so not read on");
    }
}

#[test]
fn failures_that_were_put_right_weigh_less() {
    let mut log = Log::default();
    let edit = json!({"file_path": "/w/a.rs", "old_string": "x", "new_string": "y"});
    log.user("fix it").call("Edit", edit.clone()).fails("String not found");
    log.call("Edit", json!({"file_path": "/w/a.rs", "old_string": "z", "new_string": "y"})).gets("done");
    log.user("and the tests").call("Bash", json!({"command": "cd /w && cargo test"})).fails("1 failed");
    log.call("Edit", edit).gets("done");
    log.call("Bash", json!({"command": "cargo test --workspace"})).gets("ok");
    log.user("look").call("Read", json!({"file_path": "/w/none"})).fails("No such file");
    log.call("Edit", json!({"file_path": "/w/b.rs"}))
        .fails("The user doesn't want to proceed with this tool use.");
    let analysis = analysis(&log, &with_loops());
    assert_eq!(
        insights(&log),
        [
            "Warning Failures 2/14 1 of 2 tool calls failed and was never put right: Read /w/none",
            "Info Failures 0/2 1 of 2 tool calls failed and was put right: Edit /w/a.rs",
            "Info Failures 1/7 1 of 3 tool calls failed and was put right: Bash cd /w && cargo test",
        ]
    );
    assert_eq!((analysis.score, analysis.summary.declined_tool_calls), (94, 1));
}

/// The index, the steps and the analysis call the same results failures.
#[test]
fn every_count_agrees_on_what_failed() {
    const DECLINED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    let table: [(&str, Write, u64, u64, u64); 7] = [
        ("failed", |log| log.call("Bash", json!({"command": "x"})).fails("no"), 1, 0, 4),
        ("declined", |log| log.call("Bash", json!({"command": "x"})).fails(DECLINED), 0, 1, 0),
        (
            "interrupted",
            |log| log.call("Bash", json!({})).fails("[Request interrupted by user for tool use]"),
            0,
            1,
            0,
        ),
        ("fine, in the same words", |log| log.call("Bash", json!({"command": "x"})).gets(DECLINED), 0, 0, 0),
        ("without a call", |log| log.answers(9, "boom", true), 1, 0, 4),
        ("declined without a call", |log| log.answers(9, DECLINED, true), 0, 1, 0),
        ("fine without a call", |log| log.answers(9, "ok", false), 0, 0, 0),
    ];
    for (what, write, failed, was_declined, points) in table {
        let mut log = Log::default();
        log.user("go");
        write(&mut log);
        let Opened { trace, session, folder: _folder } = log.open();
        let turn = &trace.turns(&session, 0, 1).unwrap()[0];
        let analysis = trace.analyze(&session, &AnalysisOptions::default(), &|| false).unwrap();
        let search =
            SearchRequest { query: "o".to_owned(), only_failed: true, most: 10, ..SearchRequest::default() };
        let found = trace.search(&search, Duration::from_secs(30), &|| false).unwrap().matches.len() as u64;
        assert_eq!(
            (session.summary.failed_tools, turn.failed_tools, analysis.summary.failed_tool_calls, found),
            (failed, failed, failed, failed),
            "{what}"
        );
        assert_eq!(analysis.summary.declined_tool_calls, was_declined, "{what}");
        assert_eq!((100 - analysis.score, analysis.insights.len() as u64), (points, failed), "{what}");
    }
}

/// What the contract calls `User` is what begins turns: a person's words and commands, not what subagents are told.
#[test]
fn user_messages_are_those_that_begin_turns() {
    let mut log = Log::default();
    log.user("go")
        .call("Task", json!({}))
        .user("look around")
        .in_sidechain()
        .says("yes")
        .in_sidechain()
        .gets("done");
    log.commands("/model").user("and now").says("b").commands("/clear").in_sidechain();
    let Opened { trace, session, folder: _folder } = log.open();
    let counts =
        trace.analyze(&session, &AnalysisOptions::default(), &|| false).unwrap().summary.event_counts;
    assert_eq!((counts.user_messages, counts.slash_commands, session.summary.turns), (3, 1, 3));
}

#[test]
fn trying_again_counts_only_when_nothing_was_changed() {
    let mut log = Log::default();
    let test = json!({"command": "npm test"});
    log.user("go");
    for _ in 0..3 {
        log.call("Bash", test.clone()).fails("1 failed");
    }
    log.call("Edit", json!({"file_path": "/w/a", "old_string": "x", "new_string": "y"})).gets("done");
    log.call("Bash", test.clone()).fails("1 failed");
    assert_eq!(
        insights(&log)[0],
        "Critical Failures 0/2 4 of 5 tool calls failed (Bash 4); 4 never put right: Bash npm test"
    );
    let again =
        |log: &Log| insights(log).iter().filter(|insight| insight.contains("the same call failed")).count();
    assert_eq!(again(&log), 0, "the edit ended the row");
    log.call("Bash", test).fails("1 failed");
    assert_eq!(again(&log), 1);
}

#[test]
fn loops_are_found_on_request() {
    let mut log = Log::default();
    log.user("go");
    for _ in 0..3 {
        // In whatever order the arguments stand.
        log.call("Grep", json!({"pattern": "x", "path": "/w"})).gets("none");
        log.call("Glob", json!({"pattern": "*.rs"})).gets("a.rs");
    }
    for round in 0..3 {
        log.call("Read", json!({"file_path": "/w/a.rs"})).gets(&format!("fn a() {{ {round} }}"));
        log.call("Edit", json!({"file_path": "/w/a.rs", "old_string": round.to_string(), "new_string": ""}))
            .gets("done");
    }
    log.call("Read", json!({"file_path": "/w/a.rs"})).gets("fn a() {}");
    assert_eq!(
        insights(&log),
        [
            "Warning Loops 0/10 the same call gave the same result 3 times: Grep /w",
            "Warning Loops 0/11 6 calls of two kinds in turns: Grep /w | Glob *.rs",
            "Warning Loops 0/12 the same call gave the same result 3 times: Glob *.rs",
            "Info Loops 0/26 /w/a.rs was read again after an edit 3 times",
        ]
    );
    let without = analysis(&log, &AnalysisOptions::default());
    assert_eq!((without.score, without.insights.len()), (100, 0));
    assert_eq!(analysis(&log, &with_loops()).score, 100 - 6 - 3 - 1);
}

#[test]
fn a_file_read_again_is_a_waste_only_while_it_is_unchanged() {
    let text = "a line of some length\n".repeat(400);
    let read = |offset: u64| json!({"file_path": "/w/a.rs", "offset": offset, "limit": 100});
    let reads = |steps: &dyn Fn(&mut Log)| {
        let mut log = Log::default();
        log.user("go").call("Read", json!({"file_path": "/w/a.rs"})).gets(&text);
        steps(&mut log);
        insights(&log)
    };
    let again =
        ["Info RepeatedReads 0/4 /w/a.rs was read again 1 time with nothing changed: about 2k tokens"];
    let nothing: [&str; 0] = [];
    let part_again = |log: &mut Log| {
        log.call("Read", read(50)).gets(&text);
    };
    assert_eq!(reads(&part_again), again);
    for (tool, input) in [
        ("Edit", json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})),
        ("Bash", json!({"command": "sed -i s/a/b/ a.rs"})),
    ] {
        let changed = |log: &mut Log| part_again(log.call(tool, input.clone()).gets("done"));
        assert_eq!(reads(&changed), nothing, "{tool}");
    }
    let shows_a_change = |log: &mut Log| {
        log.call("Read", json!({"file_path": "/w/a.rs"})).gets(&text.replace('a', "b"));
    };
    assert_eq!(reads(&shows_a_change), nothing);
}

#[test]
fn tokens_caches_contexts_and_slow_steps_are_reported() {
    let mut log = Log::default();
    for _ in 0..5 {
        log.user("a small one").spends(100, 900, 10);
    }
    log.user("a large one").call("Bash", json!({"command": "make"})).wait(400).gets(&"x".repeat(200_000));
    log.spends(100, 24_900, 10)
        .spends(50_000, 25_000, 10)
        .wait(600)
        .spends(75_000, 0, 10)
        .spends(100, 9_900, 10);
    assert_eq!(
        insights(&log),
        [
            "Critical TokenUsage 5/19 185k tokens in 4 requests, 183 times the median turn (1k); 40 of them output",
            "Warning SlowSteps 5/17 6 min from call to result: Bash make",
            "Info ContextGrowth 5/21 the context jumped from 25k to 75k",
            "Info TokenUsage 5/23 75k tokens of context were read without the prompt cache after a pause of 10 min",
        ]
    );
    let all = analysis(&log, &with_loops());
    assert_eq!((all.summary.compactions, all.summary.largest_context), (1, 75_000));
    assert_eq!(all.score, 100 - 2 - 1 - 1 - 1);
    // Those of the contract only, unless more are requested.
    let plain = analysis(&log, &AnalysisOptions::default());
    assert!(!plain.insights.is_empty() && !plain.deductions.is_empty(), "{plain:?}");
    assert!(plain.insights.iter().all(|insight| insight.lens == Lens::TokenUsage), "{:?}", plain.insights);
    assert!(plain.deductions.iter().all(|part| part.lens == Lens::TokenUsage), "{:?}", plain.deductions);
}

/// Requests and tokens count those of subagents in the same log, so the largest context does too.
#[test]
fn the_largest_context_may_be_a_subagents() {
    let mut log = Log::default();
    log.user("look around").spends(500, 20_000, 10);
    log.spends(2_000, 40_000, 10).in_sidechain();
    let summary = analysis(&log, &AnalysisOptions::default()).summary;
    assert_eq!((summary.requests, summary.largest_context), (2, 42_000));
}

#[test]
fn subagents_are_analysed_on_request() {
    let logs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../logs/tests/logs/claude");
    let folder = tempfile::tempdir().unwrap();
    let trace = Trace::new(LogLocations::only(vec![logs]), DataDir::at(folder.path()));
    trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
    let session = trace.session("6e190b0e-1444-4d7a-a82b-3469ccf8c19e").unwrap();
    let alone = trace.analyze(&session, &AnalysisOptions::default(), &|| false).unwrap().summary;
    let both = AnalysisOptions { subagents: true, ..AnalysisOptions::default() };
    let both = trace.analyze(&session, &both, &|| false).unwrap().summary;
    let subagents = trace.subagents(&session).unwrap();
    assert_eq!((alone.sessions, both.sessions, subagents.len()), (1, 2, 1));
    assert_eq!(alone.turns, session.summary.turns);
    assert_eq!(both.turns, session.summary.turns + subagents[0].summary.turns);
    assert_eq!(alone.event_counts.tool_calls, session.summary.count(EventKind::ToolCall));
    let tokens =
        |session: &tamis_trace::Session| trace.account(session).unwrap().total().minus(session.inherited);
    assert_eq!((alone.tokens, both.tokens), (tokens(&session), tokens(&session).plus(tokens(&subagents[0]))));
}

#[test]
fn a_session_full_of_trouble_still_fits() {
    let mut log = Log::default();
    for turn in 0..300 {
        log.user("go on");
        for call in 0..3 {
            let command = format!("{turn} {call} {}", "very ".repeat(100));
            log.call("Bash", json!({"command": command})).fails("no");
        }
    }
    log.call("Bash", json!({"command": "make"})).wait(400).gets("ok");
    let analysis = analysis(&log, &with_loops());
    let text = serde_json::to_string(&analysis).unwrap();
    assert!(text.len() < 5_000, "{}", text.len());
    assert_eq!(analysis.insights.len() as u64 + analysis.insights_left_out.total(), 301);
    assert!(analysis.insights.len() > 8, "{}", analysis.insights.len());
    // Many of one kind do not push out the others.
    assert!(analysis.insights.iter().any(|insight| insight.lens == Lens::SlowSteps));
    assert_eq!(analysis.score, 69);
}

/// One step of any session.
fn step() -> impl Strategy<Value = (u8, u8, bool, u32)> {
    (0..6_u8, 0..3_u8, any::<bool>(), 0..200_000_u32)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_parts_always_explain_the_score(steps in prop::collection::vec(step(), 0..120)) {
        let mut log = Log::default();
        log.user("go");
        for (what, which, fine, tokens) in steps {
            let (name, input): (&str, Value) = match what {
                0 => ("Bash", json!({"command": format!("make {which}")})),
                1 => ("Read", json!({"file_path": format!("/w/{which}")})),
                2 => ("Edit", json!({"file_path": format!("/w/{which}"), "old_string": "x", "new_string": "y"})),
                3 => { log.user("more"); continue }
                4 => { log.spends(u64::from(tokens), u64::from(tokens) * u64::from(which), 5); continue }
                _ => { log.wait(i64::from(tokens) % 1_000); continue }
            };
            let log = log.call(name, input);
            if fine { log.gets(&"y".repeat(tokens as usize % 3_000)) } else { log.fails("no") };
        }
        let Opened { trace, session, folder: _folder } = log.open();
        for options in [with_loops(), AnalysisOptions { failures: false, ..AnalysisOptions::default() }] {
            let analysis = trace.analyze(&session, &options, &|| false).unwrap();
            let points: u64 = analysis.deductions.iter().map(|part| part.points).sum();
            prop_assert_eq!(analysis.score + points, 100);
            prop_assert!(analysis.deductions.iter().all(|part| part.points > 0 && analysis.lenses.contains(&part.lens)));
            prop_assert!(serde_json::to_string(&analysis).unwrap().len() < 5_000);
            prop_assert_eq!(&analysis, &trace.analyze(&session, &options, &|| false).unwrap());
        }
    }
}
