//! Speed of the engine on synthetic texts: `cargo bench -p tamis-prune`.

use std::fmt::Write;

use tamis_prune::{Cut, EngineRequest, PruneLimits, ShownMemory, prune};
use tamis_text::TextKind;

const GOAL: &str =
    "How does the parser recover when the input ends inside a string, and where is `report_error` called?";

fn main() {
    divan::main();
}

/// A source file of about that many lines, with a realistic mix of long and short lines.
fn source(lines: usize) -> String {
    let verbs =
        ["parse", "read", "write", "merge", "report", "collect", "resolve", "visit", "split", "recover"];
    let nouns =
        ["string", "error", "token", "input", "module", "symbol", "record", "buffer", "window", "cursor"];
    let mut text =
        String::from("//! A made-up module.\n\nuse std::collections::BTreeMap;\nuse std::fmt;\n\n");
    for number in 0.. {
        if tamis_text::line_count(&text) >= lines {
            break;
        }
        let (verb, noun) = (verbs[number % 10], nouns[number / 10 % 10]);
        let other = nouns[(number * 7 + 3) % 10];
        let _ = write!(
            text,
            "/// Does what it says with the {noun} and the {other}.\n\
             pub fn {verb}_{noun}_{number}(input: &str, {other}s: &mut Vec<usize>) -> Result<usize, fmt::Error> {{\n    \
                 let mut total = {number};\n    \
                 for (position, letter) in input.char_indices() {{\n        \
                     if letter == '\"' && {other}s.len() > position {{\n            \
                         total += {other}s[position].wrapping_mul({number});\n        \
                     }} else {{\n            \
                         {other}s.push(total + position);\n        \
                     }}\n    \
                 }}\n\n    \
                 let {noun}_names: BTreeMap<usize, String> = BTreeMap::new();\n    \
                 report_error(&{noun}_names, \"the {noun} ended inside the {other}\");\n    \
                 Ok(total)\n\
             }}\n\n"
        );
    }
    text
}

fn log(lines: usize) -> String {
    let mut text = String::new();
    for number in 0..lines {
        let level = if number % 97 == 0 { "ERROR" } else { "INFO" };
        let _ = writeln!(
            text,
            "2024-05-01T12:{:02}:{:02} {level} worker-{} handled request {number}",
            number / 60 % 60,
            number % 60,
            number % 8
        );
    }
    text
}

fn run(bencher: divan::Bencher<'_, '_>, text: &str, kind: TextKind) {
    let limits = PruneLimits { threshold: 0.5, max_prune_ratio: 1.0, min_keep_lines: 0, keep_first_lines: 0 };
    let marker_bytes = |_: &Cut| 100;
    bencher.bench(|| {
        prune(
            &EngineRequest { text, goal: GOAL, kind, limits, shown: &[], marker_bytes: &marker_bytes },
            &|| false,
        )
    });
}

#[divan::bench(args = [200, 2_000, 20_000])]
fn code(bencher: divan::Bencher<'_, '_>, lines: usize) {
    run(bencher, &source(lines), TextKind::Code);
}

#[divan::bench(args = [2_000, 200_000])]
fn logs(bencher: divan::Bencher<'_, '_>, lines: usize) {
    run(bencher, &log(lines), TextKind::Logs);
}

#[divan::bench]
fn kind_of_a_source_file(bencher: divan::Bencher<'_, '_>) {
    let text = source(2_000);
    bencher.bench(|| TextKind::detect(&text));
}

/// A session of 5 MB of tool results, of which the window's worth is searched for a text of 30,000 characters.
#[divan::bench]
fn what_was_shown_in_a_long_session(bencher: divan::Bencher<'_, '_>) {
    let results: Vec<String> =
        (0..500).map(|number| format!("{number}\n{}", &source(300)[..10_000])).collect();
    let text = source(1_000)[..30_000].to_owned();
    bencher.bench(|| {
        let mut memory = ShownMemory::new(50_000);
        for result in &results {
            memory.add("cat a.rs", result.as_str(), &[]);
        }
        memory.runs(&text)
    });
}
