//! The memory of what a session was shown: what it may report, and what it must never report.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use proptest::prelude::*;
use tamis_prune::{LEAST_SHOWN_LINES, SentPrompt, ShownMemory, ShownPlace, ShownRun};

fn numbered(numbers: impl Iterator<Item = usize>) -> String {
    numbers.map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n")
}

fn run(first_line: usize, last_line: usize, label: &str, ago: usize, first: usize) -> ShownRun {
    let place = ShownPlace { label: label.to_owned(), ago, first_line: first, is_written: false };
    ShownRun { first_line, last_line, place }
}

#[test]
fn an_overlapping_read_is_found_with_its_place() {
    let mut memory = ShownMemory::new(50_000);
    memory.add("sed -n 1,40p a.rs", numbered(1..41), &[]);
    memory.add("ls", "a.rs\nb.rs", &[]);
    assert_eq!(memory.runs(&numbered(31..61)), [run(1, 10, "sed -n 1,40p a.rs", 2, 31)]);
    assert_eq!(memory.runs(&numbered(36..61)), [], "five lines are not a run");
    assert_eq!(memory.runs(&numbered(35..61)), [run(1, 6, "sed -n 1,40p a.rs", 2, 35)]);
    assert_eq!(memory.runs(""), []);
    assert_eq!(ShownMemory::new(50_000).runs(&numbered(1..41)), []);
}

#[test]
fn the_longest_run_counts_and_then_the_latest() {
    let mut memory = ShownMemory::new(50_000);
    memory.add("whole", numbered(1..101), &[]);
    memory.add("part", numbered(11..31), &[]);
    assert_eq!(memory.runs(&numbered(11..31)), [run(1, 20, "part", 1, 1)]);
    assert_eq!(memory.runs(&numbered(11..51)), [run(1, 40, "whole", 2, 11)]);
}

#[test]
fn one_text_may_have_runs_of_several_places() {
    let mut memory = ShownMemory::new(50_000);
    memory.add("first", numbered(1..21), &[]);
    memory.add("second", numbered(30..51), &[]);
    let text = format!("{}\nnew\n{}", numbered(5..15), numbered(30..40));
    assert_eq!(memory.runs(&text), [run(1, 10, "first", 2, 5), run(12, 21, "second", 1, 1)]);
}

#[test]
fn compaction_forgets() {
    let mut memory = ShownMemory::new(50_000);
    memory.add("before", numbered(1..41), &[]);
    memory.forget();
    assert_eq!(memory.runs(&numbered(1..41)), []);
    memory.add("after", numbered(1..41), &[]);
    assert_eq!(memory.runs(&numbered(1..41)), [run(1, 40, "after", 1, 1)]);
}

#[test]
fn what_was_cut_was_not_shown() {
    let mut memory = ShownMemory::new(50_000);
    memory.add("cut", numbered(1..41), &[(8, 12), (30, 40)]);
    let all = memory.runs(&numbered(1..41));
    assert_eq!(all, [run(1, 7, "cut", 1, 1), run(13, 29, "cut", 1, 13)]);
    // A run does not go on over a cut, even where the text has the lines on both sides of it.
    let without = format!("{}\n{}", numbered(3..8), numbered(13..18));
    assert_eq!(memory.runs(&without), []);
}

/// The same run in a text that the agent wrote.
fn written(run: ShownRun) -> ShownRun {
    ShownRun { place: ShownPlace { is_written: true, ..run.place }, ..run }
}

#[test]
fn what_the_agent_wrote_was_shown_too() {
    let mut memory = ShownMemory::new(50_000);
    memory.add_call([("a.rs".to_owned(), numbered(1..41))]);
    assert_eq!(memory.runs(&numbered(1..41)), [written(run(1, 40, "a.rs", 1, 1))], "before its result");
    memory.add("a.rs", "The file was written.", &[]);
    memory.add_call([]);
    assert_eq!(memory.runs(&numbered(31..61)), [written(run(1, 10, "a.rs", 1, 31))]);
    // An edit in the middle of a file that was read: the lines before and after it, and those of the edit.
    let mut memory = ShownMemory::new(50_000);
    memory.add("a.rs", numbered(1..61), &[]);
    memory.add_call([("a.rs".to_owned(), numbered(100..110))]);
    memory.add("a.rs", "The file was changed.", &[]);
    memory.add_call([]);
    let text = [numbered(1..21), numbered(100..110), numbered(30..61)].join("\n");
    let expected = [run(1, 20, "a.rs", 2, 1), written(run(21, 30, "a.rs", 1, 1)), run(31, 61, "a.rs", 2, 30)];
    assert_eq!(memory.runs(&text), expected);
    // Of two places, the latest counts.
    memory.add("cat a.rs", text.as_str(), &[]);
    assert_eq!(memory.runs(&text), [run(1, 61, "cat a.rs", 1, 1)]);
    memory.forget();
    assert_eq!(memory.runs(&text), []);
}

#[test]
fn what_was_written_is_not_cleared_with_results() {
    let (old, small) = (numbered(1..41), numbered(100..110));
    let held = |window: usize, calls: usize| {
        let mut memory = ShownMemory::new(window).with_clearing(2, 0);
        memory.add_call([("old".to_owned(), old.clone())]);
        memory.add("old", "done", &[]);
        for _ in 0..calls {
            memory.add_call([("small".to_owned(), small.clone())]);
            memory.add("small", small.as_str(), &[]);
        }
        memory.runs(&old)
    };
    assert_eq!(held(50_000, 9), [written(run(1, 40, "old", 9, 1))]);
    assert_eq!(held((old.len() + 1 + small.len() + 1).div_ceil(4), 1), [written(run(1, 40, "old", 1, 1))]);
    assert_eq!(held((small.len() + 1).div_ceil(4), 1), [], "out of the window");
}

#[test]
fn what_is_out_of_the_window_is_not_reported() {
    let tokens = |text: &str| text.len().div_ceil(4);
    let (old, new) = (numbered(1..41), numbered(100..301));
    for (spare, expected) in [(tokens(&old) + 8, vec![run(1, 40, "old", 2, 1)]), (0, vec![])] {
        let mut memory = ShownMemory::new(tokens(&new) + spare);
        memory.add("old", old.as_str(), &[]);
        memory.add("new", new.as_str(), &[]);
        assert_eq!(memory.runs(&old), expected, "{spare}");
    }
    // Of a result that is larger than the window, the end counts, under its own line numbers.
    let mut memory = ShownMemory::new(50);
    memory.add("large", numbered(1..1001), &[(995, 996)]);
    assert_eq!(memory.runs(&numbered(1..1001)), [run(977, 994, "large", 1, 977)]);
}

#[test]
fn what_a_client_may_have_cleared_is_not_reported() {
    let (old, small) = (numbered(1..41), numbered(100..110));
    let tokens = |texts: &[&str]| texts.iter().map(|text| (text.len() + 1).div_ceil(4)).sum::<usize>();
    let results_held = |least_cleared_tokens: usize, window: usize| {
        let mut memory = ShownMemory::new(window).with_clearing(2, least_cleared_tokens);
        memory.add("old", old.as_str(), &[]);
        let held = |memory: &ShownMemory| !memory.runs(&old).is_empty();
        let mut results = 0;
        while held(&memory) && results < 9 {
            memory.add("small", small.as_str(), &[]);
            results += 1;
        }
        results
    };
    assert_eq!(results_held(0, 50_000), 1, "only the latest two, of which the new one is one");
    assert_eq!(results_held(tokens(&[&old]) + 1, 50_000), 2, "the next one can be cleared with it");
    assert_eq!(results_held(tokens(&[&old, &small, &small]) + 1, 50_000), 4);
    assert_eq!(results_held(usize::MAX, 50_000), 9);
    // What left the window counts too.
    let mut memory = ShownMemory::new(tokens(&[&old, &small])).with_clearing(2, tokens(&[&old]) - 1);
    memory.add("large", numbered(300..500), &[]);
    memory.add("old", old.as_str(), &[]);
    assert_eq!(memory.runs(&old), [run(1, 40, "old", 1, 1)]);
    // Two results of parallel calls are the latest two.
    assert_eq!(memory.runs_among(&old, 2), []);
    memory.add("small", "done", &[]);
    assert_eq!(memory.runs(&old), []);
    // A compaction begins anew.
    let mut memory = ShownMemory::new(50_000).with_clearing(2, tokens(&[&old]));
    (0..4).for_each(|_| memory.add("old", old.as_str(), &[]));
    memory.forget();
    memory.add("small", small.as_str(), &[]);
    (0..3).for_each(|_| memory.add("done", "done", &[]));
    assert_eq!(memory.runs(&small), [run(1, 10, "small", 4, 1)], "too little to be cleared");
}

fn prompt(tokens: u64, cached_tokens: u64) -> SentPrompt<'static> {
    SentPrompt { tokens, cached_tokens, model: "m" }
}

#[test]
fn a_cached_prompt_confirms_the_results_in_it() {
    let (old, small) = (numbered(1..41), numbered(100..110));
    let confirmed = [run(1, 40, "old", 10, 1)];
    let other_model = |tokens: u64, cached: u64| SentPrompt { model: "n", ..prompt(tokens, cached) };
    // Requests before and after the other results, of which the latest two are kept.
    for (what, before, after, expected) in [
        ("not reported", vec![], vec![], vec![]),
        ("sent once", vec![prompt(1_000, 0)], vec![], vec![]),
        ("cached behind it", vec![prompt(1_000, 0)], vec![prompt(1_400, 1_000)], confirmed.to_vec()),
        ("cached at once", vec![prompt(1_000, 0), prompt(1_100, 1_000)], vec![], confirmed.to_vec()),
        ("but for its last tokens", vec![prompt(1_000, 0)], vec![prompt(1_400, 990)], confirmed.to_vec()),
        ("cached up to some place in it", vec![prompt(1_000, 0)], vec![prompt(1_400, 900)], vec![]),
        (
            "cached each time",
            vec![prompt(1_000, 0)],
            vec![prompt(1_400, 1_000), prompt(9_000, 1_400)],
            confirmed.to_vec(),
        ),
        (
            "not cached while it was one of the latest",
            vec![prompt(1_000, 0), prompt(1_100, 0)],
            vec![prompt(1_500, 1_100)],
            confirmed.to_vec(),
        ),
        (
            "not cached later",
            vec![prompt(1_000, 0), prompt(1_100, 1_000)],
            vec![prompt(1_500, 0), prompt(9_000, 1_500)],
            vec![],
        ),
        (
            "cleared, and the rest grew again",
            vec![prompt(1_000, 0), prompt(1_400, 1_000)],
            vec![prompt(900, 300), prompt(2_000, 1_300)],
            vec![],
        ),
        (
            "shorter, although it was cached",
            vec![prompt(1_000, 0), prompt(9_000, 1_000)],
            vec![prompt(1_400, 1_000)],
            vec![],
        ),
        (
            "hardly longer, although results were added",
            vec![prompt(1_000, 0), prompt(9_000, 1_000)],
            vec![prompt(9_020, 9_000)],
            vec![],
        ),
        ("by another model", vec![prompt(1_000, 0)], vec![other_model(1_400, 1_000)], vec![]),
        ("unknown sizes", vec![prompt(0, 0)], vec![prompt(0, 0)], vec![]),
        (
            "an unknown size in between",
            vec![prompt(1_000, 0)],
            vec![prompt(0, 0), prompt(2_000, 1_800)],
            vec![],
        ),
        ("nothing cached of a few tokens", vec![prompt(10, 0)], vec![prompt(100, 0)], vec![]),
        (
            "cached by a request that the log lacks",
            vec![prompt(1_000, 0)],
            vec![prompt(5_000, 1_000), prompt(6_000, 3_000)],
            vec![],
        ),
        ("nearly full", vec![prompt(1_000, 0)], vec![prompt(149_999, 1_000)], confirmed.to_vec()),
        ("the next prompt may be too long", vec![prompt(1_000, 0)], vec![prompt(150_000, 1_000)], vec![]),
    ] {
        let mut memory = ShownMemory::new(50_000).with_clearing(2, 0);
        memory.add("old", old.as_str(), &[]);
        before.iter().for_each(|request| memory.add_request(*request));
        (0..9).for_each(|_| memory.add("small", small.as_str(), &[]));
        after.iter().for_each(|request| memory.add_request(*request));
        assert_eq!(memory.runs(&old), expected, "{what}");
    }
    // Requests before a result confirm nothing about it, and a compaction begins anew.
    let mut memory = ShownMemory::new(50_000).with_clearing(2, 0);
    memory.add_request(prompt(5_000, 4_000));
    memory.add("old", old.as_str(), &[]);
    memory.add_request(prompt(6_000, 5_000));
    (0..9).for_each(|_| memory.add("small", small.as_str(), &[]));
    assert_eq!(memory.runs(&old), []);
    memory.add_request(prompt(7_000, 6_000));
    assert_eq!(memory.runs(&old), confirmed);
    memory.forget();
    assert_eq!(memory.runs(&old), []);
    // After a long pause, the client may clear what it does not keep.
    let mut memory = ShownMemory::new(50_000).with_clearing(2, 100_000);
    memory.add("old", old.as_str(), &[]);
    memory.add_request(prompt(1_000, 0));
    (0..9).for_each(|_| memory.add("small", small.as_str(), &[]));
    memory.add_request(prompt(1_400, 1_000));
    assert_eq!(memory.runs(&old), confirmed);
    memory.may_be_cleared();
    assert_eq!(memory.runs(&old), []);
    // What is out of the window does not count, however certain.
    let mut memory = ShownMemory::new(small.len().div_ceil(4)).with_clearing(2, 0);
    memory.add("old", old.as_str(), &[]);
    memory.add_request(prompt(1_000, 0));
    memory.add_request(prompt(1_400, 1_000));
    memory.add("small", small.as_str(), &[]);
    assert_eq!(memory.runs(&old), []);
}

#[test]
fn blank_lines_and_braces_are_no_run_by_themselves() {
    let mut memory = ShownMemory::new(50_000);
    let braces = "}\n\n    }\n}\n\n}\n)\n;\n\n}\n";
    memory.add("braces", braces, &[]);
    memory.add("code", format!("fn a() {{\n    b();\n    c();\n{braces}"), &[]);
    assert_eq!(memory.runs(braces), []);
    // Beside words they belong to the run, on both sides.
    let text = format!("x\n}}\n\nlet a;\nlet b;\nlet c;\nlet d;\n{braces}y");
    memory.add("both", text.replace('x', "w").replace('y', "z"), &[]);
    assert_eq!(memory.runs(&text), [run(2, 17, "both", 1, 2)]);
}

/// Few different lines, so that runs are common; some without words.
fn a_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![4 => (0..6u8).prop_map(|word| format!("w{word}")), 1 => Just(String::new()), 1 => Just("}".to_owned())];
    prop::collection::vec(line, 0..60).prop_map(|lines| lines.join("\n"))
}

/// A result with the lines that were cut from it.
type CutResult = (String, Vec<(usize, usize)>);

/// Results, a text whose parts come from them, and a window.
fn a_session() -> impl Strategy<Value = (Vec<CutResult>, String, usize)> {
    let cuts = prop::collection::vec((1..60usize, 0..8usize), 0..3).prop_map(|mut cuts| {
        cuts.sort_unstable();
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for (first, more) in cuts {
            if ranges.last().is_none_or(|(_, last)| first > last + 1) {
                ranges.push((first, first + more));
            }
        }
        ranges
    });
    let results = prop::collection::vec((a_text(), cuts), 1..5);
    (
        results,
        a_text(),
        prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..40usize), 0..4),
        1..400usize,
    )
        .prop_map(|(results, mut text, parts, window)| {
            for (of, from, length) in parts {
                let lines: Vec<&str> = results[of.index(results.len())].0.split('\n').collect();
                let from = from.index(lines.len());
                text.push('\n');
                text.push_str(&lines[from..(from + length).min(lines.len())].join("\n"));
            }
            (results, text, window)
        })
}

/// Every line that was shown in the window, as (result, line number, text).
fn shown_in_window(results: &[CutResult], window: usize) -> Vec<(usize, usize, String)> {
    let mut shown = Vec::new();
    let mut bytes = 0;
    for (result, (text, cuts)) in results.iter().enumerate().rev() {
        for (index, line) in text.split('\n').enumerate().collect::<Vec<_>>().into_iter().rev() {
            if cuts.iter().any(|(first, last)| (*first..=*last).contains(&(index + 1))) {
                continue;
            }
            bytes += line.len() + 1;
            if bytes <= window * 4 {
                shown.push((result, index + 1, line.to_owned()));
            }
        }
    }
    shown
}

/// New results of a conversation, as their numbers of lines, and the request that sends them.
#[derive(Clone, Debug)]
struct Turn {
    results: Vec<usize>,
    /// The first request was interrupted, so the log lacks it, and the person wrote something.
    is_repeated: bool,
    is_cache_lost: bool,
}

fn a_conversation() -> impl Strategy<Value = Vec<Turn>> {
    let turn =
        (prop::collection::vec(7..40usize, 1..4), 0..6u8, 0..8u8).prop_map(|(results, lost, repeated)| {
            Turn { results, is_repeated: repeated == 0, is_cache_lost: lost == 0 }
        });
    prop::collection::vec(turn, 1..40)
}

/// The tokens that two prompts have in common at the beginning. Each message is its text and its tokens.
fn common_tokens(one: &[(String, u64)], other: &[(String, u64)]) -> u64 {
    one.iter().zip(other).take_while(|(one, other)| one == other).map(|((_, tokens), _)| tokens).sum()
}

proptest! {
    /// A client that clears all but the latest two results when a prompt would have over 200,000 tokens, and a provider that
    /// caches prompts. What is reported of a new result must be in the prompt that it is sent with.
    #[test]
    fn a_cleared_result_is_never_reported(conversation in a_conversation()) {
        let mut memory = ShownMemory::new(usize::MAX).with_clearing(2, 0);
        let mut messages: Vec<(String, u64)> = vec![("system".to_owned(), 400)];
        let mut results: Vec<(usize, String)> = Vec::new();
        let mut cached: Vec<Vec<(String, u64)>> = Vec::new();
        for Turn { results: new, is_repeated, is_cache_lost } in conversation {
            let count = results.len();
            let is_reported = |(_, text): &(usize, String)| !memory.runs_among(text, new.len()).is_empty();
            let reported: Vec<bool> = results.iter().map(is_reported).collect();
            for lines in &new {
                let number = results.len();
                let text: Vec<String> =
                    (0..*lines).map(|line| format!("result {number} has line {line}")).collect();
                let text = text.join("\n");
                memory.add(number.to_string(), text.as_str(), &[]);
                messages.push(("call".to_owned(), 30));
                results.push((messages.len(), text.clone()));
                // Whole thousands, so that what is cleared has never the size of what is new.
                messages.push((text, 1_000 * (*lines as u64 / 3)));
            }
            let tokens = |messages: &[(String, u64)]| messages.iter().map(|(_, tokens)| tokens).sum::<u64>();
            let send = |messages: &mut Vec<(String, u64)>| {
                if tokens(messages) > 200_000 {
                    for (at, _) in results.iter().rev().skip(2) {
                        messages[*at] = ("cleared".to_owned(), 6);
                    }
                }
            };
            if is_repeated {
                send(&mut messages);
                cached.push(messages.clone());
                messages.push(("go on".to_owned(), 4_000));
            }
            send(&mut messages);
            if is_cache_lost {
                cached.clear();
            }
            let hit = cached.iter().map(|before| common_tokens(before, &messages)).max().unwrap_or(0);
            memory.add_request(prompt(tokens(&messages), hit));
            cached.push(messages.clone());
            for (number, (at, text)) in results[..count].iter().enumerate() {
                prop_assert!(!reported[number] || messages[*at].0 == *text, "result {number} was cleared");
                let is_kept = number + 2 >= results.len();
                prop_assert!(reported[number] || !is_kept, "result {number} is one of the latest");
            }
        }
    }

    #[test]
    fn only_what_was_shown_word_for_word_is_reported(session in a_session()) {
        let (results, text, window) = session;
        let mut memory = ShownMemory::new(window);
        for (index, (text, cuts)) in results.iter().enumerate() {
            memory.add(index.to_string(), text.as_str(), cuts);
        }
        let shown = shown_in_window(&results, window);
        let was_shown = |result: usize, number: usize, line: &str| {
            shown.iter().any(|(of, at, text)| (*of, *at, text.as_str()) == (result, number, line))
        };
        let lines: Vec<&str> = text.split('\n').collect();
        let runs = memory.runs(&text);
        let mut next = 1;
        for ShownRun { first_line, last_line, place } in &runs {
            prop_assert!(*first_line >= next && *last_line <= lines.len());
            prop_assert!(last_line - first_line + 1 >= LEAST_SHOWN_LINES);
            let result: usize = place.label.parse().unwrap();
            prop_assert_eq!(place.ago, results.len() - result);
            for number in *first_line..=*last_line {
                prop_assert!(was_shown(result, place.first_line + number - first_line, lines[number - 1]));
            }
            // The run is as long as it can be at its place.
            let place_end = place.first_line + last_line - first_line + 1;
            prop_assert!(*last_line == lines.len() || !was_shown(result, place_end, lines[*last_line]));
            let is_free = *first_line > next && place.first_line > 1;
            prop_assert!(!is_free || !was_shown(result, place.first_line - 1, lines[first_line - 2]));
            let worded = lines[first_line - 1..*last_line].iter().filter(|line| line.starts_with('w')).count();
            prop_assert!(worded >= 3);
            next = last_line + 1;
        }
        // Nothing that can be found is missed: six lines outside of all runs were not shown together.
        for first in 1..=lines.len().saturating_sub(LEAST_SHOWN_LINES - 1) {
            let six = first..first + LEAST_SHOWN_LINES;
            let is_outside = runs.iter().all(|run| run.last_line < six.start || run.first_line >= six.end);
            let worded = six.clone().filter(|number| lines[number - 1].starts_with('w')).count();
            if is_outside && worded >= 3 {
                let together = shown.iter().any(|(result, number, _)| {
                    six.clone().all(|line| was_shown(*result, number + line - first, lines[line - 1]))
                });
                prop_assert!(!together, "lines {first} and on were shown");
            }
        }
    }
}
