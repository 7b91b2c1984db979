//! The contract's rules of safety, held over texts made at random: what it names never goes, whatever dresses it up.

use proptest::prelude::*;
use tamis_prune::{Cut, Limits, Request, prune};
use tamis_text::{Kind, without_escapes};

/// Which lines stay when everything that may go does, for markers that cost nothing to speak of.
fn kept(text: &str, kind: Kind) -> Vec<bool> {
    let limits = Limits { threshold: 1.0, max_prune_ratio: 1.0, min_keep_lines: 0, keep_first_lines: 0 };
    let marker_bytes = &|_: &Cut| 1;
    let request = Request { text, goal: "where is the socket closed", kind, limits, marker_bytes };
    let verdict = prune(&request, &|| false).expect("nothing interrupts");
    let mut kept = vec![true; text.split('\n').count()];
    for cut in &verdict.cuts {
        kept[cut.first_line - 1..cut.last_line].fill(false);
    }
    kept
}

fn one_of(choices: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(choices)
}

/// A line of a log: trouble or none, in the words of a test runner or others, in colours that may be broken off.
fn log_lines() -> impl Strategy<Value = String> {
    let dress = || {
        one_of(&[
            "",
            "",
            "",
            "\u{1b}[31m",
            "\u{1b}[0m",
            "\u{1b}[",
            "\u{1b}[ ",
            "\u{1b}",
            "\u{1b}(",
            "\u{1b}]0;",
            "\u{1b}]8;;",
            "\u{1b}P",
            "\u{7}",
            "\u{1b}\\",
            "\u{9b}1m",
            "\u{feff}",
            "\r",
        ])
    };
    let start = one_of(&[
        "",
        "ok 3 - ",
        "✓ ",
        "PASS ",
        "--- PASS: ",
        "Compiling ",
        "  ",
        "FAILED ",
        "====== ",
        "12 | ",
        "at ",
        "2024-05-01 12:00:00 INFO ",
    ]);
    let word = one_of(&[
        "error",
        "ERROR",
        "Exception",
        "traceback",
        "IOException:",
        "Errors",
        "er\u{1b}[1mror",
        "all",
        "is",
        "well enough here",
        "ſerror",
    ]);
    let end = one_of(&[
        "",
        " ... ok",
        " PASSED [ 12%]",
        " Passed   0.01 sec",
        " ... FAILED",
        "\r",
        "\u{1b}",
        " = 1",
    ]);
    (dress(), start, dress(), word, dress(), end, dress())
        .prop_map(|(a, b, c, d, e, f, g)| format!("{a}{b}{c}{d}{e}{f}{g}"))
}

fn is_named_by_the_contract(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["error", "exception", "traceback"].iter().any(|word| line.contains(word))
}

fn numbered(lines: Vec<String>, mark: &str, gap: usize) -> String {
    let number = |line: usize| if line < gap { line + 1 } else { line + 40 };
    let lines: Vec<_> =
        lines.iter().enumerate().map(|(line, text)| format!("{:>5}{mark}{text}", number(line))).collect();
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn trouble_stays_in_logs(lines in prop::collection::vec(log_lines(), 1..60), mark in one_of(&["", "→", "\t", "│", ": ", " | "]), gap in 0usize..80) {
        let text = if mark.is_empty() { lines.join("\n") } else { numbered(lines, mark, gap) };
        for (line, kept) in text.split('\n').zip(kept(&text, Kind::Logs)) {
            let named = is_named_by_the_contract(line) || is_named_by_the_contract(&without_escapes(line));
            prop_assert!(kept || !named, "{line:?} went");
        }
    }
}
