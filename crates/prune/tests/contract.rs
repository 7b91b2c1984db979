//! The contract's safety rules on random texts: protected lines stay, whatever surrounds or decorates them.

use proptest::prelude::*;
use tamis_prune::{Cut, EngineRequest, PruneLimits, prune};
use tamis_text::{TextKind, strip_ansi_escapes};

/// Which lines stay when everything that may be cut is cut, with markers of almost no size.
fn kept(text: &str, kind: TextKind) -> Vec<bool> {
    let limits = PruneLimits {
        threshold: f32::INFINITY,
        max_prune_ratio: 1.0,
        min_keep_lines: 0,
        keep_first_lines: 0,
    };
    let marker_bytes = &|_: &Cut| 1;
    let request =
        EngineRequest { text, goal: "where is the socket closed", kind, limits, shown: &[], marker_bytes };
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

/// A log line, with or without an error, from a test runner or another program, with escape sequences that may be broken.
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

/// Python statements that are easily misread. None of them defines or imports anything.
#[rustfmt::skip]
const STATEMENTS: &[&str] = &[
    "value = step(value)", "name = 'it\\'s'", "mark = \"(\"", "tick = '`'", "#it's a `tick", "# don't", "ratio = a / b  # per '", "open_ = \"[{(\"",
    "call(\n        first,\n        \"a ) b\",\n    )", "table = {\n        'key': [1, 2],\n    }", "\"\"\"One line.\"\"\"", "\"\"\"Two\n    lines, isn't it.\n    \"\"\"",
    "text = '''\n    raw ` ( text\n    '''", "total = first + \\\n        second", "f'{name!r:>{width}}'", "value = x if x else y", "re.match(r'[(\"]', text)",
    "quote = '\"'", "for item in [1, 2]:\n        call(item)", "return {}", "path = a // b", "note = \"/* \"", "rest = b'\\x00'", "share = 100 * a / b",
];

/// Python code, and the same repeated until it is too large for the parser.
fn python() -> impl Strategy<Value = String> {
    const HEADS: &[&str] =
        &["def run_it(a, b):", "class Reader:", "async def load(self):", "@wrap\ndef run(\n    path,\n):"];
    let block = (one_of(HEADS), prop::collection::vec(one_of(STATEMENTS), 1..8));
    let import = one_of(&["import os", "from a import b", "import a.b as c", "from . import (\n    d,\n)"]);
    let part = prop_oneof![
        3 => block.prop_map(|(head, body)| format!("{head}\n    {}\n", body.join("\n    "))),
        1 => import.prop_map(|import| format!("{import}\n")),
    ];
    (prop::collection::vec(part, 1..12), any::<bool>(), any::<bool>()).prop_map(|(parts, crlf, large)| {
        let text = parts.join("\n");
        let text = if large { text.repeat(20_000 / text.len() + 1) } else { text };
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

/// A document's lines, and which of them are headings outside of code.
fn documents() -> impl Strategy<Value = Vec<(&'static str, bool)>> {
    let words = one_of(&[
        "some words of no use",
        "",
        "- item",
        "| a | b |",
        "```inline``` and more",
        "`code`",
        "#no heading",
    ])
    .prop_map(|line| vec![(line, false)]);
    let heading =
        one_of(&["# One", "## Two ##", "###### Six", "   # Indented"]).prop_map(|line| vec![(line, true)]);
    let inside = prop::collection::vec(one_of(&["# not a heading", "run it", "", "~~", "``"]), 0..5);
    let fence = (one_of(&["```", "~~~", "````", "```sh", "  ```"]), inside).prop_map(|(open, inside)| {
        let lines = std::iter::once(open).chain(inside).chain([open.trim_end_matches("sh")]);
        lines.map(|line| (line, false)).collect()
    });
    let parts = prop::collection::vec(prop_oneof![3 => words, 1 => heading, 1 => fence], 1..40);
    parts.prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn errors_stay_in_logs(lines in prop::collection::vec(log_lines(), 1..60), mark in one_of(&["", "→", "\t", "│", ": ", " | "]), gap in 0usize..80) {
        let text = if mark.is_empty() { lines.join("\n") } else { numbered(lines, mark, gap) };
        for (line, kept) in text.split('\n').zip(kept(&text, TextKind::Logs)) {
            let named = is_named_by_the_contract(line) || is_named_by_the_contract(&strip_ansi_escapes(line));
            prop_assert!(kept || !named, "{line:?} went");
        }
    }
}

proptest! {
    // Fewer cases: parsing is slow without optimisation.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn imports_classes_and_definitions_stay_in_code(text in python()) {
        for (line, kept) in text.split('\n').zip(kept(&text, TextKind::Code)) {
            let starts = ["import ", "from ", "class ", "def ", "async def "];
            let structural = starts.iter().any(|start| line.starts_with(start));
            prop_assert!(kept || !structural, "{line:?} went");
        }
    }

    #[test]
    fn headings_stay_in_documents(lines in documents(), end in one_of(&["", "\r"])) {
        let text: Vec<_> = lines.iter().map(|(line, _)| format!("{line}{end}")).collect();
        let kept = kept(&text.join("\n"), TextKind::Docs);
        for ((line, heading), kept) in lines.iter().zip(kept) {
            prop_assert!(kept || !heading, "{line:?} went");
        }
    }
}
