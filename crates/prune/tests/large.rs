//! Large texts: the same answer however the bytes arrive, and nothing lost that must stay.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use proptest::prelude::*;
use tamis_prune::{Cut, LargeSurvey, LargeVerdict, PruneLimits};

fn limits(threshold: f32) -> PruneLimits {
    PruneLimits { threshold, max_prune_ratio: 1.0, min_keep_lines: 0, keep_first_lines: 0 }
}

/// Prunes a text that comes in pieces of these sizes, again and again.
fn prune_in_pieces(text: &str, goal: &str, limits: PruneLimits, sizes: &[usize]) -> LargeVerdict {
    let pieces = || {
        let mut rest = text.as_bytes();
        let mut sizes = sizes.iter().copied().cycle();
        std::iter::from_fn(move || {
            let (piece, others) =
                rest.split_at(sizes.next().unwrap_or(usize::MAX).clamp(1, rest.len().max(1)).min(rest.len()));
            rest = others;
            (!piece.is_empty()).then_some(piece)
        })
    };
    let mut survey = LargeSurvey::new(goal);
    pieces().for_each(|piece| survey.read(piece));
    let mut selector = survey.finish(limits, |_: &Cut| 110);
    pieces().for_each(|piece| selector.read(piece, &|| false).unwrap());
    selector.finish(&|| false).unwrap()
}

fn prune(text: &str, goal: &str, limits: PruneLimits) -> LargeVerdict {
    prune_in_pieces(text, goal, limits, &[usize::MAX])
}

/// The numbers of the lines that stay.
fn kept(verdict: &LargeVerdict) -> Vec<usize> {
    let mut cuts = verdict.cuts.iter().peekable();
    (1..=verdict.lines)
        .filter(|line| {
            cuts.next_if(|cut| cut.last_line < *line);
            cuts.peek().is_none_or(|cut| *line < cut.first_line)
        })
        .collect()
}

/// A log of many lines of a few templates, and what is put into it.
fn log(lines: usize, others: &[(usize, &str)]) -> String {
    let mut text = String::new();
    let mut others = others.iter().peekable();
    for number in 1..=lines {
        match others.next_if(|(at, _)| *at == number) {
            Some((_, line)) => text.push_str(line),
            None => {
                let service = ["orders", "billing", "search", "cache"][number % 4];
                text.push_str(&format!(
                    "2026-03-02T09:{:02}:{:02}Z INFO {service} handled request {number} in {} ms",
                    number / 60 % 60,
                    number % 60,
                    number * 7 % 90
                ));
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn what_a_reader_must_not_miss_stays_and_the_rest_goes() {
    let others = [
        (20_000, "2026-03-02T09:00:00Z WARN orders order 8812 waits for the gateway"),
        (50_000, "java.io.IOException: connection reset"),
        (50_001, "    at shop.Payment.charge(Payment.java:42)"),
        (50_002, "    at shop.Worker.run(Worker.java:17)"),
        (90_000, "10.0.0.1 - - [02/Mar/2026] \"GET /a HTTP/1.1\" 502 17"),
        (120_000, "⟦NO_PRUNE_BEGIN⟧"),
        (120_004, "⟦NO_PRUNE_END⟧"),
        (150_000, "[tamis cut 6-44: repeats; restore: recover_text or tamis recover prn_a 6-44]"),
        (180_000, "2026-03-02T09:00:00Z INFO cache handled request 180000 in 98765 ms"),
        (200_000, "the disk is nearly full"),
        (240_000, "worker 3 FAILED to start"),
    ];
    let text = log(300_000, &others);
    let verdict = prune(&text, "why did order 8812 wait", limits(0.5));
    assert_eq!(verdict.lines, 300_001);
    let kept = kept(&verdict);
    for (line, text) in others {
        assert!(kept.contains(&line), "{text}");
    }
    for inside in 120_001..120_004 {
        assert!(kept.contains(&inside), "between directives");
    }
    for context in [49_998, 49_999, 50_003, 50_004] {
        assert!(kept.contains(&context), "around an error: {context}");
    }
    assert!(kept.contains(&300_001), "the empty line after the last newline");
    assert!(kept.len() < 300, "{}", kept.len());
}

#[test]
fn lines_of_the_time_and_of_the_names_that_the_goal_mentions_stay() {
    // Between 9:00:00 and 9:59:59, again and again.
    let text = log(60_000, &[]);
    let expected = |is_wanted: fn(usize, &str) -> bool| -> Vec<usize> {
        text.lines().enumerate().filter(|(at, line)| is_wanted(at + 1, line)).map(|(at, _)| at + 1).collect()
    };
    for (goal, wanted) in [
        (
            "what happened between 9:12 and 9:13",
            expected(|_, line| line.contains("T09:12:") || line.contains("T09:13:")),
        ),
        ("the last ten seconds", expected(|line, _| line > 60_000 - 10)),
        ("what did request 17017 do", expected(|line, _| line == 17_017)),
        // Too many lines are of that time.
        ("what did request 17017 do between 9:12 and 9:14", expected(|line, _| line == 17_017)),
        ("which requests took 84 ms", expected(|_, line| line.contains(" 84 ms"))),
    ] {
        let kept = kept(&prune(&text, goal, limits(0.5)));
        let lost: Vec<_> = wanted.iter().filter(|line| !kept.contains(line)).collect();
        assert!(!wanted.is_empty() && lost.is_empty(), "{goal}: lost {lost:?} of {}", wanted.len());
        assert!(kept.len() < wanted.len() + 1_000, "{goal}: {} of {} stay", kept.len(), wanted.len());
    }
}

#[test]
fn a_goal_that_excludes_or_whose_time_is_not_read_cuts_nothing() {
    let text = log(20_000, &[(7_000, "2026-03-02T09:00:00Z INFO session s-10044 opened")]);
    for goal in [
        "show everything except between 09:10 and 09:20",
        "everything but s-10044",
        "what happened after s-10044 was opened",
        "show everything up to 09:30",
    ] {
        assert_eq!(prune(&text, goal, limits(0.5)).cuts, [], "{goal}");
    }
    // Failures are found without names and times.
    assert_ne!(prune(&text, "why did it not start up to 09:30", limits(0.5)).cuts, []);
}

#[test]
fn extreme_numbers_stay_for_a_goal_that_compares() {
    let mut text = String::new();
    for number in 0..50_000u32 {
        // No number is an outlier.
        let took = number.wrapping_mul(2_654_435_761) % 9_000;
        text.push_str(&format!("2026-03-02T09:00:00Z INFO answered order-{number} in {took}ms\n"));
    }
    let took =
        |line: &str| -> u32 { line.rsplit(' ').next().unwrap().trim_end_matches("ms").parse().unwrap() };
    let lines: Vec<&str> = text.lines().collect();
    for (goal, extreme) in [
        ("which order took the longest?", lines.iter().map(|line| took(line)).max().unwrap()),
        ("what is the lowest time", lines.iter().map(|line| took(line)).min().unwrap()),
    ] {
        let kept = kept(&prune(&text, goal, limits(0.5)));
        let wanted = (1..=lines.len()).filter(|line| took(lines[line - 1]) == extreme);
        assert!(wanted.clone().count() > 0 && wanted.clone().all(|line| kept.contains(&line)), "{goal}");
        assert!(kept.len() < 1_000, "{goal}: {} stay", kept.len());
    }
}

#[test]
fn nothing_is_cut_on_a_guess_or_at_a_threshold_of_zero() {
    // Lines that all differ, and a goal of which no word is there.
    let word = |number: usize| -> String {
        number.to_string().bytes().map(|digit| char::from(b'g' + digit - b'0')).collect()
    };
    let text: String = (0..3000)
        .map(|number| format!("{} met {} at the sea\n", word(number * 7919), word(number)))
        .collect();
    assert_eq!(prune(&text, "why is the quota exceeded", limits(0.5)).cuts, []);
    assert_ne!(prune(&text, &format!("who is {}", word(7919)), limits(0.5)).cuts, []);
    assert_eq!(prune(&log(3000, &[]), "request", limits(0.0)).cuts, []);
}

#[test]
fn limits_hold() {
    let text = log(5000, &[(2000, "an error"), (3000, "an error")]);
    for (most, keep, first) in [(0.3, 0, 0), (1.0, 4900, 0), (1.0, 0, 100), (0.0, 0, 0)] {
        let limits = PruneLimits {
            threshold: 0.5,
            max_prune_ratio: most,
            min_keep_lines: keep,
            keep_first_lines: first,
        };
        let verdict = prune(&text, "error", limits);
        let cut: usize = verdict.cuts.iter().map(|cut| cut.last_line - cut.first_line + 1).sum();
        assert!(
            cut as f64 <= most * verdict.lines as f64 && verdict.lines - cut >= keep,
            "{most} {keep}: {cut}"
        );
        assert!(verdict.cuts.iter().all(|cut| cut.first_line > first));
    }
}

#[test]
fn a_line_of_any_length_is_read_in_parts() {
    let long = |end: &str| format!("{}{end}\n", "x y ".repeat(100_000));
    let lines = log(2000, &[]);
    for (end, stays) in [("fatal Error", true), ("quota 4711", true)] {
        let text = format!("{lines}{}{lines}", long(end));
        assert_eq!(kept(&prune(&text, "quota 4711", limits(0.5))).contains(&2001), stays, "{end}");
    }
    let single = "lorem ipsum ".repeat(2_000_000);
    assert_eq!(prune(&single, "ipsum", limits(0.5)).lines, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_answer_does_not_depend_on_how_the_bytes_arrive(
        lines in prop::collection::vec(prop_oneof![
            6 => (0u32..50).prop_map(|n| format!("2026-01-01 INFO poll {n} of queue orders took {n} ms")),
            1 => Just(String::new()),
            1 => Just("ERROR worker 7 lost its connection".to_owned()),
            1 => Just("\u{1b}[31mred\u{1b}[0m é🦀 line\r".to_owned()),
            1 => "[ -~]{0,200}",
            1 => (60_000usize..140_000).prop_map(|n| "ab ".repeat(n / 3)),
        ], 1..200),
        sizes in prop::collection::vec(prop_oneof![1usize..50, 1000usize..100_000], 1..8),
    ) {
        let text = lines.join("\n");
        let whole = prune(&text, "when was the connection lost", limits(0.5));
        prop_assert_eq!(whole.lines, lines.len());
        prop_assert_eq!(prune_in_pieces(&text, "when was the connection lost", limits(0.5), &sizes), whole);
    }
}
