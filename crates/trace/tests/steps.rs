//! The steps of small sessions, and that they agree with what the index counts of them.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod session;

use std::ops::ControlFlow;

use proptest::prelude::*;
use serde_json::json;
use tamis_logs::usage::Tokens;
use tamis_trace::{AnalysisOptions, TurnPart, TurnStep};

use session::{Log, Opened, Write};

const DECLINED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected.";

/// The steps of each turn.
fn steps(opened: &Opened, from: u64, max_chars: usize) -> Vec<(u64, TurnStep)> {
    let mut steps = Vec::new();
    let visit = &mut |part| {
        if let TurnPart::Step { turn, step } = part {
            steps.push((turn, step));
        }
        ControlFlow::Continue(())
    };
    opened.trace.steps(&opened.session, from, max_chars, visit).unwrap();
    steps
}

/// A step in one line: `s` before a subagent's, its texts, and its calls with how they ended.
fn shown(step: &TurnStep) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (mark, texts) in
        [("?", &step.prompts), ("~", &step.reasoning), ("", &step.messages), ("#", &step.notes)]
    {
        parts.extend(texts.iter().map(|text| format!("{mark}{}", text.as_str())));
    }
    for tool in &step.tools {
        let name = tool.call.as_ref().map_or("-", |call| call.name.as_str());
        let result = match &tool.result {
            None => "…".to_owned(),
            Some(result) if result.declined => "declined".to_owned(),
            Some(result) if result.failed => "failed".to_owned(),
            Some(result) => result.content.as_str().to_owned(),
        };
        parts.push(format!("{name}={result}"));
    }
    format!("{}{}", if step.sidechain { "s " } else { "" }, parts.join(", "))
}

/// Everything that the index counts of turns is in their steps.
fn agree(opened: &Opened) -> Result<(), TestCaseError> {
    let all = steps(opened, 0, usize::MAX);
    let turns = opened.trace.turns(&opened.session, 0, 1_000).unwrap();
    let mut failed = 0;
    for turn in &turns {
        let own: Vec<&TurnStep> =
            all.iter().filter(|(of, _)| *of == turn.number).map(|(_, step)| step).collect();
        let indexes: Vec<u64> = own.iter().map(|step| step.index).collect();
        prop_assert_eq!(&indexes, &(0..turn.steps).collect::<Vec<u64>>(), "turn {}", turn.number);
        let sum = |count: fn(&TurnStep) -> u64| own.iter().map(|step| count(step)).sum::<u64>();
        prop_assert_eq!(sum(TurnStep::failed_tools), turn.failed_tools, "turn {}", turn.number);
        prop_assert_eq!(sum(TurnStep::tool_calls), turn.tool_calls, "turn {}", turn.number);
        let tokens = own.iter().fold(Tokens::default(), |tokens, step| tokens.plus(step.tokens));
        prop_assert_eq!(tokens, turn.tokens, "turn {}", turn.number);
        failed += turn.failed_tools;
        // From there on, the same.
        let from: Vec<_> = all.iter().filter(|(of, _)| *of >= turn.number).cloned().collect();
        prop_assert_eq!(steps(opened, turn.number, usize::MAX), from);
    }
    let analysis = opened.trace.analyze(&opened.session, &AnalysisOptions::default(), &|| false).unwrap();
    prop_assert_eq!(analysis.summary.failed_tool_calls, failed);
    prop_assert_eq!(opened.session.summary.failed_tools, failed);
    prop_assert_eq!(analysis.summary.turns, turns.len() as u64);
    Ok(())
}

#[test]
fn steps_are_as_many_as_are_counted_whatever_begins_them() {
    let table: &[(&str, Write, &[&str])] = &[
        ("a notice before the answer", |log| log.user("go").notes("n").says("a").says("b"), &["a, b, #n"]),
        ("nothing but a notice", |log| log.commands("/model").notes("n"), &["#n"]),
        ("a summary", |log| log.user("go").sums_up("s").says("a"), &["a, #s"]),
        ("nothing", |log| log.user("go"), &[]),
        (
            "a notice after a result",
            |log| log.user("go").call("A", json!({})).gets("r").notes("n").says("a"),
            &["#n, A=r", "a"],
        ),
        (
            "a compaction",
            |log| log.user("go").says("a").compacts().says("b"),
            &["a, b, #Conversation compacted"],
        ),
        (
            "no words of a person",
            |log| log.says("a").call("A", json!({})).gets("r").says("b"),
            &["a, A=r", "b"],
        ),
        (
            "results one after another",
            |log| {
                log.user("go").call("A", json!({})).call("B", json!({})).answers(1, "r1", false);
                log.answers(2, "r2", false).says("a")
            },
            &["A=r1, B=r2", "a"],
        ),
        (
            "a result after the next step has begun",
            |log| {
                log.user("go").call("A", json!({})).call("B", json!({})).answers(1, "r1", false);
                log.says("meanwhile")
                    .call("C", json!({}))
                    .answers(2, "late", true)
                    .answers(3, "r3", false)
                    .says("a")
            },
            &["A=r1, B=failed", "meanwhile, C=r3", "a"],
        ),
        (
            "a result after three steps",
            |log| {
                log.user("go").call("A", json!({}));
                for call in 2..4 {
                    log.call("B", json!({})).answers(call, "r", false);
                }
                log.says("a").answers(1, "late", false).says("b")
            },
            &["A=late, B=r", "B=r", "a", "b"],
        ),
        (
            "a result without its call",
            |log| log.user("go").answers(77, "r", true).says("a"),
            &["-=failed", "a"],
        ),
        (
            "a result in the next turn",
            |log| log.user("go").call("A", json!({})).user("and").gets("r").says("a"),
            &["A=…", "-=r", "a"],
        ),
        (
            "a call that the person declined",
            |log| log.user("go").call("A", json!({})).fails(DECLINED).says("a"),
            &["A=declined", "a"],
        ),
        (
            "a subagent in the same log",
            |log| {
                log.user("go").call("Task", json!({})).user("look").in_sidechain().says("s1").in_sidechain();
                log.call("Read", json!({}))
                    .in_sidechain()
                    .fails("no")
                    .in_sidechain()
                    .says("s2")
                    .in_sidechain();
                log.answers(1, "found", false).says("a")
            },
            &["Task=found", "s ?look, s1, Read=failed", "s s2", "a"],
        ),
        (
            "two prompts to subagents",
            |log| {
                log.user("go").says("a").user("one").in_sidechain().says("s1").in_sidechain();
                log.user("two").in_sidechain().says("s2").in_sidechain().says("b")
            },
            &["a, b", "s ?one, s1", "s ?two, s2"],
        ),
    ];
    for (what, write, expected) in table {
        let mut log = Log::default();
        write(&mut log);
        let opened = log.open();
        let shown: Vec<String> = steps(&opened, 0, usize::MAX).iter().map(|(_, step)| shown(step)).collect();
        assert_eq!(&shown, expected, "{what}");
        agree(&opened).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_is_logged_is_in_the_steps_as_it_is_counted(events in prop::collection::vec((0..11_u8, any::<bool>(), 1..8_u64), 0..60)) {
        let mut log = Log::default();
        log.user("go");
        for (what, sidechain, call) in events {
            match what {
                0 => log.user("more"),
                1 => log.says("a"),
                2 => log.notes("n"),
                3 => log.sums_up("s"),
                4 => log.commands("/c"),
                5 | 6 => log.call("A", json!({"n": call})),
                7 => log.answers(call, "late", call % 2 == 0),
                8 => log.answers(call, DECLINED, true),
                9 => log.spends(10, 20, 30),
                _ => log.gets("r"),
            };
            if sidechain {
                log.in_sidechain();
            }
        }
        agree(&log.open())?;
    }
}
