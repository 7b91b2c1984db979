//! What the engine guarantees for any text, goal and limits.

use std::fmt::Write;

use proptest::prelude::*;
use tamis_prune::{
    Cut, CutCause, CutPlace, EngineError, EngineRequest, EngineVerdict, PlainText, PruneLimits, TextAnalysis,
    prune,
};
use tamis_text::{TextKind, split_lines};

fn marker_bytes(cut: &Cut) -> usize {
    let numbers = format!("{}{}{}", cut.first_line, cut.last_line, cut.last_line + 1 - cut.first_line);
    let reason = match &cut.reason.place {
        CutPlace::Definition(name) | CutPlace::Section(name) => name.len().min(40),
        CutPlace::Lines(_) | CutPlace::TopLevel | CutPlace::Shown(_) => 20,
        CutPlace::Omitted => 10,
    };
    70 + numbers.len() + reason
}

fn limits(threshold: f32) -> PruneLimits {
    PruneLimits { threshold, max_prune_ratio: 1.0, min_keep_lines: 0, keep_first_lines: 0 }
}

fn run(text: &str, goal: &str, kind: TextKind, limits: PruneLimits) -> Result<EngineVerdict, EngineError> {
    prune(&EngineRequest { text, goal, kind, limits, shown: &[], marker_bytes: &marker_bytes }, &|| false)
}

fn kept(text: &str, verdict: &EngineVerdict) -> Vec<bool> {
    let mut kept = vec![true; split_lines(text).len()];
    for cut in &verdict.cuts {
        kept[cut.first_line - 1..cut.last_line].fill(false);
    }
    kept
}

/// Checks everything that holds for any verdict.
fn check(text: &str, goal: &str, kind: TextKind, limits: PruneLimits) {
    let lines = split_lines(text);
    let verdict = match run(text, goal, kind, limits) {
        Ok(verdict) => verdict,
        Err(refusal) => {
            assert_eq!(refusal, EngineError::ConstraintsUnmet);
            assert!(limits.min_keep_lines > lines.len());
            return;
        }
    };
    assert_eq!(verdict.scores.len(), lines.len());
    assert!(verdict.scores.iter().all(|score| (0.0..=1.0).contains(score)), "{:?}", verdict.scores);
    let mut next = 1;
    let mut gone = 0;
    for cut in &verdict.cuts {
        assert!(cut.first_line >= next && cut.first_line <= cut.last_line && cut.last_line <= lines.len());
        next = cut.last_line + 2;
        gone += cut.last_line - cut.first_line + 1;
        let bytes: usize = lines[cut.first_line - 1..cut.last_line].iter().map(|line| line.len() + 1).sum();
        assert!(marker_bytes(cut) < bytes);
        match &cut.reason.place {
            CutPlace::Definition(name) | CutPlace::Section(name) => assert!(name.chars().count() <= 256),
            CutPlace::Lines(count) => assert_eq!(*count, cut.last_line - cut.first_line + 1),
            CutPlace::TopLevel | CutPlace::Omitted => {}
            CutPlace::Shown(_) => panic!("nothing was shown"),
        }
        let cut_lines =
            lines.iter().zip(&verdict.scores).enumerate().take(cut.last_line).skip(cut.first_line - 1);
        for (index, (line, score)) in cut_lines {
            // Blank and closing lines between two cuts go with them, whatever they score.
            let is_inside = index >= cut.first_line && index + 1 < cut.last_line;
            let is_filler =
                !line.contains(char::is_alphanumeric) || ["end", "fi", "done", "esac"].contains(&line.trim());
            assert!(*score < limits.threshold || is_inside && is_filler, "{line:?}");
        }
    }
    if gone > 0 {
        assert!(gone as f64 / lines.len() as f64 <= limits.max_prune_ratio);
        assert!(lines.len() - gone >= limits.min_keep_lines);
    }
    let kept = kept(text, &verdict);
    let view = PlainText::of(text);
    let analysis = TextAnalysis::read(&view, goal, kind, &|| false).expect("nothing interrupts");
    for (line, protected) in analysis.protected(limits.keep_first_lines).into_iter().enumerate() {
        assert!(kept[line] || !protected);
    }
    assert!(kept.iter().take(limits.keep_first_lines).all(|kept| *kept));
    if lines.last() == Some(&"") {
        assert_eq!(kept.last(), Some(&true));
    }
    assert_eq!(run(text, goal, kind, limits), Ok(verdict));
}

fn kinds() -> impl Strategy<Value = TextKind> {
    prop_oneof![Just(TextKind::Code), Just(TextKind::Logs), Just(TextKind::Docs)]
}

/// Lines that look like code, logs or documents, mixed with random ones.
fn texts() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        6 => prop::sample::select(vec![
            "", "}", "    }", "fn parse_yaml(input: &str) -> Value {", "def load(self, path):", "class Reader:", "import os", "use std::fmt;",
            "        return self.cache[path]", "    } else {", "    if input.is_empty() {", "# Heading", "## Install", "```sh", "```", "~~~",
            "2024-01-01 12:00:00 INFO request 12 handled", "2024-01-01 12:00:01 ERROR cannot open the file", "Traceback (most recent call last):",
            "  File \"a.py\", line 3, in run", "⟦NO_PRUNE_BEGIN⟧", "⟦NO_PRUNE_END⟧", "⟦PRUNÉ: prune_id=x lignes 1-2 (2) raison=y⟧", "[tamis 48-78: tests]",
            "a sentence of plain words that is long enough to be worth a marker of its own, one would think", "\tx := 1\r", "\u{feff}package main",
            "int main(int argc, char **argv)", "{", "Title", "=====", "\"\"\"", "/* open", "\0\0\0",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,120}",
        1 => "(?s-u:[ -~\t\r]{0,200})",
    ];
    prop::collection::vec(line, 0..80).prop_map(|lines| lines.join("\n"))
}

fn any_limits() -> impl Strategy<Value = PruneLimits> {
    let thresholds =
        prop_oneof![0.0f32..=1.0, Just(0.0), Just(1.0), Just(f32::NAN), Just(f32::INFINITY), Just(-1.0)];
    let ratios = prop_oneof![0.0f64..=1.0, Just(0.0), Just(1.0), Just(f64::NAN), Just(-0.5), Just(7.0)];
    (thresholds, ratios, 0usize..60, 0usize..20).prop_map(
        |(threshold, max_prune_ratio, min_keep_lines, keep_first_lines)| PruneLimits {
            threshold,
            max_prune_ratio,
            min_keep_lines,
            keep_first_lines,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_verdict_keeps_its_promises(text in texts(), goal in "\\PC{0,60}|parse yaml cache|load the reader's path", kind in kinds(), limits in any_limits()) {
        check(&text, &goal, kind, limits);
    }

    #[test]
    fn any_characters_at_all(text in any::<String>(), goal in any::<String>(), kind in kinds()) {
        check(&text, &goal, kind, limits(1.0));
        TextKind::detect(&text);
    }

    #[test]
    fn a_higher_threshold_keeps_no_more(text in texts(), kind in kinds(), low in 0.0f32..=1.0, high in 0.0f32..=1.0) {
        let (low, high) = if low <= high { (low, high) } else { (high, low) };
        // With markers of one size, only the scores decide.
        let constant = |_: &Cut| 60;
        let at = |threshold| {
            let request = EngineRequest { text: &text, goal: "parse the yaml file", kind, limits: limits(threshold), shown: &[], marker_bytes: &constant };
            kept(&text, &prune(&request, &|| false).expect("nothing interrupts"))
        };
        for (lower, higher) in at(low).into_iter().zip(at(high)) {
            prop_assert!(lower || !higher);
        }
    }
}

/// Joining cuts takes further lines, which count as well. Found by the fuzzer.
#[test]
fn the_limits_hold_where_cuts_are_joined() {
    let text = "//\u{e}\n {\n   som_t\n}\n\n pub() fn aly(f,input)h runing sum ord\nfn sum &f32 {\n     sum [.0f32 8];\n \u{e}\u{0}t(8\n   sum,sum)\n}\n\n///  v lines.\npub(s) n{\n  inpt.\n \u{fffd}L],\n l,\n}\n\nt \n    ///l o,input.\n    fn read(r>\n     le.fn TH);\n     le weig=\n     s array::from_fn(|l  i\n      }\n     }\n        }\n      Ok(Con\u{1}\u{0}\u{0}\u{0}\u{fffd} wei reader\n   }\n\n    \u{0}\u{0}\n se\n   ) ";
    let lines = split_lines(text).len();
    for step in 1..=40u8 {
        for most in 0..=lines {
            let max_prune_ratio = most as f64 / lines as f64;
            let limits = PruneLimits { max_prune_ratio, ..limits(f32::from(step) / 40.0) };
            let goal = "lSums run inputs ord";
            let request =
                EngineRequest { text, goal, kind: TextKind::Code, limits, marker_bytes: &|_| 40, shown: &[] };
            let verdict = prune(&request, &|| false).expect("a verdict");
            let cut: usize = verdict.cuts.iter().map(|cut| cut.last_line - cut.first_line + 1).sum();
            assert!(cut <= most, "{limits:?} {:?}", verdict.cuts);
        }
    }
}

#[test]
fn threshold_zero_cuts_nothing() {
    for kind in TextKind::ALL {
        assert_eq!(
            run(&"some words to cut\n".repeat(500), "parser", kind, limits(0.0)).expect("a verdict").cuts,
            []
        );
    }
}

#[test]
fn odd_texts_do_not_panic() {
    let long_line = "x".repeat(1_000_000);
    let deep: String = (0..2_000).fold(String::new(), |mut text, depth| {
        let _ = writeln!(text, "{}if x {{", " ".repeat(depth));
        text
    });
    let emoji = "👩‍👩‍👧‍👦 e\u{301}\u{301}\u{301} fn run() {\n".repeat(300);
    for text in [
        "",
        "\n",
        "\r\n\r\n",
        "\u{feff}",
        "\0",
        "a\rb\rc",
        "no newline at the end",
        &long_line,
        &deep,
        &emoji,
        &"{".repeat(50_000),
        &"(\n".repeat(20_000),
    ] {
        for kind in TextKind::ALL {
            check(text, "run x parse", kind, limits(1.0));
        }
    }
}

#[test]
fn a_huge_text_is_cut_in_linear_time() {
    let mut text = String::new();
    for number in 0..200_000 {
        let _ = writeln!(text, "    let value_{number} = compute(input_{}, {number});", number % 97);
    }
    for kind in TextKind::ALL {
        let limits = PruneLimits { max_prune_ratio: 0.55, ..limits(1.0) };
        let verdict = run(&text, "where is input_13 computed", kind, limits).expect("a verdict");
        assert_eq!(verdict.scores.len(), 200_001);
    }
    let goal = "why ".repeat(250_000);
    run("fn a() {\n    why();\n}\n", &goal, TextKind::Code, limits(0.5)).expect("a verdict");
}

#[test]
fn a_vague_goal_cuts_nearly_nothing() {
    let mut text = String::new();
    for number in 0..400 {
        let _ = writeln!(text, "    store.insert(\"name {number}\", compute_{}(alpha, beta));", number % 7);
    }
    for goal in ["", "please look at this", "quux zorglub"] {
        for kind in [TextKind::Code, TextKind::Docs] {
            assert_eq!(run(&text, goal, kind, limits(0.5)).expect("a verdict").cuts, [], "{goal} {kind:?}");
        }
    }
}

#[test]
fn in_logs_repetitions_are_cut_and_errors_stay() {
    let mut text = String::new();
    for number in 0..300 {
        let _ = writeln!(
            text,
            "2024-05-01 12:00:{:02} INFO worker {number} is waiting for its turn",
            number % 60
        );
        if number == 150 {
            text.push_str(
                "Exception in thread \"main\"\n\tat a.b.C.run(C.java:12)\n\tat a.b.D.main(D.java:3)\n",
            );
        }
    }
    let verdict = run(&text, "", TextKind::Logs, limits(0.5)).expect("a verdict");
    let kept = kept(&text, &verdict);
    assert!(kept.iter().filter(|kept| **kept).count() < 40, "{:?}", verdict.cuts);
    // The trace, and two lines on each side of where it starts.
    assert!(kept[149..=153].iter().all(|kept| *kept));
    assert!(verdict.cuts.iter().any(|cut| cut.reason.cause == CutCause::Repetitions), "{:?}", verdict.cuts);
}

#[test]
fn a_fence_is_kept_or_cut_as_a_whole() {
    let mut text = String::from("# Guide\n\n");
    for topic in ["Install", "Configure", "Retry", "Upgrade"] {
        let _ = write!(
            text,
            "## {topic}\n\nHow to do it, in a few words that say little of anything else.\n\n```sh\n"
        );
        for step in 0..12 {
            let _ =
                writeln!(text, "service {} --step {step} --with-some-longer-option", topic.to_lowercase());
        }
        text.push_str("```\n\n");
    }
    let lines = split_lines(&text);
    let fences: Vec<usize> = (0..lines.len()).filter(|&line| lines[line].starts_with("```")).collect();
    let mut some_went = false;
    for threshold in [0.5, 0.9, 1.0] {
        for most in [0.1, 0.3, 0.5, 0.8, 1.0] {
            let limits = PruneLimits { max_prune_ratio: most, ..limits(threshold) };
            let verdict = run(&text, "how is a request retried", TextKind::Docs, limits).expect("a verdict");
            let kept = kept(&text, &verdict);
            for fence in fences.chunks(2) {
                let inside = &kept[fence[0]..=fence[1]];
                assert!(
                    inside.iter().all(|kept| *kept == inside[0]),
                    "{threshold} {most} {:?}",
                    verdict.cuts
                );
                some_went |= !inside[0];
            }
        }
    }
    assert!(some_went);
}

#[test]
fn a_text_with_too_many_lines_is_refused() {
    let most = "\n".repeat(tamis_prune::MOST_LINES - 1);
    assert!(run(&most, "x", TextKind::Logs, limits(0.5)).is_ok());
    let more = format!("{most}\n");
    assert_eq!(run(&more, "x", TextKind::Logs, limits(0.5)), Err(EngineError::TooManyLines));
}

#[test]
fn an_interruption_ends_the_work() {
    let text = "fn run() {}\n".repeat(5_000);
    let request = EngineRequest {
        text: &text,
        goal: "run",
        kind: TextKind::Code,
        limits: limits(0.5),
        shown: &[],
        marker_bytes: &marker_bytes,
    };
    for patience in [0usize, 1, 5, 20] {
        let left = std::cell::Cell::new(patience);
        let interrupted = || left.replace(left.get().saturating_sub(1)) == 0;
        assert_eq!(prune(&request, &interrupted), Err(EngineError::Interrupted));
    }
}

#[test]
fn too_few_lines_are_refused() {
    let limits = PruneLimits { min_keep_lines: 4, ..limits(0.5) };
    assert_eq!(run("a\nb\n", "x", TextKind::Code, limits), Err(EngineError::ConstraintsUnmet));
}

#[test]
fn a_cut_is_called_repetitions_only_where_nearly_all_lines_resemble_others() {
    use tamis_prune::CutCause::Repetitions;
    // Lines of files that are named once each, between lines that repeat in every file.
    let file = |name: String| {
        format!(
            "diff --git a/{name}.ts b/{name}.ts\nindex 5fcd46f..4dd0a33 100644\n--- a/{name}.ts\n+++ b/{name}.ts\n@@ -1,5 +1,5 @@\n import x from \"y\";\n-const a0 = old0();\n+const a0 = new0();\n export default a0;\n"
        )
    };
    let word = |number: usize| ["alpha", "bravo", "canto", "delta", "gecko", "hotel", "india"][number % 7];
    let mut diff: String =
        (0..20).map(|number| file(format!("src/{}{}", word(number), word(number / 7)))).collect();
    diff.push_str(&file("src/wanted".to_owned()));
    let poll =
        |number: usize| format!("2026-01-01 00:00:{:02} poll {number} of the queue is done\n", number % 60);
    let log: String = (0..300).map(poll).collect();
    for (text, goal, repeats) in
        [(&diff, "what changed in src/wanted.ts", false), (&log, "why was the socket closed", true)]
    {
        let verdict = run(text, goal, TextKind::Logs, limits(0.5)).expect("a verdict");
        assert!(!verdict.cuts.is_empty(), "{goal}");
        for cut in verdict.cuts {
            assert_eq!(cut.reason.cause == Repetitions, repeats, "{goal}: {cut:?}");
        }
    }
}
