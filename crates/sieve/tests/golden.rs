//! The exact result for a few texts.
//!
//! A prune id promises that the same call gives the same text, and the engine's version is part of it. So a change that
//! alters a result here needs another `ENGINE_VERSION` and new expectations.

use std::time::Duration;

use tamis_prune::ENGINE_VERSION;
use tamis_sieve::{PruneOptions, PruneRequest, Sieve, SieveSettings};
use tamis_text::TextKind;

fn verdict(text: &str, goal: &str, kind: TextKind) -> String {
    let request = PruneRequest {
        text,
        goal,
        kind,
        options: PruneOptions { timeout: Duration::from_secs(600), ..PruneOptions::default() },
        shown: &[],
    };
    let pruned = Sieve::new(SieveSettings::without_store(usize::MAX)).dry_run(&request, &|| false);
    // Rounded for readability; a change of the scores still shows.
    let total: f32 = pruned.scores.iter().sum();
    let cuts: Vec<_> = pruned
        .annotations
        .iter()
        .map(|cut| format!("{}-{} {}", cut.original_start_line, cut.original_end_line, cut.reason))
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
        verdict(&code(), "how does cache_1 fill and clear the cache", TextKind::Code),
        verdict(
            &log(),
            "why was the database connection lost, and how long did poll 17 take",
            TextKind::Logs,
        ),
        verdict(&document(), "how are requests retried, retry", TextKind::Docs),
    ];
    let expected = [
        "skimmer-9; scores 98.95; 6-15 sans lien: widget_0; 37-49 sans lien: parser_2; 51-64 sans lien: socket_3; 66-79 sans lien: ledger_4; 81-94 sans lien: marker_5; 96-109 sans lien: thread_6; 111-124 sans lien: signal_7; 126-139 sans lien: widget_8; 156-169 sans lien: parser_10; 171-184 sans lien: socket_11; 186-199 sans lien: ledger_12; 201-214 sans lien: marker_13; 216-229 sans lien: thread_14; 231-244 sans lien: signal_15; 246-259 sans lien: widget_16; 276-289 sans lien: parser_18; 291-304 sans lien: socket_19; 306-319 sans lien: ledger_20; 321-334 sans lien: marker_21; 336-349 sans lien: thread_22; 351-364 sans lien: signal_23",
        "skimmer-9; scores 8.58; 2-17 répétitions: 16 lignes; 19-39 répétitions: 21 lignes; 45-60 répétitions: 16 lignes",
        "skimmer-9; scores 56.67; ",
    ];
    assert_eq!(verdicts, expected);
}
