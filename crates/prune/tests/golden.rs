//! What the engine decides on a few texts, held to the letter.
//!
//! A prune id promises that the same call gives the same text, and the engine's version is part of it. So a change that
//! alters a verdict here needs another `ENGINE_VERSION`, and then new expectations.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use tamis_prune::{Cut, ENGINE_VERSION, Limits, Request, prune};
use tamis_text::Kind;

fn verdict(text: &str, goal: &str, kind: Kind) -> String {
    let limits = Limits { threshold: 0.5, max_prune_ratio: 1.0, min_keep_lines: 0, keep_first_lines: 0 };
    let marker_bytes = |cut: &Cut| 80 + cut.reason.len();
    let request = Request { text, goal, kind, limits, marker_bytes: &marker_bytes };
    let verdict = prune(&request, &|| false).unwrap();
    // Rounded, so that the expectations can be read; a scorer that drifts shows all the same.
    let total: f32 = verdict.scores.iter().sum();
    let cuts: Vec<_> = verdict
        .cuts
        .iter()
        .map(|cut| format!("{}-{} {}", cut.first_line, cut.last_line, cut.reason))
        .collect();
    format!("{ENGINE_VERSION}; scores {total:.2}; {}", cuts.join("; "))
}

fn code() -> String {
    let mut text = String::from("import os\nimport sys\n\n\n");
    let topics = ["widget", "cache", "parser", "socket", "ledger", "marker", "thread", "signal"];
    for (number, topic) in topics.into_iter().cycle().take(24).enumerate() {
        text.push_str(&format!(
            "def {topic}_{number}(request, value):\n    \"\"\"Handle the {topic}.\"\"\"\n"
        ));
        for step in 0..10 {
            text.push_str(&format!("    value = {topic}_step_{step}(request, value)\n"));
        }
        text.push_str("    return value\n\n\n");
    }
    text
}

fn log() -> String {
    let mut text = String::new();
    for number in 0..60 {
        text.push_str(&format!(
            "2026-01-01T00:00:{number:02} INFO poll {number} of queue orders took {number} ms\n"
        ));
        if number == 40 {
            text.push_str("2026-01-01T00:00:40 ERROR worker 7 lost its connection to the database\n");
        }
    }
    text
}

fn document() -> String {
    let mut text = String::from("# Guide\n\n");
    for topic in ["Install", "Configure", "Retry", "Upgrade"] {
        text.push_str(&format!("## {topic}\n\n"));
        for sentence in 0..8 {
            text.push_str(&format!("Sentence {sentence} says how to {topic} the service, at some length.\n"));
        }
        text.push_str("\n```sh\nservice run\n```\n\n");
    }
    text
}

#[test]
fn verdicts_change_only_with_the_engines_version() {
    let verdicts = [
        verdict(&code(), "how does cache_1 fill and clear the cache", Kind::Code),
        verdict(&log(), "why was the database connection lost, and how long did poll 17 take", Kind::Logs),
        verdict(&document(), "how are requests retried, retry", Kind::Docs),
    ];
    let expected = [
        "skimmer-2; scores 92.23; 6-15 sans lien: widget_0; 37-49 sans lien: parser_2; 51-64 sans lien: socket_3; 66-79 sans lien: ledger_4; 81-94 sans lien: marker_5; 96-109 sans lien: thread_6; 111-124 sans lien: signal_7; 126-139 sans lien: widget_8; 156-169 sans lien: parser_10; 171-184 sans lien: socket_11; 186-199 sans lien: ledger_12; 201-214 sans lien: marker_13; 216-229 sans lien: thread_14; 231-244 sans lien: signal_15; 246-259 sans lien: widget_16; 276-289 sans lien: parser_18; 291-304 sans lien: socket_19; 306-319 sans lien: ledger_20; 321-334 sans lien: marker_21; 336-349 sans lien: thread_22; 351-364 sans lien: signal_23",
        "skimmer-2; scores 7.63; 2-17 répétitions: 16 lignes; 19-39 répétitions: 21 lignes; 45-61 répétitions: 17 lignes",
        "skimmer-2; scores 56.37; ",
    ];
    assert_eq!(verdicts, expected);
}
